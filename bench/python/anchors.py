"""Limits of nonzeros on the correlation matrices of published exact methods: gap, proof, nodes and seconds.

    python bench/python/anchors.py FOLDER COMMAND [--limit S] [--threads N] [--matrices NAME ...]     a line of CSV for each matrix, number of components and k

FOLDER holds the .jld files that come with "Sparse PCA with Multiple Principal Components" (Cory-Wright and Pauphilet) and "Solving
Large-Scale Sparse PCA to Certifiable (Near) Optimality" (Bertsimas, Cory-Wright and Pauphilet). COMMAND is `orthopt`. Seconds are those of the
whole command: reading, the search for X, which has .3 of the limit at most, and the bound. needs h5py.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

MATRICES = {
    "ionosphere": "normionosphere",
    "miniBoone": "normMiniBooNE",
    "lung": "normlung",
    "geography": "normGeographic",
    "communities": "normCommunities",
    "arrhythmia": "normArrhythmia",
    "voice": "normvoice",
    "gait": "normgait",
    "gastro": "normgastro",
}
CASES = [(1, 5), (1, 10), (1, 20), (2, 5), (2, 10), (3, 5), (3, 10)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("command")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--matrices", nargs="+", choices=MATRICES, default=list(MATRICES))
    args = parser.parse_args()
    head = ["git", "rev-parse", "--short", "HEAD"]
    version = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    print("data,variables,rank,nonzeros,explained,gap_percent,proved,nodes,seconds,version", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        matrix, found = Path(folder) / "c.npy", Path(folder) / "found.json"
        for name in args.matrices:
            key = MATRICES[name]
            file = args.folder / f"{name}.jld"
            if not file.exists():
                sys.exit(f"{file} is missing")
            with h5py.File(file) as data:
                c = np.nan_to_num(data[key][()])  # of constant variables
            np.save(matrix, (c + c.T) / 2)
            for r, k in CASES:
                begun = time.perf_counter()
                line = [args.command, "bound", "l0-pca", "--gram", matrix, "-r", r, "--nonzeros", k, "--maximise", "variance", "--json", found, "-q"]
                line += ["--time-limit", args.limit, "--threads", args.threads]
                subprocess.run([str(word) for word in line], check=True)
                seconds = time.perf_counter() - begun
                b = json.loads(found.read_text())
                proved = "yes" if b["proof"] else ""
                print(
                    f"{name},{len(c)},{r},{k},{-2 * b['objective']:.9f},{100 * b['gap']:.4f},{proved},{b['nodes']},{seconds:.2f},{version}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
