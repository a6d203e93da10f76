"""Planted supports: how often the variables of the truth are found exactly.

    python bench/python/planted.py orthopt --rows 100 --columns 500 --nonzeros 10 --strength 1 2 4 --seeds 10

`orthopt` is the command. Data are `spiked:ROWS:COLUMNS:RANK:NONZEROS:STRENGTH:SEED`: RANK components of NONZEROS variables each and noise.
A run counts where the supports of its components are those of the truth, in any order. Compared:

counts   --nonzeros NONZEROS
auto     no count and no lambda: the default chooses
total    --total-nonzeros RANK*NONZEROS
lambda   --relative-lambda, the share of a grid that finds most (over all seeds of a strength): tuned by hand, knowing the truth

With --alone SHARE instead: --relative-lambda SHARE for the default and for each of its solvers alone (with restarts), all for --limit seconds
on one thread.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ALONE = ["auto", "ladmm+obcd", "support+obcd", "spm+obcd", "obcd", "obcd-r"]
SHARES = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7]


def supports(X):
    return sorted(tuple(np.flatnonzero(abs(column) > 1e-9)) for column in X.T)


def solved(command, folder, rank, limit, *options):
    out = folder / "x.npy"
    run = [command, "solve", "l0-pca", folder / "a.npy", "--center", "-r", str(rank), "-q", "--save-x", out, "--json", folder / "o.json"]
    limits = ["--time-limit", limit] if limit else []
    subprocess.run([*run, *limits, *options], check=True, stdout=subprocess.DEVNULL)
    return supports(np.load(out)), json.loads((folder / "o.json").read_text())["seconds"]


def planted(args, strength, seed, folder):
    """Writes a.npy and returns the true supports."""
    spec = f"spiked:{args.rows}:{args.columns}:{args.rank}:{args.nonzeros}:{strength:g}:{seed}"
    make = [args.command, "data", "generate", spec, folder / "a.npy", "--truth", folder / "t.npy"]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    return supports(np.load(folder / "t.npy"))


def beside_solvers(args):
    limit = args.limit or "1"
    print(f"strength  solver  found  of {args.seeds}, lowest F of all in (to 1e-6)")
    for strength in args.strength:
        found, lowest = dict.fromkeys(ALONE, 0), dict.fromkeys(ALONE, 0)
        for seed in range(1, args.seeds + 1):
            with tempfile.TemporaryDirectory() as name:
                folder, F = Path(name), {}
                truth = planted(args, strength, seed, folder)
                for solver in ALONE:
                    chosen = [] if solver == "auto" else ["--solver", solver, "--restarts", "1000000"]
                    options = ["--relative-lambda", args.alone, "--threads", "1", *chosen]
                    X, _ = solved(args.command, folder, args.rank, limit, *options)
                    found[solver] += X == truth
                    F[solver] = json.loads((folder / "o.json").read_text())["objective"]
            best = min(F.values())
            for solver in ALONE:
                lowest[solver] += F[solver] <= best + 1e-6 * abs(best)
        for solver in ALONE:
            print(f"{strength:8g}  {solver:12}  {found[solver]:>2}  {lowest[solver]:>2}", flush=True)


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
    parser.add_argument("--alone", default=None, metavar="SHARE", help="the default beside its solvers, at this share of lambda_max")
    args = parser.parse_args()
    if args.alone:
        return beside_solvers(args)
    print("strength  method  found  seconds  of lambda_max")
    for strength in args.strength:
        found, seconds = {}, {}
        for seed in range(1, args.seeds + 1):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                truth = planted(args, strength, seed, folder)
                ways = {
                    "counts": ["--nonzeros", str(args.nonzeros), "--maximise", "variance"],
                    "auto": [],
                    "total": ["--total-nonzeros", str(args.nonzeros * args.rank), "--maximise", "variance"],
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
