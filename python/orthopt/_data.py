"""Conversion of users' data (arrays, frames, sparse matrices, file names) to the types of the
compiled half: contiguous float64 arrays, canonical compressed columns, or a string."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import DataTypeError, ShapeError


def matrix(data: Any, what: str = "the data") -> Any:
    """``data`` for the compiled half, without a copy where the layout allows."""
    if isinstance(data, str):
        return data
    if hasattr(data, "__fspath__"):
        return str(data.__fspath__())
    if sp.issparse(data):
        return compressed(data, what)
    return dense(data, what)


def dense(data: Any, what: str = "the data") -> np.ndarray:
    """A two-dimensional float64 array with contiguous rows or columns; the same array if it is
    one already."""
    array = _unmasked(data, what)
    if array.ndim != 2:
        hint = "; use X.reshape(1, -1) for one sample, X.reshape(-1, 1) for one variable"
        raise ShapeError(f"{what} must be a matrix, but has {array.ndim} dimension(s){hint}")
    array = numbers(array, what)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    # the compiled half reads machine words only
    if not array.flags.aligned or not array.dtype.isnative:
        array = np.array(array, dtype=np.float64)
    return array


def _unmasked(data: Any, what: str) -> np.ndarray:
    """Any array; masked entries are missing, and the numbers below the mask are ignored."""
    try:
        array = np.asanyarray(data)
    except ValueError as error:  # rows of different lengths
        raise ShapeError(f"{what} must be a matrix: {error}") from error
    if np.ma.is_masked(array):
        array = np.ma.masked_array(numbers(array.data, what), array.mask).filled(np.nan)
    return np.asarray(array)


def canonical(data: Any, form: str, what: str) -> Any:
    """Any sparse matrix in the form ``"csr"`` or ``"csc"``, indices sorted and each once; a
    copy if the user's matrix had to be changed."""
    if data.ndim != 2:
        raise ShapeError(f"{what} must be a matrix, but has {data.ndim} dimension(s)")
    try:
        _check_indices(data)
        made = data.asformat(form)
    except (ValueError, IndexError) as error:
        raise ShapeError(f"{what}: the sparse matrix is broken: {error}") from error
    if not made.has_canonical_format:
        made = made.copy() if made is data else made
        made.sum_duplicates()
    return made


def _check_indices(data: Any) -> None:
    """Indices outside the matrix, which SciPy would follow when it converts or sums."""
    if data.format in ("csr", "csc"):
        data.check_format(full_check=True)
    elif data.format == "coo":
        for indices, size, axis in zip((data.row, data.col), data.shape, ("row", "column")):
            if len(indices) and not 0 <= indices.min() <= indices.max() < size:
                raise ValueError(f"{axis} indices are outside 0..{size - 1}")


def compressed(data: Any, what: str = "the data") -> tuple:
    """Shape, column pointers, row indices and values of any sparse matrix."""
    csc = canonical(data, "csc", what)
    values = np.ascontiguousarray(numbers(csc.data, what))
    pointers, rows = (np.ascontiguousarray(a, dtype=np.int64) for a in (csc.indptr, csc.indices))
    return csc.shape, pointers, rows, values


def numbers(array: np.ndarray, what: str) -> np.ndarray:
    """The array as float64, if it holds real numbers."""
    if array.dtype == np.float64:
        return array
    if array.dtype.kind == "c":
        raise DataTypeError(f"{what} are complex; orthopt works with real numbers")
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    try:
        if array.dtype.kind not in "mM":  # times, which NumPy would turn into numbers
            return array.astype(np.float64)
        raise TypeError("dates and times are not numbers")
    except (TypeError, ValueError, OverflowError) as error:
        raise DataTypeError(f"{what} are not real numbers (dtype {array.dtype}): {error}") from error


def names(data: Any) -> list[str] | None:
    """The column names of a frame."""
    columns = getattr(data, "columns", None)
    return None if columns is None else [str(name) for name in columns]
