"""What `bench/results.py` finds wrong, and what it makes of the output of a benchmark: `python bench/test_results.py`."""

from __future__ import annotations

import csv
import shutil
import tempfile
import unittest
from pathlib import Path

import figures
import results

README = (figures.ROOT / "README.md").read_text(encoding="utf-8")
OUTPUT = """## a heading

| data | problem | share of default lambda | auto | best alone | which | excess % |
|---|---|---|---|---|---|---|
| a.npy | l0-pca | 0.1 | **-2** | -1 | ladmm+obcd from random | +0.5 |
| a.npy | nonneg-pca |  | - | -1 | `obcd` from pca | -0.25 |
a line of prose with 3 | 4
"""


class OfReadme(unittest.TestCase):
    def test_as_it_is(self) -> None:
        self.assertEqual(results.readme(README), [])

    def test_every_claim_is_looked_for(self) -> None:
        output = next(block for block in README.split("```text\n")[1:]).split("```")[0]
        for phrase in results.claims() + results.output_claims(output):
            digit = next(c for c in phrase if c.isdigit())
            wrong = phrase.replace(digit, str((int(digit) + 1) % 10))
            self.assertTrue(results.readme(README.replace(phrase, wrong)), phrase)

    def test_a_figure_of_no_file(self) -> None:
        more = README.replace("What it is not:", "It is 97 times as fast. What it is not:")
        self.assertIn("97", " ".join(results.readme(more)))
        intro = README.replace("# orthopt\n", "# orthopt\n\n97 % of users like it.\n", 1)
        self.assertIn("97", " ".join(results.readme(intro)))

    def test_a_figure_beside_its_command(self) -> None:
        more = README.replace("* **Rivals behind", "* Speed: 97 (`orthopt list solvers`)\n* **Rivals behind")
        self.assertEqual(results.readme(more), [])


class OfFiles(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for path in figures.FILES.glob("*.csv"):
            shutil.copy(path, self.folder)
        self.files, figures.FILES = figures.FILES, self.folder
        self.addCleanup(setattr, figures, "FILES", self.files)

    def change(self, name: str, old: str, new: str) -> None:
        path = self.folder / f"{name}.csv"
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def test_as_they_are(self) -> None:
        self.assertEqual(results.check(), [])

    def test_a_figure_that_the_page_does_not_have(self) -> None:
        self.change("endings", "43.6", "44.6")
        self.assertIn("docs/benchmarks.md is not", results.check()[0])

    def test_a_figure_that_another_page_does_not_have(self) -> None:
        self.change("gram", "5.30", "9.30")
        self.assertIn("docs/roadmap.md does not say", " ".join(results.check()))

    def test_a_figure_that_the_page_of_measures_does_not_have(self) -> None:
        self.change("measures_planted", "equal,60,0.0,1,variance,1.000", "equal,60,0.0,1,variance,0.000")
        self.assertIn("docs/measures.md does not say", " ".join(results.check()))

    def test_a_file_without_a_line_in_the_index(self) -> None:
        shutil.copy(self.folder / "build.csv", self.folder / "more.csv")
        self.assertIn("no line for more.csv", results.check()[0])
        (self.folder / "more.csv").unlink()
        (self.folder / "build.csv").unlink()
        self.assertIn("names build.csv", results.check()[0])

    def test_a_row_that_lacks_a_cell(self) -> None:
        with (self.folder / "build.csv").open("a", encoding="utf-8") as file:
            file.write("1,2\n")
        last = len((self.folder / "build.csv").read_text(encoding="utf-8").splitlines())
        self.assertIn(f"build.csv, line {last}: 2 of 5 cells", results.check()[0])

    def test_output_takes_the_place_of_its_suite(self) -> None:
        before = figures.read("search")
        words = ["suite=later", "rank=10", "limit_seconds=5", "threads=1", "version=0123456"]
        results.replace("search", words, OUTPUT)
        after = figures.read("search")
        self.assertEqual([row for row in before if row["suite"] != "later"], [row for row in after if row["suite"] != "later"])
        new = [row for row in after if row["suite"] == "later"]
        self.assertEqual([row["F_default"] for row in new], ["-2", ""])
        self.assertEqual([row["excess_percent"] for row in new], ["0.5", "-0.25"])
        self.assertEqual([row["best_alone"] for row in new], ["ladmm+obcd from random", "obcd from pca"])
        self.assertEqual({row["version"] for row in new}, {"0123456"})

    def test_rows_of_an_ablation_are_summed_up(self) -> None:
        head = "without,seed,set,data,problem,rank,F_first,F_second,F_third,work,seconds\n"
        rows = [
            "all,1,seen,a,l0,3,-1,-1.98,-2,9,1", "all,1,unseen,b,l0,3,-9,-10,-10,9,1",
            "seed:9,9,seen,a,l0,3,-1,-2,-1.999,9,1", "kicks,1,seen,a,l0,3,-1,-1.98,-1.96,36,1",
            "kicks,1,unseen,b,l0,3,inf,-9,-9.9,9,1", "kicks,1,unseen,c,l0,3,-1,-1,-1,9,1",
        ]  # fmt: skip
        (self.folder / "search_ablation.csv").write_text("without,seed,set,data,problem,rank,F_first,F_second,F_third,work,version\n")
        results.ablation("0123456", head + "\n".join(rows[:2]) + "\n" + head + "\n".join(rows[2:]) + "\n")
        kicks = figures.effects()["kicks"]
        seen = kicks["F_third", "seen"]
        self.assertEqual([round(seen[name], 9) for name in ("cells", "change", "lost", "won", "largest", "work")], [1, 2, 1, 0, 2, 4])
        self.assertEqual(kicks["F_third", "unseen"]["cells"], 1)  # c has no row with all parts
        self.assertAlmostEqual(kicks["F_third", "unseen"]["change"], 1)
        self.assertAlmostEqual(kicks["F_first", "unseen"]["change"], 90)  # no point yet
        self.assertEqual((kicks["F_second", "seen"]["change"], kicks["F_second", "seen"]["lost"]), (0, 0))
        self.assertAlmostEqual(figures.effects()["seed:9"]["F_third", "seen"]["change"], 0.05)
        self.assertIn("| kicks (not in the search) | +2.000 (1/0 of 1, +2.00) | +1.000", figures.ablation_page())
        self.assertIn("| +0.000 | +90.000 | +0.000 | +10.000 | 2.00 |", figures.ablation_page())
        self.assertIn("docs/search-ablation.md is not", " ".join(results.check()))
        # the same run again is no further row
        before = figures.read("search_ablation")
        results.ablation("7654321", head + rows[3] + "\n")
        self.assertEqual(len(figures.read("search_ablation")), len(before))

    def test_output_that_does_not_fit(self) -> None:
        text = (self.folder / "search.csv").read_text(encoding="utf-8")
        for words, output in ((["suite=later"], OUTPUT), (["sweet=later"], OUTPUT), (["suite=later"], "no table")):
            with self.assertRaises(SystemExit):
                results.replace("search", words, output)
        self.assertEqual((self.folder / "search.csv").read_text(encoding="utf-8"), text)

    def test_cells_with_commas_come_back(self) -> None:
        with (self.folder / "sklearn.csv").open(encoding="utf-8", newline="") as file:
            self.assertEqual({len(row) for row in csv.reader(file)}, {12})


if __name__ == "__main__":
    unittest.main()
