"""Results of runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Sequence

import numpy as np

from . import _html
from ._draw import convergence, images, loadings
from ._planes import biplot, correlations, scores, variance
from ._planes import scree as draw_scree
from .errors import ShapeError


@dataclass(frozen=True)
class Trace:
    """The convergence curve: arrays of the same length, at most about a thousand points."""

    #: Seconds since the start of the run.
    seconds: np.ndarray
    #: Iterations so far.
    iteration: np.ndarray
    #: F of the best point so far.
    objective: np.ndarray
    #: Distance of X from the constraint.
    feasibility: np.ndarray
    #: Entries of X that are not zero.
    nnz: np.ndarray

    def __len__(self) -> int:
        return len(self.seconds)


@dataclass(frozen=True)
class ExplainedVariance:
    """Shares of tr C that components explain; the scores are Z = AX. ``total`` and ``polar`` are at most ``projected``,
    which is at most ``predicted``; all are equal for principal components."""

    #: ``x_k' C x_k / tr C``: of each component alone.
    ratio: np.ndarray
    #: ``R_kk^2 / tr C`` of Z = QR: the part of it that earlier components do not explain already (Zou, Hastie
    #: and Tibshirani 2006).
    adjusted: np.ndarray
    #: The sum of ``adjusted``.
    total: float
    #: Of the data projected on the span of the loadings (Shen and Huang 2008).
    projected: float
    #: Of the orthonormal scores nearest to Z: ``total`` without an order (Chavent and Chavent 2017).
    polar: float
    #: Of the data projected on the span of the scores: what a linear regression on them gives back (Camacho et
    #: al. 2020).
    predicted: float
    #: Measure that was maximised: ``"variance"`` (``projected``), ``"adjusted"`` (``total``), ``"polar"`` or ``"explained"``
    #: (``predicted``).
    maximised: str


@dataclass(frozen=True)
class Certificate:
    """Block-2 stationarity: pairs of rows of X whose subproblem was solved globally."""

    #: Pairs that were checked.
    pairs_checked: int
    #: Pairs that can change X.
    pairs_total: int
    #: Largest decrease of F by any checked pair.
    max_decrease: float
    #: The mean squared distance of the identity to the best moves.
    mean_distance: float
    #: The decrease that counts as none.
    tolerance: float

    @property
    def complete(self) -> bool:
        """True if all pairs were checked."""
        return self.pairs_checked == self.pairs_total

    @property
    def holds(self) -> bool:
        """True if all pairs were checked and none lowers F by more than the tolerance."""
        return self.complete and self.max_decrease <= self.tolerance

    def __str__(self) -> str:
        if self.max_decrease > self.tolerance:
            return (
                f"not block-2 stationary: the best of {self.pairs_checked} pairs checked lowers F "
                f"by {self.max_decrease:.3e}"
            )
        if self.complete:
            return (
                f"certified block-2 stationary: all {self.pairs_total} pairs checked, none lowers "
                f"F by more than {self.tolerance:.3e}"
            )
        return (
            f"a sample only: none of {self.pairs_checked} pairs out of {self.pairs_total} lowers F "
            f"by more than {self.tolerance:.3e}"
        )


@dataclass(frozen=True)
class Scree:
    """Eigenvalues of C beside those of noise, and the number of components that a rule makes of them."""

    #: Number of components by the rule.
    rank: int
    #: ``permutation``, ``signs``, ``marchenko-pastur`` or ``share``; ``none`` for C without the number of its rows.
    rule: str
    #: Leading eigenvalues of C, divided by tr C.
    eigenvalues: np.ndarray
    #: The 95th percentile of the variance of each component under noise, divided by tr C; empty for a share.
    reference: np.ndarray
    #: The share of the variance that was asked for.
    share: float | None
    #: The numbers behind it in one sentence.
    reason: str

    def plot(self, ax: Any = None) -> Any:
        """Draws them; see :func:`orthopt.plots.scree`."""
        return draw_scree(self, ax=ax)


@dataclass(frozen=True)
class Arm:
    """One way of a search from a start to a point."""

    #: The solvers, joined with ``+``.
    solver: str
    #: Name of the starting point.
    start: str
    #: The seed of its best run.
    seed: int
    #: Work of all its runs, in multiplications of a product.
    work: int
    #: The lowest F that it found.
    objective: float
    #: Seconds since the start of the search at which its F fell.
    seconds: np.ndarray
    #: F at these times.
    course: np.ndarray


@dataclass(frozen=True)
class Solution:
    """The best point found, with its measures."""

    #: X (n x r): variables in rows, components in columns.
    X: np.ndarray
    #: F(X) = smooth + nonsmooth.
    objective: float
    #: f(X).
    smooth: float
    #: h(X).
    nonsmooth: float
    #: ``||X'X - I||_F``, or the mean of ``|X'JX - J|``.
    feasibility: float
    #: Entries that are not zero.
    nnz: int
    #: ``optimal`` (proved), ``converged``, ``max_iters``, ``time_limit``, ``interrupted``, ``stalled``,
    #: ``unbounded`` or ``numerical_error``.
    status: str
    #: The same as a sentence.
    message: str
    #: Iterations (OBCD: pairs tried, or rounds of blocks; ``minimize``: steps of the method).
    iterations: int
    #: Seconds in the solver, without preparing the data.
    seconds: float
    #: The seed all random choices came from.
    seed: int
    #: Name of the solver.
    solver: str
    #: Its settings and counters, for display.
    settings: dict[str, Any]
    #: The convergence curve.
    trace: Trace
    #: Name of the problem; ``minimize``: of the constraint.
    problem: str
    #: r.
    rank: int
    #: Title of pictures: what was found, in words.
    title: str = ""
    #: The weight of the penalty, where there is one.
    lam: float | None = None
    #: Name of the starting point that led to X.
    start: str | None = None
    #: Starts that were made; the best X counts.
    starts: int = 1
    #: Reasons of automatic choices.
    reasons: list[str] = field(default_factory=list)
    #: ``||min(0, X)||_F`` where X must be nonnegative.
    nonneg_violation: float | None = None
    #: The first-order measure of the papers; ``None`` unless ``certify`` was given.
    criticality: float | None = None
    #: Block-2 stationarity; ``None`` unless ``certify`` was given.
    certificate: Certificate | None = None
    #: A lower bound of F over all feasible X; ``None`` unless ``bound`` was given.
    bound: float | None = None
    #: Largest relative distance of F from the global minimum: ``(objective - bound) / abs(objective)``.
    gap: float | None = None
    #: ``"optimal"`` where X is proved to be a global minimum; ``"supports"`` where no X with other nonzeros has a lower F, and
    #: ``gap`` is what may be left on those of X.
    proof: str | None = None
    #: Variance explained, if it is defined.
    explained_variance: ExplainedVariance | None = None
    #: The share of the variance that PCA with as many components explains, where there was time for it.
    pca_share: float | None = None
    #: The minimum of F, where it is known in closed form.
    optimum: float | None = None
    #: The method's own iterate, of methods that are feasible in the limit only.
    raw: dict[str, Any] | None = None
    #: Column means, where they were subtracted.
    means: np.ndarray | None = None
    #: Divisors of the columns, if they were scaled. Scores of a row a: ``(a - means) / scales @ X``.
    scales: np.ndarray | None = None
    #: tr C.
    trace_of_c: float | None = None
    #: Rows and columns of the data.
    data_shape: tuple[int, int] | None = None
    #: Names of the variables, where the data have them.
    feature_names: list[str] | None = None
    #: Eigenvalues of C beside those of noise, where a rule has chosen r.
    scree: Scree | None = None
    #: The arms of the search that found X; none where one solver ran.
    arms: list[Arm] = field(default_factory=list, repr=False)

    @property
    def components(self) -> np.ndarray:
        """X' (r x n), as scikit-learn orders it."""
        return self.X.T

    @property
    def nnz_per_component(self) -> np.ndarray:
        """Number of nonzero entries of each column of X."""
        return np.count_nonzero(self.X, axis=0)

    @property
    def loadings(self) -> Any:
        """X as a data frame: variables in rows, components ``PC1``, ``PC2``, ... in columns; needs pandas."""
        pandas = _pandas("loadings")
        index = self.feature_names or [f"x{i + 1}" for i in range(len(self.X))]
        return pandas.DataFrame(self.X, index=index, columns=_labels(self.rank))

    def summary(self) -> Any:
        """One row for each component as a data frame: nonzeros, its ``own`` share of the variance, what it has ``added`` to those
        before it, and what these have ``together``; needs pandas."""
        pandas = _pandas("summary()")
        columns: dict[str, Any] = {"nonzeros": self.nnz_per_component}
        if self.explained_variance is not None:
            added = np.asarray(self.explained_variance.adjusted)
            columns |= {"own": self.explained_variance.ratio, "added": added, "together": np.cumsum(added)}
        return pandas.DataFrame(columns, index=_labels(self.rank))

    def transform(self, data: Any) -> np.ndarray:
        """Scores (m x r) of rows with the variables of the data: ``(data - means) / scales @ X``. Sparse rows stay
        sparse."""
        if data.shape[1] != self.X.shape[0]:
            raise ShapeError(f"data has {data.shape[1]} columns, X {self.X.shape[0]} rows")
        X = self.X if self.scales is None else self.X / np.asarray(self.scales)[:, None]
        scores = np.asarray(data @ X)
        return scores if self.means is None else scores - np.asarray(self.means) @ X

    def plot(self, ax: Any = None) -> Any:
        """Draws F against time, of a search with all its arms; needs matplotlib. Returns the axes."""
        return convergence(self, ax=ax)

    def plot_loadings(self, ax: Any = None, **options: Any) -> Any:
        """Draws the components; see :func:`orthopt.plots.loadings`."""
        return loadings(self, ax=ax, **options)

    def plot_variance(self, ax: Any = None) -> Any:
        """Draws the variance that each component explains; see :func:`orthopt.plots.variance`."""
        return variance(self, ax=ax)

    def plot_scores(self, data: Any, labels: Any = None, ax: Any = None, **options: Any) -> Any:
        """Draws rows in the plane of two components; see :func:`orthopt.plots.scores`."""
        return scores(self.transform(data), labels, solution=self, ax=ax, **options)

    def plot_biplot(self, data: Any, labels: Any = None, ax: Any = None, **options: Any) -> Any:
        """Draws rows and variables in one plane; see :func:`orthopt.plots.biplot`."""
        options.setdefault("feature_names", self.feature_names)
        return biplot(self.transform(data), self.components, labels, solution=self, ax=ax, **options)

    def plot_correlations(self, data: Any, ax: Any = None, **options: Any) -> Any:
        """Draws the circle of correlations; see :func:`orthopt.plots.correlations`."""
        options.setdefault("feature_names", self.feature_names)
        return correlations(data, self.transform(data), solution=self, ax=ax, **options)

    def plot_images(self, shape: tuple[int, int], ax: Any = None, **options: Any) -> Any:
        """Draws the components as images; see :func:`orthopt.plots.images`."""
        options.setdefault("title", f"Components, {self.title}")
        return images(self.components, shape, ax=ax, **options)

    def __repr__(self) -> str:
        return (
            f"<Solution of {self.problem} by {self.solver}: F = {self.objective:.9g}, "
            f"{self.nnz} of {self.X.size} nonzeros, feasibility {self.feasibility:.1e}, {self.status}>"
        )

    def _repr_html_(self) -> str:
        return _html.solution(self)


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{what} is a data frame and needs pandas: pip install pandas") from error
    return pandas


