"""``solve``, ``compare`` and ``certify``: the commands of the same names."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from . import _data, _ending, _interrupt, _orthopt
from ._options import fill
from ._progress import bar_for
from ._solution import Certificate, Comparison, ExplainedVariance, Scree, Solution, certificate, solution
from ._tables import opened
from .errors import DataTypeError, InvalidOptionError, OrthoptWarning

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._request import CertifyOptions, CompareOptions, SolveOptions

#: Seconds for each solver of those who compare without a limit.
COMPARE_SECONDS = 10.0


class Progress(NamedTuple):
    """Argument of a callback."""

    #: Iterations so far.
    iteration: int
    #: Seconds since the start of the run.
    seconds: float
    #: F of the best point so far.
    objective: float
    #: Its distance from the constraint, ``||X'X - I||_F``.
    feasibility: float
    #: Its entries that are not zero.
    nnz: int


Callback = Callable[[Progress], Any]


def solve(
    problem: str,
    data: Any,
    rank: int | float | str | None = None,
    lam: float | None = None,
    *,
    solver: str = "auto",
    init: Any = None,
    certify: bool | int = False,
    bound: bool | float = False,
    callback: Callback | None = None,
    progress: bool = False,
    on_interrupt: str = "return",
    **options: Unpack[SolveOptions],
) -> Solution:
    """Finds X: minimises F(X) = f(X) + h(X) over the n x r matrices X with X'X = I (or X'JX = J).

    Parameters
    ----------
    problem
        ``"l0-pca"``, ``"l1-pca"``, ``"nonneg-pca"``, ``"pca"``, ``"hyperbolic-eig"``, ...;
        ``orthopt.registry("problems")`` lists all.
    data
        The samples A (m x n): rows are samples, columns are variables; C = A'A of the matrix as it
        is. A NumPy array, a data frame or table of pandas, polars or pyarrow, a SciPy sparse matrix (any
        format; CSC needs no conversion), or what the command line takes: a file name (``.parquet``, ``.arrow`` and
        ``.feather`` are read with pyarrow or polars), ``"builtin:pitprops"``, ``"randn:50:8"``. With ``gram=True`` it
        is C itself.
    rank
        r: a number; a share of the variance, as ``0.9`` or ``"90%"``, that as many components of PCA explain; or
        ``"auto"``, the components that exceed noise (:func:`scree`). Default: 5, or one fewer than the variables if that
        is less.
    lam
        The weight of the penalty h. Default: for ``"l0-pca"`` a number of nonzeros instead, where the variance
        explained has its knee (``nonzeros="auto"``); for others a share of the mean of the r
        largest C_ii, or of the largest covariance if that is small. ``reasons`` of the solution give it. ``lam_share=0.1``
        sets the share, ``relative_lam=0.1`` a share of the largest useful weight (penalties ``l0`` and ``l1``).
    solver
        A name, names joined with ``+`` that run one after the other, or ``"auto"``.
    init
        X0: the name of a starting point or an n x r array with orthonormal columns.
    certify
        ``True``: check all pairs of rows afterwards, and measure criticality; a number: this many random pairs.
    bound
        ``True`` or a number of seconds (60): bound F over all feasible X afterwards, see :func:`bound`.
    callback
        Called about ten times a second with a :class:`Progress`; a true value ends the run.
    progress
        Show a bar (needs tqdm).
    on_interrupt
        Effect of Ctrl-C: ``"return"`` the best X so far, or ``"raise"`` :class:`orthopt.errors.Interrupted` with it as
        ``result``, which ends a loop around the call.
    **options
        * ``gram``: Give C itself (symmetric, n x n) instead of DATA
        * ``center``: Subtract the mean of each column (sparse data stay sparse)
        * ``scale``: Scale the columns, after centring: std (standard deviation 1: C holds correlations; implies
          ``covariance`` and ``center``), unit (2-norm 1), none, or a factor [default: none]
        * ``covariance``: C = A'A/(m - 1) of the centred columns, so that lambda does not depend on the number of
          samples
        * ``missing``: Missing values (NA, empty cells, NaN): error, mean of the column, drop the row, or em, a model of
          a few components [default: error]; one of error, mean, drop, em
        * ``features``: Keep the first N columns only
        * ``storage``: Storage of the data in f: C (dense), A (gram), or the cheaper one (auto) [default: auto]; one of
          auto, dense, gram
        * ``max_memory``: Refuse data and problems that need more memory: 500M, 8G [default: nine tenths of what is
          free]
        * ``layout``: Read the table as another one was read: a result (solve ``json``), or a JSON object of the options
          below
        * ``header``: Whether the first line holds the names of the columns, or how many lines do [default: auto]
        * ``skip``: Leave out N lines in front of the table
        * ``footer``: Leave out N rows at the end of the table
        * ``columns``: Columns to read: names, numbers, ranges, patterns with * and ? (a,b,5-9,gene*)
        * ``drop``: Columns to leave out, as with ``columns``; `text` leaves out all columns of text
        * ``row_names``: The column that names the rows: auto, none, or a column [default: auto]
        * ``drop_rows``: Rows to leave out, by names or numbers, beside totals and means: auto, none, or a list
          [default: auto]
        * ``strip``: Columns of numbers with something beside them (5 kg, 5.1*, 5.1 (0.2)) that is taken off
        * ``weights``: Weights of the rows: a column, or a file with one per line; a row counts as often as its weight
          says
        * ``transpose``: Rows are variables, columns are samples
        * ``na``: Further codes of a missing value, beside NA and empty cells, such as -999,<LOD
        * ``decimal``: Decimal mark, . or , [default: the table decides]
        * ``thousands``: Mark between groups of three digits: . , ' space or none [default: the table decides]
        * ``sheet``: Sheet of a spreadsheet, by its name or number [default: the first with data]
        * ``names``: Names of the columns, one per line, or a column of a table (FILE:2, FILE:symbol)
        * ``nearest``: Replace C by a positive semidefinite matrix with the same diagonal, the nearest one in
          correlations
        * ``samples``: Number of rows behind C, for a rank of auto
        * ``lam_share``: Weight of the penalty as a share of the mean of the r largest C_ii
        * ``relative_lam``: Weight of the penalty l0 or l1 as a share of the largest useful one
        * ``nonzeros``: At most K nonzeros in each component (K1,K2,...: one number for each; auto: the knee of variance
          against nonzeros) instead of lambda [default: auto for l0 without lambda]
        * ``total_nonzeros``: At most K nonzeros in all components together
        * ``variables``: At most K variables in all components together; with ``lam`` each variable costs LAMBDA
        * ``constraint``: Relation between two components: orthogonal loadings (X'X = I), uncorrelated scores (X'CX
          diagonal, columns of length 1), or both, for l0-pca with a number of nonzeros [default: orthogonal]
        * ``maximise``: Measure to maximise: variance; adjusted: variance that earlier components do not have; polar:
          the same, all components on equal terms; explained: variance of all variables predicted from the scores
          [default: adjusted with a number of nonzeros, otherwise variance]
        * ``order``: joint: all components together; sequential: each the best one beside those before it [default:
          joint]
        * ``min_nonzeros``: Least number of nonzeros in a component, with ``total_nonzeros`` [default: 1]
        * ``max_nonzeros``: Largest number of nonzeros in a component, with ``total_nonzeros`` [default: all]
        * ``penalty``: Another penalty for a PCA problem; `orthopt list penalties` shows all
        * ``k``: k of dc-pca and l1-largest-k: number of entries of X without penalty [default: 5 %]
        * ``map``: A in h(A(X)): differences, rows:LIST, columns:LIST, or a file with B, A(X) = BX; or a matrix
        * ``signature``: J of X'JX = J: P ones (below 1: a share of them), then minus ones, or a file with signs
          [default: half]
        * ``ridge``: hyperbolic-eig: add R * tr(C)/n to the diagonal of C [default: 0]
        * ``reproduction``: hyperbolic-eig as the paper prints it, min -tr(X'CX) with C = A'A, which has no lower bound
        * ``distances``: probe: distances to match, m x m [default: Euclidean ones]; or a matrix
        * ``radius``: probe: radius of the ultrahyperbolic space [default: 1]
        * ``placement``: probe: position of phi, after X (phi(DX)) or before X (phi(D)X, as the paper prints it: F is
          then the same for every feasible X) [default: after]; one of after, before
        * ``linear``: nonlinear-eig, and procrustes of C itself: E of the linear term, a file or randn[:SEED]; or a
          matrix
        * ``target``: procrustes: B of ||AX - B||, one row for each sample; centred where these are; or a matrix
        * ``component_weights``: brockett: weights of the components, D1,D2,... of tr(X'CXD) [default: falling evenly,
          with mean 1]
        * ``effort``: Length of the search of auto: quick, normal or thorough [default: normal; with a limit, until the
          limit]; one of quick, normal, thorough
        * ``restarts``: Further starts of one solver; the best X is returned [default: as the time limit allows; auto
          searches instead, see ``effort``]
        * ``seed``: Seed of all random choices [default: 0]
        * ``threads``: Threads to use [default: all]; X does not depend on it
        * ``max_iters``: Stop after this many iterations (working sets tried)
        * ``time_limit``: Seconds for the whole call after the data are read, setting up the problem too; those of
          `bound` come on top
        * ``tol``: Converged when no pair lowers F by more than TOL * (scale + |F|), or stationarity is at most 1000 TOL
          [default: 1e-9]
        * ``min_decrease``: Stop as stalled when a pass lowers F by less [default: 0, never]
        * ``working_set``: B, rule for choosing rows [default: random]; one of random, active, cyclic, greedy-sv,
          greedy-or
        * ``block``: k, number of rows in B; subproblems of 2 are solved globally [default: 2]
        * ``model``: Q, model of a block: exact (8) or diagonal (9) [default: exact]; one of exact, diagonal
        * ``alpha``: α, weight of the proximal term alpha/2 ||V - I||^2, relative to the scale of F [default: 1e-5]
        * ``candidates``: pairs scored by the greedy rules; min(n, 200) unless set [default: auto]
        * ``side``: JOBCD: pairs of rows of X (the paper), of columns, or auto: columns where that decouples them
          [default: auto]; one of auto, rows, columns
        * ``jacobi``: rounds of n/2 disjoint pairs in parallel with the diagonal model (Appendix C.4) [default: false]
        * ``title``: Title of the pictures, in place of "3 sparse components of 13 variables"

        Besides, the constants of solvers and penalties (:func:`orthopt.constants`). Options that do not apply are refused.

    Returns
    -------
    Solution
        The best X. Ctrl-C ends the run with the best X so far; ``status`` is then ``"interrupted"``.
        The same seed and options give the same X, bit by bit on one machine, here, on the command
        line and in Rust, for any number of threads, unless a time limit ends the run.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input, one class per kind; also a :class:`ValueError` if a value is wrong.

    Examples
    --------
    >>> import orthopt
    >>> s = orthopt.solve("l0-pca", "builtin:pitprops", rank=3, lam=0.1, certify=True)
    >>> s.status, s.nnz, round(s.objective, 6)
    ('optimal', 11, -2.636819)
    >>> s.certificate.holds
    True
    """
    own = {"callback": callback, "progress": progress, "on_interrupt": on_interrupt}
    fixed = {"rank": rank, "lam": lam, "solver": solver, "init": init, "certify": certify}
    return _interrupt.hand_over(*solved("solve", problem, data, {**options, **fixed}, bound, **own), on_interrupt)


def solved(
    call: str,
    problem: str,
    data: Any,
    options: dict[str, Any],
    bound: bool | float = False,
    *,
    callback: Callback | None = None,
    progress: bool = False,
    on_interrupt: str = "return",
) -> tuple[Solution, bool]:
    """:func:`solve` as a part of this call, and true if Ctrl-C has come."""
    _interrupt.check(on_interrupt)
    filled = fill(options, call, bound=bound)
    data = _data.arranged(opened(data), filled)
    with bar_for(progress, filled) as bar:
        caller = _Caller(callback, bar)
        with _ending.calls(caller.function) as (called,):
            found = _orthopt.solve(_name(problem), _data.matrix(data), filled, called)
    _warn(found["notes"] + found.pop("broken"))
    interrupted = found.pop("interrupted")
    return solution(found, _data.names(data)), interrupted


def scree(data: Any, rank: float | str | None = None, **options: Any) -> Scree:
    """Eigenvalues of C beside those of noise, and the number of components that stand out.

    Parameters
    ----------
    data
        As for :func:`solve`. C itself (``gram=True``) takes ``samples``, the number of rows behind it.
    rank
        ``"auto"``, the default: components whose variance is above the 95th percentile of what permuted columns have (parallel
        analysis); a share such as ``"90%"`` or ``0.9``: as many as explain it in PCA.
    **options
        Options of the data: ``center``, ``scale``, ``covariance``, ``weights``, ``missing``, ...

    Returns
    -------
    Scree
        The number of components (``rank``), the rule and the numbers behind it; eigenvalues are shares of tr C.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input, one class per kind; also a :class:`ValueError` if a value is wrong.

    Examples
    --------
    >>> import orthopt
    >>> found = orthopt.scree("builtin:pitprops", samples=180)
    >>> found.rank, found.rule
    (3, 'marchenko-pastur')
    >>> orthopt.scree("builtin:pitprops", 0.9).rank
    7
    """
    filled = fill(options, rank="auto" if rank is None else rank)
    found = _orthopt.scree(_data.matrix(_data.arranged(opened(data), filled)), filled)
    return Scree(**found)


def compare(
    problem: str,
    data: Any,
    rank: int | float | str | None = None,
    lam: float | None = None,
    *,
    solvers: list[str] | str | None = None,
    init: Any = None,
    certify: bool | int = True,
    callback: Callback | None = None,
    progress: bool = False,
    on_interrupt: str = "return",
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Runs several solvers on the same problem from the same start.

    Each has ten seconds unless ``time_limit`` or ``max_iters`` is given, and runs once (``restarts``).

    Parameters
    ----------
    problem, data, rank, lam, init, certify, callback, progress
        As for :func:`solve`.
    solvers
        Names and chains, as a list or joined with commas. Default: the search and its arms, each alone from its own start,
        or all that can solve the problem where nothing is searched.
    on_interrupt
        Effect of Ctrl-C, which ends the current solver: ``"return"`` the solutions so far, or ``"raise"`` with them.
    **options
        Those of :func:`solve`.

    Returns
    -------
    Comparison
        A :class:`Solution` for each solver, in the order of the request; printed as a table.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input, one class per kind; also a :class:`ValueError` if a value is wrong.

    Examples
    --------
    >>> import orthopt
    >>> c = orthopt.compare("l1-pca", "builtin:pitprops", 3, 0.3, solvers=["obcd", "manpg"], max_iters=20000)
    >>> [s.solver for s in c], c.best.objective <= c["obcd"].objective
    (['obcd', 'manpg'], True)
    """
    if "solver" in options:
        raise InvalidOptionError("compare takes solvers=[...] instead of solver")
    if isinstance(solvers, str):
        solvers = [name.strip() for name in solvers.split(",")]
    if options.get("time_limit") is None and options.get("max_iters") is None:
        options["time_limit"] = COMPARE_SECONDS
    _interrupt.check(on_interrupt)
    filled = fill(options, "compare", rank=rank, lam=lam, init=init, certify=certify)
    data = _data.arranged(opened(data), filled)
    with bar_for(progress, filled) as bar:
        caller = _Caller(callback, bar)
        with _ending.calls(caller.function) as (called,):
            found = _orthopt.compare(
                _name(problem), _data.matrix(data), list(solvers or []), filled, called
            )
    _warn(list(dict.fromkeys(note for one in found for note in one["notes"])))
    _warn([text for one in found for text in one.pop("broken")])
    interrupted = any([one.pop("interrupted") for one in found])
    all_found = Comparison([solution(one, _data.names(data)) for one in found])
    return _interrupt.hand_over(all_found, interrupted, on_interrupt)


@dataclass(frozen=True)
class Findings:
    """Checks of a given X."""

    #: F(X) = smooth + nonsmooth.
    objective: float
    #: f(X).
    smooth: float
    #: h(X).
    nonsmooth: float
    #: Distance of X from the constraint.
    feasibility: float
    #: Entries that are not zero.
    nnz: int
    #: The first-order measure of the papers.
    criticality: float
    #: Block-2 stationarity, where pairs of rows can be solved globally.
    certificate: Certificate | None
    #: Variance explained, if it is defined.
    explained_variance: ExplainedVariance | None
    #: The minimum of F, where it is known in closed form.
    optimum: float | None
    #: Name of the problem.
    problem: str
    #: The weight of the penalty, where there is one.
    lam: float | None


def certify(
    problem: str,
    data: Any,
    X: Any,
    lam: float | None = None,
    *,
    pairs: int | None = None,
    tol: float = 1e-9,
    **options: Unpack[CertifyOptions],
) -> Findings:
    """Checks a given X (n x r): feasibility, criticality and block-2 stationarity.

    Parameters
    ----------
    problem, data, lam
        As for :func:`solve`. The data must be prepared as they were when X was found (``center``, ``scale``, ``features``).
    X
        An array (n x r) of any origin.
    pairs
        Number of random pairs of rows to check. Default: all pairs.
    tol
        A decrease of F up to ``tol * (scale + |F|)`` counts as none, scale being that of f.
    **options
        Those of :func:`solve`.

    Returns
    -------
    Findings
        What was measured, with a :class:`Certificate` for problems whose pairs of rows can be solved globally.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input, one class per kind; also a :class:`ValueError` if a value is wrong.

    Examples
    --------
    >>> import orthopt
    >>> s = orthopt.solve("l0-pca", "builtin:pitprops", rank=3, lam=0.1)
    >>> orthopt.certify("l0-pca", "builtin:pitprops", s.X, lam=0.1).certificate.holds
    True
    """
    checks = True if pairs is None else pairs
    assumed = ("certify",) if pairs is None else ()
    filled = fill(options, "certify", assumed=assumed, lam=lam, certify=checks, tol=tol)
    found = _orthopt.certify(_name(problem), _data.matrix(_data.arranged(opened(data), filled)), _data.dense(X, "X"), filled)
    _warn(found.pop("notes"))
    found.pop("rank")
    tolerance = found.pop("tolerance")
    checked = certificate(found.pop("certificate"), tolerance)
    variance = found.pop("explained_variance")
    explained = None if variance is None else ExplainedVariance(**variance)
    return Findings(**found, certificate=checked, explained_variance=explained)


def _name(problem: Any) -> str:
    if not isinstance(problem, str):
        raise DataTypeError(f"the problem is given by its name, not by {type(problem).__name__}")
    return problem


class _Caller:
    """Function for the compiled half, and a state that tells whether the callback ended the run."""

    def __init__(self, callback: Callback | None, bar: Callback | None):
        self._callback, self._bar = callback, bar
        self.ended = False
        #: For the compiled half; None without a callback.
        self.function = None if callback is None and bar is None else self._call

    def _call(self, *numbers: Any) -> bool:
        now = Progress(*numbers)
        if self._bar is not None:
            self._bar(now)
        if self._callback is not None and self._callback(now):
            self.ended = True
        return self.ended


def _warn(notes: list[str]) -> None:
    for note in notes:
        warnings.warn(note, OrthoptWarning, stacklevel=3)
