"""Default number of threads: all cores, but one in a worker of joblib, and no more than threadpoolctl allows."""

from __future__ import annotations

import os
import sys
from typing import Any

_controller: Any = None


def usual() -> int | None:
    """Number of threads of a run; ``None``: all cores. Neither joblib nor threadpoolctl is imported for it: where nothing else has
    imported them, they limit nothing."""
    parallel = sys.modules.get("joblib.parallel")
    if parallel is not None and parallel.get_active_backend()[0].nesting_level:
        return 1  # the workers have the cores among them
    limit = _limit(sys.modules.get("threadpoolctl"))
    return limit if limit is not None and limit < _cores() else None


def _limit(threadpoolctl: Any) -> int | None:
    """The smallest number of threads that a library for linear algebra or OpenMP may use now."""
    global _controller
    if threadpoolctl is None:
        return None
    if _controller is None:  # looks for the libraries that are loaded, which takes milliseconds
        _controller = threadpoolctl.ThreadpoolController()
    return min((library["num_threads"] for library in _controller.info()), default=None)


def _cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
