"""Samples, and samples with variables, in the plane of two components; bars of variance. Needs matplotlib when called."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._draw import about, named, pairs, picture, shares
from .errors import InvalidOptionError, ShapeError

#: Maximum number of arrows: those with the largest loadings are drawn.
ARROWS = 16


def scores(
    scores: Any,
    labels: Any = None,
    *,
    components: tuple[int, int] = (0, 1),
    solution: Any = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Rows in the plane of two components. Of more than 4000 rows every second, third, ... one is drawn.

    Parameters
    ----------
    scores
        Scores of the rows (m x r), as ``transform`` gives them.
    labels
        A label for each row (m): every group has its colour and marker, up to 12 groups.
    components
        The two components, counted from 0.
    solution
        The solution or fitted estimator that the scores are of: the title and the axes say what is known of it.
    title
        Title in place of that.
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
    'score on PC1'
    """
    return picture("scores", ax, **_samples(scores, labels, components, solution, title))


def _samples(scores: Any, labels: Any, components: tuple[int, int], solution: Any, title: str | None) -> dict[str, Any]:
    """Rows of a picture."""
    points, chosen = _plane(scores, components)
    if labels is not None and np.shape(labels) != (len(points),):
        raise ShapeError(f"{np.size(labels)} labels for {len(points)} rows")
    known = shares(solution)
    return {
        "about": about(solution, title),
        "points": pairs(*points.T),
        "labels": None if labels is None else [str(label) for label in np.asarray(labels)],
        "components": list(chosen),
        "shares": [known[k] for k in chosen] if known else [],
    }


def biplot(
    scores_of_rows: Any,
    loadings: Any,
    labels: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    top: int = ARROWS,
    solution: Any = None,
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
    labels, components, solution, title, ax
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
    tips, _ = _plane(np.asarray(loadings).T, components)
    names = named(feature_names, len(tips))
    shown = {"arrows": pairs(*tips.T), "names": names, "top": top}
    return picture("biplot", ax, **_samples(scores_of_rows, labels, components, solution, title), **shown)


def correlations(
    data: Any,
    scores_of_rows: Any,
    *,
    feature_names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    top: int = ARROWS,
    solution: Any = None,
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
    components, solution, title, ax
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
    'correlation with PC1'
    """
    points, chosen = _plane(scores_of_rows, components)
    if data.shape[0] != len(points):
        raise ShapeError(f"scores of {len(points)} rows for data of {data.shape[0]}")
    tips = _correlation(data, points)
    names = named(feature_names, len(tips))
    shown = {"arrows": pairs(*tips.T), "names": names, "top": top, "components": list(chosen)}
    return picture("correlations", ax, about=about(solution, title), **shown)


def _correlation(data: Any, scores: np.ndarray) -> np.ndarray:
    """Correlations of columns with scores (n x 2), 0 of constant ones; sparse columns are not filled."""
    centred = scores - scores.mean(axis=0)
    if hasattr(data, "tocsr"):
        means = np.asarray(data.mean(axis=0)).ravel()
        squares = np.asarray(data.multiply(data).sum(axis=0)).ravel() - data.shape[0] * means**2
        products = np.asarray(data.T @ centred) - np.outer(means, centred.sum(axis=0))
    else:
        deviations = np.asarray(data, dtype=float) - np.asarray(data, dtype=float).mean(axis=0)
        squares, products = (deviations**2).sum(axis=0), deviations.T @ centred
    lengths = np.sqrt(np.outer(np.maximum(squares, 0.0), (centred**2).sum(axis=0)))
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


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
    '% of the variance'
    """
    explained = getattr(found, "solution_", found).explained_variance
    if explained is None:
        raise InvalidOptionError("this problem has no variance explained")
    alone, adjusted = np.asarray(explained.ratio).tolist(), np.asarray(explained.adjusted).tolist()
    return picture("variance", ax, about=about(found), alone=alone, adjusted=adjusted)


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
    shown = {"eigenvalues": np.asarray(known.eigenvalues).tolist(), "reference": np.asarray(known.reference).tolist()}
    shown |= {"rank": known.rank, "rule": known.rule, "share": known.share, "reason": known.reason, "kept": solution.rank}
    return picture("scree", ax, about=about(solution), **shown)


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
