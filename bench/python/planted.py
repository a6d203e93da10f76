"""Planted supports: how often the variables of the truth are found exactly.

    python bench/python/planted.py orthopt --rows 100 --columns 500 --nonzeros 10 --strength 1 2 4 --seeds 10

`orthopt` is the command. Data are `spiked:ROWS:COLUMNS:RANK:NONZEROS:STRENGTH:SEED`: RANK components of NONZEROS variables each and noise.
A run counts where the supports of its components are those of the truth, in any order. Compared:

counts   --nonzeros NONZEROS
auto     no count and no lambda: the default chooses
total    --total-nonzeros RANK*NONZEROS
lambda   --relative-lambda, the share of a grid that finds most (over all seeds of a strength): tuned by hand, knowing the truth
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SHARES = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7]


def supports(X):
    return sorted(tuple(np.flatnonzero(abs(column) > 1e-9)) for column in X.T)


def solved(command, folder, rank, limit, *options):
    out = folder / "x.npy"
    run = [command, "solve", "l0-pca", folder / "a.npy", "--center", "-r", str(rank), "-q", "--save-x", out, "--json", folder / "o.json"]
    limits = ["--time-limit", limit] if limit else []
    subprocess.run([*run, *limits, *options], check=True, stdout=subprocess.DEVNULL)
    return supports(np.load(out)), json.loads((folder / "o.json").read_text())["seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--rank", type=int, default=3)
    parser.add_argument("--nonzeros", type=int, default=10)
    parser.add_argument("--strength", type=float, nargs="+", default=[1.0, 2.0, 4.0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--limit", default=None, help="seconds for each run")
    args = parser.parse_args()
    print("strength  method  found  seconds  of lambda_max")
    for strength in args.strength:
        found, seconds = {}, {}
        for seed in range(1, args.seeds + 1):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                spec = f"spiked:{args.rows}:{args.columns}:{args.rank}:{args.nonzeros}:{strength:g}:{seed}"
                make = [args.command, "data", "generate", spec, folder / "a.npy", "--truth", folder / "t.npy"]
                subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
                truth = supports(np.load(folder / "t.npy"))
                ways = {
                    "counts": ["--nonzeros", str(args.nonzeros)],
                    "auto": [],
                    "total": ["--total-nonzeros", str(args.nonzeros * args.rank)],
                    **{share: ["--relative-lambda", str(share)] for share in SHARES},
                }
                for way, options in ways.items():
                    X, took = solved(args.command, folder, args.rank, args.limit, *options)
                    found[way] = found.get(way, 0) + (X == truth)
                    seconds[way] = seconds.get(way, 0.0) + took
        best = max(SHARES, key=lambda share: found[share])
        for way, share in [("counts", ""), ("auto", ""), ("total", ""), ("lambda", best)]:
            key = best if way == "lambda" else way
            shown = f"{found[key]}/{args.seeds}"
            print(f"{strength:8g}  {way:6}  {shown:>5}  {seconds[key] / args.seeds:7.2f}  {share}", flush=True)


if __name__ == "__main__":
    main()
