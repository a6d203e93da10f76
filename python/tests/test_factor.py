"""Hyperbolic QR, indefinite polar and plane factors against their definitions."""

import numpy as np
import pytest

import orthopt
from orthopt import errors


@pytest.mark.parametrize("signature", [4, 2, [1, -1, 1, -1, 1, -1]])
def test_hyperbolic_qr(signature):
    rng = np.random.default_rng(1)
    a = rng.normal(size=(6, 4))
    j = np.r_[np.ones(signature), -np.ones(6 - signature)] if isinstance(signature, int) else np.array(signature, float)
    Q, R, signs = orthopt.hyperbolic_qr(a, signature)
    assert np.allclose(Q @ R, a) and np.allclose(np.tril(R, -1), 0) and (np.diag(R) > 0).all()
    assert np.allclose(Q.T @ (j[:, None] * Q), np.diag(signs)) and set(signs) <= {1.0, -1.0}


def test_without_negative_signs_they_are_the_usual_ones():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(5, 5))
    q, r = np.linalg.qr(a)
    assert np.allclose(orthopt.hyperbolic_qr(a, 5).R, np.sign(np.diag(r))[:, None] * r)
    u, _, v = np.linalg.svd(a)
    assert np.allclose(orthopt.indefinite_polar(a, 5), u @ v)


def test_indefinite_polar():
    rng = np.random.default_rng(3)
    J = np.diag([1.0, 1.0, -1.0, -1.0])
    X = np.eye(4) + 0.2 * rng.normal(size=(4, 4))
    Q = orthopt.indefinite_polar(X.tolist(), 2)
    S = J @ Q.T @ J @ X
    assert np.allclose(Q.T @ J @ Q, J) and np.allclose(J @ S, (J @ S).T) and np.allclose(Q @ S, X)
    with pytest.raises(errors.NotDefiniteError, match="no J-orthogonal factor"):
        orthopt.indefinite_polar([[0.0, 1.0], [1.0, 0.0]], 1)


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("half", [1, -1])
def test_givens_factors(n, half):
    D = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]
    D[:, 0] *= half * np.sign(np.linalg.det(D))
    factors = orthopt.givens_factors(D)
    product = np.eye(n)
    for i, j, block in factors:
        product[:, [i, j]] = product[:, [i, j]] @ block
    assert len(factors) == n * (n - 1) // 2 and np.allclose(product, D)
    assert [round(np.linalg.det(f.block)) for f in factors] == [1] * (len(factors) - 1) + [half]


def test_wrong_input():
    with pytest.raises(errors.NotOrthonormalError):
        orthopt.givens_factors(np.ones((3, 3)))
    with pytest.raises(errors.ShapeError):
        orthopt.givens_factors(np.ones(3))
    with pytest.raises(errors.ShapeError, match="square"):
        orthopt.indefinite_polar(np.ones((3, 2)), 1)
    with pytest.raises(errors.OrthoptError, match="signs"):
        orthopt.hyperbolic_qr(np.eye(3), [1, -1])
    with pytest.raises(errors.DataTypeError):
        orthopt.hyperbolic_qr(np.eye(3) * 1j, 2)
