"""The compiled half. Call the functions of ``orthopt`` instead."""

import logging
from typing import Any, Callable

import numpy as np

__version__: str

_Data = np.ndarray | tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray] | str
_Callback = Callable[[int, float, float, float, int], Any] | None

def solve(problem: str, data: _Data, options: dict[str, Any], callback: _Callback) -> dict[str, Any]: ...
def compare(
    problem: str, data: _Data, solvers: list[str], options: dict[str, Any], callback: _Callback
) -> list[dict[str, Any]]: ...
def certify(problem: str, data: _Data, x: np.ndarray, options: dict[str, Any]) -> dict[str, Any]: ...
def bound(
    problem: str,
    data: _Data,
    x: np.ndarray | None,
    options: dict[str, Any],
    effort: dict[str, Any],
    callback: Callable[[float, float, float, int, int, int], Any] | None,
) -> dict[str, Any]: ...
def path(
    problem: str,
    data: _Data,
    options: dict[str, Any],
    steps: dict[str, Any],
    callback: Callable[[int, int], Any] | None,
) -> dict[str, Any]: ...
def minimize(
    fun: Callable[[np.ndarray], Any],
    convert: Callable[[Any, tuple[int, int]], tuple[float, np.ndarray]],
    x0: np.ndarray | None,
    shape: tuple[int, int],
    constraint: str,
    lipschitz: float | None,
    options: dict[str, Any],
    callback: _Callback,
) -> dict[str, Any]: ...
def registry(list: str) -> list[tuple[str, str]] | None: ...
def constants() -> list[tuple[str, str, float | None]]: ...
def install_logging(logger: logging.Logger) -> None: ...
