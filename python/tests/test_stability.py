"""Halves of the rows: planted loadings are nearly always there, and what has no halves is refused."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import orthopt
from orthopt import errors

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(3)
FACTORS = RNG.normal(size=(80, 2))
X = np.hstack([1.5 * FACTORS[:, [0, 0, 0]], 1.2 * FACTORS[:, [1, 1, 1]], np.zeros((80, 4))]) + RNG.normal(size=(80, 10))
OPTIONS = {"scale": "std", "nonzeros": 3}


def same(one, other):
    for name in ("frequency", "simultaneous", "low", "high", "cosine", "used", "selected"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_planted_loadings_are_there():
    s = orthopt.stability("l0-pca", X, 2, n_pairs=12, **OPTIONS)
    assert (s.pairs, s.requested, s.failed) == (12, 12, 0)
    planted = np.zeros((10, 2), bool)
    planted[:3, 0] = planted[3:6, 1] = True
    assert (s.frequency[planted] >= 0.9).all() and (s.frequency[~planted] <= 0.3).all()
    assert (s.low <= s.high).all() and (s.simultaneous <= s.frequency).all() and (s.cosine > 0.9).all()
    np.testing.assert_allclose(s.expected_false(0.9), 9 / (0.8 * 10))
    np.testing.assert_allclose(s.expected_false_together(0.75), s.used.sum() ** 2 / (0.5 * 10))
    for threshold in (0.5, 1.1, float("nan")):
        with pytest.raises(errors.InvalidOptionError, match="threshold"):
            s.expected_false(threshold)
    # the components are those of solve
    np.testing.assert_array_equal(s.X, orthopt.solve("l0-pca", X, 2, **OPTIONS).X)
    assert s.solution.nnz == 6 and "component" in str(s) and "12 pairs" in repr(s)


def test_threads_change_nothing():
    same(*(orthopt.stability("l0-pca", X, 2, n_pairs=6, threads=t, **OPTIONS) for t in (1, 2)))


def test_kinds_of_data_agree():
    s = orthopt.stability("l0-pca", X, 2, n_pairs=6, center=True, nonzeros=3)
    for data in (np.asfortranarray(X), sp.csc_array(X), pd.DataFrame(X)):
        other = orthopt.stability("l0-pca", data, 2, n_pairs=6, center=True, nonzeros=3)
        np.testing.assert_array_equal(s.frequency, other.frequency)
        np.testing.assert_allclose(s.low, other.low, atol=1e-6)
    other = orthopt.stability("l0-pca", X, 2, n_pairs=6, center=True, nonzeros=3, weights=np.ones(80))
    np.testing.assert_array_equal(s.frequency, other.frequency)


def test_the_command_finds_the_same(tmp_path, cli):
    np.save(tmp_path / "x.npy", X)
    words = ["solve", "l0-pca", tmp_path / "x.npy", "-r", 2, "--scale", "std", "--nonzeros", 3, "--stability", 5, "-q"]
    told = json.loads(cli(*words, "--json", "-"))["stability"]
    s = orthopt.stability("l0-pca", X, 2, n_pairs=5, **OPTIONS)
    for name in ("frequency", "low", "high", "cosine", "used"):
        np.testing.assert_array_equal(getattr(s, name), np.array(told[name]))


def test_an_estimator_has_its_options():
    pytest.importorskip("sklearn")
    fitted = orthopt.SparsePCA(2, nonzeros=3).fit(pd.DataFrame(X, columns=list("abcdefghij")))
    s = orthopt.stability(fitted, pd.DataFrame(X, columns=list("abcdefghij")), n_pairs=5)
    options = {"nonzeros": 3, "maximise": "adjusted", "center": True, "n_pairs": 5}
    same(s, orthopt.stability("l0-pca", X, 2, **options, seed=fitted.solution_.seed))
    np.testing.assert_array_equal(s.X.T, fitted.components_)
    assert s.solution is None and s.feature_names[0] == "a"
    with pytest.raises(errors.InvalidOptionError, match="parameter of the estimator"):
        orthopt.stability(fitted, X, nonzeros=2)
    with pytest.raises(errors.InvalidOptionError, match="fitted to 10 columns"):
        orthopt.stability(fitted, X[:, :9])


def test_what_has_no_halves_is_refused():
    for data, options, words in [
        (X[:3], {}, "at least 4 rows"),
        (X.T @ X, {"gram": True}, "only C is there"),
        (X, {"n_pairs": 0}, ">= 1"),
        (X, {"n_pairs": 2.5}, "n_pairs is 2.5"),
    ]:
        with pytest.raises(errors.OrthoptError, match=words):
            orthopt.stability("l0-pca", data, 2, nonzeros=3, **{"n_pairs": 3, **options})
    with pytest.raises(errors.OrthoptError, match="PCA problems"):
        orthopt.stability("hyperbolic-eig", X, signature=5, n_pairs=2)
    with pytest.raises(errors.OrthoptError, match="no pair"):
        orthopt.stability("l0-pca", X, 2, nonzeros=3, time_limit=0.0, n_pairs=2)


def test_a_callback_ends_the_halves():
    seen = []

    def enough(done, of):
        seen.append((done, of))
        return done >= 1

    s = orthopt.stability("l0-pca", X, 2, n_pairs=1_000_000, callback=enough, **OPTIONS)
    assert 1 <= s.pairs < s.requested == 1_000_000 and seen[-1][1] == 1_000_000
    with pytest.raises(ZeroDivisionError):
        orthopt.stability("l0-pca", X, 2, n_pairs=1_000_000, callback=lambda *_: 1 / 0, **OPTIONS)


def test_frame_and_picture():
    s = orthopt.stability("l0-pca", pd.DataFrame(X, columns=list("abcdefghij")), 2, n_pairs=4, **OPTIONS)
    frame = s.frame()
    assert list(frame.index) == list("abcdefghij") and frame.index.name == "variable"
    assert list(frame.columns[:4]) == ["PC1", "PC1_frequency", "PC1_low", "PC1_high"]
    np.testing.assert_array_equal(frame["PC2_frequency"], s.frequency[:, 1])
    pytest.importorskip("matplotlib")
    ax = s.plot()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert {"a", "b", "c", "d", "e", "f"} <= set(names) and len(ax.patches) == 6
