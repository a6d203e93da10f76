"""Random command lines, and what each of them says recomputed with NumPy alone.

    python xtask/fuzz/commands.py ORTHOPT MINUTES [SEED] [--count N] [--only] [--show] [--all]      (`cargo xtask fuzz commands MINUTES [SEED]`)

Tables are small and nasty (tables.py): any unit, separator, header, low rank, constant and repeated columns, ties, one row, C itself. Problems
are drawn with all limits, measures, orders and constraints (lines.py), and options from docs/options.md, which is made of the table of
options: three lines of five have only options that make sense together, the others have some at random. Of each run are checked

crash, time    exit code 0, 1, 2 or 4, no panic, an end within the limit and two seconds of processor time
words          errors of one paragraph; a refused line has written no file; a C that is not positive semidefinite has no measures
json           no word that is not JSON, no number that is not finite
of an X        constraints, limits, counts, F, its ceiling and its shares, bound, proof and what all supports give (claims.py)
certify        F of `certify --x` of what `--save-x` wrote is F of `solve` to 1e-12
ways           two ways of asking the same have one F and one status (ways.py)

Prints one line a command and one a kind, with some of what failed; the exit code is 1 where anything did. `--count N` ends after so many
lines; `--only` runs the line of SEED alone and keeps its files; `--show` prints what is refused, and why, `--all` all that failed.
The same seed gives the same lines and tables.
"""

import argparse
import json
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

import lines
from claims import Tally, of_bound, of_solution, when
from formulas import in_unit
from tables import Table
from ways import ways

#: Seconds of the processors after which a command has no end, and of the clock: other programs may leave it little.
PROCESSOR, CLOCK = 30, 600
#: Seconds of the processor that a command may take beside its limit.
BESIDE = 2.0
CALLS = ["solve"] * 8 + ["bound", "path", "compare", "explore"]


class Ran:
    """A command that has ended: its exit code, what it said, its JSON and its processor time."""

    def __init__(self, line, file):
        self.line, self.file, before = line, file, spent()
        file.unlink(missing_ok=True)
        try:
            ran = subprocess.run(line, capture_output=True, text=True, timeout=CLOCK, preexec_fn=bounded)
            self.code, self.error = ran.returncode, ran.stderr
        except subprocess.TimeoutExpired:
            self.code, self.error = -9, "no end"
        self.seconds, self.strange = spent() - before, []
        self.json = None
        if self.code == 0 and file.exists():
            self.json = json.loads(file.read_text(), parse_constant=self.strange.append)

    def checks(self, budget):
        """What holds for every command."""
        crashed = self.code not in (0, 1, 2, 4) or "panicked" in self.error
        yield "crash", when(crashed, f"exit code {self.code}: {self.error[-500:]}")
        over = self.seconds > budget + BESIDE
        yield "time", when(over, f"{self.seconds:.1f} s of the processor with a limit of {budget} s")
        if self.code in (1, 2):
            said = self.error.startswith(("error: ", "note: ")) or "error: " in self.error
            yield "words", when(not said, f"no error is said: {self.error[-500:]}")
            yield "words", when(self.code == 2 and self.file.exists(), "a refused line has written a file")
        if self.code == 0:
            yield "json", when(self.strange, f"{self.strange} in JSON")
            yield "json", when(self.json is None, "no JSON is written")


