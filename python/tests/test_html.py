"""What a notebook shows of results: everything in it, names escaped, tags closed."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import orthopt


class Page(HTMLParser):
    """Cells of the tables, and whether every tag is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.open, self.text = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_solution():
    s = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1, bound=True)
    html = s._repr_html_()
    page = Page(html)
    used = np.flatnonzero(np.abs(s.X).max(axis=1) > 1e-6)
    for i in used:
        assert s.feature_names[i] in page.cells
    weights = [cell for cell in page.cells if cell.lstrip("-")[:2] == "0." and len(cell.lstrip("-")) == 5]
    assert len(weights) == s.nnz and f"{s.X[used[0]].max():.3f}" in weights
    assert "proved to be the minimum" in page.text and f"{s.objective:.9g}" in page.text
    course = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1, solver="obcd")._repr_html_()
    assert "<svg" in course and "polyline" in course


def test_names_are_escaped_and_long_tables_cut():
    rng = np.random.default_rng(0)
    names = [f"<script>{i}&" for i in range(60)]
    s = orthopt.solve("l1-pca", rng.standard_normal((80, 60)), 14, 0.01, max_iters=50)
    s = replace(s, feature_names=names)
    html = s._repr_html_()
    assert "<script" not in html and names[np.abs(s.X[:, :12]).max(axis=1).argmax()] in Page(html).cells
    assert "variables with smaller weights, 2 components more" in html


def test_comparison():
    c = orthopt.compare("l1-pca", "builtin:pitprops", 3, 0.3, solvers=["obcd", "manpg"], max_iters=500)
    page = Page(c._repr_html_())
    assert {"obcd", "manpg", f"{c.best.objective:.9g}"} <= set(page.cells)
    assert Page(orthopt._solution.Comparison([])._repr_html_()).text