def _labels(rank: int) -> list[str]:
    return [f"PC{k + 1}" for k in range(rank)]


class Comparison(Sequence):
    """Solutions of one problem by several solvers, from the same start, in the order of the request."""

    def __init__(self, solutions: list[Solution]):
        self._solutions = list(solutions)

    def __len__(self) -> int:
        return len(self._solutions)

    def __getitem__(self, key: Any) -> Any:
        """By position, or by the name of a solver."""
        if isinstance(key, str):
            for solution in self._solutions:
                if solution.solver == key:
                    return solution
            raise KeyError(key)
        return self._solutions[key]

    def __iter__(self) -> Iterator[Solution]:
        return iter(self._solutions)

    @property
    def best(self) -> Solution:
        """The solution with the lowest F."""
        finite = [s for s in self._solutions if np.isfinite(s.objective)]
        return min(finite or self._solutions, key=lambda s: s.objective)

    def plot(self, ax: Any = None) -> Any:
        """Draws F minus the lowest F of all against time; needs matplotlib."""
        return convergence(self, ax=ax)

    def __repr__(self) -> str:
        if not self._solutions:
            return "<Comparison of no solvers>"
        lowest = self.best.objective
        width = max(len(s.solver) for s in self._solutions)
        lines = [f"{'solver':{width}}  {'F':>16}  above best  nonzeros  feasibility   seconds  status"]
        for s in self._solutions:
            lines.append(
                f"{s.solver:{width}}  {s.objective:16.8f}  {s.objective - lowest:10.2e}  {s.nnz:8d}  "
                f"{s.feasibility:11.1e}  {s.seconds:8.3f}  {s.status}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _html.comparison(self)


def certificate(found: dict | None, tolerance: float) -> Certificate | None:
    """A certificate from the dictionary of the compiled half."""
    return None if found is None else Certificate(**found, tolerance=tolerance)


def solution(found: dict, feature_names: list[str] | None = None) -> Solution:
    """A solution from the dictionary of the compiled half."""
    found = dict(found)
    found.pop("notes", None)
    variance = found.pop("explained_variance", None)
    checked = found.pop("certificate", None)
    tolerance = found.pop("tolerance", 0.0)
    named = found.pop("feature_names", None)
    scree = found.pop("scree", None)
    arms = [Arm(**arm) for arm in found.pop("arms", [])]
    return Solution(
        **{**found, "trace": Trace(**found["trace"])},
        explained_variance=None if variance is None else ExplainedVariance(**variance),
        certificate=certificate(checked, tolerance),
        feature_names=named or feature_names,
        scree=None if scree is None else Scree(**scree),
        arms=arms,
    )
