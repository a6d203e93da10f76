"""Dask: C of arrays and frames larger than memory, and starts of a problem over the workers of a cluster.

>>> import dask.array as da, orthopt.dask
>>> x = da.random.default_rng(0).normal(size=(1000, 8), chunks=(250, 4))
>>> sums = orthopt.dask.gram(x)
>>> sums.rows, sums.gram(center=True).shape
(1000, (8, 8))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Sequence

import numpy as np

from ._gram import GramAccumulator
from ._path import Path, asked, fold_of_path, validated
from ._path import path as _path
from ._solution import Solution
from ._solve import solve as _solve
from ._tasks import Tasks
from .errors import DataTypeError, IncompatibleError, InvalidOptionError, OrthoptError, ShapeError

try:
    import dask
except ImportError as error:
    raise ImportError("orthopt.dask needs Dask: pip install 'orthopt[dask]'") from error

__all__ = ["Run", "Starts", "gram", "path", "solve", "submit"]

#: Accumulators that are merged in one task.
FAN_IN = 4

#: A start: its weight or number of nonzeros, and its seed.
Arm = tuple[dict[str, Any], int]


def is_dask(data: Any) -> bool:
    """True if ``data`` is a collection of Dask."""
    return bool(dask.is_dask_collection(data))


def gram(x: Any, *, weights: Any = None, reproducible: bool = False) -> GramAccumulator:
    """C = A'A, sums and count of a collection: every chunk is summed on its worker, and sums
    are merged there in a tree; only the sums (n x n) are sent to the client.

    Parameters
    ----------
    x
        A Dask array (m x n) of dense or SciPy sparse chunks; any chunks of rows, and several chunks of columns, which
        are put together first. A Dask data frame; or a list of delayed arrays, sparse matrices or frames.
    weights
        A weight for each row: a Dask array with the same chunks of rows as ``x``, or an array.
    reproducible
        The same bits for any chunks, workers and order; see :class:`orthopt.GramAccumulator`.

    Returns
    -------
    GramAccumulator
        The sums, computed on the current ``distributed.Client`` or by Dask's default scheduler.
    """
    parts, sizes = _parts(x)
    shares: Sequence[Any] = [None] * len(parts)
    if weights is not None:
        shares = _weights(weights, sizes)
    sums = dask.delayed(_sums, pure=False)
    merge = dask.delayed(_merged, pure=False)
    level = [sums(part, w, reproducible, f"chunk {k + 1} of {len(parts)}") for k, (part, w) in enumerate(zip(parts, shares))]
    while len(level) > 1:
        level = [merge(level[k : k + FAN_IN]) for k in range(0, len(level), FAN_IN)]
    return level[0].compute()


def _parts(x: Any) -> tuple[list[Any], tuple[int, ...] | None]:
    """Delayed chunks of rows, and their numbers of rows if known."""
    if isinstance(x, (list, tuple)):
        if not x:
            raise ShapeError("an empty list of delayed chunks")
        return list(x), None
    if hasattr(x, "to_delayed") and hasattr(x, "columns"):  # a frame
        return list(x.to_delayed()), None
    if not (hasattr(x, "to_delayed") and hasattr(x, "chunks")):
        raise DataTypeError(f"expected a Dask array, frame or list of delayed chunks, not {type(x).__name__}")
    if x.ndim != 2:
        raise ShapeError(f"the array must be a matrix, but has {x.ndim} dimension(s)")
    if len(x.chunks[1]) > 1:
        x = x.rechunk({1: -1})
    return list(x.to_delayed().ravel()), x.chunks[0]


def _weights(weights: Any, sizes: tuple[int, ...] | None) -> list[Any]:
    if sizes is None or any(np.isnan(size) for size in sizes):
        raise ShapeError("weights need chunks of known sizes; call compute_chunk_sizes() first")
    if weights.shape != (sum(sizes),):
        raise ShapeError(f"weights of shape {weights.shape} for {sum(sizes)} rows")
    if is_dask(weights):
        return list(weights.rechunk((sizes,)).to_delayed().ravel())
    edges = np.cumsum((0, *sizes))
    return [np.asarray(weights)[a:b] for a, b in zip(edges, edges[1:])]


def _sums(rows: Any, weights: Any, reproducible: bool, place: str) -> GramAccumulator:
    if hasattr(rows, "tocsr") and not hasattr(rows, "format"):
        rows = rows.tocsr()  # an array of the package sparse
    return GramAccumulator(reproducible=reproducible, place=place).add(rows, weights)


def _merged(parts: list[GramAccumulator]) -> GramAccumulator:
    first = GramAccumulator(reproducible=parts[0].reproducible)  # results of tasks are not changed
    for part in parts:
        first.merge(part)
    return first


@dataclass(frozen=True)
class Starts:
    """Result of :func:`solve`."""

    #: The X with the lowest F; where there are several weights or counts, see :attr:`by_lambda` and :attr:`by_count`.
    best: Solution
    #: All runs that ended, in the order of their weights and seeds.
    arms: list[Solution]
    #: Seed of each of them.
    seeds: list[int]
    #: Runs that failed, with the reason.
    failed: dict[int, str] = field(default_factory=dict)
    #: The best X of every weight.
    by_lambda: dict[float | None, Solution] = field(default_factory=dict)
    #: The best X of every number of nonzeros, with ``counts``.
    by_count: dict[int, Solution] = field(default_factory=dict)



class Run:
    """Running arms, from :func:`submit`."""

    def __init__(self, client: Any, arms: list[Arm], call: dict[str, Any]):
        self._arms = arms
        data = call.pop("data")
        self._tasks = Tasks(client, _arm, data, [{**call, **limit, "seed": seed} for limit, seed in arms])

    def cancel(self) -> None:
        """Ends the arms: running ones return their results so far, and waiting ones are
        dropped. :meth:`result` returns these results."""
        self._tasks.cancel()

    def result(self) -> Starts:
        """Waits for all arms. Ctrl-C cancels them and returns the results so far.

        Raises
        ------
        orthopt.errors.OrthoptError
            No arm ended.
        """
        found, failed = self._tasks.results()
        if not found:
            reason = next(iter(failed.values()), "all were cancelled")
            raise OrthoptError(f"none of {len(self._arms)} starts has a result: {reason}")
        order = sorted(found)
        best = min((found[k] for k in order), key=lambda one: one.objective)
        seeds = [self._arms[k][1] for k in order]
        by = {name: self._by(found, name) for name in ("lam", "nonzeros")}
        return Starts(best, [found[k] for k in order], seeds, failed, by["lam"], by["nonzeros"])

    def _by(self, found: dict[int, Solution], name: str) -> dict[Any, Solution]:
        """The best of each value of a limit."""
        best: dict[Any, Solution] = {}
        for k in sorted(found):
            limit = self._arms[k][0]
            if name in limit and (limit[name] not in best or found[k].objective < best[limit[name]].objective):
                best[limit[name]] = found[k]
        return best


def submit(
    problem: str,
    data: Any,
    rank: int | float | str | None = None,
    lam: float | None = None,
    *,
    starts: int = 8,
    seeds: Sequence[int] | None = None,
    lambdas: Sequence[float] | None = None,
    counts: Sequence[int] | None = None,
    client: Any = None,
    **options: Any,
) -> Run:
    """Starts the runs of :func:`solve` without waiting.

    Parameters
    ----------
    problem, data, rank, lam, starts, seeds, lambdas, counts, client, **options
        As for :func:`solve`.

    Returns
    -------
    Run
        ``result()`` waits for the runs, ``cancel()`` ends them.
    """
    from distributed import get_client

    seeds = range(starts) if seeds is None else seeds
    if len(seeds) == 0:
        raise InvalidOptionError("starts=0: at least one start is needed")
    if lambdas is not None and lam is not None:
        raise InvalidOptionError("give lam or lambdas, not both")
    if counts is not None and (lambdas is not None or options.get("nonzeros") is not None):
        raise InvalidOptionError("counts cannot be combined with lambdas or nonzeros")
    if "callback" in options or "progress" in options:
        raise InvalidOptionError("callback and progress are for runs in this process")
    options["rank"] = rank
    data = _of_rows(data, options)
    limits: list[dict[str, Any]] = [{"lam": lam}] if lambdas is None else [{"lam": value} for value in lambdas]
    if counts is not None:
        limits = [{"lam": lam, "nonzeros": int(count)} for count in counts]
    arms = [(limit, int(seed)) for limit in limits for seed in seeds]
    # one thread for each arm: the workers are the threads
    searches = options.get("solver", "auto") == "auto" and "restarts" not in options
    usual = {"threads": 1, "effort": "quick"} if searches else {"threads": 1}
    call = {"problem": problem, "data": data, **usual, **options}
    return Run(client or get_client(), arms, call)


def _of_rows(data: Any, options: dict[str, Any]) -> Any:
    """C of collections and accumulators, with its options; other data unchanged."""
    if is_dask(data):
        data = gram(data)
    if isinstance(data, GramAccumulator):
        how = {key: options.pop(key) for key in ("center", "scale", "covariance") if key in options}
        if options.get("rank") == "auto":
            options.setdefault("samples", data.rows)
        data, options["gram"] = data.gram(**how), True
    return data


def solve(problem: str, data: Any, rank: int | float | str | None = None, lam: float | None = None, **options: Any) -> Starts:
    """Starts of one problem as tasks of a cluster.

    Parameters
    ----------
    problem, data, rank, lam, **options
        As for :func:`orthopt.solve`. A Dask array becomes its C first, an accumulator gives its C. Data go to every
        worker once. ``effort`` of a search is ``"quick"`` unless given, ``threads`` 1.
    starts, seeds
        Runs with the seeds 0, 1, ..., or those given.
    lambdas
        Weights to run all seeds for; ``by_lambda`` of the result has the best of each.
    counts
        Nonzeros of each component to run all seeds for; ``by_count`` has the best of each. Points
        of :func:`path` exchange results, these do not.
    client
        A ``distributed.Client``; the current one if not given.

    Returns
    -------
    Starts
        The best X and all runs.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input; no start has a result.

    Notes
    -----
    If a worker is lost, its runs start again on another one. Ctrl-C ends all runs and returns
    the results so far. The arms are those of :func:`orthopt.solve` with the same seed and options, bit by bit, unless a
    time limit ends them.
    """
    return submit(problem, data, rank, lam, **options).result()


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
    client: Any = None,
    **options: Any,
) -> Path:
    """:func:`orthopt.path` as tasks of a cluster: the path is one task, because its points
    exchange results, and every fold of the cross-validation is another.

    Parameters
    ----------
    problem, data, rank, counts, lams, cv, cv_by, bound, **options
        As for :func:`orthopt.path`; ``threads`` is 1 unless given, and ``time_limit`` that of each task. With ``cv``
        the data are rows in memory; without, also a Dask collection or an accumulator, which give their C.
    client
        A ``distributed.Client``; the current one if not given.

    Returns
    -------
    Path
        As of :func:`orthopt.path`.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input; no task has a result.

    Notes
    -----
    Points, shares of held-out variance and the point chosen are those of :func:`orthopt.path` bit by bit, unless a time
    limit ends something. A task whose worker is lost starts again on another one. Ctrl-C ends all tasks: the path has
    the points so far, and the chosen point is its knee if a fold has not ended.
    """
    from distributed import get_client

    if "callback" in options or "progress" in options:
        raise InvalidOptionError("callback and progress are for runs in this process")
    steps: dict[str, Any] = {"counts": counts, "lams": lams}
    steps = {key: None if values is None else list(values) for key, values in steps.items()}
    folds = asked(steps["counts"], steps["lams"], cv, bound, options, cv_by)["cv"] or 0
    if cv is not None and folds < 2:
        raise InvalidOptionError(f"cv={cv}: at least two folds are needed")
    if folds and (is_dask(data) or isinstance(data, GramAccumulator)):
        raise IncompatibleError("cross-validation needs rows in memory: give x.compute(), or leave cv out")
    options["rank"] = rank
    data = _of_rows(data, options)
    call = {"problem": problem, "threads": 1, **steps, **options}
    # the path of all rows takes longest
    calls = [{**call, "bound": bound}, *({**call, "cv": cv, "cv_by": cv_by, "fold": k} for k in range(folds))]
    tasks = Tasks(client or get_client(), _of_path, data, calls)
    found, failed = tasks.results()
    wrong = {k: failed[k] for k in sorted(failed) if k == 0 or not tasks.cancelled}
    if wrong:
        raise OrthoptError(f"{len(wrong)} of {len(calls)} tasks have no result: {next(iter(wrong.values()))}")
    judged = [shares for k in range(1, len(calls)) if (shares := found.get(k)) is not None]
    return validated(found[0], judged) if folds and len(judged) == folds else found[0]


def _of_path(data: Any, call: dict[str, Any], ended: Any) -> Any:
    """The path or one of its folds, in a worker."""
    work = fold_of_path if "fold" in call else _path
    return work(data=data, callback=ended, **call)


def _arm(data: Any, call: dict[str, Any], ended: Any) -> Solution:
    """One run, in a worker."""
    return _solve(**call, data=data, callback=ended)
