"""What the four measures of `--maximise` choose: variance, adjusted, polar and explained, beside rivals, on tables and planted models.

    python bench/python/measures.py tables  orthopt [--nsprcomp LIBRARY] [--shared DIR]
    python bench/python/measures.py rivals  orthopt [--nsprcomp LIBRARY] [--shared DIR]
    python bench/python/measures.py study   orthopt [--shared DIR]
    python bench/python/measures.py planted orthopt [--model strong]

`orthopt` is the command; every run has one thread. Each prints a Markdown table with the columns of bench/results/measures.csv,
measures_rivals.csv, measures_study.csv or measures_planted.csv, for `bench/results.py replace`; `bench/results.py measures` prints what
docs/measures.md has of these files. DIR has the files of shared/data, LIBRARY is the R library with nsprcomp, abess is taken where Python
has it. Needs R (for its data sets), scikit-learn and statsmodels.

Each table is centred, its columns are scaled to standard deviation 1 (constant ones are left out), and the correlations C are given to
all methods. A name with /100 is a table of many variables of which the 100 of largest variance are kept. Every X is measured in the same
way, in shares of tr C in percent: variance tr(X'CX), adjusted (diagonal of R in a QR of the scores; for rivals the better of their order
and the order of variances), polar, explained (regression on the scores), and the largest correlation of two scores. Rivals:

greedy     one component after the other on variables that no earlier one has: of the covariance that the earlier scores leave, the
           principal submatrix of k rows with the largest eigenvalue, from every row, by truncated power iterations
greedy-e   the same for explained variance: variables added one by one by the generalised eigenvalue
power      truncated power iterations with projection deflation (cardinality.py); ortho-NAME: the components of NAME made orthogonal,
           each the leading eigenvector on its support orthogonal to those before
mspca      as in msPCA: truncated power iterations of all components in turn, with a penalty of overlap that grows until X'X = I
nsprcomp   of R: limits for each component, five restarts; nscumcomp: a total, penalty of overlap 1e3 times the largest eigenvalue
abess      best subsets by splicing, one component after the other
sklearn    SparsePCA, minibatch: MiniBatchSparsePCA; alpha is bisected until the total is the largest that is not above r k
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
from cardinality import abess_columns, orthogonal, power  # noqa: E402

OBJECTIVES = ["variance", "adjusted", "polar", "explained"]
MEASURES = [*OBJECTIVES, "largest_correlation"]

# Tables and their cells (components, nonzeros of each).
SHOWN = {
    "breast_cancer": [(3, 3), (3, 6), (5, 5)],
    "wine": [(3, 3), (4, 4)],
    "mtcars/20": [(3, 3), (4, 3)],  # the first 20 of the 32 cars
    "USArrests": [(2, 2), (2, 3)],
    "iris": [(2, 2), (2, 3)],
    "mtcars": [(3, 3), (4, 3)],
}
UNTUNED = {
    "USJudgeRatings": [(2, 3), (3, 3), (3, 4)],
    "state.x77": [(2, 2), (2, 3), (3, 2)],
    "swiss": [(2, 2), (2, 3), (3, 2)],
    "attitude": [(2, 2), (2, 3), (3, 2)],
    "Harman74": [(3, 4), (4, 5), (6, 4)],
    "volcano": [(3, 5), (3, 10), (6, 5)],
    "diabetes": [(2, 3), (3, 3), (3, 4)],
    "digits": [(3, 5), (3, 10), (6, 5)],
    "star98": [(3, 3), (3, 6), (5, 4)],
    "statecrime": [(2, 2), (2, 3), (3, 2)],
    "Seatbelts": [(2, 2), (2, 3), (3, 2)],
    "breast_sorlie/100": [(3, 5), (3, 10), (6, 5)],
}
SEEN = {
    "pitprops": [(2, 4), (3, 4)],
    "breast_cancer": [(3, 3), (5, 5)],
    "wine": [(3, 3), (4, 4)],
    "iris": [(2, 2), (2, 3)],
    "USArrests": [(2, 2), (2, 3)],
    "mtcars": [(3, 3), (4, 3)],
    "mtcars/20": [(3, 3), (4, 3)],
    "ionosphere": [(3, 5), (5, 5)],
    "w1a/100": [(3, 5), (5, 5)],
    "news20_top100words": [(3, 5), (5, 5)],
    "colon_alon/100": [(3, 5), (5, 5)],
}
UNSEEN = {name: [cells[0], cells[-1]] for name, cells in UNTUNED.items()}
UNSEEN["srbct_khan/100"] = [(3, 5), (5, 5)]


def exported(names):
    """Data sets of R, numeric columns and complete rows."""
    with tempfile.TemporaryDirectory() as folder:
        code = """args <- commandArgs(TRUE)
        for (name in args[-1]) {
          x <- as.data.frame(unclass(get(name)))
          x <- na.omit(x[sapply(x, is.numeric)])
          write.csv(x, file.path(args[1], paste0(name, ".csv")), row.names = FALSE)
        }"""
        subprocess.run(["Rscript", "-e", code, folder, *names], check=True, stdout=subprocess.DEVNULL)
        return {name: np.genfromtxt(Path(folder, f"{name}.csv"), delimiter=",", skip_header=1) for name in names}


def harman():
    """Correlations of 24 psychological tests of 145 pupils (R's Harman74.cor): they have no rows."""
    code = 'write.table(Harman74.cor$cov, stdout(), sep = ",", row.names = FALSE, col.names = FALSE)'
    text = subprocess.run(["Rscript", "-e", code], check=True, capture_output=True, text=True).stdout
    return np.array([[float(cell) for cell in line.split(",")] for line in text.split()])


def loaded(names, shared):
    """Tables by name: (A, None), or (None, C) of those that exist as correlations alone."""
    from sklearn import datasets

    tables = {}
    bundled = {"breast_cancer", "wine", "iris", "digits", "diabetes"}
    elsewhere = {"pitprops", "Harman74", "star98", "statecrime"}
    files = {"ionosphere": "ionosphere.csv", "w1a": "w1a.svm", "news20_top100words": "news20_top100words.mtx.gz"}
    files |= {name: f"{name}.csv.gz" for name in ("colon_alon", "srbct_khan", "breast_sorlie")}
    of_r = {name.split("/")[0] for name in names} - bundled - elsewhere - files.keys()
    frames = exported(sorted(of_r)) if of_r else {}
    for name in names:
        base, _, part = name.partition("/")
        if base == "pitprops":
            here = Path(__file__).parents[2] / "crates" / "orthopt-data" / "src" / "builtin" / "pitprops.csv"
            tables[name] = None, np.genfromtxt(here, delimiter=",", skip_header=1)
            continue
        if base == "Harman74":
            tables[name] = None, harman()
            continue
        if base in bundled:
            A = getattr(datasets, f"load_{base}")().data
        elif base in frames:
            A = frames[base]
        elif base in ("star98", "statecrime"):
            import statsmodels.datasets

            frame = getattr(statsmodels.datasets, base).load_pandas()
            A = (frame.exog.iloc[:, :12] if base == "star98" else frame.data.select_dtypes("number")).to_numpy(float)
        elif base == "w1a":
            A = datasets.load_svmlight_file(str(shared / files[base]))[0].toarray()
        elif base == "news20_top100words":
            import scipy.io

            A = scipy.io.mmread(shared / files[base]).toarray().astype(float)
        else:
            A = np.genfromtxt(shared / files[base], delimiter=",")
            A = A[~np.isnan(A).any(axis=1)]
        if part == "20":
            A = A[:20]
        elif part:
            A = A[:, np.sort(np.argsort(-A.std(axis=0), kind="stable")[: int(part)])]
        tables[name] = A[:, A.std(axis=0) > 0], None
    return tables


def correlations(A):
    A = A - A.mean(axis=0)
    scale = np.linalg.norm(A, axis=0)
    A = A / np.where(scale > 0, scale, 1)
    return A.T @ A


def root(C):
    values, vectors = np.linalg.eigh(C)
    return vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T


def pivots(S):
    """Sum of the squared diagonal of R in a QR of the scores; a score that others determine adds nothing."""
    total, S = 0.0, S.copy()
    least = 1e-12 * np.trace(S)
    for j in range(len(S)):
        if S[j, j] > least:
            total += S[j, j]
            S = S - np.outer(S[:, j], S[j]) / S[j, j]
    return total


def measured(C, X):
    """The measures in percent of tr C, the largest correlation, and ||X'X - I||."""
    S = X.T @ C @ X
    sd = np.sqrt(np.maximum(np.diag(S), 1e-300))
    order = np.argsort(-np.diag(S), kind="stable")
    values, vectors = np.linalg.eigh(S)
    polar = (np.diag(vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T) ** 2).sum()
    CX = C @ X
    inverse = np.linalg.pinv(S, rcond=1e-11, hermitian=True)
    share = 100 / np.trace(C)
    return {
        "variance": share * np.trace(S),
        "adjusted": share * max(pivots(S), pivots(S[np.ix_(order, order)])),
        "polar": share * polar,
        "explained": share * np.trace(inverse @ CX.T @ CX),
        "largest_correlation": np.abs(S / np.outer(sd, sd) - np.eye(len(S))).max(),
        "orthogonality_error": np.linalg.norm(X.T @ X - np.eye(len(S))),
        "nonzeros": int((X != 0).sum()),
    }


def solved(command, C, rank, limits, objective, effort="normal", limit=None):
    """X of `orthopt solve --maximise` and its seconds; None where the command fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "c.npy", C)
        run = [command, "solve", "l0-pca", "--gram", folder / "c.npy", "-r", str(rank), *limits, "--maximise", objective]
        run += ["--effort", effort, "--threads", "1", "--save-x", folder / "x.npy", "--json", folder / "o.json", "-q"]
        run += ["--time-limit", str(limit)] if limit else []
        process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        clock = threading.Timer(2 * (limit or 60) + 10, process.kill)
        clock.start()
        words = []
        for text in process.stderr:
            words.append(text)
            if "panicked" in text:
                process.kill()
        clock.cancel()
        if process.wait() != 0:
            print(f"no X of {len(C)} variables, rank {rank}, {limits}, {objective}: {''.join(words)}", file=sys.stderr, flush=True)
            return None, None
        return np.load(folder / "x.npy"), json.loads((folder / "o.json").read_text())["seconds"]


def left(C, Y):
    """Covariance that the scores of Y leave."""
    return C if Y.shape[1] == 0 else C - C @ Y @ np.linalg.pinv(Y.T @ C @ Y, rcond=1e-11, hermitian=True) @ Y.T @ C


def greedy(C, r, k):
    """On variables that no earlier component has; where fewer than k are left, those."""
    X = np.zeros((len(C), 0))
    for _ in range(r):
        R = left(C, X)
        free = np.flatnonzero(~X.any(axis=1))
        if len(free) == 0:
            return None
        R, size, best = R[np.ix_(free, free)], min(k, len(free)), (-1.0, None, None)
        for first in range(len(free)):
            rows = np.argsort(-abs(R[first]), kind="stable")[:size]
            for _ in range(50):
                values, vectors = np.linalg.eigh(R[np.ix_(rows, rows)])
                next_rows = np.argsort(-abs(R[:, rows] @ vectors[:, -1]), kind="stable")[:size]
                if values[-1] > best[0] + 1e-12:
                    best = values[-1], rows, vectors[:, -1]
                if set(next_rows) == set(rows):
                    break
                rows = next_rows
        x = np.zeros(len(C))
        x[free[best[1]]] = best[2]
        X = np.column_stack([X, x])
    return X


def pencil(R2, R, rows):
    """Largest variance of all variables that one score on `rows` explains, and its loadings."""
    values, vectors = np.linalg.eigh(R[np.ix_(rows, rows)])
    keep = values > 1e-9 * max(values[-1], 1e-300)
    whiten = vectors[:, keep] / np.sqrt(values[keep])
    if not keep.any():
        return 0.0, np.eye(len(rows))[0]
    gains, within = np.linalg.eigh(whiten.T @ R2[np.ix_(rows, rows)] @ whiten)
    x = whiten @ within[:, -1]
    return gains[-1], x / np.linalg.norm(x)


def greedy_explained(C, r, k):
    X = np.zeros((len(C), 0))
    for _ in range(r):
        R = left(C, X)
        R2, free, rows = R @ R, list(np.flatnonzero(~X.any(axis=1))), []
        if not free:
            return None
        while len(rows) < k and free:
            best = max(free, key=lambda i: pencil(R2, R, [*rows, i])[0])
            rows.append(best)
            free.remove(best)
        x = np.zeros(len(C))
        x[rows] = pencil(R2, R, rows)[1]
        X = np.column_stack([X, x])
    return X


def mspca(C, r, k, rounds=200):
    """All components in turn by truncated power iterations of C less a growing penalty of overlap; the lowest overlap is kept."""
    X = power(C, r, k)
    top = np.linalg.eigvalsh(C)[-1]
    best = (np.linalg.norm(X.T @ X - np.eye(r)), X)
    for turn in range(rounds):
        weight = top * 1.1**turn / 100
        for j in range(r):
            others = np.delete(X, j, axis=1)
            D = C - weight * others @ others.T
            D = D + (weight + 1e-9) * (r - 1) * np.eye(len(C))  # positive definite: power iterations rise
            x = X[:, j]
            for _ in range(50):
                y = D @ x
                y[np.argsort(-abs(y), kind="stable")[k:]] = 0
                y /= np.linalg.norm(y)
                done = np.linalg.norm(y - x) < 1e-9
                x = y
                if done:
                    break
            X[:, j] = x
        error = np.linalg.norm(X.T @ X - np.eye(r))
        if error < best[0]:
            best = error, X.copy()
        if error < 1e-4:
            break
    return best[1]


def of_sklearn(name, A, r, total):
    """SparsePCA with the largest total of nonzeros not above `total`; None where no alpha gives each component one."""
    from sklearn import decomposition

    low, high, best = 0.0, 1.0, None
    if name == "SparsePCA" and len(A) > A.shape[1]:
        A = root(A.T @ A)  # the same problem, with fewer rows
    A = A * np.sqrt(len(A))
    for _ in range(12):
        alpha = 0.5 * (low + high)
        more = {"max_iter": 200} if name == "SparsePCA" else {"max_iter": 20, "batch_size": 32}
        V = getattr(decomposition, name)(r, alpha=alpha, random_state=0, **more).fit(A).components_.T
        counts = (V != 0).sum(axis=0)
        if counts.sum() > total:
            low, high = alpha, high if best is not None else 2 * high
        else:
            high = alpha
            if counts.min() > 0 and (best is None or counts.sum() >= (best != 0).sum()):
                best = V / np.linalg.norm(V, axis=0)
    return best


def of_r(cells, library):
    """X of nsprcomp and nscumcomp for cells (A, r, k), with seconds."""
    if not library:
        return [{} for _ in cells]
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for i, (A, r, k) in enumerate(cells):
            np.savetxt(Path(folder, f"{i}.csv"), A, delimiter=",")
            lines.append(f"{i},{r},{k}")
        Path(folder, "cells.csv").write_text("\n".join(["i,r,k", *lines, ""]))
        code = """args <- commandArgs(TRUE); suppressMessages(library(nsprcomp, lib.loc = args[2]))
        cells <- read.csv(file.path(args[1], "cells.csv"))
        for (row in seq_len(nrow(cells))) {
          cell <- cells[row, ]; set.seed(0)
          A <- as.matrix(read.csv(file.path(args[1], paste0(cell$i, ".csv")), header = FALSE))
          top <- eigen(crossprod(A), only.values = TRUE)$values[1]
          runs <- list(
            nsprcomp = function() nsprcomp(A, ncomp = cell$r, k = cell$k, nrestart = 5, center = FALSE, scale. = FALSE),
            nscumcomp = function() nscumcomp(A, ncomp = cell$r, k = cell$k * cell$r, nrestart = 5, gamma = 1e3 * top, center = FALSE, scale. = FALSE))
          for (name in names(runs)) {
            begun <- proc.time()[[3]]
            x <- tryCatch(suppressWarnings(runs[[name]]()$rotation), error = function(e) NULL)
            if (!is.null(x)) write.table(cbind(proc.time()[[3]] - begun, x), file.path(args[1], paste0(name, cell$i, ".out")),
                                         sep = ",", row.names = FALSE, col.names = FALSE)
          }
        }"""
        subprocess.run(["Rscript", "-e", code, folder, library], check=True, stdout=subprocess.DEVNULL)
        out = []
        for i, (_, r, _) in enumerate(cells):
            found = {}
            for name in ("nsprcomp", "nscumcomp"):
                path = Path(folder, f"{name}{i}.out")
                if path.exists():
                    numbers = np.genfromtxt(path, delimiter=",", ndmin=2)
                    X = numbers[:, 1:]
                    X[abs(X) < 1e-12] = 0
                    if X.shape[1] == r and (X != 0).any(axis=0).all():
                        found[name] = X / np.linalg.norm(X, axis=0), numbers[0, 0]
            out.append(found)
        return out


def heading(columns):
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)


def line(*cells):
    print("| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |", flush=True)


def shown(found):
    """Cells of the measures."""
    return [*(f"{found[name]:.4f}" for name in OBJECTIVES), f"{found['largest_correlation']:.4f}"]


def timed(function, *arguments):
    begun = time.perf_counter()
    X = function(*arguments)
    return X, time.perf_counter() - begun


def cells_of(groups, shared):
    """(name, A or None, C, r, k) of all cells."""
    for name, (A, C) in loaded(list(groups), shared).items():
        C = correlations(A) if C is None else C
        for r, k in groups[name]:
            yield name, A, C, r, k


def unit(A, C):
    """Standardised columns, or a root of C."""
    if A is None:
        return root(C)
    A = A - A.mean(axis=0)
    return A / np.linalg.norm(A, axis=0)


def tables(args):
    heading(["data", "rows", "variables", "rank", "nonzeros_each", "method", *MEASURES, "nonzeros", "orthogonality_error", "seconds"])
    cells = list(cells_of(SHOWN, args.shared))
    theirs = of_r([(unit(A, C), r, k) for _, A, C, r, k in cells], args.nsprcomp)
    for (name, A, C, r, k), found in zip(cells, theirs):
        ways = {f"orthopt {objective}": solved(args.command, C, r, ["--nonzeros", str(k)], objective) for objective in OBJECTIVES}
        ways |= {"greedy": timed(greedy, C, r, k), "greedy-e": timed(greedy_explained, C, r, k)}
        ways |= {key: value for key, value in found.items() if key == "nsprcomp"}
        for way, (X, seconds) in ways.items():
            if X is None:
                continue
            m = measured(C, X)
            rows = None if A is None else len(A)
            line(name, rows, len(C), r, k, way, *shown(m), m["nonzeros"], f"{m['orthogonality_error']:.1e}", f"{seconds:.2f}")


def rivals(args):
    columns = ["data", "variables", "rank", "limit", "method", "nonzeros", "orthogonality_error", *MEASURES, "seconds"]
    heading(columns)
    cells = list(cells_of(UNTUNED, args.shared))
    theirs = of_r([(unit(A, C), r, k) for _, A, C, r, k in cells], args.nsprcomp)
    for (name, A, C, r, k), found in zip(cells, theirs):
        each, total = {}, {}
        each["greedy"] = timed(greedy, C, r, k)
        each["power"] = timed(power, C, r, k)
        each["mspca"] = timed(mspca, C, r, k)
        if "nsprcomp" in found:
            each["nsprcomp"] = found["nsprcomp"]
        if "nscumcomp" in found:
            total["nscumcomp"] = found["nscumcomp"]
        try:
            each["abess"] = timed(abess_columns, C, r, k)
        except ImportError:
            pass
        total["sklearn"] = timed(of_sklearn, "SparsePCA", unit(A, C), r, r * k)
        total["minibatch"] = timed(of_sklearn, "MiniBatchSparsePCA", unit(A, C), r, r * k)
        for group in (each, total):
            for way, (X, seconds) in list(group.items()):
                if X is None or not (X != 0).any(axis=0).all():
                    del group[way]
                elif np.linalg.norm(X.T @ X - np.eye(r)) > 1e-9:
                    made = orthogonal(C, X)
                    if made is not None:
                        group[f"ortho-{way}"] = made, seconds
        runs = [(f"each {k}", way, *run) for way, run in each.items()]
        runs += [(f"total {int((X != 0).sum())}", way, X, seconds) for way, (X, seconds) in total.items()]
        wanted = [f"each {k}", *dict.fromkeys(f"total {K}" for K in [r * k, *(int((X != 0).sum()) for X, _ in total.values())])]
        for limit in wanted:
            option = "--nonzeros" if limit.startswith("each") else "--total-nonzeros"
            runs.append((limit, "orthopt adjusted", *solved(args.command, C, r, [option, limit.split()[1]], "adjusted", limit=30)))
        for limit, way, X, seconds in runs:
            if X is None:
                continue
            m = measured(C, X)
            line(name, len(C), r, limit, way, m["nonzeros"], f"{m['orthogonality_error']:.1e}", *shown(m), f"{seconds:.2f}")


def matched(X, Y):
    """Mean Jaccard index of the supports of two X, components paired so that it is largest."""
    from scipy.optimize import linear_sum_assignment

    P, Q = X != 0, Y != 0
    both = P.T.astype(int) @ Q.astype(int)
    jaccard = both / (P.sum(axis=0)[:, None] + Q.sum(axis=0)[None, :] - both)
    rows, columns = linear_sum_assignment(-jaccard)
    return float(jaccard[rows, columns].mean())


def study(args):
    columns = ["group", "data", "variables", "rank", "nonzeros_each", "maximised", *MEASURES]
    heading([*columns, "repeating", "orthogonality_error", "stability", "halvings", "seconds"])
    for group, chosen in (("seen", SEEN), ("unseen", UNSEEN)):
        for name, A, C, r, k in cells_of(chosen, args.shared):
            random = np.random.default_rng(0)
            halvings = [random.permutation(len(A)) for _ in range(args.halvings)] if A is not None and len(A) >= 20 else []
            halves = [[correlations(A[rows[: len(A) // 2]]), correlations(A[rows[len(A) // 2 :]])] for rows in halvings]
            for objective in OBJECTIVES:
                limits = ["--nonzeros", str(k)]
                X, seconds = solved(args.command, C, r, limits, objective, limit=args.limit)
                if X is None:
                    continue
                m = measured(C, X)
                agree = []
                for pair in halves:
                    one, other = (solved(args.command, half, r, limits, objective, "quick", args.limit / 4)[0] for half in pair)
                    if one is not None and other is not None:
                        agree.append(matched(one, other))
                repeating = sum(abs(c) > 0.7 for c in pairs(C, X))
                stable = f"{statistics.mean(agree):.3f}" if agree else None
                error = f"{m['orthogonality_error']:.1e}"
                line(group, name, len(C), r, k, objective, *shown(m), repeating, error, stable, len(agree), f"{seconds:.2f}")


def pairs(C, X):
    """Correlations of all pairs of scores."""
    S = X.T @ C @ X
    sd = np.sqrt(np.diag(S))
    return [S[a, b] / (sd[a] * sd[b]) for a, b in itertools.combinations(range(len(S)), 2)]


def model(kind, rows, correlation, seed):
    """Data of four factors with equal correlations, and the true loadings. `equal`: 30 variables, five of each factor with loadings
    from .5 to .9 and ten of noise; `strong`: the first factor has ten more, all with loadings from .85 to .95."""
    random = np.random.default_rng(seed)
    factors = random.standard_normal((rows, 4)) * np.sqrt(1 - correlation) + random.standard_normal((rows, 1)) * np.sqrt(correlation)
    more = 10 if kind == "strong" else 0
    truth = np.zeros((30 + more, 4))
    order = random.permutation(len(truth))
    for j, block in enumerate(order[:20].reshape(4, 5)):
        truth[block, j] = random.uniform(0.5, 0.9, 5) * random.choice([-1, 1], 5)
    if more:
        block = np.flatnonzero(truth[:, 0])
        block = np.concatenate([block, order[20:30]])
        truth[block, 0] = random.uniform(0.85, 0.95, 15)
    own = np.sqrt(1 - (truth**2).sum(axis=1))
    return factors @ truth.T + random.standard_normal((rows, len(truth))) * own, truth


def planted(args):
    heading(["rows", "correlation", "seed", "method", "recovered", "exact", *MEASURES, "seconds"])
    for rows, correlation in itertools.product((60, 200), (0.0, 0.3, 0.6)):
        for seed in range(1, args.seeds + 1):
            A, truth = model(args.model, rows, correlation, seed)
            C = correlations(A)
            ways = {name: solved(args.command, C, 4, ["--nonzeros", "5"], name, limit=args.limit) for name in OBJECTIVES}
            for way, (X, seconds) in {**ways, "greedy": timed(greedy, C, 4, 5)}.items():
                if X is not None:
                    line(rows, correlation, seed, way, *recovered(truth, X), *shown(measured(C, X)), f"{seconds:.2f}")


def recovered(truth, X):
    """Share of entries in the planted supports, each factor paired with one component so that it is largest; whether all are."""
    from scipy.optimize import linear_sum_assignment

    both = (truth != 0).T.astype(int) @ (X != 0).astype(int)
    found = both[linear_sum_assignment(-both)].sum() / (5 * truth.shape[1])
    return f"{found:.3f}", int(found == 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["tables", "rivals", "study", "planted"])
    parser.add_argument("command", nargs="?", default="orthopt")
    parser.add_argument("--nsprcomp", default=None, metavar="LIBRARY", help="R library that has nsprcomp")
    parser.add_argument("--shared", type=Path, default=Path("shared/data"))
    parser.add_argument("--limit", type=float, default=8, help="seconds of a run of the study (a quarter of it for half the rows) and of planted")
    parser.add_argument("--halvings", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--model", choices=["equal", "strong"], default="equal", help="of planted")
    args = parser.parse_args()
    {"tables": tables, "rivals": rivals, "study": study, "planted": planted}[args.what](args)


if __name__ == "__main__":
    main()
