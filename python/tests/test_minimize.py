"""minimize: functions of the user's own."""

import signal
import threading
import time

import numpy as np
import pytest

import orthopt
from orthopt import errors

SOLVERS = ["irpg", "amanpg", "manpg-ada", "manpg", "slpg", "rsubgrad", "ladmm", "spm", "soc"]
SMOOTH = ["lbfgs", "optm-qr", "optm-cayley", "foforth-gr", "foforth-p", "foforth-qr", "obcd-approx"]
SPLITTING = ["oadmm", "oadmm-ep", "oadmm-rr", "radmm", "spgm-ep", "spgm-rr", "subgrad", "madmm", "manial"]
SPLITTING += ["rial", "rada-rgd", "obcd-majorised"]
J_SOLVERS = ["j-jobcd", "gs-jobcd", "j-admm", "umcm", "csdm", "j-lbfgs"]


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(60, 20)) * np.linspace(1, 3, 20)
    return a.T @ a


@pytest.fixture(scope="module")
def quadratic(matrix):
    def fun(x):
        return -0.5 * float(np.sum(x * (matrix @ x))), -matrix @ x

    return fun


@pytest.mark.parametrize("solver", ["irpg", "amanpg", "manpg-ada", "slpg", "auto"])
def test_leading_eigenvectors(matrix, quadratic, solver):
    s = orthopt.minimize(quadratic, (20, 3), solver=solver, max_iters=20_000, seed=1)
    assert s.objective == pytest.approx(-0.5 * np.linalg.eigvalsh(matrix)[-3:].sum(), rel=1e-6)
    assert s.feasibility < 1e-12 and s.status == "converged"


@pytest.mark.parametrize("solver", SMOOTH + SPLITTING)
def test_solvers_that_need_only_gradients(matrix, quadratic, solver):
    """minimize takes whatever asks for values and gradients alone."""
    # without a penalty the first step and the number of steps are those of the scale of f at the start
    own = {"subgrad": {"subgrad_a0": 0.02}, "oadmm-ep": {"max_iters": 12_000}, "obcd-approx": {"max_iters": 30_000}}.get(solver, {})
    s = orthopt.minimize(quadratic, (20, 3), solver=solver, **{"max_iters": 3000, "seed": 1, **own})
    optimum = -0.5 * np.linalg.eigvalsh(matrix)[-3:].sum()
    assert s.feasibility < 1e-12
    assert s.objective == pytest.approx(optimum, rel=1e-2 if solver in ("subgrad", "radmm") else 1e-6)


def test_same_as_solve(matrix, quadratic):
    """The same problem, once with the library's f and once with a callable."""
    x0 = np.linalg.qr(np.random.default_rng(1).normal(size=(20, 3)))[0]
    library = orthopt.solve("l1-pca", matrix, 3, 20.0, gram=True, init=x0, solver="manpg-ada")
    ours = orthopt.minimize(quadratic, x0, penalty="l1", lam=20.0, solver="manpg-ada")
    assert ours.objective == pytest.approx(library.objective, rel=1e-8)


@pytest.mark.parametrize("penalty", ["l0", "nonneg", "mcp"])
def test_other_penalties(quadratic, penalty):
    lam = None if penalty == "nonneg" else 50.0
    s = orthopt.minimize(quadratic, (20, 3), penalty=penalty, lam=lam, max_iters=2000)
    assert s.feasibility < 1e-12 and np.isfinite(s.objective)
    if penalty == "nonneg":
        assert s.X.min() >= 0.0 and s.nonneg_violation == 0.0


@pytest.mark.parametrize("solver", J_SOLVERS)
def test_j_orthogonal(matrix, solver):
    def fun(x):
        return float(np.sum(x * (matrix @ x))), 2.0 * matrix @ x

    start = fun(np.eye(20))[0]
    s = orthopt.minimize(
        fun, np.eye(20), constraint="j-orthogonal", signature=8, solver=solver, max_iters=200, time_limit=10
    )
    j = np.diag([1.0] * 8 + [-1.0] * 12)
    assert np.abs(s.X.T @ j @ s.X - j).max() < 1e-9 * np.abs(s.X).max() ** 2
    assert s.objective < start
    if solver == "j-admm":
        known = np.abs(np.linalg.eigvals(j @ matrix)).sum()
        assert s.objective == pytest.approx(known, rel=1e-6)


class Boom(Exception):
    pass


