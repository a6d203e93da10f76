"""Samples, and samples with variables, in the plane of two components; bars of variance. Needs matplotlib when called."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._draw import axes_of, titled, told
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
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Rows in the plane of two components.

    Parameters
    ----------
    scores
        Scores of the rows (m x r), as ``transform`` gives them.
    labels
        A label for each row (m): every group has its colour and marker.
    components
        The two components, counted from 0.
    title
        Title. Default: none.
    ax
        Axes of matplotlib to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    orthopt.errors.ShapeError, orthopt.errors.InvalidOptionError
        Labels for another number of rows; a component that does not exist.

    Examples
    --------
    >>> import orthopt
    >>> from orthopt import plots
    >>> s = orthopt.solve("l0-pca", "spiked:zht:60", 2, scale="std", nonzeros=4)
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(60, 10))
    >>> plots.scores(s.transform(rows)).get_xlabel()
    'scores of component 1'
    """
    points, (first, second) = _plane(scores, components)
    # beside new axes, where no name of an arrow comes
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if ax is None else {}
    ax = titled(axes_of(ax), title)
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
        ax.legend(**place)
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
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Rows as points and variables as arrows, in the plane of two components.

    Parameters
    ----------
    scores_of_rows
        Scores of the rows (m x r), as ``transform`` gives them.
    loadings
        Loadings (r x n), as ``components_``; arrows have a scale of their own.
    labels, components, title, ax
        As for :func:`scores`.
    feature_names
        Names of the variables (n). Default: ``x0``, ``x1``, ...
    top
        Number of arrows: variables with the longest ones.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    orthopt.errors.ShapeError, orthopt.errors.InvalidOptionError
        Names or labels of another number; a component that does not exist.

    Examples
    --------
    >>> import numpy as np, orthopt
    >>> from orthopt import plots
    >>> s = orthopt.solve("l0-pca", "spiked:zht:60", 2, scale="std", nonzeros=4)
    >>> rows = np.random.default_rng(0).normal(size=(60, 10))
    >>> ax = plots.biplot(s.transform(rows), s.components)
    """
    pairs, chosen = _plane(np.asarray(loadings).T, components)
    points, _ = _plane(scores_of_rows, components)
    if feature_names is None:
        feature_names = [f"x{i}" for i in range(len(pairs))]
    if len(feature_names) != len(pairs):
        raise ShapeError(f"{len(feature_names)} names for {len(pairs)} variables")
    ax = scores(scores_of_rows, labels, components=chosen, title=title, ax=ax)
    length = np.hypot(pairs[:, 0], pairs[:, 1])
    shown = [i for i in np.argsort(-length, kind="stable")[:top] if length[i] > 0]
    farthest = max(float(np.abs(points).max(initial=0.0)), 1e-300)
    unit = REACH * farthest / max(float(length.max(initial=0.0)), 1e-300)
    tips = unit * pairs[shown]
    ax.update_datalim(tips)  # annotations have no part in the limits
    ax.margins(0.1)
    ax.autoscale_view()
    _arrows(ax, tips, [str(feature_names[i]) for i in shown])
    return ax


def correlations(
    data: Any,
    scores_of_rows: Any,
    *,
    feature_names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    top: int = ARROWS,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Circle of correlations: an arrow for each variable to its correlations with the scores of two components. An arrow as long as
    the radius is a variable that both components together explain, where their scores are uncorrelated.

    Parameters
    ----------
    data
        Rows (m x n), dense or sparse; sparse ones stay sparse.
    scores_of_rows
        Their scores (m x r), as ``transform`` gives them.
    feature_names
        Names of the variables (n). Default: ``x0``, ``x1``, ...
    components, title, ax
        As for :func:`scores`.
    top
        Number of arrows: variables with the longest ones.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    orthopt.errors.ShapeError, orthopt.errors.InvalidOptionError
        Scores or names of another number; a component that does not exist.

    Examples
    --------
    >>> import numpy as np, orthopt
    >>> from orthopt import plots
    >>> rows = np.random.default_rng(0).normal(size=(60, 10))
    >>> s = orthopt.solve("l0-pca", rows, 2, scale="std", nonzeros=4)
    >>> plots.correlations(rows, s.transform(rows)).get_xlabel()
    'correlation with component 1'
    """
    points, (first, second) = _plane(scores_of_rows, components)
    if data.shape[0] != len(points):
        raise ShapeError(f"scores of {len(points)} rows for data of {data.shape[0]}")
    found = _correlation(data, points)
    if feature_names is None:
        feature_names = [f"x{i}" for i in range(len(found))]
    if len(feature_names) != len(found):
        raise ShapeError(f"{len(feature_names)} names for {len(found)} variables")
    ax = titled(axes_of(ax, figsize=(5.5, 5.5)), title)
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    ax.plot(np.cos(turn), np.sin(turn), color="0.6", linewidth=0.8)
    ax.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.6, zorder=0)
    ax.set_aspect("equal")
    ax.set_xlim(-1.25, 1.25)
    ax.set_ylim(-1.25, 1.25)
    ax.set_xlabel(f"correlation with component {first + 1}")
    ax.set_ylabel(f"correlation with component {second + 1}")
    length = np.hypot(found[:, 0], found[:, 1])
    shown = [i for i in np.argsort(-length, kind="stable")[:top] if length[i] > 0]
    _arrows(ax, found[shown], [str(feature_names[i]) for i in shown])
    return ax


