"""Large tables: F against seconds, and the end, of one or several commands.

    ORTHOPT_DATA=FOLDER python bench/python/scale.py COMMAND [COMMAND ...] [--patience 100]      a line of CSV for each command and case

FOLDER holds the public data sets that the cases name. TF-IDF texts are made of the counts; 100 x 20,000 genes are groups of genes in noise. A COMMAND is an `orthopt`, one thread each, interrupted after so many seconds. F after 1, 3 and 10 seconds is that of
the trace (seconds of the search, reading left out).

needs scipy and scikit-learn.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
from cells import MOMENTS, run
from scipy.io import mmread
from scipy.sparse import csr_matrix, save_npz


def genes(seed=0, samples=100, variables=20_000, groups=3, size=200, height=1.0):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(samples, variables))
    for _ in range(groups):
        where = rng.permutation(variables)[:size]
        table[:, where] += height * rng.normal(size=(samples, 1))
    return table


def cases(folder, made):
    """Name, problem and arguments of each case; what is made goes to the folder `made`."""
    from sklearn.feature_extraction.text import TfidfTransformer

    counts_file = folder / "news20_counts.mtx.gz"
    tfidf = made / "tfidf.npz"
    save_npz(tfidf, csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(csr_matrix(mmread(counts_file)))))
    table = made / "genes.npy"
    np.save(table, genes())
    images = folder / "mnist_a_5000_images.npy"
    flat = made / "images.npy"
    np.save(flat, np.load(images).reshape(5000, -1).astype(float))
    faint = made / "faint.npy"
    np.save(faint, genes(3, groups=8, size=150, height=0.8))
    coil = made / "coil.npy"
    np.save(coil, np.load(folder / "coil20.npy").reshape(1440, -1).astype(float))
    colon = folder / "colon_alon.csv.gz"
    yield "news20 counts", "l0, r = 5", ["l0-pca", counts_file, "-r", 5]
    yield "news20 counts", "l1, r = 5", ["l1-pca", counts_file, "-r", 5]
    yield "news20 counts", "X >= 0, r = 5", ["nonneg-pca", counts_file, "-r", 5]
    yield "news20 TF-IDF", "50 nonzeros, r = 10", ["l0-pca", tfidf, "--center", "-r", 10, "--nonzeros", 50]
    yield "news20 TF-IDF", "l1, r = 10", ["l1-pca", tfidf, "--center", "-r", 10]
    yield "colon 62 x 2000", "l0, r = 8", ["l0-pca", colon, "--scale", "std", "-r", 8]
    yield "colon 62 x 2000", "l1, r = 8", ["l1-pca", colon, "--scale", "std", "-r", 8]
    adjusted = ["--nonzeros", 50, "--maximise", "adjusted"]
    yield "colon 62 x 2000", "adjusted, 50 nonzeros, r = 8", ["l0-pca", colon, "--scale", "std", "-r", 8, *adjusted]
    yield "genes 100 x 20000", "200 nonzeros, r = 3", ["l0-pca", table, "--center", "-r", 3, "--nonzeros", 200]
    yield "genes 100 x 20000", "mcp, r = 3", ["mcp-pca", table, "--center", "-r", 3]
    yield "images 5000 x 784", "l0, r = 100", ["l0-pca", flat, "--center", "-r", 100]

    def counts(name, data, rank, count, *options):
        what = "adjusted, " if "adjusted" in options else ""
        return name, f"{what}{count} nonzeros, r = {rank}", ["l0-pca", data, *options, "-r", rank, "--nonzeros", count]

    yield counts("news20 counts", counts_file, 20, 30, "--center")
    yield counts("images 5000 x 784", flat, 20, 30, "--center")
    yield counts("coil20 1440 x 1024", coil, 30, 20, "--center")
    yield counts("faint genes 100 x 20000", faint, 8, 150, "--center")
    for name, rank, count in [("breast_west", 8, 50), ("breast_sorlie", 20, 30), ("srbct_khan", 10, 40)]:
        yield counts(name, folder / f"{name}.csv.gz", rank, count, "--scale", "std")
    shared = ["--maximise", "adjusted"]
    yield counts("coil20 1440 x 1024", coil, 10, 20, "--center", *shared)
    yield counts("images 5000 x 784", flat, 10, 30, "--center", *shared)
    for name, rank, count in [("breast_west", 5, 30), ("breast_sorlie", 6, 20), ("srbct_khan", 8, 40)]:
        yield counts(name, folder / f"{name}.csv.gz", rank, count, "--scale", "std", *shared)
    yield counts("ionosphere", folder / "ionosphere.csv", 4, 6, "--scale", "std", *shared)
    yield counts("w1a", folder / "w1a.svm", 8, 10, *shared)
    yield counts("w1a", folder / "w1a.svm", 50, 10)
    yield counts("pcmac", folder / "pcmac.svm.gz", 15, 25)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("commands", nargs="+")
    parser.add_argument("--patience", type=float, default=100, help="seconds after which a run is interrupted")
    parser.add_argument("--only", default="", help="cases whose data have this in their name")
    args = parser.parse_args()
    print("data,problem,method," + ",".join(f"F_{t}s" for t in MOMENTS) + ",F,seconds,status")
    with tempfile.TemporaryDirectory() as made:
        for data, problem, arguments in cases(Path(os.environ["ORTHOPT_DATA"]), Path(made)):
            if args.only not in data:
                continue
            for command in args.commands:
                at, result, _ = run(command, arguments, args.patience)
                moments = ",".join("" if np.isnan(v) else f"{v:.6g}" for v in at)
                end = f"{result['objective']:.8g},{result['seconds']:.1f},{result['status']}"
                print(f'{data},"{problem}",{command},{moments},{end}', flush=True)


if __name__ == "__main__":
    main()
