"""Samples, and samples with variables, in the plane of two components; bars of variance. Needs matplotlib when called."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._draw import axes_of
from .errors import InvalidOptionError, ShapeError

#: Maximum number of arrows: those with the largest loadings are drawn.
ARROWS = 16
#: The longest arrow reaches so far from 0 to the farthest sample.
REACH = 0.9
#: More groups than this have no marker of their own.
MARKERS = "os^DvP*X<>"
#: Of Okabe and Ito: told apart by the colour-blind, and with the markers in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def scores(
    scores: Any,
    labels: Any = None,
    *,
    components: tuple[int, int] = (0, 1),
    ax: Any = None,
) -> Any:
    """Rows in the plane of two components: ``scores`` (m, r) as ``transform`` gives them. With ``labels`` (m) every
    group has its colour and marker."""
    points, (first, second) = _plane(scores, components)
    ax = axes_of(ax)
    if labels is None:
        ax.scatter(points[:, 0], points[:, 1], s=14, color=COLOURS[0])
    else:
        groups = np.asarray(labels)
        if groups.shape != (len(points),):
            raise ShapeError(f"{groups.size} labels for {len(points)} rows")
        for i, group in enumerate(np.unique(groups)):
            own = points[groups == group]
            style = {"marker": MARKERS[i % len(MARKERS)], "color": COLOURS[i % len(COLOURS)]}
            ax.scatter(own[:, 0], own[:, 1], s=16, label=str(group), **style)
        ax.legend()
    ax.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.6, zorder=0)
    ax.set_xlabel(f"scores of component {first + 1}")
    ax.set_ylabel(f"scores of component {second + 1}")
    return ax


def biplot(
    scores_of_rows: Any,
    loadings: Any,
    labels: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    top: int = ARROWS,
    ax: Any = None,
) -> Any:
    """Rows as points (``scores_of_rows``, m x r) and variables as arrows (``loadings``, r x n, as ``components_``), the
    ``top`` longest ones, on a scale of their own."""
    pairs, chosen = _plane(np.asarray(loadings).T, components)
    points, _ = _plane(scores_of_rows, components)
    if feature_names is None:
        feature_names = [f"x{i}" for i in range(len(pairs))]
    if len(feature_names) != len(pairs):
        raise ShapeError(f"{len(feature_names)} names for {len(pairs)} variables")
    ax = scores(scores_of_rows, labels, components=chosen, ax=ax)
    length = np.hypot(pairs[:, 0], pairs[:, 1])
    shown = [i for i in np.argsort(-length, kind="stable")[:top] if length[i] > 0]
    farthest = max(float(np.abs(points).max(initial=0.0)), 1e-300)
    unit = REACH * farthest / max(float(length.max(initial=0.0)), 1e-300)
    for i in shown:
        tip = unit * pairs[i]
        arrow = {"arrowstyle": "-|>", "color": "0.25", "linewidth": 1.0}
        ax.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
        aligned = {"ha": "left" if tip[0] >= 0 else "right", "va": "bottom" if tip[1] >= 0 else "top"}
        ax.annotate(str(feature_names[i]), xy=tip, fontsize="small", color="0.1", **aligned)
    return ax


def variance(found: Any, ax: Any = None) -> Any:
    """Bars of the share of the variance that each component explains alone, and of the part
    that it adds to earlier ones; a line for the running total. ``found`` is a solution or a fitted estimator."""
    explained = getattr(found, "solution_", found).explained_variance
    if explained is None:
        raise InvalidOptionError("this problem has no variance explained")
    adjusted, alone = np.asarray(explained.adjusted), np.asarray(explained.ratio)
    ax = axes_of(ax)
    at = np.arange(1, len(adjusted) + 1)
    ax.bar(at - 0.2, 100 * alone, 0.4, label="alone", color="0.75", edgecolor="0.3")
    ax.bar(at + 0.2, 100 * adjusted, 0.4, label="added to earlier ones", color=COLOURS[0])
    ax.plot(at, 100 * np.cumsum(adjusted), marker="o", color="black", linewidth=1, label="together")
    ax.set_xticks(at)
    ax.set_xlabel("component")
    ax.set_ylabel("variance explained, %")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def _plane(values: Any, components: tuple[int, int]) -> tuple[np.ndarray, tuple[int, int]]:
    """Two columns and their numbers."""
    table = np.asarray(values, dtype=float)
    if table.ndim != 2:
        raise ShapeError(f"scores and loadings have two dimensions, not {table.ndim}")
    first, second = components
    for k in components:
        if not 0 <= k < table.shape[1]:
            raise InvalidOptionError(f"component {k} of {table.shape[1]}: a plane needs two of them, counted from 0")
    return table[:, [first, second]], (first, second)
