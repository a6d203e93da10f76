"""Every picture of four tables: words do not lie on each other and are inside the figure, and all marks are inside their axes."""

import dataclasses
import itertools
import os
import warnings
from functools import cache

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text
from sklearn import datasets

import orthopt
from orthopt import plots
from orthopt.errors import ShapeError

TABLES = ["iris", "wine", "breast_cancer", "digits"]


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@cache
def table(name):
    found = getattr(datasets, f"load_{name}")()
    varies = found.data.std(axis=0) > 0
    names = [str(word) for word, kept in zip(found.feature_names, varies) if kept]
    return found.data[:, varies], names, found.target


@cache
def solved(name):
    X, names, _ = table(name)
    s = orthopt.solve("l0-pca", X, 3, nonzeros=min(12, X.shape[1]), scale="std", effort="quick", time_limit=2)
    return s, names


def loadings(name):
    s, names = solved(name)
    return s.plot_loadings(feature_names=names)


def heatmap(name):
    s, names = solved(name)
    return s.plot_loadings(feature_names=names, kind="heatmap")


def scores(name):
    X, _, groups = table(name)
    return solved(name)[0].plot_scores(X, groups)


def biplot(name):
    (s, names), (X, _, groups) = solved(name), table(name)
    return s.plot_biplot(X, groups, feature_names=names)


def correlations(name):
    s, names = solved(name)
    return s.plot_correlations(table(name)[0], feature_names=names)


def variance(name):
    return solved(name)[0].plot_variance()


def convergence(name):
    return solved(name)[0].plot()


def compared(name):
    X = table(name)[0]
    own = {"lam_share": 0.1, "scale": "std", "max_iters": 300, "time_limit": 2}
    return orthopt.compare("l1-pca", X, 3, solvers=["obcd", "manpg", "ladmm+obcd", "spm"], **own).plot()


def scree(name):
    return orthopt.scree(table(name)[0], scale="std").plot()


def path(name):
    X = table(name)[0]
    counts = [k for k in (1, 2, 3, 5, 7, 10) if k <= X.shape[1]]
    return orthopt.path("l0-pca", X, 2, counts=counts, scale="std", time_limit=3, title=name).plot()


def stability(name):
    X, names, _ = table(name)
    found = orthopt.stability("l0-pca", X, 3, n_pairs=3, nonzeros=3, scale="std", effort="quick", time_limit=3)
    return dataclasses.replace(found, feature_names=names).plot()


