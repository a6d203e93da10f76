"""Variance at equal numbers of nonzeros: orthopt, truncated power iterations with deflation, scikit-learn.

    python bench/python/cardinality.py orthopt DATA.csv [DATA.csv ...] --rank 3 --nonzeros 5 10

`orthopt` is the command. Every X is measured in the same way: tr(X'CX) / (sum of the r largest eigenvalues of C), the
variance of the span (scores by QR, the same for orthogonal and other components), and ||X'X - I||. Data are centred and scaled to
unit columns. Peers:

power    truncated power iterations (Yuan and Zhang 2013) from the columns of largest variance, k halved until it is
         there, then projection deflation C <- (I - vv')C(I - vv'); components need not be orthogonal
ortho    the same, each component then the leading eigenvector on its support orthogonal to those before
abess    abess.decomposition.SparsePCA (PyPI): best subsets by splicing, one component after the other; components need
         not be orthogonal, so `ortho` is shown of them, too (abess*)
sklearn  SparsePCA, alpha bisected for each set so that no component has more than k nonzeros, columns of length 1

DATA may be pitprops, wine, breast_cancer or digits, too: the built-in correlations and tables of scikit-learn.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np


def truncated_power(C, k, starts=8):
    """The best of several starts."""
    best, n = None, len(C)
    for first in np.argsort(-np.diag(C))[:starts]:
        v = np.eye(n)[first]
        size = n
        while True:
            for _ in range(100):
                w = C @ v
                w[np.argsort(-abs(w))[size:]] = 0
                w /= max(np.linalg.norm(w), 1e-300)
                done = np.linalg.norm(w - v) < 1e-9
                v = w
                if done:
                    break
            if size == k:
                break
            size = max(size // 2, k)
        if best is None or v @ C @ v > best @ C @ best:
            best = v
    return best


def power(C, r, k):
    columns, D = [], C.copy()
    for _ in range(r):
        v = truncated_power(D, k)
        columns.append(v)
        P = np.eye(len(C)) - np.outer(v, v)
        D = P @ D @ P
    return np.array(columns).T


def orthogonal(C, X):
    """Leading eigenvectors on the supports, each orthogonal to those before."""
    out = np.zeros_like(X)
    for j in range(X.shape[1]):
        rows = np.flatnonzero(X[:, j])
        Q, s, _ = np.linalg.svd(out[rows, :j], full_matrices=True)
        N = Q[:, int((s > 1e-12).sum()):]
        if N.shape[1] == 0:
            return None
        _, V = np.linalg.eigh(N.T @ C[np.ix_(rows, rows)] @ N)
        out[rows, j] = N @ V[:, -1]
    return out


def sklearn_columns(A, r, k):
    from sklearn.decomposition import SparsePCA

    low, high, best = 0.0, 1.0, None
    for _ in range(14):
        alpha = 0.5 * (low + high)
        V = SparsePCA(r, alpha=alpha, random_state=0, max_iter=300).fit(A).components_.T
        counts = (V != 0).sum(axis=0)
        if counts.max() > k:
            low, high = alpha, high if best is not None else 2 * high
        else:
            high = alpha
            if counts.min() > 0:
                best = V / np.linalg.norm(V, axis=0)
    return best


def abess_columns(C, r, k):
    from abess.decomposition import SparsePCA

    sizes = np.zeros((k, r))
    sizes[-1] = 1  # row i, column j: whether component j may have i + 1 nonzeros
    model = SparsePCA(support_size=sizes)
    # a little more on the diagonal: it refuses C whose smallest eigenvalue is -1e-16
    C = C + 1e-9 * np.trace(C) / len(C) * np.eye(len(C))
    V = np.asarray(model.fit(Sigma=C, number=r).coef_).reshape(len(C), -1)
    return V / np.maximum(np.linalg.norm(V, axis=0), 1e-300)


def standardised(path):
    """Columns centred, of unit length, constant ones left out; of pitprops a root of its correlations."""
    if path == "pitprops":
        here = Path(__file__).parents[2] / "crates" / "orthopt-data" / "src" / "builtin" / "pitprops.csv"
        C = np.genfromtxt(here, delimiter=",", skip_header=1)
        values, vectors = np.linalg.eigh(C)
        return vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T, False
    if path in ("wine", "breast_cancer", "digits"):
        from sklearn import datasets

        A = getattr(datasets, f"load_{path}")().data
    else:
        A = np.genfromtxt(path, delimiter=",", skip_header=1)
    A = A[:, A.std(axis=0) > 0]
    A = A - A.mean(axis=0)
    return A / np.linalg.norm(A, axis=0), True


def measures(C, X):
    if X is None:
        return None
    top = np.sort(np.linalg.eigvalsh(C))[::-1][: X.shape[1]].sum()
    Q = np.linalg.qr(np.linalg.cholesky(C + 1e-12 * np.trace(C) / len(C) * np.eye(len(C))).T @ X)[1]
    gram = X.T @ X - np.eye(X.shape[1])
    return np.trace(X.T @ C @ X) / top, (np.diag(Q) ** 2).sum() / np.trace(C), np.linalg.norm(gram)


def orthopt(command, path, r, k, extra=(), prepare=("--center", "--scale", "unit")):
    with tempfile.TemporaryDirectory() as folder:
        x, out = Path(folder, "x.npy"), Path(folder, "o.json")
        run = [command, "solve", "l0-pca", path, *prepare, "-r", str(r), "--nonzeros", str(k), "--maximise", "variance"]
        subprocess.run([*run, "-q", "--save-x", x, "--json", out, *extra], check=True, stdout=subprocess.DEVNULL)
        return np.load(x), json.loads(out.read_text())["seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("data", nargs="+")
    parser.add_argument("--rank", type=int, nargs="+", default=[3])
    parser.add_argument("--nonzeros", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--sklearn", action="store_true")
    parser.add_argument("--abess", action="store_true")
    parser.add_argument("--limit", default=None, help="seconds for orthopt")
    args = parser.parse_args()
    print("data                 r   k  method    tr(X'CX)   span     ||X'X-I||  seconds")
    for path in args.data:
        A, raw = standardised(path)
        C = A.T @ A
        with tempfile.TemporaryDirectory() as folder:
            clean = Path(folder, "a.npy")
            np.save(clean, A)
            for r in args.rank:
                for k in (k for k in args.nonzeros if k <= len(C)):
                    extra = ("--time-limit", args.limit) if args.limit else ()
                    extra = (*extra, "--threads", "1")
                    X, seconds = orthopt(args.command, clean, r, k, extra, ("--center", "--scale", "unit") if raw else ())
                    rows = [("orthopt", X, seconds)]
                    begun = time.perf_counter()
                    Y = power(C, r, k)
                    rows.append(("power", Y, time.perf_counter() - begun))
                    rows.append(("ortho", orthogonal(C, Y), time.perf_counter() - begun))
                    if args.abess:
                        begun = time.perf_counter()
                        Y = abess_columns(C, r, k)
                        rows.append(("abess", Y, time.perf_counter() - begun))
                        rows.append(("abess*", orthogonal(C, Y), time.perf_counter() - begun))
                    if args.sklearn:
                        begun = time.perf_counter()
                        rows.append(("sklearn", sklearn_columns(A, r, k), time.perf_counter() - begun))
                    for name, X, seconds in rows:
                        m = measures(C, X)
                        text = "none" if m is None else f"{m[0]:.6f}  {m[1]:.5f}  {m[2]:.1e}"
                        print(f"{Path(path).stem:18} {r:3} {k:3}  {name:8} {text}  {seconds:8.2f}", flush=True)


if __name__ == "__main__":
    main()
