"""``path``: the command of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Iterable, overload

import numpy as np

from . import _data, _ending, _orthopt
from ._options import bound_seconds, checked, fill
from ._solution import Solution, solution
from ._solve import _name, _warn
from ._tables import opened
from .errors import InvalidOptionError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._request import PathOptions

#: Called with the number of the point (from 0) and of all points; a true value ends the path.
PathCallback = Callable[[int, int], Any]


@dataclass(frozen=True)
class Path(Sequence["Solution"]):
    """Solutions for numbers of nonzeros or weights lambda, sparse ones first, and the chosen point."""

    #: ``"nonzeros"`` (in each component) or ``"lambda"``: what changes along the path.
    along: str
    #: Its values.
    at: np.ndarray
    #: The solutions.
    solutions: list[Solution]
    #: The point chosen: by cross-validation with ``cv``, else the knee.
    chosen: int
    #: Position of the knee of the variance explained over the nonzeros.
    knee: int
    #: Share of the variance of held-out rows (or cells) that each point keeps, mean over the folds; with ``cv``.
    held_out: np.ndarray | None
    #: Its standard error.
    held_out_error: np.ndarray | None
    #: The point whose X led to each one, where that was better than what was found there alone.
    source: list[int | None]
    #: True if it was interrupted.
    interrupted: bool

    @property
    def best(self) -> Solution:
        """The solution at the point chosen."""
        return self.solutions[self.chosen]

    @property
    def nnz(self) -> np.ndarray:
        """Nonzeros of each X."""
        return np.array([s.nnz for s in self.solutions])

    @property
    def explained_variance(self) -> np.ndarray:
        """Share of the variance of the data projected on the components of each point."""
        return np.array([s.explained_variance.projected for s in self.solutions])

    @property
    def maximised(self) -> np.ndarray:
        """Share of the variance of each point in the measure that was maximised (``explained_variance.maximised`` of a solution)."""
        fields = {"variance": "projected", "adjusted": "total", "polar": "polar", "explained": "predicted"}
        found = [s.explained_variance for s in self.solutions]
        return np.array([np.nan if one is None else getattr(one, fields[one.maximised]) for one in found])

    @property
    def variance_bound(self) -> np.ndarray:
        """Upper bound of :attr:`maximised` over all feasible X with a penalty up to that of each point; NaN without ``bound``."""
        most = lambda s: np.nan if s.bound is None or not s.smooth else (s.nonsmooth - s.bound) / -s.smooth  # noqa: E731
        return self.maximised * np.array([most(s) for s in self.solutions])

    def __len__(self) -> int:
        return len(self.solutions)

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> list[Solution]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.solutions[index]

    def plot(self, ax: Any = None) -> Any:
        """Draws variance explained against nonzeros, and its bound where every point has one, the chosen point ringed; needs
        matplotlib. Returns the axes."""
        from ._draw import about, pairs, picture

        nnz, explained = self.nnz, [s.explained_variance for s in self.solutions]
        lines: list[tuple[str, Any]] = [("together", [np.nan if e is None else e.total for e in explained])]
        measure = None if explained[0] is None else explained[0].maximised
        same = ("adjusted", "variance", "polar") if self.best.rank == 1 else ("adjusted",)  # the same of one component
        if measure is not None and measure not in same:
            lines.append(("projected" if measure == "variance" else measure, self.maximised))
        if self.held_out is not None:
            lines.append(("held out", self.held_out))
        if np.isfinite(self.variance_bound).all():
            lines.append(("bound", self.variance_bound))
        shown: list[dict[str, Any]] = [{"name": name, "points": pairs(nnz, 100 * np.asarray(share))} for name, share in lines]
        if self.held_out_error is not None:
            next(line for line in shown if line["name"] == "held out")["errors"] = (100 * np.asarray(self.held_out_error)).tolist()
        return picture("path", ax, about=about(self.best), lines=shown, chosen=self.chosen)

    def __str__(self) -> str:
        lines = [f"{'':1} {self.along:>9} {'F':>16} {'nonzeros':>8} {'together':>9} {'projected':>9}"]
        for k, (at, s) in enumerate(zip(self.at, self.solutions)):
            mark, v = "*" if k == self.chosen else " ", s.explained_variance
            lines.append(
                f"{mark} {at:>9.6g} {s.objective:>16.9g} {s.nnz:>8} {100 * v.total:>7.2f} % {100 * v.projected:>7.2f} %"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Path along {self.along}: {len(self)} points, {self.at[self.chosen]:.6g} chosen>"


def path(
    problem: str,
    data: Any,
    rank: int | float | str | None = None,
    *,
    counts: Iterable[int] | None = None,
    lams: Iterable[float] | None = None,
    cv: int | None = None,
    cv_by: str | None = None,
    bound: bool | float = False,
    callback: PathCallback | None = None,
    **options: Unpack[PathOptions],
) -> Path:
    """Solves for several numbers of nonzeros in each component, or several lambda, and chooses a point.

    Points are searched one after the other, sparse ones first. Then each point tries the X of
    its neighbours: no point is worse than the X of a neighbour, and more nonzeros never explain less.

    Parameters
    ----------
    problem, data, rank
        As for :func:`solve`.
    counts
        Nonzeros allowed in each component, for ``"l0-pca"``, ``"nonneg-pca"`` and ``"pca"``. Default: 1, 2, 3, 5,
        7, 10, 14, 20, 30.
    lams
        Weights of the penalty instead. Default for ``"l1-pca"``: nine, each half of the one before.
    cv
        Number of folds for cross-validation: the chosen point is the sparsest
        whose mean share of held-out variance is within one standard error of the best. Default: the knee of the
        variance explained.
    cv_by
        With ``cv``: ``"rows"`` (default) holds out rows, ``"cells"`` cells of the table, which the others of their row
        predict.
    bound
        ``True`` or a number of seconds for each point (60): bound F over all feasible X.
    callback
        Called about ten times a second with the number of the point and of all; a true value ends the path.
    **options
        Those of :func:`solve`; ``effort`` is ``"quick"`` by default, and ``time_limit`` is that of the whole path.

    Returns
    -------
    Path
        A :class:`Solution` for each point, the point chosen (``best``), and the shares of held-out variance with ``cv``. Ctrl-C
        ends the path with the points so far.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input, one class per kind; also a :class:`ValueError` if a value is wrong.

    Examples
    --------
    >>> import orthopt
    >>> found = orthopt.path("l0-pca", "builtin:pitprops", rank=3, counts=[1, 2, 5, 10])
    >>> [s.nnz for s in found]
    [3, 6, 15, 30]
    >>> found.best.nnz_per_component.tolist()
    [5, 5, 5]
    """
    steps = asked(counts, lams, cv, bound, options, cv_by)
    own = [name for name, value in (("cv", cv), ("cv_by", cv_by), ("bound", bound)) if value is not None and value is not False]
    filled = fill(options, "path", own=own, rank=rank)
    data = _data.arranged(opened(data), filled)
    with _ending.calls(callback) as (called,):
        found = _orthopt.path(_name(problem), _data.matrix(data), filled, steps, called)
    return walked(found, _data.names(data))


def walked(found: dict[str, Any], names: Any) -> Path:
    """A path from what the compiled half says."""
    points = found["points"]
    solutions = []
    for point in points:
        bounds = {key: point[key] for key in ("bound", "gap", "proof")}
        solutions.append(replace(solution(point["solution"], names), **bounds))
    for note in dict.fromkeys(note for point in points for note in point["solution"].get("notes", [])):
        _warn([note])
    array = lambda values: None if values is None else np.array(values)  # noqa: E731
    return Path(
        along=found["along"],
        at=np.array([point["at"] for point in points]),
        solutions=solutions,
        chosen=found["chosen"],
        knee=found["knee"],
        held_out=array(found["held_out"]),
        held_out_error=array(found["held_out_error"]),
        source=[point["from"] for point in points],
        interrupted=found["interrupted"],
    )


def asked(
    counts: Iterable[int] | None,
    lams: Iterable[float] | None,
    cv: int | None,
    bound: bool | float,
    options: dict[str, Any],
    cv_by: str | None = None,
) -> dict[str, Any]:
    """The checked request for a path."""
    if counts is not None and lams is not None:
        raise InvalidOptionError("give counts or lams, not both")
    if cv_by is not None and cv is None:
        raise InvalidOptionError("cv_by says what cross-validation holds out: give cv too, the number of folds")
    if cv_by not in (None, "rows", "cells"):
        raise InvalidOptionError(f"cv_by is {cv_by!r}: expected 'rows' or 'cells'")
    limits = ("lam", "lam_share", "relative_lam", "nonzeros", "total_nonzeros", "variables", "init")
    for key in limits:
        if options.get(key) is not None:
            raise InvalidOptionError(f"{key} gives one point; path takes counts or lams")
    return {
        "counts": None if counts is None else [checked("counts", k, int) for k in counts],
        "lams": None if lams is None else [checked("lams", v, float) for v in lams],
        "cv": checked("cv", cv, int),
        "cv_by": cv_by,
        "bound": bound_seconds(bound),
    }


def fold_of_path(
    problem: str,
    data: Any,
    rank: int | float | str | None,
    fold: int,
    *,
    cv: int,
    cv_by: str | None = None,
    counts: Iterable[int] | None = None,
    lams: Iterable[float] | None = None,
    callback: PathCallback | None = None,
    **options: Any,
) -> list[float] | None:
    """One of the folds of ``path(..., cv=cv)``, counted from 0: the share of the variance of its rows (or cells) that each point of the
    path of the others keeps; ``None`` if it was ended early."""
    steps = asked(counts, lams, cv, False, options, cv_by)
    filled = fill(options, "path", own=["cv"], rank=rank)
    with _ending.calls(callback) as (called,):
        return _orthopt.judged_fold(_name(problem), _data.matrix(_data.arranged(opened(data), filled)), filled, steps, fold, called)


def validated(found: Path, folds: list[list[float]]) -> Path:
    """A path with the point chosen by cross-validation."""
    mean, error, chosen = _orthopt.validation(folds)
    if chosen >= len(found):  # it was ended before
        return found
    return replace(found, chosen=chosen, held_out=np.array(mean), held_out_error=np.array(error))
