"""How many components and how many variables: planted factors, wine and breast cancer data.

    python bench/python/how_many.py orthopt --runs 30 | python bench/results.py replace how_many version=0123456

`orthopt` is the command. Planted: 100 rows of 24 columns with three factors of six columns each, loadings between .7 and 1.3 with random signs, factor standard
deviations 1.3, 1 and .8, noise of a standard deviation in every column; correlations. A run is right where `-r auto` says
three, and where the number of variables chosen is within one of six: by cells and by the knee, of 3 to 9, with five folds. Wine and breast
cancer data (scikit-learn): correlations, with the number of components of `-r auto`; chosen by cells, by rows and by the knee. Every
point has ITERATIONS iterations at most.
"""

import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np

COLUMNS = ["data", "noise", "runs", "components", "right_components", "cells", "cells_within_one", "rows", "knee", "knee_within_one", "seconds"]
TRUTH = 6
FOLDS = 5
ITERATIONS = 300


def planted(seed, noise, rows=100, columns=24, factors=3):
    rng = np.random.default_rng(seed)
    loadings = np.zeros((columns, factors))
    for k in range(factors):
        loadings[k * TRUTH : (k + 1) * TRUTH, k] = rng.choice([-1, 1], TRUTH) * rng.uniform(0.7, 1.3, TRUTH)
    scores = rng.normal(size=(rows, factors)) * np.array([1.3, 1.0, 0.8])
    return scores @ loadings.T + noise * rng.normal(size=(rows, columns))


def middle(values):
    return f"{int(np.median(values))} ({min(values)} to {max(values)})"


def seconds():
    """Processor time of all runs so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def told(command, call, data, *options):
    """The JSON of a call."""
    with tempfile.TemporaryDirectory() as name:
        file, out = Path(name) / "a.npy", Path(name) / "o.json"
        np.save(file, data)
        how = ["--scale", "std", "--threads", "1", "--max-iters", str(ITERATIONS), "-q", "--json", out]
        run = [command, call, *(["pca"] if call == "solve" else ["l0-pca"]), file, *how, *map(str, options)]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


def chosen(command, data, rank, counts, by):
    """The numbers of variables by cross-validation and by the knee."""
    counts = ",".join(map(str, counts))
    found = told(command, "path", data, "-r", rank, "--counts", counts, "--cv", FOLDS, "--cv-by", by)
    return [int(found["points"][found[place]]["at"]) for place in ("chosen", "knee")]


def of_planted(command, noise, runs):
    begun, ranks, cells, knees = seconds(), [], [], []
    for seed in range(runs):
        data = planted(1000 + seed, noise)
        ranks.append(told(command, "solve", data, "-r", "auto")["rank"])
        cell, knee = chosen(command, data, 3, range(3, 10), "cells")
        cells.append(cell)
        knees.append(knee)
    near = lambda chosen: sum(abs(count - TRUTH) <= 1 for count in chosen)  # noqa: E731
    right = sum(rank == 3 for rank in ranks)
    cost = f"{(seconds() - begun) / runs:.1f}"
    return ["planted", noise, runs, middle(ranks), right, middle(cells), near(cells), "", middle(knees), near(knees), cost]


def of_table(command, name, data, counts):
    begun = seconds()
    rank = told(command, "solve", data, "-r", "auto")["rank"]
    cells, knee = chosen(command, data, rank, counts, "cells")
    rows, _ = chosen(command, data, rank, counts, "rows")
    return [name, "", 1, rank, "", cells, "", rows, knee, "", f"{seconds() - begun:.1f}"]


def main():
    from sklearn.datasets import load_breast_cancer, load_wine

    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--runs", type=int, default=30)
    args = parser.parse_args()
    show = lambda cells: print("| " + " | ".join(map(str, cells)) + " |", flush=True)  # noqa: E731
    show(COLUMNS)
    show(["---"] * len(COLUMNS))
    show(of_table(args.command, "wine, 13 columns", load_wine().data, [1, 2, 3, 4, 5, 6, 7, 8, 10, 13]))
    show(of_table(args.command, "breast cancer, 30 columns", load_breast_cancer().data, [1, 2, 3, 5, 7, 10, 13, 15, 20, 25, 30]))
    for noise in (0.5, 1.0, 1.5):
        show(of_planted(args.command, noise, args.runs))


if __name__ == "__main__":
    main()
