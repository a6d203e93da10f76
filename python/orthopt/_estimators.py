"""Estimators for scikit-learn: sparse and nonnegative PCA with orthonormal components."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import _check_feature_names, check_is_fitted, validate_data

from . import _interrupt, _orthopt
from ._data import Cells, canonical, matrix, refuse_text
from ._gram import GramAccumulator
from ._options import TABLE, fill
from ._solution import Solution, solution
from ._tables import opened
from .errors import InvalidOptionError, OrthoptWarning, RankError, ShapeError

if TYPE_CHECKING:
    from typing_extensions import Self

#: Rows whose distances from the mean are in memory at a time.
BLOCK = 1024
#: Pairs of rows up to which the certificate checks all; beyond, a sample of as many.
CERTIFY_PAIRS = 200_000


def _choices(option: str) -> set[str]:
    """The values of an option of the library."""
    return set(TABLE[option]["choices"])


def _solved(data: Any, filled: dict) -> tuple[Solution, bool]:
    """The solution, and true if Ctrl-C has come; what is to be known of it is a warning, as it is of :func:`orthopt.solve`."""
    found = _orthopt.solve("pca", data, filled, None)
    for note in found["notes"] + found.pop("broken"):
        warnings.warn(note, OrthoptWarning, stacklevel=4)
    interrupted = found.pop("interrupted")
    return solution(found), interrupted


def _is_dask(X: Any) -> bool:
    """True if X is a collection of Dask; does not import Dask."""
    return type(X).__module__.partition(".")[0].startswith("dask") and hasattr(X, "__dask_graph__")


class _OrthogonalPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Common base of the estimators."""

    def _settings(self) -> dict[str, Any]:
        """Options of the compiled half that this estimator adds."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing in ("mean", "em")
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    on_interrupt: str
    missing: str

    #: What a parameter may be, as scikit-learn has it.
    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [Integral, Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"}), None],
        "solver": [str, None],
        "init": [str, "array-like", None],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "restarts": [Interval(Integral, 0, None, closed="left"), None],
        "effort": [StrOptions(_choices("effort")), None],
        "certify": ["boolean", Interval(Integral, 0, None, closed="left")],
        "bound": ["boolean", Interval(Real, 0, None, closed="left"), None],
        "n_threads": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "on_interrupt": [StrOptions({"return", "raise"})],
        "missing": [StrOptions(_choices("missing")), None],
    }

    def _check(self) -> None:
        """Parameters of a kind or out of range that none has, by their names here."""
        try:
            self._validate_params()
        except InvalidParameterError as error:
            raise InvalidOptionError(str(error)) from None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Finds the components of X (n_samples, n_features), dense or sparse; y is ignored. C of
        a Dask array or frame is computed on the workers of its chunks (:func:`orthopt.dask.gram`).

        Neither a centred nor a dense copy of X is made. Ctrl-C ends the search with the best
        components so far and ``status_ = "interrupted"``; with ``on_interrupt="raise"`` it raises
        :class:`orthopt.errors.Interrupted`, the fitted estimator as its ``result``. With ``sample_weight`` (n_samples,)
        the result is that of rows repeated so many times. An AnnData object is its X with the names of its variables.
        """
        self._check()
        if _is_dask(X):
            if sample_weight is not None:
                raise InvalidOptionError("sample_weight is not for Dask: orthopt.GramAccumulator adds rows with weights")
            from .dask import gram

            self._sums = gram(X)
            return self._fit_sums(X)
        self._sums = None
        cells = opened(X)
        X = cells.values if isinstance(cells, Cells) else X
        try:
            X = validate_data(
                self,
                X,
                accept_sparse=("csc", "csr"),
                dtype=np.float64,
                order=None,
                ensure_min_samples=2,
                ensure_all_finite=self._finite(),
            )
        except ValueError:
            refuse_text(X)
            raise
        if isinstance(cells, Cells):
            self.feature_names_in_ = np.asarray(cells.columns, dtype=object)
        options = {**self._options(X.shape[1]), "center": True, "missing": self.missing, "weights": sample_weight}
        filled = fill(options, assumed=self._assumed(), bound=self.bound)
        found, interrupted = _solved(matrix(X), filled)
        samples = X.shape[0] if found.data_shape is None else found.data_shape[0]
        self._finished(found, X, filled, samples, found.means, filled["weights"])
        return _interrupt.hand_over(self, interrupted, self.on_interrupt)

    def _finite(self) -> bool | str:
        """What scikit-learn lets through."""
        return True if self.missing in ("error", None) else "allow-nan"

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, refit: bool = True) -> Self:
        """Adds the rows of X to those of earlier calls and finds the components of all of them, with
        C (n_features, n_features) in memory and no rows; ``refit=False`` only adds the rows. It does not continue a
        :meth:`fit` of an array in memory; y is ignored, and row i counts as often as ``sample_weight[i]`` says. Missing
        values, which take all rows to be filled in, are an error.
        """
        first = getattr(self, "_sums", None) is None
        X = validate_data(
            self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=first, ensure_min_samples=1
        )
        if first:
            self._sums = GramAccumulator()
        self._sums.add(X, sample_weight)
        return self._solve_sums() if refit else self

    def _fit_sums(self, X: Any) -> Self:
        """Attributes after a fit from the sums of a collection, which scikit-learn cannot inspect."""
        self.n_features_in_ = self._sums.columns
        names = getattr(X, "columns", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self._solve_sums()

    def _solve_sums(self) -> Self:
        c, means, _ = self._sums.prepared(center=True)
        options = {**self._options(self._sums.columns), "gram": True}
        if options["rank"] == "auto":
            options["samples"] = self._sums.rows
        filled = fill(options, assumed=self._assumed(), bound=self.bound)
        found, interrupted = _solved(matrix(c), filled)
        self._finished(found, c, filled, self._sums.rows, means, mass=self._sums.weight)
        return _interrupt.hand_over(self, interrupted, self.on_interrupt)

    def _finished(
        self,
        found: Solution,
        data: Any,
        filled: dict[str, Any],
        rows: int,
        means: Any,
        weights: Any = None,
        mass: float | None = None,
    ) -> None:
        """Sets the attributes of a fit."""
        mass = rows if mass is None and weights is None else mass if weights is None else float(np.sum(weights))
        self._keep(found, rows, means, mass)
        self._variance = found.trace_of_c / max(mass - 1, 1)
        self._score_covariance = self._covariance_of_scores(data, filled, weights, mass)

    def _covariance_of_scores(self, data: Any, filled: dict[str, Any], weights: Any, mass: float) -> np.ndarray:
        """Covariance (r x r) of the scores of the rows, or of C where the data are C itself."""
        P = self.components_.T
        if filled["options"].get("gram"):
            return np.asarray(P.T @ (data @ P)) / max(mass - 1, 1)
        if not sp.issparse(data) and np.isnan(data).any():
            lacks = np.isnan(data)
            if self.missing == "drop":
                kept = ~lacks.any(axis=1)
                data, weights = data[kept], None if weights is None else np.asarray(weights)[kept]
            else:
                data = np.where(lacks, self.mean_, data)
        scores = np.asarray(data @ P) - self.mean_ @ P
        weighted = scores if weights is None else scores * np.asarray(weights)[:, None]
        return scores.T @ weighted / max(mass - 1, 1)

    def _options(self, features: int) -> dict[str, Any]:
        self._check()
        return {
            "rank": self._rank(features),
            "seed": self._seed(),
            "solver": self.solver,
            "init": self.init,
            "max_iters": self.max_iter,
            "time_limit": self.time_limit,
            "tol": self.tol,
            "restarts": self.restarts,
            "effort": self.effort,
            "threads": self.n_threads,
            "certify": CERTIFY_PAIRS if self.certify is True else self.certify,
            **self._settings(),
        }

    def _assumed(self) -> list[str]:
        """Names of the parameters at their defaults."""
        # a number of pairs says how many where there are pairs
        return ["center", "gram", "certify", "certify_sample"]

    def _rank(self, features: int) -> int | float | str:
        rank = self.n_components
        if rank is None:
            return max(1, min(5, features - 1))
        if rank == "auto" or (isinstance(rank, Real) and not isinstance(rank, bool) and 0 < rank < 1):
            return rank if isinstance(rank, str) else float(rank)
        if isinstance(rank, bool) or not isinstance(rank, Integral):
            raise InvalidOptionError(
                f'n_components is {rank!r}: expected a whole number >= 1, a share of the variance between 0 and 1, "auto" or None'
            )
        if not 1 <= rank <= features:
            raise RankError(
                f"n_components={rank} must be between 1 and n_features={features}: "
                "there are no more orthonormal components"
            )
        return int(rank)

    def _seed(self) -> int:
        """An integer is the seed itself, as on the command line; other values draw a seed."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _keep(self, found: Solution, samples: int, means: np.ndarray, mass: float) -> None:
        variance = found.explained_variance
        self.solution_ = found
        self.components_ = np.ascontiguousarray(found.X.T)
        self.mean_ = means
        self.n_components_ = found.rank
        self.n_samples_ = samples
        self.explained_variance_ratio_ = variance.adjusted
        self.explained_variance_ = variance.adjusted * (found.trace_of_c / max(mass - 1, 1))
        self.n_iter_ = max(1, found.iterations)
        self.objective_ = found.objective
        self.status_ = found.status
        self.certificate_ = found.certificate
        self.bound_ = found.bound
        self.gap_ = found.gap
        self.lambda_ = found.lam
        self._n_features_out = found.rank
        if found.status not in ("optimal", "converged", "stalled"):
            warnings.warn(f"{type(self).__name__}: {found.message}", ConvergenceWarning, stacklevel=3)

    @property
    def loadings(self) -> Any:
        """The components as a data frame, variables in rows; needs pandas."""
        return self._told().loadings

    def summary(self) -> Any:
        """One row for each component as a data frame, see :meth:`Solution.summary`; needs pandas."""
        return self._told().summary()

    def _told(self) -> Solution:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return self.solution_ if names is None else replace(self.solution_, feature_names=[str(name) for name in names])

    def transform(self, X: Any) -> np.ndarray:
        """Scores (n_samples, n_components) of X: its projection on the components. Where ``missing`` is ``"mean"`` or
        ``"em"``, the means of the training data stand in for missing values. Scores of ``float32`` rows are ``float32``, and the
        rows are not copied. Of a Dask array or frame they are a Dask array, and nothing is computed yet."""
        if _is_dask(X):
            plain, rows = self._chunks(X)
            dtype = np.float32 if rows.dtype == np.float32 else np.float64
            return rows.map_blocks(plain.transform, dtype=dtype, chunks=(rows.chunks[0], (self.n_components_,)))
        X = self._seen(X)
        components = self.components_.astype(X.dtype, copy=False)
        # not (X - mean) @ components: that would densify X, or copy it
        scores = X @ components.T
        if sp.issparse(scores):
            scores = scores.toarray()
        return np.asarray(scores) - (self.mean_ @ self.components_.T).astype(X.dtype, copy=False)

    def _seen(self, X: Any) -> Any:
        """Rows of the variables of :meth:`fit`, with means in the place of missing values."""
        check_is_fitted(self)
        cells = opened(X)
        X = cells.values if isinstance(cells, Cells) else X
        finite = True if self.missing == "drop" else self._finite()  # no row of scores may be missing
        X = validate_data(
            self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False, ensure_all_finite=finite
        )
        if not sp.issparse(X) and np.isnan(X).any():
            X = np.where(np.isnan(X), self.mean_.astype(X.dtype), X)
        return X

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the variance of X (about the means of the training data) that its projection on the components
        keeps; y is ignored. For held-out rows it measures a model: larger is better, so
        ``GridSearchCV`` and ``cross_val_score`` use it as it is. Rows of a Dask array or frame stay on the workers of its chunks.
        """
        if _is_dask(X):
            plain, rows = self._chunks(X)
            squares = lambda block: np.array([plain._squares(block)])  # noqa: E731
            parts = rows.map_blocks(squares, dtype=np.float64, chunks=((1,) * rows.numblocks[0], (2,)))
            kept, whole = np.asarray(parts.sum(axis=0).compute()).tolist()
        else:
            kept, whole = self._squares(X)
        return kept / whole if whole > 0 else 0.0

    def _chunks(self, X: Any) -> tuple[Any, Any]:
        """An estimator for rows without names, and the rows of a Dask collection, chunks of which have all columns."""
        check_is_fitted(self)
        if hasattr(X, "to_dask_array"):
            _check_feature_names(self, X._meta, reset=False)
            X = X.to_dask_array()
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise ShapeError(f"X is {X.shape}, but {type(self).__name__} is expecting {self.n_features_in_} features as input")
        plain = copy.copy(self)
        plain.__dict__.pop("feature_names_in_", None)
        return plain, X if X.numblocks[1] == 1 else X.rechunk({1: -1})

    def _squares(self, X: Any) -> tuple[float, float]:
        """Sums of squares of the projections of rows and of the rows, about the means of the training data."""
        scores = self.transform(X)
        X = self._seen(X)
        if sp.issparse(X):  # sum of (x - mean)^2 without making X dense: what is stored, and the zeros
            csc = canonical(X, "csc", "the data")
            stored = np.diff(csc.indptr)
            whole = float(np.sum((csc.data - np.repeat(self.mean_, stored)) ** 2))
            whole += float((X.shape[0] - stored) @ self.mean_**2)
        else:
            blocks = (X[first : first + BLOCK] - self.mean_ for first in range(0, len(X), BLOCK))
            whole = float(sum(np.vdot(block, block) for block in blocks))
        return float(np.sum(scores.astype(np.float64) ** 2)), whole

    def get_covariance(self) -> np.ndarray:
        """Covariance (n_features, n_features) of the data by the components: that of the scores in their span, and beside it the rest of
        the variance, the same in every direction. With all components of plain PCA it is the covariance of the data; for
        fewer it is that of scikit-learn's ``PCA``. Rows with missing values have the scores of :meth:`transform`.
        """
        check_is_fitted(self)
        P = self.components_.T
        onto = np.linalg.pinv(P)  # P' where the components are orthonormal
        spread = onto.T @ self._score_covariance @ onto
        n, r = P.shape
        if n == r:
            return spread
        rest = max(float(self._variance - np.trace(spread)), 0.0) / (n - r)
        return spread + rest * (np.eye(n) - P @ onto)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The points (n_samples, n_features) that have these scores."""
        check_is_fitted(self)
        return np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_


class SparsePCA(_OrthogonalPCA):
    """Sparse PCA whose components are exactly orthonormal.

    Minimises ``-1/2 tr(X'CX) + lambda h(X)`` over the matrices X with X'X = I, where C = A'A of the
    centred data A, and ``components_`` is X'. Scores are projections: unlike scikit-learn's
    ``SparsePCA``, there is no ridge regression, and ``inverse_transform(transform(X))`` is an
    orthogonal projection.

    Parameters
    ----------
    n_components : int, float or "auto", default None
        Number of components r; between 0 and 1 the share of the variance that as many components of PCA explain;
        ``"auto"``: components that exceed noise (parallel analysis, :func:`orthopt.scree`). Default: 5, or one fewer than
        the features if that is less.
    penalty : str, default "l0"
        h: ``"l0"`` (number of nonzeros), ``"l1"`` (sum of absolute values), ``"mcp"``, ``"scad"``,
        ``"capped-l1"``, ``"elastic-net"``, or ``"none"`` for plain PCA.
    alpha : float, default None
        The weight of h relative to the data: ``lambda = alpha * mean of the r largest C_ii``, the
        same for any number of samples and any unit of measurement. A larger value is sparser; it is not the ``alpha``
        of scikit-learn, and 1 leaves one variable in each component. Default: 0.5, but for ``"l0"`` a number of nonzeros instead (``nonzeros="auto"``).
    nonzeros : int, list of int or "auto", default None
        Maximum number of nonzeros in each component, or one number for each, instead of ``alpha``; for the
        penalties ``"l0"`` and ``"none"``. ``"auto"`` is the knee of the variance explained against nonzeros, at
        most 30; ``solution_.reasons`` has the curve.
    constraint : str, default "orthogonal"
        ``"orthogonal"`` components, or with ``nonzeros`` components with ``"uncorrelated"`` scores: unit columns with
        X'CX diagonal, which are not orthogonal then; ``"both"``: orthogonal components with uncorrelated scores, as in
        PCA. Uncorrelated scores take r(r + 1)/2 nonzeros in all r components, or more.
    maximise : str, default None
        ``"variance"`` of the scores, which counts what components share once for each of them; ``"adjusted"``: of each
        score what those before it do not have, so that none repeats another; ``"polar"``: the same without an order;
        ``"explained"``: the variance of all variables that a regression on the scores gives back. For the penalties
        ``"l0"`` and ``"none"``. Default, here and everywhere else: ``"adjusted"`` for orthogonal components with a number of
        nonzeros, given or chosen, and ``"variance"`` with ``alpha``, other penalties and other constraints.
    order : str, default "joint"
        ``"joint"``: all components together; ``"sequential"``: each the best one beside those before it.
    solver : str, default "auto"
        See ``orthopt.registry("solvers")``.
    init : str or array (n_features, n_components), default None
        The starting point; several are tried by default.
    max_iter, time_limit, tol, restarts, effort
        Limits, and the length of the default search; see :func:`orthopt.solve`.
    certify : bool or int, default True
        Check pairs of variables for moves that lower the objective, all pairs up to 200,000,
        otherwise a random sample of 200,000; a number: a sample of this size.
    bound : bool or float, default False
        Bound the objective over all feasible components afterwards, for 60 seconds or the given number; see
        :func:`orthopt.bound`. For the penalties ``"l0"``, ``"l1"`` and ``"none"``.
    penalty_params : dict, default None
        Constants of the penalty or the solver, see ``orthopt.constants()``.
    n_threads : int, default None
        Threads; the result does not depend on it. Default: all cores, but one in a worker of joblib (``GridSearchCV(n_jobs=...)``), and
        no more than ``threadpoolctl`` allows.
    random_state : int, RandomState or None, default None
        An integer is the seed, the same as on the command line.
    missing : str, default "error"
        What is done with NaN, NA and None in ``fit``: ``"error"``, ``"mean"`` of the column, ``"drop"`` the row, or ``"em"``,
        a model of a few components.
    on_interrupt : str, default "return"
        Effect of Ctrl-C on ``fit``: ``"return"`` the best components so far, or ``"raise"``.

    Attributes
    ----------
    components_ : array (n_components, n_features)
        Orthonormal rows, in the order of the variance of their scores, the largest loading of
        each positive; zeros are exact.
    explained_variance_, explained_variance_ratio_ : array (n_components,)
        Variance that each component adds to those before it (scores of sparse components are
        correlated, so their plain variances count some twice), and its share of the total.
    mean_ : array (n_features,)
    n_components_, n_features_in_, n_iter_, n_samples_ : int
    objective_, lambda_ : float
    status_ : str
        ``"optimal"`` (proved), ``"converged"``, ``"max_iters"``, ``"time_limit"``, ...
    certificate_ : Certificate or None
        Certificate of the components.
    bound_, gap_ : float or None
        With ``bound``: a lower bound of the objective of all components, and the relative
        excess of ``objective_`` over it; 0 is a global minimum.
    solution_ : Solution
        The complete result of the run.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from orthopt import SparsePCA
    >>> X = scale(load_breast_cancer().data)
    >>> pca = SparsePCA(3, alpha=0.3, random_state=0).fit(X)
    >>> (pca.components_ != 0).sum(axis=1).tolist()
    [6, 6, 3]
    >>> print(pca.certificate_.holds)
    True
    """

    _parameter_constraints = {
        **_OrthogonalPCA._parameter_constraints,
        "penalty": [str],
        "alpha": [Interval(Real, 0, None, closed="left"), None],
        "nonzeros": [Interval(Integral, 1, None, closed="left"), "array-like", StrOptions({"auto"}), None],
        "constraint": [str],
        "maximise": [str, None],
        "order": [str],
        "penalty_params": [dict, None],
    }

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        penalty: str = "l0",
        alpha: float | None = None,
        solver: str = "auto",
        init: Any = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        tol: float = 1e-9,
        restarts: int | None = None,
        effort: str | None = None,
        certify: bool | int = True,
        bound: bool | float = False,
        penalty_params: dict[str, float] | None = None,
        nonzeros: int | list[int] | None = None,
        constraint: str = "orthogonal",
        maximise: str | None = None,
        order: str = "joint",
        n_threads: int | None = None,
        random_state: Any = None,
        on_interrupt: str = "return",
        missing: str = "error",
    ):
        self.n_components = n_components
        self.penalty = penalty
        self.alpha = alpha
        self.nonzeros = nonzeros
        self.constraint = constraint
        self.maximise = maximise
        self.order = order
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.tol = tol
        self.restarts = restarts
        self.effort = effort
        self.certify = certify
        self.bound = bound
        self.penalty_params = penalty_params
        self.n_threads = n_threads
        self.random_state = random_state
        self.on_interrupt = on_interrupt
        self.missing = missing

    def _settings(self) -> dict[str, Any]:
        if isinstance(self.alpha, bool):  # which is a number to scikit-learn
            raise InvalidOptionError(f"alpha is {self.alpha}: expected a number >= 0 or None")
        settings = {"penalty": self.penalty, "lam_share": self.alpha, "nonzeros": self.nonzeros}
        settings |= {"constraint": self.constraint, "maximise": self.maximise, "order": self.order}
        constants = self.penalty_params or {}
        for name in constants:
            if name in TABLE:
                raise InvalidOptionError(f"penalty_params has {name}: it is for constants (orthopt.constants())")
        return {**settings, **constants}

    def _keep(self, found: Solution, samples: int, means: np.ndarray, mass: float) -> None:
        super()._keep(found, samples, means, mass)
        if self.alpha is not None and (found.nnz_per_component <= 1).all():
            warnings.warn(
                f"alpha={self.alpha} leaves one variable in each component: lambda is alpha times the mean of the "
                f"{found.rank} largest variances here, which is not the alpha of scikit-learn; give a smaller one, or "
                "nonzeros, the number of variables in each component",
                OrthoptWarning,
                stacklevel=4,
            )


class NonnegativePCA(_OrthogonalPCA):
    """PCA whose components are orthonormal and have no negative entry.

    Components that are orthogonal and nonnegative do not overlap: every variable belongs to at
    most one. So this is a clustering of the variables too. Parameters and attributes are those of
    :class:`SparsePCA`, without a penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from orthopt import NonnegativePCA
    >>> X = scale(load_breast_cancer().data)
    >>> pca = NonnegativePCA(3, random_state=0).fit(X)
    >>> bool((pca.components_ >= 0).all()), int((pca.components_ > 0).sum(axis=0).max())
    (True, 1)
    """

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        solver: str = "auto",
        init: Any = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        tol: float = 1e-9,
        restarts: int | None = None,
        effort: str | None = None,
        certify: bool | int = True,
        bound: bool | float = False,
        n_threads: int | None = None,
        random_state: Any = None,
        on_interrupt: str = "return",
        missing: str = "error",
    ):
        self.n_components = n_components
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.tol = tol
        self.restarts = restarts
        self.effort = effort
        self.certify = certify
        self.bound = bound
        self.n_threads = n_threads
        self.random_state = random_state
        self.on_interrupt = on_interrupt
        self.missing = missing

    def _settings(self) -> dict[str, Any]:
        return {"penalty": "nonneg"}
