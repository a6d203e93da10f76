"""Interruption, callbacks, logging, threads, comparison, certificates, what Solution says."""

import logging
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import orthopt
from orthopt import errors
from orthopt._progress import bar_for

LONG = {"restarts": 10**9, "time_limit": 60, "tol": 0.0}


def test_ctrl_c_returns_the_best_so_far():
    threading.Timer(0.7, signal.raise_signal, [signal.SIGINT]).start()
    s = orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, **LONG)
    assert s.status == "interrupted" and s.feasibility < 1e-12 and s.iterations > 0


def test_the_printed_probe_is_a_check_of_feasibility():
    """With X applied before the map f is the same for all X with X'JX = J."""
    rows = np.random.default_rng(1).normal(size=(20, 6))
    runs = [
        orthopt.solve("probe", rows, signature=3, placement="before", solver="gs-jobcd", init=init, restarts=0).objective
        for init in ("identity", "random")
    ]
    assert runs[0] == pytest.approx(runs[1], rel=1e-10)
    after = orthopt.solve("probe", rows, signature=3, solver="gs-jobcd", init="random", restarts=0, max_iters=1)
    assert after.objective != pytest.approx(runs[0], rel=1e-4)
    with pytest.raises(errors.OrthoptError, match="before"):
        orthopt.solve("probe", rows, signature=3, placement="between")


def test_variables_have_a_price():
    """With ``variables`` lam weighs variables, not nonzeros."""
    s = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.15, variables=13)
    used = int((np.abs(s.X) > 0).any(axis=1).sum())
    assert 3 <= used < 13 and s.nonsmooth == pytest.approx(0.15 * used)


def test_ctrl_c_ends_a_comparison():
    threading.Timer(0.7, signal.raise_signal, [signal.SIGINT]).start()
    c = orthopt.compare("l0-pca", "randn:300:400:1", 10, 5.0, solvers=["obcd", "ladmm", "soc"], **LONG)
    assert 1 <= len(c) < 3 and c[-1].status == "interrupted"


def test_ctrl_c_can_raise_with_the_best_so_far():
    threading.Timer(0.7, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(orthopt.errors.Interrupted) as caught:
        for _ in range(100):  # the loop ends, too
            orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, on_interrupt="raise", **LONG)
    s = caught.value.result
    assert isinstance(caught.value, KeyboardInterrupt)
    assert s.status == "interrupted" and s.feasibility < 1e-12
    # a callback that ends a run is no interruption
    s = orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, callback=lambda now: True, on_interrupt="raise", **LONG)
    assert s.status == "interrupted"
    with pytest.raises(ValueError, match="on_interrupt"):
        orthopt.solve("l0-pca", "builtin:pitprops", on_interrupt="stop")


