"""Global bounds: what they say, what proves them, how they end."""

import signal
import threading

import numpy as np
import pytest

import orthopt
from orthopt import errors


def test_golden_values_are_proved():
    for rank, lam, known in [(2, 0.1, -2.039095), (2, 0.2, -1.244077), (3, 0.1, -2.636819401)]:
        b = orthopt.bound("l0-pca", "builtin:pitprops", rank, lam)
        assert (b.proof, b.status) == ("optimal", "optimal") and b.gap <= 1e-9
        assert abs(b.bound - known) <= 1e-6 and b.objective >= b.bound - 1e-12
        assert "global minimum" in str(b) and b.solution.objective == pytest.approx(b.objective, abs=1e-12)


def independent_bound(C, Z, r, lam, nonnegative):
    """The check of the documentation: any Z that is allowed proves a bound."""
    assert np.array_equal(Z, Z.T)
    assert Z.max() <= 0 if nonnegative else np.abs(Z).max() <= lam
    return -np.linalg.eigvalsh(C / 2 - Z)[-r:].sum()


@pytest.mark.parametrize("problem, lam", [("l0-pca", 4.0), ("l0-pca", 0.5), ("nonneg-pca", None), ("pca", None)])
def test_the_dual_matrix_proves_the_bound(samples, problem, lam):
    C, r = samples.T @ samples, 3
    b = orthopt.bound(problem, samples, r, lam, nodes=0, dual=True)
    assert np.allclose(b.dual["C"], C, rtol=1e-12) and np.isnan(b.dual["K"])
    assert (b.dual["rank"], b.dual["lam"], b.dual["method"]) == (r, lam or 0.0, "fantope")
    assert (b.dual["bound"], b.dual["relaxation"], b.dual["objective"]) == (b.bound, b.relaxation, b.objective)
    again = independent_bound(b.dual["C"], b.dual["Z"], r, lam or 0.0, problem == "nonneg-pca")
    assert b.method == "fantope" and b.bound == b.relaxation
    assert again == pytest.approx(b.bound, rel=1e-9)
    assert b.bound <= again + 1e-12 * abs(again)
    # and no feasible X is below it
    rng = np.random.default_rng(5)
    for _ in range(200):
        X = np.linalg.qr(rng.normal(size=(12, r)))[0]
        if problem == "nonneg-pca":  # disjoint supports
            X = np.zeros((12, r))
            X[np.arange(12), rng.permutation(np.arange(12) % r)] = rng.uniform(0.1, 1.0, 12)
            X /= np.linalg.norm(X, axis=0)
        assert -np.trace(X.T @ C @ X) / 2 + (lam or 0.0) * np.count_nonzero(X) * (problem == "l0-pca") >= again


@pytest.mark.parametrize(
    "limits, lam, weight, K",
    [
        ({"total_nonzeros": 8}, 0.5, 0.5, 8),
        ({"nonzeros": [2, 3, 4]}, 0.0, 0.0, 9),
        ({"variables": 6}, 0.5, 0.5 / 3**0.5, 6 * 3**0.5),
    ],
)
def test_the_numbers_beside_a_dual_matrix(samples, limits, lam, weight, K):
    dual = orthopt.bound("l0-pca", samples, 3, lam, **limits, maximise="variance", nodes=0, dual=True).dual
    assert (dual["lam"], dual["K"]) == (pytest.approx(weight, rel=1e-12), pytest.approx(K, rel=1e-12))
    mu = max(np.abs(dual["Z"]).max() - dual["lam"], 0.0)
    assert dual["constant"] == pytest.approx(mu * dual["K"], rel=1e-9, abs=1e-12)
    proved = -np.linalg.eigvalsh(dual["C"] / 2 - dual["Z"])[-3:].sum() - dual["constant"]
    assert dual["relaxation"] == pytest.approx(proved, rel=1e-9)


def test_a_given_x_is_the_incumbent(samples):
    s = orthopt.solve("l0-pca", samples, 2, 4.0)
    b = orthopt.bound("l0-pca", samples, lam=4.0, X=s.X, time_limit=20)
    assert b.solution is None and b.rank == 2
    assert b.objective <= s.objective + 1e-12 * abs(s.objective) and b.bound <= b.objective
    assert len(b.trace) and b.trace.bound[-1] == b.bound and (np.diff(b.trace.seconds) >= 0).all()


def test_a_bound_improves_on_a_bad_x():
    X = np.eye(13)[:, :2]
    b = orthopt.bound("l0-pca", "builtin:pitprops", lam=0.2, X=X)
    assert b.proof == "optimal" and not np.array_equal(b.X, X)
    assert np.linalg.norm(b.X.T @ b.X - np.eye(2)) < 1e-12


def test_problems_without_a_bound_say_so(samples):
    for problem, options in [("hyperbolic-eig", {}), ("l0-pca", {"penalty": "mcp"}), ("l1-pca", {"penalty": "elastic-net"})]:
        with pytest.raises(errors.OrthoptError, match="no bound"):
            orthopt.bound(problem, samples, **options, max_iters=10)
    with pytest.raises(errors.InvalidOptionError, match="time_limit"):
        orthopt.bound("l0-pca", samples, 2, 1.0, time_limit=-1)


