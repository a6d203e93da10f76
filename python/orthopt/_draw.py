"""The drawing behind :mod:`orthopt.plots` and the ``plot`` methods of results. Needs matplotlib when called."""

from __future__ import annotations

from itertools import cycle
from typing import Any, Sequence

import numpy as np

from .errors import ShapeError

#: Runs whose times differ by more than this factor are drawn over the logarithm of time.
SPAN = 20.0


def axes_of(ax: Any, **options: Any) -> Any:
    """``ax``, or new axes where there are none."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'orthopt[plot]'") from error
    return plt.subplots(layout="constrained", **options)[1]


def titled(ax: Any, title: str | None) -> Any:
    """The axes with a title, broken where it is wider than the figure; as they are where it is empty."""
    if title:
        ax.set_title(title, fontsize="medium", wrap=True)
    return ax


def told(kind: str, found: Any) -> str | None:
    """Title of a picture of a solution or a fitted estimator: its kind, and what was found in words."""
    words = getattr(getattr(found, "solution_", found), "title", None)
    return f"{kind}, {words}" if words else None


def convergence(solutions: Any, ax: Any = None) -> Any:
    """F against time: of one run as it is, of several minus the lowest F of all, on a log scale.

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
    'seconds'
    """
    ax = axes_of(ax)
    if hasattr(solutions, "trace"):
        titled(ax, told("Convergence", solutions))
        trace = solutions.trace
        ax.step(trace.seconds, trace.objective, where="post")
        # to the end of the run, which found nothing better after its last point
        end = max(float(solutions.seconds), float(trace.seconds[-1])) if len(trace) else 0.0
        ax.plot([*trace.seconds[-1:], end][: 2 * len(trace)], [*trace.objective[-1:]] * 2, color=ax.lines[0].get_color(), marker="o", markevery=[0])
        ax.set_ylabel("F")
    else:
        runs = list(solutions)
        titled(ax, told("Convergence", runs[0]) if runs else None)
        lowest = min((float(s.trace.objective[-1]) for s in runs if len(s.trace)), default=0.0)
        floor = 1e-12 * (1.0 + abs(lowest))  # zero has no place on a log scale
        for run, style in zip(runs, cycle(["-", "--", ":", "-."])):  # told apart without colour, too
            above = np.maximum(run.trace.objective - lowest, floor)
            ax.step(run.trace.seconds, above, where="post", label=run.solver, linestyle=style)
        ax.set_yscale("log")
        ends = [float(s.trace.seconds[-1]) for s in runs if len(s.trace) and s.trace.seconds[-1] > 0]
        if ends and max(ends) > SPAN * min(ends):
            ax.set_xscale("log")
        ax.set_ylabel("F minus the lowest F")
        ax.legend()
    ax.set_xlabel("seconds")
    return ax


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
    ax = titled(axes_of(ax), told("Bounds", found.solution))
    begun = 0.0
    if found.solution is not None:
        trace = found.solution.trace
        begun = found.solution.seconds
        ax.step(trace.seconds, trace.objective, where="post", color="C0")
    seconds = begun + found.trace.seconds
    ax.step(seconds, found.trace.objective, where="post", color="C0", label="F")
    ax.step(seconds, found.trace.bound, where="post", color="C1", label="bound")
    ax.set_xlabel("seconds")
    ax.set_ylabel("F")
    ax.legend()
    return ax


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
        Loadings (r x n), as ``components_``, or a fitted estimator.
    feature_names
        Names of the variables (n). Default: those of the estimator, or ``x0``, ``x1``, ...
    kind
        ``"bar"``: one panel per component with bars for its nonzero loadings, largest first; ``"heatmap"``: all in one
        picture, the variables that occur anywhere.
    top
        Largest number of bars in a panel, or of variables in a heat map (those with the largest loadings).
    title
        Title. Default: of an estimator in words, else none.
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
    >>> len(plots.loadings(s.components, s.feature_names))
    3
    """
    if hasattr(components, "components_"):
        if feature_names is None:
            feature_names = getattr(components, "feature_names_in_", None)
        title = title or told("Loadings", components)
        components = components.components_
    rows = np.atleast_2d(np.asarray(components, dtype=float))
    r, n = rows.shape
    if feature_names is None:
        feature_names = [f"x{i}" for i in range(n)]
    if len(feature_names) != n:
        raise ValueError(f"{len(feature_names)} names for {n} variables")
    if kind == "bar":
        return _bars(rows, feature_names, top, title, ax)
    if kind != "heatmap":
        raise ValueError(f"kind is {kind!r}: expected 'bar' or 'heatmap'")
    size = np.abs(rows).max(axis=0)
    order = np.argsort(-size, kind="stable")[: top or n]
    shown = np.sort(order[size[order] > 0])
    ax = titled(axes_of(ax, figsize=(max(0.6 * r + 2.5, WIDE), 0.22 * len(shown) + 1.5)), title)
    limit = max(size.max(), 1e-300)
    image = ax.imshow(rows[:, shown].T, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
    ax.set_yticks(range(len(shown)), [feature_names[i] for i in shown])
    ax.set_xticks(range(r), range(1, r + 1))
    ax.set_xlabel("component")
    ax.figure.colorbar(image, ax=ax, label="loading")
    return ax


#: Width of figures in inches at which a title has one line.
WIDE = 5.0


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
        title = title or told("Components", components)
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
        image = own.imshow(row.reshape(high, wide), cmap="RdBu_r", vmin=-limit, vmax=limit)
        own.set_title(f"component {k + 1}", fontsize="small")
    for own in every:
        own.set_axis_off()
    figure = every[0].figure
    figure.colorbar(image, ax=list(every), label="loading")
    if title:
        figure.suptitle(title, fontsize="medium", wrap=True)
    return every[:r]


def stability(found: Any, names: Sequence[str], *, top: int | None = None, ax: Any = None) -> Any:
    """Selection frequencies of a Stability as a heat map; frames are loadings that are not zero in all rows."""
    share, r = found.frequency, len(found.cosine)
    often = share.max(axis=1)
    order = np.argsort(-often, kind="stable")[:top]
    shown = np.sort(order[often[order] > 0])
    ax = titled(axes_of(ax, figsize=(max(0.9 * r + 2.5, WIDE), max(0.22 * len(shown) + 1.7, 3.4))), told("Stability", found.solution))
    image = ax.imshow(share[shown], cmap="Oranges", vmin=0.0, vmax=1.0, aspect="auto")
    for row, i in enumerate(shown):
        for k in np.flatnonzero(found.X[i]):
            ax.add_patch(_frame(k, row))
    ax.set_yticks(range(len(shown)), [names[i] for i in shown])
    ax.set_xticks(range(r), [f"{k + 1}\n{cosine:.2f}" for k, cosine in enumerate(found.cosine)])
    ax.set_xlabel("component and its mean cosine")
    ax.figure.colorbar(image, ax=ax, label=f"share of {2 * found.pairs} halves\nwith a nonzero loading")
    return ax


def _frame(k: int, row: int) -> Any:
    """The frame of a cell of a heat map."""
    from matplotlib.patches import Rectangle

    return Rectangle((k - 0.5, row - 0.5), 1.0, 1.0, fill=False, edgecolor="black", linewidth=1.5)


def _bars(rows: np.ndarray, names: Sequence[str], top: int | None, title: str | None, axes: Any) -> Any:
    r = len(rows)
    if axes is None:
        longest = max(min(np.count_nonzero(row), top or row.size) for row in rows)
        wide = max((len(str(names[i])) for row in rows for i in np.flatnonzero(row)), default=0)
        axes = axes_of(None, ncols=r, figsize=(max((1.6 + 0.09 * wide) * r, WIDE), 0.22 * longest + 1.5))
    axes = np.atleast_1d(axes)
    if title:
        axes[0].figure.suptitle(title, fontsize="medium", wrap=True)
    for k, (row, ax) in enumerate(zip(rows, axes, strict=True)):
        order = np.argsort(-np.abs(row), kind="stable")
        order = order[row[order] != 0][:top]
        ax.barh(range(len(order)), row[order])
        ax.set_yticks(range(len(order)), [names[i] for i in order])
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.5)
        ax.set_title(f"component {k + 1}", fontsize="small")
    return axes
