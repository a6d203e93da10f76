"""Sums over chunks, and Dask: the same bits wherever chunks are added."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import orthopt
from orthopt import GramAccumulator
from orthopt.errors import (
    DataFileError,
    EmptyDataError,
    IncompatibleError,
    InvalidOptionError,
    NotFiniteError,
    OrthoptError,
    ShapeError,
)

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")
import dask  # noqa: E402

import orthopt.dask as od  # noqa: E402


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    dense = rng.normal(size=(500, 12)) @ rng.normal(size=(12, 12)) * 10.0 ** rng.integers(-4, 5, size=12)
    dense[rng.random(dense.shape) < 0.5] = 0.0
    return dense


@pytest.fixture(scope="module")
def exact(rows):
    return GramAccumulator(reproducible=True).add(rows).gram()


def test_any_chunks_in_any_order_give_the_same_bits(rows, exact):
    rng = np.random.default_rng(0)
    for parts in (1, 7, 100):
        chunks = np.array_split(rows, parts)
        sums = [GramAccumulator(reproducible=True) for _ in range(3)]
        for k in rng.permutation(parts):
            chunk = chunks[k]
            kinds = [chunk, np.asfortranarray(chunk), sp.csr_matrix(chunk), sp.coo_array(chunk), pd.DataFrame(chunk)]
            kind = kinds[k % 4] if parts > 1 else chunk
            sums[rng.integers(3)].add(kind)
        whole = GramAccumulator(reproducible=True)
        for part in rng.permutation(np.array(sums, dtype=object)):
            whole.merge(pickle.loads(pickle.dumps(part)))
        assert whole.rows == 500
        assert (whole.gram() == exact).all(), parts
    scale = np.abs(rows).T @ np.abs(rows)
    fast = GramAccumulator().add(rows[:99]).add(rows[99:]).gram()
    assert (np.abs(fast - exact) <= 513 * 2.0**-53 * scale).all()
    assert (np.abs(rows.T @ rows - exact) <= 513 * 2.0**-53 * scale).all()


def test_a_mapped_file(rows, exact, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    sums = GramAccumulator(reproducible=True)
    for k in range(0, 500, 64):
        sums.add(mapped[k : k + 64])
    assert (sums.gram() == exact).all()


def test_centring_and_scaling(rows):
    sums = GramAccumulator(reproducible=True).add(rows[:200]).add(rows[200:])
    assert sums.sums == pytest.approx(rows.sum(axis=0), rel=1e-12)
    c, means, scales = sums.prepared(scale="std")
    assert c == pytest.approx(np.corrcoef(rows.T), abs=1e-12)
    assert means == pytest.approx(rows.mean(axis=0)) and scales == pytest.approx(rows.std(axis=0, ddof=1))
    direct = orthopt.solve("l0-pca", rows, rank=2, nonzeros=3, scale="std", seed=1)
    of_sums = orthopt.solve("l0-pca", c, rank=2, nonzeros=3, gram=True, seed=1)
    assert of_sums.objective == pytest.approx(direct.objective, rel=1e-12)
    weights = np.arange(500.0) % 3
    weighted = GramAccumulator().add(rows, weights)
    assert weighted.weight == pytest.approx(weights.sum())
    assert weighted.gram() == pytest.approx((rows * weights[:, None]).T @ rows, rel=1e-10, abs=1e-10)
    with pytest.raises(InvalidOptionError, match="std, unit"):
        sums.gram(scale="big")


def test_mistakes_have_names(rows):
    sums = GramAccumulator()
    with pytest.raises(EmptyDataError):
        sums.gram()
    frame = pd.DataFrame(rows, columns=list("abcdefghijkl"))
    sums.add(frame)
    before = sums.to_bytes()
    with pytest.raises(ShapeError, match="chunk 2: 3 columns where 12"):
        sums.add(rows[:, :3])
    with pytest.raises(ShapeError, match="column 'c' is missing"):
        sums.add(frame.rename(columns={"c": "z"}))
    with pytest.raises(ShapeError, match="another order"):
        sums.add(frame[list("bacdefghijkl")])
    bad = rows.copy()
    bad[6, 1] = np.nan
    for kind in (bad, sp.csr_matrix(bad)):
        with pytest.raises(NotFiniteError, match="chunk 2: the value in row 7, column 2"):
            sums.add(kind)
    assert sums.to_bytes() == before and sums.names == list("abcdefghijkl")
    with pytest.raises(IncompatibleError):
        sums.merge(GramAccumulator(reproducible=True).add(rows))
    for broken in (before[:-5], b"nothing", before[:50] + b"x" + before[51:]):
        with pytest.raises(DataFileError):
            GramAccumulator.from_bytes(broken)
    assert (copy.deepcopy(sums).gram() == sums.gram()).all()
    assert (GramAccumulator.from_bytes(before).gram() == sums.gram()).all()


def test_partial_fit(rows):
    whole = orthopt.SparsePCA(2, nonzeros=3, random_state=0).fit(rows)
    parts = orthopt.SparsePCA(2, nonzeros=3, random_state=0)
    for chunk in np.array_split(rows, 5)[:-1]:
        parts.partial_fit(chunk, refit=False)
    parts.partial_fit(sp.csr_matrix(np.array_split(rows, 5)[-1]))
    assert parts.n_samples_ == 500
    assert parts.mean_ == pytest.approx(whole.mean_)
    assert parts.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert parts.components_ == pytest.approx(whole.components_, abs=1e-5)
    assert parts.explained_variance_ == pytest.approx(whole.explained_variance_, rel=1e-5)
    assert parts.transform(rows) == pytest.approx(whole.transform(rows), rel=1e-4, abs=1e-4 * np.abs(rows).max())
    with pytest.raises(ValueError, match="features"):
        parts.partial_fit(rows[:, :4])


def test_dask_collections(rows, exact, client):
    for chunks in ((500, 12), (77, 12), (100, 5)):
        x = da.from_array(rows, chunks=chunks)
        assert (od.gram(x, reproducible=True).gram() == exact).all()
        sparse = x.map_blocks(sp.csr_matrix)
        assert (od.gram(sparse, reproducible=True).gram() == exact).all(), chunks
    delayed = [dask.delayed(pd.DataFrame)(part) for part in np.array_split(rows, 3)]
    assert (od.gram(delayed, reproducible=True).gram() == exact).all()
    weights = np.arange(500.0)
    x = da.from_array(rows, chunks=(90, 12))
    expected = GramAccumulator(reproducible=True).add(rows, weights).gram()
    for kind in (weights, da.from_array(weights, chunks=33)):
        assert (od.gram(x, weights=kind, reproducible=True).gram() == expected).all()
    bad = rows.copy()
    bad[130, 4] = np.nan
    with pytest.raises(NotFiniteError, match="chunk 2 of 5, chunk 1: the value in row 31, column 5"):
        od.gram(da.from_array(bad, chunks=(100, 12)))
    for wrong in (rows, da.ones(5), []):
        with pytest.raises(OrthoptError):
            od.gram(wrong)


def test_c_and_x_are_the_same_wherever_rows_are_added(rows, exact, client, tmp_path):
    """One array, 1, 7 and 100 chunks in any order, a mapped file, CSR chunks, Dask with two workers."""
    rng = np.random.default_rng(1)
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")

    def added(chunks):
        sums = GramAccumulator(reproducible=True)
        for k in rng.permutation(len(chunks)):
            sums.add(chunks[k])
        return sums

    ways = [added(np.array_split(rows, parts)) for parts in (1, 7, 100)]
    ways.append(added([mapped[k : k + 90] for k in range(0, 500, 90)]))
    ways.append(added([sp.csr_matrix(part) for part in np.array_split(rows, 7)]))
    ways.append(od.gram(da.from_array(rows, chunks=(60, 5)), reproducible=True))
    found = [orthopt.solve("l0-pca", w.gram(center=True), rank=3, nonzeros=4, gram=True, seed=1).X for w in ways]
    assert all((way.gram() == exact).all() for way in ways)
    assert all((x == found[0]).all() for x in found)


def test_estimators_take_dask_arrays(rows, client):
    x = da.from_array(rows, chunks=(120, 7))
    found = orthopt.SparsePCA(2, nonzeros=3, random_state=0).fit(x)
    whole = orthopt.SparsePCA(2, nonzeros=3, random_state=0).fit(rows)
    assert found.components_ == pytest.approx(whole.components_, abs=1e-5)
    assert (found.n_features_in_, found.n_samples_) == (12, 500)
    assert found.transform(rows).shape == (500, 2)


SOLVE = {"rank": 2, "lam": None, "nonzeros": 3, "maximise": "variance", "solver": "exchange", "max_iters": 300}


def test_starts_are_those_of_this_process(rows, client):
    c = GramAccumulator(reproducible=True).add(rows).gram(scale="std")
    found = od.solve("l0-pca", c, starts=5, gram=True, init="random", **SOLVE)
    assert found.seeds == [0, 1, 2, 3, 4] and found.failed == {}
    for seed, arm in zip(found.seeds, found.arms):
        here = orthopt.solve("l0-pca", c, gram=True, init="random", seed=seed, **SOLVE)
        assert (here.X == arm.X).all()
    assert found.best.objective == min(arm.objective for arm in found.arms)
    x = da.from_array(rows, chunks=(50, 12))
    lambdas = [0.05, 0.5]
    along = od.solve("l1-pca", x, 2, lambdas=lambdas, seeds=[3, 8], scale="std", max_iters=50)
    assert list(along.by_lambda) == lambdas and len(along.arms) == 4
    assert [arm.lam for arm in along.arms] == [0.05, 0.05, 0.5, 0.5]
    assert along.by_lambda[0.5].objective == min(arm.objective for arm in along.arms[2:])
    with pytest.raises(OrthoptError, match="none of 2 starts"):
        od.solve("l0-pca", c, 99, starts=2, gram=True)
    with pytest.raises(InvalidOptionError):
        od.submit("l0-pca", c, 2, 1.0, lambdas=[1.0], gram=True)


def test_a_lost_worker_costs_its_tasks_only(rows, cluster, client):
    c = GramAccumulator().add(rows).gram(scale="std")
    run = od.submit("l1-pca", c, 2, 0.1, starts=6, gram=True, solver="obcd", init="random", time_limit=1.0, tol=0.0)
    while not (busy := [worker for worker, keys in client.processing().items() if keys]):
        time.sleep(0.02)
    pid = client.run(os.getpid, workers=busy[:1])[busy[0]]
    os.kill(pid, signal.SIGKILL)
    found = run.result()
    assert found.seeds == [0, 1, 2, 3, 4, 5] and not found.failed
    client.wait_for_workers(2, timeout=60)  # the nanny starts another one


def test_cancelled_starts_hand_over_what_they_have(client):
    c = np.cov(np.random.default_rng(6).normal(size=(300, 120)).T)  # some minutes of work
    run = od.submit("l1-pca", c, 12, 0.1, starts=8, gram=True, solver="obcd", init="random", time_limit=600.0, tol=0.0)
    while sum(len(keys) for keys in client.processing().values()) < 2:
        time.sleep(0.02)
    time.sleep(1.0)
    run.cancel()
    found = run.result()
    assert 1 <= len(found.arms) <= 8
    assert any(arm.status == "interrupted" for arm in found.arms)
    assert len(found.arms) + len(found.failed) == 8


def test_dask_is_optional():
    code = (
        "import sys\nsys.modules['dask'] = None\nimport orthopt\n"
        "orthopt.GramAccumulator().add([[1.0, 2.0]])\n"
        "try:\n    import orthopt.dask\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "orthopt.dask needs Dask: pip install 'orthopt[dask]'"


def test_the_command_adds_the_same_bits(rows, exact, cli, tmp_path):
    for k, part in enumerate(np.array_split(rows, 3)):
        np.save(tmp_path / f"part-{k}.npy", part)
    archive = tmp_path / "c.npz"
    cli("data", "gram", *sorted(map(str, tmp_path.glob("part-*.npy"))), "-o", archive, "--reproducible")
    np.save(tmp_path / "whole.npy", rows)
    cli("data", "gram", tmp_path / "whole.npy", "-o", tmp_path / "one.npz", "--reproducible")
    assert (np.load(tmp_path / "one.npz")["X"] == exact).all()
    arrays = np.load(archive)
    assert (arrays["X"] == exact).all()
    sums = GramAccumulator.from_bytes(arrays["accumulator"].tobytes())
    assert (sums.rows, (sums.gram() == exact).all()) == (500, True)


def test_folds_under_joblibs_dask_backend(rows, client):
    joblib = pytest.importorskip("joblib")
    from sklearn.model_selection import cross_val_score

    pca = orthopt.SparsePCA(2, nonzeros=3, certify=False, random_state=0)
    here = cross_val_score(pca, rows, cv=3)
    with joblib.parallel_config(backend="dask"):
        there = cross_val_score(pca, rows, cv=3, n_jobs=2)
    assert (here == there).all()


def test_dask_frames(rows, exact, client):
    frames = pytest.importorskip("dask.dataframe", reason="frames of Dask need pyarrow", exc_type=ImportError)
    frame = frames.from_pandas(pd.DataFrame(rows, columns=list("abcdefghijkl")), npartitions=4)
    sums = od.gram(frame, reproducible=True)
    assert (sums.gram() == exact).all() and sums.names == list("abcdefghijkl")
    pca = orthopt.SparsePCA(2, nonzeros=3, random_state=0).fit(frame)
    assert list(pca.feature_names_in_) == list("abcdefghijkl")
