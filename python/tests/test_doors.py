"""The same request has the same answer at every door: X bit by bit, how it ended, the words of the notes.

Doors are the command, `orthopt.solve`, the estimators, Rust (`SparsePca`) and R (`sparse_pca`). A request is written once, in
the words of the command; each door has its own way to ask.
"""

import json
import re
import warnings

import numpy as np
import pytest

import orthopt

#: Problem and options. `quick`: a search, which has an effort.
REQUESTS = {
    "a weight": ("l0-pca", {"rank": 3, "lambda": 5.0, "effort": "quick"}),
    "a share as weight": ("l0-pca", {"rank": 3, "lambda-share": 0.1, "effort": "quick"}),
    "one number": ("l0-pca", {"rank": 3, "nonzeros": "4", "effort": "quick"}),
    "a list of numbers": ("l0-pca", {"nonzeros": "5,3,2", "effort": "quick"}),
    "more than there are": ("l0-pca", {"rank": 2, "nonzeros": "40", "effort": "quick"}),
    "a total": ("l0-pca", {"rank": 3, "total-nonzeros": 12, "effort": "quick"}),
    "a total with least and most": (
        "l0-pca", {"rank": 3, "total-nonzeros": 12, "min-nonzeros": 2, "max-nonzeros": 5, "effort": "quick"},
    ),
    "variables": ("l0-pca", {"rank": 3, "variables": 5, "effort": "quick"}),
    "no negative loadings": ("nonneg-pca", {"rank": 3, "effort": "quick"}),
    "no negative loadings, few": ("nonneg-pca", {"rank": 3, "nonzeros": "3", "effort": "quick"}),
    "variance with a number": ("l0-pca", {"rank": 3, "nonzeros": "4", "maximise": "variance", "effort": "quick"}),
    "polar variance": ("l0-pca", {"rank": 2, "nonzeros": "4", "maximise": "polar", "effort": "quick"}),
    "one after the other": ("l0-pca", {"rank": 3, "nonzeros": "4", "order": "sequential"}),
    "uncorrelated scores": ("l0-pca", {"rank": 3, "nonzeros": "5", "constraint": "uncorrelated", "effort": "quick"}),
    "all is chosen": ("l0-pca", {"rank": "auto", "effort": "quick", "seed": 3}),
    "one component": ("l0-pca", {"rank": 1, "nonzeros": "4", "effort": "quick"}),
    "a solver": ("l1-pca", {"rank": 3, "lambda": 5.0, "solver": "obcd", "seed": 7}),
    "no time": ("l0-pca", {"rank": 3, "nonzeros": "4", "time-limit": 0.0}),
}  # fmt: skip

#: What is maximised, where that is not the variance.
MEASURES = {
    **dict.fromkeys(
        ("one number", "a list of numbers", "a total", "a total with least and most",
         "one after the other", "all is chosen", "no time"), "adjusted",
    ),
    "polar variance": "polar",
}  # fmt: skip


@pytest.fixture(scope="module")
def samples():
    """Every row with its negative, and a row of zeros: the mean of every column is 0 exactly, and the number of rows less one
    a power of four, so that dividing by its root (R does) changes no bit of X."""
    rng = np.random.default_rng(11)
    half = rng.normal(size=(32, 3)) @ rng.normal(size=(3, 10)) + 0.4 * rng.normal(size=(32, 10))
    return np.vstack([half, -half, np.zeros((1, 10))])


@pytest.fixture(scope="module")
def file(samples, tmp_path_factory):
    path = tmp_path_factory.mktemp("doors") / "samples.npy"
    np.save(path, samples)
    return path


def plain(notes):
    """Notes without the signs by which a door spells an option: `--time-limit 5`, `time_limit=5`; how a file was read is of the command."""
    notes = [note for note in notes if not note.startswith("the table was read as")]
    words = (re.sub(r"--|[`'\"=]|\boption\b", " ", note).replace("_", "-") for note in notes)
    return sorted(" ".join(word.split()) for word in words)


def answer(x, status, notes):
    return np.ascontiguousarray(x).tobytes(), status, plain(notes)


def assert_same(theirs, ours, door):
    assert theirs[1:] == ours[1:], door
    assert theirs[0] == ours[0], f"{door}: other bits of X"


@pytest.fixture(scope="module")
def asked(cli, file, tmp_path_factory):
    """The answer of the command to a request, and its whole JSON."""
    folder = tmp_path_factory.mktemp("command")
    known = {}

    def ask(name, center=False):
        problem, options = REQUESTS[name]
        if (name, center) not in known:
            x = folder / "x.npy"
            words = [word for option, value in options.items() for word in (f"--{option}", value)]
            told = json.loads(cli("solve", problem, file, *words, *(["--center"] if center else []), "--save-x", x, "--json", "-"))
            known[name, center] = answer(np.load(x), told["status"], told["notes"]), told
        return known[name, center]

    return ask


def typed(value):
    """A number of nonzeros as Python and R have it."""
    if isinstance(value, str) and value.replace(",", "").isdigit():
        numbers = [int(number) for number in value.split(",")]
        return numbers if len(numbers) > 1 else numbers[0]
    return value


def in_python(options, **other):
    """Options with the names of Python; `other` has those of an estimator."""
    names = {"lambda": "lam", "lambda-share": "lam_share", **other}
    return {names.get(name, name.replace("-", "_")): typed(value) for name, value in options.items()}


