"""Proofs that can be cited: the program of the documentation takes what ``bound`` writes, and nothing else."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest

import orthopt

PAGE = Path(__file__).parents[2] / "docs" / "bounds-adjusted.md"


@pytest.fixture(scope="module")
def check():
    """The function of the page."""
    (program,) = re.findall(r"```python\n(import itertools.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    functions = re.split(r"\n\n(?=def check)", program)
    assert all(len([line for line in part.splitlines() if line.strip()]) <= 62 for part in functions)
    names: dict = {}
    exec(program, names)  # noqa: S102
    return names["check"]


def table(n: int, seed: int) -> np.ndarray:
    """Correlations of columns with two common factors."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(50, 2)) @ rng.normal(size=(2, n)) + rng.normal(size=(50, n))
    a = (a - a.mean(axis=0)) / a.std(axis=0)
    return a


def proof(a: np.ndarray, rank: int, **limits) -> dict:
    found = orthopt.bound("l0-pca", a, rank=rank, proof=True, time_limit=20, **limits)
    assert found.proof_file is not None
    return json.loads(json.dumps(found.proof_file))


@pytest.mark.parametrize(
    ("n", "rank", "measure", "limits", "stated"),
    [
        (7, 2, "adjusted", {"nonzeros": 3}, {"nonzeros": [3, 3]}),
        (7, 2, "polar", {"nonzeros": 3}, {"nonzeros": [3, 3]}),
        (6, 3, "adjusted", {"nonzeros": 2}, {"nonzeros": [2, 2, 2]}),
        (4, 2, "adjusted", {"nonzeros": 3}, {"nonzeros": [3, 3]}),
        (7, 2, "adjusted", {"nonzeros": [2, 3]}, {"nonzeros": [2, 3]}),
        (6, 2, "adjusted", {"total_nonzeros": 5}, {"total": 5}),
        (6, 2, "polar", {"total_nonzeros": 5}, {"total": 5}),
    ],
)
def test_the_program_of_the_page_takes_what_is_written(check, n, rank, measure, limits, stated) -> None:
    for seed in range(2):
        a = table(n, seed)
        file = proof(a, rank, maximise=measure, **limits)
        assert check(file, a.T @ a, rank, measure, **stated) == file["claim"]


def test_the_program_of_the_page_refuses_what_was_altered(check) -> None:
    a = table(7, 0)
    c, file = a.T @ a, proof(a, 2, nonzeros=3)
    check(file, c, 2, "adjusted", nonzeros=[3, 3])
    for problem in [(3, "adjusted", [3, 3, 3]), (2, "polar", [3, 3]), (2, "adjusted", [4, 4]), (2, "adjusted", [3, 2])]:
        with pytest.raises(AssertionError, match="another problem"):
            check(file, c, problem[0], problem[1], nonzeros=problem[2])
    with pytest.raises(AssertionError, match="another problem"):
        check(file, c, 2, "adjusted", total=6)
    with pytest.raises(AssertionError, match="another table"):
        check(file, c + 1e-6 * np.eye(7), 2, "adjusted", nonzeros=[3, 3])
    with pytest.raises(AssertionError, match="another table"):
        check(file, c[::-1, ::-1], 2, "adjusted", nonzeros=[3, 3])

    def altered(change) -> dict:
        other = copy.deepcopy(file)
        change(other)
        return other

    def worse(f: dict) -> None:
        f["certificate"]["multipliers"] = [np.zeros_like(np.array(m)).tolist() for m in f["certificate"]["multipliers"]]

    for change in [
        lambda f: f.update(bound=f["bound"] * (1 - 1e-6)),
        lambda f: f.update(objective=f["objective"] * (1 + 1e-6)),
        lambda f: f.update(proof="optimal" if f["proof"] != "optimal" else "supports"),
        lambda f: f["X"].reverse(),
        lambda f: f["certificate"].update(cutoff=f["certificate"]["cutoff"] * (1 - 1e-5)),
        lambda f: f["certificate"].update(unit=2 * f["certificate"]["unit"]),
        lambda f: f["certificate"].update(ways=[]),
        lambda f: [node.update(steps=[]) for node in f["certificate"]["nodes"]],
        lambda f: f["certificate"]["nodes"][0]["steps"][0]["v"].__setitem__(0, 0.1),
        worse,
    ]:
        with pytest.raises((AssertionError, IndexError, ValueError)):
            check(altered(change), c, 2, "adjusted", nonzeros=[3, 3])


def test_what_no_file_can_prove_says_so() -> None:
    with pytest.raises(orthopt.errors.OrthoptError, match="l1"):
        orthopt.bound("l1-pca", table(6, 0), rank=2, lam=20.0, nodes=0, proof=True)
    assert orthopt.bound("l0-pca", table(6, 0), rank=2, nonzeros=2).proof_file is None
