"""``minimize`` and ``check_gradient``: wrong gradients, both halves of O(n), several starts, functions of JAX and PyTorch."""

import contextlib
import sys
import types

import numpy as np
import orthopt
import pytest
from orthopt.errors import DataTypeError, GradientError

N, R = 12, 3
RANDOM = np.random.default_rng(5)
A = RANDOM.standard_normal((N, N))
C = A + A.T


def trace(X):
    return -0.5 * np.sum(X * (C @ X)), -C @ X


def spoiled(X):
    gradient = -C @ X
    gradient[3, 1] += 9
    return -0.5 * np.sum(X * (C @ X)), gradient


#: A mistake, what it looks like, and the columns of X.
MISTAKES = {
    "factor": (lambda X: (-np.sum(X * (C @ X)), -C @ X), "multiplied by 2 ", R),
    "sign": (lambda X: (-0.5 * np.sum(X * (C @ X)), C @ X), "wrong sign", R),
    "transposed": (lambda X: (np.sum(np.sin(A * X)), (A * np.cos(A * X)).T), "is transposed", N),
    "mean": (lambda X: (np.mean((A @ X) ** 2), 2 * A.T @ A @ X), "multiplied by 0.02778", R),
    "half of a product": (lambda X: (0.5 * np.sum(X * (A @ X)), A @ X), "term is missing or wrong", R),
    "a term of one column": (lambda X: (trace(X)[0] + 0.25 * np.sum(X[:, 1] ** 4), -C @ X), "in column 1", R),
    "an entry": (spoiled, "row 3, column 1", R),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_gradient_is_found_and_named(mistake):
    fun, words, columns = MISTAKES[mistake]
    for seed in range(5):
        found = orthopt.check_gradient(fun, (N, columns), seed=seed)
        assert not found and not found.holds and found.error > 1e-3
        assert words in found.message, found.message
    calls = []
    with pytest.raises(GradientError, match=words.strip()):
        orthopt.minimize(lambda X: calls.append(1) or fun(X), (N, columns))
    assert len(calls) < 600
    orthopt.minimize(fun, (N, columns), check_gradient=False, max_iters=3)


@pytest.mark.parametrize(
    "fun",
    [
        trace,
        lambda X: (np.array([[trace(X)[0]]]), -C @ X),
        lambda X: (np.float32(trace(X)[0]), -C @ X),
        lambda X: (-0.5 * np.sum(X.astype("f") * (C.astype("f") @ X.astype("f"))), -C @ X),
        lambda X: (np.abs(X).sum(), np.sign(X)),
        lambda X: (0.0, 0 * X),
        lambda X: (1e6 + trace(X)[0], -C @ X),
        *[lambda X, s=s: (s * trace(X)[0], -s * C @ X) for s in (1e-150, 1e-30, 1e30, 1e150)],
    ],
)
def test_a_right_gradient_is_none_the_worse(fun):
    for seed in range(5):
        found = orthopt.check_gradient(fun, (N, R), seed=seed)
        assert found, found.message
    assert orthopt.minimize(fun, (N, R), max_iters=5).feasibility < 1e-12


def test_a_start_that_is_the_minimum_is_no_wrong_gradient():
    X0 = np.linalg.qr(RANDOM.standard_normal((5, 5)))[0]
    nearest = lambda X: (np.sum((X - X0) ** 2), 2 * (X - X0))  # noqa: E731
    assert orthopt.check_gradient(nearest, X0)
    assert orthopt.minimize(nearest, X0).objective < 1e-20


def test_the_check_is_of_the_constraint_too():
    J = np.diag([1.0, 1, -1, -1])
    fun = lambda X: (0.5 * np.sum(X * (C[:4, :4] @ X)) + np.sum(X**4), C[:4, :4] @ X + 4 * X**3)  # noqa: E731
    assert orthopt.check_gradient(fun, (4, 4), constraint="j-orthogonal")
    found = orthopt.minimize(fun, (4, 4), constraint="j-orthogonal", signature=2)
    assert abs(found.X.T @ J @ found.X - J).max() < 1e-10
    with pytest.raises(GradientError):
        orthopt.minimize(lambda X: (fun(X)[0], X), (4, 4), constraint="j-orthogonal", signature=2)


@pytest.mark.parametrize("penalty", [{}, {"penalty": "l1", "lam": 1e-9}])
def test_both_halves_of_square_orthogonal_matrices(penalty):
    """The nearest orthogonal matrix to an orthogonal one is that one, whatever its determinant and that of the start."""
    for seed in range(6):
        B = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0]
        for start in ((4, 4), np.eye(4), np.diag([1.0, 1, 1, -1])):
            found = orthopt.minimize(lambda X: (np.sum((X - B) ** 2), 2 * (X - B)), start, seed=seed, **penalty)
            assert np.linalg.norm(found.X - B) < 1e-6, (seed, found.message)
            assert found.status == "converged", found.message
    M = RANDOM.standard_normal((7, 7))
    U, _, V = np.linalg.svd(M)
    found = orthopt.minimize(lambda X: (np.sum((X - M) ** 2), 2 * (X - M)), (7, 7))
    assert np.linalg.norm(found.X - U @ V) < 1e-6


