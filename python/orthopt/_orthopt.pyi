"""The compiled half. Call the functions of ``orthopt`` instead."""

import logging
from pathlib import Path
from typing import Any, Callable, final

import numpy as np

__all__ = [
    "bound",
    "certify",
    "GramAccumulator",
    "Knowledge",
    "knowledge_options",
    "read_knowledge",
    "train_knowledge",
    "install_logging",
    "minimize",
    "path",
    "constants",
    "registry",
    "compare",
    "solve",
    "__version__",
]

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

@final
class GramAccumulator:
    def __new__(cls, columns: int, reproducible: bool, place: str) -> GramAccumulator: ...
    def add_dense(self, rows: np.ndarray, weights: np.ndarray | None) -> None: ...
    def add_sparse(
        self,
        columns: int,
        starts: np.ndarray,
        indices: np.ndarray,
        values: np.ndarray,
        weights: np.ndarray | None,
    ) -> None: ...
    def merge(self, other: GramAccumulator) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> GramAccumulator: ...
    def prepared(
        self, center: bool | None, scale: str | None, covariance: bool | None
    ) -> tuple[np.ndarray, list[float] | None, list[float] | None]: ...
    def set_names(self, names: list[str]) -> None: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def columns(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def weight(self) -> float: ...
    @property
    def sums(self) -> np.ndarray: ...
    @property
    def reproducible(self) -> bool: ...

def read_knowledge(
    train: Path, valid: Path | None, test: Path | None
) -> tuple[list[str], list[str], list[np.ndarray]]: ...
def knowledge_options() -> str: ...
def train_knowledge(
    entities: list[str],
    relations: list[str],
    train: np.ndarray,
    valid: np.ndarray,
    test: np.ndarray,
    given: str,
    seconds: float | None,
    callback: Callable[[str], bool] | None,
) -> Knowledge: ...

@final
class Knowledge:
    @staticmethod
    def read(path: Path) -> Knowledge: ...
    def write(self, path: Path) -> None: ...
    def score(self, rows: np.ndarray) -> np.ndarray: ...
    def answers(self, rows: np.ndarray, new: bool) -> np.ndarray: ...
    def rank(self, rows: np.ndarray) -> tuple[dict[str, Any], np.ndarray] | None: ...
    def points(self) -> np.ndarray: ...
    def matrices(self) -> np.ndarray: ...
    @property
    def residual(self) -> float: ...
    @property
    def entities(self) -> list[str]: ...
    @property
    def relations(self) -> list[str]: ...
    @property
    def options(self) -> str: ...
    @property
    def history(self) -> str: ...
    @property
    def status(self) -> str | None: ...
