"""The command of the wheel is the command: `python -m orthopt`, and the program `orthopt` beside the interpreter."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

MODULE = [sys.executable, "-m", "orthopt"]
SCRIPT = [str(Path(sys.executable).with_name("orthopt"))]
PROGRAM = os.environ.get("ORTHOPT_CLI")
SOLVE = ["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--lambda", "0.1", "-q", "--save-x"]


def ran(call: list[str], folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(call, capture_output=True, text=True, cwd=folder)


@pytest.mark.parametrize("ours", [MODULE, SCRIPT], ids=["module", "script"])
def test_it_says_what_the_program_says(ours: list[str], tmp_path: Path) -> None:
    if PROGRAM is None:
        pytest.skip("ORTHOPT_CLI does not name the program")
    for words in (["--version"], ["--help"], ["list", "solvers"], ["solve", "l0-pca", "--no-such-option"], ["solve", "l0-pca", "no.csv"], []):
        here, there = ran([*ours, *words], tmp_path), ran([PROGRAM, *words], tmp_path)
        assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr), words
    for name, call in (("ours", ours), ("theirs", [PROGRAM])):
        assert ran([*call, *SOLVE, f"{name}.npy"], tmp_path).returncode == 0
    np.testing.assert_array_equal(np.load(tmp_path / "ours.npy"), np.load(tmp_path / "theirs.npy"))


def test_a_report_has_the_words_that_were_typed(tmp_path: Path) -> None:
    assert ran([*MODULE, *SOLVE[:-1], "--report", "a page.html"], tmp_path).returncode == 0
    page = (tmp_path / "a page.html").read_text(encoding="utf-8")
    assert "orthopt solve l0-pca builtin:pitprops -r 3" in page and "-m orthopt" not in page


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_ends_a_run_with_what_was_found(tmp_path: Path) -> None:
    call = [*MODULE, "solve", "l0-pca", "randn:200:400", "-r", "10", "--lambda", "1", "--time-limit", "600", "-q", "--save-x", "x.npy"]
    with subprocess.Popen(call, cwd=tmp_path) as running:
        time.sleep(4)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    assert np.load(tmp_path / "x.npy").shape == (400, 10)
