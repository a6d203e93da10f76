"""C = A'A of rows that do not fit memory: chunks are added one by one, on any machine, and merged."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _data, _orthopt
from ._tables import opened
from .errors import EmptyDataError, IncompatibleError, ShapeError


class GramAccumulator:
    """Count, sums and C = A'A of rows that come in chunks.

    Parameters
    ----------
    reproducible
        Exact sums: the same bits for any chunks, order and merging, dense or sparse, in two to seven times the time and
        twice the memory. Otherwise compensated ones of distances from a number near the mean of each column: C of
        centred columns is within ``1560 * 2**-53 * sqrt(d_j * d_k)`` of the exact one, d the sums of squares of these
        distances, and has the same bits for the same chunks.
    place
        Name of the data in errors.

    Memory is 16 (reproducible: 32) bytes for each of n * n / 2 entries. Accumulators can be pickled and copied.

    Examples
    --------
    >>> import numpy as np, orthopt
    >>> rows = np.random.default_rng(0).normal(size=(100, 5))
    >>> sums = orthopt.GramAccumulator(reproducible=True)
    >>> for chunk in np.array_split(rows, 7):
    ...     sums = sums.add(chunk)
    >>> bool((sums.gram() == orthopt.GramAccumulator(reproducible=True).add(rows).gram()).all())
    True
    >>> orthopt.solve("l0-pca", sums.gram(center=True), rank=2, gram=True).rank
    2
    """

    def __init__(self, *, reproducible: bool = False, place: str = "the data"):
        self._reproducible = bool(reproducible)
        self._place = place
        self._sums: Any = None

    def add(self, rows: Any, weights: Any = None) -> "GramAccumulator":
        """Adds rows (m x n): an array, a frame or a SciPy sparse matrix, row i with the weight ``weights[i]``.

        Nothing is added if there is an error: another number of columns (:class:`orthopt.errors.ShapeError`), other
        columns of a frame, NaN (:class:`orthopt.errors.NotFiniteError`, with chunk and row). Returns the accumulator.
        """
        rows = opened(rows)
        names = _data.names(rows)
        if weights is not None:
            weights = _words(_data.numbers(np.asarray(weights), "the weights"), np.float64)
            if weights.ndim != 1:
                raise ShapeError(f"weights need one number per row, but have {weights.ndim} dimension(s)")
        if sp.issparse(rows):
            csr = _data.canonical(rows, "csr", self._place)
            self._begin(csr.shape[1], names)
            pointers, indices = (_words(a, np.int64) for a in (csr.indptr, csr.indices))
            values = _words(_data.numbers(csr.data, self._place), np.float64)
            self._sums.add_sparse(csr.shape[1], pointers, indices, values, weights)
        else:
            array = _data.dense(rows, self._place)
            self._begin(array.shape[1], names)
            self._sums.add_dense(array, weights)
        return self

    def _begin(self, columns: int, names: list[str] | None) -> None:
        if self._sums is None:
            self._sums = _orthopt.GramAccumulator(columns, self._reproducible, self._place)
            if names is not None:
                self._sums.set_names(names)
        known = self._sums.names
        if names is not None and known is not None and names != known:
            missing = [name for name in known if name not in names]
            what = f"column {missing[0]!r} is missing" if missing else "the columns are in another order"
            raise ShapeError(f"{self._place}: {what}; all chunks need the same columns in the same order")

    def merge(self, other: "GramAccumulator") -> "GramAccumulator":
        """Adds all rows of another accumulator. Returns this one."""
        if other._reproducible != self._reproducible:
            raise IncompatibleError("one accumulator is reproducible and the other is not")
        if other._sums is not None:
            if self._sums is None:
                self._sums = _orthopt.GramAccumulator.from_bytes(other._sums.to_bytes())
            else:
                self._sums.merge(other._sums)
        return self

    def gram(
        self, *, center: bool | None = None, scale: str | float | None = None, covariance: bool | None = None
    ) -> np.ndarray:
        """C, n x n: of the rows as they are, of centred ones, scaled (``"std"``, ``"unit"``, a factor), or divided by
        m - 1, as in :func:`orthopt.solve`, to which it is given with ``gram=True``.

        Large means cause no loss of digits, and constant columns are exactly 0 when centred.
        A column whose spread is lost relative to its mean (in bytes of an older format), or whose squares overflow or
        underflow, is an error.
        """
        return self.prepared(center=center, scale=scale, covariance=covariance)[0]

    def prepared(
        self, *, center: bool | None = None, scale: str | float | None = None, covariance: bool | None = None
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """:meth:`gram`, with the subtracted means and the divisors of the columns, if any."""
        text = None if scale is None else str(scale)
        c, means, scales = self._there().prepared(center, text, covariance)
        array = lambda values: None if values is None else np.array(values)  # noqa: E731
        return c, array(means), array(scales)

    def to_bytes(self) -> bytes:
        """The accumulator as bytes, for a file or another machine. The command's ``data gram`` stores the same bytes."""
        return self._there().to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "GramAccumulator":
        """The accumulator of :meth:`to_bytes`; bytes that are cut off or changed are an
        :class:`orthopt.errors.DataFileError`."""
        sums = _orthopt.GramAccumulator.from_bytes(bytes(data))
        made = cls(reproducible=sums.reproducible)
        made._sums = sums
        return made

    def __getstate__(self) -> dict[str, Any]:
        data = None if self._sums is None else self._sums.to_bytes()
        return {"reproducible": self._reproducible, "place": self._place, "data": data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._reproducible, self._place = state["reproducible"], state["place"]
        data = state["data"]
        self._sums = None if data is None else _orthopt.GramAccumulator.from_bytes(data)

    def _there(self) -> Any:
        if self._sums is None:
            raise EmptyDataError(f"{self._place}: no rows have been added")
        return self._sums

    @property
    def rows(self) -> int:
        """Number of rows so far."""
        return 0 if self._sums is None else self._sums.rows

    @property
    def columns(self) -> int:
        """Number of columns n; 0 before the first rows."""
        return 0 if self._sums is None else self._sums.columns

    @property
    def weight(self) -> float:
        """The sum of the weights; the number of rows where there are none."""
        return 0.0 if self._sums is None else self._sums.weight

    @property
    def sums(self) -> np.ndarray:
        """The sum of each column."""
        return self._there().sums

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, if the first rows were a frame."""
        return None if self._sums is None else self._sums.names

    @property
    def reproducible(self) -> bool:
        """True if the sums are exact."""
        return self._reproducible

    def __repr__(self) -> str:
        kind = "reproducible" if self._reproducible else "compensated"
        return f"GramAccumulator({self.rows} rows of {self.columns} columns, {kind})"


def _words(array: np.ndarray, kind: type) -> np.ndarray:
    """A contiguous and aligned array, which an array from another process may not be."""
    return np.require(array, dtype=kind, requirements=["C_CONTIGUOUS", "ALIGNED"])
