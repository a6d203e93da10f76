"""Products with the Hessian of a function: where they come from, and their check against differences of the gradient."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _autodiff, _data
from ._gradient import Function, GradientCheck
from .errors import DataTypeError, HessianError, IncompatibleError, InvalidOptionError, ShapeError

#: Products with the Hessian at X: ``hess(X, D)`` is the derivative of the gradient along D.
Hessian = Callable[[np.ndarray, np.ndarray], Any]

#: Steps of central differences of the gradient, relative to the size of X.
STEPS = (1e-5, 1e-4, 1e-3, 1e-6)
#: Relative difference up to which a product holds, and up to which <A, H(B)> and <B, H(A)> are the same.
HOLDS = 1e-3
#: A product is wrong if its error is more than this factor times the difference of two differences.
SURE = 10.0
#: A mistake is recognised where its correction leaves no more than this share of the difference.
EXPLAINED = 1e-2


def of(hess: Any, fun: Callable[[Any], Any], like: Any, x: np.ndarray) -> tuple[Hessian, int]:
    """``hess`` of arrays like X that returns an array, and the number of calls of ``fun`` that it took; ``"auto"`` differentiates
    ``fun`` twice."""
    spent = 0
    if isinstance(hess, str):
        if hess != "auto":
            raise InvalidOptionError(f"hess is {hess!r}: expected a function of X and D, or 'auto'")
        products, spent = _autodiff.hessian(fun, like, x)
    elif callable(hess):
        products = _autodiff.of_arrays(hess, like)
    else:
        raise DataTypeError(f"hess must be a function of X and D, or 'auto', not {type(hess).__name__}")
    return lambda x, d: _product(products(x, d), (d.shape[0], d.shape[1])), spent


def _product(answer: Any, shape: tuple[int, int]) -> np.ndarray:
    answer = np.asarray(answer)
    if answer.shape != tuple(shape):
        raise ShapeError(f"the product that hess returned has shape {answer.shape}, expected {tuple(shape)}, that of X")
    return np.ascontiguousarray(_data.numbers(answer, "the product of hess"), dtype=np.float64)


def refuse(penalty: str, map: Any, stiefel: bool, solver: str, given: bool) -> None:
    """An error where products with the Hessian are asked for and not used, or needed and not given."""
    names = solver.split("+")
    if not given:
        if "trust-region" in names:
            raise IncompatibleError(
                "solver trust-region needs products with the Hessian of f: give hess, a function of X and D, or hess='auto' "
                "for a function written with JAX or PyTorch"
            )
        return
    if not stiefel:
        raise IncompatibleError("hess does not apply to X'JX = J: no solver there uses it; leave it out")
    if penalty != "none" or map is not None:
        raise IncompatibleError("hess does not apply to f with a penalty: it is for the solver trust-region; leave it out")
    if solver != "auto" and "trust-region" not in names:
        raise IncompatibleError(f"hess does not apply to the solver {solver}: it is for trust-region; leave it out")


def check(fun: Function, hess: Hessian, x: np.ndarray, seed: int, directions: int) -> GradientCheck:
    """Compares products with the Hessian with differences of the gradient at X, along random directions."""
    rng = np.random.default_rng([seed, 2])
    size = max(1.0, float(np.linalg.norm(x)))
    gradient = fun(x.copy())[1]
    calls, worst, last = 1, 0.0, None
    for _ in range(directions):
        d = rng.standard_normal(x.shape)
        d /= np.linalg.norm(d)
        said = hess(x.copy(), d.copy())
        if not np.all(np.isfinite(said)):
            return GradientCheck(False, np.inf, "a product with the Hessian is not finite at this X", calls)
        found: list[np.ndarray] = []
        error = np.inf
        for step in STEPS:
            h = step * size
            found.append((fun(x + h * d)[1] - fun(x - h * d)[1]) / (2 * h))
            calls += 2
            error = _apart(found[-1], said, gradient)
            if error <= HOLDS:
                break
        if error > HOLDS:
            pairs = [(_apart(a, b, gradient), a) for a, b in zip(found, found[1:])]
            doubt, best = min(pairs, key=lambda pair: pair[0] if np.isfinite(pair[0]) else np.inf)
            error = _apart(best, said, gradient)
            if not error <= max(HOLDS, SURE * doubt):
                return GradientCheck(False, error, _mistake(best, said, error), calls)
        worst = max(worst, error)
        if last is not None:
            other, product = last
            one, two = float(np.sum(other * said)), float(np.sum(d * product))
            scale = max(float(np.linalg.norm(said)), float(np.linalg.norm(product)))
            if abs(one - two) > HOLDS * scale:
                text = f"the Hessian is not symmetric: <A, H(B)> is {one:.6g} and <B, H(A)> is {two:.6g} for random A and B"
                return GradientCheck(False, abs(one - two) / scale, text, calls)
        last = (d, said)
    return GradientCheck(True, worst, f"the Hessian agrees with differences of the gradient to {worst:.1e}", calls)


def _apart(found: np.ndarray, said: np.ndarray, gradient: np.ndarray) -> float:
    scale = max(float(np.linalg.norm(found)), float(np.linalg.norm(said)), 1e-7 * float(np.linalg.norm(gradient)))
    return float(np.linalg.norm(found - said)) / scale if scale > 0 else 0.0


def _mistake(found: np.ndarray, said: np.ndarray, error: float) -> str:
    text = f"along a random direction the gradient changes by a matrix that differs from the product by {error:.2g} of its size"
    square = float(np.sum(said * said))
    if square == 0:
        return text + ": the product is zero"
    factor, apart = float(np.sum(found * said)) / square, np.abs(found - said)
    most = EXPLAINED * np.linalg.norm(apart)
    if np.linalg.norm(found - factor * said) <= most:
        if abs(factor + 1) <= 1e-2:
            return text + ": the product has the wrong sign"
        return text + f": the product must be multiplied by {factor:.4g}"
    if found.shape[0] == found.shape[1] and np.linalg.norm(found - said.T) <= most:
        return text + ": the product is transposed"
    wrong = apart > EXPLAINED * apart.max()
    for axis, name in ((0, "column"), (1, "row")):
        where = np.flatnonzero(wrong.any(axis=axis))
        if where.size == 1 and wrong.shape[1 - axis] > 1:
            return text + f": all of it in {name} {where[0]} (from 0); a term is missing or wrong there"
    return text + ": a term is missing or wrong"


def require(fun: Function, hess: Hessian, x: np.ndarray, seed: int) -> int:
    """One direction before a run; the number of evaluations.

    Raises
    ------
    HessianError
        The products are not those with the Hessian of f.
    """
    found = check(fun, hess, x, seed, 1)
    if found.holds or not np.isfinite(found.error):
        return found.evaluations  # what is not finite is for the solver to say
    raise HessianError(
        f"what hess returned is not a product with the Hessian of f at the starting point: {found.message}. "
        "check_gradient=False leaves out this check"
    )