def images(name):
    if name == "digits":
        return orthopt.solve("l0-pca", datasets.load_digits().data, 6, nonzeros=16, effort="quick", time_limit=2).plot_images((8, 8))
    n = table(name)[0].shape[1]
    shape = next((k, n // k) for k in range(int(np.sqrt(n)), 0, -1) if n % k == 0)
    return solved(name)[0].plot_images(shape)


PICTURES = [
    loadings, heatmap, images, scores, biplot, correlations, variance, convergence, compared, scree, path, stability,
]  # fmt: skip


def words(figure):
    """Visible texts and their boxes; of ticks those that are drawn."""
    outside = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            drawn = axis._update_ticks() if ax.axison and axis.get_visible() else []
            labels = {label for tick in axis.get_major_ticks() + axis.get_minor_ticks() for label in (tick.label1, tick.label2)}
            outside |= labels - {label for tick in drawn for label in (tick.label1, tick.label2)}
            if not ax.axison:
                outside.add(axis.label)
    shown = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and t not in outside]
    return [(t, Text.get_window_extent(t)) for t in shown]


def check(figure):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a layout that does not fit is a warning
        figure.canvas.draw()
    page, found = figure.bbox, words(figure)
    assert len(found) >= 3
    for text, box in found:
        assert page.x0 - 1 <= box.x0 and box.x1 <= page.x1 + 1, f"{text.get_text()!r} leaves the figure"
        assert page.y0 - 1 <= box.y0 and box.y1 <= page.y1 + 1, f"{text.get_text()!r} leaves the figure"
    for (one, a), (other, b) in itertools.combinations(found, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        # boxes have room for descenders that most words do not fill
        apart = across <= 1 or up <= 0.2 * min(a.height, b.height)
        assert apart, f"{one.get_text()!r} lies on {other.get_text()!r}"
    for legend in figure.findobj(Legend):
        for text, box in found:
            hidden = text not in legend.get_texts() and box.overlaps(legend.get_window_extent())
            assert not hidden, f"{text.get_text()!r} lies on the legend"
    for ax in figure.axes:
        (left, right), (low, high) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
        tips = [t.xy for t in ax.texts if isinstance(t, Annotation)]
        lines = [line.get_xydata() for line in ax.lines if line.get_transform() == ax.transData]
        dots = [c.get_offsets() for c in ax.collections if len(c.get_offsets()) > 1]
        bars = [p.get_bbox().get_points() for p in ax.patches]
        for marks in [*lines, *dots, *bars, *([tips] if tips else [])]:
            marks = np.asarray(marks, dtype=float)
            marks = marks[np.isfinite(marks).all(axis=1)]
            edge = 1e-9 * max(1.0, abs(right), abs(left), abs(low), abs(high))
            assert (marks >= [left - edge, low - edge]).all() and (marks <= [right + edge, high + edge]).all(), ax


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("draw", PICTURES)
def test_words_are_apart_and_marks_are_inside(draw, name):
    axes = draw(name)
    figure = np.ravel(np.asarray(axes, dtype=object))[0].figure
    if folder := os.environ.get("ORTHOPT_PICTURES"):  # to be looked at
        figure.savefig(f"{folder}/{draw.__name__}-{name}.png", dpi=80)
    check(figure)
    title = figure._suptitle or figure.axes[0].title
    if draw is not scree:  # eigenvalues of a table are of no solution
        assert "component" in title.get_text() or name in title.get_text()


def test_what_the_checks_find():
    figure, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    first = ax.text(0.5, 0.5, "here")
    check(figure)
    second = ax.text(0.5, 0.5, "there")
    with pytest.raises(AssertionError, match="'here' lies on 'there'"):
        check(figure)
    second.remove()
    first.set_position((2.0, 0.5))
    with pytest.raises(AssertionError, match="leaves the figure"):
        check(figure)
    first.remove()
    ax.set_xlim(0, 0.5)
    with pytest.raises(AssertionError):
        check(figure)


def test_titles_are_words_or_what_is_asked_for():
    s = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1)
    assert s.title == "3 sparse components of 13 variables"
    axes = s.plot_loadings()
    assert axes[0].figure._suptitle.get_text() == "Loadings, 3 sparse components of 13 variables"
    assert s.plot().get_title() == "Convergence, 3 sparse components of 13 variables"
    own = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1, title="Props of pine")
    assert own.plot_variance().get_title() == "Variance explained, Props of pine"
    assert s.plot_loadings(kind="heatmap", title="Mine").get_title() == "Mine"
    assert orthopt.solve("nonneg-pca", "builtin:pitprops", 1).title == "1 nonnegative component of 13 variables"
    fitted = orthopt.SparsePCA(2, penalty="l0", alpha=0.3, random_state=0).fit(table("iris")[0])
    assert plots.loadings(fitted)[0].figure._suptitle.get_text() == "Loadings, 2 sparse components of 4 variables"


def test_images_show_the_components():
    s, _ = solved("wine")
    axes = s.plot_images((1, 13))
    shown = [ax.images[0].get_array() for ax in axes]
    np.testing.assert_array_equal(np.concatenate(shown), s.components)
    assert len({ax.images[0].get_clim() for ax in axes}) == 1
    with pytest.raises(ShapeError, match="2 x 7 pixels have 14 variables, the components 13"):
        s.plot_images((2, 7))
    with pytest.raises(ShapeError, match="1 axes for 3 images"):
        s.plot_images((1, 13), ax=plt.subplots()[1])


def test_arrows_of_the_circle_are_correlations():
    import scipy.sparse

    (s, names), (X, _, _) = solved("wine"), table("wine")
    ax = s.plot_correlations(X, feature_names=names, top=13, components=(2, 0))
    z = s.transform(X)[:, [2, 0]]
    expected = np.array([[np.corrcoef(x, own)[0, 1] for own in z.T] for x in X.T])
    tips = np.array([t.xy for t in ax.texts if not t.get_text()])
    order = np.argsort(-np.hypot(*expected.T), kind="stable")
    np.testing.assert_allclose(tips, expected[order], atol=1e-12)
    sparse = scipy.sparse.csr_array(np.where(X > np.median(X), X, 0.0))
    dense, thin = plots.correlations(sparse.toarray(), z), plots.correlations(sparse, z)
    places = [np.array([t.xy for t in ax.texts if not t.get_text()]) for ax in (dense, thin)]
    np.testing.assert_allclose(*places, atol=1e-12)
    # means far from 0, and a frame
    pandas = pytest.importorskip("pandas")
    far, z = X + 1e6, (X + 1e6) @ s.X[:, [2, 0]]
    expected = np.array([[np.corrcoef(x, own)[0, 1] for own in z.T] for x in far.T])
    for given in (far, pandas.DataFrame(far)):
        tips = np.array([t.xy for t in plots.correlations(given, z, top=13).texts if not t.get_text()])
        order = np.argsort(-np.hypot(*expected.T), kind="stable")
        np.testing.assert_allclose(tips, expected[order], atol=1e-9)
    with pytest.raises(ShapeError, match="scores of 177 rows for data of 178"):
        plots.correlations(X, z[1:])
