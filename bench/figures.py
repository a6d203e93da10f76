"""The pages of figures, `docs/benchmarks.md` and `docs/search-ablation.md`, and what is counted in `bench/results/*.csv` for them and for
other pages. `bench/results.py` writes the pages and compares them. Needs Python's standard library only.
"""

from __future__ import annotations

import csv
import math
import re
import statistics
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
LONGEST = 205  # lines of the page
Row = dict[str, str]


def read(name: str, **having: str) -> list[Row]:
    """Rows of a file, those with the given values."""
    with (FILES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if all(row[column] == value for column, value in having.items())]


def index() -> dict[str, Row]:
    return {row["file"].removesuffix(".csv"): row for row in read("index")}


def table(head: list[str], rows: list[list[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def values(rows: list[Row], column: str) -> list[float]:
    return [float(row[column]) for row in rows if row[column]]


def span(numbers: list[float], digits: int = 2) -> str:
    least, most = (f"{number:.{digits}f}" for number in (min(numbers), max(numbers)))
    return least if least == most else f"{least} to {most}"


def share(part: int, whole: int) -> str:
    return f"{part} of {whole}"


# What is counted in the files. README.md and the page have these and nothing else.


def quality(rows: list[Row]) -> dict[str, str]:
    """Cells by how far the default is above the best single run."""
    excess = values(rows, "excess_percent")
    l0 = values([row for row in rows if row["problem"] == "l0-pca"], "excess_percent")
    # an excess that is printed as zero is a tie: "lower" means lower by what is printed
    return {
        "within": share(sum(e <= 0.1 for e in excess), len(excess)),
        "above": share(sum(e > 1 for e in excess), len(excess)),
        "lower": share(sum(e < 0 for e in l0), len(l0)),
        "largest": f"{max(excess):.2f}",
    }


def public_codes() -> dict[str, str]:
    """The fastest of our first-order solvers over the faster public code, where that ends within 5 % of our F."""
    cells: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in read("l1_public"):
        key = tuple(row[name] for name in ("columns", "rank", "mu", "start"))
        cells.setdefault(key, {})[row["method"]] = row
    ratios, same, lower, higher, worst = [], 0, 0, 0, 0.0
    for runs in cells.values():
        ours = [runs[name] for name in ("irpg", "slpg", "amanpg")]
        theirs = [runs[name] for name in ("smopt slpg", "pystop SLPG") if runs[name]["F"]]
        best, public = min(values(ours, "F")), min(values(theirs, "F"))
        if public > best + 0.05 * abs(best):
            continue
        ratios.append(min(values(ours, "processor_seconds")) / min(values(theirs, "processor_seconds")))
        excess = (best - public) / abs(public)
        same += abs(excess) <= 1e-6
        lower += excess < -1e-6
        higher += excess > 1e-6
        worst = max(worst, 100 * excess)
    return {
        "cells": share(len(ratios), len(cells)),
        "ratio": span(ratios),
        "same": str(same),
        "lower": str(lower),
        "higher": str(higher),
        "worst": f"{worst:.2f}",
    }


def rivals() -> dict[str, str]:
    rows = read("nonzeros_rivals")
    others = ("power", "ortho", "sklearn")
    best = [max(float(row[f"variance_{name}"]) for name in others) for row in rows]
    adjusted = [max(float(row["adjusted_power"]), float(row["adjusted_sklearn"])) for row in rows]
    more = sum(float(row["variance_orthopt"]) > other for row, other in zip(rows, best))
    also = sum(float(row["adjusted_orthopt"]) > other for row, other in zip(rows, adjusted))
    margin = read("nonzeros_margin")
    return {
        "variance": share(more, len(rows)),
        "adjusted": share(also, len(rows)),
        "cases": str(sum(int(row["cases"]) for row in margin)),
        "least": f"{min(values(margin, 'least_percent')):.2f}",
        "margin": span(values(margin, "mean_percent")),
        "beaten": str(sum(int(row["adjusted_above"]) for row in margin)),
    }


def beside_sklearn() -> dict[str, str]:
    pairs = list(zip(read("sklearn", method="orthopt"), read("sklearn", method="scikit-learn")))
    counts = {
        name: share(sum(float(ours[name]) > float(theirs[name]) for ours, theirs in pairs), len(pairs))
        for name in ("projected", "adjusted")
    }
    errors = values([theirs for _, theirs in pairs], "orthogonality_error")
    ours = max(values([ours for ours, _ in pairs], "orthogonality_error"))
    return counts | {"error": f"{min(errors):.0f} to {max(errors):.2f}", "ours": f"{ours:.1e}"}


def gaps() -> dict[str, str]:
    rows = [row for row in read("bounds") if row["nodes"]]
    names = {row["data"] for row in rows}
    return {
        "tables": "no one two three four five six".split()[len(names)],
        "gap": f"0 to {max(values(rows, 'gap_percent')):.1f} %",
        "proved": share(sum(row["proved"] == "yes" for row in rows), len(rows)),
    }


def streamed() -> dict[str, str]:
    row = max(read("beyond_memory", suite="rows"), key=lambda row: int(row["rows"]))
    return {
        "rows": f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[len(row['rows']) - 1]}",
        "seconds": f"{float(row['seconds']):.0f}",
        "MB": row["peak_MB"],
    }


# The tables of docs/measures.md

OBJECTIVES = ["variance", "adjusted", "polar", "explained"]


def grouped(rows: list[Row], *columns: str) -> dict[tuple[str, ...], list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    return groups


def studied(group: str) -> list[list[object]]:
    """Of each objective: the share of the best of the four in each measure, correlations of scores, stability, seconds."""
    rows = [row for row in read("measures_study") if group in (row["group"], "all")]
    cells = [cell for cell in grouped(rows, "data", "rank", "nonzeros_each").values() if len(cell) == len(OBJECTIVES)]
    lines = []
    for objective in OBJECTIVES:
        mine = [next(row for row in cell if row["maximised"] == objective) for cell in cells]
        shares = []
        for measure in OBJECTIVES:
            of_best = [float(row[measure]) / max(values(cell, measure)) for row, cell in zip(mine, cells)]
            shares.append(f"{statistics.mean(of_best):.3f} ({min(of_best):.2f})")
        correlation, seconds = values(mine, "largest_correlation"), values(mine, "seconds")
        above = f"{100 * statistics.mean(value > 0.7 for value in correlation):.0f} %"
        spans = [f"{statistics.median(some):.{digits}f}, {max(some):.{digits}f}" for some, digits in ((correlation, 2), (seconds, 1))]
        lines.append([group, objective, *shares, spans[0], above, f"{statistics.mean(values(mine, 'stability')):.2f}", spans[1]])
    return lines


def supports() -> list[list[object]]:
    lines = []
    for (model, rows, correlation), runs in grouped(read("measures_planted"), "model", "rows", "correlation").items():
        methods = grouped(runs, "method").values()
        found = [f"{statistics.mean(values(some, 'recovered')):.2f} ({sum(values(some, 'exact')):.0f})" for some in methods]
        lines.append([model, rows, correlation, *found])
    return lines


def beside_rivals() -> list[list[object]]:
    """Of each orthogonal rival: cells, those in which adjusted of orthopt is at or above, and the least and mean ratio."""
    rows = read("measures_rivals")
    ours = {(row["data"], row["rank"], row["limit"]): float(row["adjusted"]) for row in rows if row["method"] == "orthopt adjusted"}
    ratios: dict[str, list[float]] = {}
    for row in rows:
        if row["method"] != "orthopt adjusted" and float(row["orthogonality_error"]) < 1e-3:
            ratio = ours[row["data"], row["rank"], row["limit"]] / float(row["adjusted"])
            ratios.setdefault(row["method"].removeprefix("ortho-"), []).append(ratio)
    ratios["all"] = [ratio for some in ratios.values() for ratio in some]
    return [
        [name, len(some), sum(ratio >= 1 - 1e-6 for ratio in some), f"{min(some):.3f}", f"{statistics.geometric_mean(some):.2f}"]
        for name, some in ratios.items()
    ]


def measures() -> list[str]:
    head = ["tables", "maximised", *OBJECTIVES, "largest correlation", "above .7", "stability", "seconds"]
    lines = [*table(head, [line for group in ("unseen", "all") for line in studied(group)]), ""]
    methods = dict.fromkeys(row["method"] for row in read("measures_planted"))
    lines += [*table(["model", "rows", "correlation", *methods], supports()), ""]
    return lines + table(["rival", "cells", "at or above", "least ratio", "mean ratio"], beside_rivals())


# The page


def source(*names: str) -> str:
    """Links to files, and the first command that prints what is in the first of them; the index has all."""
    links = ", ".join(f"[{name}.csv](../bench/results/{name}.csv)" for name in names)
    parts = [part.strip() for part in index()[names[0]]["command"].split(";")]
    commands = [part for part in parts if re.match(r"(\w+=\S+ )*(orthopt|python|cargo|time|/usr/bin/time)", part)]
    return f"{links}; {f'`{commands[0]}`' if commands else ''}"


def note(name: str) -> str:
    return index()[name]["note"]


def search() -> list[str]:
    def line(name: str, limit: str, rows: list[Row]) -> list[object]:
        found = quality(rows)
        return [name, limit, found["within"], found["above"], f"{found['largest']} %", found["lower"]]

    head = ["data", "limit, s", "within 1e-3 of the best", "more than 1 % above", "largest excess", "lower than all, ℓ0"]
    rows = [
        line("eight sets, r = 10", "5", read("search", suite="shipped")),
        line("eight others, r = 10, without X ≥ 0", "5", read("search", suite="later")),
        line("three sets, r = 50 to 100", "10", read("search", suite="large")),
        line("cells of the papers (seen), r = 20, 100", "10", read("papers_cells")),
    ]
    ends = values(read("search_without_limit", data="news20_counts.mtx.gz"), "processor_seconds")
    return [
        "## The default search",
        "",
        "One run of the default compared with the best of 16 to 24 single solvers and starts, each with the same time and one thread. No constant of the",
        "search was chosen on these data, except for the cells of the papers.",
        "",
        *table(head, rows),
        "",
        f"{source('search', 'papers_cells')}. {note('search')}",
        "",
        f"Without a limit the search ends by itself: on news20 (18,221 × 36,568, sparse, r = 3 and 5) after {span(ends, 1)} processor seconds",
        f"({source('search_without_limit')}). {note('search_without_limit')} Large tables, F after 1, 3 and 10 s: {source('scale', 'cells')}.",
    ]


def bounds() -> list[str]:
    branched: dict[tuple[str, str], list[Row]] = {}
    relaxed: dict[str, list[Row]] = {}
    for row in read("bounds"):
        if row["nodes"]:
            branched.setdefault((row["data"], row["problem"]), []).append(row)
        else:
            relaxed.setdefault(row["data"], []).append(row)
    rows = []
    for key, lines in branched.items():
        proved = share(sum(row["proved"] == "yes" for row in lines), len(lines))
        rows.append([*key, span(values(lines, "gap_percent")), proved, f"{max(values(lines, 'seconds')):.0f}"])
    large = "; ".join(f"{data} {span(values(lines, 'gap_percent'))} %" for data, lines in relaxed.items())
    return [
        "## Global bounds",
        "",
        "The gap between F of the best X and a bound below F of all X, after branch and bound. A gap of 0 is a proof.",
        "",
        *table(["data, r = 2 and 3", "problem", "gap, %", "proved", "longest, s"], rows),
        "",
        f"In all {gaps()['proved']} are proved. Gaps without branching, on larger data: {large}",
        f"({source('bounds')}). {note('bounds')}",
        "",
        *limits(),
    ]


def limits() -> list[str]:
    rows = read("limits")
    one = [row for row in rows if row["rank"] == "1"]
    more = [row for row in rows if row["rank"] != "1"]
    sizes = values(one, "variables")

    def proved(rows: list[Row], column: str = "gap_percent") -> str:
        return share(sum(float(row[column]) < 1e-4 for row in rows), len(rows))

    quick = sum(row["proved"] == "yes" and float(row["seconds"]) <= 2 for row in one)
    return [
        f"With limits of nonzeros, X of one component ({min(sizes):.0f} to {max(sizes):.0f} variables) is proved in {proved(one)} cases, in",
        f"{share(quick, len(one))} within 2 s; a published branch and bound with the same X and time proves {proved(one, 'rival_gap_percent')}",
        f"and leaves up to {max(values(one, 'rival_gap_percent')):.0f} %. With two or three components, totals, variables and X ≥ 0 it is",
        f"{proved(more)}, gaps up to {max(values(more, 'gap_percent')):.2f} % ({source('limits')}). {note('limits')}",
        *anchors(),
    ]


def anchors() -> list[str]:
    rows = read("limits_anchors")

    def proved(ranks: str) -> str:
        found = [row["proved"] == "yes" for row in rows if row["rank"] in ranks]
        return share(sum(found), len(found))

    sizes, gaps = values(rows, "variables"), values(rows, "gap_percent")
    return [
        f"On the nine correlation matrices of published exact methods ({min(sizes):.0f} to {max(sizes):.0f} variables) X of one component is proved in {proved('1')}",
        f"cases, of two in {proved('2')} and of three in {proved('3')}; gaps up to {max(gaps):.1f} % ({source('limits_anchors')}). {note('limits_anchors')}",
    ]


def nonzeros() -> list[str]:
    found, theirs = rivals(), beside_sklearn()
    planted: dict[tuple[str, str], dict[str, str]] = {}
    for row in read("planted"):
        planted.setdefault((row["columns"], row["SNR"]), {})[row["choice"]] = share(int(row["found"]), int(row["runs"]))
    ways = list(next(iter(planted.values())))
    return [
        "## Numbers of nonzeros",
        "",
        f"With equal numbers of nonzeros tr(X'CX) of orthopt is above that of truncated power iterations with deflation, made orthogonal or not, and",
        f"of SparsePCA in {found['variance']} cases. Its adjusted variance, which none of them maximises, is higher in {found['adjusted']}",
        f"({source('nonzeros_rivals')}).",
        f"In {found['cases']} cases on seven tables, with abess as a further rival, tr(X'CX) is at least {found['least']} % above the best rival with orthogonal",
        f"components, in the mean of a table {found['margin']} %. A rival has more adjusted variance in {found['beaten']} of them",
        f"({source('nonzeros_margin', 'nonzeros', 'knee')}). {note('nonzeros_margin')}",
        "",
        "Runs in which all three planted supports are found:",
        "",
        *table(["variables", "SNR", *ways], [[*key, *(runs[way] for way in ways)] for key, runs in planted.items()]),
        "",
        f"{source('planted', 'planted_alone')}. {note('planted')}",
        "",
        "Components with uncorrelated scores, ten nonzeros each, have this share of the variance, in brackets the adjusted share of orthogonal ones:",
        ", ".join(f"{row['data']} {row['uncorrelated_percent']} ({row['orthogonal_adjusted_percent']}) %" for row in read("uncorrelated")),
        f"({source('uncorrelated')}).",
        "",
        "## Beside scikit-learn",
        "",
        f"SparsePCA determines the numbers of nonzeros, and orthopt has the same. ‖X'X − I‖ of SparsePCA is {theirs['error']}, of orthopt at most",
        f"{theirs['ours']}. The span of orthopt's components has more of the variance in {theirs['projected']} cases; adjusted variance is higher in",
        f"{theirs['adjusted']} ({source('sklearn')}). {note('sklearn')}",
        "",
        "![variance explained against nonzeros, breast cancer and digits](../bench/python/variance_against_nonzeros.svg)",
        "",
        f"{source('variance_nonzeros')}.",
    ]


def first_order() -> list[str]:
    found = public_codes()
    best: dict[tuple[str, str, str], list[Row]] = {}
    for row in read("nonlinear"):
        best.setdefault((row["columns"], row["rank"], row["alpha"]), []).append(row)
    rows = []
    for key, runs in best.items():
        fastest = min(runs, key=lambda row: float(row["seconds_to_1e-5"]))
        if fastest["public_seconds"]:
            rows.append(float(fastest["seconds_to_1e-5"]) / float(fastest["public_seconds"]))
    dc = {(row["data"], row["rho"]): {} for row in read("dc")}
    for row in read("dc"):
        dc[row["data"], row["rho"]][row["method"]] = float(row["F_returned"])
    chain = "then obcd as long again"
    ahead = sum(runs["oadmm (fast)"] <= min(F for name, F in runs.items() if name != chain) for runs in dc.values())
    after = sum(runs[chain] < runs["oadmm (fast)"] for runs in dc.values())
    duel = list(zip(read("dc_default", method="auto"), read("dc_default", method="manial")))
    won = sum(float(ours["F"]) < float(theirs["F"]) for ours, theirs in duel)
    return [
        "## First-order solvers beside public codes",
        "",
        f"On the ℓ1 problems of the literature the fastest of `amanpg`, `irpg` and `slpg` takes {found['ratio']} of the processor time of the faster of smopt and",
        f"pystop, until F is within 1e-6 of the code's last F. This is in the {found['cells']} cells in which a public code ends within 5 % of our F. Our lowest F",
        f"is the same in {found['same']} of them, lower in {found['lower']}, higher in {found['higher']} (by at most {found['worst']} %).",
        "",
        f"{source('l1_public', 'l1_family')}. {note('l1_public')}",
        "",
        "## Smooth and DC problems",
        "",
        f"Nonlinear eigenvalue problem: the fastest solver takes {span(rows)} of the time of the best public code, in the {len(rows)} cells that have one ({source('nonlinear')}).",
        "",
        f"k-sparse PCA: the fast OADMM is at or below every rival in {share(ahead, len(dc))} cells, and OBCD after it ends lower in {share(after, len(dc))}",
        f"({source('dc', 'dc_rivals')}). The default is below ManIAL in {share(won, len(duel))} ({source('dc_default')}).",
    ]


def pairs() -> list[str]:
    head = ["penalty", "λ", "10⁶ pairs/s", "papers' search, 10⁶/s", "ratio"]
    columns = ["penalty", "lambda", "million_pairs_per_second", "million_pairs_per_second_plain", "ratio"]
    rows = [[row[name] for name in columns] for row in read("pairs", rank="20", rows="dense")]
    runs: dict[str, dict[tuple[str, ...], Row]] = {}
    for row in read("convergence"):
        key = tuple(row[name] for name in ("data", "problem", "rank", "start"))
        runs.setdefault(row["variant"], {})[key] = row
    problems = len(runs["plain pairwise"])
    lowest = {key: min(float(cells[key]["F"]) for cells in runs.values()) for key in runs["plain pairwise"]}
    variants = []
    for variant, cells in runs.items():
        if variant == "plain pairwise":
            continue
        # seconds are printed to a millisecond
        speed = sorted(
            float(runs["plain pairwise"][key]["seconds_to_plain_F"]) / max(float(row["seconds_to_plain_F"]), 1e-3)
            for key, row in cells.items()
            if row["seconds_to_plain_F"] and runs["plain pairwise"][key]["seconds_to_plain_F"]
        )
        first = sum(float(row["F"]) == lowest[key] for key, row in cells.items())
        variants.append([variant, share(len(speed), problems), f"{speed[len(speed) // 2]:.0f}", first])
    blocks = read("blocks")
    left = read("blocks_at_default")
    return [
        "## Pairs of rows",
        "",
        "Global solves of the two-row subproblem, r = 20, dense rows, one core, every pair moves:",
        "",
        *table(head, rows),
        "",
        f"{source('pairs', 'obcd_criterion')}. {note('pairs')}",
        "",
        f"Variants of OBCD on {problems} problems, two seconds each: on how many they reach the F of the plain pairwise method, the",
        "median of its time over theirs, and on how many they have the lowest F.",
        "",
        *table(["variant", "reaches plain's F", "times as fast", "lowest"], variants),
        "",
        f"{source('convergence')}. {note('convergence')}",
        "",
        f"Blocks of three rows lower F at points where no pair does: {span(values(blocks, 'triples_percent'), 1)} % of those searched",
        f"({source('blocks')}). At points of the default search {sum(int(row['triples_lower']) for row in left)} of {3000 * len(left):,} do",
        f"({source('blocks_at_default')}). {note('blocks_at_default')}",
    ]


def threads() -> list[str]:
    names = {"search": "a search is", "obcd": "rounds of OBCD are", "jobcd": "rounds of JOBCD"}
    rows = []
    for suite, name in names.items():
        lines = read("threads", suite=suite)
        same = share(sum(row["same_X"] == "true" for row in lines), len(lines))
        rows.append(f"{name} {span(values(lines, 'ratio'))} times as fast as with one (the same bits of X in {same})")
    sparse = [
        [row["data"], row["lambda"], row["status"], row["seconds"], row["microseconds_per_pair"], row["peak_MB"]]
        for row in read("sparse")
    ]
    return [
        "## Two threads",
        "",
        f"With two threads {'; '.join(rows)} ({source('threads')}). {note('threads')}",
        "",
        "## Sparse data",
        "",
        *table(["data", "λ", "ended", "s", "µs a pair", "peak MB"], sparse),
        "",
        f"{source('sparse')}. {note('sparse')}",
        "",
        "![cost of a pair against n](../bench/sparse.svg)",
    ]


def memory() -> list[str]:
    rows = [
        [{"rows": "streamed", "sums": "in memory", "sparse": "sparse file"}[row["suite"]],
         f"{int(row['rows']):,} × {int(row['columns']):,}", row["method"].replace("|", "\\|"), row["seconds"],
         row["processor_seconds"], row["peak_MB"]]
        for row in read("beyond_memory")
        if row["suite"] not in ("starts", "cluster")
    ]
    sums = read("gram")
    doubles = [row for row in sums if row["numbers"] == "53 bits"]
    return [
        "## More data than memory",
        "",
        *table(["case", "data", "method", "s", "processor s", "peak MB"], rows),
        "",
        f"{source('beyond_memory')}. {note('beyond_memory')}",
        "",
        f"Against a product A'A, compensated sums take {span(values(sums, 'compensated_ratio'))} times as long; reproducible ones",
        f"{span(values(sums, 'reproducible_ratio'), 1)} times, for doubles {span(values(doubles, 'reproducible_ratio'), 1)}",
        f"({source('gram')}).",
    ]


def ends() -> list[str]:
    summary = read("endings")[0]
    kept = read("limits_kept")
    most = {id(row): max(float(row[name]) for name in ("late_0.5s", "late_3s", "after_signal")) for row in kept}
    sizes = {n: [row for row in kept if row["variables"] == n] for n in dict.fromkeys(row["variables"] for row in kept)}
    in_time = " and ".join(
        f"{sum(most[id(row)] <= 0.5 for row in rows)} of {len(rows)} commands on {n} variables" for n, rows in sizes.items()
    )
    race = read("j_race")
    lines = []
    for data in dict.fromkeys(row["data"] for row in race):
        ours, *single = sorted((row for row in race if row["data"] == data), key=lambda row: (row["method"] != "auto", float(row["F"])))
        lines.append([data, ours["F"], single[0]["F"], single[0]["method"], single[-1]["F"], single[-1]["method"]])
    probe = read("j_counts")
    ahead = sum(float(row["F_vr_j_jobcd"]) < float(row["F_j_jobcd"]) for row in probe)
    return [
        "## Every run ends",
        "",
        f"{summary['runs']} runs without a limit: {summary['converged']} `converged`, {summary['stalled']} `stalled`, {summary['cut_off']} cut off; the longest",
        f"takes {summary['longest_seconds']} s ({source('endings', 'endings_j', 'j_time_limits')}). With limits of .5 and 3 s {in_time}",
        f"end within half a processor second of both limits and of SIGTERM ({source('limits_kept')}).",
        "",
        "## Problems with X'JX = J",
        "",
        "F of the structural probe after ten seconds, for the default and the lowest and highest of seven single solvers and a chain:",
        "",
        *table(["data", "default", "lowest single", "solver", "highest single", "solver"], lines),
        "",
        f"{source('j_race', 'j_eig', 'j_step', 'j_probe')}.",
        "",
        f"After equal numbers of evaluations of components VR-J-JOBCD is below J-JOBCD in {share(ahead, len(probe))} ({source('j_counts')}). {note('j_counts')}",
    ]


def graphs() -> list[str]:
    rows = []
    for name, graph in (("embed_wn18rr", "WN18RR"), ("embed_fb15k", "FB15k-237")):
        for row in read(name):
            if row["test_MRR"]:
                hits = [row[f"test_hits_at_{k}"] for k in (1, 3, 10)]
                rows.append([graph, f"`{row['options'].split(', with')[0]}`", row["epoch"], row["seconds"], row["test_MRR"], *hits])
    return [
        "## Knowledge graphs",
        "",
        *table(["graph", "options", "epochs", "s", "test MRR", "hits@1", "@3", "@10"], rows),
        "",
        f"{source('embed_wn18rr', 'embed_fb15k', 'embed_nations', 'embed_nations_paper', 'embed_per_relation', 'embed_scorers', 'embed_signature')}. {note('embed_wn18rr')}",
    ]


def choices() -> list[str]:
    names = ("start_order", "working_set", "ladmm_growth", "ep4orth", "storage", "how_many", "own_functions")
    links = ", ".join(f"[{name}.csv](../bench/results/{name}.csv)" for name in names)
    return ["## What defaults rest on", "", f"The [index](../bench/results/index.csv) says what each shows: {links}."]


OWN = ["procrustes, condition 1e5", "brockett", "ica", "quartic", "kohn-sham", "balanced cut", "diagonal and quartic"]  # functions that the page has


def beside_pymanopt() -> list[str]:
    """Rows of the table of functions of one's own; of each method the evaluations to 1e-6, all of them, and seconds."""
    methods = {"auto": "`minimize`", "trust-region": "`minimize(hess=)`", "optm-cayley": "`optm-cayley`", "pymanopt-cg": "Pymanopt CG", "pymanopt-tr": "Pymanopt TR"}
    rows = []
    for (problem, n, r), runs in grouped(read("own_functions"), "problem", "n", "r").items():
        if problem not in OWN:
            continue
        by = {row["method"]: row for row in runs}
        cells = [f"{by[m]['evaluations_to_1e-6'] or 'higher F'} ({by[m]['evaluations']}, {by[m]['seconds']} s)" for m in methods]
        rows.append([problem, f"{n} × {r}", *cells])
    return table(["f", "n × r", *methods.values()], rows)


def hyperbolic_functions() -> str:
    count = lambda method: [f"{value:,.0f}" for value in sorted(values(read("own_functions_j", method=method), "evaluations"))]  # noqa: E731
    (ours, *_, our_most), (theirs, *_, their_most) = count("auto"), count("j-jobcd")
    return f"With X'JX = J the default `j-lbfgs` takes {ours} to {our_most} evaluations, `j-jobcd` {theirs} to {their_most}"


def build() -> list[str]:
    first, tried = read("build")[-1], read("fuzz")
    cost = read("overhead")
    inputs = sum(int(value) for value in values(tried, "inputs"))
    return [
        "## Build, fuzzing, overhead",
        "",
        f"The first build takes {first['wall_seconds']} s on two cores; the command has {first['command_MB']} MB ({source('build')}).",
        f"{note('build')}",
        "",
        f"{inputs:,} damaged files and random pairs on {len(tried)} targets; the {sum(int(row['failures_mended']) for row in tried)} failures found are fixed and"
        f" have tests ({source('fuzz')}). {note('fuzz')}",
        f"`minimize` in Python takes {span(values(cost, 'microseconds_per_evaluation'), 1)} µs an evaluation from 10 × 2 to 1000 × 5 ({source('overhead')}).",
    ]


def joined(lines: list[str]) -> str:
    """The lines of a paragraph as one, those of tables, headings and pictures as they are."""
    out: list[str] = [""]
    for line in lines:
        prose = line and out[-1] and not line.startswith(("|", "#", "!", "<")) and not out[-1].startswith(("|", "#", "!", "<"))
        if prose:
            out[-1] += f" {line}"
        else:
            out.append(line)
    return "\n".join(out[1:]) + "\n"


def page() -> str:
    lines = [
        "# Benchmarks",
        "",
        "<!-- written by `python bench/results.py page` from bench/results/*.csv; do not edit -->",
        "",
        "Every number is in a file of [bench/results](../bench/results/README.md), whose [index](../bench/results/index.csv) has the command that prints it and the",
        "machine: mostly two shared cores, so compare only numbers of the same table. `version` in a file is the commit that recorded",
        "the row. `orthopt-bench` is built by `cargo build --release -p orthopt-bench`; data files are found through `ORTHOPT_DATA`.",
    ]
    for section in (search, bounds, nonzeros, first_order, pairs, threads, memory, ends, graphs, choices, build):
        lines += ["", *section()]
    return joined([*lines, "", "Next: [what the parts of the search are worth](search-ablation.md)."])


ABLATION = ROOT / "docs" / "search-ablation.md"
PARTS = ROOT / "crates" / "orthopt-run" / "src" / "search" / "tuning.rs"


TIMES = {"F_first": ".1 s", "F_second": "1 s", "F_third": "the end"}


def effects() -> dict[str, dict[tuple[str, str], dict[str, float]]]:
    """What leaving a part out changes, by its name and (time, seen or unseen), over the cells that also have a row with all parts."""
    known: dict[tuple[str, str], float] = {}
    rows = read("search_ablation")
    for row in rows:
        cell = row["data"], row["problem"]
        known[cell] = min([known.get(cell, math.inf), *(float(row[time]) for time in TIMES)])

    def excess(row: Row, time: str) -> float:
        best = known[row["data"], row["problem"]]
        return max((float(row[time]) - best) / abs(best), 0.0) if math.isfinite(float(row[time])) else 1.0

    def mean(numbers: list[float]) -> float:
        return 100 * math.expm1(sum(map(math.log1p, numbers)) / len(numbers))

    whole = {(row["data"], row["problem"]): row for row in rows if row["without"] == "all"}
    pairs: dict[str, dict[tuple[str, str], list[tuple[float, float, float]]]] = {}
    for row in rows:
        key = row["data"], row["problem"]
        if row["without"] != "all" and key in whole:
            work = float(row["work"]) / float(whole[key]["work"])
            for time in TIMES:
                pair = (excess(row, time), excess(whole[key], time), work)
                pairs.setdefault(row["without"], {}).setdefault((time, row["set"]), []).append(pair)

    def effect(cells: list[tuple[float, float, float]]) -> dict[str, float]:
        change = [100 * (without - all_parts) for without, all_parts, _ in cells]
        means = [mean([cell[k] for cell in cells]) for k in (0, 1)]
        work = math.exp(sum(math.log(cell[2]) for cell in cells) / len(cells))
        return {"cells": len(cells), "change": means[0] - means[1], "lost": sum(c > 0.1 for c in change),
                "won": sum(c < -0.1 for c in change), "largest": max(change), "smallest": min(change), "work": work}  # fmt: skip

    return {name: {place: effect(cells) for place, cells in of.items()} for name, of in pairs.items()}


def ablation_page() -> str:
    """The table of the ablation, the parts whose removal raises F most first."""
    found = effects()
    present = PARTS.read_text(encoding="utf-8")
    sides = ("seen", "unseen")

    def words(effect: dict[str, float] | None) -> str:
        return f"{effect['change']:+.3f} ({effect['lost']}/{effect['won']} of {effect['cells']}, {effect['largest']:+.2f})" if effect else "-"

    def short(effect: dict[str, float] | None) -> str:
        return f"{effect['change']:+.3f}" if effect else "-"

    def work(of: dict[tuple[str, str], dict[str, float]]) -> str:
        ends = [of["F_third", side] for side in sides if ("F_third", side) in of]
        return f"{math.exp(sum(e['cells'] * math.log(e['work']) for e in ends) / sum(e['cells'] for e in ends)):.2f}"

    def line(name: str) -> list[object]:
        there = name.startswith("seed:") or all(f'"{part}"' in present for part in name.split("/"))
        left, of = name.replace("/", ", ") if there else f"{name} (not in the search)", found[name]
        ends = [words(of.get(("F_third", side))) for side in sides]
        return [left, *ends, *(short(of.get((time, side))) for time in ("F_first", "F_second") for side in sides), work(of)]

    order = sorted(found, key=lambda name: -max(effect["change"] for (time, _), effect in found[name].items() if time == "F_third"))
    head = ["left out", "at the end: seen", "unseen", "after .1 s: seen", "unseen", "after 1 s: seen", "unseen", "work"]
    return joined([
        "# What the parts of the search are worth",
        "",
        "<!-- written by `python bench/results.py page` from bench/results/search_ablation.csv; do not edit -->",
        "",
        "A part is left out, and the search runs with the same seed until it ends by itself, on the frozen cells that the part concerns. A cell is a data set with",
        "a problem; no constant was chosen on the unseen ones. A number is the change of the geometric mean of 1 + the excess over the lowest F known, in %; in",
        "brackets the cells lost and won (F more than 0.1 % higher or lower) and the largest loss of a cell, in %. After .1 s and 1 s of one thread (3.2e8 and",
        "3.2e9 units of work) a cell without a point counts as an excess of 100 %. The last column is the geometric mean of the work with and without the part.",
        "Rows `seed:N` leave nothing out and have another seed: changes of their size are chance.",
        "",
        *table(head, [line(name) for name in order]),
        "",
        f"{source('search_ablation')}. {note('search_ablation')}",
        "",
        "Next: [the papers reproduced](papers.md).",
    ])  # fmt: skip


def written() -> dict[Path, tuple[str, int]]:
    """The pages that are written from the files, and the most lines that each may have."""
    return {PAGE: (page(), LONGEST), ABLATION: (ablation_page(), 60)}
