"""Factorisations: hyperbolic QR, indefinite polar, products of plane rotations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _data, _orthopt
from .errors import NotDefiniteError, ShapeError


class HyperbolicQR(NamedTuple):
    """A = QR with Q'JQ = diag(signs)."""

    #: n x r: columns of a J-orthogonal matrix.
    Q: np.ndarray
    #: r x r, upper triangular with a positive diagonal.
    R: np.ndarray
    #: Q'JQ, signs of J in some order.
    signs: np.ndarray


class GivensFactor(NamedTuple):
    """The identity, except for a block in the rows and columns i and j."""

    #: The first of the two, counted from 0.
    i: int
    #: The second.
    j: int
    #: 2 x 2: a rotation, or a reflection.
    block: np.ndarray


def hyperbolic_qr(A: Any, signature: Any) -> HyperbolicQR:
    """The hyperbolic QR factorisation of A (n x r, r <= n).

    A = QR, and Q'JQ is a diagonal of signs, so that R' diag(signs) R = A'JA. It exists where no leading principal minor of
    A'JA vanishes. Errors are relative to the square of the norm of Q, which has no bound.

    Parameters
    ----------
    A
        The matrix.
    signature
        J: the number of leading ones, or a list of n signs.

    Returns
    -------
    HyperbolicQR
        ``Q``, ``R`` and ``signs``.

    Raises
    ------
    orthopt.errors.OrthoptError
        A leading minor of A'JA vanishes; a signature that does not fit.

    Examples
    --------
    The indefinite least-squares problem min (b - Ax)'J(b - Ax) with a positive definite A'JA:

    >>> import numpy as np, orthopt
    >>> rng = np.random.default_rng(0)
    >>> A, b, J = rng.normal(size=(20, 3)), rng.normal(size=20), np.r_[np.ones(18), -np.ones(2)]
    >>> Q, R, signs = orthopt.hyperbolic_qr(A, 18)
    >>> x = np.linalg.solve(R, signs * (Q.T @ (J * b)))
    >>> bool(np.allclose(A.T @ (J * (A @ x - b)), 0))
    True
    """
    Q, R, signs = _orthopt.hyperbolic_qr(_matrix(A), _words(signature))
    return HyperbolicQR(Q, R, np.array(signs))


def indefinite_polar(X: Any, signature: Any) -> np.ndarray:
    """The Q with Q'JQ = J of X = QS, where JS is symmetric (X n x n).

    With J = I it is the polar factor, the nearest orthogonal matrix. It exists where no eigenvalue of JX'JX is zero or
    negative.

    Parameters
    ----------
    X
        The matrix.
    signature
        J: the number of leading ones, or a list of n signs.

    Returns
    -------
    numpy.ndarray
        Q (n x n).

    Raises
    ------
    orthopt.errors.NotDefiniteError
        X has no such factor.

    Examples
    --------
    >>> import numpy as np, orthopt
    >>> Q = orthopt.indefinite_polar([[2.0, 0.5], [0.3, 1.0]], 1)
    >>> bool(np.allclose(Q.T @ np.diag([1, -1]) @ Q, np.diag([1, -1])))
    True
    """
    X = _matrix(X)
    if X.shape[0] != X.shape[1]:
        raise ShapeError(f"X must be square, not {X.shape[0]} x {X.shape[1]}")
    Q = _orthopt.indefinite_polar(X, _words(signature))
    if Q is None:
        raise NotDefiniteError("X has no J-orthogonal factor: an eigenvalue of JX'JX is zero or negative, or not a real number")
    return Q


def givens_factors(D: Any) -> list[GivensFactor]:
    """An orthogonal D (n x n) as the product of n(n - 1)/2 plane factors, in this order.

    All are rotations, except that the last is a reflection if the determinant is -1.

    Parameters
    ----------
    D
        The matrix, orthogonal to 1e-10.

    Returns
    -------
    list of GivensFactor
        The factors: D is their product from left to right.

    Examples
    --------
    >>> import numpy as np, orthopt
    >>> D = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    >>> product = np.eye(4)
    >>> for i, j, block in orthopt.givens_factors(D):
    ...     product[:, [i, j]] = product[:, [i, j]] @ block
    >>> bool(np.allclose(product, D))
    True
    """
    return [GivensFactor(i, j, np.array(block)) for i, j, block in _orthopt.givens_factors(_matrix(D))]


def _matrix(array: Any) -> np.ndarray:
    array = np.ascontiguousarray(_data.numbers(np.asarray(array), "the entries"))
    if array.ndim != 2:
        raise ShapeError(f"a matrix has two dimensions, not {array.ndim}")
    return array


def _words(signature: Any) -> str:
    if isinstance(signature, str) or np.ndim(signature) == 0:
        return str(signature)
    return " ".join(f"{float(sign):g}" for sign in signature)
