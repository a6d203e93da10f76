"""Nasty small tables, and the C that a command is to make of them."""

import gzip

import numpy as np

from formulas import Quadratic

MARKS = {"tsv": "\t", "semicolon": ";"}
FILES = {"csv": "t.csv", "tsv": "t.tsv", "npy": "t.npy", "semicolon": "s.csv", "gz": "t.csv.gz"}


def numbers(random, m, n):
    """Rows of a kind, with its name."""
    kind = str(random.choice(["any", "any", "integers", "rank", "ties", "sparse", "far", "spread", "copies"]))
    a = random.standard_normal((m, n)) @ random.standard_normal((n, n))
    if kind == "integers":
        a = random.integers(-3, 4, (m, n)).astype(float)
    elif kind == "rank":
        rank = int(random.integers(1, max(min(m, n), 2)))
        a = random.integers(-2, 3, (m, rank)).astype(float) @ random.integers(-2, 3, (rank, n))
        kind = f"rank {rank}"
    elif kind == "ties":  # orthogonal columns of one length, or nearly
        a = np.sign(random.standard_normal((m, n))) if random.random() < 0.5 else np.eye(m, n)
    elif kind == "sparse":
        a[random.random((m, n)) < 0.6] = 0.0
    elif kind == "far":
        a += 1e3 * abs(a).max()
    elif kind == "spread":  # units of their own in each column
        a *= 10.0 ** random.integers(-4, 5, n)
    elif kind == "copies":
        a = a[:, random.integers(max(n - 1, 1), size=n)]
    return kind, a


def spoiled(random, kind, a):
    """A column of zeros, a constant one or a copy, now and then."""
    n = a.shape[1]
    j, k = int(random.integers(n)), int(random.integers(n))
    if random.random() < 0.12:
        a[:, j], kind = 0.0, f"{kind}, column {j + 1} zero"
    if random.random() < 0.08:
        a[:, j], kind = abs(a).max(), f"{kind}, column {j + 1} constant"
    if random.random() < 0.12 and j != k:
        a[:, j], kind = a[:, k], f"{kind}, column {j + 1} that of {k + 1}"
    return kind, a


class Table:
    """A table, and C as it is to be made: of `rows`, or `gram` itself."""

    def __init__(self, random, largest=8):
        n = int(random.integers(2, largest + 1))
        m = int(random.choice([1, 2, 3, int(random.integers(2, n + 1)), int(random.integers(n, 30))], p=[0.04, 0.08, 0.08, 0.3, 0.5]))
        kind, a = spoiled(random, *numbers(random, m, n))
        self.exponent = int(random.choice([0, -300, 300, -60, -20, 3, 40, int(random.integers(-300, 301))], p=[0.5] + [0.5 / 7] * 7))
        self.gram = random.random() < 0.3
        self.center = not self.gram and random.random() < 0.5
        self.scale = self.center and random.random() < 0.3
        self.covariance = self.scale or (self.center and random.random() < 0.3)
        self.nearest = False
        if self.gram:
            kind, self.exponent, a = self.itself(random, kind, a)
        self.rows = np.ldexp(a, self.exponent)
        self.about = f"{m} x {n}, {kind}, times 2^{self.exponent}" + (", C itself" if self.gram else "")
        self.file, self.words, self.extra = None, self.asked(), []

    def itself(self, random, kind, a):
        """C, and sometimes one that is not positive semidefinite."""
        c = a.T @ a
        exponent = int(random.choice([0, -500, 500, int(random.integers(-500, 501))], p=[0.55, 0.15, 0.15, 0.15]))
        how = str(random.choice(["as it is", "blocks", "indefinite"], p=[0.7, 0.15, 0.15]))
        if how == "blocks":
            half = len(c) // 2
            c[:half, half:] = c[half:, :half] = 0.0
        elif how == "indefinite" and len(c) > 1:
            spin = random.standard_normal(c.shape)
            c = c - (0.1 + random.random()) * abs(c).max() * (spin + spin.T) / 4
            self.nearest = random.random() < 0.3
        return f"{kind}, {how}", exponent, (c + c.T) / 2

    def asked(self):
        """The options of the data."""
        words = ["--scale", "std"] if self.scale else ["--center"] if self.center else []
        words += ["--covariance"] if self.covariance and not self.scale else []
        return words + (["--nearest"] if self.nearest else [])

    def keywords(self):
        """The same for Python."""
        said = {"gram": self.gram, "nearest": self.nearest, "center": self.center, "covariance": self.covariance}
        return {name: True for name, yes in said.items() if yes} | ({"scale": "std"} if self.scale else {})

    def written(self, random, folder):
        """Writes the table in some form."""
        a, n = self.rows, self.rows.shape[1]
        kind = str(random.choice(["csv", "tsv", "npy", "semicolon", "gz"]))
        kind = "npy" if self.gram or len(a) < 3 else kind
        self.file = folder / FILES[kind]
        if kind == "npy":
            np.save(self.file, a)
            return
        mark = MARKS.get(kind, ",")
        head = mark.join(f"v{j + 1}" for j in range(n)) + "\n" if random.random() < 0.7 else ""
        self.extra = [] if head else ["--header", "no"]
        text = head + "".join(mark.join(repr(float(v)) for v in row) + "\n" for row in a)
        if kind == "gz":
            self.file.write_bytes(gzip.compress(text.encode()))
        else:
            self.file.write_text(text)

    def source(self):
        """How the data are named on a command line."""
        return ["--gram", str(self.file)] if self.gram else [str(self.file)]

    def quadratic(self):
        """C in f64, and False where rounding of means or scales makes its digits doubtful."""
        if self.gram:
            return Quadratic(nearest(self.rows) if self.nearest else self.rows, rounding=1e-5 if self.nearest else 1e-9), True
        unit = abs(self.rows).max(initial=0.0)
        exponent = int(np.frexp(unit)[1]) if unit > 0 else 0
        a, worst = np.ldexp(self.rows, -exponent), 1.0
        if self.center:
            constant = (a == a[:1]).all(axis=0)
            largest, a = abs(a).max(axis=0), np.where(constant, 0.0, a - a.mean(axis=0))
            spread = a.std(axis=0)
            worst = (largest[~constant] / np.maximum(spread[~constant], 1e-300)).max(initial=1.0)
        if self.scale:
            sd = a.std(axis=0, ddof=1) if len(a) > 1 else np.zeros(a.shape[1])
            a, exponent = np.divide(a, sd, out=np.zeros_like(a), where=sd > 0), 0
        if self.covariance:
            a = a / np.sqrt(max(len(a) - 1, 1))
        q = Quadratic(a.T @ a, root=a, rounding=1e-9 + 1e-15 * worst)
        q.exponent += 2 * exponent
        return q, worst < 1e6


def nearest(c):
    """The nearest positive semidefinite matrix with the diagonal of C, in correlations (Higham 2002)."""
    d = np.sqrt(np.maximum(np.diag(c), 0.0))
    scale = np.where(d > 0, d, 1.0)
    y, turn = c / scale[:, None] / scale, np.zeros_like(c)
    for _ in range(2000):
        r = y - turn
        values, vectors = np.linalg.eigh(r)
        x = (vectors * np.maximum(values, 0.0)) @ vectors.T
        turn, before, y = x - r, y, x.copy()
        np.fill_diagonal(y, np.where(d > 0, 1.0, 0.0))
        if abs(y - before).max() < 1e-12:
            break
    return y * scale[:, None] * scale
