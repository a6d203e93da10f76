"""Pictures are drawn with what they should show."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
matplotlib.use("Agg")

import matplotlib.pyplot as plt
import matplotlib.text
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import orthopt
from orthopt import plots


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_convergence():
    s = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1, solver="obcd", restarts=0)
    ax = s.plot()
    np.testing.assert_array_equal(ax.lines[0].get_ydata()[:-1], s.trace.objective)
    c = orthopt.compare("l1-pca", "builtin:pitprops", 3, 0.3, solvers=["obcd", "manpg"], max_iters=500)
    ax = c.plot()
    assert ax.get_yscale() == "log" and len(ax.lines) == 2
    assert [t.get_text() for t in ax.figure.legends[0].get_texts()] == ["obcd", "manpg"]


def test_a_search_is_drawn_with_all_its_arms():
    s = orthopt.solve("l1-pca", "spiked:80:20:2:4:1", 3, scale="std", lam_share=0.1, seed=0, threads=1)
    arms = [arm for arm in s.arms if len(arm.seconds)]
    assert len(arms) >= 3 and min(arm.objective for arm in s.arms) >= s.objective
    ax = s.plot()
    assert len(ax.lines) == 1 + len(arms)
    best = next(line for line in ax.lines if line.get_label() == "best of all")
    above = best.get_ydata()[:-1] - (s.trace.objective - s.trace.objective.min())
    assert (above >= -1e-12).all() and (above <= 0.5 * ax.get_ylim()[0] + ax.get_ylim()[0]).all()
    others = [t.get_text() for t in ax.figure.legends[0].get_texts() if "other arm" in t.get_text()]
    assert others == ([f"{len(arms) - 5} other arms"] if len(arms) > 5 else [])


@pytest.mark.parametrize("problem", ["pca", "l0-pca"])
def test_no_frame_is_empty(problem):
    s = orthopt.solve(problem, "builtin:pitprops", 3, **({} if problem == "pca" else {"lam": 0.1, "solver": "obcd", "max_iters": 1}))
    ax = s.plot()
    drawn = [line for line in ax.lines if len(line.get_xdata()) and line.get_marker() not in (None, "None", "")]
    assert drawn and all(ax.get_xlim()[0] <= x <= ax.get_xlim()[1] for line in drawn for x in line.get_xdata())


def test_loadings():
    s = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1)
    axes = s.plot_loadings()
    assert [len(ax.patches) for ax in axes] == s.nnz_per_component.tolist()
    labels = [t.get_text() for t in axes[0].get_yticklabels()]
    assert set(labels) <= set(s.feature_names)
    ax = s.plot_loadings(kind="heatmap")
    used = np.flatnonzero(np.abs(s.X).max(axis=1))
    assert [t.get_text() for t in ax.get_yticklabels()] == [s.feature_names[i] for i in used]
    assert len(s.plot_loadings(top=2)[0].get_yticklabels()) == 2
    with pytest.raises(ValueError):
        s.plot_loadings(kind="pie")
    with pytest.raises(ValueError):
        plots.loadings(s.components, ["a"])


@pytest.fixture(scope="module")
def fitted():
    X = load_breast_cancer().data
    return X, orthopt.solve("l0-pca", X, 3, nonzeros=5, center=True, scale="std", seed=0)


def test_scores_and_biplot(fitted):
    X, s = fitted
    labels = load_breast_cancer().target
    ax = s.plot_scores(X, labels)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["0", "1"]
    shown = np.concatenate([c.get_offsets() for c in ax.collections])
    expected = s.transform(X)[:, :2]
    np.testing.assert_allclose(np.sort(shown, axis=0), np.sort(expected, axis=0))
    ax = s.plot_biplot(X, components=(0, 2))
    arrows = [t.get_text() for t in ax.texts if t.get_text()]
    assert len(arrows) == np.count_nonzero(np.hypot(s.X[:, 0], s.X[:, 2]))
    assert ax.get_ylabel() == f"score on PC3, {100 * s.explained_variance.adjusted[2]:.1f} % of the variance"
    with pytest.raises(ValueError, match="labels"):
        s.plot_scores(X, labels[:-1])
    with pytest.raises(ValueError, match="component 3"):
        s.plot_scores(X, components=(0, 3))


def test_scores_are_those_of_the_data(fitted):
    X, s = fitted
    prepared = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(s.transform(X), prepared @ s.X, atol=1e-9)
    with pytest.raises(ValueError, match="columns"):
        s.transform(X[:, :5])


def test_variance(fitted):
    _, s = fitted
    ax = s.plot_variance()
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights[:3], 100 * s.explained_variance.ratio)
    np.testing.assert_allclose(ax.lines[0].get_ydata()[-1], 100 * s.explained_variance.total)


def test_path():
    X = scale(load_breast_cancer().data)
    template = orthopt.SparsePCA(2, restarts=0, random_state=0, certify=False)
    points = plots.sparsity_path(X, [0.02, 0.1, 0.5], template)
    assert [p.nnz for p in points] == sorted((p.nnz for p in points), reverse=True)
    assert points[0].explained_variance_ratio > points[-1].explained_variance_ratio
    ax = plots.path(points)
    assert ax.lines[0].get_xdata().tolist() == sorted(p.nnz for p in points)


TABLES = ["iris", "wine", "breast_cancer", "digits"]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("components", [(0, 1), (1, 2)])
def test_a_biplot_has_all_arrows_inside_and_no_names_on_each_other(name, components):
    from sklearn import datasets

    table = getattr(datasets, f"load_{name}")()
    X = table.data[:, table.data.std(axis=0) > 0]
    names = [str(word) for word in table.feature_names][: X.shape[1]]
    s = orthopt.solve("l0-pca", X, 3, nonzeros=min(12, X.shape[1]), scale="std", effort="quick", time_limit=2)
    ax = s.plot_biplot(X, components=components, feature_names=names)
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    arrows = [t for t in ax.texts if not t.get_text()]
    words = [t for t in ax.texts if t.get_text()]
    assert len(arrows) == len(words) == min(16, np.count_nonzero(np.hypot(*s.X[:, components].T)))
    marks = np.concatenate([[t.xy for t in arrows], *(c.get_offsets() for c in ax.collections)])
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert (marks >= [left, low]).all() and (marks <= [right, high]).all()
    boxes = [matplotlib.text.Text.get_window_extent(t) for t in words]
    for i, box in enumerate(boxes):
        assert frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1, words[i].get_text()
        assert frame.y0 - 1 <= box.y0 and box.y1 <= frame.y1 + 1, words[i].get_text()
        for other in boxes[:i]:
            assert not box.shrunk(0.98, 0.95).overlaps(other.shrunk(0.98, 0.95)), words[i].get_text()