def test_ctrl_c_can_raise_from_fit():
    sklearn = pytest.importorskip("orthopt._estimators")
    X = np.random.default_rng(0).standard_normal((300, 400))
    pca = sklearn.SparsePCA(10, alpha=0.01, restarts=10**9, time_limit=60, tol=0.0, on_interrupt="raise")
    threading.Timer(0.7, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        pca.fit(X)
    assert caught.value.result is pca and pca.status_ == "interrupted"


def test_ctrl_c_from_a_terminal():
    """A real SIGINT to a real process."""
    code = (
        "import orthopt; print('ready', flush=True); "
        "s = orthopt.solve('l0-pca', 'randn:300:400:1', 10, 5.0, restarts=10**9, time_limit=60, tol=0.0); "
        "print(s.status)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "ready"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate()
    assert process.returncode == 0 and rest.strip() == "interrupted"


def idle():
    """Whether no thread of this process works any more."""
    before = time.process_time()
    time.sleep(0.5)
    return time.process_time() - before < 0.25


def test_ctrl_c_ends_a_check():
    """X has eight million pairs, a minute of work; nothing goes on in the background."""
    x = np.linalg.qr(np.random.default_rng(1).standard_normal((4000, 30)))[0]
    for _ in range(2):
        threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            orthopt.certify("l1-pca", "randn:40:4000:1", x, 1.0)
        assert idle()


def test_ctrl_c_ends_the_check_of_a_solution():
    threading.Timer(1.5, signal.raise_signal, [signal.SIGINT]).start()
    s = orthopt.solve("l1-pca", "randn:40:4000:1", 30, 1.0, init="random", max_iters=100, certify=True)
    found = s.certificate
    assert s.feasibility < 1e-12 and s.iterations <= 100
    assert found is None or (found.pairs_checked < found.pairs_total and not found.holds)
    assert idle()


def test_other_signals_raise():
    class Timeout(Exception):
        pass

    def handler(*_):
        raise Timeout

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(Timeout):
            orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, **LONG)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_other_threads_go_on():
    """The interpreter is free while a solver runs."""
    done, ticks = [], 0

    def work():
        # ends before its time limit only if the other thread has counted meanwhile
        stop = lambda now: ticks >= 20  # noqa: E731
        done.append(orthopt.solve("l0-pca", "randn:200:300:1", 10, 5.0, callback=stop, **LONG))

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        time.sleep(0.01)
        ticks += 1
    assert done[0].status == "interrupted" and done[0].feasibility < 1e-12


def test_callback():
    seen = []

    def callback(now):
        seen.append(now)
        return len(seen) == 3

    s = orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, callback=callback, **LONG)
    assert s.status == "interrupted" and len(seen) == 3
    assert seen[0].iteration <= seen[1].iteration and seen[-1].nnz > 0

    def broken(now):
        raise RuntimeError("in the callback")

    with pytest.raises(RuntimeError, match="in the callback"):
        orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, callback=broken, **LONG)


def test_progress_bar(capsys):
    pytest.importorskip("tqdm")
    orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, time_limit=0.6, progress=True)
    timed = capsys.readouterr().err
    assert "of 0.6 s, best F = -" in timed and "iterations/s" in timed
    orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, max_iters=2000, progress=True)
    assert "/2.00k [" in capsys.readouterr().err


def test_progress_bar_keeps_the_lowest(capsys):
    pytest.importorskip("tqdm")
    with bar_for(True, {"options": {"max_iters": None}}) as show:
        for k, objective in enumerate((-1.0, -3.0, -2.0, float("nan"))):
            show(orthopt.Progress(10 * k, 0.1 * k, objective, 0.0, 5))
    last = capsys.readouterr().err.split("\r")[-1]
    assert "best F = -3, 5 nonzeros" in last and "30.0 iterations" in last


def test_logging(caplog):
    with caplog.at_level(logging.INFO, logger="orthopt"):
        orthopt.solve("pca", "builtin:pitprops", 2, restarts=0)
    ended = [r for r in caplog.records if r.name == "orthopt" and "ended" in r.getMessage()]
    assert ended and ended[0].levelno == logging.INFO
    assert "solver=spectral" in ended[0].getMessage() and "status=" in ended[0].getMessage()
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="orthopt"):
        orthopt.solve("pca", "builtin:pitprops", 2, restarts=0)
    assert not caplog.records


def _in_a_child(queue):
    queue.put(orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, max_iters=2000).objective)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork():
    here = orthopt.solve("l0-pca", "randn:300:400:1", 10, 5.0, max_iters=2000).objective
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_child, args=(queue,))
    child.start()
    try:
        assert queue.get() == here
    finally:
        child.kill()


def test_compare():
    c = orthopt.compare("l1-pca", "builtin:pitprops", 3, 0.3, solvers="obcd, manpg,ladmm+obcd", max_iters=5000)
    assert [s.solver for s in c] == ["obcd", "manpg", "ladmm+obcd"]
    assert c["manpg"] is c[1] and c.best.objective == min(s.objective for s in c)
    assert "manpg" in repr(c) and c[0].certificate is not None and c[0].criticality is not None
    with pytest.raises(errors.UnknownNameError):
        orthopt.compare("l1-pca", "builtin:pitprops", solvers=["obcd", "nope"])
    with pytest.raises(errors.InvalidOptionError):
        orthopt.compare("l1-pca", "builtin:pitprops", solver="obcd")
    everything = orthopt.compare("l1-pca", "builtin:pitprops", 2, 0.3, max_iters=100)
    assert everything[0].solver == "auto" and len(everything) > 3  # the search and its arms, as in the command
    assert len({s.solver for s in everything}) == len(everything)


