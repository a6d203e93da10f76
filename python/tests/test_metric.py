"""``minimize(metric=B)``: X'BX = I for dense, sparse and diagonal B, with and without a penalty."""

import numpy as np
import orthopt
import pytest
import scipy.linalg as la
import scipy.sparse as sp
from orthopt import errors

N, R = 30, 3
RANDOM = np.random.default_rng(7)
S = RANDOM.standard_normal((N, N))
A = S + S.T
FACTOR = sp.random(N, N, 0.08, random_state=2) + sp.diags(np.linspace(0.3, 2, N))
SPARSE = sp.csr_matrix(FACTOR @ FACTOR.T)
METRICS = {"dense": SPARSE.toarray(), "sparse": SPARSE, "diagonal": np.linspace(0.1, 4, N)}


def full(B):
    return B.toarray() if sp.issparse(B) else np.diag(B) if B.ndim == 1 else B


def trace(X):
    return 0.5 * np.sum(X * (A @ X)), A @ X


@pytest.mark.parametrize("kind", METRICS)
def test_generalised_eigenvalues_are_those_of_scipy(kind):
    B = METRICS[kind]
    values, vectors = la.eigh(A, full(B))
    s = orthopt.minimize(trace, (N, R), metric=B)
    assert s.status == "converged" and s.objective == pytest.approx(values[:R].sum() / 2, rel=1e-8)
    assert np.linalg.norm(s.X.T @ full(B) @ s.X - np.eye(R)) < 1e-12 and s.feasibility < 1e-12
    assert s.objective == pytest.approx(trace(s.X)[0], rel=1e-12)
    # the span, with angles in the metric
    assert la.svdvals(vectors[:, :R].T @ full(B) @ s.X).min() > 1 - 1e-9
    again = orthopt.minimize(trace, s.X, metric=B)
    assert again.objective == pytest.approx(s.objective, rel=1e-10) and again.iterations <= 3


def test_a_large_sparse_metric_stays_sparse():
    n = 4000
    B = sp.diags([np.full(n, 4.0), np.ones(n - 1), np.ones(n - 1)], [0, 1, -1], format="csc")
    d = np.linspace(1, 2, n)[:, None]
    s = orthopt.minimize(lambda X: (0.5 * np.sum(d * X * X), d * X), (n, 2), metric=B, max_iters=40)
    assert s.feasibility < 1e-12


@pytest.mark.parametrize(
    ("metric", "error", "words"),
    [
        (np.eye(N + 1), errors.ShapeError, r"31 x 31, but X has 30 rows"),
        (np.ones(N - 1), errors.ShapeError, r"29 x 29"),
        (np.triu(np.ones((N, N))), errors.NotSymmetricError, r"entry \(0, 1\), from 0, is 1 and \(1, 0\) is 0"),
        (np.diag(np.r_[np.ones(N - 1), -0.5]), errors.NotDefiniteError, r"smallest eigenvalue is -0.5"),
        (np.ones((N, N)), errors.NotDefiniteError, r"not positive definite"),
        (np.r_[np.ones(N - 1), 0.0], errors.NotDefiniteError, r"entry 29"),
        (sp.diags(np.r_[np.ones(N - 1), -1.0]), errors.NotDefiniteError, r"not positive definite"),
        (sp.csc_matrix(([1.0], ([0], [1])), (N, N)), errors.NotSymmetricError, r"not symmetric"),
        (np.diag(np.r_[np.ones(N - 1), np.nan]), errors.NotFiniteError, r"row 29, column 29"),
        (np.r_[np.inf, np.ones(N - 1)], errors.NotFiniteError, r"row 0"),
        (np.eye(N) * 1j, errors.DataTypeError, r"complex"),
        ("identity", errors.ShapeError, r"must be a matrix"),
    ],
)
def test_what_is_no_metric_is_refused(metric, error, words):
    for call in (orthopt.minimize, orthopt.check_gradient):
        with pytest.raises(error, match=words):
            call(trace, (N, R), metric=metric)


