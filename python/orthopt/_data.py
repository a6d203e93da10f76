"""Conversion of users' data (arrays, frames, sparse matrices, file names) to the types of the
compiled half: contiguous float64 arrays, canonical compressed columns, or a string."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import DataFileError, DataTypeError, InvalidOptionError, OrthoptWarning, ShapeError


def matrix(data: Any, what: str = "the data") -> Any:
    """``data`` for the compiled half, without a copy where the layout allows."""
    if isinstance(data, str):
        return data
    if hasattr(data, "__fspath__"):
        return str(data.__fspath__())
    if isinstance(data, Cells):
        return matrix(data.values, what)
    if sp.issparse(data):
        return compressed(data, what)
    return dense(data, what)


class Cells:
    """The numbers of an AnnData object with the names of its variables."""

    def __init__(self, values: Any, columns: list[str]):
        self.values = values
        self.columns = columns


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


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "dtypes") and hasattr(data, "columns")


def _frame(data: Any, what: str) -> Any:
    """The numbers of a pandas frame with columns that NumPy does not have: nullable ones and those of Arrow, whose NA is
    missing, and objects that are numbers. Anything else as it is."""
    if not _is_pandas(data):
        return data
    plain = lambda kind: isinstance(kind, np.dtype) and kind.kind in "biufc"  # noqa: E731
    if all(plain(kind) for kind in data.dtypes):
        return data
    columns, texts = [], []
    for at in range(data.shape[1]):
        column = _column(data.iloc[:, at])
        columns.append(column)
        if column is None:
            texts.append(at)
    if texts:
        names = [str(data.columns[at]) for at in texts]
        at, more = texts[0], f" and so do {len(texts) - 1} more" if len(texts) > 1 else ""
        raise DataTypeError(
            f"{what} are not real numbers: column {at + 1} ({names[0]!r}) holds values of type {data.dtypes.iloc[at]}{more}; "
            f"leave columns out with drop={names!r}, or choose them with columns=[...]"
        )
    return np.column_stack(columns) if columns else data


def _texts(column: Any) -> list[str] | None:
    """The cells of a column of a pandas frame as texts, empty where one is missing; None where they are lists and the like."""
    if getattr(column.dtype, "kind", "O") == "c":
        return None
    values = column.to_numpy(dtype=object, na_value=None)
    missing = [value is None or value != value for value in values]
    plain = (str, bool, int, float, np.generic)
    if not all(empty or isinstance(value, plain) or hasattr(value, "isoformat") for value, empty in zip(values, missing)):
        return None
    return ["" if empty else str(value) for value, empty in zip(values, missing)]


def refuse_text(data: Any) -> None:
    """Raises an error that names the columns of a pandas frame that hold no numbers, if there are some."""
    texts = [name for at, name in enumerate(data.columns) if _column(data.iloc[:, at]) is None] if _is_pandas(data) else []
    if texts:
        raise DataTypeError(f"columns {texts!r} hold no numbers; X.drop(columns={texts!r}) leaves them out")


def _column(column: Any) -> np.ndarray | None:
    """A column of a pandas frame as float64, NA as NaN; None where it holds no numbers."""
    if getattr(column.dtype, "kind", "O") in "mMc":
        return None
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        # what comes from another process need not be aligned
        return np.require(column.to_numpy(dtype=np.float64), requirements=["C", "A"])
    try:
        values = column.to_numpy(dtype=object, na_value=np.nan)
        if any(isinstance(value, str) for value in values):
            return None
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        return None


#: Options of files that hold for frames, too.
_OPTIONS = ("columns", "drop", "row_names", "drop_rows", "strip", "na", "decimal", "thousands")


def arranged(data: Any, filled: dict[str, Any]) -> Any:
    """A frame by the rules of files: without words, without columns that only tell the rows apart, and without rows that are no
    samples. Options of it are taken out of those of the compiled half, which arranges files and not what is in memory."""
    from . import _orthopt

    options = filled["options"]
    pandas, table = _is_pandas(data), hasattr(data, "cells")
    if not (pandas or table or (hasattr(data, "columns") and any(options.get(key) for key in ("columns", "drop", "weights")))):
        return data
    names, cells, index = _cells(data) if pandas else data.cells if table else _of_numbers(data)
    rows = len(data.index) if pandas else data.values.shape[0]
    weight = options.pop("weights", None) if isinstance(options.get("weights"), str) else None
    if weight is not None:
        if names.count(weight) != 1 or not isinstance(cells[names.index(weight)], np.ndarray):
            raise InvalidOptionError(f"weights is {weight!r}: expected one of the columns, or a weight for each row")
        filled["weights"] = weights(cells[names.index(weight)])
        filled["own"] = [*filled["own"], "weights"]
    given = {key: str(value) for key in _OPTIONS if (value := options.pop(key, None)) is not None}
    if options.get("gram") or options.get("target") is not None or not (pandas or table):
        given["drop_rows"] = "none"  # rows belong to columns, to those of another matrix, or to what has no names
    said = [(key.replace("_", "-"), value) for key, value in given.items()]
    try:
        kept, samples, numbers_of, notes = _orthopt.framed(names, cells, rows, index, said)
    except DataFileError as error:
        raise DataTypeError(str(error)) from None
    kept = [at for at in kept if weight is None or names[at] != weight]
    if not kept:
        raise DataTypeError("no column holds numbers, and components are of numbers: code words as numbers first")
    for note in notes:
        _left_out(note)
    everything = len(kept) == len(names) and len(samples) == rows and not numbers_of
    if everything:
        return data
    if len(samples) < rows and filled.get("weights") is not None:
        filled["weights"] = np.ascontiguousarray(np.asarray(filled["weights"])[samples])
    converted = dict(numbers_of)
    if not pandas and not table:
        return type(data)(data.values[:, kept], [names[at] for at in kept])
    if not pandas:
        values = np.empty((len(samples), len(kept)), order="F")
        for k, at in enumerate(kept):
            values[:, k] = converted.get(at, cells[at])[samples]
        return type(data)(values, [names[at] for at in kept])
    frame = data.iloc[samples, kept].copy()
    for k, at in enumerate(kept):
        if at in converted:
            frame.isetitem(k, converted[at][samples])
    return frame


def _cells(frame: Any) -> tuple[list[str], list[Any], list[str] | None]:
    """Names, cells and names of rows of a pandas frame."""
    columns = [frame.iloc[:, at] for at in range(frame.shape[1])]
    found = [(column, _column(column)) for column in columns]
    cells = [_texts(column) if values is None else np.ascontiguousarray(values) for column, values in found]
    counted = getattr(frame.index.dtype, "kind", "O") in "iu"
    return [str(name) for name in frame.columns], cells, None if counted else _names_of_rows(frame.index)


def _names_of_rows(index: Any) -> list[str]:
    """The names in an index of pandas, empty where one is missing."""
    missing = index.isna() if index.nlevels == 1 else [False] * len(index)
    return ["" if empty else str(name) for name, empty in zip(index, missing)]


def _of_numbers(data: Any) -> tuple[list[str], list[Any], None]:
    """The same of numbers with names."""
    values = data.values.toarray() if sp.issparse(data.values) else np.asarray(data.values, dtype=np.float64)
    return [str(name) for name in data.columns], [np.ascontiguousarray(values[:, at]) for at in range(values.shape[1])], None


def _left_out(note: str) -> None:
    warnings.warn(note, OrthoptWarning, stacklevel=4)


def _unmasked(data: Any, what: str) -> np.ndarray:
    """Any array; masked entries are missing, and the numbers below the mask are ignored."""
    try:
        array = np.asanyarray(_frame(data, what))
    except ValueError as error:  # rows of different lengths
        raise ShapeError(f"{what} must be a matrix: {error}") from error
    if np.ma.is_masked(array):
        array = np.ma.masked_array(numbers(array.data, what), array.mask).filled(np.nan)
    return np.asarray(array)


def weights(values: Any) -> np.ndarray:
    """One weight for each row; how many there must be is for those to say who know the rows."""
    found = numbers(np.ma.filled(np.ma.masked_array(values), np.nan) if np.ma.isMaskedArray(values) else np.asarray(values), "the weights")
    if found.ndim != 1:
        raise ShapeError(f"the weights are one for each row, but have {found.ndim} dimension(s)")
    return np.ascontiguousarray(found)


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