def heard(call):
    """What a call returns, and the notes that it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, [str(one.message) for one in caught if issubclass(one.category, orthopt.errors.OrthoptWarning)]


@pytest.mark.parametrize("name", REQUESTS)
def test_solve(asked, samples, name):
    problem, options = REQUESTS[name]
    theirs, told = asked(name)
    found, notes = heard(lambda: orthopt.solve(problem, samples, **in_python(options)))
    assert_same(answer(found.X, found.status, notes), theirs, "orthopt.solve")
    assert found.explained_variance.maximised == told["explained_variance"]["maximised"] == MEASURES.get(name, "variance")
    assert told["status"] == "time_limit" or name != "no time"


@pytest.mark.parametrize("name", REQUESTS)
def test_rust(asked, rust, samples, file, name):
    problem, options = REQUESTS[name]
    assert_same(answer(*rust(problem, file, samples.shape[1], options)), asked(name)[0], "SparsePca")


@pytest.mark.parametrize("name", REQUESTS)
def test_r(asked, r, samples, file, tmp_path, name):
    problem, options = REQUESTS[name]
    if "lambda" in options:  # of C as R has it
        options = {**options, "lambda": options["lambda"] / (len(samples) - 1)}
    samples.astype("<f8").tofile(tmp_path / "a.bin")
    read = f"a <- matrix(readBin({json.dumps(str(tmp_path / 'a.bin'))}, 'double', {samples.size}), {len(samples)}, byrow = TRUE)"
    words = in_python(options, **{"lambda": "lambda", "lambda-share": "lambda_share", "rank": "ncomp"})
    shown = {str: json.dumps, list: lambda list: f"c({', '.join(map(str, list))})"}
    words = {key: shown.get(type(value), repr)(value) for key, value in words.items()}
    words |= {"nonneg": "TRUE"} if problem == "nonneg-pca" else {"penalty": json.dumps(problem.removesuffix("-pca"))}
    call = ", ".join(f"{key} = {value}" for key, value in words.items())
    found = r(f"{read}\nfound <- suppressWarnings(sparse_pca(a, center = FALSE, {call}))", samples.shape[1])
    assert_same(answer(*found), asked(name)[0], "sparse_pca")


#: What estimators call options; they have no others of the problem.
ESTIMATORS = {"rank": "n_components", "lambda-share": "alpha", "seed": "random_state"}
KNOWN = {*ESTIMATORS, "nonzeros", "maximise", "order", "constraint", "effort", "solver", "time-limit"}


@pytest.mark.parametrize("name", [name for name, (_, options) in REQUESTS.items() if set(options) <= KNOWN])
def test_estimators(asked, samples, name):
    pytest.importorskip("sklearn")
    problem, options = REQUESTS[name]
    if problem == "nonneg-pca" and "nonzeros" in options:
        pytest.skip("NonnegativePCA has no number of nonzeros")
    if "rank" not in options:
        pytest.skip("an estimator has a number of components")
    words = {"seed": 0, **options}
    kind = orthopt.NonnegativePCA if problem == "nonneg-pca" else orthopt.SparsePCA
    more = {} if problem != "l1-pca" else {"penalty": "l1"}
    model, notes = heard(lambda: kind(**in_python(words, **ESTIMATORS), **more, certify=False).fit(samples))
    found = model.solution_
    assert_same(answer(found.X, found.status, notes), asked(name, center=True)[0], "the estimator")


def test_explore(cli, samples, file):
    """What explores a table finds what `solve` finds with the options that it prints, adjusted variance by default."""
    told = json.loads(cli("explore", file, "-r", 2, "--time-limit", 60, "--json", "-"))
    found = orthopt.explore(samples, 2, time_limit=60)
    assert found.solution.explained_variance.maximised == told["solution"]["explained_variance"]["maximised"] == "adjusted"
    assert np.asarray(told["solution"]["x"]).tobytes() == np.ascontiguousarray(found.solution.X).tobytes()
    assert not any("maximise" in step.code for step in found.steps)


#: Tables that look like something else: with what they are read as, and a word of the note.
LOOKS = {
    "correlations": (np.array([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]]), False, "looks like a correlation matrix"),
    "distances": (np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0.0]]), False, "looks like distances"),
    "a triangle": (np.array([[1, 0, 0], [0.5, 1, 0], [0.2, 0.1, 1]]), True, "triangle is used for both"),
    "indefinite": (np.array([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]]), True, "C is indefinite"),
}


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("scale", [1.0, 2.0**300, 2.0**-300])
def test_tables_in_memory_are_told_as_files_are(name, scale, tmp_path):
    pandas = pytest.importorskip("pandas")
    table, gram, word = LOOKS[name]
    table = table * scale
    path = tmp_path / "table.npy"
    np.save(path, table)
    options = {"rank": 2, "effort": "quick", **({"gram": True} if gram else {})}
    of_file, notes = heard(lambda: orthopt.solve("l1-pca", str(path), **options))
    assert sum(word in note for note in notes) == 1, notes
    for data in (table, np.asfortranarray(table), pandas.DataFrame(table)):
        found, own = heard(lambda: orthopt.solve("l1-pca", data, **options))
        assert answer(found.X, found.status, []) == answer(of_file.X, of_file.status, [])
        assert [note.replace(f"gram=\"{path}\"", "gram=True") for note in notes] == own


def test_the_nearest_matrix_in_memory(tmp_path):
    table, _, _ = LOOKS["indefinite"]
    np.save(tmp_path / "c.npy", table)
    options = {"rank": 1, "gram": True, "nearest": True, "effort": "quick"}
    of_file, notes = heard(lambda: orthopt.solve("l1-pca", str(tmp_path / "c.npy"), **options))
    found, own = heard(lambda: orthopt.solve("l1-pca", table, **options))
    assert answer(found.X, found.status, own) == answer(of_file.X, of_file.status, notes)
    assert any("nearest matrix" in note for note in own)
    with pytest.raises(orthopt.errors.IncompatibleError, match="nearest"):
        orthopt.solve("l1-pca", table, 1, nearest=True)
