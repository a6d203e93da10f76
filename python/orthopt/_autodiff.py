"""Functions of arrays that are not NumPy's: those of PyTorch, JAX and CuPy, on any device. PyTorch and JAX differentiate functions
that return f(X) alone. None of them is imported here: what is not loaded is not used."""

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


def is_cupy(value: Any) -> bool:
    """True if a value is an array of CuPy."""
    return _is(value, "cupy")


def on_host(value: Any) -> Any:
    """A tensor, or an array of CuPy, as one of NumPy; everything else as it is."""
    if is_tensor(value):
        return value.detach().cpu().double().numpy()
    return value.get() if is_cupy(value) else value


def _kind(like: Any) -> tuple[Any, Any]:
    """The type and the device of tensors like ``like``: in double precision where it is none, or one of whole numbers."""
    torch = sys.modules["torch"]
    if like is None:
        return torch.float64, None
    return like.dtype if like.dtype.is_floating_point else torch.float64, like.device


def _maker_of_jax(like: Any) -> Callable[[np.ndarray], Any]:
    """What makes an array of JAX of one of NumPy, in the type and on the device of ``like``."""
    jax = sys.modules["jax"]
    if like is None:
        return lambda a: jax.numpy.asarray(a)
    dtype = like.dtype if np.issubdtype(like.dtype, np.floating) else None
    return lambda a: jax.device_put(np.asarray(a, dtype=dtype), like.sharding)


def of_cupy(fun: Callable[..., Any], like: Any) -> Callable[..., Any]:
    """A function of arrays of CuPy as one of NumPy's, in the type and on the device of ``like``."""
    cupy = sys.modules["cupy"]
    dtype = like.dtype if like.dtype.kind == "f" else np.float64

    def answer(*arrays: np.ndarray) -> Any:
        with like.device:
            found = fun(*(cupy.asarray(a, dtype=dtype) for a in arrays))
            return tuple(map(on_host, found)) if isinstance(found, tuple) else on_host(found)

    return answer


def _no_gradient(package: str) -> DataTypeError:
    return DataTypeError(f"fun returned no {package} scalar that depends on X: return f(X) alone, or f(X) and its gradient")


def of_torch(fun: Callable[[Any], Any], like: Any = None) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """A function of tensors as one of arrays, with X in the type and on the device of ``like``."""
    torch = sys.modules["torch"]
    dtype, device = _kind(like)

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
        return float(on_host(value)), np.asarray(on_host(gradient))

    return both


def of_jax(fun: Callable[[Any], Any], like: Any = None) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """A function of JAX arrays that returns a scalar, as one of arrays that returns its gradient too."""
    jax = sys.modules["jax"]
    both_of = jax.jit(jax.value_and_grad(lambda x: jax.numpy.reshape(fun(x), ())))
    array = _maker_of_jax(like)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = both_of(array(x))
        return float(value), np.asarray(gradient, dtype=np.float64)

    return both


def _hessian_of_torch(fun: Callable[[Any], Any], like: Any) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    torch = sys.modules["torch"]
    dtype, device = _kind(like)
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
        return np.zeros_like(d) if found is None else on_host(found)

    return product


def _hessian_of_jax(fun: Callable[[Any], Any], like: Any) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    jax = sys.modules["jax"]
    gradient = jax.grad(lambda x: jax.numpy.reshape(fun(x), ()))
    both_of = jax.jit(lambda x, d: jax.jvp(gradient, (x,), (d,))[1])
    array = _maker_of_jax(like)
    return lambda x, d: np.asarray(both_of(array(x), array(d)), dtype=np.float64)


def hessian(fun: Callable[[Any], Any], x0: Any, x: np.ndarray) -> tuple[Callable[[np.ndarray, np.ndarray], np.ndarray], int]:
    """Products with the Hessian of a ``fun`` that returns a scalar of PyTorch or JAX, and the number of calls that finding out took."""
    package, calls = _written_with(fun, x0, x)
    if package is None:
        raise DataTypeError("hess='auto' is for a function that returns a scalar of JAX or PyTorch: give a function of X and D")
    return (_hessian_of_torch if package == "torch" else _hessian_of_jax)(fun, _like(x0)), calls


def of_arrays(hess: Callable[[Any, Any], Any], like: Any) -> Callable[[np.ndarray, np.ndarray], Any]:
    """``hess`` with X and D as ``like`` is: tensors, arrays of JAX or of CuPy; as arrays otherwise."""
    if is_cupy(like):
        return of_cupy(hess, like)
    if is_jax(like):
        array = _maker_of_jax(like)
        return lambda x, d: hess(array(x), array(d))
    if not is_tensor(like):
        return lambda x, d: on_host(hess(x, d))
    torch = sys.modules["torch"]
    dtype, device = _kind(like)
    as_tensor = lambda a: torch.as_tensor(a, dtype=dtype, device=device)  # noqa: E731
    return lambda x, d: on_host(hess(as_tensor(x), as_tensor(d)))


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
    if is_cupy(x0):
        return of_cupy(fun, x0), 0
    package, calls = _written_with(fun, x0, x)
    if package is None:
        array = _maker_of_jax(x0) if is_jax(x0) else None
        return (fun if array is None else lambda x: fun(array(x))), calls
    return (of_torch if package == "torch" else of_jax)(fun, _like(x0)), calls
