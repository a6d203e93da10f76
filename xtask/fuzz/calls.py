"""Random problems of measures, limits and constraints in this process, and what each solution says recomputed with NumPy alone.

    python xtask/fuzz/calls.py [COUNT [SEED]] [--only] [--all]      (`cargo xtask fuzz calls COUNT [SEED]`)

The tables and checks are those of commands.py; a problem takes milliseconds, so that 100,000 of them take some twenty minutes of one
processor. Runs are cut short (`max_iters`): what is said of an X has to be true of every X. Beside the checks of an X:

crash      no exception but those of orthopt, no end of the process, an end within ten seconds of processor time
unit       data times a power of two give every bit of X and of F
certify    F of `certify` is F of `solve` to 1e-12

Prints one line a kind, with some of what failed; the exit code is 1 where anything did. `--only` runs the problem of SEED alone and shows it; `--all`
prints all that failed.
"""

import argparse
import multiprocessing
import resource
import signal
import sys
import warnings
from dataclasses import asdict, replace

import numpy as np

import lines
from claims import Tally, of_solution, when
from formulas import in_unit
from tables import Table

#: Seconds of the processor after which a problem has no end.
PROCESSOR = 10
#: Tuples of supports that a proof or a bound is held to.
TUPLES = 240


class Problem:
    """A table, what is asked of it, and the call."""

    def __init__(self, seed):
        self.random = random = np.random.default_rng(seed)
        self.table = Table(random, largest=int(random.choice([3, 5, 6, 8], p=[0.2, 0.3, 0.3, 0.2])))
        self.q, self.sure = self.table.quadratic()
        self.asked = lines.asked(random, self.table, self.q, ["l0-pca"] * 8 + ["pca"])
        if self.asked.chosen():  # a limit of its own takes a whole path to choose
            self.asked = replace(self.asked, problem="pca")
            self.asked = self.asked.by_default(self.q.n) if self.asked.unnamed else self.asked
        self.seed, self.how = seed, {"threads": 1}
        if self.asked.order == "joint" and (self.asked.limit is not None or self.asked.lam or self.asked.measure != "variance"):
            self.how |= {"effort": "quick", "max_iters": int(random.choice([1, 2, 4, 30], p=[0.3, 0.25, 0.35, 0.1]))}
        if random.random() < 0.1 and self.asked.constraint == "orthogonal":
            self.how["bound"] = 0.02

    def where(self):
        said = {"problem": self.asked.problem} | lines.keywords(self.asked) | self.table.keywords() | self.how
        words = ", ".join(f"{name}={value!r}" for name, value in said.items())
        return f"seed {self.seed}: solve({words})\n  table: {self.table.about}"

    def call(self, name, rows, *more, **how):
        """A function of orthopt on these rows."""
        import orthopt

        given = lines.keywords(self.asked) | self.table.keywords() | how
        return getattr(orthopt, name)(self.asked.problem, rows, *more, **given)

    def checks(self):
        """All checks of this problem."""
        import orthopt

        try:
            solution = self.call("solve", self.table.rows, **self.how)
        except orthopt.errors.OrthoptError as error:
            yield "refused", None
            yield "words", when("\n\n" in str(error) or not str(error), f"the error is {error}")
            return
        except Exception as error:
            yield "crash", f"{type(error).__name__}: {error}"
            return
        yield "crash", None
        if not self.sure:
            return
        yield from of_solution(as_json(solution), self.q, in_unit(self.q, self.asked), self.random, TUPLES)
        if np.isfinite(solution.objective) and self.random.random() < 0.1:
            yield from self.in_another_unit(solution)
            yield from self.certified(solution)

    def in_another_unit(self, solution):
        """The same with the data times a power of two."""
        power = int(self.random.choice([-50, -3, 70])) * (-1 if self.table.exponent > 0 else 1)
        if self.asked.lam or "bound" in self.how:
            return
        rows = np.ldexp(self.table.rows, power)
        if (np.ldexp(rows, -power) != self.table.rows).any():
            return
        other = self.call("solve", rows, **self.how)
        back = np.ldexp(other.objective, -(0 if self.table.scale else power if self.table.gram else 2 * power))
        apart = back != solution.objective or not np.array_equal(other.X, solution.X) or other.status != solution.status
        text = f"times 2^{power} F = {back!r}, `{other.status}`, and was {solution.objective!r}, `{solution.status}`"
        yield "unit", when(apart, text + ("" if np.array_equal(other.X, solution.X) else "; X differs"))

    def certified(self, solution):
        """F of X, from the other function."""
        if self.asked.constraint == "uncorrelated" or self.asked.chosen():
            return
        # what is left out decides what is maximised by default
        it = replace(self.asked, unnamed=self.asked.unnamed and self.asked.constraint == "orthogonal")
        kept = ("lam", "nonzeros", "variables", "total_nonzeros", "maximise", "order")
        given = {name: value for name, value in lines.keywords(it).items() if name in kept} | self.table.keywords()
        import orthopt

        try:
            found = orthopt.certify(self.asked.problem, self.table.rows, solution.X, threads=1, **given)
        except orthopt.errors.OrthoptError as error:
            yield "certify", f"certify of its X: {error}"
            return
        size = np.ldexp(max(abs(self.q.eigen).max(), 1e-300), self.q.exponent)
        apart = not abs(found.objective - solution.objective) <= 1e-12 * max(abs(solution.objective), size)
        yield "certify", when(apart, f"F is {found.objective!r}, and `solve` says {solution.objective!r}")


def as_json(solution):
    """A solution with the names of the JSON."""
    shares = solution.explained_variance
    return {
        "x": solution.X,
        "rank": solution.rank,
        "objective": solution.objective,
        "status": solution.status,
        "bound": solution.bound,
        "proof": solution.proof,
        "lambda": solution.lam,
        "explained_variance": None if shares is None else asdict(shares),
    }


def worker(pipe, first, last):
    """Runs the problems of these seeds and sends what the checks give; a problem without an end ends the process."""
    warnings.simplefilter("ignore")
    for seed in range(first, last):
        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime) + PROCESSOR
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
        problem = Problem(seed)
        pairs = list(problem.checks())
        pipe.send((seed, pairs, problem.where() if any(fault for _, fault in pairs) else ""))
    pipe.close()


def run(first, last, tally):
    """All problems of these seeds, with a new process after each one that has none left."""
    while first < last:
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=worker, args=(there, first, last), daemon=True)
        process.start()
        there.close()
        try:
            while first < last:
                seed, pairs, where = here.recv()
                tally.add(pairs, where)
                first = seed + 1
                if first % 1000 == 0:
                    print(f"{first} ...", file=sys.stderr, flush=True)
        except EOFError:
            process.join()
            tally.add([("crash", f"the process ended with {process.exitcode} (-24: no end within {PROCESSOR} s)")], Problem(first).where())
            first += 1
        process.join()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    for flag in ("--only", "--all"):
        parser.add_argument(flag, action="store_true")
    given = parser.parse_args()
    tally = Tally()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C ends it with what it has, in the background too
    try:
        run(given.seed, given.seed + (1 if given.only else given.count), tally)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    if given.only:
        print(Problem(given.seed).where())
    print(tally.shown(None if given.all else 2))
    return 1 if tally.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