@pytest.mark.parametrize("after", [0, 1, 9, 12, 20])
@pytest.mark.parametrize("solver", SOLVERS + SMOOTH + SPLITTING + J_SOLVERS)
def test_exceptions_are_passed_on(quadratic, solver, after):
    calls = []

    def fun(x):
        calls.append(1)
        if len(calls) > after:
            raise Boom(f"call {len(calls)}")
        f, g = quadratic(x)
        return (-f, -g) if hyperbolic else (f, g)  # of either sign, bounded below

    hyperbolic = solver in J_SOLVERS
    options = {"constraint": "j-orthogonal", "signature": 9} if hyperbolic else {}
    with pytest.raises(Boom, match=f"^call {after + 1}$"):
        orthopt.minimize(fun, (20, 20 if hyperbolic else 3), solver=solver, tol=0.0, time_limit=20, **options)
    assert len(calls) == after + 1  # and it is not called again


def test_what_other_libraries_return(quadratic):
    reference = orthopt.minimize(quadratic, (20, 2), seed=3, max_iters=5).X

    class Tensor:
        """As the arrays of other libraries: no ndarray, but convertible."""

        def __init__(self, value):
            self.value = np.asarray(value)

        def __array__(self, dtype=None, copy=None):
            return self.value if dtype is None else self.value.astype(dtype)

        def __float__(self):
            return float(self.value)

    variants = [
        lambda f, g: (np.float64(f), g),
        lambda f, g: (np.array(f), np.asfortranarray(g)),
        lambda f, g: (f, g.tolist()),
        lambda f, g: (Tensor(f), Tensor(g)),
        lambda f, g: [f, np.repeat(g, 2, axis=1)[:, ::2]],
    ]
    for variant in variants:
        x = orthopt.minimize(lambda x: variant(*quadratic(x)), (20, 2), seed=3, max_iters=5).X
        # NumPy's own sums depend on where its arrays lie in memory
        np.testing.assert_allclose(x, reference, rtol=1e-6)


def test_x_belongs_to_the_callable(quadratic):
    """It may keep X, and change it."""
    reference = orthopt.minimize(quadratic, (20, 2), seed=3, max_iters=5).X
    kept = []

    def fun(x):
        answer = quadratic(x)
        kept.append(x)
        x[:] = 0.0
        return answer

    x = orthopt.minimize(fun, (20, 2), seed=3, max_iters=5).X
    np.testing.assert_allclose(x, reference, rtol=1e-6)
    assert len({id(x) for x in kept}) == len(kept)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda x: 1.0, errors.DataTypeError),
        (lambda x: None, errors.DataTypeError),
        (lambda x: (1.0, x.T), errors.ShapeError),
        (lambda x: (1.0, x[:, :1]), errors.ShapeError),
        (lambda x: ("one", x), errors.DataTypeError),
        (lambda x: (1.0, x.astype(complex)), errors.DataTypeError),
        (lambda x: (1.0, np.full(x.shape, "g")), errors.DataTypeError),
    ],
)
def test_bad_answers(answer, error):
    with pytest.raises(error):
        orthopt.minimize(answer, (6, 2))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"x0": np.ones((6, 2))}, errors.NotOrthonormalError),
        ({"x0": (2, 6)}, errors.RankError),
        ({"x0": (0, 0)}, errors.ShapeError),
        ({"x0": np.ones(3)}, errors.ShapeError),
        ({"penalty": "l1"}, errors.InvalidOptionError),
        ({"penalty": "l9", "lam": 1.0}, errors.UnknownNameError),
        ({"solver": "obcd"}, errors.IncompatibleError),
        ({"solver": "irpg", "penalty": "l0", "lam": 1.0}, errors.IncompatibleError),
        ({"constraint": "sphere"}, errors.UnknownNameError),
        ({"constraint": "j-orthogonal"}, errors.ShapeError),
        ({"constraint": "j-orthogonal", "x0": (6, 6)}, errors.InvalidOptionError),
        ({"lipschitz": -1.0}, errors.InvalidOptionError),
        ({"rank": 3}, errors.IncompatibleError),
        ({"fun": 3}, errors.DataTypeError),
    ],
)
def test_bad_arguments(arguments, error):
    full = {"fun": lambda x: (float(np.sum(x**3)), 3 * x**2), "x0": (6, 2), **arguments}
    fun, x0 = full.pop("fun"), full.pop("x0")
    with pytest.raises(error):
        orthopt.minimize(fun, x0, **full)


