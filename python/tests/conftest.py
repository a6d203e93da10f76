"""Programs that tests compare with: named by the environment, skipped where they are missing."""

import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest


# A shell that starts the tests in the background has them ignore SIGINT, and the programs they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _program(variable: str, what: str) -> str:
    path = os.environ.get(variable)
    if path is None:
        pytest.skip(f"{variable} names no {what} (cargo xtask test sets it)")
    assert Path(path).exists(), f"{variable}: {path} does not exist"
    return path


@pytest.fixture(scope="session")
def cli():
    """Runs the command ``orthopt``."""
    program = _program("ORTHOPT_CLI", "command orthopt")

    def run(*args: object) -> str:
        done = subprocess.run([program, *map(str, args)], capture_output=True, text=True, check=True)
        return done.stdout

    return run


def _told(text: str, rows: int) -> tuple[np.ndarray, str, list[str]]:
    """X, status and notes of a program that prints them in lines: ``status ...``, ``note ...``, bits of X row by row."""
    told = [line.split(" ", 1) for line in text.splitlines() if line.startswith(("status ", "note "))]
    words = [line for line in text.splitlines() if not line.startswith(("status ", "note "))]
    bits = np.array([int(word, 16) for word in words], dtype=np.uint64)
    return bits.view(np.float64).reshape(rows, -1), told[0][1], [note for kind, note in told if kind == "note"]


@pytest.fixture(scope="session")
def rust():
    """Runs the example ``same_x`` of the Rust library with options as in the command."""
    program = _program("ORTHOPT_SAME_X", "example same_x")

    def run(problem: str, file: Path, rows: int, options: dict[str, object]) -> tuple[np.ndarray, str, list[str]]:
        args = [program, problem, file, *(f"{name}={value}" for name, value in options.items())]
        return _told(subprocess.run(list(map(str, args)), capture_output=True, text=True, check=True).stdout, rows)

    return run


@pytest.fixture(scope="session")
def r():
    """Runs R with the package of the library ``ORTHOPT_R_LIB``; the code leaves what ``sparse_pca`` returns in ``found``."""
    library = _program("ORTHOPT_R_LIB", "library of R with the package orthopt")

    def run(code: str, rows: int) -> tuple[np.ndarray, str, list[str]]:
        show = """
            cat("status", found$status, "\\n")
            for (note in unlist(found$report$notes)) cat("note", note, "\\n")
            for (value in t(found$rotation)) cat(paste(rev(as.character(writeBin(value, raw()))), collapse = ""), "\\n", sep = "")
        """
        lines = [f"library(orthopt, lib.loc = {json.dumps(library)})", code, show]
        done = subprocess.run(["Rscript", "-e", "\n".join(lines)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        x, status, notes = _told(done.stdout, rows)
        return x, status.strip(), [note.strip() for note in notes]

    return run


@pytest.fixture(scope="session")
def samples():
    """40 samples of 12 correlated variables."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(40, 4)) @ rng.normal(size=(4, 12)) + 0.3 * rng.normal(size=(40, 12))


@pytest.fixture(scope="session")
def cluster():
    """Two workers of Dask, each a process with one thread."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
    ) as cluster:
        yield cluster


@pytest.fixture()
def client(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client