def test_starts_and_constraints_that_do_not_fit():
    B = METRICS["dense"]
    with pytest.raises(errors.NotOrthonormalError, match=r"X'BX = I"):
        orthopt.minimize(trace, np.eye(N, R), metric=B)
    with pytest.raises(errors.NotFiniteError, match="x0"):
        orthopt.minimize(trace, np.full((N, R), np.nan), metric=B)
    with pytest.raises(errors.IncompatibleError, match="no B"):
        orthopt.minimize(trace, np.eye(N), metric=B, constraint="j-orthogonal", signature=2)


@pytest.mark.parametrize("kind", METRICS)
def test_gradients_are_checked_at_x(kind):
    B = METRICS[kind]
    assert orthopt.check_gradient(trace, (N, R), metric=B)
    mistakes = {
        "multiplied by 2 ": (lambda X: (np.sum(X * (A @ X)), A @ X), R),
        "is transposed": (lambda X: (np.sum(np.sin(S * X)), (S * np.cos(S * X)).T), N),
        "in column 1": (lambda X: (trace(X)[0] + np.sum(X[:, 1] ** 4), A @ X), R),
    }
    for words, (fun, columns) in mistakes.items():
        assert words in orthopt.check_gradient(fun, (N, columns), metric=B).message
        with pytest.raises(errors.GradientError, match=words.strip()):
            orthopt.minimize(fun, (N, columns), metric=B)


def test_zeros_and_signs_with_a_diagonal_metric():
    b = METRICS["diagonal"]
    s = orthopt.minimize(trace, (N, R), metric=b, penalty="l0", lam=0.5)
    assert s.nnz < N * R and s.nonsmooth == pytest.approx(0.5 * np.count_nonzero(s.X)) and s.nnz == np.count_nonzero(s.X)
    s = orthopt.minimize(trace, (N, R), metric=b, penalty="nonneg")
    assert s.X.min() >= 0 and s.feasibility < 1e-12
    for metric in (b, METRICS["dense"]):
        with pytest.raises(errors.IncompatibleError, match="weakly convex and Lipschitz"):
            orthopt.minimize(trace, (N, R), metric=metric, penalty="box", box_lower=-1.0)
    for penalty in ("l0", "nonneg"):
        with pytest.raises(errors.IncompatibleError, match="also with a diagonal metric"):
            orthopt.minimize(trace, (N, R), metric=METRICS["dense"], penalty=penalty, lam=None if penalty == "nonneg" else 1.0)


#: Of condition 4: splitting methods, which penalties need here, are slow where B is far from a multiple of I.
MILD = {"dense": np.eye(N) + 0.05 * S @ S.T / 3, "sparse": sp.diags(np.linspace(1, 4, N)), "diagonal": np.linspace(1, 4, N)}


@pytest.mark.parametrize("kind", MILD)
@pytest.mark.parametrize("penalty", ["l1", "l21"])
def test_penalties_are_those_of_x(kind, penalty):
    s = orthopt.minimize(trace, (N, R), metric=MILD[kind], penalty=penalty, lam=0.3, seed=1, max_iters=1500, restarts=0)
    size = np.abs(s.X).sum() if penalty == "l1" else np.linalg.norm(s.X, axis=1).sum()
    assert s.nonsmooth == pytest.approx(0.3 * size, rel=1e-9) and s.objective == pytest.approx(trace(s.X)[0] + 0.3 * size)
    assert s.feasibility < 1e-12
    free = orthopt.minimize(trace, (N, R), metric=MILD[kind])
    without = np.abs(free.X).sum() if penalty == "l1" else np.linalg.norm(free.X, axis=1).sum()
    assert s.objective < trace(free.X)[0] + 0.3 * without


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("penalty", ["l1", "l21"])
def test_zeros_of_convex_penalties_are_exact(kind, penalty):
    B, lam = METRICS[kind], {"l1": 1.5, "l21": 3.0}[penalty]
    s = orthopt.minimize(trace, (N, R), metric=B, penalty=penalty, lam=lam, seed=1, restarts=0, max_iters=1500)
    assert s.solver == "rada-rgd" and s.feasibility < 1e-12
    assert np.linalg.norm(s.X.T @ full(B) @ s.X - np.eye(R)) < 1e-12
    near = np.abs(s.X) < 1e-6 * np.abs(s.X).max()
    assert 0 < near.sum() == N * R - s.nnz and not s.X[near].any()
    size = np.abs(s.X).sum() if penalty == "l1" else np.linalg.norm(s.X, axis=1).sum()
    assert s.objective == pytest.approx(0.5 * np.trace(s.X.T @ A @ s.X) + lam * size, rel=1e-12)


