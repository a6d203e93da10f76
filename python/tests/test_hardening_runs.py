"""Callbacks that raise, functions that answer nonsense, threads, forks, and an interpreter that ends in the middle of a run."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import orthopt
from orthopt import errors


@pytest.fixture(scope="module")
def table():
    """30 samples of 12 variables."""
    rng = np.random.default_rng(8)
    return np.round(4 * rng.normal(size=(30, 3)) @ rng.normal(size=(3, 12))) / 4


class Mine(Exception):
    """Raised by callbacks."""


def test_callbacks_that_raise(table):
    def raising(*_):
        raise Mine("here")

    def slow(x):
        time.sleep(0.05)  # callbacks come ten times a second
        return -0.5 * float(np.sum(x * x * np.arange(6)[:, None])), -x * np.arange(6)[:, None]

    calls = [
        lambda: orthopt.solve("l0-pca", "randn:60:40:1", 3, 5.0, effort="thorough", callback=raising),
        lambda: orthopt.minimize(raising, (6, 2)),
        lambda: orthopt.minimize(slow, (6, 2), tol=0.0, callback=raising),
        lambda: orthopt.path("l0-pca", "randn:60:40:1", 3, effort="thorough", callback=raising),
        lambda: orthopt.bound("l0-pca", "randn:60:40:1", 3, 5.0, callback=raising),
    ]
    for call in calls:
        with pytest.raises(Mine, match="here"):
            call()
    assert np.isfinite(orthopt.solve("l0-pca", table, 2, 5.0).objective)  # nothing is left locked


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda x: None, errors.DataTypeError),
        (lambda x: (1.0,), errors.DataTypeError),
        (lambda x: ("a", x), errors.DataTypeError),
        (lambda x: (1j, x), errors.DataTypeError),
        (lambda x: (1.0, x[:1]), errors.ShapeError),
        (lambda x: (1.0, x + 1j), errors.DataTypeError),
        (lambda x: (1.0, [["a", "b"]] * 6), errors.DataTypeError),
    ],
)
def test_functions_that_answer_nonsense(answer, error):
    with pytest.raises(error):
        orthopt.minimize(answer, (6, 2), max_iters=5)


@pytest.mark.parametrize("solver", ["auto", "optm-cayley", "irpg", "oadmm", "obcd-majorised", "ladmm"])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: (np.nan, x), r"f\(X\) that fun returned is NaN at the starting point"),
        (lambda x: (np.inf, x), r"f\(X\) that fun returned is inf at the starting point"),
        (lambda x: (1.0, np.nan * x), r"the gradient that fun returned is NaN in row 1, column 1 \(counted from 1\) at the starting point"),
    ],
)
def test_functions_without_a_value(answer, said, solver):
    """There is no X with a finite F, or none that a run could leave: an error, never a solution with F = NaN."""
    with pytest.raises(errors.NotFiniteError, match=said):
        orthopt.minimize(answer, (6, 2), solver=solver, max_iters=50)


def test_functions_that_break_later():
    """What was found until then is kept, with a status and a warning that name what broke."""
    c = np.diag(np.arange(1.0, 9.0))
    start = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 2)))[0]

    def value(x):
        f = -0.5 * float(np.sum(x * (c @ x)))
        return (f if f > -6 else np.nan), -c @ x

    def gradient(x):
        f = -0.5 * float(np.sum(x * (c @ x)))
        return f, (-c @ x if f > -6 else np.full(x.shape, np.nan))

    for fun, words in ((value, "fun returned NaN as f.X. "), (gradient, "fun returned a gradient with NaN or infinite entries ")):
        with pytest.warns(RuntimeWarning, match=words):
            found = orthopt.minimize(fun, start)
        assert found.status == "numerical_error" and "kink" not in found.message
        assert np.isfinite(found.objective) and found.objective < value(start)[0] and found.feasibility < 1e-12


def test_functions_that_keep_or_change_their_argument():
    kept = []

    def fun(x):
        kept.append(x)
        gradient = 2.0 * x * np.arange(6)[:, None]
        value = float(np.sum(x * x * np.arange(6)[:, None]))
        x[:] = np.nan
        return value, gradient

    found = orthopt.minimize(fun, (6, 2), max_iters=200)
    assert np.isfinite(found.X).all() and found.objective == pytest.approx(1.0, abs=1e-6) and len(kept) > 2


def test_threads_solve_at_once(table):
    def objective(seed):
        return orthopt.solve("l0-pca", table, 3, 2.0, seed=seed, restarts=0, max_iters=2000, init="random").objective

    results, alone = {}, {seed: objective(seed) for seed in range(4)}

    def work(seed):
        results[seed] = [objective(seed) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in alone]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == {seed: [value] * 5 for seed, value in alone.items()}


def _child(queue):
    queue.put(orthopt.solve("l0-pca", "randn:60:40:1", 3, 5.0, max_iters=500).objective)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    here = orthopt.solve("l0-pca", "randn:60:40:1", 3, 5.0, max_iters=500).objective
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=_child, args=(queue,)) for _ in range(2)]
    [child.start() for child in children]
    try:
        assert [queue.get(timeout=120) for _ in children] == [here, here]
        [child.join(120) for child in children]
        assert [child.exitcode for child in children] == [0, 0]
    finally:
        [child.kill() for child in children]


ENDING = """
import sys, threading, time
import numpy as np, orthopt

begun = threading.Event()
def callback(*_):
    begun.set()
def fun(x):
    begun.set()
    return -0.5 * float(np.sum(x * x * np.arange(len(x))[:, None])), -x * np.arange(len(x))[:, None]

def work():
    if sys.argv[1] == "solve":
        orthopt.solve("l0-pca", "randn:300:600:1", 10, 1.0, time_limit=600, callback=callback)
    elif sys.argv[1] == "bound":
        begun.set()
        orthopt.bound("l0-pca", "randn:100:60:1", 5, 1.0, time_limit=600)
    else:
        while True:
            orthopt.minimize(fun, (200, 5), tol=0.0, max_iters=100000, penalty="l1", lam=1.0)

threading.Thread(target=work, daemon=True).start()
assert begun.wait(60)
time.sleep(0.3)
print("ending")
if sys.argv[2] == "raise":
    raise SystemExit(7)
"""


@pytest.mark.parametrize("what", ["solve", "bound", "minimize"])
@pytest.mark.parametrize("how", ["end", "raise"])
def test_the_interpreter_ends_during_a_run(what, how):
    """A daemon thread is in the middle of a run: the process ends by itself, without a crash."""
    done = subprocess.run(
        [sys.executable, "-c", ENDING, what, how],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "RUST_BACKTRACE": "1"},
    )
    assert done.stdout.strip() == "ending", done.stderr
    assert done.returncode == (7 if how == "raise" else 0), (done.returncode, done.stderr)
    assert "panicked" not in done.stderr and "Fatal" not in done.stderr, done.stderr


def test_checks_after_a_run_keep_its_limit():
    """What there is no time for is ``None``; small X are checked in any case."""
    for n, measured in [(6, True), (600, False)]:
        samples = np.random.default_rng(1).standard_normal((20, n))
        s = orthopt.solve("pca", samples, rank=n, time_limit=0.0, certify=True)
        assert s.status in ("time_limit", "converged") and s.feasibility <= 1e-10
        assert (s.criticality is not None) == measured
        assert (s.certificate is not None) == measured
