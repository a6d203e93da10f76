"""Threads in workers of joblib and under limits of threadpoolctl: one for each worker, unless the call says otherwise."""

import numpy as np
import pytest

joblib = pytest.importorskip("joblib")
threadpoolctl = pytest.importorskip("threadpoolctl")

import orthopt
from orthopt import _threads
from orthopt._options import fill

X = np.random.default_rng(1).normal(size=(60, 12))


def chosen(**options):
    """The threads of a call, and what it finds with them."""
    found = orthopt.solve("l0-pca", X, 2, nonzeros=3, effort="quick", seed=1, max_iters=2000)
    return fill(options, "solve")["options"].get("threads"), found.X


def nested():
    return joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(chosen)() for _ in range(2))


@pytest.fixture(autouse=True)
def four_cores(monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda: 4)
    with threadpoolctl.threadpool_limits(limits=4):
        yield


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_worker_of_joblib_has_one_thread(backend):
    alone = orthopt.solve("l0-pca", X, 2, nonzeros=3, effort="quick", seed=1, max_iters=2000).X
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(chosen)(**options) for options in ({}, {}, {"threads": 3}))
    assert [threads for threads, _ in found] == [1, 1, 3]
    for _, x in found:
        np.testing.assert_array_equal(x, alone)
    assert fill({}, "solve")["options"].get("threads") is None, "and outside of them all cores"


def test_estimators_in_a_search_over_a_grid():
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV

    def scores(n_jobs):
        estimator = orthopt.SparsePCA(2, effort="quick", max_iter=2000, random_state=0, certify=False)
        return GridSearchCV(estimator, {"nonzeros": [2, 4]}, cv=2, n_jobs=n_jobs).fit(X).cv_results_["mean_test_score"]

    np.testing.assert_array_equal(scores(2), scores(None))


def test_limits_of_threadpoolctl_are_kept():
    with threadpoolctl.threadpool_limits(limits=2):
        assert chosen()[0] == 2 and chosen(threads=3)[0] == 3
        with threadpoolctl.threadpool_limits(limits=1):
            assert chosen()[0] == 1
    with threadpoolctl.threadpool_limits(limits=4):
        assert chosen()[0] is None


def test_calls_without_threads_are_given_none():
    with threadpoolctl.threadpool_limits(limits=1):
        assert "threads" not in fill({}, "minimize")["options"]
        c = X.T @ X
        found = orthopt.minimize(lambda x: (-0.5 * float(np.sum(x * (c @ x))), -c @ x), (12, 2), max_iters=20)
        assert found.X.shape == (12, 2)
