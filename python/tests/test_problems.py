"""Named problems beside PCA: procrustes, components in their order, row-sparse PCA, clusters, independent components, dictionaries, robust subspaces."""

import numpy as np
import orthopt
import pytest
from orthopt import errors

RNG = np.random.default_rng(11)


def orthonormal(n, r):
    return np.linalg.qr(RNG.normal(size=(n, r)))[0]


def test_procrustes_has_its_closed_form_and_sparse_loadings():
    A, Q = RNG.normal(size=(40, 5)), orthonormal(5, 5)
    B = A @ Q + 0.1 * RNG.normal(size=(40, 5))
    s = orthopt.solve("procrustes", A, target=B, effort="quick")
    U, _, V = np.linalg.svd(A.T @ B)
    assert np.allclose(s.X, U @ V, atol=1e-6) and s.objective == pytest.approx(0.5 * np.sum((A @ s.X - B) ** 2))
    X0 = np.zeros((12, 3))
    X0[[0, 1, 4, 5, 8, 9], [0, 0, 1, 1, 2, 2]] = np.sqrt(0.5)
    A = RNG.normal(size=(200, 12))
    B = A @ X0 + 0.1 * RNG.normal(size=(200, 3))
    for penalty, lam in (("l1", 10.0), ("l0", 2.0)):
        s = orthopt.solve("procrustes", A, penalty=penalty, lam=lam, target=B, effort="quick")
        assert ((s.X != 0) == (X0 != 0)).all() and s.explained_variance is None
    other = orthopt.solve("procrustes", A.T @ A, 3, gram=True, linear=-A.T @ B, effort="quick")
    assert other.objective + 0.5 * np.sum(B**2) == pytest.approx(orthopt.solve("procrustes", A, target=B, effort="quick").objective, rel=1e-8)
    with pytest.raises(errors.IncompatibleError, match="target"):
        orthopt.solve("procrustes", A)
    with pytest.raises(errors.ShapeError, match="target"):
        orthopt.solve("procrustes", A, target=B[1:])
    with pytest.raises(errors.IncompatibleError, match="weights"):
        orthopt.solve("procrustes", A, target=B, weights=np.ones(200))
    with pytest.raises(errors.OrthoptError, match="linear term"):
        orthopt.bound("procrustes", A, target=B)
    chosen = orthopt.solve("procrustes", A, penalty="l1", target=B, effort="quick")
    assert ((chosen.X != 0) == (X0 != 0)).all() and chosen.lam == pytest.approx(0.5 * np.abs(A.T @ B).max(axis=0).mean(), rel=1e-5)


def test_components_come_in_the_order_of_their_weights():
    A = RNG.normal(size=(60, 8)) * np.linspace(1, 3, 8)
    values, vectors = np.linalg.eigh(A.T @ A)
    for weights, which in (([3.0, 2.0, 1.0], [7, 6, 5]), (np.array([1.0, 4.0]), [6, 7]), ([-1.0, 2, -3], [1, 7, 0]), (1.0, [7])):
        s = orthopt.solve("brockett", A, component_weights=weights)
        d = np.atleast_1d(weights)
        assert s.solver == "spectral" and s.objective == pytest.approx(-0.5 * d @ values[which], rel=1e-12)
        assert np.allclose(np.abs(vectors[:, which].T @ s.X), np.eye(len(d)), atol=1e-8)
        own = orthopt.minimize(lambda X: (-0.5 * np.sum(X * (A.T @ A @ X) * d), -(A.T @ A @ X) * d), (8, len(d)))
        assert own.objective == pytest.approx(s.objective, rel=1e-8)
    sparse = orthopt.solve("brockett", A, 3, penalty="l1", certify=True, effort="quick")
    assert sparse.certificate.holds and sparse.nnz < 24 and sparse.lam > 0
    share = np.sum(sparse.X * (A.T @ A @ sparse.X), axis=0)
    assert share[0] >= share[1] >= share[2]
    wrong = orthopt.certify("brockett", A, sparse.X[:, ::-1].copy(), penalty="l1", lam=sparse.lam)
    assert wrong.objective > sparse.objective
    with pytest.raises(errors.IncompatibleError, match="2 numbers for 3 components"):
        orthopt.solve("brockett", A, 3, component_weights=[2.0, 1.0])
    with pytest.raises(errors.InvalidOptionError, match="component_weights"):
        orthopt.solve("brockett", A, component_weights="2,x")
    with pytest.raises(errors.IncompatibleError, match="component_weights"):
        orthopt.solve("pca", A, component_weights=[2.0, 1.0])


