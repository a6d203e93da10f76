"""Cells by genes with planted programmes: F against seconds, and the programmes that are found.

    python bench/python/cells.py FOLDER --make [--seeds 3]              FOLDER/cells-SEED.npz and FOLDER/cells-SEED-truth.npy
    python bench/python/cells.py FOLDER COMMAND [COMMAND ...] [--seeds 3]   a line of CSV for each command, problem and seed

30,000 cells x 10,000 genes, some 9.3 million entries: log(1 + counts) of Poisson counts, depths of cells and means of genes log-normal;
each of eight programmes raises 60 genes in a tenth of the cells. A COMMAND is an `orthopt`, one thread each, interrupted after 200 seconds (--patience). F after 1, 3 and 10 seconds is that
of the trace (seconds of the search, reading left out); a programme counts as found where a component has 55 of its 60 genes. Beside it
scikit-learn: TruncatedSVD of the same rank, cut to the 60 largest loadings of each component, with the F of the polar factor on
those entries.

needs scipy and scikit-learn.
"""

import argparse
import json
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, load_npz, save_npz

CELLS, GENES, PROGRAMMES, SIZE = 30_000, 10_000, 8, 60
PROBLEMS = {
    "nonzeros 60": ["l0-pca", "--nonzeros", "60", "--maximise", "variance"],
    "default": ["l0-pca"],
    "l1": ["l1-pca"],
    "X >= 0": ["nonneg-pca"],
    "adjusted, nonzeros 60": ["l0-pca", "--nonzeros", "60", "--maximise", "adjusted"],
}
MOMENTS = (1, 3, 10)


def cells(seed):
    """The matrix, and the programme of each gene (-1 for none)."""
    rng = np.random.default_rng(seed)
    means = np.exp(rng.normal(-4.58, 1.5, GENES))
    depth = np.exp(rng.normal(0, 0.1, CELLS))
    programme = np.full(GENES, -1)
    # genes that are seen at all
    candidates = np.flatnonzero((means > np.quantile(means, 0.4)) & (means < np.quantile(means, 0.97)))
    programme[rng.permutation(candidates)[: PROGRAMMES * SIZE]] = np.repeat(np.arange(PROGRAMMES), SIZE)
    active = [np.flatnonzero(rng.random(CELLS) < 0.1) for _ in range(PROGRAMMES)]
    raised = [np.zeros(CELLS) for _ in range(PROGRAMMES)]
    for where, level in zip(active, raised):
        level[where] = rng.gamma(4, 0.5, len(where))
    columns = []
    for gene in range(GENES):
        rate = depth * means[gene]
        if programme[gene] >= 0:
            rate = rate * (1 + 2 * raised[programme[gene]]) + depth * 0.2 * raised[programme[gene]]
        total = rng.poisson(rate.sum())
        hit = np.bincount(rng.choice(CELLS, total, p=rate / rate.sum()), minlength=CELLS) if total else np.zeros(CELLS, int)
        rows = np.flatnonzero(hit)
        columns.append((rows, np.log1p(hit[rows])))
    indptr = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in columns])])
    data, indices = np.concatenate([v for _, v in columns]), np.concatenate([rows for rows, _ in columns])
    return csr_matrix(csc_matrix((data, indices, indptr), shape=(CELLS, GENES))), programme


def found(X, programme):
    """Programmes of which a component has 55 genes, and the most genes of each."""
    supports = [np.abs(column) > 1e-9 for column in X.T]
    most = [max((s & (programme == p)).sum() for s in supports) for p in range(PROGRAMMES)]
    return sum(m >= 55 for m in most), " ".join(str(m) for m in most)


def run(command, arguments, patience):
    """F at the moments, the result, X: of a run with one thread, interrupted after `patience` seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = ["--json", folder / "o.json", "--save-x", folder / "x.npy", "--trace", folder / "t.csv", "-q"]
        job = [str(part) for part in [command, "solve", *arguments, "--threads", "1", *files]]
        job = subprocess.Popen(job, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            job.wait(patience)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGINT)
            job.wait()
        result = json.loads((folder / "o.json").read_text())
        trace = np.genfromtxt(folder / "t.csv", delimiter=",", names=True, usecols=(0, 2))
        seconds, F = np.atleast_1d(trace["seconds"]), np.atleast_1d(trace["objective"])
        at = [F[seconds <= t].min() if (seconds <= t).any() else np.nan for t in MOMENTS]
        return at, result, np.load(folder / "x.npy")


def of_command(command, options, path, programme, patience):
    """F at the moments and at the end, seconds, status, programmes."""
    problem, *rest = options
    at, result, X = run(command, [problem, path, "--center", "-r", PROGRAMMES, *rest], patience)
    return at, result["objective"], result["seconds"], result["status"], *found(X, programme)


def of_sklearn(path, programme):
    from scipy.linalg import polar
    from sklearn.decomposition import TruncatedSVD

    A = load_npz(path).tocsr()
    before = time.perf_counter()
    V = TruncatedSVD(PROGRAMMES, random_state=0).fit(A).components_.T
    seconds = time.perf_counter() - before
    X = np.zeros_like(V)
    for k, column in enumerate(V.T):
        keep = np.argsort(-np.abs(column))[:SIZE]
        X[keep, k] = column[keep]
    X = polar(X)[0]
    AX = A @ X - np.asarray(A.mean(axis=0)) @ X
    return [np.nan] * len(MOMENTS), -0.5 * (AX**2).sum(), seconds, "", *found(X, programme)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("commands", nargs="*")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=200, help="seconds after which a run is interrupted")
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    args = parser.parse_args()
    if not args.make:
        print("problem,seed,method," + ",".join(f"F_{t}s" for t in MOMENTS) + ",F,seconds,status,programmes,genes")
    for seed in range(1, args.seeds + 1):
        path, truth = args.folder / f"cells-{seed}.npz", args.folder / f"cells-{seed}-truth.npy"
        if args.make:
            A, programme = cells(seed)
            print(f"{path}: {A.nnz} entries, {A.nnz / CELLS / GENES:.3f} of all", flush=True)
            save_npz(path, A)
            np.save(truth, programme)
            continue
        programme = np.load(truth)
        runs = {("nonzeros 60", "TruncatedSVD cut"): lambda: of_sklearn(path, programme)}
        for problem, options in PROBLEMS.items():
            if problem not in args.problems:
                continue
            for command in args.commands:
                runs[problem.replace(",", ""), command] = lambda c=command, o=options: of_command(c, o, path, programme, args.patience)
        for (problem, method), made in runs.items():
            at, F, seconds, status, n, genes = made()
            moments = ",".join("" if np.isnan(v) else f"{v:.0f}" for v in at)
            print(f"{problem},{seed},{method},{moments},{F:.0f},{seconds:.1f},{status},{n},{genes}", flush=True)


if __name__ == "__main__":
    main()
