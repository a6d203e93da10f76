"""Calls as tasks of a Dask cluster: tasks lost with their worker are sent again, and cancelled tasks end."""

from __future__ import annotations

import uuid
from time import monotonic
from typing import Any, Callable

#: Times that a task is sent again when its worker, or the data on it, are lost.
RETRIES = 5

#: ``work(data, call, ended)``: one call in a worker, to which ``ended()`` says whether its result is still needed.
Work = Callable[[Any, Any, Callable[..., bool]], Any]


class Tasks:
    """One function for several calls, all with the same data, which go to every worker once."""

    def __init__(self, client: Any, work: Work, data: Any, calls: list[Any]):
        from distributed import Event

        self.client, self._work, self._held, self._calls = client, work, data, calls
        self._name = f"orthopt-stop-{uuid.uuid4().hex}"
        self._stop = Event(self._name, client=client)
        self._data = self._scattered()
        self._futures = {self._send(k): k for k in range(len(calls))}

    def _scattered(self) -> Any:
        # under a key of its own: equal data of an earlier run may just be on their way out
        return self.client.scatter(self._held, broadcast=True, hash=False)

    def _send(self, k: int) -> Any:
        return self.client.submit(_task, self._work, self._data, self._calls[k], self._name, pure=False)

    def cancel(self) -> None:
        """Running tasks are asked to return their results so far, and waiting ones are dropped."""
        self._stop.set()
        waiting = [future for future in self._futures if future.status == "pending"]
        running = {key for keys in self.client.processing().values() for key in keys}
        self.client.cancel([future for future in waiting if future.key not in running])

    @property
    def cancelled(self) -> bool:
        """True if they have been asked to end."""
        return bool(self._stop.is_set())

    def results(self) -> tuple[dict[int, Any], dict[int, str]]:
        """Waits for all: their results, and the reasons of failures, by the number of the
        call. Ctrl-C cancels them and returns the results so far."""
        found: dict[int, Any] = {}
        failed: dict[int, str] = {}
        try:
            self._gather(found, failed)
        except KeyboardInterrupt:
            self.cancel()
            self._gather(found, failed)
        return found, failed

    def _gather(self, found: dict[int, Any], failed: dict[int, str]) -> None:
        """Tasks as they end; tasks whose worker or data were lost are sent again."""
        from concurrent.futures import CancelledError

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


def _task(work: Work, data: Any, call: Any, stop: str) -> Any:
    """Runs in a worker."""
    from distributed import Event

    asked, last = Event(stop), monotonic()

    def ended(*_: Any) -> bool:
        nonlocal last
        if monotonic() - last < 0.5:  # the scheduler has other things to do
            return False
        last = monotonic()
        return bool(asked.is_set())

    return work(data, call, ended)
