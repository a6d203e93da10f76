"""orthopt beside scikit-learn's SparsePCA, on tables that scikit-learn brings along, at equal numbers of nonzeros.

    python bench/peers/sklearn_sparse_pca.py orthopt [--rank 3 5] [--data wine breast_cancer digits]

`orthopt` is the command. Columns are standardised (constant ones left out). For each alpha SparsePCA is fitted, and the numbers of
nonzeros that its components have are given to orthopt: `--nonzeros K1,K2,...`. So SparsePCA chooses how sparse each component is.
Its columns are divided by their lengths; all X are then measured in the same way, by bench/python/cardinality.py:

orthogonality   ||X'X - I||, Frobenius norm
projected       share of tr C in the span of the columns, whether they are orthogonal or not
adjusted        what each component adds to those before it (Zou, Hastie and Tibshirani 2006), summed
seconds         of the fit: SparsePCA as called, until it ends; orthopt as it reports, at most --limit seconds

Exact zeros are entries that are 0.0; "below 1e-6" are nonzeros that small.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.decomposition import SparsePCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import cardinality

TABLES = {"wine": datasets.load_wine, "breast_cancer": datasets.load_breast_cancer, "digits": datasets.load_digits}


def table(name: str) -> np.ndarray:
    rows = TABLES[name]().data
    return StandardScaler().fit_transform(rows[:, rows.std(axis=0) > 0])


def theirs(A: np.ndarray, r: int, alpha: float) -> tuple[np.ndarray, float]:
    """Columns of length 1, those of zeros left out, in the order of their variance."""
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        V = SparsePCA(r, alpha=alpha, random_state=0).fit(A).components_.T
    seconds = time.perf_counter() - begun
    V = V[:, (V != 0).any(axis=0)]
    V = V / np.linalg.norm(V, axis=0)
    return V[:, np.argsort(-((A @ V) ** 2).sum(axis=0))], seconds


def line(name: str, r: int, alpha: float, who: str, C: np.ndarray, X: np.ndarray, seconds: float) -> str:
    _, adjusted, orthogonality = cardinality.measures(C, X)
    span = np.linalg.qr(X)[0]
    projected = np.trace(span.T @ C @ span) / np.trace(C)
    counts = (X != 0).sum(axis=0)
    tiny = int(((X != 0) & (np.abs(X) < 1e-6)).sum())
    cells = [name, r, f"{alpha:g}", who, ",".join(map(str, counts)), int((X == 0).sum()), tiny]
    cells += [f"{orthogonality:.1e}", f"{projected:.4f}", f"{adjusted:.4f}", f"{seconds:.2f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", help="the command orthopt")
    parser.add_argument("--rank", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--data", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--alpha", type=float, nargs="+", default=[2, 5, 10])
    parser.add_argument("--limit", default="2", help="seconds for orthopt")
    args = parser.parse_args()
    print("| data | r | alpha | | nonzeros | exact zeros | below 1e-6 | orthogonality | projected | adjusted | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in args.data:
        A = table(name)
        C = A.T @ A / len(A)
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder, "rows.npy")
            np.save(rows, A)
            for r in args.rank:
                for alpha in args.alpha:
                    V, seconds = theirs(A, r, alpha)
                    print(line(name, r, alpha, "scikit-learn", C, V, seconds))
                    counts = ",".join(str(k) for k in (V != 0).sum(axis=0))
                    extra = ("--time-limit", args.limit)
                    X, seconds = cardinality.orthopt(args.command, rows, V.shape[1], counts, extra)
                    print(line(name, r, alpha, "orthopt", C, X, seconds), flush=True)


if __name__ == "__main__":
    main()
