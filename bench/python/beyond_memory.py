"""More data than memory: sums of A'A against NumPy and scikit-learn, sparse files, starts over worker processes.

    python bench/python/beyond_memory.py sums [ROWS]       rows x 1000 in chunks of 10,000: seconds
    python bench/python/beyond_memory.py file DIR [ROWS]   writes DIR/sparse.svm.gz, ROWS x 100,000, 20 entries a row
    python bench/python/beyond_memory.py starts            arms per second: one and two worker processes
    python bench/python/beyond_memory.py cluster [ROWS]    rows x 1000 drawn on two worker processes: seconds and peak memory,
                                                           beside NumPy and the PCA of dask-ml (pip install dask-ml)

``file`` is followed by ``/usr/bin/time -v orthopt solve l0-pca DIR/sparse.svm.gz --screen 5000 -r 10 --nonzeros 20``.
"""

import gzip
import sys
import time

import numpy as np

import orthopt

COLUMNS, CHUNK = 1000, 10_000


def sums(rows: int) -> None:
    rng = np.random.default_rng(0)
    chunk = rng.normal(size=(CHUNK, COLUMNS))

    def timed(name, work):
        before = time.perf_counter(), time.process_time()
        work()
        wall, processor = (now - then for now, then in zip((time.perf_counter(), time.process_time()), before))
        print(f"| {name} | {wall:.1f} | {processor:.1f} |", flush=True)

    def numpy():
        c = np.zeros((COLUMNS, COLUMNS))
        for _ in range(rows // CHUNK):
            c += chunk.T @ chunk

    def ours(reproducible):
        def work():
            acc = orthopt.GramAccumulator(reproducible=reproducible)
            for _ in range(rows // CHUNK):
                acc.add(chunk)
            acc.gram()

        return work

    def incremental():
        from sklearn.decomposition import IncrementalPCA

        pca = IncrementalPCA(10)
        for _ in range(rows // CHUNK):
            pca.partial_fit(chunk)

    print(f"| {rows} x {COLUMNS} | seconds | processor seconds |\n|---|---|---|")
    timed("NumPy, `C += A.T @ A`", numpy)
    timed("GramAccumulator", ours(False))
    timed("GramAccumulator, reproducible", ours(True))
    timed("scikit-learn IncrementalPCA(10)", incremental)


def cluster(rows: int) -> None:
    import resource

    import dask.array as da
    import orthopt.dask
    from distributed import Client, LocalCluster

    x = da.random.default_rng(0).normal(size=(rows, COLUMNS), chunks=(CHUNK, COLUMNS))

    def leading(c):
        from scipy.linalg import eigh

        return eigh(c, subset_by_index=[COLUMNS - 10, COLUMNS - 1])[1]

    def numpy():
        c, sums = np.zeros((COLUMNS, COLUMNS)), np.zeros(COLUMNS)
        rng = np.random.default_rng(0)
        for _ in range(rows // CHUNK):
            a = rng.normal(size=(CHUNK, COLUMNS))
            c += a.T @ a
            sums += a.sum(axis=0)
        leading(c - np.outer(sums, sums) / rows)

    def ours(reproducible):
        return lambda: leading(orthopt.dask.gram(x, reproducible=reproducible).gram(center=True))

    def dask_ml(solver):
        def work():
            from dask_ml.decomposition import PCA

            PCA(10, svd_solver=solver, random_state=0).fit(x)

        return work

    ways = {
        "NumPy, `C += A.T @ A`, in this process": numpy,
        "orthopt.dask.gram": ours(False),
        "orthopt.dask.gram, reproducible": ours(True),
        "dask-ml PCA(10, svd_solver='full')": dask_ml("full"),
        "dask-ml PCA(10, svd_solver='randomized')": dask_ml("randomized"),
    }
    print(f"| {rows} x {COLUMNS}, two workers | seconds | peak MB of a worker |\n|---|---|---|")
    for name, work in ways.items():
        # workers of their own for each: the peak of memory is that of a process
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made, Client(made) as client:
            client.wait_for_workers(2)
            before = time.perf_counter()
            try:
                work()
                took = f"{time.perf_counter() - before:.1f}"
            except Exception as error:  # what another package cannot do is a result too
                took = f"failed after {time.perf_counter() - before:.1f}: {type(error).__name__}"
            peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000)
            peak = "-" if work is numpy else str(max(peaks.values()))
            print(f"| {name} | {took} | {peak} |", flush=True)


def file(folder: str, rows: int) -> None:
    rng = np.random.default_rng(0)
    n, entries = 100_000, 20
    with gzip.open(f"{folder}/sparse.svm.gz", "wt", compresslevel=1) as out:
        for _ in range(rows // CHUNK):
            # words of a text: few are frequent, most are rare
            columns = np.minimum((n ** rng.random((CHUNK, entries))).astype(int), n)
            counts = rng.integers(1, 10, size=columns.shape)
            for which, values in zip(columns, counts):
                row = dict(zip(which.tolist(), values.tolist()))
                out.write("0 " + " ".join(f"{j}:{row[j]}" for j in sorted(row)) + "\n")


def starts() -> None:
    import orthopt.dask
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    a = rng.normal(size=(2000, 40)) @ rng.normal(size=(40, 600)) + rng.normal(size=(2000, 600))
    c = orthopt.GramAccumulator().add(a).gram(scale="std")
    rate = {}
    for workers in (1, 2):
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                client.wait_for_workers(workers)
                call = {"gram": True, "nonzeros": 20, "maximise": "variance", "solver": "exchange", "init": "random", "restarts": 0}
                orthopt.dask.solve("l0-pca", c, 10, starts=workers, **call)  # imports
                before = time.perf_counter()
                found = orthopt.dask.solve("l0-pca", c, 10, starts=24, **call)
                rate[workers] = len(found.arms) / (time.perf_counter() - before)
                print(f"| {workers} | {rate[workers]:.2f} | {found.best.objective:.6f} |", flush=True)
    print(f"two workers against one: {rate[2] / rate[1]:.2f}")


if __name__ == "__main__":
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "sums":
        sums(int(rest[0]) if rest else 1_000_000)
    elif what == "file":
        file(rest[0], int(rest[1]) if len(rest) > 1 else 1_000_000)
    elif what == "cluster":
        cluster(int(rest[0]) if rest else 1_000_000)
    elif what == "starts":
        starts()
    else:
        sys.exit(__doc__)
