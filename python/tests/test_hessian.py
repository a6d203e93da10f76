"""``minimize`` with ``hess`` and ``check_hessian``: the answer of the first-order default in fewer steps, and no wrong Hessian."""

import time

import numpy as np
import orthopt
import pytest
import scipy.linalg
from orthopt.errors import DataTypeError, HessianError, IncompatibleError, InvalidOptionError, ShapeError

N, R = 30, 4
RANDOM = np.random.default_rng(8)
A = RANDOM.standard_normal((N, N))
C = (A + A.T) / 2


def quartic(X):
    return 0.5 * np.sum(X * (C @ X)) + 0.25 * np.sum(X**4), C @ X + X**3


def product(X, D):
    return C @ D + 3 * X * X * D


def orthonormal(seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((N, R)))[0]


def test_the_same_minimum_as_without_in_fewer_evaluations():
    for seed in range(5):
        calls, products = [], []
        fun = lambda X: calls.append(1) or quartic(X)  # noqa: B023, E731
        hess = lambda X, D: products.append(1) or product(X, D)  # noqa: B023, E731
        found = orthopt.minimize(fun, orthonormal(seed), hess=hess, restarts=4)
        assert found.solver == "trust-region" and found.status == "converged" and found.feasibility < 1e-12
        assert found.settings["evaluations"] == len(calls)
        assert 0 < found.settings["hessian_products"] < len(products)  # those of the best start, and the check has one
        other = orthopt.minimize(quartic, orthonormal(seed), restarts=4)
        assert found.objective <= other.objective + 1e-7 * abs(other.objective)
        assert found.criticality is None or found.criticality < 1e-6
    single = orthopt.minimize(quartic, orthonormal(0), hess=product)
    first = orthopt.minimize(quartic, orthonormal(0))
    assert single.settings["evaluations"] < first.settings["evaluations"] / 2


def test_a_chain_begins_without_it():
    found = orthopt.minimize(quartic, orthonormal(1), hess=product, solver="lbfgs+trust-region")
    assert found.status == "converged" and found.solver == "lbfgs+trust-region"


@pytest.mark.parametrize("power", [-60, -1, 1, 60])
def test_the_unit_of_f_changes_nothing(power):
    unit = 2.0**power
    scaled = lambda X: (unit * quartic(X)[0], unit * quartic(X)[1])  # noqa: E731
    one = orthopt.minimize(quartic, orthonormal(2), hess=product)
    other = orthopt.minimize(scaled, orthonormal(2), hess=lambda X, D: unit * product(X, D))
    assert np.array_equal(one.X, other.X) and one.status == other.status == "converged"


@pytest.mark.parametrize("metric", ["diagonal", "dense"])
def test_with_a_metric(metric):
    F = RANDOM.standard_normal((N, N))
    B = np.linspace(1, 3, N) if metric == "diagonal" else F @ F.T + N * np.eye(N)
    full = np.diag(B) if metric == "diagonal" else B
    found = orthopt.minimize(lambda X: (0.5 * np.sum(X * (C @ X)), C @ X), (N, R), hess=lambda X, D: C @ D, metric=B)
    assert found.status == "converged" and np.linalg.norm(found.X.T @ full @ found.X - np.eye(R)) < 1e-10
    least = 0.5 * scipy.linalg.eigh(C, full, eigvals_only=True)[:R].sum()
    assert abs(found.objective - least) < 1e-9 * abs(least)
    curved = orthopt.minimize(quartic, (N, R), hess=product, metric=B, certify=True)
    assert curved.status == "converged" and curved.criticality < 1e-6
    with pytest.raises(HessianError):
        orthopt.minimize(quartic, (N, R), hess=lambda X, D: -product(X, D), metric=B)


