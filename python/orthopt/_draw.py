"""Draws the pictures that the library describes (as the command does, to files), and images. Needs matplotlib when called."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _orthopt
from .errors import ShapeError

#: Marks of groups, and of curves; the second six groups have hollow ones.
MARKERS = "o^sxD+"
ENDS = "o^so"
DASHES = ("-", "--", ":", "-.")
#: Width of figures in inches at which a title has one line.
WIDE = 5.0
#: A legend with names up to this length has several columns.
SHORT = 24


def axes_of(ax: Any, **options: Any) -> Any:
    """``ax``, or new axes where there are none."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'orthopt[plot]'") from error
    return plt.subplots(layout="constrained", **options)[1]


def about(found: Any = None, title: str | None = None) -> dict[str, Any]:
    """What the title of a picture is made of: of a solution or fitted estimator what was found, in words."""
    solution = getattr(found, "solution_", found)
    return {"title": title, "found": getattr(solution, "title", "")}


def shares(found: Any) -> list[float]:
    """The adjusted share of the variance of each component, where it is known."""
    explained = getattr(getattr(found, "solution_", found), "explained_variance", None)
    return [] if explained is None else np.asarray(explained.adjusted).tolist()


def pairs(x: Any, y: Any) -> list[tuple[float, float]]:
    """Points as the library takes them."""
    return list(zip(np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist()))


