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


def _hessian_of_torch(fun: Callable[[Any], Any], like: Any) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    torch = sys.modules["torch"]
    dtype, device = (like.dtype, like.device) if like is not None else (torch.float64, None)
    graph: list[Any] = []  # X, its tensor and the gradient there: the products of one iteration have the same X

    def product(x: np.ndarray, d: np.ndarray) -> np.ndarray:
        if not (graph and np.array_equal(graph[0], x)):
            point = torch.as_tensor(x, dtype=dtype, device=device).clone().requires_grad_(True)
            value = fun(point)
            if not (is_tensor(value) and value.numel() == 1 and value.requires_grad):
                raise _no_gradient("torch")
            (gradient,) = torch.autograd.grad(value.reshape(()), point, create_graph=True)
            graph[:] = x.copy(), point, gradient
        _, point, gradient = graph
        if not gradient.requires_grad:  # of a linear f
            return np.zeros_like(d)
        along = torch.as_tensor(d, dtype=dtype, device=device)
        (found,) = torch.autograd.grad(gradient, point, along, retain_graph=True, allow_unused=True)
        return np.zeros_like(d) if found is None else found.detach().cpu().double().numpy()

    return product


def _hessian_of_jax(fun: Callable[[Any], Any], like: Any) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    jax = sys.modules["jax"]
    gradient = jax.grad(lambda x: jax.numpy.reshape(fun(x), ()))
    both_of = jax.jit(lambda x, d: jax.jvp(gradient, (x,), (d,))[1])
    dtype = getattr(like, "dtype", None)
    as_array = lambda a: jax.numpy.asarray(a, dtype=dtype)  # noqa: E731
    return lambda x, d: np.asarray(both_of(as_array(x), as_array(d)), dtype=np.float64)


def hessian(fun: Callable[[Any], Any], x0: Any, x: np.ndarray) -> tuple[Callable[[np.ndarray, np.ndarray], np.ndarray], int]:
    """Products with the Hessian of a ``fun`` that returns a scalar of PyTorch or JAX, and the number of calls that finding out took."""
    package, calls = _written_with(fun, x0, x)
    if package is None:
        raise DataTypeError("hess='auto' is for a function that returns a scalar of JAX or PyTorch: give a function of X and D")
    return (_hessian_of_torch if package == "torch" else _hessian_of_jax)(fun, _like(x0)), calls


def of_arrays(hess: Callable[[Any, Any], Any], like: Any) -> Callable[[np.ndarray, np.ndarray], Any]:
    """``hess`` with X and D as tensors like ``like``, if that is one; as arrays otherwise."""
    if not is_tensor(like):
        return hess
    torch = sys.modules["torch"]
    as_tensor = lambda a: torch.as_tensor(a, dtype=like.dtype, device=like.device)  # noqa: E731

    def product(x: np.ndarray, d: np.ndarray) -> Any:
        found = hess(as_tensor(x), as_tensor(d))
        return found.detach().cpu().double().numpy() if is_tensor(found) else found

    return product


def _like(x0: Any) -> Any:
    """A start whose type and device are those of X."""
    return x0 if is_tensor(x0) or is_jax(x0) else None


def _written_with(fun: Callable[[Any], Any], x0: Any, x: np.ndarray) -> tuple[str | None, int]:
    """The package that is to differentiate ``fun``, and the number of calls that finding out took."""
    if is_tensor(x0):
        return "torch", 0
    if is_jax(x0):
        return None if isinstance(fun(x0), tuple) else "jax", 1
    try:
        answer = fun(x.copy())
    except TypeError:
        if "torch" not in sys.modules:
            raise
        return "torch", 1  # functions of torch take no arrays; other mistakes are raised by the next call
    if isinstance(answer, tuple):
        return None, 1
    return "torch" if is_tensor(answer) else "jax" if is_jax(answer) else None, 1


def with_gradient(fun: Callable[[Any], Any], x0: Any, x: np.ndarray) -> tuple[Callable[[np.ndarray], Any], int]:
    """``fun`` as a function of an array that returns f(X) and its gradient, and the number of calls that finding out took.

    What ``fun`` works with is seen by the start: a tensor, an array of JAX, or by what it returns for an array.
    """
    package, calls = _written_with(fun, x0, x)
    if package is None:
        return fun, calls
    return (of_torch if package == "torch" else of_jax)(fun, _like(x0)), calls
