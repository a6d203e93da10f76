"""Tables of many programs: a frame has the variables and samples of the file that it is read from, and what a message advises in
Python works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import orthopt
from orthopt.errors import OrthoptError, OrthoptWarning

pd = pytest.importorskip("pandas")
DATA = Path(__file__).parents[2] / "crates/orthopt-cli/tests/data"
CLI = os.environ.get("ORTHOPT_CLI")
R_LIB = os.environ.get("ORTHOPT_R_LIB")

#: Files, how pandas reads them, options of both.
FRAMES = [
    ("wb.csv", {}, {}),
    ("total_row.csv", {}, {}),
    ("empty_rows.csv", {}, {}),
    ("total_noname.csv", {}, {}),
    ("pctmix.csv", {}, {}),
    ("idx2.csv", {}, {}),
    ("codes.csv", {}, {}),
    ("census.csv", {}, {}),
    ("star.csv", {}, {"strip": "yield"}),
    ("meansd.csv", {}, {"strip": "yield"}),
    ("erddap.csv", {}, {}),
    ("units_semicolon.csv", {"sep": ";"}, {}),
    ("redcap.csv", {}, {}),
    ("noaa.csv", {}, {}),
    ("spss_labels.csv", {}, {}),
    ("sheets.csv", {}, {}),
    ("subtotals.csv", {}, {}),
    ("totalname.csv", {}, {}),
    ("opus.csv", {}, {}),
    ("iris.csv", {}, {}),
    ("bfi_200.csv", {}, {"missing": "mean"}),
    ("survey.csv", {}, {"weights": "weight"}),
    ("r_writecsv.csv", {"index_col": 0}, {}),
    ("corr.csv", {"index_col": 0}, {}),
    ("trail_rows.csv", {"index_col": False}, {}),
    ("proteinGroups.txt", {"sep": "\t"}, {}),
    ("geno.raw", {"sep": " "}, {"missing": "mean"}),
]


def path_of(name: str) -> Path:
    found = DATA / "cases" / name
    return found if found.exists() else DATA / name


def solved(data, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = orthopt.solve("pca", data, rank=1, scale="std", **options)
    return found, [str(one.message) for one in caught if issubclass(one.category, OrthoptWarning)]


@pytest.mark.parametrize("name, reading, options", FRAMES, ids=[name for name, _, _ in FRAMES])
def test_frames_are_files(name, reading, options):
    path = path_of(name)
    of_file, said = solved(str(path), **options)
    of_frame, also = solved(pd.read_csv(path, **reading), **options)
    assert of_frame.feature_names == of_file.feature_names
    assert of_frame.objective == pytest.approx(of_file.objective, rel=1e-9)
    # the same is said of rows and of what looks like something else
    told = [note for note in said if re.search("no sample|total|looks like|tells the rows apart", note)]
    for note in told:
        beginning = re.split(r";|, with the same names", note)[0]
        assert any(beginning in other for other in also), (note, also)


@pytest.mark.parametrize("name, reading, options", FRAMES, ids=[name for name, _, _ in FRAMES])
def test_other_frames_are_files(name, reading, options, tmp_path):
    """Tables of polars and Arrow, in memory and in a file, are what the frame of pandas is that they are made of."""
    frame = pd.read_csv(path_of(name), **reading)
    expected, _ = solved(str(path_of(name)), **options)
    doors = []
    polars, arrow = (_package(package) for package in ("polars", "pyarrow"))
    if arrow is not None:
        doors += [arrow.Table.from_pandas(frame)]
        frame.to_parquet(tmp_path / "t.parquet")
        doors.append(str(tmp_path / "t.parquet"))
    if arrow is not None and polars is not None:
        index = reading.get("index_col", False) is not False
        doors.append(polars.from_pandas(frame, include_index=index))
    for door in doors:
        found, _ = solved(door, **options)
        assert found.feature_names == expected.feature_names, type(door)
        assert found.objective == pytest.approx(expected.objective, rel=1e-9), type(door)


#: Arguments of read.csv in R where they are others.
IN_R = {
    "units_semicolon.csv": 'sep = ";"',
    "proteinGroups.txt": r'sep = "\t"',
    "r_writecsv.csv": "row.names = 1",
    "corr.csv": "row.names = 1",
    "trail_rows.csv": None,  # read.csv takes the first column for names
}


@pytest.mark.skipif(R_LIB is None, reason="there is no library of R")
@pytest.mark.parametrize("name, options", [(name, o) for name, _, o in FRAMES if not {"missing", "weights"} & set(o)])
def test_r_frames_are_files(name, options):
    reading = IN_R.get(name, "")
    if reading is None:
        pytest.skip("R reads another table")
    of_file, _ = solved(str(path_of(name)), **options)
    strip = "".join(f', {key} = "{value}"' for key, value in options.items())
    code = (
        f'd <- read.csv("{path_of(name)}", check.names = FALSE, quote = "\\"" {", " + reading if reading else ""}); '
        f"found <- suppressWarnings(orthopt::sparse_pca(d, ncomp = 1, penalty = 'none'{strip})); "
        "cat(found$n, rownames(found$rotation), sep = '\\n')"
    )
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, env={**os.environ, "R_LIBS": R_LIB})
    assert done.returncode == 0, done.stderr
    rows, *names = done.stdout.splitlines()
    assert int(rows) == of_file.data_shape[0]
    assert names == of_file.feature_names


def _package(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def test_options_of_frames():
    frame = pd.read_csv(path_of("total_row.csv"))
    kept, _ = solved(frame, drop_rows="none")
    without, notes = solved(frame)
    assert any("no sample by the name" in note and 'drop_rows="none"' in note for note in notes)
    assert kept.objective != pytest.approx(without.objective)
    company = pd.read_csv(path_of("totalname.csv"))
    _, notes = solved(company)
    assert any('drop_rows="Total" leaves it out' in note for note in notes)
    fewer, _ = solved(company, drop_rows="Total")
    assert fewer.objective == pytest.approx(solved(company[company.company != "Total"])[0].objective)


def test_both_shapes_of_procrustes_are_centred():
    g = np.random.default_rng(0)
    A, Q = g.normal(size=(30, 3)), np.linalg.qr(g.normal(size=(3, 3)))[0]
    B = A @ Q + 0.5 * g.normal(size=(30, 3))
    a, b = A - A.mean(0), B - B.mean(0)
    U, _, V = np.linalg.svd(a.T @ b)
    expected = 0.5 * np.linalg.norm(a @ U @ V - b) ** 2
    for shift in (0, 7, 1000):
        found = orthopt.solve("procrustes", A + 5, target=B + shift, center=True)
        assert found.objective == pytest.approx(expected, rel=1e-8)
        assert np.abs(found.X - U @ V).max() < 1e-6
        assert orthopt.certify("procrustes", A + 5, found.X, target=B + shift, center=True).objective == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("value", [3.0, 0.1])
def test_a_constant_table_has_one_note(value):
    for data, options in ((np.full((5, 3), value), {"center": True}), (np.zeros((3, 3)), {"gram": True})):
        with pytest.warns(OrthoptWarning, match="there is no variance") as caught:
            orthopt.solve("l0-pca", data, rank=2, **options)
        assert len(caught) == 1, [str(one.message) for one in caught]


def message_of(folder: Path, name: str) -> str:
    """What the command says of a file that it does not read."""
    done = subprocess.run([CLI, "data", "info", name], cwd=folder, capture_output=True, text=True)
    assert done.returncode != 0, done.stdout
    return done.stderr


@pytest.mark.skipif(CLI is None, reason="there is no command to compare with")
@pytest.mark.parametrize("ending", ["dta", "pkl", "sav", "sas7bdat", "xpt", "h5ad", "h5"])
def test_lines_that_convert_run(ending, tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2, 5, 3], "b": pd.Categorical.from_codes([0, 1, 1, 0], ["low", "high"]), "c": [4, 1, 2, 8]})
    path = tmp_path / f"t.{ending}"
    if ending == "dta":
        frame.to_stata(path, write_index=False)
    elif ending == "pkl":
        frame.assign(b=frame.b.cat.codes).to_pickle(path)
    else:
        path.write_bytes(b"\x00" * 64)
    lines = re.findall("`([^`]*)`", message_of(tmp_path, path.name))
    assert len(lines) == 2
    for line in lines:
        compile(line, path.name, "exec")
    if ending not in ("dta", "pkl"):
        return  # nothing here writes them
    subprocess.run([os.sys.executable, "-c", "\n".join(lines)], cwd=tmp_path, check=True)
    done = subprocess.run([CLI, "solve", "pca", "t.csv", "--center", "-r", "1", "--json", "-"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["data"]["cols"] == 3  # codes, not labels


@pytest.mark.skipif(CLI is None, reason="there is no command to compare with")
def test_the_line_that_codes_words_runs(tmp_path):
    text = path_of("likert.csv").read_text()
    (tmp_path / "likert.csv").write_text(text)
    done = subprocess.run([CLI, "solve", "pca", "likert.csv", "-r", "1"], cwd=tmp_path, capture_output=True, text=True)
    line = re.findall("`(d = pandas[^`]*)`", done.stderr)[0].replace("FILE", '"likert.csv"')
    subprocess.run([os.sys.executable, "-c", "import pandas\n" + line], cwd=tmp_path, check=True)
    done = subprocess.run([CLI, "solve", "pca", "coded.csv", "--center", "-r", "1", "--json", "-"], cwd=tmp_path, capture_output=True, text=True, check=True)
    data = json.loads(done.stdout)["data"]
    rows, columns = pd.read_csv(path_of("likert.csv")).shape
    assert (data["rows"], data["cols"]) == (rows, columns - 1)  # the time of the answers names the rows


def test_words_alone_are_refused():
    with pytest.raises(OrthoptError, match="the same 5 answers in words"):
        orthopt.solve("pca", pd.read_csv(path_of("likert.csv")), rank=1)


def test_rows_without_a_value_are_left_out():
    frame = pd.read_csv(path_of("empty_rows.csv"))
    found, notes = solved(frame)
    assert found.data_shape[0] == 8
    assert any("rows `lost`, `Source: survey 2019` with nothing but a name are left out" in note for note in notes), notes
    assert any("row `6` with no value is left out" in note for note in notes), notes
    # they may be kept, and are missing values then
    with pytest.raises(OrthoptError, match="a value that is not finite in row 4, column 1"):
        solved(frame, drop_rows="none")
    named = frame.set_index("name")
    assert solved(named)[0].objective == found.objective
    numbers = frame.drop(columns="name")
    assert solved(numbers)[0].objective == found.objective
    # as many weights as the frame has rows
    weighted, _ = solved(frame, weights=[2.0] * len(frame))
    assert weighted.data_shape[0] == 8


def test_arrays_keep_their_rows():
    """Nothing is left out of arrays, whose rows belong to other arrays; the note says what does it."""
    X = np.random.default_rng(3).normal(size=(12, 4)).round(2)
    total = np.vstack([X, X.sum(axis=0)])
    found, notes = solved(total)
    advice = [note for note in notes if note.startswith("row 13, the last one, is the sum of the others and is read as a sample")]
    assert found.data_shape[0] == 13
    assert advice and advice[0].endswith("; X[:-1] leaves it out"), notes
    less, notes = solved(eval("X[:-1]", {"X": total}))
    assert less.objective == solved(X)[0].objective
    assert not any("the last one" in note for note in notes)
