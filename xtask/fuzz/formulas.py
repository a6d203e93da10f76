"""What F is, and what the least F is, by formulas of this folder alone (NumPy; nothing of orthopt).

All numbers are in units of a power of two, so that squares neither overflow nor vanish: `Quadratic` keeps C / unit and says what F is in it.
A measure of X is computed from the scores T = BX with C = B'B, never from the inverse of X'CX. Where scores depend on each other a cut
decides which of their directions count; `measured` gives the least and the largest value over a range of cuts, and F has to lie between.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np

MEASURES = ("variance", "adjusted", "polar", "explained")
#: Singular values of the scores, as shares of the largest of B, below which a direction of them may count for nothing and, from the least
#: one on, does.
CUTS = (1e-10, 1e-8, 1e-6, 3e-4)
#: The most tuples of supports that `rivals` looks at.
TUPLES = 1200


@dataclass(frozen=True)
class Asked:
    """A problem of PCA. `limit` is None, ("each", counts), ("total", K, least, most) or ("rows", s)."""

    problem: str = "l0-pca"
    rank: int = 1
    limit: tuple | None = None
    lam: float = 0.0
    measure: str = "variance"
    order: str = "joint"
    constraint: str = "orthogonal"
    unnamed: bool = False  # the measure is that which a line without `maximise` has

    def by_default(self, n):
        """The same with the measure that is maximised where none is named: adjusted variance with a number of nonzeros that excludes something."""
        kind, *most = self.limit or ("chosen" if self.chosen() else "none", 0)
        counted = kind == "chosen" or (kind == "each" and min(most[0]) < n) or (kind == "total" and most[0] < n * self.rank)
        takes = self.problem in ("l0-pca", "pca") and self.constraint == "orthogonal" and self.rank > 1
        return replace(self, measure="adjusted" if counted and takes else "variance", unnamed=True)

    def is_measured(self):
        """Whether it has a measure that an indefinite C has not: one component has one variance."""
        return self.measure == "explained" or (self.measure != "variance" and self.rank > 1)

    def chosen(self):
        """Whether the command chooses a limit or a lambda itself."""
        return self.limit is None and not self.lam and self.problem in ("l0-pca", "l1-pca")

    def allows(self, x):
        """What of the limits X exceeds, in words; empty where it keeps them."""
        used = (x != 0).sum(axis=0)
        if self.limit is None:
            return ""
        kind, most = self.limit[0], self.limit[1]
        if kind == "each":  # a list belongs to columns in any order
            over = np.sort(used)[::-1] > np.sort(most)[::-1]
            return f"{used.tolist()} nonzeros of at most {list(most)}" if over.any() else ""
        if kind == "rows":
            rows = (x != 0).any(axis=1).sum()
            return f"{rows} variables of at most {most}" if rows > most else ""
        wide = used.max() > self.limit[3]
        return f"{used.tolist()} nonzeros of at most {most} in all, {self.limit[3]} in each" if used.sum() > most or wide else ""

    def least(self):
        """The nonzeros that each column must have."""
        return max(self.limit[2], 1) if self.limit is not None and self.limit[0] == "total" else 1

    def sizes(self, n):
        """Numbers of nonzeros of the columns that the limits allow, largest ones; many for a total."""
        if self.limit is None:
            return [(n,) * self.rank]
        kind, most = self.limit[0], self.limit[1]
        if kind == "each":
            counts = tuple(min(k, n) for k in most)
            # adjusted variance has the order of the list
            return [counts if self.measure == "adjusted" else tuple(sorted(counts, reverse=True))]
        if kind == "rows":
            return []
        top = min(self.limit[3], n)
        parts = itertools.combinations_with_replacement(range(top, self.least() - 1, -1), self.rank)
        full = min(most, self.rank * top)
        return [part for part in parts if sum(part) == full]


class Quadratic:
    """C in units of a power of two, and B with C = B'B where C is positive semidefinite."""

    def __init__(self, c, root=None, rounding=1e-9):
        size = abs(c).max(initial=0.0)
        self.exponent = 2 * (np.frexp(size)[1] // 2) if size > 0 else 0
        self.c, self.rounding = np.ldexp(c, -self.exponent), rounding
        self.n = len(c)
        eigen, vectors = np.linalg.eigh(self.c)
        self.eigen = eigen[::-1]
        self.trace = float(np.trace(self.c))
        self.indefinite = bool(eigen[0] < -1e-8 * max(abs(eigen).max(), 1e-300))
        self.given = root is None
        if root is not None:
            self.root = np.ldexp(root, -self.exponent // 2)
        else:  # eigenvalues of rounding size would be scores of 1e-8
            kept = np.where(eigen > 1e-14 * max(self.eigen[0], 0.0), eigen, 0.0)
            self.root = np.sqrt(kept)[:, None] * vectors.T
        self.norm = float(np.sqrt(max(self.eigen[0], 0.0)))

    def digits(self):
        """To what a share is known: the nearest matrix is the end of an iteration, and polar variance has roots of its smallest eigenvalues."""
        return 1e-8 if self.rounding < 1e-6 else 10 * self.rounding

    def within(self, f):
        """F or a bound in the units of `c`."""
        return float(np.ldexp(float(f), -self.exponent))

    def top(self, rank):
        """The sum of the largest eigenvalues."""
        return float(self.eigen[:rank].sum())

    def slack(self, rank):
        """What rounding may change of -2F."""
        return self.rounding * max(abs(self.eigen).max() * rank, abs(self.trace), 1e-300)


def adjusted(scores, cut):
    """Sum of R_jj^2 of T = QR in the order of the columns; a score that leaves less than the cut has no direction."""
    basis, total = [], 0.0
    for score in scores.T:
        left = score.copy()
        for _ in range(2):
            for q in basis:
                left = left - q * (q @ left)
        size = np.linalg.norm(left)
        if size > cut:
            basis.append(left / size)
            total += size * size
    return float(total)


def polar(scores):
    """Sum of the squares of the diagonal of (T'T)^(1/2)."""
    _, s, v = np.linalg.svd(scores, full_matrices=False)
    return float((np.einsum("kj,k,kj->j", v, s, v) ** 2).sum())


def explained(scores, root, cut):
    """||P_T B||^2."""
    u, s, _ = np.linalg.svd(scores, full_matrices=False)
    return float(((u[:, s > cut].T @ root) ** 2).sum())


def measured(q, x, measure):
    """The least and the largest value of a measure of X, over what scores may count for nothing."""
    if measure == "variance" or (x.shape[1] == 1 and measure != "explained"):  # of one component the measures are its variance
        value = float(np.einsum("ij,ik,kj->", x, q.c, x))
        return value, value
    scores = q.root @ x
    if measure == "polar":
        value = polar(scores)
        return value, value
    if measure == "adjusted":
        values = [adjusted(scores, cut * q.norm) for cut in CUTS]
        return min(values), max(values)
    values = [explained(scores, q.root, cut * q.norm) for cut in CUTS]
    return min(values) - doubt(q, scores), max(values) + doubt(q, scores)


def doubt(q, scores):
    """What explained variance may be off by where C is all that is known: a score of s is turned by eps |B|^2 / s^2."""
    if not q.given:
        return 0.0
    sizes = np.linalg.svd(scores, compute_uv=False)
    least = sizes[sizes > CUTS[1] * q.norm].min(initial=np.inf)
    return float(1e-15 * q.trace * (q.norm / least) ** 2)


def penalty(asked, x):
    """lambda times what the problem counts."""
    if not asked.lam:
        return 0.0
    return asked.lam * {"l0-pca": float((x != 0).sum()), "l1-pca": float(abs(x).sum())}.get(asked.problem, 0.0)


def supports(n, size):
    """All sets of so many rows."""
    return [list(s) for s in itertools.combinations(range(n), min(size, n))]


def leading_explained(q, rows, rank):
    """The most that `rank` scores of these variables explain."""
    u, s, _ = np.linalg.svd(q.root[:, rows], full_matrices=False)
    low = u[:, s > CUTS[-1] * q.norm].T @ q.root
    high = u[:, s > CUTS[0] * q.norm].T @ q.root
    return tuple(float((np.linalg.svd(part, compute_uv=False)[:rank] ** 2).sum()) for part in (low, high))


def best(q, asked):
    """The largest -2F over all feasible X, as an interval, where it is known exactly; else None."""
    n, r = q.n, asked.rank
    if asked.problem not in ("l0-pca", "pca") or (asked.order != "joint" and r > 1) or n > 8 or r > n or asked.chosen():
        return None
    if asked.lam:
        if r > 1 or asked.problem != "l0-pca" or asked.limit is not None or asked.measure != "variance":
            return None
        sets = [s for k in range(1, n + 1) for s in supports(n, k)]
        value = max(np.linalg.eigvalsh(q.c[np.ix_(s, s)])[-1] - 2 * asked.lam * len(s) for s in sets)
        return float(value), float(value)
    sizes = asked.sizes(n)
    if asked.limit is None or (sizes and min(sizes[0]) == n):
        return q.top(r), q.top(r)
    if r > 1 and (asked.limit[0] != "rows" or asked.constraint == "uncorrelated"):
        return None
    sets = supports(n, asked.limit[1] if asked.limit[0] == "rows" else sizes[0][0])
    if asked.measure == "explained":
        values = [leading_explained(q, s, r) for s in sets]
        return max(v[0] for v in values), max(v[1] for v in values)
    value = float(max(np.linalg.eigvalsh(q.c[np.ix_(s, s)])[-r:].sum() for s in sets))
    return value, value


def on_common_supports(q, asked):
    """Eigenvectors of blocks of C: orthogonal, and uncorrelated as well."""
    n, r = q.n, asked.rank
    if asked.limit is None:
        size = n
    elif asked.limit[0] == "each":
        size = min(asked.limit[1])
    else:
        size = asked.limit[1] if asked.limit[0] == "rows" else min(asked.limit[1] // r, asked.limit[3])
    if min(size, n) < r:
        return np.zeros((0, n, r))
    found = []
    for rows in supports(n, size):
        x = np.zeros((n, r))
        x[rows] = np.linalg.eigh(q.c[np.ix_(rows, rows)])[1][:, ::-1][:, :r]
        found.append(x)
    return np.array(found)


def on_tuples(q, sizes, random, most):
    """Orthogonal components on tuples of supports, each the best one beside the others, a few times around."""
    n, r = q.n, len(sizes)
    sets = [[sum(1 << i for i in s) for s in supports(n, k)] for k in sizes]
    if np.prod([float(len(s)) for s in sets]) <= most:
        tuples = list(itertools.product(*sets))
    else:
        tuples = [tuple(s[int(random.integers(len(s)))] for s in sets) for _ in range(most // 4)]
    masks = (np.array(tuples)[:, :, None] >> np.arange(n) & 1).astype(float)
    shifted = q.c + (abs(q.eigen).max() + 1.0) * np.eye(n)
    x = np.zeros((len(tuples), n, r))
    for turn in range(4):
        for j in range(r):
            others = [k for k in (range(j) if turn == 0 else range(r)) if k != j]
            space = masks[:, j, :, None] * np.eye(n)
            if others:
                u, s, _ = np.linalg.svd(masks[:, j, :, None] * x[:, :, others], full_matrices=False)
                u = u * (s > 1e-9)[:, None, :]
                space = space - u @ u.transpose(0, 2, 1)
            x[:, :, j] = np.linalg.eigh(space @ shifted @ space)[1][:, :, -1] * masks[:, j]
    gram = x.transpose(0, 2, 1) @ x
    return x[abs(gram - np.eye(r)).max(axis=(1, 2)) < 1e-12]


def rivals(q, asked, random, most=TUPLES):
    """Feasible X of the problem, to which a proof and a bound are held."""
    n, r = q.n, asked.rank
    if r > n or asked.constraint == "uncorrelated" or asked.order != "joint" or n > 8 or asked.chosen():
        return np.zeros((0, n, r))
    order = np.argsort(-np.diag(q.c), kind="stable")[:r]
    alone = np.eye(n)[:, order][None] if asked.constraint == "orthogonal" else np.zeros((0, n, r))
    if asked.problem == "nonneg-pca":
        return alone
    found = [alone, on_common_supports(q, asked)]
    if asked.constraint == "orthogonal":
        sizes = asked.sizes(n) if not asked.lam else [(k,) * r for k in range(1, n + 1)]
        found += [on_tuples(q, size, random, most) for size in sizes[:6]]
    return np.concatenate([np.zeros((0, n, r)), *found])


def on_other_supports(points, x):
    """Those of the points with a column whose nonzeros no column of X has all of."""
    within = (points != 0).transpose(0, 2, 1)[:, :, None, :] <= (x != 0).T[None, None]
    return points[~within.all(axis=3).any(axis=2).all(axis=1)]


def best_of_rivals(q, asked, random, most=TUPLES, x=None):
    """The largest -2F of `rivals`, of those on other supports than `x` where it is given, at its least value over the cuts; None without one."""
    points = rivals(q, asked, random, most)
    points = points if x is None else on_other_supports(points, x)
    if not len(points):
        return None
    if asked.measure == "variance":
        values = np.einsum("aij,ik,akj->a", points, q.c, points)
        if asked.lam:
            values = values - 2 * np.array([penalty(asked, x) for x in points])
        return float(values.max())
    points = points[np.argsort(-np.einsum("aij,ik,akj->a", points, q.c, points))[:200]]
    return max(measured(q, x, asked.measure)[0] for x in points)


def in_unit(q, asked):
    """The problem with lambda in the units of `q`."""
    return replace(asked, lam=q.within(asked.lam))
