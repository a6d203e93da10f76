"""Random command lines, and what each of them says recomputed with NumPy alone.

    python xtask/fuzz/commands.py ORTHOPT MINUTES [SEED [--show]]      (`cargo xtask fuzz commands MINUTES [SEED]`)

Tables are small and nasty: any unit, separator, header, constant and repeated columns, missing cells, sparse files, C itself. Options are
drawn from docs/options.md, which is made of the table of options: half of the lines have only options that make sense together, the
others have some at random. Of each run these are checked:

crash      exit code 0, 1, 2 or 4, no panic, errors of one paragraph, an end within half a minute of processor time and ten of the clock
json       what --json promises: finite numbers, the shape of X
feasible   X'X = I (or scores uncorrelated), limits of nonzeros, X >= 0
F          -1/2 tr(X'CX), lambda times nonzeros or absolute values, from the table as it was written
bound      no feasible X is below it: the X found, and for one component of few variables the best of all supports; of `bound` as well
claims     a proof is the F of the best of all supports; gap and bound agree; `optimal` has a proof

Prints one line a kind: commands tried, refused, failed; the exit code is 1 where any failed, with the command lines. `--show` prints
what is refused, and why. The same seed gives the same lines and tables.
"""

import itertools
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

OPTIONS = Path(__file__).resolve().parents[2] / "docs" / "options.md"
#: Options that are about files and the machine, or that this script sets itself.
OWN = """data more --gram --labels --weights --names --json --trace --save-x --save-loadings --save-sorted-loadings --save-scores --plot
 --plot-loadings --plot-scores --plot-biplot --plot-variance --plot-scree --plot-stability --report --quiet --init --config --x --map
 --distances --signature --sheet --max-memory --title --time-limit problem --missing --nearest --stream""".split()
#: Relative error of F and bounds that rounding may cause.
ROUNDING = 1e-8
LIMIT = 2.0
#: Seconds of the processors after which a command has no end, and of the clock: other programs may leave it little.
PROCESSOR, CLOCK = 30, 600


def registry():
    """Options of the command with the kind of their values, from the page that is made of the table."""
    found = {}
    for line in OPTIONS.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 6 and cells[0].startswith("`--"):
            name = cells[0].strip("`")
            if name not in OWN:
                found[name] = cells[3]
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


class Table:
    """A table as it is written, and C as the command is to make it."""

    def __init__(self, random, folder):
        m, n = int(random.integers(3, 30)), int(random.integers(2, 9))
        a = random.standard_normal((m, n)) @ random.standard_normal((n, n))
        a *= 2.0 ** float(random.choice([-60, -20, 0, 0, 0, 3, 40]))
        if random.random() < 0.2:
            a[:, int(random.integers(n))] = random.choice([0.0, 1.0]) * abs(a).max()
        if random.random() < 0.2:
            a[:, 0] = a[:, -1]
        if random.random() < 0.3:
            a[random.random((m, n)) < 0.6] = 0.0
        if random.random() < 0.2:
            a += 1e3 * abs(a).max()
        self.rows, self.center, self.scale, self.covariance = a, random.random() < 0.6, random.random() < 0.4, random.random() < 0.2
        self.words = []
        if self.scale:
            self.words, self.center, self.covariance = ["--scale", "std"], True, True
        else:
            self.words += ["--center"] if self.center else []
            if self.covariance:
                self.words, self.center = [*self.words, "--covariance"], True
        kind = random.choice(["csv", "tsv", "npy", "semicolon", "gz"])
        self.file = folder / {"csv": "t.csv", "tsv": "t.tsv", "npy": "t.npy", "semicolon": "s.csv", "gz": "t.csv.gz"}[kind]
        if kind == "npy":
            np.save(self.file, a)
        else:
            mark = {"tsv": "\t", "semicolon": ";"}.get(kind, ",")
            head = mark.join(f"v{j + 1}" for j in range(n)) + "\n" if random.random() < 0.7 else ""
            self.words += [] if head else ["--header", "no"]
            text = head + "".join(mark.join(repr(float(v)) for v in row) + "\n" for row in a)
            if kind == "gz":
                import gzip

                self.file.write_bytes(gzip.compress(text.encode()))
            else:
                self.file.write_text(text)

    def c(self):
        """C in f64, and False where rounding of means or scales makes its digits doubtful."""
        a = self.rows.astype(float)
        sure = True
        if self.center:
            mean = a.mean(axis=0)
            spread = (a - mean).std(axis=0)
            sure = bool((spread > 1e-6 * abs(a).max(axis=0)).all())
            a = a - mean
        if self.scale:
            sd = a.std(axis=0, ddof=1)
            a = np.divide(a, sd, out=np.zeros_like(a), where=sd > 0)
            return a.T @ a / (len(a) - 1), sure
        return (a.T @ a / (len(a) - 1) if self.covariance else a.T @ a), sure