def test_the_default_behind_a_map():
    square, wide = np.eye(N) + 0.02 * S, np.diff(np.eye(N), axis=0)
    for B, penalty, solver in [(square, "l1", "rada-rgd"), (square, "mcp", "oadmm"), (wide, "l1", "oadmm"), (square, "l1-largest-k", "oadmm")]:
        s = orthopt.minimize(trace, (N, R), map=B, penalty=penalty, lam=0.5, max_iters=200, restarts=0)
        assert s.solver == solver


HOSTILE = {
    "ill conditioned": (lambda n: np.linalg.inv(la.hilbert(n) + 1e-9 * np.eye(n)), 6, 2),
    "units 2^-40 to 2^40": (lambda n: 2.0 ** np.linspace(-40, 40, n), 8, 2),
    "units 2^-20 to 2^20, dense": (lambda n: np.diag(2.0 ** np.linspace(-20, 20, n)), 8, 2),
    "one column": (lambda n: np.eye(n) + 0.5, 7, 1),
    "square": (lambda n: np.eye(n) + 0.5, 4, 4),
    "one number": (lambda n: np.full((1, 1), 3.0), 1, 1),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("lam", [0.0, 0.1, 1e6])
def test_hostile_metrics(name, lam):
    make, n, r = HOSTILE[name]
    B = make(n)
    B = (B + B.T) / 2 if B.ndim == 2 else B
    unit = np.sqrt(np.diag(full(B)))
    for C in (A[:n, :n], np.ones((n, n)), np.eye(n)):  # with the second there are repeated columns
        C = C * unit[:, None] * unit
        s = orthopt.minimize(lambda X: (0.5 * np.sum(X * (C @ X)), C @ X), (n, r), metric=B, penalty="l1", lam=lam, restarts=0, max_iters=300)
        assert np.isfinite(s.objective) and s.feasibility < 1e-9, (s.status, s.feasibility)
        assert s.objective == pytest.approx(0.5 * np.sum(s.X * (C @ s.X)) + lam * np.abs(s.X).sum(), rel=1e-6)


def test_a_map_goes_before_the_change_of_variables():
    B, D = METRICS["dense"], np.diff(np.eye(N), axis=0)
    s = orthopt.minimize(trace, (N, R), metric=B, penalty="l1", lam=0.2, map=D, max_iters=300, restarts=0)
    assert s.nonsmooth == pytest.approx(0.2 * np.abs(np.diff(s.X, axis=0)).sum(), rel=1e-9)
    with pytest.raises(errors.InvalidOptionError, match="as a matrix"):
        orthopt.minimize(trace, (N, R), metric=B, penalty="l1", lam=0.2, map="differences")


def test_sparse_discriminants_have_the_planted_variables():
    """Classes that differ in three of twelve correlated variables: max tr(X'SX), X'TX = I, with few variables."""
    rng = np.random.default_rng(3)
    n, samples = 12, 400
    mix = np.linalg.cholesky(0.4 * np.ones((n, n)) + 0.6 * np.eye(n))
    centres = np.zeros((3, n))
    centres[1, :3], centres[2, :3] = [2, -2, 2], [-2, 2, 2]
    label = rng.integers(0, 3, samples)
    data = rng.standard_normal((samples, n)) @ mix.T + centres[label]
    means = np.array([data[label == k].mean(axis=0) for k in range(3)])
    within = sum((data[label == k] - means[k]).T @ (data[label == k] - means[k]) for k in range(3)) / samples
    spread = (means - data.mean(axis=0)).T @ (means - data.mean(axis=0)) / 3
    s = orthopt.minimize(
        lambda X: (-0.5 * np.sum(X * (spread @ X)), -spread @ X), (n, 2), metric=within, penalty="l21", lam=0.6, seed=2, restarts=0, max_iters=4000
    )
    size = np.linalg.norm(s.X, axis=1)
    assert set(np.argsort(-size)[:3]) == {0, 1, 2} and size[3:].max() < 0.02 * size.max(), size
