"""The same request gives the same X, bit by bit, from C, from Octave, on the command line and here."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import orthopt

ROOT = Path(__file__).parents[2]

REQUESTS = [
    ("l0-pca", "dense", {"rank": 3, "nonzeros": 5, "center": True, "effort": "quick"}),
    ("l1-pca", "dense", {"rank": 3, "lambda": 0.2, "center": True, "scale": "unit", "seed": 5}),
    ("l0-pca", "sparse", {"rank": 3, "nonzeros": [4, 3, 2], "center": True, "effort": "quick"}),
    ("nonneg-pca", "dense", {"rank": 2, "solver": "ladmm+obcd", "init": "pca", "max_iters": 300}),
    ("mcp-pca", "gram", {"rank": 2, "lambda": 0.1, "mcp_gamma": 2.5, "gram": True}),
    ("hyperbolic-eig", "dense", {"signature": 5, "ridge": 0.1, "max_iters": 200}),
]


@pytest.fixture(scope="module")
def data(samples, tmp_path_factory):
    """Matrices by name, each as a file for the command and as raw numbers, row by row."""
    folder = tmp_path_factory.mktemp("bits")
    sparse = np.where(np.abs(samples) > 1.0, samples, 0.0)
    kinds = {"dense": np.ascontiguousarray(samples), "sparse": sparse, "gram": samples.T @ samples}
    kinds["gram"] = (kinds["gram"] + kinds["gram"].T) / 2
    for name, matrix in kinds.items():
        matrix.tofile(folder / f"{name}.raw")
        np.save(folder / f"{name}.npy", matrix)
    sp.save_npz(folder / "sparse.npz", sp.csc_matrix(sparse))
    return folder, kinds


def bits_of(printed):
    return [line for line in printed.split() if len(line) == 16]


def bits(x):
    return [f"{word:016x}" for word in np.ascontiguousarray(x).view(np.uint64).ravel()]


@pytest.fixture(scope="module")
def solved(data):
    folder, kinds = data

    def run(problem, kind, options):
        matrix = sp.csc_matrix(kinds[kind]) if kind == "sparse" else kinds[kind]
        keywords = {"lam" if name == "lambda" else name: value for name, value in options.items()}
        return bits(orthopt.solve(problem, matrix, **keywords).X)

    return [run(*request) for request in REQUESTS]


@pytest.mark.parametrize("at", range(len(REQUESTS)))
def test_command(cli, data, solved, at):
    problem, kind, options = REQUESTS[at]
    folder, _ = data
    file = folder / (f"{kind}.npz" if kind == "sparse" else f"{kind}.npy")
    source = ["--gram", file] if kind == "gram" else [file]
    arguments = []
    for name, value in options.items():
        value = ",".join(map(str, value)) if isinstance(value, list) else value
        arguments += [] if name == "gram" else [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    cli("solve", problem, *source, *arguments, "--save-x", folder / "x.npy", "--quiet")
    assert bits(np.load(folder / "x.npy")) == solved[at]


@pytest.mark.parametrize("at", range(len(REQUESTS)))
def test_c(data, solved, at):
    program = os.environ.get("ORTHOPT_C_BITS")
    if program is None:
        pytest.skip("ORTHOPT_C_BITS names no program (cargo xtask octave sets it)")
    problem, kind, options = REQUESTS[at]
    folder, kinds = data
    rows, columns = kinds[kind].shape
    command = [program, problem, json.dumps(options), folder / f"{kind}.raw", str(-rows if kind == "sparse" else rows), str(columns)]
    assert bits_of(subprocess.run(command, capture_output=True, text=True, check=True).stdout) == solved[at]


def test_octave(data, solved):
    octave = os.environ.get("ORTHOPT_OCTAVE")
    if octave is None:
        pytest.skip("ORTHOPT_OCTAVE names no Octave (cargo xtask octave sets it)")
    folder, kinds = data
    script = [f"addpath ('{ROOT / 'octave'}')"]
    for problem, kind, options in REQUESTS:
        rows, columns = kinds[kind].shape
        script.append(f"f = fopen ('{folder / kind}.raw'); A = fread (f, [{columns}, {rows}], 'double')'; fclose (f)")
        script += ["A = sparse (A)"] if kind == "sparse" else []
        words = {True: "true"}
        values = [f"'{name}', " + (words.get(value) if value is True else f"'{value}'" if isinstance(value, str) else str(value)) for name, value in options.items()]
        script.append(f"s = orthopt_solve ('{problem}', A, {', '.join(values)})")
        script.append("printf ('%s\\n', num2hex (s.X'(:))'); printf ('==\\n')")
    (folder / "bits.m").write_text(";\n".join(script) + ";\n")
    done = subprocess.run([octave, "--no-gui", "--quiet", folder / "bits.m"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for found, expected in zip(done.stdout.split("=="), solved):
        text = "".join(found.split())
        assert [text[k : k + 16] for k in range(0, len(text), 16)] == expected