def test_starts_are_made_until_two_agree():
    found = orthopt.minimize(trace, (N, R))
    assert found.settings["starts"] == 2 and found.settings["starts_at_best"] == 2
    values = np.linalg.eigvalsh(C)
    assert abs(found.objective + 0.5 * values[-R:].sum()) < 1e-8
    # a function with many local minima; a start of one's own is a single run
    many = lambda X: (-np.sum(X**4), -4 * X**3)  # noqa: E731
    assert orthopt.minimize(many, np.linalg.qr(A)[0][:, :R]).settings["starts"] == 1
    assert orthopt.minimize(many, (N, R), restarts=4).settings["starts"] == 5
    assert orthopt.minimize(trace, np.linalg.qr(A)[0][:, :R], restarts=2).settings["starts"] == 3


def test_many_evaluations_are_not_needed():
    """f = -½⟨X, CX⟩ on 200 x 4, and the evaluations are those that Python counts."""
    D = np.linspace(0, 1, 200)[:, None] ** 2
    calls = []
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((200, 4)))[0]
    found = orthopt.minimize(lambda X: (calls.append(X), (-0.5 * np.sum(D * X * X), -D * X))[1], start)
    assert found.status == "converged" and found.solver == "lbfgs" and len(calls) < 250
    assert abs(found.objective + 0.5 * np.sort(D[:, 0])[-4:].sum()) < 1e-9
    assert found.settings["evaluations"] == len(calls)
    assert sum(np.array_equal(X, start) for X in calls) == 1  # nothing is asked twice at the start
    assert "lipschitz" not in found.settings  # nor is L estimated for a solver that has no use for it


def test_a_gradient_may_be_written_into_the_same_array():
    """What is remembered of an evaluation is not the array of the user, who may use it again."""
    D = np.linspace(1, 2, 30)[:, None]
    buffer = np.empty((30, 3))
    start = np.linalg.qr(np.random.default_rng(1).standard_normal((30, 3)))[0]
    fresh = orthopt.minimize(lambda X: (0.5 * np.sum(D * X * X), D * X), start)
    reused = orthopt.minimize(lambda X: (0.5 * np.sum(D * X * X), np.multiply(D, X, out=buffer)), start)
    assert np.array_equal(fresh.X, reused.X)


def test_one_half_of_square_matrices_is_enough_for_an_even_function():
    """A sign of a column that makes no difference to f: the other half of O(n) has the same minima and is left out."""
    start = np.linalg.qr(np.random.default_rng(2).standard_normal((N, N)))[0]
    weights = np.arange(N, 0, -1.0)
    even = lambda X: (0.5 * np.sum(X * (C @ X) * weights), (C @ X) * weights)  # noqa: E731
    found = orthopt.minimize(even, start)
    assert found.settings["starts"] == 1
    assert abs(found.objective - 0.5 * np.linalg.eigvalsh(C) @ weights) < 1e-6
    odd = lambda X: (even(X)[0] + 1e-3 * X[0, -1], even(X)[1] + 1e-3 * np.eye(N)[:, [0]] * np.eye(N)[-1])  # noqa: E731
    assert orthopt.minimize(odd, start).settings["starts"] == 2


