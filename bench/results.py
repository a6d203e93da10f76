"""Figures: `bench/results/*.csv` are written from what a benchmark prints, `docs/benchmarks.md` and `docs/search-ablation.md` from them.

    python bench/results.py page                              write the pages
    python bench/results.py measures                          print the tables of docs/measures.md
    python bench/results.py check                             compare it, the files, and the figures of README.md and docs
    python bench/results.py replace FILE NAME=VALUE ... < OUT   put the tables of a benchmark's output into a file
    python bench/results.py ablation VERSION < OUT            put the rows of `orthopt-bench ablation` into search_ablation.csv

`replace` reads Markdown tables and skips other lines. Cells of a table go, in order, into the columns of the file that no
NAME=VALUE names; rows that have these values (`version` aside) are replaced:

    orthopt-bench sparse 60 | python bench/results.py replace sparse version=0123456
    orthopt-bench portfolio 5 pig.npy pig.npy |
        python bench/results.py replace search suite=shipped rank=10 limit_seconds=5 threads=1 version=0123456

A file whose columns differ from those of the table (index.csv says which command it is from) is edited by hand. Needs
Python's standard library only.
"""

from __future__ import annotations

import csv
import io
import re
import sys

import figures
from figures import (
    ROOT,
    beside_pymanopt,
    beside_sklearn,
    gaps,
    hyperbolic_functions,
    index,
    measures,
    public_codes,
    quality,
    read,
    rivals,
    streamed,
    values,
    written,
)

# The figures of README.md


def claims() -> list[str]:
    """Phrases of README.md with a figure from the files, as they must stand there."""
    theirs, counts, bound, rows = beside_sklearn(), rivals(), gaps(), streamed()
    plain, sparse = (read("pitprops", problem=problem)[0] for problem in ("pca", "l0-pca"))
    ranks = values(read("search", suite="large"), "rank")
    percent = [f"{float(row['together_percent']):.1f} %" for row in (sparse, plain)]
    return [
        f"{sparse['nonzeros']} weights instead of {plain['nonzeros']} and keep {percent[0]} of the variance together; plain PCA keeps {percent[1]}",
        f"{theirs['error']} off, and less variance in the span in {theirs['projected']} cases",
        f"in {counts['variance']} cases; adjusted variance in {counts['adjusted']} (",
        f"{bound['gap']} on {bound['tables']} tables with r = 2 or 3",
        f"{rows['rows']} rows × 1000 in {rows['seconds']} s with {rows['MB']} MB",
        f"r = {read('search', suite='shipped')[0]['rank']})",
        f"with {min(ranks):.0f} to {max(ranks):.0f} components",
    ]


def output_claims(output: str) -> list[str]:
    """Phrases of README.md about the output of its first command."""
    nonzeros = int(re.search(r"^ *together +(\d+)", output, re.MULTILINE)[1])
    entries = int(read("pitprops", problem="pca")[0]["nonzeros"])
    feasibility = re.search(r"\|\|X'X - I\|\|_F (\S+);", output)[1]
    pairs = re.search(r"all (\d+) pairs checked", output)[1]
    counts = re.findall(r"^ +\d +(\d+) +\d+\.\d+ %", output, re.MULTILINE)
    return [
        f"{', '.join(counts[:-1])} and {counts[-1]} variables, components orthogonal",
        f"‖X'X − I‖ = {feasibility} and {entries - nonzeros} zeros in the run below",
        f"below: all {pairs} pairs of rows",
    ]


