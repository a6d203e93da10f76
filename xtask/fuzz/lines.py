"""What is asked: problems, limits, measures and options, as words of a command and as keywords of Python."""

import re
from pathlib import Path

import numpy as np

from formulas import Asked

OPTIONS = Path(__file__).resolve().parents[2] / "docs" / "options.md"
#: Options that are about files and the machine, or that these scripts set themselves.
OWN = """data more --gram --labels --weights --names --json --trace --save-x --save-loadings --save-sorted-loadings --save-scores --plot
 --plot-loadings --plot-scores --plot-biplot --plot-correlations --plot-variance --plot-scree --plot-stability --report --quiet --init --config --x --map
 --distances --signature --sheet --max-memory --title --time-limit --threads problem --missing --nearest --stream""".split()
PROBLEMS = ["l0-pca"] * 9 + ["l1-pca", "nonneg-pca", "pca", "mcp-pca", "dc-pca", "fused-pca"]
HAS_BOUND = ("l0-pca", "l1-pca", "nonneg-pca", "pca")


def registry():
    """Options of the command with the kind of their values, from the page that is made of the table."""
    found = {}
    for line in OPTIONS.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 6 and cells[0].startswith("`--"):
            name = cells[0].strip("`")
            if name not in OWN:
                found[name] = cells[3]
    assert len(found) > 30, "docs/options.md has no table of options"
    return found


def value(random, kind):
    """A value of an option: mostly one of its kind, and sometimes nonsense."""
    if random.random() < 0.05:
        return random.choice(["", "-1", "nan", "inf", "1e400", "0", "x", "1,2,3", "99999999999999999999"])
    if kind == "true or false":
        return None
    if "whole number" in kind:
        return str(random.choice([0, 1, 2, 3, 5, 50]))
    if "number" in kind or "NUMBER" in kind:
        return random.choice(["0", "0.1", "1", "2.5", "1e-300", "1e300", "1e-3"])
    words = [word for word in re.split(r"[ ,]+", kind) if re.fullmatch(r"[a-z0-9-]+", word)]
    return random.choice(words or ["auto", "std", "adjusted", "1", "2,3"])


def limits(random, n, rank, kind):
    """A limit of nonzeros of a kind."""
    if kind == "each":
        return "each", (int(random.integers(1, n + 1)),) * rank
    if kind == "list":
        return "each", tuple(int(k) for k in random.integers(1, n + 1, rank))
    if kind == "total":
        return "total", int(random.integers(rank, rank * n + 1)), 1, n
    if kind == "floors":  # a total with a floor and a cap, sometimes the same
        low = int(random.integers(1, n + 1))
        high = low if random.random() < 0.5 else int(random.integers(low, n + 1))
        return "total", int(random.integers(rank * low, rank * high + 1)), low, high
    return "rows", int(random.integers(rank, n + 1))


def asked(random, table, q, problems=PROBLEMS):
    """A problem for a table: mostly one that makes sense."""
    n = table.rows.shape[1]
    problem = str(random.choice(problems))
    rank = int(random.integers(1, min(n, 4) + 1))
    kind = str(random.choice(["each", "each", "list", "total", "floors", "rows", "lambda", "none"]))
    limit, lam, measure, order, constraint = None, 0.0, None, "joint", "orthogonal"
    if kind not in ("lambda", "none") and (problem == "l0-pca" or (problem in ("nonneg-pca", "pca") and random.random() < 0.5)):
        limit = limits(random, n, rank, kind)
    elif kind == "lambda" and problem in ("l0-pca", "l1-pca"):
        lam = float(np.ldexp(random.choice([0.01, 0.1, 1.0]) * max(q.trace / n, 2.0**-40), q.exponent))
    if problem in ("l0-pca", "pca") and not lam and random.random() < 0.7:
        measure = str(random.choice(["variance", "explained", "adjusted", "polar"]))
    if problem in ("l0-pca", "pca") and limit is not None and limit[0] == "each":
        order = "sequential" if random.random() < 0.2 else "joint"
    if problem == "l0-pca" and limit is not None and limit[0] != "rows" and order == "joint" and random.random() < 0.35:
        constraint = str(random.choice(["uncorrelated", "both"]))
        measure = None if constraint == "uncorrelated" else measure
    found = Asked(problem, rank, limit, lam, measure or "variance", order, constraint)
    return found if measure else found.by_default(n)


def keywords(it):
    """The problem as keywords of Python."""
    found = {"rank": it.rank}
    if it.limit is not None:
        kind, most = it.limit[0], it.limit[1]
        if kind == "each":
            found["nonzeros"] = most[0] if len(set(most)) == 1 else list(most)
        elif kind == "rows":
            found["variables"] = most
        else:
            found |= {"total_nonzeros": most}
            found |= {"min_nonzeros": it.limit[2]} if it.limit[2] > 1 else {}
            found |= {"max_nonzeros": it.limit[3]} if it.limit[2] > 1 or it.limit[3] < most else {}
    found |= {"lam": it.lam} if it.lam else {}
    found |= {"maximise": it.measure} if not it.unnamed else {}
    found |= {"order": it.order} if it.order != "joint" else {}
    return found | ({"constraint": it.constraint} if it.constraint != "orthogonal" else {})


def words(it, without=()):
    """The problem as words of a command."""
    found = []
    for name, said in keywords(it).items():
        if name in without:
            continue
        name = {"lam": "lambda"}.get(name, name).replace("_", "-")
        text = ",".join(map(str, said)) if isinstance(said, list) else repr(said) if isinstance(said, float) else str(said)
        found += [f"--{name}", text]
    return found


def wild(random, options):
    """One to three options at random."""
    found = []
    for _ in range(int(random.integers(1, 4))):
        name = str(random.choice(list(options)))
        given = value(random, options[name])
        found += [name] if given is None else [f"{name}={given}"]
    return found
