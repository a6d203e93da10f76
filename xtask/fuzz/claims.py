"""What is said of an X, and of bounds, held against the formulas of this folder.

Each check gives pairs of its kind and what is wrong, None where nothing is; so a run says how often each kind was tried.
"""

from dataclasses import replace

import numpy as np

from formulas import best, best_of_rivals, measured, on_common_supports, penalty

#: X'X = I, and entries that count as rounding.
FEASIBLE, DUST = 1e-11, 1e-13
#: Shares of tr C by measure in what a run reports.
SHARES = {"adjusted": "total", "variance": "projected", "polar": "polar", "explained": "predicted"}
#: Kinds that say what is better to know, without a rule that forbids it: they are counted and are no failure.
REMARKS = ("missed",)
ENDED = ("converged", "optimal", "stalled")


class Tally:
    """How often each kind was tried and has failed, with the failures."""

    def __init__(self):
        self.rows, self.failures = {}, []

    def add(self, pairs, where):
        """Counts what checks give; `where` repeats it."""
        for kind, fault in pairs:
            row = self.rows.setdefault(kind, [0, 0])
            row[0] += 1
            if fault is not None:
                row[1] += 1
                self.failures.append((kind, where, fault))

    def failed(self):
        return [failure for failure in self.failures if failure[0] not in REMARKS]

    def shown(self, each=2):
        """A table by kind, and some failures of each."""
        lines = ["| kind | tried | failed |", "|---|---|---|"]
        lines += [f"| {kind} | {row[0]} | {row[1]} |" for kind, row in sorted(self.rows.items())]
        for kind in sorted(self.rows):
            some = [failure for failure in self.failures if failure[0] == kind]
            for _, where, fault in some[:each]:
                lines.append(f"\n{kind}: {where}\n  {fault}")
        return "\n".join(lines)


def when(bad, text):
    """What is wrong, if it is."""
    return text if bad else None


#: Share of F within which measures are proved.
TOLERANCE = 1e-6


def of_solution(found, q, asked, random, most=1200):
    """Checks of one result: `found` has the names of the JSON, `asked` lambda in the units of `q`."""
    x, rank = np.array(found["x"], dtype=float), found["rank"]
    finite = found["objective"] is not None and np.isfinite(found["objective"]) and np.isfinite(x).all()
    good = x.shape == (q.n, rank) and finite
    yield "finite", when(not good, f"X has the shape {x.shape}, or it or F = {found['objective']} is not finite")
    if not good:
        return
    asked = resolved(found, q, asked)
    refused = q.given and q.indefinite and asked.is_measured()
    yield "indefinite", when(refused, f"{asked.measure} variance of a C that is not positive semidefinite is taken")
    yield from of_x(found, x, q, asked)
    if not refused:
        yield from of_f(found, x, q, asked)
        yield from of_claims(found, x, q, asked, random, most)


def resolved(found, q, asked):
    """The problem with the lambda or the limit that the command has chosen, where it says so."""
    if not asked.chosen():
        return asked
    if found.get("lambda") is not None:
        return replace(asked, lam=q.within(found["lambda"]))
    counts = (found.get("limits") or {}).get("components")
    return replace(asked, limit=("each", tuple(counts))) if counts else asked


def of_x(found, x, q, asked):
    """Constraints and counts."""
    gram = x.T @ x
    apart = abs(gram - np.eye(x.shape[1])).max() if asked.constraint != "uncorrelated" else abs(np.diag(gram) - 1).max()
    yield "orthogonal", when(apart > FEASIBLE, f"X'X - I is {apart:.1e}")
    if asked.constraint != "orthogonal":
        s = x.T @ q.c @ x
        off = abs(s - np.diag(np.diag(s))).max()
        yield "uncorrelated", when(off > 1e-8 * max(abs(q.eigen).max(), 1e-300), f"scores are correlated, {off:.1e} of {abs(q.eigen).max():.1e}")
    if asked.problem == "nonneg-pca":
        yield "nonnegative", when(x.min() < 0, f"an entry is {x.min():.1e} with X >= 0")
    over = asked.allows(x)
    yield "limits", when(over, over)
    used = (x != 0).sum(axis=0).tolist()
    said = found.get("nonzeros_per_component")
    yield "counts", when(said is not None and list(said) != used, f"nonzeros are said to be {said} and are {used}")
    spare = -np.sort(-abs(x), axis=0)[asked.least() :]  # an infimum over at least so many nonzeros may have fewer
    size, lengths = spare[spare > 0].min(initial=1.0), np.diag(q.c)[np.diag(q.c) > 0]
    units = np.sqrt(lengths.min() / lengths.max()) if len(lengths) else 1.0  # loadings of a variable in a large unit are small
    yield "dust", when(size < DUST * units and asked.problem == "l0-pca", f"an entry of X is {size:.1e}")


