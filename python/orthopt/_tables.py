"""Tables of Arrow: those of pyarrow and polars in memory, and the files that hold them (``.parquet``, ``.arrow``,
``.feather``), which the compiled half of this package does not read."""

from __future__ import annotations

import os
import sys
from typing import Any, Sequence

import numpy as np

from ._data import Cells
from .errors import DataFileError

ENDINGS = (".parquet", ".arrow", ".feather")
#: What pandas calls the column of an index that has no name.
INDEX = "__index_level_0__"


class Table:
    """Numbers with the names of their columns, as :mod:`orthopt._data` takes frames."""

    def __init__(self, values: np.ndarray, columns: list[str], cells: tuple[list[str], list[Any], list[str] | None] | None = None):
        self.values = values
        self.columns = columns
        #: Names, cells and names of rows of all columns, numbers or not.
        self.cells = cells or (columns, [np.ascontiguousarray(values[:, at]) for at in range(values.shape[1])], None)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=True) if copy else np.asarray(self.values, dtype=dtype)


def opened(data: Any) -> Any:
    """The data themselves, or the table that they name."""
    if isinstance(data, str) or hasattr(data, "__fspath__"):
        path = str(os.fspath(data))
        # that a file is missing is told by those who know what else there is
        return read(path) if path.lower().endswith(ENDINGS) and os.path.exists(path) else data
    cells = sys.modules.get("anndata")
    if cells is not None and isinstance(data, cells.AnnData):
        return Cells(data.X, [str(name) for name in data.var_names])
    arrow, polars = sys.modules.get("pyarrow"), sys.modules.get("polars")
    if arrow is not None and isinstance(data, arrow.RecordBatch):
        data = arrow.Table.from_batches([data])
    if arrow is not None and isinstance(data, arrow.Table):
        return of_arrow(data, "the data")
    if polars is not None and isinstance(data, polars.LazyFrame):
        data = data.collect()
    if polars is not None and isinstance(data, polars.DataFrame):
        return of_polars(data, "the data")
    return data


def read(path: str) -> Table:
    """A file, read with the available package."""
    try:
        import pyarrow
    except ImportError:
        return _read_with_polars(path)
    try:
        return of_arrow(_read_with_arrow(path), path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataFileError(f"{path}: {error}") from error


def _read_with_arrow(path: str) -> Any:
    import pyarrow
    from pyarrow import ipc, parquet

    if path.lower().endswith(".parquet"):
        return parquet.read_table(path)
    with pyarrow.OSFile(path) as file:
        form = ipc.open_file if file.read(6) == b"ARROW1" else ipc.open_stream
        file.seek(0)
        return form(file).read_all()


def _read_with_polars(path: str) -> Table:
    try:
        import polars
    except ImportError as error:
        raise ImportError(
            f"{path}: Parquet and Arrow files are read with pyarrow or polars: pip install pyarrow, or pip install polars"
        ) from error
    try:
        return of_polars(_polars_frame(path), path)
    except (polars.exceptions.PolarsError, OSError) as error:
        raise DataFileError(f"{path}: {error}") from error


def _polars_frame(path: str) -> Any:
    import polars

    if path.lower().endswith(".parquet"):
        return polars.read_parquet(path)
    with open(path, "rb") as file:
        stream = file.read(6) != b"ARROW1"
    return polars.read_ipc_stream(path) if stream else polars.read_ipc(path)


def of_arrow(table: Any, what: str) -> Table:
    """A table of pyarrow; nulls are NaN."""
    import pyarrow
    from pyarrow import types

    def kind(of: Any) -> str:
        if any(test(of) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)):
            return "number"
        of = of.value_type if types.is_dictionary(of) else of
        text = (types.is_string, types.is_large_string, types.is_date, types.is_time, types.is_timestamp)
        # the type that polars writes is younger than some versions of pyarrow
        return "text" if any(test(of) for test in text) or str(of) == "string_view" else "other"

    described = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = described[0] if len(described) == 1 and isinstance(described[0], str) else None
    def words(at: int) -> list[str] | None:
        of = table.schema.types[at]
        if kind(of) != "text":
            return None
        return ["" if word is None else word for word in table.column(at).cast(pyarrow.string()).to_pylist()]

    columns, row_names = _numbers(table.column_names, list(table.schema.types), kind, index, what)
    values = np.empty((table.num_rows, len(columns)), order="F")
    for k, at in enumerate(columns):
        values[:, k] = table.column(at).cast(pyarrow.float64(), safe=False).to_numpy()
    return _table(table.column_names, values, columns, row_names if index in table.column_names else None, words)


def of_polars(frame: Any, what: str) -> Table:
    """A frame of polars; nulls are NaN."""
    import polars

    def kind(of: Any) -> str:
        if of.is_numeric() or of in (polars.Boolean, polars.Null):
            return "number"
        text = of in (polars.String, polars.Categorical, polars.Enum, polars.Date, polars.Datetime, polars.Time)
        return "text" if text else "other"

    def words(at: int) -> list[str] | None:
        if kind(frame.dtypes[at]) != "text":
            return None
        return frame.to_series(at).cast(polars.String).fill_null("").to_list()

    places, row_names = _numbers(frame.columns, frame.dtypes, kind, INDEX, what)
    columns = [frame.columns[at] for at in places]
    values = np.empty((frame.height, len(columns)), order="F")  # a frame without columns has no rows in polars
    if columns:
        values[:] = frame.select(polars.col(columns).cast(polars.Float64)).to_numpy()
    return _table(frame.columns, values, places, row_names if INDEX in frame.columns else None, words)


def _table(names: Sequence[str], values: np.ndarray, places: list[int], rows: int | None, words: Any) -> Table:
    """Numbers with the names of their columns, and all columns but an index of pandas (``rows``): which of them names the rows is
    for the rules of files to say."""
    cells: list[Any] = [words(at) for at in range(len(names))]
    for k, at in enumerate(places):
        cells[at] = values[:, k]
    others = [at for at in range(len(names)) if at != rows]
    index = None if rows is None or cells[rows] is None else [str(name) for name in cells[rows]]
    return Table(values, [names[at] for at in places], ([names[at] for at in others], [cells[at] for at in others], index))


def _numbers(
    names: Sequence[str], types: Sequence[Any], kind: Any, index: str | None, what: str
) -> tuple[list[int], int | None]:
    """Places of the columns of numbers, and the place of the names of the rows. As in files of text, a first column of text (or without a
    name) names the rows; pandas keeps its index behind the others."""
    rows = None
    if len(names) > 1:
        first = kind(types[0]) == "text" or not names[0].strip()
        rows = names.index(index) if index in names else 0 if first else None
    places = [at for at in range(len(names)) if at != rows and kind(types[at]) == "number"]
    return places, rows
