"""Type checkers see the keywords of every call: five mistakes are five errors, and a script without any has none."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MISTAKEN = """\
import orthopt
from orthopt import SparsePCA

orthopt.solve(3, "builtin:pitprops")
orthopt.solve("l0-pca", "builtin:pitprops", nonzero=5)
orthopt.solve("l0-pca", "builtin:pitprops", effort="fast")
orthopt.path("l0-pca", "builtin:pitprops", threads="two")
SparsePCA(3, alpha="0.3")
"""
SOUND = """\
import orthopt
from orthopt import SparsePCA

found = orthopt.solve("l0-pca", "builtin:pitprops", 3, nonzeros=[5, 3, 3], effort="quick", mcp_gamma=2.5)
total: float = found.objective + orthopt.path("l0-pca", "builtin:pitprops", counts=[1, 2]).best.objective
status: str = SparsePCA(3, alpha=0.3).fit([[1.0, 2.0], [3.0, 5.0]]).status_
"""


def errors(tmp_path: Path, text: str) -> list[int]:
    """Lines of a script that mypy finds an error in."""
    script = tmp_path / "script.py"
    script.write_text(text)
    call = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--no-error-summary", str(script)]
    ran = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path)
    assert "error" not in ran.stderr, ran.stderr
    return [int(line) for line in re.findall(r"^script\.py:(\d+): error", ran.stdout, re.MULTILINE)]


def test_five_mistakes_are_five_errors(tmp_path: Path) -> None:
    assert errors(tmp_path, MISTAKEN) == [4, 5, 6, 7, 8]


def test_a_sound_script_has_none(tmp_path: Path) -> None:
    assert errors(tmp_path, SOUND) == []


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
@pytest.mark.parametrize("text, lines", [(MISTAKEN, [4, 5, 6, 7, 8]), (SOUND, [])], ids=["mistaken", "sound"])
def test_pyright_says_the_same(tmp_path: Path, text: str, lines: list[int]) -> None:
    (tmp_path / "script.py").write_text(text)
    call = ["pyright", "--outputjson", "--pythonpath", sys.executable, "script.py"]
    ran = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path)
    found = [one for one in json.loads(ran.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    assert sorted(one["range"]["start"]["line"] + 1 for one in found) == lines, found
