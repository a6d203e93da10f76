"""The end of the default search on small tables with l1, beside thorough runs from other seeds.

    python bench/python/small_l1.py orthopt bench/results/small_l1.csv --tables 10 --thorough 20

`orthopt` is the command. Table i has 50 x 300 normal entries of seed 9000 + i, columns centred and of length 1; five weights, each for
two tables. The default runs once, without a limit; thorough runs have `--effort thorough` and the seeds 1, 2, ...; all on one thread.
`excess_percent` is by how much the default is above the lowest F of all runs, in % of its absolute value.
"""

import argparse
import csv
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

WEIGHTS = [0.05, 0.1, 0.2, 0.3, 0.4]
COLUMNS = ["data", "problem", "rank", "lambda", "threads", "F_default", "seconds", "thorough_runs", "F", "excess_percent", "version"]


def table(i):
    a = np.random.default_rng(9000 + i).standard_normal((50, 300))
    a -= a.mean(axis=0)
    return a / np.linalg.norm(a, axis=0)


def solved(command, data, weight, out, *options):
    if not out.exists():
        run = [command, "solve", "l1-pca", data, "-r", "10", "--lambda", str(weight), "-q", "--threads", "1", "--json", out]
        subprocess.run([*run, *options], check=True, stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--thorough", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="where data and results of single runs are kept, to go on later")
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    rows = []
    for i in range(args.tables):
        weight, data = WEIGHTS[i // 2 % len(WEIGHTS)], folder / f"a{i}.npy"
        np.save(data, table(i))
        default = solved(args.command, data, weight, folder / f"d{i}.json")
        seeds = range(1, args.thorough + 1)
        long = [solved(args.command, data, weight, folder / f"t{i}-{s}.json", "--effort", "thorough", "--seed", str(s)) for s in seeds]
        lowest = min(run["objective"] for run in [default, *long])
        excess = 100 * (default["objective"] - lowest) / abs(lowest)
        found = [f"{default['objective']:.6f}", f"{default['seconds']:.2f}", len(long), f"{lowest:.6f}", f"{excess:.4f}"]
        rows.append([f"normal 50 x 300 seed {9000 + i}", "l1-pca", 10, weight, 1, *found, default["version"]])
    with args.output.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    print(f"within 1e-3: {sum(float(row[-2]) <= 0.1 for row in rows)} of {len(rows)}")


if __name__ == "__main__":
    main()