def test_certify_finds_what_is_wrong():
    s = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1)
    good = orthopt.certify("l0-pca", "builtin:pitprops", s.X, 0.1)
    assert good.certificate.holds and good.objective == pytest.approx(s.objective, abs=1e-12)
    poor = orthopt.certify("l0-pca", "builtin:pitprops", np.eye(13)[:, :3], 0.01)
    assert not poor.certificate.holds and "not block-2 stationary" in str(poor.certificate)
    sample = orthopt.certify("l0-pca", "builtin:pitprops", s.X, 0.1, pairs=20)
    assert not sample.certificate.complete and "sample" in str(sample.certificate)
    with pytest.raises(errors.ShapeError):
        orthopt.certify("l0-pca", "builtin:pitprops", s.X.T, 0.1)


def test_what_a_solution_says():
    s = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1)
    assert s.objective == pytest.approx(s.smooth + s.nonsmooth)
    assert s.nonsmooth == pytest.approx(0.1 * s.nnz)
    assert s.nnz_per_component.sum() == s.nnz
    assert s.components.shape == (3, 13)
    assert len(s.trace) > 1 and np.all(np.diff(s.trace.objective) <= 1e-9)
    assert s.explained_variance.total == pytest.approx(s.explained_variance.adjusted.sum())
    again = pickle.loads(pickle.dumps(s))
    np.testing.assert_array_equal(again.X, s.X)
    assert s.reasons and "l0-pca" in repr(s)


def test_every_problem_and_solver_of_the_registry():
    names = orthopt.registry("problems")
    for problem in names:
        data = np.random.default_rng(1).normal(size=(30, 8))
        beside = {"target": data[:, :2]} if problem == "procrustes" else {}
        s = orthopt.solve(problem, data, max_iters=300, time_limit=5, **beside)
        assert s.problem == problem and np.isfinite(s.objective), problem
    known = orthopt.registry("solvers")
    assert {"auto", "obcd", "manpg", "gs-jobcd"} <= set(known)


def test_hyperbolic_optimum():
    data = np.random.default_rng(1).normal(size=(60, 10))
    s = orthopt.solve("hyperbolic-eig", data, signature=[1, -1] * 5)
    c = data.T @ data / 60
    known = np.abs(np.linalg.eigvals(np.diag([1.0, -1.0] * 5) @ c)).sum()
    assert s.optimum == pytest.approx(known) and s.objective == pytest.approx(known, rel=1e-6)


def test_extras_are_optional():
    """The package works without scikit-learn, matplotlib and tqdm, and says what is missing."""
    code = """
import sys
for name in ("sklearn", "matplotlib", "matplotlib.pyplot", "tqdm", "tqdm.auto"):
    sys.modules[name] = None
import orthopt
s = orthopt.solve("pca", "builtin:pitprops", 2)
for action in (lambda: orthopt.SparsePCA, lambda: s.plot(), lambda: orthopt.solve("pca", "builtin:pitprops", 2, progress=True)):
    try:
        action()
    except ImportError as error:
        assert "pip install" in str(error), error
    else:
        raise SystemExit("no error")
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "fine", done.stderr


def test_problems_with_a_concave_part_a_map_or_a_linear_term():
    a = np.random.default_rng(5).standard_normal((30, 12))
    sparse = orthopt.solve("dc-pca", a, rank=2, k=6, lam=1.0, effort="quick")
    assert sparse.nnz <= 6
    smooth = orthopt.solve("pca", a, rank=2, penalty="l1", lam=0.5, map="differences", max_iters=200)
    same = orthopt.solve(
        "pca", a, rank=2, penalty="l1", lam=0.5, map=np.diff(np.eye(12), axis=0), max_iters=200
    )
    assert smooth.objective == pytest.approx(same.objective, rel=1e-6)
    e = np.ones((40, 2))
    tilted = orthopt.solve("nonlinear-eig", "laplace:40", rank=2, lam=1.0, linear=e, max_iters=500)
    plain = orthopt.solve("nonlinear-eig", "laplace:40", rank=2, lam=1.0, max_iters=500)
    assert tilted.objective < plain.objective