def test_functions_that_are_not_what_they_should_be():
    """Kinks, a wrong gradient, no number: a status and a feasible X, never an X that is called a minimum."""
    start = np.linalg.qr(np.random.default_rng(3).standard_normal((N, R)))[0]
    kinks = orthopt.minimize(lambda X: (np.abs(X).sum(), np.sign(X)), start)
    assert kinks.status == "stalled" and kinks.objective < np.abs(start).sum() - 1
    wrong = orthopt.minimize(lambda X: (trace(X)[0], C @ X), start, check_gradient=False)
    assert wrong.status == "stalled" and "wrong gradient" in wrong.message
    hole = orthopt.minimize(lambda X: (trace(X)[0] if X[0, 0] < start[0, 0] + 0.05 else np.nan, -C @ X), start)
    assert np.isfinite(hole.objective) and hole.objective <= trace(start)[0]
    for found in (kinks, wrong, hole):
        assert found.feasibility < 1e-12


@pytest.mark.parametrize("power", [-60, -1, 1, 60])
def test_the_unit_of_f_changes_nothing(power):
    start = np.linalg.qr(np.random.default_rng(4).standard_normal((N, R)))[0]
    unit = 2.0**power
    f = lambda X: (trace(X)[0] + np.sum(X**4), -C @ X + 4 * X**3)  # noqa: E731
    scaled = lambda X: (unit * f(X)[0], unit * f(X)[1])  # noqa: E731
    one, other = orthopt.minimize(f, start), orthopt.minimize(scaled, start)
    assert np.array_equal(one.X, other.X) and one.status == other.status == "converged"


def test_the_default_on_the_hyperbolic_group():
    """min tr(X'CX) over X'JX = J is the sum of |λ(JC)|."""
    rng = np.random.default_rng(6)
    for n, p in ((6, 2), (20, 11)):
        M = rng.standard_normal((2 * n, n)) * np.linspace(0.3, 2, n)
        S, J = M.T @ M / n, np.diag([1.0] * p + [-1.0] * (n - p))
        fun = lambda X: (np.sum(X * (S @ X)), 2 * S @ X)  # noqa: E731
        found = orthopt.minimize(fun, np.eye(n), constraint="j-orthogonal", signature=p)
        best = np.abs(np.linalg.eigvals(J @ S)).sum()
        assert found.status == "converged" and found.solver == "j-lbfgs"
        assert abs(found.objective - best) < 1e-8 * best and found.settings["evaluations"] < 300


def test_functions_of_jax():
    jax = pytest.importorskip("jax")
    D = np.diag([5.0, 4, 3, 2, 1])
    f = lambda X: -0.5 * jax.numpy.sum(X * (D @ X))  # noqa: E731
    for fun, start in [(f, (5, 2)), (jax.value_and_grad(f), (5, 2)), (f, jax.numpy.eye(5)[:, 2:4] * 1.0)]:
        found = orthopt.minimize(fun, start)
        assert found.feasibility < 1e-12 and found.objective <= -2.4999
    assert abs(orthopt.minimize(f, (5, 2)).objective + 4.5) < 1e-5  # in single precision
    assert orthopt.check_gradient(f, (5, 2))


def test_functions_of_torch():
    torch = pytest.importorskip("torch")
    D = torch.diag(torch.tensor([5.0, 4, 3, 2, 1], dtype=torch.float64))
    f = lambda X: -0.5 * torch.sum(X * (D @ X))  # noqa: E731
    assert abs(orthopt.minimize(f, (5, 2)).objective + 4.5) < 1e-8
    start = torch.linalg.qr(torch.arange(10, dtype=torch.float64).reshape(5, 2).sin())[0]
    assert abs(orthopt.minimize(f, start).objective + 4.5) < 1e-8
    D = D.float()
    assert abs(orthopt.minimize(f, start.float() * 1.0, tol=1e-6).objective + 4.5) < 1e-4
    with pytest.raises(DataTypeError, match="torch scalar"):
        orthopt.minimize(lambda X: torch.tensor(1.0), start)


class Foreign:
    """An array that NumPy cannot read by itself, as those of CuPy, in the place of one where there is no such device."""

    device = contextlib.nullcontext()

    def __init__(self, values):
        self.values = np.asarray(values)
        self.dtype = self.values.dtype

    def get(self):
        return self.values

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __matmul__(self, other):
        return Foreign(self.values @ other.values)

    def __mul__(self, other):
        return Foreign(self.values * getattr(other, "values", other))

    __rmul__ = __mul__

    def sum(self):
        return Foreign(self.values.sum())


Foreign.__module__ = "cupy"


