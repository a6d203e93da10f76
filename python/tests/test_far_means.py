"""Columns whose means are up to 10**8 standard deviations from 0: C of centred data through every door."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import orthopt
from orthopt import GramAccumulator, SparsePCA
from orthopt.errors import OrthoptError

FAR = [0.0, 1.0, 1e3, 1e6, 1e7, 1e8]


def whole_numbers(rows=3000, seed=0):
    """Rows of whole numbers, the last column constant, and m * C of centred columns without rounding."""
    rng = np.random.default_rng(seed)
    near = np.rint(rng.normal(size=(rows, len(FAR))) @ rng.normal(size=(len(FAR), len(FAR))) * 20).astype(np.int64)
    near = np.column_stack([near, np.zeros(rows, dtype=np.int64)])
    means = np.rint(np.array([*FAR, 7e5]) * np.r_[near[:, :-1].std(axis=0), 1.0])
    exact = rows * (near.T @ near) - np.outer(near.sum(axis=0), near.sum(axis=0))
    return near + means, exact


@pytest.fixture(scope="module")
def data():
    return whole_numbers()


def close(c, exact, rows=3000):
    expected = exact / rows
    spread = np.sqrt(np.diag(expected))
    scale = np.outer(spread, spread)
    assert (c[-1] == 0).all() and (c[:, -1] == 0).all()  # constant
    return (np.abs(c - expected)[:-1, :-1] <= 1e-12 * scale[:-1, :-1]).all()


def test_chunks_and_merges(data):
    rows, exact = data
    rng = np.random.default_rng(1)
    for reproducible in (False, True):
        for sizes in ([3000], [1, 1, 1, 2000, 997], [600] * 5):
            parts = [GramAccumulator(reproducible=reproducible) for _ in range(3)]
            for k, chunk in enumerate(np.split(rows, np.cumsum(sizes)[:-1])):
                kinds = [chunk, np.asfortranarray(chunk), sp.csr_matrix(chunk), sp.csc_array(chunk)]
                parts[rng.integers(3)].add(kinds[k % 4])
            whole = GramAccumulator(reproducible=reproducible)
            for part in parts:
                whole.merge(pickle.loads(pickle.dumps(part)))
            c, means, _ = whole.prepared(center=True)
            assert close(c, exact), (reproducible, sizes)
            assert means == pytest.approx(rows.mean(axis=0), rel=1e-15, abs=1e-12)


def test_dask(data):
    da = pytest.importorskip("dask.array")
    od = pytest.importorskip("orthopt.dask")
    rows, exact = data
    for chunks in ((700, 3), (3000, 7), (11, 7)):
        assert close(od.gram(da.from_array(rows, chunks=chunks)).gram(center=True), exact)
    sparse = da.from_array(rows, chunks=(500, 7)).map_blocks(sp.csr_matrix)
    assert close(od.gram(sparse).gram(center=True), exact)


def test_arrays_in_memory_and_mapped(data, tmp_path):
    rows, exact = data
    expected = exact / 3000
    values, vectors = np.linalg.eigh(expected)
    np.save(tmp_path / "rows.npy", rows)
    np.save(tmp_path / "columns.npy", np.asfortranarray(rows))
    forms = [
        rows,
        np.asfortranarray(rows),
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        np.load(tmp_path / "columns.npy", mmap_mode="r"),
        sp.csr_matrix(rows),
        sp.csc_array(rows),
        str(tmp_path / "rows.npy"),
    ]
    for storage in ("dense", "gram"):
        for form in forms:
            s = orthopt.solve("pca", form, rank=2, center=True, storage=storage)
            assert -2 * s.objective == pytest.approx(values[-2:].sum(), rel=1e-11)
            assert s.trace_of_c == pytest.approx(np.trace(expected), rel=1e-11)
            assert np.abs(np.abs(s.X.T @ vectors[:, -2:]).max(axis=0) - 1).max() < 1e-6


def test_estimators(data):
    rows, exact = data
    expected = exact / 3000
    share = np.linalg.eigvalsh(expected)[::-1][:2] / np.trace(expected)

    def model():
        return SparsePCA(2, penalty="none", random_state=0)

    models = [model().fit(rows), model().fit(sp.csr_matrix(rows)), model(), model()]
    for chunk in np.array_split(rows, 5):
        models[2].partial_fit(chunk, refit=False)
        models[3].partial_fit(sp.csr_matrix(chunk), refit=False)
    models[2].partial_fit(rows[:1]).partial_fit(rows[1:2])
    models[3].partial_fit(sp.csr_matrix(rows[:1]))
    for found in models:
        assert found.explained_variance_ratio_[:2] == pytest.approx(share, rel=1e-2)
        for form in (rows, sp.csr_matrix(rows), sp.csc_array(rows)):
            assert found.score(form) == pytest.approx(share.sum(), rel=1e-2)
    for found in models[:2]:
        assert found.explained_variance_ratio_ == pytest.approx(share, rel=1e-10)


def test_squares_that_underflow_are_an_error_unless_scaled(data):
    rows, exact = data
    small = rows[:, :3] * 1e-170
    sums = GramAccumulator().add(small)
    with pytest.raises(OrthoptError, match="column 1 are so small"):
        sums.gram(center=True)
    left = small.astype(np.longdouble) * np.longdouble(10) ** 170
    left -= left.mean(axis=0)
    left /= np.sqrt((left**2).sum(axis=0))
    expected = (left.T @ left).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.abs(sums.gram(scale="std") - expected).max() < 1e-12
