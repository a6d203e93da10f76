"""Pictures: convergence, loadings, images, scores, correlations, variance, eigenvalues beside those of noise, and variance against nonzeros. They need matplotlib
(``pip install 'orthopt[plot]'``); each returns the axes it drew on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Sequence

import numpy as np

from ._draw import bound, convergence, images, loadings, pairs, picture
from ._planes import biplot, correlations, scores, scree, variance

__all__ = [
    "PathPoint",
    "biplot",
    "bound",
    "convergence",
    "correlations",
    "images",
    "loadings",
    "path",
    "scores",
    "scree",
    "sparsity_path",
    "variance",
]


@dataclass(frozen=True)
class PathPoint:
    """One estimator of a path."""

    #: The weight of the penalty.
    alpha: float
    #: Nonzero loadings of all components together.
    nnz: int
    #: Share of the variance that all components explain together.
    explained_variance_ratio: float
    #: The fitted estimator.
    estimator: Any


def sparsity_path(X: Any, alphas: Iterable[float], estimator: Any = None) -> list[PathPoint]:
    """Fits clones of an estimator with several weights of the penalty.

    Parameters
    ----------
    X
        Rows (m x n), as for :meth:`orthopt.SparsePCA.fit`.
    alphas
        Values of ``alpha``.
    estimator
        The estimator to clone. Default: ``SparsePCA()``.

    Returns
    -------
    list of PathPoint
        In the order of ``alphas``.

    Examples
    --------
    >>> import numpy as np
    >>> from orthopt import plots
    >>> points = plots.sparsity_path(np.random.default_rng(0).normal(size=(20, 5)), [0.01, 0.03])
    >>> points[0].nnz >= points[1].nnz
    True
    """
    from sklearn.base import clone

    from ._estimators import SparsePCA

    template = SparsePCA() if estimator is None else estimator
    points = []
    for alpha in alphas:
        fitted = clone(template).set_params(alpha=float(alpha)).fit(X)
        nnz = int(np.count_nonzero(fitted.components_))
        total = float(fitted.explained_variance_ratio_.sum())
        points.append(PathPoint(float(alpha), nnz, total, fitted))
    return points


def path(points: Sequence[PathPoint], ax: Any = None) -> Any:
    """Variance explained against nonzeros.

    Parameters
    ----------
    points
        What :func:`sparsity_path` returns.
    ax
        Axes of matplotlib to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from orthopt import plots
    >>> points = plots.sparsity_path(np.random.default_rng(0).normal(size=(20, 5)), [0.01, 0.03])
    >>> plots.path(points).get_xlabel()
    'nonzeros of X'
    """
    ordered = sorted(points, key=lambda p: p.nnz)
    line = {"name": "adjusted", "points": pairs([p.nnz for p in ordered], [100 * p.explained_variance_ratio for p in ordered])}
    return picture("path", ax, lines=[line])
