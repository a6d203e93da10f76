"""Dask: C of arrays and frames larger than memory, and starts of a problem over the workers of a cluster.

>>> import dask.array as da, orthopt.dask
>>> x = da.random.default_rng(0).normal(size=(1000, 8), chunks=(250, 4))
>>> sums = orthopt.dask.gram(x)
>>> sums.rows, sums.gram(center=True).shape
(1000, (8, 8))
"""

from __future__ import annotations

import uuid
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Sequence

import numpy as np

from ._gram import GramAccumulator
from ._solution import Solution
from ._solve import solve as _solve
from .errors import DataTypeError, InvalidOptionError, OrthoptError, ShapeError

try:
    import dask
except ImportError as error:
    raise ImportError("orthopt.dask needs Dask: pip install 'orthopt[dask]'") from error

__all__ = ["Run", "Starts", "gram", "solve", "submit"]

#: Accumulators that are merged in one task.
FAN_IN = 4

#: Times that an arm is sent again when its worker, or the data on it, are lost.
RETRIES = 5


def is_dask(data: Any) -> bool:
    """Whether ``data`` is a collection of Dask."""
    return bool(dask.is_dask_collection(data))


def gram(x: Any, *, weights: Any = None, reproducible: bool = False) -> GramAccumulator:
    """C = A'A, sums and count of a collection: every chunk on the worker that has it, merged there in a tree; only
    the sums (n x n) come here.

    Parameters
    ----------
    x
        A Dask array (m x n) of dense or SciPy sparse chunks; any chunks of rows, and several chunks of columns, which
        are put together first. A Dask data frame; or a list of delayed arrays, sparse matrices or frames.
    weights
        A weight for each row: a Dask array with the same chunks of rows as ``x``, or an array.
    reproducible
        The same bits for any chunks, workers and order; see :class:`orthopt.GramAccumulator`.

    Runs on the current ``distributed.Client``, or where Dask runs without one.
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
    """Delayed chunks of rows, and how many rows they have, where that is known."""
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
    """What :func:`solve` found."""

    #: The X with the lowest F; where there are several weights, see :attr:`by_lambda`.
    best: Solution
    #: All runs that ended, in the order of their weights and seeds.
    arms: list[Solution]
    #: Seed of each of them.
    seeds: list[int]
    #: Runs that failed, with the reason.
    failed: dict[int, str] = field(default_factory=dict)
    #: The best X of every weight.
    by_lambda: dict[float | None, Solution] = field(default_factory=dict)


class Run:
    """Arms on their way, from :func:`submit`."""

    def __init__(self, client: Any, arms: list[tuple[float | None, int]], call: dict[str, Any]):
        from distributed import Event

        self._client = client
        self._arms = arms
        self._call = call
        self._name = f"orthopt-stop-{uuid.uuid4().hex}"
        self._stop = Event(self._name, client=client)
        self._data = self._scattered()
        self._futures = {self._send(k): k for k in range(len(arms))}

    def _scattered(self) -> Any:
        # under a key of its own: equal data of an earlier run may just be on their way out
        return self._client.scatter(self._call["data"], broadcast=True, hash=False)

    def _send(self, k: int) -> Any:
        lam, seed = self._arms[k]
        call = {**self._call, "lam": lam, "seed": seed, "data": None}
        return self._client.submit(_arm, self._data, call, self._name, pure=False)

    def cancel(self) -> None:
        """Ends the arms: those that run hand over what they have, those that wait are dropped. :meth:`result` returns
        what there is."""
        self._stop.set()
        waiting = [future for future in self._futures if future.status == "pending"]
        running = {key for keys in self._client.processing().values() for key in keys}
        self._client.cancel([future for future in waiting if future.key not in running])

    def result(self) -> Starts:
        """Waits for all arms. Ctrl-C cancels them and returns what there is.

        Raises
        ------
        orthopt.errors.OrthoptError
            No arm ended.
        """
        found: dict[int, Solution] = {}
        failed: dict[int, str] = {}
        try:
            self._gather(found, failed)
        except KeyboardInterrupt:
            self.cancel()
            self._gather(found, failed)
        if not found:
            reason = next(iter(failed.values()), "all were cancelled")
            raise OrthoptError(f"none of {len(self._arms)} starts has a result: {reason}")
        order = sorted(found)
        by_lambda: dict[float | None, Solution] = {}
        for k in order:
            lam = self._arms[k][0]
            if lam not in by_lambda or found[k].objective < by_lambda[lam].objective:
                by_lambda[lam] = found[k]
        best = min((found[k] for k in order), key=lambda one: one.objective)
        seeds = [self._arms[k][1] for k in order]
        return Starts(best, [found[k] for k in order], seeds, failed, by_lambda)

    def _gather(self, found: dict[int, Solution], failed: dict[int, str]) -> None:
        """What ends; arms whose worker or data were lost are sent again."""
        from distributed import as_completed

        sent: dict[int, int] = {}
        ending = as_completed(self._futures)
        for future in ending:
            k = self._futures.pop(future)
            if future.status == "finished":
                found[k] = future.result()
                continue
            error = None if future.cancelled() else future.exception()
            lost = error is None or type(error).__name__ in ("KilledWorker", "FutureCancelledError", "CancelledError")
            if lost and not self._stop.is_set() and sent.setdefault(k, 0) < RETRIES:
                sent[k] += 1
                self._data = self._scattered()
                again = self._send(k)
                self._futures[again] = k
                ending.add(again)
            else:
                failed[k] = str(error or CancelledError("cancelled"))


def submit(
    problem: str,
    data: Any,
    rank: int | None = None,
    lam: float | None = None,
    *,
    starts: int = 8,
    seeds: Sequence[int] | None = None,
    lambdas: Sequence[float] | None = None,
    client: Any = None,
    **options: Any,
) -> Run:
    """Begins what :func:`solve` waits for; the arguments are the same. ``result()`` waits, ``cancel()`` ends it."""
    from distributed import get_client

    seeds = range(starts) if seeds is None else seeds
    if len(seeds) == 0:
        raise InvalidOptionError("starts=0: at least one start is needed")
    if lambdas is not None and lam is not None:
        raise InvalidOptionError("lam and lambdas exclude each other")
    if "callback" in options or "progress" in options:
        raise InvalidOptionError("callback and progress are for runs in this process")
    if is_dask(data):
        data = gram(data)
    if isinstance(data, GramAccumulator):
        how = {key: options.pop(key) for key in ("center", "scale", "covariance") if key in options}
        data, options["gram"] = data.gram(**how), True
    weights = [lam] if lambdas is None else list(lambdas)
    arms = [(weight, int(seed)) for weight in weights for seed in seeds]
    # one thread for each arm: the workers are the threads
    call = {"problem": problem, "data": data, "rank": rank, **{"threads": 1, "effort": "quick", **options}}
    return Run(client or get_client(), arms, call)


def solve(problem: str, data: Any, rank: int | None = None, lam: float | None = None, **options: Any) -> Starts:
    """Starts of one problem as tasks of a cluster: the best X and all others.

    Parameters
    ----------
    problem, data, rank, lam, **options
        As for :func:`orthopt.solve`. A Dask array becomes its C first, an accumulator gives its C. Data go to every
        worker once. ``effort`` is ``"quick"`` unless given, ``threads`` 1.
    starts, seeds
        Runs with the seeds 0, 1, ..., or those given.
    lambdas
        Weights to run all seeds for; ``by_lambda`` of the result has the best of each.
    client
        A ``distributed.Client``; the current one if not given.

    A worker that is lost costs the runs that it had: they begin again elsewhere. Ctrl-C ends all and returns what
    there is. The arms are those of :func:`orthopt.solve` with the same seed and options, bit by bit, unless a time
    limit ends them.
    """
    return submit(problem, data, rank, lam, **options).result()


def _arm(data: Any, call: dict[str, Any], stop: str) -> Solution:
    """One run, in a worker."""
    from distributed import Event

    asked, last = Event(stop), monotonic()

    def ended(_: Any) -> bool:
        nonlocal last
        if monotonic() - last < 0.5:  # the scheduler has other things to do
            return False
        last = monotonic()
        return bool(asked.is_set())

    return _solve(**{**call, "data": data}, callback=ended)