def test_rows_are_zero_together():
    W = np.zeros((20, 2))
    W[:5] = orthonormal(5, 2)
    Y = RNG.normal(size=(300, 2)) * [5, 4] @ W.T + 0.5 * RNG.normal(size=(300, 20))
    s = orthopt.solve("l21-pca", Y, 2, covariance=True, lam=0.8, effort="quick")
    assert np.flatnonzero(s.X.any(axis=1)).tolist() == [0, 1, 2, 3, 4]
    assert s.nonsmooth == pytest.approx(0.8 * np.linalg.norm(s.X, axis=1).sum())
    with pytest.raises(errors.IncompatibleError, match="every penalty but l21"):
        orthopt.solve("l21-pca", Y, 2, lam=0.8, solver="obcd")
    own = orthopt.minimize(
        lambda X: (-0.5 * np.sum(X * (np.cov(Y.T) @ X)), -np.cov(Y.T) @ X), (20, 2), penalty="l21", lam=0.8, certify=True
    )
    assert own.objective == pytest.approx(s.objective, rel=1e-6) and own.criticality < 1e-4


def test_clusters_are_as_good_as_those_of_k_means():
    """Handwritten digits: agreement with the labels (adjusted Rand index) beside k-means of scikit-learn."""
    cluster = pytest.importorskip("sklearn.cluster")
    from sklearn.datasets import load_digits
    from sklearn.metrics import adjusted_rand_score

    images, labels = load_digits(n_class=4, return_X_y=True)
    images, labels = images[:400], labels[:400]
    unit = images / np.linalg.norm(images, axis=1, keepdims=True)
    s = orthopt.solve("onmf", unit.T, 4, time_limit=10)
    assert s.X.min() >= 0 and (np.count_nonzero(s.X, axis=1) <= 1).all()
    ours = adjusted_rand_score(labels, s.X.argmax(axis=1))
    means = cluster.KMeans(4, n_init=10, random_state=0).fit(unit)
    theirs = adjusted_rand_score(labels, means.labels_)
    print(f"adjusted Rand index: onmf {ours:.3f}, k-means {theirs:.3f}")
    assert ours > theirs - 0.02 and ours > 0.7


def test_sources_atoms_and_subspaces():
    S = np.c_[RNG.laplace(size=(3000, 2)), RNG.uniform(-1, 1, size=(3000, 1))]
    A = S @ RNG.normal(size=(3, 3))
    s = orthopt.solve("ica", A, 3, center=True, effort="quick")
    A = A - A.mean(axis=0)
    values, vectors = np.linalg.eigh(A.T @ A / 3000)
    Z = A @ (vectors / np.sqrt(values)) @ vectors.T @ s.X
    best = np.sort(np.abs(np.corrcoef(Z.T, S.T)[:3, 3:]), axis=1)
    assert best[:, -1].min() > 0.99 and best[:, :-1].max() < 0.12
    D = orthonormal(8, 8)
    Y = (RNG.normal(size=(3000, 8)) * (RNG.random((3000, 8)) < 0.2)) @ D.T
    assert np.abs(D.T @ orthopt.solve("dictionary", Y, 8, effort="quick").X).max(axis=0).min() > 0.99
    W = orthonormal(15, 2)
    Y = np.vstack([RNG.normal(size=(100, 2)) @ W.T, 4 * RNG.normal(size=(50, 15))])
    assert np.linalg.svd(W.T @ orthopt.solve("robust-subspace", Y, 2, effort="quick").X)[1].min() > 0.999
    for name, data in (("ica", A), ("dictionary", Y[:, :8]), ("robust-subspace", Y)):
        found = [orthopt.solve(name, data, 2, solver=solver, seed=3, restarts=2) for solver in ("trust-region", "lbfgs")]
        assert found[0].status == "converged" and found[0].objective == pytest.approx(found[1].objective, rel=1e-7)
    with pytest.raises(errors.IncompatibleError, match="singular"):
        orthopt.solve("ica", np.ones((5, 8)), 2)
    with pytest.raises(errors.IncompatibleError, match="needs samples"):
        orthopt.solve("ica", Y.T @ Y, 2, gram=True)
