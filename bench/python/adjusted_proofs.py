"""Adjusted and polar variance with a number of nonzeros: gap, proof, nodes and seconds.

    python bench/python/adjusted_proofs.py FOLDER COMMAND [--limit S] [--cells seen|unseen] [--maximise adjusted|polar]     a line of CSV for each cell

FOLDER holds a correlation matrix NAME.npy for each table. COMMAND is `orthopt`. Seconds are processor seconds of the whole command with one thread:
reading, the search for X, and the bound.
"""

import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SEEN = """USArrests 2 2, USArrests 2 3, iris 2 2, mtcars_without_mpg 2 3, pitprops 2 3, pitprops 2 4, pitprops 2 5, pitprops 3 3, pitprops 3 4,
wine 2 3, wine 2 4, wine 2 5, wine 3 3, wine 3 4, breast_cancer 2 3, breast_cancer 3 3, ionosphere 2 3, ionosphere 2 4,
ionosphere 3 3, lung 2 3, lung 3 3, geography 2 3, communities 2 3"""
UNSEEN = """iris 2 3, diabetes 2 3, diabetes 2 4, diabetes 3 3, linnerud 2 2, linnerud 2 3, mtcars 2 4, mtcars 3 3, breast_cancer 2 4,
breast_cancer 3 2, ionosphere 3 2, lung 2 4, lung 3 2, geography 3 3, communities 3 3, pitprops 4 3, wine 4 3"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("command")
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--cells", choices=["seen", "unseen"], default="seen")
    parser.add_argument("--maximise", choices=["adjusted", "polar"], default="adjusted")
    args = parser.parse_args()
    head = ["git", "rev-parse", "--short", "HEAD"]
    version = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    print("data,variables,rank,nonzeros,maximised,share,without_percent,gap_percent,proof,nodes,open,seconds,version", flush=True)
    cells = SEEN if args.cells == "seen" else UNSEEN
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        for name, r, k in (cell.split() for cell in cells.split(",")):
            matrix = args.folder / f"{name}.npy"
            c = np.load(matrix)
            line = [args.command, "bound", "l0-pca", "--gram", matrix, "-r", r, "--nonzeros", k, "--maximise", args.maximise]
            line += ["--json", found, "-q", "--threads", "1", "--time-limit"]
            subprocess.run([str(word) for word in [*line, args.limit, "--nodes", 0]], check=True)
            root = json.loads(found.read_text())
            middle = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([str(word) for word in [*line, args.limit]], check=True)
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - middle
            b = json.loads(found.read_text())
            share = -2 * b["objective"] / np.trace(c)
            print(
                f"{name},{len(c)},{r},{k},{args.maximise},{share:.9f},{100 * root['gap']:.2f},{100 * b['gap']:.5f},{b['proof'] or ''},"
                f"{b['nodes']},{b['open']},{seconds:.1f},{version}",
                flush=True,
            )


if __name__ == "__main__":
    main()
