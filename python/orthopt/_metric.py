"""X'BX = I as Y'Y = I: the change of variables Y = F'X with a factor B = FF'."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from . import _data
from .errors import IncompatibleError, InvalidOptionError, NotDefiniteError, NotFiniteError, NotOrthonormalError
from .errors import NotSymmetricError, ShapeError

#: Largest difference of B and B', relative to its largest entry.
SYMMETRIC = 1e-8
#: Largest ||X'BX - I|| of a start, as for X'X = I.
FEASIBLE = 1e-6
#: Largest entry that is a rounding error of the change of variables, relative to the largest in units of its row, and what ||X'BX - I||
#: may become without such entries.
DUST = 1e-11
CLEAN = 1e-13
#: Penalties that are the same for X and for X with rows of positive weights.
OF_SIGNS = ("none", "l0", "nonneg")


class Metric:
    """A positive definite B, with products and solutions with its factor F."""

    def __init__(self, given: Any, rows: int) -> None:
        self.given = given
        if sp.issparse(given):
            self._sparse(_data.canonical(given, "csc", "metric").astype(np.float64), rows)
            return
        array = np.asarray(given)
        if array.ndim == 1:
            self._diagonal(_data.numbers(array, "metric").astype(np.float64), rows)
        else:
            self._dense(_data.dense(given, "metric"), rows)

    @property
    def is_diagonal(self) -> bool:
        """True if B was given as its diagonal."""
        return isinstance(self.product, np.ndarray) and self.product.ndim == 1

    def _diagonal(self, b: np.ndarray, rows: int) -> None:
        _fits((b.size, b.size), rows)
        _finite(b[:, None])
        if b.min() <= 0:
            at = int(b.argmin())
            raise NotDefiniteError(f"metric is not positive definite: entry {at} (from 0) of its diagonal is {b[at]:g}")
        root = np.sqrt(b)[:, None]
        self.product: Any = b
        self.to: Callable[[np.ndarray], np.ndarray] = lambda x: root * x
        self.back: Callable[[np.ndarray], np.ndarray] = lambda y: y / root
        self.gradient: Callable[[np.ndarray], np.ndarray] = lambda g: g / root

    def _dense(self, b: np.ndarray, rows: int) -> None:
        _fits(b.shape, rows)
        _finite(b)
        _symmetric(b, np.abs(b - b.T), float(np.abs(b).max()))
        b = (b + b.T) / 2
        try:
            factor = la.cholesky(b, lower=True)
        except la.LinAlgError:
            factor = None
        if factor is None or not _clear(np.diag(factor)):
            lowest = float(la.eigvalsh(b, subset_by_index=[0, 0])[0])
            raise NotDefiniteError(
                f"metric is not positive definite: its smallest eigenvalue is {lowest:.6g}; add a multiple of the identity"
            )
        self.product = b
        self.to = lambda x: factor.T @ x
        self.back = lambda y: la.solve_triangular(factor, y, lower=True, trans="T")
        self.gradient = lambda g: la.solve_triangular(factor, g, lower=True)

    def _sparse(self, b: Any, rows: int) -> None:
        """F = P'L D^(1/2) of PBP' = LDL', from an elimination without pivots in an order P that keeps L sparse."""
        _fits(b.shape, rows)
        _finite(b)
        _symmetric(b, abs(b - b.T), float(abs(b).max()))
        b = sp.csc_matrix((b + b.T) / 2)
        try:
            options = {"SymmetricMode": True, "Equil": False}
            lu = sla.splu(b, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
            pivots = lu.U.diagonal()
        except RuntimeError:  # exactly singular
            pivots = np.zeros(1)
        if not pivots.min() > 0 or not _clear(np.sqrt(pivots)) or not np.array_equal(lu.perm_r, lu.perm_c):
            raise NotDefiniteError("metric is not positive definite: add a multiple of the identity")
        lower, upper = sp.csr_matrix(lu.L), sp.csr_matrix(lu.L.T)
        root, order = np.sqrt(pivots)[:, None], np.argsort(lu.perm_r)
        self.product = b
        self.to = lambda x: root * (upper @ x[order])

        def back(y: np.ndarray) -> np.ndarray:
            x = np.empty_like(y, order="C")
            x[order] = sla.spsolve_triangular(upper, y / root, lower=False, unit_diagonal=True)
            return x

        self.back = back
        self.gradient = lambda g: sla.spsolve_triangular(lower, g[order], lower=True, unit_diagonal=True) / root

    def error(self, x: np.ndarray) -> float:
        """||X'BX - I||_F."""
        product = self.product[:, None] * x if self.is_diagonal else self.product @ x
        return float(np.linalg.norm(x.T @ product - np.eye(x.shape[1])))

    def without_dust(self, x: np.ndarray) -> np.ndarray:
        """X with zeros for entries that are rounding errors, if X'BX = I holds as before."""
        diagonal = self.product if self.is_diagonal else self.product.diagonal()
        size = np.sqrt(diagonal)[:, None] * np.abs(x)
        clean = np.where(size <= DUST * size.max(), 0.0, x)
        return clean if self.error(clean) <= max(2 * self.error(x), CLEAN) else x

    def start(self, x: np.ndarray) -> np.ndarray:
        """Y of a start X."""
        if not np.all(np.isfinite(x)):
            raise NotFiniteError("x0 has NaN or infinite entries")
        error = self.error(x)
        if not error <= FEASIBLE:
            raise NotOrthonormalError(
                f"x0 does not satisfy X'BX = I with B the metric: ||X'BX - I||_F is {error:.3e}, more than {FEASIBLE:g}"
            )
        return self.to(x)

    def of_function(self, fun: Callable[[np.ndarray], tuple[float, np.ndarray]]) -> Callable[[np.ndarray], Any]:
        """``fun`` of X and its gradient as a function of Y."""

        def of_y(y: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = fun(self.back(y))
            return value, self.gradient(gradient)

        return of_y

    def of_hessian(self, hess: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Products with the Hessian of f(X) as those with that of f as a function of Y."""
        return lambda y, d: self.gradient(hess(self.back(y), self.back(d)))

    def map(self, penalty: str, given: Any) -> Any:
        """The map A of h(A(Y)) for h(X), or None where h(Y) is the same."""
        if given is None and (penalty == "none" or (penalty in OF_SIGNS and self.is_diagonal)):
            return None
        if penalty in (*OF_SIGNS, "box"):
            also = "" if self.is_diagonal else " (l0 and nonneg also with a diagonal metric, given as a vector)"
            raise IncompatibleError(
                f"the penalty {penalty!r} of X is not available with this metric: it becomes h(A(Y)) with a linear map A, "
                f"for which h must be weakly convex and Lipschitz, as l1, l21, mcp, scad, l1-largest-k{also}"
            )
        if isinstance(given, tuple):
            there, back = given
            return lambda y: there(self.back(y)), lambda z: self.gradient(back(z))
        if isinstance(given, str):
            raise InvalidOptionError(f"map is {given!r}: with a metric give the map as a matrix")
        inverse = self.back(np.eye(self.product.shape[0]))
        return inverse if given is None else np.asarray(given, dtype=np.float64) @ inverse


def _fits(shape: tuple[int, int], rows: int) -> None:
    if shape != (rows, rows):
        raise ShapeError(f"metric is {shape[0]} x {shape[1]}, but X has {rows} rows: expected {rows} x {rows}, or its diagonal")


def _finite(b: Any) -> None:
    entries = b.tocoo() if sp.issparse(b) else b
    bad = np.flatnonzero(~np.isfinite(entries.data if sp.issparse(b) else entries))
    if bad.size:
        at = bad[0]
        i, k = (entries.row[at], entries.col[at]) if sp.issparse(b) else divmod(int(at), b.shape[1])
        raise NotFiniteError(f"metric has a NaN or infinite entry in row {i}, column {k} (from 0)")


def _symmetric(b: Any, apart: Any, largest: float) -> None:
    if apart.max() > SYMMETRIC * largest:
        i, k = divmod(int(apart.argmax()), b.shape[1])
        raise NotSymmetricError(
            f"metric is not symmetric: entry ({i}, {k}), from 0, is {b[i, k]:g} and ({k}, {i}) is {b[k, i]:g}"
        )


def _clear(diagonal: np.ndarray) -> bool:
    """True if the pivots of a factor are more than rounding errors."""
    return bool(diagonal.min() ** 2 > diagonal.size * np.finfo(float).eps * diagonal.max() ** 2)
