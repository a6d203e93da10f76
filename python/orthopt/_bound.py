"""``bound``: the command of the same name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from . import _data, _ending, _interrupt, _orthopt
from ._options import BOUND_SECONDS, STATEMENT, checked, fill, seconds
from ._solution import Solution
from ._solve import _name, _warn, solved
from ._tables import opened
from .errors import RankError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._request import BoundOptions


class BoundProgress(NamedTuple):
    """Argument of the callback of :func:`bound`."""

    #: Seconds since the call.
    seconds: float
    #: The lowest F known; infinite where none is.
    objective: float
    #: No feasible X has an F below this.
    bound: float
    #: Iterations of the relaxation at the root.
    iterations: int
    #: Nodes of branch and bound.
    nodes: int
    #: Nodes left open.
    open: int


@dataclass(frozen=True)
class BoundTrace:
    """Course of bound and incumbent: arrays of the same length."""

    #: Seconds since the bound began.
    seconds: np.ndarray
    #: The lower bound of F.
    bound: np.ndarray
    #: The lowest F known; infinite where none is.
    objective: np.ndarray
    #: Nodes of branch and bound.
    nodes: np.ndarray

    def __len__(self) -> int:
        return len(self.seconds)


@dataclass(frozen=True)
class Bound:
    """A lower bound of F over all feasible X, and the gap of the best known X."""

    #: No feasible X has an F below this, in floating point as well.
    bound: float
    #: The lowest F known.
    objective: float | None
    #: ``(objective - bound) / abs(objective)``.
    gap: float | None
    #: ``"optimal"`` where the gap is closed: X is a global minimum. ``"supports"`` where no X with other nonzeros has a lower
    #: F: ``gap`` is what may be left on those of X.
    proof: str | None
    #: ``optimal``, ``finished`` (the bound no longer rises), ``time_limit``, ``max_iters`` or
    #: ``interrupted``.
    status: str
    #: Which argument gave the bound: ``fantope``, ``trace``, ``groups``, ``blocks``, ``tree``,
    #: ``scores`` or ``supports``.
    method: str
    #: Iterations of the relaxation.
    iterations: int
    #: Nodes of branch and bound.
    nodes: int
    #: Nodes left open.
    open: int
    #: Seconds, without those of the solver.
    seconds: float
    #: The best X known (n x r).
    X: np.ndarray | None
    #: The bound of the relaxation alone, which ``dual`` proves.
    relaxation: float
    #: Data for a check of ``relaxation``, with the names of the arrays that ``--save-dual`` writes: ``C`` and ``Z``
    #: (n x n), ``rank``, ``lam``, ``K``, ``constant``, ``relaxation``, ``bound``, ``method``, ``objective``; see the
    #: documentation. ``None`` unless asked for.
    dual: dict[str, Any] | None
    #: The proof, for :func:`check_proof`: claim, problem, X and all numbers that prove it. ``None`` unless
    #: asked for.
    proof_file: dict[str, Any] | None
    #: History of bound and incumbent.
    trace: BoundTrace
    #: Name of the problem.
    problem: str
    #: r.
    rank: int
    #: The weight of the penalty, where there is one.
    lam: float | None = None
    #: Title of pictures: what is bounded, in words.
    title: str = ""
    #: The run that found the incumbent, where none was given.
    solution: Solution | None = field(default=None, repr=False)

    def plot(self, ax: Any = None) -> Any:
        """Draws the incumbent from above and the bound from below; needs matplotlib."""
        from . import _draw

        return _draw.bound(self, ax=ax)

    def __str__(self) -> str:
        if self.proof == "optimal":
            return f"F = {self.objective:.10g} is the global minimum"
        if self.gap is None:
            return f"F >= {self.bound:.10g}"
        if self.proof == "supports":
            return (
                f"F = {self.objective:.10g}: no other choice of variables has a lower F, and the loadings are within "
                f"{100 * self.gap:.3g} % of the best possible"
            )
        return f"F = {self.objective:.10g}, bound {self.bound:.10g}, gap {100 * self.gap:.3g} %"


#: Share of the time limit that the search for X has.
_SEARCH = 0.3


def bound(
    problem: str,
    data: Any,
    rank: int | float | str | None = None,
    lam: float | None = None,
    *,
    X: Any = None,
    time_limit: float = BOUND_SECONDS,
    nodes: int | None = None,
    dual: bool = False,
    proof: bool = False,
    callback: Callable[[BoundProgress], Any] | None = None,
    **options: Unpack[BoundOptions],
) -> Bound:
    """Computes a lower bound of F over all feasible X, and the gap of the best known X.

    There are bounds for ``l0-pca``, ``l1-pca`` (a weak one), ``nonneg-pca`` and ``pca``. First comes a
    relaxation over the Fantope, then, where variables times components are at most 400 (with limits of
    nonzeros 1,000, X >= 0 alone 400 variables), branch and bound until the gap is closed or the time limit is reached.

    Parameters
    ----------
    problem, data, rank, lam
        As for :func:`solve`.
    X
        The incumbent (n x r). Default: the X that :func:`solve` finds with ``**options`` in .3 of the time limit.
    time_limit
        Seconds for the bound, and for the search for X where none is given.
    nodes
        Maximum number of nodes of branch and bound; 0 is the relaxation alone, whose result
        does not depend on time. Default: limited by time only.
    dual
        Keep the data for recomputing the bound of the relaxation: C, the dual matrix Z and some numbers.
    proof
        Keep a proof that can be cited and checked, as ``proof_file``: ``json.dump`` writes the file.
    callback
        Called about ten times a second with a :class:`BoundProgress`; a true value ends the
        computation.
    **options
        Those of :func:`solve`.

    Returns
    -------
    Bound
        Ctrl-C ends the computation with the best bound so far; ``status`` is then ``"interrupted"``.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input, or a problem without a bound; the message gives the reason.

    Examples
    --------
    >>> import orthopt
    >>> b = orthopt.bound("l0-pca", "builtin:pitprops", rank=3, lam=0.1)
    >>> b.proof, round(b.bound, 6), b.gap < 1e-9
    ('optimal', -2.636819, True)

    The bound that the matrix Z of ``dual`` proves, recomputed with NumPy alone:

    >>> import numpy as np
    >>> A = np.random.default_rng(0).normal(size=(30, 8))
    >>> b = orthopt.bound("l0-pca", A, rank=2, lam=3.0, nodes=0, dual=True)
    >>> bool(np.abs(b.dual["Z"]).max() <= 3.0)
    True
    >>> sum_of_two = np.linalg.eigvalsh(b.dual["C"] / 2 - b.dual["Z"])[-2:].sum()
    >>> bool(np.isclose(-sum_of_two, b.relaxation, rtol=1e-9)), bool(b.objective >= b.bound)
    (True, True)
    """
    found, over = None, False
    own = ["nodes"] if nodes else []  # without nodes nothing branches anywhere
    data = opened(data)
    limit = seconds("time_limit", time_limit)
    if X is None:
        told = {key: options.pop(key) for key in ("progress", "on_interrupt") if key in options}
        searched = {**options, "rank": rank, "lam": lam, "time_limit": _SEARCH * limit}
        found, over = solved("bound", problem, data, searched, **told)  # one Ctrl-C is for all of the call
        _interrupt.hand_over(found, over, told.get("on_interrupt", "return"))
        X = found.X
        limit = max(limit - found.seconds, 0.0)
        stated = {key: options[key] for key in options if key in STATEMENT}
        filled = fill(stated, "bound", own=own, judged=True, lam=lam)  # the others were judged when X was found
    else:
        filled = fill(options, "bound of an X that is given", own=own, rank=rank, lam=lam)
    effort = {"seconds": limit, "nodes": _nodes(nodes), "dual": bool(dual), "proof": bool(proof), "over": over}
    start = _data.dense(X, "X")
    if rank is not None and rank != start.shape[1]:
        raise RankError(f"rank is {rank}, but X has {start.shape[1]} columns: leave rank out")
    with _ending.calls(_shown(callback)) as (shown,):
        proved = _orthopt.bound(_name(problem), _data.matrix(_data.arranged(data, filled)), start, filled, effort, shown)
    if found is None:  # the run has told already
        _warn(proved["notes"])
    proved.pop("notes")
    better, written = proved.pop("X"), proved.pop("proof_file")
    trace = BoundTrace(**proved.pop("trace"))
    written = None if written is None else json.loads(written)
    return Bound(**proved, X=start if better is None else better, proof_file=written, trace=trace, solution=found)


def _nodes(value: Any) -> int | None:
    return checked("nodes", value, int)


def _shown(callback: Callable | None) -> Callable | None:
    """Functions for callbacks of the compiled half."""
    return None if callback is None else lambda *numbers: bool(callback(BoundProgress(*numbers)))
