"""Explained variance against nonzero loadings: orthopt beside scikit-learn's SparsePCA and PCA.

    python bench/python/variance_against_nonzeros.py [--seconds S] [--out DIR] [--data NAME ...]

Data: scikit-learn's breast_cancer (standardised, 5 components) and digits (centred, 10
components). Prints a Markdown table per data set and draws an SVG with all of them. ``--seconds``
is the limit of one orthopt fit; scikit-learn has none, so it runs to its own tolerance.

Two measures, both shares of the total variance and the same for all methods:

* explained: of the data projected on the span of the components, ``||XQ||^2 / ||X||^2``, Q an
  orthonormal basis of them;
* adjusted: what each component adds to those before it (Zou, Hastie and Tibshirani 2006), of unit
  components in the order of their variance.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.decomposition import SparsePCA as TheirSparsePCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from orthopt import NonnegativePCA, SparsePCA


class Row(NamedTuple):
    method: str
    alpha: float | None
    nnz: int
    explained: float
    adjusted: float
    orthogonality: float
    seconds: float


def measure(method: str, alpha: float | None, estimator: Any, X: np.ndarray) -> Row:
    """Fits, and measures the components whatever they come from."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(X)
    seconds = time.perf_counter() - began
    components = estimator.components_
    size = np.linalg.norm(components, axis=1, keepdims=True)
    unit = (components / np.where(size > 0, size, 1.0))[size[:, 0] > 0]
    centred = X - X.mean(axis=0)
    total = np.sum(centred**2)
    left, values, _ = np.linalg.svd(unit.T, full_matrices=False)
    basis = left[:, values > 1e-10 * values.max(initial=1.0)]
    scores = centred @ unit.T
    scores = scores[:, np.argsort(-np.sum(scores**2, axis=0))]
    adjusted = np.sum(np.diag(np.linalg.qr(scores, mode="r")) ** 2)
    return Row(
        method,
        alpha,
        int(np.count_nonzero(np.abs(components) > 1e-6)),
        float(np.sum((centred @ basis) ** 2) / total),
        float(adjusted / total),
        float(np.linalg.norm(unit @ unit.T - np.eye(len(unit)))),
        seconds,
    )


def rows(X: np.ndarray, r: int, alphas: dict[str, list[float]], seconds: float) -> list[Row]:
    found = [measure("PCA (scikit-learn)", None, PCA(r), X)]
    options = {"certify": False, "random_state": 0, "time_limit": seconds}
    for penalty in ("l0", "l1"):
        for alpha in alphas[penalty]:
            ours = SparsePCA(r, penalty=penalty, alpha=alpha, **options)
            found.append(measure(f"orthopt {penalty}", alpha, ours, X))
    found.append(measure("orthopt nonnegative", None, NonnegativePCA(r, **options), X))
    for alpha in alphas["theirs"]:
        theirs = TheirSparsePCA(r, alpha=alpha, random_state=0)
        found.append(measure("SparsePCA (scikit-learn)", alpha, theirs, X))
    return found


def table(found: list[Row]) -> str:
    lines = [
        "| method | alpha | nonzeros | explained | adjusted | orthogonality error | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found:
        alpha = "" if row.alpha is None else f"{row.alpha:g}"
        lines.append(
            f"| {row.method} | {alpha} | {row.nnz} | {row.explained:.4f} | {row.adjusted:.4f} "
            f"| {row.orthogonality:.1e} | {row.seconds:.2f} |"
        )
    return "\n".join(lines)


def draw(all_rows: dict[str, list[Row]], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "orthopt"
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(ncols=len(all_rows), figsize=(5.2 * len(all_rows), 4), layout="constrained")
    for ax, (name, found) in zip(np.atleast_1d(axes), all_rows.items(), strict=True):
        for method in dict.fromkeys(row.method for row in found):
            points = sorted((row.nnz, row.explained) for row in found if row.method == method)
            x, y = zip(*points, strict=True)
            ax.plot(x, y, marker="o", markersize=4, linestyle="-" if len(points) > 1 else "none", label=method)
        ax.axhline(found[0].explained, color="gray", linewidth=0.7, linestyle=":")
        ax.set_xscale("log")
        ax.set_title(name)
        ax.set_xlabel("nonzero loadings")
        ax.set_ylabel("explained variance ratio (of the span)")
    np.atleast_1d(axes)[0].legend(fontsize=8)
    fig.savefig(path, metadata={"Date": None})


SETS: dict[str, Any] = {
    "breast_cancer": lambda: (
        StandardScaler().fit_transform(load_breast_cancer().data),
        5,
        {
            "l0": [0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4],
            "l1": [0.05, 0.1, 0.2, 0.5, 1.0, 1.5],
            "theirs": [0.3, 1.0, 2.0, 4.0, 8.0, 12.0],
        },
    ),
    "digits": lambda: (
        load_digits().data,
        10,
        {
            "l0": [0.001, 0.005, 0.01, 0.03, 0.1, 0.3],
            "l1": [0.01, 0.05, 0.1, 0.3, 0.6, 1.0],
            "theirs": [1.0, 5.0, 10.0, 30.0, 60.0, 120.0],
        },
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="limit of one orthopt fit")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder for the SVG")
    parser.add_argument("--data", nargs="*", choices=list(SETS), default=list(SETS))
    args = parser.parse_args()
    all_rows = {}
    for name in args.data:
        X, r, alphas = SETS[name]()
        all_rows[name] = rows(X, r, alphas, args.seconds)
        print(f"### {name}, {X.shape[0]} x {X.shape[1]}, {r} components\n")
        print(table(all_rows[name]), flush=True)
        print()
    args.out.mkdir(parents=True, exist_ok=True)
    draw(all_rows, args.out / "variance_against_nonzeros.svg")


if __name__ == "__main__":
    main()
