"""How many components and how many variables: planted factors, wine and breast cancer data.

    python bench/python/how_many.py --runs 30 | python bench/results.py replace how_many version=0123456

Planted: 100 rows of 24 columns with three factors of six columns each, loadings between .7 and 1.3 with random signs, factor standard
deviations 1.3, 1 and .8, noise of a standard deviation in every column; correlations. A run is right where `rank="auto"` says
three, and where the number of variables chosen is within one of six: by cells and by the knee, of 3 to 9, with five folds. Wine and breast
cancer data (scikit-learn): correlations, with the number of components of `rank="auto"`; chosen by cells, by rows and by the knee.
"""

import argparse
import time
import warnings

import numpy as np
import orthopt

COLUMNS = ["data", "noise", "runs", "components", "right_components", "cells", "cells_within_one", "rows", "knee", "knee_within_one", "seconds"]
TRUTH = 6
FOLDS = 5
HOW = {"scale": "std", "threads": 1}


def planted(seed, noise, rows=100, columns=24, factors=3):
    rng = np.random.default_rng(seed)
    loadings = np.zeros((columns, factors))
    for k in range(factors):
        loadings[k * TRUTH : (k + 1) * TRUTH, k] = rng.choice([-1, 1], TRUTH) * rng.uniform(0.7, 1.3, TRUTH)
    scores = rng.normal(size=(rows, factors)) * np.array([1.3, 1.0, 0.8])
    return scores @ loadings.T + noise * rng.normal(size=(rows, columns))


def middle(values):
    return f"{int(np.median(values))} ({min(values)} to {max(values)})"


def of_planted(noise, runs):
    begun, ranks, cells, knees = time.process_time(), [], [], []
    for seed in range(runs):
        data = planted(1000 + seed, noise)
        ranks.append(orthopt.scree(data, **HOW).rank)
        found = orthopt.path("l0-pca", data, 3, counts=range(3, 10), cv=FOLDS, cv_by="cells", **HOW)
        cells.append(int(found.at[found.chosen]))
        knees.append(int(found.at[found.knee]))
    near = lambda chosen: sum(abs(count - TRUTH) <= 1 for count in chosen)  # noqa: E731
    right = sum(rank == 3 for rank in ranks)
    seconds = (time.process_time() - begun) / runs
    return ["planted", noise, runs, middle(ranks), right, middle(cells), near(cells), "", middle(knees), near(knees), f"{seconds:.1f}"]


def of_table(name, data, counts):
    begun = time.process_time()
    rank = orthopt.scree(data, **HOW).rank
    by = {by: orthopt.path("l0-pca", data, rank, counts=counts, cv=FOLDS, cv_by=by, **HOW) for by in ("cells", "rows")}
    cells, rows = (int(found.at[found.chosen]) for found in by.values())
    knee = int(by["rows"].at[by["rows"].knee])
    return [name, "", 1, rank, "", cells, "", rows, knee, "", f"{time.process_time() - begun:.1f}"]


def main():
    from sklearn.datasets import load_breast_cancer, load_wine

    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=30)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    show = lambda cells: print("| " + " | ".join(map(str, cells)) + " |", flush=True)  # noqa: E731
    show(COLUMNS)
    show(["---"] * len(COLUMNS))
    for noise in (0.5, 1.0, 1.5):
        show(of_planted(noise, args.runs))
    show(of_table("wine, 13 columns", load_wine().data, [1, 2, 3, 4, 5, 6, 7, 8, 10, 13]))
    show(of_table("breast cancer, 30 columns", load_breast_cancer().data, [1, 2, 3, 5, 7, 10, 13, 15, 20, 25, 30]))


if __name__ == "__main__":
    main()
