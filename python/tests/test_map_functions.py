"""``minimize(map=...)`` with two functions, operators of SciPy and sparse matrices: the same as with the matrix, and no wrong adjoint."""

import numpy as np
import orthopt
import pytest
import scipy.sparse as sp
from orthopt.errors import IncompatibleError, InvalidOptionError, NotFiniteError, ShapeError
from scipy.sparse.linalg import aslinearoperator

N, R, P = 10, 2, 7
RANDOM = np.random.default_rng(9)
M = RANDOM.standard_normal((N, N))
C = M @ M.T
B = RANDOM.standard_normal((P, N))
X0 = np.linalg.qr(RANDOM.standard_normal((N, R)))[0]


def trace(X):
    return -0.5 * np.sum(X * (C @ X)), -C @ X


def minimised(map, **options):
    given = {"penalty": "l1", "lam": 1.0, "max_iters": 300, "seed": 1, **options}
    return orthopt.minimize(trace, X0, map=map, **given)


@pytest.mark.parametrize("penalty", ["l1", "mcp"])
def test_functions_are_the_matrix(penalty):
    of_matrix = minimised(B, penalty=penalty)
    for map in ((lambda X: B @ X, lambda Y: B.T @ Y), aslinearoperator(B), sp.csr_array(B)):
        found = minimised(map, penalty=penalty)
        assert found.solver == of_matrix.solver == "oadmm"
        assert found.objective == pytest.approx(of_matrix.objective, rel=1e-6)
        assert found.nonsmooth == pytest.approx(of_matrix.nonsmooth, rel=1e-4)


def test_a_map_that_no_matrix_from_the_left_is():
    """Differences of columns and a row of sums, as a map to a (N + 1) x (R - 1) matrix."""
    there = lambda X: np.vstack([np.diff(X, axis=1), X.sum(0)[1:]])  # noqa: E731

    def back(Y):
        out = np.zeros((N, R))
        out[:, 1:] += Y[:-1] + Y[-1]
        out[:, :-1] -= Y[:-1]
        return out

    found = minimised((there, back))
    assert found.nonsmooth == pytest.approx(np.abs(there(found.X)).sum(), rel=1e-9)
    assert found.objective < trace(X0)[0] + np.abs(there(X0)).sum()


def test_with_a_metric():
    D = np.linspace(1, 2, N)
    start = X0 / np.sqrt(D)[:, None]
    given = {"penalty": "l1", "lam": 1.0, "metric": D, "max_iters": 300}
    one = orthopt.minimize(trace, start, map=B, **given)
    other = orthopt.minimize(trace, start, map=(lambda X: B @ X, lambda Y: B.T @ Y), **given)
    assert other.objective == pytest.approx(one.objective, rel=1e-6)
    assert other.nonsmooth == pytest.approx(np.abs(B @ other.X).sum(), rel=1e-6)


@pytest.mark.parametrize(
    ("map", "error", "words"),
    [
        ((lambda X: B @ X, lambda Y: 2 * B.T @ Y), IncompatibleError, "not the adjoint"),
        ((lambda X: B @ X, lambda Y: -B.T @ Y), IncompatibleError, "not the adjoint"),
        ((lambda X: B @ X + 1, lambda Y: B.T @ Y), IncompatibleError, "not linear"),
        ((lambda X: np.abs(X), lambda Y: Y), IncompatibleError, "not linear"),
        ((lambda X: B @ X, lambda Y: Y), ShapeError, "adjoint"),
        ((lambda X: X[:, 0], lambda Y: Y), ShapeError, "expected 2"),
        ((lambda X: np.nan * X, lambda Y: Y), (NotFiniteError, IncompatibleError), ""),
        ((lambda X: X,), InvalidOptionError, "as a pair"),
        (lambda X: X, InvalidOptionError, "as a pair"),
        (aslinearoperator(B[:, :4]), ShapeError, "10 rows"),
    ],
)
def test_what_is_no_map_is_an_error(map, error, words):
    with pytest.raises(error, match=words):
        minimised(map)


def test_exceptions_and_what_does_not_apply():
    def broken(X):
        raise KeyError("here")

    calls = []

    def later(X):
        calls.append(1)
        if len(calls) > 40:
            raise KeyError("later")
        return B @ X

    for map, word in (((broken, broken), "here"), ((later, lambda Y: B.T @ Y), "later")):
        with pytest.raises(KeyError, match=word):
            minimised(map)
    with pytest.raises(IncompatibleError, match="leave it out"):
        orthopt.minimize(trace, X0, map=(lambda X: X, lambda Y: Y))
    with pytest.raises(IncompatibleError, match="leave it out"):
        orthopt.minimize(trace, np.eye(N), map=(lambda X: X, lambda Y: Y), constraint="j-orthogonal", signature=2, penalty="l1", lam=1.0)