def readme(text: str) -> list[str]:
    """What is wrong with the figures of README.md: missing phrases, and figures that are in none and beside no command."""
    output = next(block for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL) if block.startswith("component "))
    measured = text.split("## What it does that others do not")[1].split("\n## ")[0]
    intro = text.split("\n## ")[0]
    prose, wrong = intro + measured, []
    for phrase in claims() + output_claims(output):
        if phrase not in prose:
            wrong.append(f"README.md does not say {phrase!r}, as the files do")
        prose = prose.replace(phrase, "")
    for line in prose.split("\n"):
        if re.search(r"`orthopt [a-z]", line):
            continue  # the command beside it prints the figures
        bare = re.sub(r"\]\([^)]*\)|!\[[^\]]*\]|`[^`]*`", "", line)
        if figures := re.findall(r"(?<![\w⁰-₉])\d[\d.,]*", bare):
            allowed = {"13"} if "13 properties" in bare else set()
            if left := set(figures) - allowed:
                wrong.append(f"README.md: {sorted(left)} in {bare.strip()!r}: no file and no command has them")
    return wrong


def pages() -> dict[str, list[str]]:
    """Phrases of other pages with a figure from the files; a break of the line counts as a space."""
    five, large, public = quality(read("search", suite="shipped")), quality(read("search", suite="large")), public_codes()
    doubles = values(read("gram", numbers="53 bits"), "reproducible_ratio")
    plain, sparse = (read("pitprops", problem=problem)[0] for problem in ("pca", "l0-pca"))
    wn18rr, fb15k = (next(row for row in read(f"embed_{name}") if row["test_MRR"]) for name in ("wn18rr", "fb15k"))
    best = max((row for row in read("embed_wn18rr") if row["test_MRR"]), key=lambda row: float(row["valid_MRR"]))
    mrr = [f"{float(row['test_MRR']):.3f}".removeprefix("0") for row in (wn18rr, fb15k, best)]
    rows = []
    for data, rank, alpha in (("wine", "3", "2"), ("breast_cancer", "5", "2"), ("digits", "5", "10")):
        theirs, ours = (read("sklearn", data=data, rank=rank, alpha=alpha, method=who)[0] for who in ("scikit-learn", "orthopt"))
        pairs = [run[name] for name in ("orthogonality_error", "projected", "seconds") for run in (theirs, ours)]
        rows.append(f"| {data.replace('_', ' ')}, {rank}, {alpha} | {ours['nonzeros']} | {' | '.join(pairs)} |")
    return {
        "docs/choosing-a-solver.md": [
            f"best single run of that length in {five['within']} cases and {five['largest']} % above it in the other",
            f"With ℓ0 it is below the best single run in {five['lower']} cases",
            f"by up to {float(large['largest']):.1f} %",
        ],
        "docs/compared.md": rows + [f"**measured** {beside_sklearn()['error']} off"],
        "docs/index.md": [
            f"use {sparse['nonzeros']} of {plain['nonzeros']} weights and keep {float(sparse['together_percent']):.1f} % of the variance together",
            f"PCA {float(plain['together_percent']):.1f} % with all {plain['nonzeros']}",
        ],
        "docs/knowledge-graphs.md": [
            f"test MRR of {mrr[0]} and hits@10 of {wn18rr['test_hits_at_10'].removeprefix('0')}",
            f"test MRR of {mrr[1]}",
            f"test MRR of {mrr[2]} after {best['epoch']} epochs",
        ],
        "docs/minimize.md": [hyperbolic_functions(), *(" ".join(line.split()) for line in beside_pymanopt())],
        "docs/measures.md": [" ".join(line.split()) for line in measures() if line.startswith("| ")],
        "docs/roadmap.md": [
            f"{large['within']} cases, {large['above'].split()[0]} above 1 %",
            f"at most {public['ratio'].split()[-1]} of the time in {public['cells'].split()[0]} of {public['cells'].split()[0]} cases",
            f"F higher in {public['higher']}, by at most {public['worst']} %",
            f"{min(doubles):.0f} to {max(doubles):.0f} times, for doubles",
            f"| {mrr[2]} after",
            f"best single run in {five['within']} cases",
        ],
    }


# The ablation