@pytest.fixture
def foreign(monkeypatch):
    module = types.ModuleType("cupy")
    module.asarray = lambda values, dtype=None: Foreign(np.asarray(values, dtype=dtype))
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module.asarray


@pytest.mark.parametrize("dtype", [float, int, "float32"])
def test_functions_of_arrays_that_numpy_cannot_read(foreign, dtype):
    D, kinds = np.add.outer(np.arange(5.0), np.arange(5.0) ** 2), set()
    D = D + D.T
    lowest = -0.5 * np.linalg.eigvalsh(D)[-2:].sum()
    near = 1e-4 if dtype == "float32" else 1e-8

    def f(X):
        kinds.add((type(X), X.dtype))
        product = foreign(D, dtype=X.dtype) @ X
        return -0.5 * (X * product).sum(), -1 * product

    start = foreign(np.eye(5)[:, 2:4], dtype=dtype)
    for hess in (None, lambda X, V: -1 * (foreign(D, dtype=X.dtype) @ V)):
        found = orthopt.minimize(f, start, hess=hess)
        assert type(found.X) is np.ndarray and abs(found.objective - lowest) < near * abs(lowest), found.objective
    assert orthopt.check_gradient(f, start)
    assert not orthopt.check_gradient(lambda X: (f(X)[0], X), start)
    assert kinds == {(Foreign, np.dtype("float32" if dtype == "float32" else float))}
    # What a function makes of arrays of NumPy may be such arrays too.
    own = lambda X: tuple(map(foreign, (-0.5 * np.sum(X * (D @ X)), -D @ X)))  # noqa: E731
    found = orthopt.minimize(own, (5, 2), hess=lambda X, V: foreign(-D @ V))
    assert abs(found.objective - lowest) < 1e-9 * abs(lowest)
    with pytest.raises(DataTypeError, match="a pair"):
        orthopt.minimize(lambda X: (X * X).sum(), start)


def on_devices():
    """Makers of arrays for the devices that are here, and the namespaces of their functions."""
    try:
        import torch

        for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
            for dtype in (torch.float64, torch.float32):
                yield pytest.param(lambda a, d=device, t=dtype: torch.tensor(a, dtype=t, device=d), True, id=f"torch {device} {dtype}")
    except ImportError:
        pass
    try:
        import jax

        for device in {d.platform: d for d in [*jax.devices(), *jax.devices("cpu")]}.values():
            yield pytest.param(lambda a, d=device: jax.device_put(np.asarray(a, dtype="float32"), d), True, id=f"jax {device.platform}")
    except (ImportError, RuntimeError):
        pass
    try:
        import cupy

        for dtype in ("float64", "float32"):
            yield pytest.param(lambda a, t=dtype: cupy.asarray(a, dtype=t), False, id=f"cupy {dtype}")
    except ImportError:
        pass


@pytest.mark.parametrize("array, differentiates", list(on_devices()))
def test_functions_on_every_device(array, differentiates):
    """X is in the type and on the device of the start; in single precision the run ends as low as that allows."""
    n, r = 40, 3
    random = np.random.default_rng(4)
    M = random.standard_normal((n, n))
    M = M + M.T
    wanted = -0.5 * np.linalg.eigvalsh(M)[-r:].sum()
    there, start = array(M), array(np.linalg.qr(random.standard_normal((n, r)))[0])
    places = set()

    def value(X):
        places.add((type(X) if not differentiates else "", X.dtype, str(getattr(X, "device", "")) if not is_traced(X) else ""))
        return -0.5 * (X * (there @ X)).sum()

    both = lambda X: (value(X), -(there @ X))  # noqa: E731
    single = "32" in str(start.dtype)
    for fun in [both] + [value] * differentiates:
        hessians = [None, lambda X, V: -(there @ V)] + ["auto"] * (fun is value)
        for hess in hessians:
            found = orthopt.minimize(fun, start, hess=hess)
            assert abs(found.objective - wanted) < (1e-4 if single else 1e-9) * abs(wanted), (found.objective, wanted)
            assert found.feasibility < 1e-12 and found.status != "numerical_error"
        assert orthopt.check_gradient(fun, start), orthopt.check_gradient(fun, start).message
    assert not orthopt.check_gradient(lambda X: (value(X), 2 * (there @ X)), start)
    assert {dtype for _, dtype, _ in places} == {start.dtype}


def is_traced(X):
    return type(X).__name__.endswith("Tracer")
