"""Proofs that can be cited: ``check_proof`` and the program of the documentation take what ``bound`` writes, and nothing else."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest

import orthopt

DOCS = Path(__file__).parents[2] / "docs"


def program(name: str):
    """The function of a program of the documentation."""
    text = (DOCS / name).read_text(encoding="utf-8")
    functions = re.split(r"\n\n(?=def check)", text)
    assert all(len([line for line in part.splitlines() if line.strip()]) <= 62 for part in functions)
    names: dict = {}
    exec(text, names)  # noqa: S102
    return names["check"]


@pytest.fixture(scope="module")
def check():
    """That of adjusted and polar variance."""
    return program("check_proof.py")


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


@pytest.mark.parametrize(
    ("problem", "rank", "options", "stated"),
    [
        ("l0-pca", 2, {"nonzeros": 3, "maximise": "variance"}, {"nonzeros": [3, 3]}),
        ("l0-pca", 2, {"nonzeros": [3, 2], "maximise": "variance"}, {"nonzeros": [3, 2]}),
        ("l0-pca", 1, {"nonzeros": 3}, {"nonzeros": [3]}),
        ("l0-pca", 2, {"total_nonzeros": 5, "maximise": "variance"}, {"total_nonzeros": 5}),
        ("l0-pca", 2, {"variables": 4}, {"variables": 4}),
        ("l0-pca", 2, {"lam": 3.0}, {"lam": 3.0}),
        ("nonneg-pca", 2, {}, {"nonnegative": True}),
        ("nonneg-pca", 2, {"nonzeros": 3}, {"nonnegative": True, "nonzeros": [3, 3]}),
    ],
)
def test_the_program_of_trees_takes_what_is_written_and_refuses_what_was_altered(problem, rank, options, stated) -> None:
    check = program("check_tree.py")
    for seed in range(2):
        a = table(8, seed)
        found = orthopt.bound(problem, a, rank=rank, proof=True, time_limit=20, **options)
        file = json.loads(json.dumps(found.proof_file))
        assert orthopt.check_proof(file, a).claim == file["claim"]
        assert file["proof"] == "optimal" or found.proof is None
        if file["certificate"]["kind"] != "tree":
            continue
        c = a.T @ a
        assert check(file, c, rank, **stated) == file["claim"]
        for other, changes in [(c, {"lam": 0.5}), (c, {"nonzeros": [2] * rank}), (c + 1e-6 * np.eye(8), {}), (c[::-1, ::-1], {})]:
            with pytest.raises(AssertionError, match="another"):
                check(file, other, rank, **{**stated, **changes})
        with pytest.raises(AssertionError, match="another problem"):
            check(file, c, rank + 1, **stated)
        for key, factor in [("bound", 1 - 1e-6), ("bound", 1 + 1e-6), ("objective", 1 + 1e-6)]:
            with pytest.raises(AssertionError, match="another claim"):
                check({**file, key: file[key] * factor}, c, rank, **stated)
        nodes = file["certificate"]["nodes"]
        # a root alone may be closed by its sets, one by one
        if any("split" in node for node in nodes):
            next(node for node in nodes if node["steps"] and "split" not in node)["steps"] = []
            with pytest.raises(AssertionError, match="another claim"):
                check(file, c, rank, **stated)


#: Options of ``bound``, and of the command.
CITED = [
    ("l0-pca", {"nonzeros": 3, "maximise": "variance"}, ["--nonzeros", "3", "--maximise", "variance"]),
    ("l0-pca", {"lam": 20.0, "center": True}, ["--lambda", "20", "--center"]),
    ("nonneg-pca", {"scale": "std"}, ["--scale", "std"]),
    ("l0-pca", {"nonzeros": 3, "scale": "std", "center": False}, ["--nonzeros", "3", "--scale", "std", "--center=false"]),
]


@pytest.mark.parametrize(("problem", "options", "words"), CITED)
def test_a_proof_is_checked_whoever_wrote_it(cli, tmp_path, problem, options, words) -> None:
    a = table(7, 0) + 0.1
    data, path = tmp_path / "a.npy", tmp_path / "proof.json"
    np.save(data, a)
    found = orthopt.bound(problem, a, rank=2, time_limit=20, proof=True, **options)
    cli("bound", problem, data, "-r", 2, *words, "--proof", path, "--quiet")
    for proof in (found.proof_file, json.dumps(found.proof_file), path, str(path)):
        for samples in (a, str(data)):
            checked = orthopt.check_proof(proof, samples)
            assert str(checked) == checked.claim and checked.claim.startswith("Of all 7 x 2 matrices X with X'X = I")
            assert checked.bound <= checked.objective and checked.proof in (None, "optimal", "supports")
            assert checked.gap == pytest.approx((checked.objective - checked.bound) / abs(checked.objective), abs=1e-9)
    stated = {key: value for key, value in options.items() if key != "center"}
    assert orthopt.check_proof(path, a, rank=2, **stated) == orthopt.check_proof(path, a)
    path.write_text(json.dumps(found.proof_file))
    assert found.proof_file["claim"] in cli("check-proof", path, data)


def test_what_is_no_proof_of_it_is_refused(tmp_path) -> None:
    a = table(7, 0)
    file = proof(a, 2, nonzeros=3)
    assert orthopt.check_proof(file, a).claim == file["claim"]
    assert orthopt.check_proof(file, a.T @ a, gram=True).claim == file["claim"]  # C has other bits than that of the samples
    for data, options, words in [
        (a, {"rank": 3}, "rank 2, and 3"),
        (a, {"nonzeros": 4}, "at most 3"),
        (a, {"nonzeros": [3, 2]}, "at most 3"),
        (a, {"total_nonzeros": 6}, "at most 6"),
        (a, {"maximise": "polar"}, "measure adjusted"),
        (a, {"scale": 2.0}, "another table"),
        (a[:, ::-1], {}, "another table"),
        (a[1:], {}, "another table"),
        (table(6, 0), {}, "another table"),
    ]:
        with pytest.raises(orthopt.errors.IncompatibleError, match=words):
            orthopt.check_proof(file, data, **options)
    with pytest.raises(orthopt.errors.OrthoptError, match="seed"):
        orthopt.check_proof(file, a, seed=3)
    for key, value in [
        ("bound", file["bound"] * (1 - 1e-6)),
        ("objective", file["objective"] * (1 + 1e-6)),
        ("X", file["X"][::-1]),
        ("claim", file["claim"] + " Indeed."),
    ]:
        with pytest.raises(orthopt.errors.IncompatibleError, match="proves nothing"):
            orthopt.check_proof({**file, key: value}, a)
    (tmp_path / "other.json").write_text('{"schema": 1}')
    for other in (tmp_path / "other.json", "{}"):
        with pytest.raises(orthopt.errors.IncompatibleError, match="not a file that"):
            orthopt.check_proof(other, a)
    with pytest.raises(FileNotFoundError):
        orthopt.check_proof(tmp_path / "none.json", a)


def test_what_no_file_can_prove_says_so() -> None:
    with pytest.raises(orthopt.errors.OrthoptError, match="l1"):
        orthopt.bound("l1-pca", table(6, 0), rank=2, lam=20.0, nodes=0, proof=True)
    assert orthopt.bound("l0-pca", table(6, 0), rank=2, nonzeros=2).proof_file is None