def of_f(found, x, q, asked):
    """F, and the shares beside it."""
    said, slack, rank = q.within(found["objective"]), q.slack(x.shape[1]), x.shape[1]
    if asked.problem not in ("l0-pca", "l1-pca", "pca", "nonneg-pca"):
        return
    cost = penalty(asked, x)
    low, high = measured(q, x, asked.measure)
    value = 2 * (cost - said)
    slack += 2e-9 * cost
    yield "F", when(not low - slack <= value <= high + slack, f"-2F is said to be {value!r} and is {low!r} to {high!r} (in units of 2^{q.exponent})")
    if asked.constraint != "uncorrelated" and not q.indefinite:
        yield "ceiling", when(value > q.top(rank) + slack, f"-2F = {value!r} is above the sum of {rank} eigenvalues, {q.top(rank)!r}")
    shares = found.get("explained_variance")
    if shares is None or q.indefinite or not q.trace > 0:
        return
    broken = [f"{name} is {value}" for name, value in shares.items() if name != "maximised" and not np.isfinite(np.array(value, dtype=float)).all()]
    yield "shares", when(broken, "; ".join(broken))
    if broken:
        return
    wrong, apart = [], q.digits()
    for measure, name in SHARES.items():
        if measure == "variance" and asked.constraint == "uncorrelated":
            continue
        low, high = (value / q.trace for value in measured(q, x, measure))
        if not low - apart <= shares[name] <= high + apart:
            wrong.append(f"{name} = {shares[name]!r}, which is {low!r} to {high!r}")
    yield "shares", when(wrong, "; ".join(wrong))
    if asked.constraint != "uncorrelated":
        ladder = max(shares["total"], shares["polar"]), shares["projected"], shares["predicted"], q.top(rank) / q.trace
        falls = any(a > b + 1e-8 for a, b in zip(ladder, ladder[1:]))
        yield "chain", when(falls, f"adjusted or polar, variance, explained and the eigenvalues are {ladder}, which falls")
    if asked.measure != "variance" or asked.constraint == "orthogonal":
        beside = shares[SHARES[asked.measure]] * q.trace
        yield "F beside its share", when(abs(beside - value) > 10 * slack and not cost, f"-2F is {value!r}, its share says {beside!r}")


def of_claims(found, x, q, asked, random, most):
    """Bound, proof and status of a result, and what has to be found."""
    said, bound, proof, status = q.within(found["objective"]), found.get("bound"), found.get("proof"), found.get("status")
    slack = q.slack(x.shape[1])
    yield "optimal", when(status == "optimal" and proof is None, "`optimal` without a proof")
    yield "optimal", when(proof == "supports" and status == "optimal", "`optimal` where supports are proved only")
    yield from of_bound(said, bound, proof or (status == "optimal"), q, asked, random, most, x)
    if asked.constraint == "both" and status in ENDED and q.n <= 8:
        values = [measured(q, x, asked.measure)[0] for x in on_common_supports(q, asked)]
        common = max(values, default=-np.inf)
        yield "both", when(-2 * said < common - slack, f"-2F = {-2 * said!r}, `{status}`, and eigenvectors of a common support have {common!r}")
    exact = best(q, asked)
    if exact is None:
        return
    yield "below", when(-2 * said > exact[1] + slack, f"-2F = {-2 * said!r} is above the best of all supports, {exact[1]!r}")
    within = TOLERANCE * abs(2 * said) if status == "optimal" and asked.measure in ("adjusted", "polar") else 0.0
    short = status in ENDED and -2 * said < exact[0] - slack - within
    sizes = asked.sizes(q.n)
    if asked.limit is None and not asked.lam or sizes == [(1,)]:  # PCA, and one variable out of a few
        yield "plain", when(short, f"-2F = {-2 * said!r}, `{status}`, is not the best of all, {exact[0]!r}")
    else:
        yield "missed", when(short, f"-2F = {-2 * said!r}, `{status}`, and the best of all supports has {exact[0]!r}")


def of_bound(said, bound, proof, q, asked, random, most, x=None):
    """Checks of a bound and a proof: `said` is F in the units of `q`, or None, and `x` the X of it."""
    slack = q.slack(asked.rank)
    low = None if bound is None else q.within(bound)
    if low is not None and said is not None:
        yield "bound", when(low > said + slack, f"the bound {low!r} is above F = {said!r}")
    if low is None and not proof:
        return
    exact, other = best(q, asked), best_of_rivals(q, asked, random, most)
    known = max([v for v in (exact and exact[0], other) if v is not None], default=None)
    if known is None:
        return
    if low is not None:
        yield "bound", when(-2 * low < known - slack, f"the bound {low!r} is above a feasible F, {-known / 2!r}")
    if not proof or said is None:
        return
    if asked.measure in ("adjusted", "polar"):
        slack += TOLERANCE * abs(2 * said)
    if proof == "supports":
        known = None if x is None else best_of_rivals(q, asked, random, most, x)
        if known is None:
            return
    yield "proof", when(-2 * said < known - slack, f"F = {said!r} is called proved (`{proof}`), and {-known / 2!r} is feasible")
