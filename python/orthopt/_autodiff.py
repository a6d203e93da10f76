"""Functions that return f(X) alone: PyTorch and JAX differentiate them. Neither is imported here: what is not loaded is not
used."""

from __future__ import annotations

import sys
from typing import Any, Callable

import numpy as np

from .errors import DataTypeError


def _is(value: Any, package: str) -> bool:
    return type(value).__module__.split(".")[0] in (package, f"{package}lib")


def is_tensor(value: Any) -> bool:
    """True if a value is a tensor of PyTorch."""
    return _is(value, "torch")


def is_jax(value: Any) -> bool:
    """True if a value is an array of JAX."""
    return _is(value, "jax")


def _no_gradient(package: str) -> DataTypeError:
    return DataTypeError(f"fun returned no {package} scalar that depends on X: return f(X) alone, or f(X) and its gradient")


def of_torch(fun: Callable[[Any], Any], like: Any = None) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """A function of tensors as one of arrays, with X in the type and on the device of ``like``."""
    torch = sys.modules["torch"]
    dtype, device = (like.dtype, like.device) if like is not None else (torch.float64, None)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        point = torch.as_tensor(x, dtype=dtype, device=device).clone().requires_grad_(True)
        answer = fun(point)
        if isinstance(answer, tuple):  # f(X) and its gradient, as tensors
            value, gradient = answer
        else:
            if not (is_tensor(answer) and answer.numel() == 1 and answer.requires_grad):
                raise _no_gradient("torch")
            (gradient,) = torch.autograd.grad(answer.reshape(()), point)
            value = answer
        as_array = lambda t: t.detach().cpu().double().numpy() if is_tensor(t) else t  # noqa: E731
        return float(as_array(value)), np.asarray(as_array(gradient))

    return both


def of_jax(fun: Callable[[Any], Any], like: Any = None) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """A function of JAX arrays that returns a scalar, as one of arrays that returns its gradient too."""
    jax = sys.modules["jax"]
    both_of = jax.jit(jax.value_and_grad(lambda x: jax.numpy.reshape(fun(x), ())))
    dtype = getattr(like, "dtype", None)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = both_of(jax.numpy.asarray(x, dtype=dtype))
        return float(value), np.asarray(gradient, dtype=np.float64)

    return both


def with_gradient(fun: Callable[[Any], Any], x0: Any, x: np.ndarray) -> tuple[Callable[[np.ndarray], Any], int]:
    """``fun`` as a function of an array that returns f(X) and its gradient, and the number of calls that finding out took.

    What ``fun`` works with is seen by the start: a tensor, an array of JAX, or by what it returns for an array.
    """
    if is_tensor(x0):
        return of_torch(fun, x0), 0
    if is_jax(x0):
        answer = fun(x0)
        return (fun, 1) if isinstance(answer, tuple) else (of_jax(fun, x0), 1)
    try:
        answer = fun(x.copy())
    except TypeError:
        if "torch" not in sys.modules:
            raise
        return of_torch(fun), 1  # functions of torch take no arrays; other mistakes are raised by the next call
    if not isinstance(answer, tuple):
        if is_tensor(answer):
            return of_torch(fun), 1
        if is_jax(answer):
            return of_jax(fun), 1
    return fun, 1