def drawn(random, table, options):
    """A command line, and what of it this script understands."""
    n = table.rows.shape[1]
    problem = random.choice(["l0-pca", "l0-pca", "l0-pca", "l1-pca", "nonneg-pca", "pca", "mcp-pca", "dc-pca", "fused-pca"])
    rank = int(random.integers(1, min(n, 3) + 1))
    words = [*table.words, "-r", str(rank)]
    c, _ = table.c()
    known = {"problem": problem, "limit": None, "lam": 0.0}
    kind = random.choice(["nonzeros", "total", "rows", "lambda", "none"])
    if problem == "l0-pca" or (problem in ("nonneg-pca", "pca") and random.random() < 0.4):
        if kind == "nonzeros":
            known["limit"] = ("each", int(random.integers(1, n + 1)))
            words += ["--nonzeros", str(known["limit"][1])]
        elif kind == "total":
            known["limit"] = ("total", int(random.integers(rank, rank * n + 1)))
            words += ["--total-nonzeros", str(known["limit"][1])]
        elif kind == "rows":
            known["limit"] = ("rows", int(random.integers(rank, n + 1)))
            words += ["--variables", str(known["limit"][1])]
    if known["limit"] is None and problem in ("l0-pca", "l1-pca") and kind == "lambda":
        known["lam"] = float(random.choice([0.01, 0.1, 1.0]) * max(np.trace(c) / n, 1e-300))
        words += ["--lambda", repr(known["lam"])]
    if known["limit"] is not None and random.random() < 0.3:
        words += ["--maximise", str(random.choice(["adjusted", "polar", "explained"]))]
        known["measure"] = words[-1]
    if problem == "l0-pca" and known["limit"] and known["limit"][0] == "each" and random.random() < 0.15:
        words += ["--constraint", str(random.choice(["uncorrelated", "both"]))]
        known["constraint"] = words[-1]
    if random.random() < 0.5:
        for _ in range(int(random.integers(1, 4))):
            name = str(random.choice(list(options)))
            given = value(random, options[name])
            words += [name] if given is None else [f"{name}={given}"]
        known["wild"] = True
    has_bound = problem in ("l0-pca", "l1-pca", "nonneg-pca", "pca")
    call = str(random.choice(["solve", "solve", "solve", "solve", "bound" if has_bound else "solve", "path", "compare", "explore"]))
    if call == "solve" and has_bound and random.random() < 0.6:
        words += ["--bound", "0.5"]
    if call in ("path", "explore"):  # which choose limits themselves
        words = [*table.words, "-r", str(rank), *(["--counts", "1,2"] if call == "path" else [])]
        known = {"problem": "l0-pca", "limit": None, "lam": 0.0, "measure": "adjusted"}
    elif call != "compare" and (known["limit"] is not None or problem in ("l0-pca", "l1-pca", "nonneg-pca")):
        words += [] if any(word.startswith("--effort") for word in words) else ["--effort", "quick"]
    return call, words, known


def best_of_supports(c, known):
    """F of the best X of one component, from all supports; None where this script does not know it."""
    n, limit = len(c), known["limit"]
    if limit is not None and known["problem"] in ("l0-pca", "pca"):
        sets = itertools.combinations(range(n), min(limit[1], n))
        return min(-0.5 * np.linalg.eigvalsh(c[np.ix_(s, s)])[-1] for s in map(list, sets))
    if known["problem"] == "l0-pca" and known["lam"] > 0:
        sets = itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(1, n + 1))
        return min(known["lam"] * len(s) - 0.5 * np.linalg.eigvalsh(c[np.ix_(s, s)])[-1] for s in map(list, sets))
    return -0.5 * np.linalg.eigvalsh(c)[-1] if known["problem"] == "pca" and limit is None else None


def faults_of(found, c, known):
    """What is wrong with one object of JSON."""
    x = np.array(found["x"], dtype=float)
    f, rank = found["objective"], found["rank"]
    if x.shape != (len(c), rank) or not np.isfinite(x).all() or not np.isfinite(f):
        yield f"X has the shape {x.shape} or entries that are not finite"
        return
    size, gram = max(abs(f), 0.5 * np.linalg.eigvalsh(c)[-1], 1e-300), x.T @ x
    constraint = known.get("constraint")
    if constraint != "uncorrelated" and abs(gram - np.eye(rank)).max() > 1e-9:
        yield f"X'X - I is {abs(gram - np.eye(rank)).max():.1e}"
    if constraint is not None:
        s = x.T @ c @ x
        if abs(s - np.diag(np.diag(s))).max() > 1e-8 * max(np.trace(s), 1e-300):
            yield "scores are correlated"
    if known["problem"] == "nonneg-pca" and x.min() < 0:
        yield f"an entry is {x.min():.1e} with X >= 0"
    used = (x != 0).sum(axis=0)
    if known["limit"] is not None:
        kind, most = known["limit"]
        has = {"each": used.max(), "total": used.sum(), "rows": (x != 0).any(axis=1).sum()}[kind]
        if has > most:
            yield f"{has} nonzeros, {kind} at most {most}"
    if "measure" not in known and known["problem"] in ("l0-pca", "l1-pca", "pca", "nonneg-pca"):
        penalty = {"l0-pca": float(used.sum()), "l1-pca": float(abs(x).sum())}.get(known["problem"], 0.0)
        lam = found["lambda"] if found["lambda"] is not None and known["limit"] is None else known["lam"]
        own = -0.5 * np.trace(x.T @ c @ x) + lam * penalty
        if abs(own - f) > ROUNDING * max(size, lam * penalty):
            yield f"F is said to be {f!r} and is {own!r}"
        known = {**known, "lam": lam}
    bound, proof = found.get("bound"), found.get("proof")
    if bound is not None and bound > f + ROUNDING * size:
        yield f"the bound {bound!r} is above F = {f!r}"
    if found.get("status") == "optimal" and proof is None:
        yield "`optimal` without a proof"
    if rank == 1 and "measure" not in known and len(c) <= 8:
        best = best_of_supports(c, known)
        if best is not None:
            if f < best - ROUNDING * size:
                yield f"F = {f!r} is below the best of all supports, {best!r}"
            if bound is not None and bound > best + ROUNDING * size:
                yield f"the bound {bound!r} is above the best of all supports, {best!r}"
            if proof is not None and f > best + ROUNDING * size:
                yield f"F = {f!r} is called proved, and the best of all supports has {best!r}"


