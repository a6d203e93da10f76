"""``stability``: the option ``--stability`` of the command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _data, _ending, _orthopt
from ._options import checked, fill
from ._solution import Solution, solution
from ._solve import _name, _warn
from ._tables import opened
from .errors import InvalidOptionError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._request import SolveOptions

#: Called with the number of pairs that have ended and the number of all; a true value ends the halves.
StabilityCallback = Callable[[int, int], Any]


@dataclass(frozen=True)
class Stability:
    """Stability of components over pairs of disjoint halves of the rows. Matrices are (n x r), as X."""

    #: Number of pairs whose halves both have a solution: all numbers here are of these.
    pairs: int
    #: Number of pairs asked for.
    requested: int
    #: Number of pairs left out because a half has no solution.
    failed: int
    #: Number of halves whose search a limit of time ended: a longer one may find better components of them.
    limited: int
    #: Selection frequencies: the share of the halves in which the loading is not zero.
    frequency: np.ndarray
    #: Simultaneous selection frequencies: the share of the pairs in which it is zero in neither half.
    simultaneous: np.ndarray
    #: The 2.5 % percentiles of the loadings over the halves.
    low: np.ndarray
    #: The 97.5 % percentiles of the loadings over the halves.
    high: np.ndarray
    #: Mean absolute cosine between each component and the one of a half that it is matched to (r).
    cosine: np.ndarray
    #: Share of the halves in which any component uses the variable (n).
    used: np.ndarray
    #: Mean number of nonzeros of each component over the halves (r).
    selected: np.ndarray
    #: Mean number of variables that any component uses.
    selected_together: float
    #: The components of all rows.
    X: np.ndarray = field(repr=False)
    #: The run that found them, unless an estimator has.
    solution: Solution | None = field(default=None, repr=False)
    #: Names of the variables, where the data have them.
    feature_names: list[str] | None = field(default=None, repr=False)

    def expected_false(self, threshold: float = 0.9) -> np.ndarray:
        """Bounds (r) of the expected number of variables of each component with a frequency of ``threshold`` or more that a half
        takes no more often than a variable on the average: q^2 / ((2 threshold - 1) n), q being ``selected`` (Theorem 1 of
        Shah and Samworth 2013 with theta = q / n)."""
        return self.selected**2 / (_above_half(threshold) * len(self.used))

    def expected_false_together(self, threshold: float = 0.9) -> float:
        """The same of the variables that any component uses."""
        return self.selected_together**2 / (_above_half(threshold) * len(self.used))

    def frame(self) -> Any:
        """A pandas frame with a row for each variable, and for each component its loading, frequency, low and high."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("frames need pandas: pip install pandas") from error
        columns = {}
        for k in range(self.X.shape[1]):
            named = {"": self.X, "_frequency": self.frequency, "_low": self.low, "_high": self.high}
            columns.update({f"PC{k + 1}{what}": values[:, k] for what, values in named.items()})
        return pd.DataFrame(columns, index=pd.Index(self._names(), name="variable"))

    def plot(self, ax: Any = None, *, top: int | None = 60) -> Any:
        """Draws the frequencies as a heat map of the ``top`` most frequent variables; frames are loadings that are not zero in
        all rows. Needs matplotlib; returns the axes."""
        from . import _draw

        return _draw.stability(self, self._names(), top=top, ax=ax)

    def _names(self) -> list[str]:
        return self.feature_names or [f"x{i + 1}" for i in range(len(self.used))]

    def __str__(self) -> str:
        names = self._names()
        lines = ["component  cosine  false <=  nonzero in at least 90 % of the halves"]
        for k, (cosine, false) in enumerate(zip(self.cosine, self.expected_false())):
            order = np.argsort(-self.frequency[:, k], kind="stable")
            often = ", ".join(names[i] for i in order if self.frequency[i, k] >= 0.9) or "none"
            lines.append(f"{k + 1:>9}  {cosine:>6.3f}  {false:>8.2f}  {often}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        cosines = ", ".join(f"{cosine:.3f}" for cosine in self.cosine)
        return f"<Stability of {len(self.cosine)} components over {self.pairs} pairs of halves: cosines {cosines}>"


def _above_half(threshold: float) -> float:
    if not 0.5 < threshold <= 1.0:
        raise InvalidOptionError(f"threshold is {threshold!r}: expected a number above 0.5, up to 1")
    return 2.0 * threshold - 1.0


def stability(
    problem: Any,
    data: Any,
    rank: int | None = None,
    lam: float | None = None,
    *,
    n_pairs: int = 50,
    callback: StabilityCallback | None = None,
    **options: Unpack[SolveOptions],
) -> Stability:
    """Solves a PCA problem on pairs of disjoint halves of the rows, too, and says how often each loading is not zero.

    The components of all rows are found as by :func:`solve`, and those of each half with the lambda or the numbers of
    nonzeros that they have; centring and scaling are those of the half. Components of a half are matched with those of all
    rows by the assignment with the largest sum of absolute cosines, and have their signs.

    Parameters
    ----------
    problem
        As for :func:`solve`, or a fitted estimator, whose components and parameters are taken.
    data, rank, lam
        As for :func:`solve`; rows are needed, four at least. With an estimator the rows that it was fitted to.
    n_pairs
        Number of pairs of halves.
    callback
        Called about ten times a second with the number of pairs that have ended and of all; a true value ends the halves.
    **options
        Those of :func:`solve`. A ``time_limit`` is of all: half of it is for the components of all rows.

    Returns
    -------
    Stability
        Ctrl-C ends the halves with the pairs that are complete. The same for any number of ``threads``.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input; no pair was complete when it was ended.

    Examples
    --------
    >>> import orthopt
    >>> s = orthopt.stability("l0-pca", "spiked:zht:60", 2, scale="std", nonzeros=4, n_pairs=10)
    >>> (s.frequency >= 0.9).sum(axis=0).tolist(), s.expected_false(0.9).tolist()
    ([4, 4], [2.0, 2.0])
    """
    X, data = None, opened(data)
    if hasattr(problem, "components_"):
        given = sorted(options) + [name for name, value in (("rank", rank), ("lam", lam)) if value is not None]
        if given:
            raise InvalidOptionError(f"{given[0]} is a parameter of the estimator: set it there, and fit")
        shape = np.shape(data.values if isinstance(data, _data.Cells) else data)
        if len(shape) != 2 or shape[1] != problem.n_features_in_:
            raise InvalidOptionError(f"data are {shape}, but the estimator was fitted to {problem.n_features_in_} columns")
        seed = problem.solution_.seed  # a random_state that is no number draws one for each fit
        stated = {**problem._options(shape[1]), "seed": seed, "center": True, "missing": problem.missing}
        filled = fill(stated, own=(), assumed=problem._assumed())
        name, X = "pca", np.ascontiguousarray(problem.components_.T)
    else:
        name = _name(problem)
        filled = fill(options, rank=rank, lam=lam)
        data = _data.arranged(data, filled)
    pairs = checked("n_pairs", n_pairs, int)
    with _ending.calls(callback) as (called,):
        found = _orthopt.stability(name, _data.matrix(data), filled, pairs, X, called)
    run, named = found.pop("solution"), found.pop("feature_names")
    run = None if run is None else solution(run, _data.names(data))
    _warn(found.pop("notes"))
    return Stability(**found, X=X if run is None else run.X, solution=run, feature_names=named or _data.names(data))
