"""``reproduce`` is the command of that name."""

import pytest

import orthopt
from orthopt import errors


def test_a_table_with_the_papers_numbers(tmp_path):
    short = dict(datasets=["randn10"], methods=["J-JOBCD", "UMCM"], max_iters=2)
    found = orthopt.reproduce("jobcd/table2", **short, out=tmp_path / "kept")
    assert {r["method"] for r in found.records} == {"J-JOBCD", "UMCM"}
    assert "-84.6" in found.text and "no lower bound" in str(found)
    assert (tmp_path / "kept" / "jobcd-table2.csv").is_file()
    assert orthopt.reproduce("jobcd/table2", **short).records[0]["objective"] == found.records[0]["objective"]


def test_the_list_and_what_cannot_be_done():
    assert "the paper's numbers of 62 cells" in orthopt.reproduce("list").text
    with pytest.raises(errors.OrthoptError, match="jobcd/table99"):
        orthopt.reproduce("jobcd/table99")
    with pytest.raises(errors.InvalidOptionError, match="list"):
        orthopt.reproduce()