def faults_of_bound(found, c, known):
    """What is wrong with the object of `bound`, which has no X."""
    f, bound, size = found.get("objective"), found.get("bound"), max(0.5 * np.linalg.eigvalsh(c)[-1], 1e-300)
    if bound is not None and f is not None and bound > f + ROUNDING * max(size, abs(f)):
        yield f"the bound {bound!r} is above F = {f!r}"
    if found["rank"] != 1 or "measure" in known or len(c) > 8:
        return
    lam = found["lambda"] if found["lambda"] is not None and known["limit"] is None else known["lam"]
    best = best_of_supports(c, {**known, "lam": lam})
    if best is None:
        return
    if bound is not None and bound > best + ROUNDING * size:
        yield f"the bound {bound!r} is above the best of all supports, {best!r}"
    if f is not None and f < best - ROUNDING * size:
        yield f"F = {f!r} is below the best of all supports, {best!r}"
    if found.get("proof") is not None and f > best + ROUNDING * size:
        yield f"F = {f!r} is called proved, and the best of all supports has {best!r}"


def bounded():
    """Limits the processor time of a command."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))


def main():
    program, minutes = sys.argv[1], float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    options, end = registry(), time.monotonic() + 60 * minutes
    assert len(options) > 30, "docs/options.md has no table of options"
    tried, failures = {}, []
    while time.monotonic() < end:
        random = np.random.default_rng(seed)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            table = Table(random, folder)
            call, words, known = drawn(random, table, options)
            about = [] if call == "explore" else [known["problem"]]
            line = [program, call, *about, str(table.file), *words, "--time-limit", str(LIMIT), "--json", str(folder / "o.json")]
            if call == "compare":
                line += ["--solvers", "obcd-r,ladmm" if known["limit"] is None else "exchange"]
            try:
                ran = subprocess.run(line, capture_output=True, text=True, timeout=CLOCK, preexec_fn=bounded)
            except subprocess.TimeoutExpired:
                failures.append((seed, line, "no end"))
                seed += 1
                continue
            row = tried.setdefault(call, [0, 0, 0])
            row[0] += 1
            before = len(failures)
            if ran.returncode not in (0, 1, 2, 4) or "panicked" in ran.stderr:
                failures.append((seed, line, f"exit code {ran.returncode}: {ran.stderr[-500:]}"))
            elif ran.returncode in (1, 2):
                row[1] += 1
                if "--show" in sys.argv:
                    print(f"seed {seed}: {' '.join(line[1:])}\n  {ran.stderr.strip()[-300:]}")
                if not ran.stderr.startswith(("error: ", "note: ")) and "error: " not in ran.stderr:
                    failures.append((seed, line, f"no error is said: {ran.stderr[-500:]}"))
                if ran.returncode == 2 and (folder / "o.json").exists():
                    failures.append((seed, line, "a refused line has written a file"))
            elif ran.returncode == 0 and not known.get("wild") and call in ("solve", "bound"):
                found = json.loads((folder / "o.json").read_text())
                c, sure = table.c()
                faults = faults_of if call == "solve" else faults_of_bound
                failures += [(seed, line, fault) for fault in faults(found, c, known) if sure]
            elif ran.returncode == 0:
                json.loads((folder / "o.json").read_text(), parse_constant=lambda word: failures.append((seed, line, f"{word} in JSON")))
            row[2] += len(failures) - before
        seed += 1
    print("| command | tried | refused | failed |\n|---|---|---|---|")
    for call, row in sorted(tried.items()):
        print(f"| {call} | {row[0]} | {row[1]} | {row[2]} |")
    for number, line, fault in failures[:20]:
        print(f"\nseed {number}: {' '.join(line)}\n  {fault}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
