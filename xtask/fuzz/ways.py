"""Two ways of asking the same: what has to be equal, and where each of them applies."""

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

import lines
from claims import when


@dataclass
class Way:
    """Another line for the same problem: its name, words and table; `exponent` is that of F in it beside F of the first."""

    name: str
    problem: str
    words: list
    table: object = None
    exponent: int = 0

    def checks(self, first, other, slack, q):
        """F, status, and in another unit every bit of X."""
        kind = f"ways: {self.name}"
        if other.code in (1, 2):  # which says that this way is not for the problem
            return
        if other.json is None or other.json["objective"] is None:
            yield kind, f"ends with {other.code}: {other.error[-300:]}"
            return
        status = first.json["status"], other.json["status"]
        if any(s in ("time_limit", "max_iters") for s in status):
            return
        f = first.json["objective"], float(np.ldexp(other.json["objective"], -self.exponent))
        text = f"F = {f[1]!r}, `{status[1]}`, and asked in the first way {f[0]!r}, `{status[0]}`"
        apart = abs(q.within(f[0]) - q.within(f[1])) > slack
        if self.exponent:
            apart = f[0] != f[1] or first.json["x"] != other.json["x"]
            text += "" if f[0] != f[1] or not apart else "; X differs"
        yield kind, when(apart or status[0] != status[1], text)


def in_another_unit(trial):
    """The data times a power of two."""
    random, table = trial.random, trial.table
    power = int(random.choice([-64, -7, 9, 100])) * (-1 if table.exponent > 0 else 1)
    other = copy(table)
    other.rows = np.ldexp(table.rows, power)
    other.file = trial.folder / "unit.npy"
    np.save(other.file, other.rows)
    other.extra = []
    whole = np.isfinite(other.rows).all() and (np.ldexp(other.rows, -power) == table.rows).all()
    if whole and abs(table.exponent + power) <= (500 if table.gram else 300):
        table = copy(table)
        yield Way("unit", trial.asked.problem, lines.words(trial.asked), other, 0 if table.scale else power if table.gram else 2 * power)


def as_c_itself(trial):
    """A'A of a table of whole numbers, which has no rounding."""
    table = trial.table
    whole = np.ldexp(table.rows, -table.exponent)
    if table.gram or table.center or (whole != np.round(whole)).any() or abs(whole).max(initial=0) > 2**20:
        return
    other = copy(table)
    other.gram, other.words, other.extra = True, [], []
    other.rows = table.rows.T @ table.rows
    other.file = trial.folder / "gram.npy"
    np.save(other.file, other.rows)
    yield Way("C itself", trial.asked.problem, lines.words(trial.asked), other)


def ways(trial):
    """All that apply to a line."""
    it, n = trial.asked, trial.q.n
    if it.lam or it.chosen():
        return
    if trial.table.file.suffix == ".npy":  # the same reader, names and all
        yield from in_another_unit(trial)
    yield from as_c_itself(trial)
    if it.limit is None or it.problem != "l0-pca":
        return
    counts = it.limit[1] if it.limit[0] == "each" else ()
    if it.limit[0] == "each" and len(set(counts)) == 1:
        if it.rank > 1:
            yield Way("a list", it.problem, [f"{word}," + ",".join([word] * (it.rank - 1)) if before == "--nonzeros" else word
                                             for before, word in zip([""] + lines.words(it), lines.words(it))])
        if it.order == "joint":
            total = replace(it, limit=("total", counts[0] * it.rank, counts[0], counts[0]))
            yield Way("a total", it.problem, lines.words(total))
        if counts[0] == n and it.constraint == "orthogonal" and it.order == "joint":
            yield Way("no limit", "pca", lines.words(replace(it, problem="pca", limit=None)))
    if it.rank == 1 and it.limit[0] == "each" and it.order == "joint" and it.constraint == "orthogonal":
        yield Way("variables", it.problem, lines.words(replace(it, limit=("rows", counts[0]))))