def test_nan_is_a_status(quadratic):
    calls = []

    def fun(x):
        calls.append(1)
        f, g = quadratic(x)
        return (f if len(calls) < 20 else np.nan), g

    s = orthopt.minimize(fun, (20, 3), time_limit=20, tol=0.0)
    assert s.status in ("numerical_error", "stalled", "converged") and s.feasibility < 1e-12


def test_interrupt_keeps_the_best(quadratic):
    def fun(x):
        time.sleep(0.001)
        return quadratic(x)

    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    s = orthopt.minimize(fun, (20, 3), solver="rsubgrad", tol=0.0, time_limit=30)
    assert s.status == "interrupted" and s.feasibility < 1e-12
    assert s.objective < quadratic(np.eye(20)[:, :3])[0]


def test_callback_and_count(quadratic):
    seen = []

    def fun(x):
        time.sleep(0.002)
        return quadratic(x)

    def callback(now):
        seen.append(now)
        return len(seen) == 3

    s = orthopt.minimize(fun, (20, 3), solver="rsubgrad", tol=0.0, time_limit=30, callback=callback)
    assert s.status == "interrupted" and len(seen) == 3 and seen[0].iteration < seen[-1].iteration
    assert s.settings["evaluations"] >= s.iterations


def test_overhead():
    """Less than 20 microseconds around a trivial callable; timed without its own cost."""
    gradient = np.zeros((30, 3))
    gradient[0, 0] = 1.0

    def fun(x):
        return x[0, 0], gradient

    best = np.inf
    for _ in range(5):
        s = orthopt.minimize(fun, (30, 3), solver="rsubgrad", tol=0.0, max_iters=3000, lipschitz=1.0)
        best = min(best, s.seconds / s.settings["evaluations"])
    assert best < 20e-6, f"{best * 1e6:.1f} microseconds per evaluation, all included"


@pytest.mark.parametrize("options", [{}, {"solver": "optm-qr"}, {"penalty": "l1", "lam": 3.0}, {"penalty": "l1-largest-k", "lam": 1.0}])
def test_the_unit_of_f_means_nothing(matrix, quadratic, options):
    """f times a power of two far from 1, where its squares are no numbers, has the same X, and F times it."""
    scaled = dict(options)

    def run(unit):
        if "lam" in options:
            scaled["lam"] = options["lam"] * unit
        seen = []
        s = orthopt.minimize(
            lambda x: tuple(unit * v for v in quadratic(x)),
            (20, 3),
            seed=1,
            max_iters=400,
            callback=lambda now: seen.append(now.objective),
            **scaled,
        )
        assert all(abs(v) <= 1e6 * unit for v in seen)
        return s

    one = run(1.0)
    for unit in (2.0**-565, 2.0**565):
        s = run(unit)
        assert np.array_equal(s.X, one.X) and s.objective == one.objective * unit
        assert s.status == one.status and s.settings["evaluations"] == one.settings["evaluations"]
        assert (s.criticality is None) == (one.criticality is None)
        assert s.criticality is None or s.criticality == one.criticality * unit


@pytest.mark.parametrize("solver", ["obcd-majorised", "obcd-approx"])
@pytest.mark.parametrize("shape", [(7, 7), (7, 2)])
def test_obcd_of_any_smooth_function(solver, shape):
    """F falls from iteration to iteration, X stays orthonormal, and the end is critical for a function that is no polynomial."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=(40, 7))

    def fun(x):
        z = a @ x
        return float(np.log(np.cosh(z)).sum() + np.sum(x**4)), a.T @ np.tanh(z) + 4 * x**3

    values = []
    x0 = np.linalg.qr(rng.normal(size=shape))[0]
    s = orthopt.minimize(fun, x0, solver=solver, seed=1, max_iters=20_000, callback=lambda p: values.append(p.objective))
    assert s.solver == solver and s.status == "converged" and s.feasibility < 1e-13
    assert all(after <= before + 1e-13 * abs(before) for before, after in zip(values, values[1:]))
    g = fun(s.X)[1]
    assert np.linalg.norm(g - s.X @ g.T @ s.X) <= 1e-4 * np.linalg.norm(g)
    assert s.objective <= fun(x0)[0] and s.objective == pytest.approx(fun(s.X)[0], rel=1e-12)


def test_obcd_approx_takes_no_penalty(quadratic):
    with pytest.raises(errors.IncompatibleError, match="without a penalty"):
        orthopt.minimize(quadratic, (20, 3), solver="obcd-approx", penalty="l1", lam=1.0)
