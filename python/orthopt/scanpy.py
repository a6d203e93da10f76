"""Sparse PCA of single cells, written where scanpy's ``pca`` writes its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._data import Cells
from ._solve import solve
from .errors import DataTypeError, InvalidOptionError, ShapeError

#: Components that scanpy computes by default.
COMPONENTS = 50
#: The column of ``var`` that marks the genes to use.
MARKED = "highly_variable"


def sparse_pca(
    adata: Any,
    n_comps: int | float | str | None = None,
    nonzeros: int | str = "auto",
    *,
    layer: str | None = None,
    mask_var: Any = MARKED,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Finds sparse components of the cells and keeps them in ``adata``.

    Parameters
    ----------
    adata
        An AnnData object, normalised and logarithmised as for ``scanpy.pp.pca``.
    n_comps
        Number of components; ``"auto"``: those that exceed noise (:func:`orthopt.scree`). Default: 50, or one fewer than
        cells and genes if that is less, as in scanpy.
    nonzeros
        Number of genes in each component; ``"auto"`` is the knee of the variance explained.
    layer
        A layer in the place of ``X``.
    mask_var
        The genes to use: an array of booleans, or the name of a column of ``var``; ``None`` takes all. Others have
        loadings 0. Default: ``"highly_variable"``, or all genes if there is no such column.
    key_added
        A name of its own in ``obsm``, ``varm`` and ``uns``; ``X_pca``, ``PCs`` and ``pca`` if there is none.
    copy
        Leave ``adata`` as it is and return a copy with the components.
    **options
        Those of :func:`orthopt.solve`; ``center=True``, ``covariance=True`` and ``effort="quick"`` unless given. Many components
        take a while: ``time_limit=5`` ends the search after so many seconds.

    Returns
    -------
    Solution
        What :func:`orthopt.solve` found; with ``copy`` the copy of ``adata``. Scores are in ``obsm``, loadings in
        ``varm``, variances in ``uns``, as scanpy keeps them.

    Raises
    ------
    orthopt.errors.DataTypeError, orthopt.errors.InvalidOptionError, orthopt.errors.ShapeError
        Not an AnnData object; a column or layer that is not there; a mask without genes, of another length or kind.
    """
    if not (hasattr(adata, "var_names") and hasattr(adata, "obsm")):
        kind = type(adata).__name__
        raise DataTypeError(f"adata is an AnnData object, not {kind}: wrap it in anndata.AnnData, or call orthopt.solve")
    if layer is not None and layer not in adata.layers:
        raise InvalidOptionError(f"layer={layer!r} is not there; layers: {', '.join(adata.layers) or 'none'}")
    genes = _genes(adata, mask_var)
    if copy:
        adata = adata.copy()
    values = adata.X if layer is None else adata.layers[layer]
    masked = len(genes) < adata.n_vars
    chosen = values[:, genes] if masked else values
    rank = min(COMPONENTS, max(min(chosen.shape) - 1, 1)) if n_comps is None else n_comps
    cells = Cells(chosen, [str(name) for name in adata.var_names[genes]])
    usual = {"center": True, "covariance": True, "effort": "quick"}
    found = solve("l0-pca", cells, rank=rank, nonzeros=nonzeros, **{**usual, **options})
    loadings = np.zeros((adata.n_vars, found.rank))
    loadings[genes] = found.X
    scores, components, facts = (key_added,) * 3 if key_added else ("X_pca", "PCs", "pca")
    adata.obsm[scores] = found.transform(chosen)
    adata.varm[components] = loadings
    share = found.explained_variance.adjusted
    by_name = mask_var if masked and isinstance(mask_var, str) else None
    # what scanpy writes, and reads in `ingest`; then our own
    params = {"zero_center": bool(options.get("center", True)), "use_highly_variable": by_name == MARKED, "mask_var": by_name}
    if masked and by_name is None:
        params["mask_var"] = np.isin(np.arange(adata.n_vars), genes)
    params |= {"n_comps": found.rank, "nonzeros": nonzeros} | ({"layer": layer} if layer else {})
    adata.uns[facts] = {"params": params, "variance": share * found.trace_of_c, "variance_ratio": share}
    return adata if copy else found


def _genes(adata: Any, mask: Any) -> np.ndarray:
    """Numbers of the genes of a mask."""
    if mask is None or (isinstance(mask, str) and mask == MARKED and mask not in adata.var):
        return np.arange(adata.n_vars)
    if isinstance(mask, str) and mask not in adata.var:
        raise InvalidOptionError(f"mask_var={mask!r}: adata.var has no such column; columns: {', '.join(map(str, adata.var)) or 'none'}")
    marked = np.asarray(adata.var[mask] if isinstance(mask, str) else mask)
    if marked.shape != (adata.n_vars,):
        raise ShapeError(f"mask_var has the shape {marked.shape} for {adata.n_vars} genes: give one boolean for each")
    if marked.dtype.kind != "b":
        raise InvalidOptionError(f"mask_var holds {marked.dtype} where booleans are expected: give True for the genes to use")
    if not marked.any():
        raise InvalidOptionError("mask_var leaves no gene: set it for the genes to use, or give mask_var=None for all")
    return np.flatnonzero(marked)
