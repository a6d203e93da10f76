"""Check of the gradient of a function: along curves on the constraint, by differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from .errors import GradientError

#: Steps of central differences: from those that are best in double precision to long ones, for single precision.
STEPS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-6)
#: Relative difference of slopes up to which a gradient holds.
HOLDS = 1e-3
#: A gradient is wrong if its error is more than this factor times the difference of slopes with two steps.
SURE = 10.0
#: Number of entries that are differenced one by one to say where a gradient is wrong.
ENTRIES = 400

Function = Callable[[np.ndarray], "tuple[float, np.ndarray]"]
Linear = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class GradientCheck:
    """Result of :func:`orthopt.check_gradient`; true as a condition if the gradient holds."""

    #: True if the slopes of f agree with the gradient.
    holds: bool
    #: Largest relative difference of a slope of f and the slope by the gradient.
    error: float
    #: The result as a sentence, with the likely mistake if one is recognised.
    message: str
    #: Number of calls of the function.
    evaluations: int

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class _Compared:
    error: float
    found: float
    said: float
    wrong: bool


class _Slopes:
    """Slopes of f along curves through X, or of f(back(Y)) through Y for a linear ``back``."""

    def __init__(
        self, fun: Function, x: np.ndarray, stiefel: bool, rng: np.random.Generator, back: Linear | None = None
    ) -> None:
        self.fun, self.x, self.stiefel, self.rng = fun, x, stiefel, rng
        self.back: Linear = back if back is not None else lambda y: y
        self.evaluations = 1
        self.value, self.gradient = fun(self.back(x.copy()))
        self.size = max(1.0, float(np.linalg.norm(x)))
        #: What a slope must exceed to count: at a critical point all slopes are rounding errors.
        self.least = 1e-7 * (abs(self.value) + float(np.linalg.norm(self.gradient)))

    def direction(self) -> np.ndarray:
        """A random direction of length 1, tangent to X'X = I where that is the constraint."""
        d = self.rng.standard_normal(self.x.shape)
        if self.stiefel:
            product = self.x.T @ d
            d = d - self.x @ (product + product.T) / 2
        norm = np.linalg.norm(d)
        return d / norm if norm > 0 else d

    def at(self, d: np.ndarray, step: float) -> float:
        y = self.x + step * d
        if self.stiefel:
            u, _, v = np.linalg.svd(y, full_matrices=False)
            y = u @ v
        self.evaluations += 1
        return float(self.fun(np.ascontiguousarray(self.back(y)))[0])

    def difference(self, d: np.ndarray, step: float) -> float:
        step *= self.size
        after, back = self.at(d, step), self.at(d, -step)
        bend = abs(after - 2 * self.value + back) / step
        if np.isfinite(bend):
            self.least = max(self.least, 1e-3 * bend)
        return (after - back) / (2 * step)

    def compare(self, d: np.ndarray, gradient: np.ndarray) -> _Compared:
        """The slope of f beside that of the gradient, with the step whose difference is closest to that with another step."""
        said = float(np.sum(gradient * self.back(d)))

        def error(found: float) -> float:
            scale = max(abs(found), abs(said), self.least)
            return abs(found - said) / scale if scale > 0 else 0.0

        slopes: list[float] = []
        for step in STEPS:
            slopes.append(self.difference(d, step))
            if error(slopes[-1]) <= HOLDS:
                return _Compared(error(slopes[-1]), slopes[-1], said, False)
        pairs = [(abs(a - b) / max(abs(a), abs(b), self.least or 1.0), a) for a, b in zip(slopes, slopes[1:])]
        doubt, found = min((pair for pair in pairs if np.isfinite(pair[0])), default=(np.inf, slopes[0]))
        return _Compared(error(found), found, said, error(found) > max(HOLDS, SURE * doubt))


