"""Wrong results that the checks have to refuse, and right ones that they have to pass: a test of the driver itself.

    python xtask/fuzz/planted.py
"""

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from claims import SHARES, Tally, of_bound, of_solution
from commands import BESIDE, Ran
from formulas import MEASURES, Asked, Quadratic, best_of_rivals, measured, on_tuples
from ways import Way


def honest(q, asked, x, **more):
    """The result that says of X what is so."""
    said = {name: measured(q, x, measure)[0] / q.trace for measure, name in SHARES.items()}
    value = np.ldexp(-0.5 * measured(q, x, asked.measure)[0], q.exponent)
    used = (x != 0).sum(axis=0).tolist()
    return {"x": x, "rank": x.shape[1], "objective": value, "status": "converged", "nonzeros_per_component": used, "explained_variance": said} | more


def problems(random):
    """Problems with the best X of all supports."""
    for exponent in (0, -600, 600, 3):
        for measure in MEASURES:
            a = random.standard_normal((9, 5)) @ random.standard_normal((5, 5))
            q = Quadratic(np.ldexp(a.T @ a, exponent // 2 * 2), np.ldexp(a, exponent // 2))
            asked = Asked(rank=2, limit=("each", (2, 2)), measure=measure)
            points = on_tuples(q, (2, 2), random, 1200)
            yield q, asked, max(points, key=lambda x: measured(q, x, measure)[0])


def wrongs(q, asked, x):
    """A kind, and the result with one thing wrong that has to be refused as that."""
    right = honest(q, asked, x)
    f, unit = right["objective"], abs(right["objective"])
    yield "F", right | {"objective": f * (1 + 1e-6)}
    yield "F", right | {"objective": f * (1 - 1e-6)}
    yield "ceiling", right | {"objective": np.ldexp(-0.5 * q.top(2) * (1 + 1e-6), q.exponent)}
    yield "finite", right | {"objective": float("nan")}
    yield "finite", right | {"objective": None}
    yield "finite", right | {"x": x[:, :1]}
    yield "orthogonal", right | {"x": x * (1 + 1e-9)}
    yield "orthogonal", right | {"x": x[:, [0, 0]]}
    dense = np.linalg.eigh(q.c)[1][:, -2:]
    yield "limits", honest(q, asked, dense)
    yield "counts", right | {"nonzeros_per_component": [2, 3]}
    yield "shares", right | {"explained_variance": right["explained_variance"] | {SHARES[asked.measure]: 0.1}}
    yield "chain", right | {"explained_variance": right["explained_variance"] | {"polar": right["explained_variance"]["projected"] + 1e-6}}
    yield "shares", right | {"explained_variance": right["explained_variance"] | {"total": float("nan")}}
    yield "F beside its share", right | {"objective": f * (1 + 1e-6)}
    yield "bound", right | {"bound": f + 1e-6 * unit}
    yield "optimal", right | {"status": "optimal"}
    poor = np.eye(q.n)[:, np.argsort(np.diag(q.c))[:2]]
    yield "proof", honest(q, asked, poor, status="optimal", proof="optimal")
    yield "proof", honest(q, asked, poor, status="converged", proof="supports")
    yield "optimal", right | {"status": "optimal", "proof": "supports"}
    yield "bound", honest(q, asked, poor, bound=np.ldexp(-0.5 * measured(q, poor, asked.measure)[1], q.exponent))


def special(random):
    """The same for single components, other constraints and an indefinite C: (kind, result, C, problem)."""
    a = random.standard_normal((9, 5))
    q = Quadratic(a.T @ a, a)
    one = Asked(rank=1, limit=("each", (1,)), measure="explained")
    worst = np.eye(5)[:, [int(np.argmin([measured(q, np.eye(5)[:, [j]], "explained")[0] for j in range(5)]))]]
    yield "plain", honest(q, one, worst), q, one
    two = Asked(rank=1, limit=("each", (2,)))
    leading = np.linalg.eigh(q.c)[1][:, -1:]
    yield "below", honest(q, two, leading), q, two
    both = Asked(rank=2, limit=("each", (3, 3)), constraint="both")
    yield "uncorrelated", honest(q, both, np.eye(5)[:, :2]), q, both
    yield "both", honest(q, both, np.eye(5)[:, :2]), q, both
    positive = Asked(problem="nonneg-pca", rank=1)
    yield "nonnegative", honest(q, positive, -abs(leading)), q, positive
    dusty = leading.copy()
    dusty[0] = 1e-15
    dusty /= np.linalg.norm(dusty)
    yield "dust", honest(q, Asked(rank=1), dusty), q, Asked(rank=1)
    spun = Quadratic(np.array([[1.0, 2.0], [2.0, 1.0]]))
    asked = Asked(rank=2, limit=("each", (1, 1)), measure="adjusted")
    yield "indefinite", honest(spun, asked, np.eye(2)), spun, asked
    copies = Quadratic(np.ones((4, 4)), np.ones((1, 4)))  # rank one: the second score repeats the first
    asked = Asked(rank=2, limit=("each", (1, 1)), measure="explained")
    twice = honest(copies, asked, np.eye(4)[:, :2])
    yield "F", twice | {"objective": -1000.0}, copies, asked


def rights(random):
    """What may not be refused, though it looks like it: (result, C, problem)."""
    a = np.ones((9, 1)) + 1e-4 * random.standard_normal((9, 4))
    q = Quadratic(a.T @ a, a)
    asked = Asked(rank=2, limit=("each", (1, 3)), measure="adjusted")  # the wide component counts with what the narrow one leaves
    points = on_tuples(q, (1, 3), random, 1200)
    value = max(measured(q, x, "adjusted")[1] for x in points)
    best = max(points, key=lambda x: measured(q, x, "adjusted")[0])
    yield honest(q, asked, best, status="optimal", proof="optimal", bound=np.ldexp(-0.5 * value, q.exponent)), q, asked
    thin = np.eye(4)[:, :2]
    thin[3, 1] = 1e-15
    asked = Asked(rank=2, limit=("total", 4, 2, 3))
    yield honest(q, asked, thin + np.eye(4)[:, [2, 2]] * [1e-15, 0]), q, asked


#: Programs that end as no command may, with the kind that has to be refused; FILE is where the JSON belongs.
ENDINGS = {
    "raise SystemExit(3)": "crash",
    "import os; os.abort()": "crash",
    "import sys; sys.stderr.write('thread panicked at'); sys.exit(4)": "crash",
    "raise SystemExit(2)": "words",
    "import sys; open(FILE, 'w').write('{}'); sys.stderr.write('error: no'); sys.exit(2)": "words",
    "open(FILE, 'w').write('[NaN]')": "json",
    "open(FILE, 'w').write('[Infinity]')": "json",
    "pass": "json",
}


def endings(folder):
    """What passes of the programs that end badly, and of one that takes its time."""
    file = folder / "o.json"
    programs = [(code, kind, 2.0) for code, kind in ENDINGS.items()]
    for code, kind, budget in [*programs, ("open(FILE, 'w').write('{}')", "time", -BESIDE)]:
        tally = Tally()
        tally.add(Ran([sys.executable, "-c", code.replace("FILE", repr(str(file)))], file).checks(budget), "")
        if [failure[0] for failure in tally.failures] != [kind]:
            yield f"{kind} passes: {code} gives {tally.failures}"


def two_ways():
    """What passes of answers that differ."""
    q = Quadratic(np.eye(2), np.eye(2))

    def ended(objective, status="converged", x=0.0):
        return SimpleNamespace(code=0, error="", json={"objective": objective, "status": status, "x": [[x]]})

    for other, exponent, differs in [
        (ended(-1.0), 0, False),
        (ended(-4.0), 2, False),
        (ended(-1.0 - 1e-6), 0, True),
        (ended(-1.0, "optimal"), 0, True),
        (ended(-4.0, x=1e-16), 2, True),
        (ended(-4.0 - 1e-15), 2, True),
        (ended(None), 0, True),
    ]:
        pairs = list(Way("", "", [], exponent=exponent).checks(ended(-1.0), other, q.slack(1), q))
        if any(fault for _, fault in pairs) != differs:
            yield f"two ways: {other.json} beside F = -1 gives {pairs}"


def main():
    random, missed = np.random.default_rng(0), list(two_ways())
    with tempfile.TemporaryDirectory() as folder:
        missed += endings(Path(folder))
    tried = len(ENDINGS) + 6
    for q, asked, x in problems(random):
        tally = Tally()
        tally.add(of_solution(honest(q, asked, x), q, asked, random), "")
        tally.add(of_bound(None, np.ldexp(-0.5 * (best_of_rivals(q, asked, random) + q.slack(2)), q.exponent), False, q, asked, random, 1200), "")
        missed += [f"a right result is refused: {failure}" for failure in tally.failed()]
        planted = [(kind, found, q, asked) for kind, found in wrongs(q, asked, x)]
        for kind, found, c, problem in planted + list(special(random)):
            tally = Tally()
            tally.add(of_solution(found, c, problem, random), "")
            tried += 1
            if kind not in {failure[0] for failure in tally.failed()}:
                missed.append(f"{kind} passes ({problem}): {found}")
    for found, q, asked in rights(random):
        tally = Tally()
        tally.add(of_solution(found, q, asked, random), "")
        missed += [f"a right result is refused: {failure}" for failure in tally.failed()]
    print(f"{tried} wrong results planted, {len(missed)} passed or right ones refused")
    for line in missed[:10]:
        print(line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