def test_solve_and_estimators_have_bounds(samples):
    s = orthopt.solve("l0-pca", "builtin:pitprops", 2, 0.2, bound=True)
    assert s.proof == s.status == "optimal" and s.gap <= 1e-9 and s.bound <= s.objective
    plain = orthopt.solve("l0-pca", "builtin:pitprops", 2, 0.2)  # a search proves what costs little
    assert (plain.proof, plain.objective) == ("optimal", s.objective)
    counted = orthopt.solve("l0-pca", "builtin:pitprops", 2, 0.2, max_iters=2000)
    assert (counted.bound, counted.gap, counted.proof) == (None, None, None)
    pytest.importorskip("sklearn")
    pca = orthopt.NonnegativePCA(2, bound=20, random_state=0).fit(samples)
    assert 0 <= pca.gap_ <= 1e-9 and pca.bound_ <= pca.objective_
    pca = orthopt.SparsePCA(2, random_state=0, bound=1.0).fit(samples)
    assert pca.gap_ >= 0 and pca.bound_ == pca.solution_.bound
    found = orthopt.SparsePCA(2, random_state=0, maximise="variance").fit(samples)  # the search proves it
    assert found.status_ == "optimal" and abs(found.gap_) <= 1e-9
    assert orthopt.SparsePCA(2, penalty="l1", random_state=0).fit(samples).gap_ is None


def test_a_bound_that_cannot_be_computed_loses_no_components():
    wide = np.random.default_rng(0).normal(size=(20, 2000))
    with pytest.warns(errors.OrthoptWarning, match="the bound of F over .* of 2000 variables"):
        s = orthopt.solve("l0-pca", wide, 2, nonzeros=2, bound=1, max_memory="5M", effort="quick")
    assert s.bound is None and (s.nnz_per_component == 2).all()


def test_a_callback_ends_the_run_and_not_the_bound():
    s = orthopt.solve("l0-pca", "builtin:pitprops", 2, 0.2, bound=5, effort="thorough", callback=lambda now: True)
    assert s.bound is not None and s.bound <= s.objective


LONG = ["l0-pca", "randn:60:60:1", 4, 4.0]


def test_ctrl_c_keeps_the_bound():
    X = orthopt.solve(*LONG, max_iters=1000).X
    threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
    b = orthopt.bound(LONG[0], LONG[1], lam=LONG[3], X=X, time_limit=300)
    assert b.status == "interrupted" and np.isfinite(b.bound) and b.gap > 0


def test_ctrl_c_while_a_solution_is_bounded():
    threading.Timer(2.0, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(errors.Interrupted) as caught:
        orthopt.solve(*LONG, max_iters=1000, bound=60, on_interrupt="raise")
    s = caught.value.result
    assert np.isfinite(s.bound) and s.gap > 0 and s.status != "optimal"


def test_a_callback_sees_it_and_ends_it():
    seen = []
    b = orthopt.bound(*LONG, time_limit=300, callback=lambda now: seen.append(now) or len(seen) >= 3)
    assert b.status == "interrupted" and len(seen) == 3
    assert all(now.bound <= now.objective for now in seen)

    def broken(now):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        orthopt.bound(*LONG, time_limit=300, callback=broken)


def test_nodes_are_a_limit_without_a_clock():
    a, b = (orthopt.bound(*LONG, time_limit=600, nodes=20, threads=t, max_iters=2000) for t in (1, 2))
    assert (a.bound, a.nodes) == (b.bound, b.nodes) and a.status == "max_iters"


@pytest.mark.parametrize("n", [5, 19, 25])
@pytest.mark.parametrize("problem, lam", [("l0-pca", 0.15), ("l1-pca", 0.2), ("nonneg-pca", None), ("pca", None)])
def test_no_wrong_x_is_proved(problem, lam, n):
    A = np.random.default_rng(n).normal(size=(n + 5, n))
    A /= np.linalg.norm(A, axis=0)
    few = {"nodes": 50} if problem in ("l0-pca", "nonneg-pca") else {}  # the others do not branch
    for r in (1, 2):
        best = orthopt.solve(problem, A, r, lam, seed=1, max_iters=3000)
        bad = np.eye(n)[:, :r]
        b = orthopt.bound(problem, A, lam=lam, X=bad, time_limit=2, **few)
        lowest = min(best.objective, b.objective)
        assert b.bound <= lowest + 1e-9 * (1 + abs(lowest)) and np.isfinite(b.bound)
        if b.proof:
            assert b.gap <= 1e-9 and b.objective - lowest <= 2e-9 * abs(lowest)
        s = orthopt.solve(problem, A, r, lam, seed=1, max_iters=3000, bound=1.0)
        assert s.bound <= s.objective
        if s.status == "optimal":
            assert s.proof == "optimal" and s.gap <= 1e-9 and s.objective - lowest <= 2e-9 * abs(lowest)


def test_one_interruption_ends_the_whole_call():
    """The search for X and the bound are one call: Ctrl-C in the first of them ends both, with what there is."""
    big = np.random.default_rng(0).normal(size=(60, 40))
    threading.Timer(0.7, signal.raise_signal, [signal.SIGINT]).start()
    b = orthopt.bound("l0-pca", big, rank=3, nonzeros=6, maximise="variance", time_limit=60)
    assert b.status == "interrupted" and b.seconds < 30
    assert np.isfinite(b.objective) and b.bound <= b.objective + 1e-9


def test_memory_that_is_not_allowed():
    wide = np.random.default_rng(0).normal(size=(20, 2000))
    with pytest.raises(errors.OrthoptError, match="the bound of F over .* of 2000 variables"):
        orthopt.bound("l0-pca", wide, rank=2, nonzeros=2, time_limit=0.5, max_memory="5M")