def bounded():
    """Limits the processor time of a command."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))


def spent():
    """Processor seconds of commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Trial:
    """One line: its table, its problem, and the checks of what it says."""

    def __init__(self, program, seed, folder, options):
        self.random, self.seed, self.folder, self.program = np.random.default_rng(seed), seed, folder, program
        self.table = Table(self.random)
        self.table.written(self.random, folder)
        self.q, self.sure = self.table.quadratic()
        self.asked = lines.asked(self.random, self.table, self.q)
        self.call = str(self.random.choice(CALLS))
        if self.call == "bound" and (self.asked.problem not in lines.HAS_BOUND or self.asked.constraint != "orthogonal"):
            self.call = "solve"
        self.limit = float(self.random.choice([0.0, 0.1, 0.5, 2.0, 2.0, 2.0]))
        self.budget, self.wild = self.limit, False
        self.more = []
        self.line = self.drawn(options)

    def drawn(self, options):
        """The words of the line."""
        random, it, more = self.random, self.asked, self.more
        if self.call in ("path", "explore"):  # which choose limits themselves
            problem = ["--maximise", it.measure] if self.call == "path" and not it.unnamed else []
            problem += ["-r", str(it.rank), *(["--counts", "1,2"] if self.call == "path" else [])]
        else:
            problem = lines.words(it)
        if random.random() < 0.4:
            more += lines.wild(random, options)
            self.wild = True
        if self.call == "solve" and it.problem in lines.HAS_BOUND and random.random() < 0.4:
            more += ["--bound", "0.5"]
            self.budget += 0.5
        searched = it.order == "joint" and it.problem in ("l0-pca", "l1-pca", "nonneg-pca") and self.call in ("solve", "bound")
        if searched and not any(word.startswith("--effort") for word in more):
            more += ["--effort", "quick"]
        if self.call == "compare":
            more += ["--solvers", "obcd-r,ladmm" if it.limit is None else "exchange"]
            self.budget *= 2
        return self.words(self.call, problem + more, "o.json", self.call)

    def words(self, call, words, file, kind=None, table=None):
        """A whole line."""
        table = table or self.table
        about = [] if kind == "explore" else ["l0-pca" if kind == "path" else self.asked.problem]
        data = [*about, *table.source(), *table.words, *table.extra]
        limit = ["--time-limit", str(self.limit)] if call != "certify" else []
        return [self.program, call, *data, *words, *limit, "--threads", "1", "--json", str(self.folder / file)]

    def where(self, line):
        return f"seed {self.seed}: {shlex.join(line[1:])}\n  table: {self.table.about}"

    def run(self, tally):
        """Runs the line and checks it; gives what ran."""
        saved = self.folder / "x.npy"
        line = self.line + (["--save-x", str(saved)] if self.call == "solve" else [])
        ran = Ran(line, self.folder / "o.json")
        tally.add(ran.checks(self.budget), self.where(line))
        told = self.q.given and self.q.indefinite and self.asked.is_measured() and not self.wild and self.call in ("solve", "bound")
        if told and ran.code in (1, 2) and "positive" in ran.error:
            tally.add([("words", when("--nearest" not in ran.error, f"--nearest is not named: {ran.error}"))], self.where(line))
        if ran.code == 0 and ran.json is not None and not self.wild and self.sure:
            tally.add(self.checks(ran), self.where(line))
            if self.call == "solve":
                self.certified(tally, ran, saved)
                self.other_ways(tally, ran)
        return ran

    def checks(self, ran):
        """What is wrong with the JSON of a line without options at random."""
        asked = in_unit(self.q, self.asked)
        if self.call == "solve":
            yield from of_solution(ran.json, self.q, asked, self.random)
        elif self.call == "path":
            for point in ran.json["points"]:
                counts = tuple((point.get("limits") or {}).get("components") or ())
                at = lines.Asked(rank=point["rank"], limit=("each", counts) if counts else None, measure=asked.measure)
                at = at.by_default(self.q.n) if asked.unnamed else at
                yield from of_solution(point, self.q, at, self.random)
        elif self.call == "bound":
            f, bound = ran.json.get("objective"), ran.json.get("bound")
            yield "finite", when(any(v is not None and not np.isfinite(v) for v in (f, bound)), f"F = {f}, bound {bound}")
            refused = self.q.given and self.q.indefinite and asked.is_measured()
            yield "indefinite", when(refused, f"{asked.measure} variance of a C that is not positive semidefinite is bounded")
            if not refused:
                f = None if f is None else self.q.within(f)
                yield from of_bound(f, bound, ran.json.get("proof"), self.q, asked, self.random, 1200)

    def certified(self, tally, ran, saved):
        """F of the X that was saved."""
        it = self.asked
        if it.constraint == "uncorrelated" or it.chosen() or ran.json["objective"] is None:
            return
        kept = {"rank", "constraint", "min_nonzeros", "max_nonzeros"}
        # what is left out decides what is maximised by default
        words = lines.words(replace(it, unnamed=it.unnamed and it.constraint == "orthogonal"), kept) + ["--x", str(saved)]
        line = self.words("certify", words, "c.json")
        again = Ran(line, self.folder / "c.json")
        tally.add(again.checks(2.0), self.where(line))
        f, size = ran.json["objective"], np.ldexp(max(abs(self.q.eigen).max(), 1e-300), self.q.exponent)
        if again.json is None:
            tally.add([("certify", f"`certify` of its X ends with {again.code}: {again.error[-300:]}")], self.where(line))
            return
        said = again.json["objective"]
        apart = said is None or not abs(said - f) <= 1e-12 * max(abs(f), size)
        tally.add([("certify", when(apart, f"F is {said!r}, and `solve` says {f!r}"))], self.where(line))

    def other_ways(self, tally, ran):
        """The same asked in another way."""
        if ran.json["objective"] is None or self.limit < 2.0 or "--bound" in self.more:  # what time decides may differ
            return
        for way in ways(self):
            line = self.words("solve", way.words + self.more, "w.json", table=way.table)
            line[2] = way.problem
            other = Ran(line, self.folder / "w.json")
            where = f"{self.where(line)}\n  beside {shlex.join(self.line[1:])}"
            tally.add(other.checks(self.budget), where)
            tally.add(way.checks(ran, other, self.q.slack(self.asked.rank), self.q), where)


def trials(given, tally, tried):
    """Runs lines until the end of the time, or of their number."""
    options, end, seed = lines.registry(), time.monotonic() + 60 * given.minutes, given.seed
    count = 1 if given.only else given.count
    while (seed - given.seed < count) if count is not None else time.monotonic() < end:
        with nullcontext(tempfile.mkdtemp()) if given.only else tempfile.TemporaryDirectory() as name:
            trial, before = Trial(given.program, seed, Path(name), options), len(tally.failed())
            try:
                ran = trial.run(tally)
            except Exception:
                print(trial.where(trial.line), file=sys.stderr)
                raise
        row = tried.setdefault(trial.call, [0, 0, 0])
        row[0] += 1
        row[1] += ran.code in (1, 2)
        row[2] += len(tally.failed()) > before
        if given.only or (given.show and ran.code in (1, 2)):
            print(f"{trial.where(trial.line)}\n  {ran.error.strip()[-300:]}")
        seed += 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("minutes", type=float)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--count", type=int)
    for flag in ("--only", "--show", "--all"):
        parser.add_argument(flag, action="store_true")
    given, tally, tried = parser.parse_args(), Tally(), {}
    try:
        trials(given, tally, tried)
    except KeyboardInterrupt:  # with what it has
        print("interrupted", file=sys.stderr)
    print("| command | tried | refused | failed |\n|---|---|---|---|")
    for call, row in sorted(tried.items()):
        print(f"| {call} | {row[0]} | {row[1]} | {row[2]} |")
    print(f"\n{tally.shown(None if given.all else 2)}")
    return 1 if tally.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
