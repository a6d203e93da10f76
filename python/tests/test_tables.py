"""Tables of pyarrow and polars, in memory and in files."""

import sys

import numpy as np
import pytest

import orthopt
from orthopt import _tables, errors

pa = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

NAMES = [f"v{i}" for i in range(12)]


def solved(data, **options):
    return orthopt.solve("l0-pca", data, 2, 5.0, restarts=0, **options)


@pytest.fixture
def table(samples):
    return pa.table({name: samples[:, j] for j, name in enumerate(NAMES)})


def same(data, samples):
    solution = solved(data)
    assert solution.feature_names == NAMES
    assert solution.objective == solved(samples).objective
    assert solution.data_shape == samples.shape


def test_tables_in_memory(table, samples):
    same(table, samples)
    same(table.to_batches()[0], samples)
    rows = pa.array([f"r{i}" for i in range(len(samples))])
    same(table.add_column(0, "name", rows), samples)
    same(table.add_column(0, "kind", rows.dictionary_encode()), samples)
    certified = orthopt.certify("l0-pca", table, solved(samples).X, 5.0)
    assert certified.objective == pytest.approx(solved(samples).objective)
    assert orthopt.path("l0-pca", table, rank=2, counts=[2, 3]).best.feature_names == NAMES
    sums = orthopt.GramAccumulator().add(table)
    assert sums.names == NAMES
    np.testing.assert_allclose(sums.gram(), samples.T @ samples, rtol=1e-12)


def test_frames_of_polars(table, samples, tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({name: samples[:, j] for j, name in enumerate(NAMES)})
    same(frame, samples)
    same(frame.lazy(), samples)
    same(frame.insert_column(0, pl.Series("name", [str(i) for i in range(len(samples))])), samples)
    with pytest.warns(errors.OrthoptWarning, match="column `when` holds words and is left out"):
        same(frame.with_columns(when=pl.lit("x")), samples)


def write(table, folder):
    parquet.write_table(table, folder / "a.parquet")
    feather.write_feather(table, str(folder / "b.feather"))
    with pa.OSFile(str(folder / "c.arrow"), "wb") as file, ipc.new_stream(file, table.schema) as out:
        out.write_table(table)
    return [folder / name for name in ("a.parquet", "b.feather", "c.arrow")]


def test_files(table, samples, tmp_path):
    for path in write(table, tmp_path):
        same(path, samples)
        same(str(path), samples)


def test_files_with_polars_alone(table, samples, tmp_path, monkeypatch):
    pytest.importorskip("polars")
    paths = write(table, tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for path in paths:
        same(path, samples)
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(errors.DataFileError, match="bad.parquet"):
        solved(bad)


def test_files_without_either(table, tmp_path, monkeypatch):
    path = write(table, tmp_path)[0]
    for name in ("pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install pyarrow, or pip install polars"):
        solved(path)


def test_index_of_pandas(samples, tmp_path):
    pd = pytest.importorskip("pandas")
    days = pd.date_range("2020-01-01", periods=len(samples))
    numbers = pd.Index(range(5, 5 + len(samples)), name="when")
    for index in (None, days, numbers):
        frame = pd.DataFrame(samples, columns=NAMES, index=index)
        frame.to_parquet(tmp_path / "a.parquet", engine="pyarrow")
        same(tmp_path / "a.parquet", samples)


def test_types_and_nulls():
    import decimal

    mixed = pa.table(
        {
            "i": pa.array([1, None, 3], pa.int64()),
            "big": pa.array([2**60 + 1, 0, 1], pa.uint64()),
            "b": [True, False, None],
            "f": pa.array([0.5, float("nan"), 2.0], pa.float32()),
            "d": pa.array([decimal.Decimal("1.25")] * 3),
        }
    )
    found = np.asarray(_tables.opened(mixed))
    expected = [[1, 2.0**60, 1, 0.5, 1.25], [np.nan, 0, 0, np.nan, 1.25], [3, 1, np.nan, 2, 1.25]]
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(errors.NotFiniteError):
        solved(mixed)
    filled = orthopt.solve("pca", mixed, 2, missing="mean")
    assert filled.feature_names == ["i", "big", "b", "f", "d"]


def test_what_is_no_table_of_numbers(table, samples, tmp_path):
    for column in (pa.array(["x"] * len(samples)), pa.array([[1.0]] * len(samples)), pa.array(["x"] * len(samples)).dictionary_encode()):
        more = table.append_column("last", column)
        with pytest.warns(errors.OrthoptWarning, match="column `last` holds words"):
            assert solved(more).objective == solved(table).objective
        assert orthopt.solve("l0-pca", more, 2, nonzeros=2, drop="last").feature_names == NAMES
        with pytest.raises(errors.DataTypeError, match=r"column 13 \(`last`\).* is not a number"):
            orthopt.solve("l0-pca", more, 2, nonzeros=2, columns=["last"])
    for name in ("a.parquet", "a.feather", "a.arrow"):
        (tmp_path / name).write_bytes(b"neither")
        with pytest.raises(errors.DataFileError, match=name):
            solved(tmp_path / name)
    with pytest.raises(errors.OrthoptError, match="no such file"):
        solved(tmp_path / "none.parquet")