MISTAKES = {
    "factor": (lambda X, D: 2 * product(X, D), "multiplied by 0.5"),
    "sign": (lambda X, D: -product(X, D), "wrong sign"),
    "zero": (lambda X, D: 0 * D, "is zero"),
    "a term": (lambda X, D: C @ D, "term is missing or wrong"),
    "a column": (lambda X, D: product(X, D) + D * (np.arange(R) == 2), "in column 2"),
    "a row": (lambda X, D: product(X, D) + D * (np.arange(N) == 7)[:, None], "in row 7"),
    "the gradient in its place": (lambda X, D: quartic(X)[1], "term is missing or wrong"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_hessian_is_found_and_named(mistake):
    hess, words = MISTAKES[mistake]
    for seed in range(5):
        found = orthopt.check_hessian(quartic, hess, (N, R), seed=seed)
        assert not found and words in found.message, found.message
    with pytest.raises(HessianError, match=words):
        orthopt.minimize(quartic, (N, R), hess=hess)
    # without the check a wrong Hessian costs steps, and never makes an X that is not critical converged
    found = orthopt.minimize(quartic, orthonormal(3), hess=hess, check_gradient=False, certify=True)
    assert found.feasibility < 1e-12 and (found.status != "converged" or found.criticality < 1e-4)


@pytest.mark.parametrize("unit", [1e-150, 1e-30, 1.0, 1e30, 1e150])
def test_a_right_hessian_is_none_the_worse(unit):
    fun = lambda X: (unit * quartic(X)[0], unit * quartic(X)[1])  # noqa: E731
    for seed in range(5):
        found = orthopt.check_hessian(fun, lambda X, D: unit * product(X, D), (N, R), seed=seed)
        assert found and found.evaluations < 20, found.message
    linear = lambda X: (unit * np.sum(A[:, :R] * X), unit * A[:, :R])  # noqa: E731
    assert orthopt.check_hessian(linear, lambda X, D: 0 * D, (N, R))
    assert orthopt.minimize(linear, (N, R), hess=lambda X, D: 0 * D).status == "converged"


def test_a_hessian_that_is_not_symmetric_is_refused():
    """f given with a gradient that is none: differences of it agree with its derivative, which is not symmetric."""
    found = orthopt.check_hessian(lambda X: (0.0, A @ X), lambda X, D: A @ D, (N, R))
    assert not found and "not symmetric" in found.message


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"hess": 3}, DataTypeError, "must be a function"),
        ({"hess": "exact"}, InvalidOptionError, "'auto'"),
        ({"hess": "auto"}, DataTypeError, "JAX or PyTorch"),
        ({"hess": lambda X, D: D[:2]}, ShapeError, "expected"),
        ({"hess": product, "penalty": "l1", "lam": 0.1}, IncompatibleError, "leave it out"),
        ({"hess": product, "solver": "lbfgs"}, IncompatibleError, "leave it out"),
        ({"hess": product, "constraint": "j-orthogonal"}, IncompatibleError, "leave it out"),
        ({"solver": "trust-region"}, IncompatibleError, "give hess"),
    ],
)
def test_what_does_not_apply_is_an_error(arguments, error, words):
    with pytest.raises(error, match=words):
        orthopt.minimize(quartic, (N, R), **arguments)


def test_exceptions_numbers_that_are_none_and_limits():
    def raises(X, D):
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        orthopt.minimize(quartic, (N, R), hess=raises)
    with pytest.raises(KeyError, match="here"):
        orthopt.minimize(quartic, (N, R), hess=raises, check_gradient=False)
    hole = orthopt.minimize(quartic, orthonormal(4), hess=lambda X, D: np.nan * D, check_gradient=False)
    assert hole.status == "numerical_error" and hole.feasibility < 1e-12
    slow = lambda X, D: time.sleep(0.02) or product(X, D)  # noqa: E731
    began = time.perf_counter()
    found = orthopt.minimize(quartic, orthonormal(5), hess=slow, time_limit=0.3, solver="trust-region")
    assert time.perf_counter() - began < 5 and found.status == "time_limit"
    assert found.objective <= quartic(orthonormal(5))[0]


def test_hessians_of_jax():
    jax = pytest.importorskip("jax")
    f = lambda X: 0.5 * jax.numpy.sum(X * (C @ X)) + 0.25 * jax.numpy.sum(X**4)  # noqa: E731
    assert orthopt.check_hessian(f, "auto", (N, R))
    found = orthopt.minimize(f, orthonormal(6), hess="auto", tol=1e-6)
    assert found.solver == "trust-region" and found.settings["hessian_products"] > 0
    assert found.objective <= orthopt.minimize(quartic, orthonormal(6), hess=product).objective + 1e-3


def test_hessians_of_torch():
    torch = pytest.importorskip("torch")
    M = torch.tensor(C)
    f = lambda X: 0.5 * torch.sum(X * (M @ X)) + 0.25 * torch.sum(X**4)  # noqa: E731
    exact = orthopt.minimize(quartic, orthonormal(7), hess=product)
    for start in (orthonormal(7), torch.tensor(orthonormal(7))):
        found = orthopt.minimize(f, start, hess="auto")
        assert found.status == "converged" and abs(found.objective - exact.objective) < 1e-8
    assert orthopt.check_hessian(f, "auto", (N, R))
    own = lambda X, D: M @ D + 3 * X * X * D  # noqa: E731
    assert orthopt.minimize(f, torch.tensor(orthonormal(7)), hess=own).status == "converged"
    linear = lambda X: torch.sum(torch.tensor(A[:, :R]) * X)  # noqa: E731
    assert orthopt.check_hessian(linear, "auto", (N, R))