def _correlation(data: Any, scores: np.ndarray) -> np.ndarray:
    """Correlations of columns with scores (n x 2), 0 of constant ones; sparse columns are not filled."""
    centred = scores - scores.mean(axis=0)
    if hasattr(data, "multiply"):
        means = np.asarray(data.mean(axis=0)).ravel()
        squares = np.asarray(data.multiply(data).sum(axis=0)).ravel() - data.shape[0] * means**2
    else:
        data = np.asarray(data, dtype=float)
        squares = ((data - data.mean(axis=0)) ** 2).sum(axis=0)
    lengths = np.sqrt(np.outer(np.maximum(squares, 0.0), (centred**2).sum(axis=0)))
    products = np.asarray(data.T @ centred)  # the scores have mean 0, so that the data need not have it
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def _arrows(ax: Any, tips: np.ndarray, names: Sequence[str]) -> None:
    """Arrows from 0, with their names."""
    arrow = {"arrowstyle": "-|>", "color": "0.25", "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0}
    for tip in tips:
        ax.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
    _name(ax, tips, names)


def _name(ax: Any, tips: np.ndarray, names: Sequence[str]) -> None:
    """Names beyond the tips of arrows, inside the axes, moved up or down where they would overlap."""
    from matplotlib.patheffects import withStroke

    edge = [withStroke(linewidth=2.0, foreground=ax.get_facecolor(), alpha=0.7)]  # readable on points and arrows
    ax.figure.draw_without_rendering()  # places of the axes are known from here on
    frame, pixels = ax.get_window_extent(), ax.figure.dpi / 72
    taken: list[Any] = []
    for tip, name in zip(tips, names):
        aligned = {"ha": "left" if tip[0] >= 0 else "right", "va": "bottom" if tip[1] >= 0 else "top"}
        line = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
        text = ax.annotate(
            name, tip, (0, 0), textcoords="offset points", fontsize="small", color="0.1", arrowprops=line, **aligned
        )
        text.set_path_effects(edge)
        box = text.get_window_extent()
        across = min(frame.x1 - box.x1, 0.0) + max(frame.x0 - box.x0, 0.0)
        steps = sorted((k * box.height for k in range(-40, 41)), key=abs)
        places = [box.translated(across, up) for up in steps]
        inside = [place for place in places if frame.y0 <= place.y0 and place.y1 <= frame.y1] or places[:1]
        free = (place for place in inside if not any(place.overlaps(other) for other in taken))
        place = next(free, inside[0])
        taken.append(place)
        text.set_position((across / pixels, (place.y0 - box.y0) / pixels))
        text.arrow_patch.set_visible(abs(place.y0 - box.y0) > 1.5 * box.height)


def variance(found: Any, ax: Any = None) -> Any:
    """Bars of the share of the variance that each component explains alone, and of the part that it adds to earlier ones; a
    line for the running total.

    Parameters
    ----------
    found
        A :class:`orthopt.Solution` or a fitted estimator.
    ax
        Axes of matplotlib to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; shares are in %.

    Raises
    ------
    orthopt.errors.InvalidOptionError
        The problem has no variance explained.

    Examples
    --------
    >>> import orthopt
    >>> from orthopt import plots
    >>> plots.variance(orthopt.solve("pca", "builtin:pitprops", 3)).get_ylabel()
    'variance explained, %'
    """
    explained = getattr(found, "solution_", found).explained_variance
    if explained is None:
        raise InvalidOptionError("this problem has no variance explained")
    adjusted, alone = np.asarray(explained.adjusted), np.asarray(explained.ratio)
    ax = titled(axes_of(ax), told("Variance explained", found))
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


def scree(found: Any, ax: Any = None) -> Any:
    """Eigenvalues of C beside those of noise, with a line after the components that are kept.

    Parameters
    ----------
    found
        What :func:`orthopt.scree` returns, or a solution or fitted estimator whose number of components a rule has chosen.
    ax
        Axes of matplotlib to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; eigenvalues are in % of their sum.

    Raises
    ------
    orthopt.errors.InvalidOptionError
        No eigenvalues are known: the number of components was given.

    Examples
    --------
    >>> import orthopt
    >>> from orthopt import plots
    >>> ax = plots.scree(orthopt.scree("builtin:pitprops", samples=180))
    """
    solution = getattr(found, "solution_", found)
    known = solution if hasattr(solution, "eigenvalues") else solution.scree
    if known is None:
        raise InvalidOptionError("no eigenvalues are known: give rank='auto', or draw orthopt.scree(data)")
    ax = titled(axes_of(ax), told("Eigenvalues of C", solution))
    at = np.arange(1, len(known.eigenvalues) + 1)
    ax.plot(at, 100 * known.eigenvalues, "o-", color=COLOURS[0], label="eigenvalue of C")
    if len(known.reference):
        ax.plot(at, 100 * known.reference, "s-", color=COLOURS[1], label="95th percentile of noise")
    ax.axvline(solution.rank + 0.5, color="black", linestyle="--", linewidth=1, label=f"r = {solution.rank}")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("component of PCA")
    ax.set_ylabel("% of the variance")
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