def check(
    fun: Function, x: np.ndarray, stiefel: bool, seed: int, directions: int, back: Linear | None = None
) -> GradientCheck:
    """Compares slopes of f with those of its gradient at X, or back(Y) with x = Y, along random directions."""
    slopes = _Slopes(fun, x, stiefel, np.random.default_rng([seed, 1]), back)  # X may be random by the seed itself
    if not (np.isfinite(slopes.value) and np.all(np.isfinite(slopes.gradient))):
        return GradientCheck(False, np.inf, "f or its gradient is not finite at this X", slopes.evaluations)
    found = []
    for _ in range(directions):
        found.append(slopes.compare(slopes.direction(), slopes.gradient))
        if found[-1].wrong:
            break
    worst = max(found, key=lambda one: (one.wrong, one.error))
    if not worst.wrong:
        text = f"the gradient agrees with slopes of f to {worst.error:.1e}"
        return GradientCheck(True, worst.error, text, slopes.evaluations)
    text = f"along a random direction f has the slope {worst.found:.6g} but the gradient gives {worst.said:.6g}"
    return GradientCheck(False, worst.error, f"{text}: {_guess(slopes)}", slopes.evaluations)


def _guess(slopes: _Slopes) -> str:
    """The likely mistake."""
    directions = [slopes.direction() for _ in range(4)]
    compared = [slopes.compare(d, slopes.gradient) for d in directions]
    ratios = np.array([one.found / one.said if one.said else np.inf for one in compared])
    ratio = float(np.median(ratios))
    close = np.all(np.isfinite(ratios)) and np.all(np.abs(ratios - ratio) <= 1e-2 * abs(ratio))
    if close and abs(ratio - 1) > 2e-2:
        if abs(ratio + 1) <= 1e-2:
            return "the gradient has the wrong sign (that of -f)"
        return f"the gradient must be multiplied by {ratio:.4g} (a forgotten factor, or a sum where f has a mean)"
    rows, columns = slopes.x.shape
    if rows == columns:
        if max(slopes.compare(d, slopes.gradient.T).error for d in directions) <= HOLDS:
            return "the gradient is transposed"
    return _places(slopes)


def _places(slopes: _Slopes) -> str:
    """The entries where the gradient differs from differences of f, from a sample if X is large; off the constraint."""
    rows, columns = slopes.x.shape
    count = min(rows * columns, ENTRIES)
    places = slopes.rng.permutation(rows * columns)[:count]
    slopes.x, slopes.back, slopes.stiefel = slopes.back(slopes.x), lambda y: y, False
    wrong = []
    for place in sorted(int(p) for p in places):
        d = np.zeros_like(slopes.x)
        d[place // columns, place % columns] = 1.0
        one = slopes.compare(d, slopes.gradient)
        if one.wrong:
            wrong.append((place // columns, place % columns, one.found, one.said))
    if not wrong:
        return "no single entry differs, so f may jump or have kinks there"
    i, k, found, said = max(wrong, key=lambda one: abs(one[2] - one[3]))
    text = f"{len(wrong)} of {count} entries that were tried differ, most of all the one in row {i}, column {k} (from 0): "
    text += f"f has the slope {found:.6g} and the gradient {said:.6g}"
    for axis, name, size in ((1, "column", columns), (0, "row", rows)):
        where = {one[axis] for one in wrong}
        if len(where) == 1 and len(wrong) > 1 and size > 1:
            text += f"; all of them are in {name} {where.pop()}"
    return text + "; a term is missing or wrong there"


def require(fun: Function, x: np.ndarray, stiefel: bool, seed: int, back: Linear | None = None) -> int:
    """One direction before a run; the number of evaluations.

    Raises
    ------
    GradientError
        The gradient is not that of f.
    """
    if stiefel and not np.linalg.norm(x.T @ x - np.eye(x.shape[1])) <= 1e-6:
        return 0  # no point of the constraint, which the run says
    found = check(fun, x, stiefel, seed, 1, back)
    if found.holds or not np.isfinite(found.error):
        return found.evaluations  # what is not finite is for the solver to say
    raise GradientError(
        f"the gradient that fun returned is not that of f at the starting point: {found.message}. "
        "check_gradient=False leaves out this check"
    )
