"""Paths along numbers of nonzeros and along lambda."""

import json
import subprocess

import numpy as np
import pytest

import orthopt
from orthopt.errors import InvalidOptionError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    factors = rng.normal(size=(60, 2))
    loadings = np.zeros((2, 12))
    loadings[0, :4], loadings[1, 4:8] = 2.0, 1.5
    return factors @ loadings + rng.normal(size=(60, 12))


def test_more_nonzeros_never_explain_less(data):
    found = orthopt.path("l0-pca", data, 2, counts=[8, 2, 4, 2, 12], center=True)
    assert found.at.tolist() == [2, 4, 8, 12] and len(found) == 4
    assert np.all(np.diff([s.objective for s in found]) <= 1e-9)
    assert np.all(np.diff(found.maximised) >= -1e-9)
    assert found.maximised.tolist() == [s.explained_variance.total for s in found]
    for count, one in zip(found.at, found):
        assert one.nnz_per_component.max() <= count
        assert one.feasibility < 1e-12
    assert found.at[found.chosen] == 4  # both factors have four variables
    assert found.best is found[found.chosen] and not found.interrupted
    assert found.held_out is None
    assert "*         4" in str(found)


def test_of_lambda_no_point_is_worse_than_the_x_of_another(data):
    found = orthopt.path("l1-pca", data, 2, lams=[1.0, 30.0, 5.0], center=True)
    assert found.along == "lambda" and found.at.tolist() == [30.0, 5.0, 1.0]
    for lam, one in zip(found.at, found):
        assert one.lam == lam
        for other in found:
            value = other.smooth + lam * np.abs(other.X).sum()
            assert one.objective <= value + 1e-7 * (1 + abs(value))


def test_cross_validation_chooses_what_holds_for_other_rows(data):
    found = orthopt.path("l0-pca", data, 2, counts=[1, 2, 4, 12], center=True, cv=4)
    assert found.held_out.shape == found.held_out_error.shape == (4,)
    best = found.held_out.argmax()
    enough = found.held_out[best] - found.held_out_error[best]
    assert found.chosen == int(np.argmax(found.held_out >= enough))
    assert np.all(found.held_out < found.explained_variance + 0.1)


def test_bounds_are_below_and_rise_along_the_path(data):
    found = orthopt.path("l0-pca", data, 2, counts=[2, 4, 8], center=True, bound=1)
    for one in found:
        assert one.bound <= one.objective + 1e-9 and one.gap >= 0
    assert np.all(np.diff([s.bound for s in found]) <= 1e-9)
    assert np.all(found.variance_bound >= found.maximised - 1e-9)
    variance = orthopt.path("l0-pca", data, 2, counts=[2, 4, 8], center=True, bound=1, maximise="variance")
    assert variance.maximised.tolist() == variance.explained_variance.tolist()
    for found in (found, variance):
        for one, most, share in zip(found, found.variance_bound, found.maximised):
            if one.proof == "optimal":
                assert most == pytest.approx(share, rel=2e-6)


def test_a_bound_of_the_variance_counts_the_penalty(data):
    found = orthopt.path("l1-pca", data, 2, lams=[20.0, 5.0], center=True, bound=1)
    total = np.sum((data - data.mean(axis=0)) ** 2)
    for one, most in zip(found, found.variance_bound):
        assert most == pytest.approx(2 * (one.lam * np.abs(one.X).sum() - one.bound) / total, rel=1e-9)
    assert np.isnan(orthopt.path("l1-pca", data, 2, lams=[20.0], center=True).variance_bound).all()


def test_a_callback_ends_it():
    seen = []

    def stop(point, of):
        seen.append((point, of))
        return True

    found = orthopt.path("l0-pca", "randn:200:300", 5, counts=[5, 10, 20, 40], callback=stop)
    assert found.interrupted and 1 <= len(found) < 4
    assert seen[0][1] == 4
    assert found.best.feasibility < 1e-10


def test_one_point_is_refused(data):
    with pytest.raises(InvalidOptionError, match="counts or lams"):
        orthopt.path("l0-pca", data, 2, nonzeros=3)
    with pytest.raises(InvalidOptionError, match="not both"):
        orthopt.path("l0-pca", data, 2, counts=[1], lams=[1.0])
    with pytest.raises(ValueError, match="cv"):
        orthopt.path("l0-pca", data, 2, counts=[1], cv=1)


def test_plot(data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = orthopt.path("l0-pca", data, 2, counts=[2, 4, 8], center=True).plot()
    assert axes.get_ylabel() == "% of the variance, together" and len(axes.lines) == 2
    with_bounds = orthopt.path("l0-pca", data, 1, counts=[2, 4], center=True, bound=1).plot()
    assert [line.get_label() for line in with_bounds.lines[:2]] == ["together", "bound"]
    of_variance = orthopt.path("l0-pca", data, 2, counts=[2, 4], center=True, maximise="variance").plot()
    assert [line.get_label() for line in of_variance.lines[:2]] == ["together", "projected"]


def test_without_a_weight_the_count_is_chosen(data):
    found = orthopt.solve("l0-pca", data, 2, center=True)
    assert found.lam is None and found.nnz_per_component.tolist() == [4, 4]
    assert any("knee" in reason for reason in found.reasons)
    again = orthopt.solve("l0-pca", data, 2, center=True, nonzeros="auto")
    assert np.array_equal(found.X, again.X)
    weighed = orthopt.solve("l0-pca", data, 2, center=True, solver="obcd")
    assert weighed.lam > 0
    relative = orthopt.solve("l0-pca", data, 2, center=True, relative_lam=1.01)
    assert relative.nnz_per_component.tolist() == [1, 1]
    with pytest.raises(InvalidOptionError, match="auto"):
        orthopt.solve("l0-pca", data, 2, nonzeros="some")
    estimator = orthopt.SparsePCA(2, nonzeros="auto", random_state=0).fit(data)
    assert (estimator.components_ != 0).sum(axis=1).tolist() == [4, 4]
    assert (orthopt.SparsePCA(2, random_state=0).fit(data).components_ == estimator.components_).all()
