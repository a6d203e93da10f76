"""Sparse PCA of single cells, written where scanpy's ``pca`` writes its own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._data import Cells
from ._solve import solve


def sparse_pca(
    adata: Any,
    n_comps: int = 50,
    nonzeros: int | str = "auto",
    *,
    layer: str | None = None,
    key_added: str | None = None,
    use_highly_variable: bool | None = None,
    n_nonzero: int | str | None = None,
    **options: Any,
) -> Any:
    """Finds sparse components of the cells and keeps them in ``adata``.

    Parameters
    ----------
    adata
        An AnnData object, normalised and logarithmised as for ``scanpy.pp.pca``.
    n_comps
        Number of components.
    nonzeros
        Number of genes in each component; ``"auto"`` is the knee of the variance explained.
    layer
        A layer in the place of ``X``.
    key_added
        A name of its own in ``obsm``, ``varm`` and ``uns``; ``X_pca``, ``PCs`` and ``pca`` if there is none.
    use_highly_variable
        Only genes of ``var["highly_variable"]``; by default where it is there. Others have loadings 0.
    n_nonzero
        The former name of ``nonzeros``; it is taken with a warning.
    **options
        Those of :func:`orthopt.solve`.

    Returns
    -------
    Solution
        What :func:`orthopt.solve` found. Scores are in ``obsm``, loadings in ``varm``, variances in ``uns``.
    """
    if n_nonzero is not None:
        warnings.warn("n_nonzero is called nonzeros, as everywhere else, and this name will be removed", FutureWarning, stacklevel=2)
        nonzeros = n_nonzero
    values = adata.X if layer is None else adata.layers[layer]
    marked = adata.var["highly_variable"].to_numpy() if "highly_variable" in adata.var else None
    if use_highly_variable and marked is None:
        raise KeyError("use_highly_variable=True needs adata.var['highly_variable']: run scanpy.pp.highly_variable_genes")
    genes = np.flatnonzero(marked) if marked is not None and use_highly_variable is not False else np.arange(adata.n_vars)
    chosen = values[:, genes] if len(genes) < adata.n_vars else values
    cells = Cells(chosen, [str(name) for name in adata.var_names[genes]])
    found = solve("l0-pca", cells, rank=n_comps, nonzeros=nonzeros, **{"center": True, "covariance": True, **options})
    loadings = np.zeros((adata.n_vars, found.rank))
    loadings[genes] = found.X
    scores, components, facts = (key_added,) * 3 if key_added else ("X_pca", "PCs", "pca")
    adata.obsm[scores] = found.transform(chosen)
    adata.varm[components] = loadings
    share = found.explained_variance.adjusted
    adata.uns[facts] = {
        "params": {"n_comps": n_comps, "nonzeros": nonzeros, "layer": layer, "use_highly_variable": len(genes) < adata.n_vars},
        "variance": share * found.trace_of_c,
        "variance_ratio": share,
    }
    return found