def picture(name: str, ax: Any = None, **shown: Any) -> Any:
    """The axes with a picture on them: an array of them where the picture has a panel for each component."""
    chart = _orthopt.chart({"picture": name, **shown})
    panels = chart["panels"]
    several = name == "loadings" and shown.get("form") == "bar"
    new = ax is None
    if new:
        options = {"figsize": _size(panels)}
        ax = axes_of(None, ncols=len(panels), **options) if several else axes_of(None, **options)
    every = np.ravel(np.asarray(ax, dtype=object))
    if len(every) != len(panels):
        raise ShapeError(f"{len(every)} axes for {len(panels)} panels")
    title = chart["title"] + (f"\n({chart['hidden']})" if chart["title"] and chart["hidden"] else "")
    if title and several:
        every[0].figure.suptitle(title, fontsize="medium", wrap=True)
    elif title:
        every[0].set_title(title, fontsize="medium", wrap=True)
    for k, (own, panel) in enumerate(zip(every, panels)):
        _panel(own, panel, chart["palette"], new, first=k == 0)
    every[len(every) // 2].set_xlabel(panels[0]["x"]["name"])
    every[0].set_ylabel(panels[0]["y"]["name"])
    _legend(every[0], panels[0]["marks"], new)
    for own, panel in zip(every, panels):
        for mark in panel["marks"]:
            if mark["kind"] == "arrows":
                _arrows(own, np.array(mark["tips"], dtype=float).reshape(-1, 2), mark["names"])
    return every if several else every[0]


def _size(panels: list[dict[str, Any]]) -> tuple[float, float]:
    """Inches that a figure needs."""
    first = panels[0]
    names = first["y"]["names"]
    if first["square"]:
        return (5.5, 5.5)
    if not names:
        return (max(6.4, 0.75 * len(first["x"]["names"]) + 1.6), 4.8)
    left = 0.085 * max(map(len, names), default=0)
    cells = any(mark["kind"] == "cells" for mark in first["marks"])
    wide = 0.9 * len(first["x"]["names"]) + 1.6 if cells else 1.7 * len(panels) + 0.4
    return (max(left + wide, WIDE), max(0.25 * len(names) + (1.9 if cells else 1.6), 3.4 if cells else 2.2))


def _panel(ax: Any, panel: dict[str, Any], palette: dict[str, Any], new: bool, first: bool) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    for axis, own, lines in ((panel["x"], ax.xaxis, ax.axvline), (panel["y"], ax.yaxis, ax.axhline)):
        low, high = axis["range"]
        if axis["log"]:
            (ax.set_xscale if own is ax.xaxis else ax.set_yscale)("log")
            own.set_minor_formatter(NullFormatter())
            if high < 10.0 * low:
                own.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        elif not axis["names"]:
            own.set_major_locator(MaxNLocator(nbins=7, integer=axis["whole"]))
            if low < 0.0 < high:
                lines(0, color="0.6", linewidth=0.6, zorder=0)
    for mark in panel["marks"]:
        MARKS[mark["kind"]](ax, mark, palette, new)
    (left, right), (low, high) = panel["x"]["range"], panel["y"]["range"]
    ax.set_xlim(left, right)
    down = bool(panel["y"]["names"])
    ax.set_ylim(*((high, low) if down else (low, high)))
    if panel["x"]["names"]:
        heads = panel["x"]["names"]
        heads = [head.split(" (")[0] for head in heads] if len(heads) > 6 else [head.replace(" (", "\n(") for head in heads]
        ax.set_xticks(panel["x"]["ticks"], heads, fontsize="small")
    elif down:
        ax.set_xticks(panel["x"]["ticks"], [f"{tick:.2f}" if tick else "0" for tick in panel["x"]["ticks"]], fontsize="small")
    if down:
        ax.set_yticks(panel["y"]["ticks"], panel["y"]["names"] if first else [""] * len(panel["y"]["names"]))
    if panel["square"]:
        ax.set_aspect("equal")
    if panel["heading"]:
        ax.set_title(panel["heading"], fontsize="small")


def _colour(palette: dict[str, Any], look: int) -> tuple[float, ...]:
    colours = palette["curves"]
    return tuple(part / 255 for part in colours[look % len(colours)])


def _line(ax: Any, mark: dict[str, Any], palette: dict[str, Any], _new: bool) -> None:
    look, points = mark["look"], np.array(mark["points"], dtype=float).reshape(-1, 2)
    options: dict[str, Any] = {"label": mark["name"] or "_nolegend_"}
    if mark["steps"]:
        options["drawstyle"] = "steps-post"
    if look is None:
        ax.plot(*points.T, color="0.6", linewidth=0.8, zorder=1, **options)
        return
    colour = _colour(palette, look)
    options |= {"color": colour, "linestyle": DASHES[look % 4], "marker": ENDS[(look + look // 4) % 4]}
    if (look + look // 4) % 4 == 3:
        options["markerfacecolor"] = "none"
    if not mark["dots"]:
        options["markevery"] = [len(points) - 1] if len(points) else []
    ax.plot(*points.T, **options)
    if mark["errors"]:
        ax.errorbar(*points.T, mark["errors"], fmt="none", ecolor=colour, capsize=3)


def _points(ax: Any, mark: dict[str, Any], palette: dict[str, Any], _new: bool) -> None:
    look, points = mark["look"], np.array(mark["points"], dtype=float).reshape(-1, 2)
    marker, colour = MARKERS[look % len(MARKERS)], _colour(palette, look)
    options: dict[str, Any] = {"color": colour}
    if look >= len(MARKERS) and marker not in "x+":
        options = {"facecolors": "none", "edgecolors": [colour]}
    ax.scatter(*points.T, s=16, marker=marker, label=mark["name"] or "_nolegend_", **options)


def _bars(ax: Any, mark: dict[str, Any], palette: dict[str, Any], _new: bool) -> None:
    from matplotlib.patches import Rectangle

    colour = tuple(part / 255 for part in palette["dark" if mark["dark"] else "light"])
    for i, (x0, y0, x1, y1) in enumerate(mark["corners"]):
        label = mark["name"] if i == 0 and mark["name"] else "_nolegend_"
        ax.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=colour, edgecolor="black", linewidth=0.5, label=label))


SIDES: dict[str, dict[str, Any]] = {
    "right": {"xytext": (3, 0), "ha": "left", "va": "center_baseline"},
    "left": {"xytext": (-3, 0), "ha": "right", "va": "center_baseline"},
    "above": {"xytext": (0, 2), "ha": "center", "va": "bottom"},
}


def _words(ax: Any, mark: dict[str, Any], _palette: dict[str, Any], _new: bool) -> None:
    ax.annotate(mark["text"], mark["at"], textcoords="offset points", fontsize="x-small", **SIDES[mark["side"]])


def _cells(ax: Any, mark: dict[str, Any], _palette: dict[str, Any], new: bool) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Rectangle

    scale, cells = mark["scale"], mark["cells"]
    columns, rows = (1 + max((cell["at"][k] for cell in cells), default=0) for k in (0, 1))
    values = np.zeros((rows, columns))
    for cell in cells:
        values[cell["at"][1], cell["at"][0]] = cell["value"]
    colours = np.array(scale["colours"], dtype=float) / 255
    image = ax.imshow(values, cmap=ListedColormap(colours), vmin=scale["low"], vmax=scale["high"], aspect="auto")
    for cell in cells:
        (k, row), text = cell["at"], cell["text"]
        if text and new:  # other axes may have no room for numbers
            ground = colours[int(round((cell["value"] - scale["low"]) / (scale["high"] - scale["low"]) * (len(colours) - 1)))]
            ink = "white" if ground @ (0.2126, 0.7152, 0.0722) < 0.5 else "black"
            ax.text(k, row, text, ha="center", va="center_baseline", fontsize="x-small", color=ink)
        if cell["framed"]:
            ax.add_patch(Rectangle((k - 0.5, row - 0.5), 1.0, 1.0, fill=False, edgecolor="black", linewidth=1.5))
    ax.figure.colorbar(image, ax=ax, label=scale["name"].replace(" with ", "\nwith "))


def _rule(ax: Any, mark: dict[str, Any], _palette: dict[str, Any], _new: bool) -> None:
    ax.axvline(mark["x"], color="black", linestyle="--", linewidth=1, label=mark["text"])


def _ring(ax: Any, mark: dict[str, Any], _palette: dict[str, Any], _new: bool) -> None:
    ax.plot(*mark["at"], "o", markersize=15, markerfacecolor="none", markeredgecolor="black", label="_nolegend_")


#: How each kind of mark is drawn. Arrows come last, when the limits of the axes are known.
MARKS = {
    "line": _line,
    "points": _points,
    "bars": _bars,
    "words": _words,
    "cells": _cells,
    "rule": _rule,
    "ring": _ring,
    "arrows": lambda *_: None,
}


def _legend(ax: Any, marks: list[dict[str, Any]], new: bool) -> None:
    """Names of marks: of groups of points on the right, of curves and bars below; inside axes that have been given."""
    handles, names = ax.get_legend_handles_labels()
    if not any(mark.get("name") for mark in marks) or not names:
        return
    if not new:
        ax.legend(handles, names)
    elif any(mark["kind"] == "points" for mark in marks):
        ax.legend(handles, names, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        columns = 1 + sum(max(map(len, names)) <= most for most in (1.6 * SHORT, SHORT))
        ax.figure.legend(handles, names, loc="outside lower center", ncols=min(columns, len(names)), fontsize="small")


def _arrows(ax: Any, tips: np.ndarray, names: Sequence[str]) -> None:
    """Arrows from 0, and their names beyond the tips, inside the axes and apart from each other."""
    from matplotlib.patheffects import withStroke

    arrow = {"arrowstyle": "-|>", "color": "0.25", "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0}
    for tip in tips:
        ax.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
    edge = [withStroke(linewidth=2.0, foreground=ax.get_facecolor(), alpha=0.7)]  # readable on points and arrows
    line = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
    common = {"textcoords": "offset points", "fontsize": "small", "color": "0.1", "ha": "center", "va": "center"}
    texts = [ax.annotate(name, tip, (0, 0), arrowprops=line, **common) for tip, name in zip(tips, names)]
    ax.figure.draw_without_rendering()  # places of the axes are known from here on
    frame, pixels = ax.get_window_extent(), ax.figure.dpi / 72
    boxes = [text.get_window_extent() for text in texts]
    ends = ax.transData.transform(tips) if len(tips) else tips.reshape(0, 2)
    zero = tuple(ax.transData.transform((0.0, 0.0)).tolist())
    sizes = [(box.width + 2, box.height) for box in boxes]
    places = _orthopt.names_beside(zero, pairs(*ends.T), sizes, list(frame.extents), 2.0 * pixels)
    for text, end, place, (_, high) in zip(texts, ends, places, sizes):
        middle = np.array([place[0] + place[2], place[1] + place[3]]) / 2
        text.set_path_effects(edge)
        text.set_position(tuple((middle - end) / pixels))
        text.arrow_patch.set_visible(abs(middle[1] - end[1]) > 1.5 * high)


def convergence(solutions: Any, ax: Any = None) -> Any:
    """F against time: of one run as it is, or with all arms of its search, or of several runs, minus the lowest F of all on a log
    scale.

    Parameters
    ----------
    solutions
        A :class:`orthopt.Solution`, or several: a list or a :class:`orthopt.Comparison`.
    ax
        Axes of matplotlib to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; time is in seconds.

    Examples
    --------
    >>> import orthopt
    >>> from orthopt import plots
    >>> plots.convergence(orthopt.solve("pca", "builtin:pitprops", 3)).get_xlabel()
    'seconds in the solver'
    """
    runs = [solutions] if hasattr(solutions, "trace") else list(solutions)
    if not runs:
        raise ShapeError("there is no run to draw")
    arms = [arm for arm in runs[0].arms if len(arm.seconds)] if len(runs) == 1 else []
    curves = [{"label": "best of all" if arms else s.solver, "points": _course(s)} for s in runs]
    drawn = [{"label": f"{arm.solver} from {arm.start}", "points": pairs(arm.seconds, arm.course)} for arm in arms]
    return picture("convergence", ax, about=about(runs[0]), runs=curves, arms=drawn)


def _course(s: Any) -> list[tuple[float, float]]:
    """To the end of the run, which found nothing better after its last point."""
    points = pairs(s.trace.seconds, s.trace.objective)
    last = points[-1] if points else (float(s.seconds), float(s.objective))
    return [*points, (max(float(s.seconds), last[0]), last[1])]


def bound(found: Any, ax: Any = None) -> Any:
    """The lowest F so far from above, of the run that found it and of branch and bound, and the bound from below.

    Parameters
    ----------
    found
        What :func:`orthopt.bound` returns.
    ax
        Axes of matplotlib to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; time is in seconds.

    Examples
    --------
    >>> import orthopt
    >>> from orthopt import plots
    >>> ax = plots.bound(orthopt.bound("l0-pca", "builtin:pitprops", 1, 0.1))
    """
    run, trace = found.solution, found.trace
    begun = 0.0 if run is None else float(run.seconds)
    above = [] if run is None else pairs(run.trace.seconds, run.trace.objective)
    seconds = begun + np.asarray(trace.seconds)
    above += [point for point in pairs(seconds, trace.objective) if np.isfinite(point[1])]
    return picture("bounds", ax, about=about(found), above=above, below=pairs(seconds, trace.bound))


def loadings(
    components: Any,
    feature_names: Sequence[str] | None = None,
    *,
    kind: str = "bar",
    top: int | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Loadings of components.

    Parameters
    ----------
    components
        Loadings (r x n), as ``components_``, or a solution or fitted estimator.
    feature_names
        Names of the variables (n). Default: those of the solution or estimator, or ``x0``, ``x1``, ...
    kind
        ``"bar"``: one panel per component, with a line for each variable that has a loading in any; ``"heatmap"``: all in one
        picture, with the numbers in its cells.
    top
        Largest number of variables (those with the largest loadings). Default: 60.
    title
        Title. Default: of a solution or estimator in words.
    ax
        Axes of matplotlib to draw on, r of them for bars; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes or an array of them
        The axes.

    Raises
    ------
    ValueError
        Names of another number; another ``kind``.

    Examples
    --------
    >>> import orthopt
    >>> from orthopt import plots
    >>> s = orthopt.solve("l0-pca", "builtin:pitprops", 3, 0.1)
    >>> len(plots.loadings(s))
    3
    """
    found = components if hasattr(components, "components_") or hasattr(components, "components") else None
    if found is not None:
        if feature_names is None:
            feature_names = getattr(found, "feature_names_in_", getattr(found, "feature_names", None))
        components = found.components_ if hasattr(found, "components_") else found.components
    rows = np.atleast_2d(np.asarray(components, dtype=float))
    names = named(feature_names, rows.shape[1], ValueError)
    if kind not in ("bar", "heatmap"):
        raise ValueError(f"kind is {kind!r}: expected 'bar' or 'heatmap'")
    shown = {"components": rows.tolist(), "names": names, "shares": shares(found), "top": top, "form": kind}
    return picture("loadings", ax, about=about(found, title), **shown)


def named(names: Sequence[str] | None, n: int, error: type[Exception] = ShapeError) -> list[str]:
    """Names of n variables."""
    if names is None:
        return [f"x{i}" for i in range(n)]
    if len(names) != n:
        raise error(f"{len(names)} names for {n} variables")
    return [str(name) for name in names]


def images(components: Any, shape: tuple[int, int], *, columns: int = 4, title: str | None = None, ax: Any = None) -> Any:
    """Components whose variables are the pixels of images, each as an image: zero is white, signs differ in colour.

    Parameters
    ----------
    components
        Loadings (r x n), as ``components_``, or a fitted estimator.
    shape
        Rows and columns of an image, of n pixels together, row by row.
    columns
        Images beside each other.
    title
        Title. Default: of an estimator in words, else none.
    ax
        Axes of matplotlib to draw on, r of them; new ones if not given.

    Returns
    -------
    array of matplotlib.axes.Axes
        The axes of the r images. One scale of colours holds for all.

    Raises
    ------
    orthopt.errors.ShapeError
        Images of another number of pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from orthopt import plots
    >>> len(plots.images(np.eye(12)[:3], (3, 4)))
    3
    """
    if hasattr(components, "components_"):
        words = about(components)["found"]
        title = title or (f"Components, {words}" if words else None)
        components = components.components_
    rows = np.atleast_2d(np.asarray(components, dtype=float))
    r, n = rows.shape
    high, wide = shape
    if high * wide != n:
        raise ShapeError(f"images of {high} x {wide} pixels have {high * wide} variables, the components {n}")
    columns = max(1, min(columns, r))
    lines = -(-r // columns)
    if ax is None:
        size = (max(1.5 * columns + 0.8, WIDE), max(1.5 * lines * min(high / wide, 3.0) + 0.3 * lines + 0.5, 2.0))
        ax = axes_of(None, nrows=lines, ncols=columns, squeeze=False, figsize=size)
    every = np.ravel(np.asarray(ax, dtype=object))
    if len(every) < r:
        raise ShapeError(f"{len(every)} axes for {r} images")
    limit = max(float(np.abs(rows).max()), 1e-300)
    for k, (row, own) in enumerate(zip(rows, every)):
        image = own.imshow(row.reshape(high, wide), cmap="PuOr_r", vmin=-limit, vmax=limit)
        own.set_title(f"PC{k + 1}", fontsize="small")
    for own in every:
        own.set_axis_off()
    figure = every[0].figure
    figure.colorbar(image, ax=list(every), label="loading")
    if title:
        figure.suptitle(title, fontsize="medium", wrap=True)
    return every[:r]


def stability(found: Any, names: Sequence[str], *, top: int | None = None, ax: Any = None) -> Any:
    """Selection frequencies of a Stability as a heat map; frames are loadings that are not zero in all rows."""
    shown = {"frequency": np.asarray(found.frequency).T.tolist(), "components": np.asarray(found.X).T.tolist()}
    shown |= {"names": [str(name) for name in names], "cosine": np.asarray(found.cosine).tolist(), "pairs": found.pairs, "top": top}
    return picture("stability", ax, about=about(found.solution), **shown)
