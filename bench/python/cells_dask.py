"""Cells by genes as a Dask array of sparse chunks on two workers: seconds and memory of C, and of sparse components from it.

    python bench/python/cells_dask.py FOLDER [--seeds 1] [--chunk 5000]      a line of CSV for each step and seed

FOLDER holds the tables of `cells.py FOLDER --make`. Chunks are SciPy CSR matrices on a LocalCluster of two workers with one thread each. Steps: C by
`orthopt.dask.gram`; eight components of 60 genes from C by `orthopt.solve`, with the programmes that are found; and plain PCA by scanpy (`sc.pp.pca` of
the same Dask array) and by dask-ml (`PCA` of dense chunks, which it needs) where they are installed. Memory is the largest of a worker's process, chunks included.

needs scipy, dask[distributed]; scanpy and dask-ml for the rows beside.
"""

import argparse
import resource
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import orthopt
import orthopt.dask
from cells import PROGRAMMES, SIZE, found
from distributed import Client, LocalCluster
from scipy.sparse import csr_matrix, load_npz


def peak() -> float:
    """Largest memory of this process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def array(client, table, chunk, dense=False):
    """The table as a Dask array whose chunks are on the workers."""
    cut = [table[at : at + chunk] for at in range(0, table.shape[0], chunk)]
    cut = [part.toarray() for part in cut] if dense else cut
    meta = np.zeros((0, 0)) if dense else csr_matrix((0, 0))
    there = client.scatter(cut)
    parts = [da.from_delayed(dask.delayed(f), shape=part.shape, meta=meta, dtype=float) for f, part in zip(there, cut)]
    return da.concatenate(parts, axis=0)


def of_scanpy(x):
    import anndata
    import scanpy

    whole = anndata.AnnData(X=x)
    scanpy.pp.pca(whole, n_comps=PROGRAMMES)
    return dask.compute(whole.obsm["X_pca"])


def of_dask_ml(x):
    from dask_ml.decomposition import PCA

    return PCA(n_components=PROGRAMMES, svd_solver="randomized", random_state=0).fit(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--chunk", type=int, default=5000)
    args = parser.parse_args()
    print("seed,step,seconds,worker_MB,programmes,genes", flush=True)
    for seed in range(1, args.seeds + 1):
        table = load_npz(args.folder / f"cells-{seed}.npz").tocsr()
        programme = np.load(args.folder / f"cells-{seed}-truth.npy")

        def step(name, job, dense=False):
            """Runs the job on a fresh cluster; seconds without its start and the transfer of the chunks."""
            with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
                x = array(client, table, args.chunk, dense)
                before = time.perf_counter()
                try:
                    result = job(x)
                except (ImportError, MemoryError, NotImplementedError, TypeError, ValueError) as error:
                    print(f'{seed},{name},,,"{type(error).__name__}: {str(error)[:80]}",', flush=True)
                    return None
                seconds = time.perf_counter() - before
                memory = max(client.run(peak).values())
            return result, seconds, memory

        sums, seconds, memory = step("C", orthopt.dask.gram)
        print(f"{seed},C by orthopt.dask.gram,{seconds:.1f},{memory:.0f},,", flush=True)
        before = time.perf_counter()
        c = sums.gram(center=True)
        s = orthopt.solve("l0-pca", c, rank=PROGRAMMES, nonzeros=SIZE, maximise="variance", gram=True)
        count, genes = found(s.X, programme)
        print(f'{seed},"l0-pca, 60 nonzeros, from C",{time.perf_counter() - before:.1f},{peak():.0f},{count},{genes}', flush=True)
        for name, job, dense in [("plain PCA by scanpy", of_scanpy, False), ("plain PCA by dask-ml", of_dask_ml, True)]:
            done = step(name, job, dense)
            if done is not None:
                print(f"{seed},{name},{done[1]:.1f},{done[2]:.0f},,", flush=True)


if __name__ == "__main__":
    main()