def ablation(version: str, output: str) -> None:
    """search_ablation.csv with the rows of `output` in the place of those of the same runs."""
    with (figures.FILES / "search_ablation.csv").open(encoding="utf-8", newline="") as file:
        head = next(csv.reader(file))
    runs = {tuple(row[name] for name in ("without", "seed", "data", "problem")): row for row in read("search_ablation")}
    for row in csv.DictReader(io.StringIO(output)):
        if row["without"] == "without" or not row["F_third"]:
            continue  # the head of another output
        row["version"] = version
        runs[tuple(row[name] for name in ("without", "seed", "data", "problem"))] = {name: row[name] for name in head}
    with (figures.FILES / "search_ablation.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, head, lineterminator="\n")
        writer.writeheader()
        writer.writerows(runs.values())


# Commands


def check() -> list[str]:
    wrong, names = [], index()
    files = {path.stem for path in figures.FILES.glob("*.csv")} - {"index"}
    wrong += [f"bench/results/index.csv has no line for {name}.csv" for name in sorted(files - names.keys())]
    wrong += [f"bench/results/index.csv names {name}.csv, which does not exist" for name in sorted(names.keys() - files)]
    for name in sorted(files):
        with (figures.FILES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        wrong += [f"{name}.csv, line {i}: {len(row)} of {len(head)} cells" for i, row in enumerate(rows, 2) if len(row) != len(head)]
    wrong += [f"bench/results/index.csv: {name} has no {column}" for name, row in names.items() for column in ("holds", "command", "machine") if not row[column]]
    if wrong:
        return wrong
    for path, (made, longest) in written().items():
        name = f"docs/{path.name}"
        if not path.exists() or path.read_text(encoding="utf-8") != made:
            wrong.append(f"{name} is not what the files say: python bench/results.py page")
        if (lines := made.count("\n")) > longest:
            wrong.append(f"{name} has {lines} lines, more than {longest}")
    for name, phrases in pages().items():
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        wrong += [f"{name} does not say {phrase!r}, as the files do" for phrase in phrases if phrase not in text]
    return wrong + readme((ROOT / "README.md").read_text(encoding="utf-8"))


def cell(text: str) -> str:
    """A cell of a table as a file has it: no emphasis, no sign of plus, nothing for `-`."""
    text = text.strip().replace("**", "").replace("`", "").replace("−", "-")
    return "" if text == "-" else re.sub(r"^\+(?=[\d.])", "", text)


def replace(name: str, words: list[str], output: str) -> None:
    fixed = {column: value for column, _, value in (word.partition("=") for word in words)}
    path = figures.FILES / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        head = next(csv.reader(file))
    if unknown := fixed.keys() - set(head):
        sys.exit(f"{path.name} has no column {', '.join(sorted(unknown))}: {', '.join(head)}")
    free = [column for column in head if column not in fixed]
    rows, inside = [], False
    for line in output.split("\n"):
        if not line.startswith("|"):
            inside = False
        elif re.fullmatch(r"[|\-: ]+", line):
            inside = True  # what follows the rule of a table
        elif inside:
            cells = [cell(text) for text in line.strip()[1:-1].split("|")]
            if len(cells) != len(free):
                sys.exit(f"a row has {len(cells)} cells for the {len(free)} columns {', '.join(free)}: {line}")
            rows.append({**fixed, **dict(zip(free, cells))})
    if not rows:
        sys.exit("no table in the input")
    same = {column: value for column, value in fixed.items() if column != "version"}
    kept = [row for row in read(name) if any(row[column] != value for column, value in same.items())]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, head, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept + rows)


def main() -> None:
    match sys.argv[1:]:
        case ["page"]:
            for path, (text, _) in written().items():
                path.write_text(text, encoding="utf-8")
        case ["measures"]:
            print("\n".join(measures()))
        case ["check"]:
            if wrong := check():
                sys.exit("\n".join(wrong))
        case ["replace", name, *words]:
            replace(name, words, sys.stdin.read())
        case ["ablation", version]:
            ablation(version, sys.stdin.read())
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
