"""Ends the runs that call Python before the interpreter ends.

CPython before 3.14 takes down daemon threads wherever they are; a thread that is in a Python function called by compiled
code then takes the whole process with it (SIGABRT). Runs without such functions need no care.
"""

from __future__ import annotations

import atexit
import os
import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterator

#: Seconds that the interpreter waits for a function to return. One that takes longer is its own risk.
PATIENCE = 5.0

_state = threading.Condition()
_runs = 0
_ending = False


@contextmanager
def calls(*functions: Callable | None) -> Iterator[tuple[Any, ...]]:
    """The functions for the compiled half, during one run: at the end of the interpreter they raise
    :class:`SystemExit`, which ends the run, and threads without notice."""
    global _runs
    if all(function is None for function in functions):
        yield functions
        return
    with _state:
        if _ending:
            raise SystemExit
        _runs += 1
    try:
        yield tuple(None if function is None else _until_the_end(function) for function in functions)
    finally:
        with _state:
            _runs -= 1
            _state.notify_all()


def _until_the_end(function: Callable) -> Callable:
    def call(*arguments: Any) -> Any:
        if _ending:
            raise SystemExit
        return function(*arguments)

    return call


def _end() -> None:
    global _ending
    with _state:
        _ending = True
        _state.wait_for(lambda: _runs == 0, PATIENCE)


def _after_fork() -> None:
    """The threads of the parent are not in the child, nor are their runs."""
    global _state, _runs
    _state, _runs = threading.Condition(), 0


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
