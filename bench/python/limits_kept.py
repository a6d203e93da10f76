"""How late commands end after their limit of time and after SIGTERM, on data of n variables.

    python bench/python/limits_kept.py ORTHOPT [--sizes 1000 2000] [--limits 0.5 3] [--only WORD]

Every command that obeys --time-limit, and every problem of `solve`, on random samples (n/2 rows) and, where the problem is of C itself, on a
covariance matrix of rank n, with one thread. A line of CSV is a command with a size: for each limit the processor seconds that
the process has after the limit, less those in which the same data are read (`data info`), which other programs of the machine do not change;
and the most that it has after SIGTERM at random moments of its first five seconds. `ended` is what --json says of the end.
"""

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

#: Processor seconds after its limit at which a process is ended.
GIVEN_UP = 10.0


def commands(n):
    """Command lines of a size by name; {a} is samples, {c} a covariance matrix, {x} an X of five columns."""
    few, some = ["-r", "5"], ["--nonzeros", "10"]
    lines = {
        "solve l0-pca": ["solve", "l0-pca", "{a}", *few],
        "solve l0-pca nonzeros": ["solve", "l0-pca", "{a}", *few, *some],
        "solve l0-pca nonzeros bound": ["solve", "l0-pca", "{a}", *few, *some, "--bound", "{limit}"],
        "solve l0-pca total": ["solve", "l0-pca", "{a}", *few, "--total-nonzeros", "50"],
        "solve l0-pca variables": ["solve", "l0-pca", "{a}", *few, "--variables", "20"],
        "solve l0-pca variables half": ["solve", "l0-pca", "{a}", *few, "--variables", str(n // 2)],
        "solve l0-pca auto": ["solve", "l0-pca", "{a}", "-r", "auto"],
        "solve l0-pca 90%": ["solve", "l0-pca", "{a}", "-r", "90%"],
        "solve l0-pca adjusted": ["solve", "l0-pca", "{a}", *few, *some, "--maximise", "adjusted"],
        "solve l0-pca explained": ["solve", "l0-pca", "{a}", *few, *some, "--maximise", "explained"],
        "solve l0-pca uncorrelated": ["solve", "l0-pca", "{a}", *few, *some, "--constraint", "uncorrelated"],
        "solve l0-pca sequential": ["solve", "l0-pca", "{a}", *few, *some, "--order", "sequential"],
        "solve l0-pca lambda": ["solve", "l0-pca", "{c}", *few, "--lambda", "1"],
        "solve l0-pca stability": ["solve", "l0-pca", "{a}", *few, *some, "--stability", "20"],
        "solve l0-pca certify": ["solve", "l0-pca", "{a}", *few, "--lambda", "1", "--certify"],
        "solve l0-pca rank n/2": ["solve", "l0-pca", "{c}", "-r", str(n // 2), "--lambda", "1"],
        "solve pca": ["solve", "pca", "{c}", *few],
        "solve pca rank n/2": ["solve", "pca", "{c}", "-r", str(n // 2)],
        "solve pca rank n": ["solve", "pca", "{c}", "-r", str(n)],
        "path l0-pca counts": ["path", "l0-pca", "{a}", *few, "--counts", "1,10,100"],
        "path l0-pca cv": ["path", "l0-pca", "{a}", *few, "--counts", "1,10,100", "--cv", "3"],
        "path l1-pca lambdas": ["path", "l1-pca", "{a}", *few, "--lambdas", "1,10"],
        "explore": ["explore", "{a}"],
        "explore of C": ["explore", "{c}"],
        "bound l0-pca nonzeros": ["bound", "l0-pca", "{c}", *few, *some],
        "bound l0-pca total": ["bound", "l0-pca", "{c}", *few, "--total-nonzeros", "50"],
        "bound l0-pca variables": ["bound", "l0-pca", "{c}", *few, "--variables", "20"],
        "bound l0-pca lambda": ["bound", "l0-pca", "{c}", *few, "--lambda", "1"],
        "bound l0-pca all nonzeros": ["bound", "l0-pca", "{c}", *few, "--nonzeros", str(n)],
        "bound l0-pca adjusted": ["bound", "l0-pca", "{c}", *few, *some, "--maximise", "adjusted"],
        "bound l1-pca": ["bound", "l1-pca", "{c}", *few, "--lambda", "1"],
        "bound nonneg-pca": ["bound", "nonneg-pca", "{c}", *few],
        "bound pca": ["bound", "pca", "{c}", *few],
        "certify l0-pca": ["certify", "l0-pca", "{c}", "--x", "{x}", "--lambda", "1"],
        "certify l0-pca blocks": ["certify", "l0-pca", "{c}", "--x", "{x}", "--lambda", "1", "--blocks", "3"],
        "certify l0-pca global": ["certify", "l0-pca", "{c}", "--x", "{x}", "--lambda", "1", "--global", "{limit}"],
        "certify l1-pca global": ["certify", "l1-pca", "{c}", "--x", "{x}", "--lambda", "1", "--global", "{limit}"],
        "compare l1-pca": ["compare", "l1-pca", "{c}", *few, "--solvers", "obcd-r,ladmm,spm"],
        "compare pca": ["compare", "pca", "{c}", *few, "--solvers", "lbfgs,optm-qr"],
    }
    for problem in "l1 l21 nonneg mcp scad dc capped-l1 fused".split():
        lines[f"solve {problem}-pca"] = ["solve", f"{problem}-pca", "{a}", *few]
        lines[f"solve {problem}-pca of C"] = ["solve", f"{problem}-pca", "{c}", *few]
    for problem in "onmf dictionary robust-subspace".split():
        lines[f"solve {problem}"] = ["solve", problem, "{a}", *few]
    lines["solve ica"] = ["solve", "ica", "{tall}", *few]
    for start in "identity coordinates pca random partition varimax".split():
        lines[f"solve l1-pca from {start}"] = ["solve", "l1-pca", "{c}", *few, "--solver", "obcd", "--init", start]
    lines["solve hyperbolic-eig"] = ["solve", "hyperbolic-eig", "{a}", "--ridge", "1"]
    lines["compare hyperbolic-eig"] = ["compare", "hyperbolic-eig", "{a}", "--ridge", "1", "--solvers", "gs-jobcd,j-jobcd,j-admm,umcm,csdm"]
    lines["solve probe"] = ["solve", "probe", "{narrow}"]
    lines["solve nonlinear-eig"] = ["solve", "nonlinear-eig", f"laplace:{n}", *few]
    lines["solve nonlinear-eig of C"] = ["solve", "nonlinear-eig", "{c}", *few]
    lines["solve procrustes"] = ["solve", "procrustes", "{c}", *few, "--linear", "randn:1"]
    return lines


def made(folder, n):
    """Files of a size."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n // 2, n)) * np.linspace(2, 1, n)
    b = rng.standard_normal((2 * n, n)) * np.linspace(2, 1, n)
    q, _ = np.linalg.qr(rng.standard_normal((n, 5)))
    files = {"a": a, "x": q, "narrow": a[:200], "tall": b}
    for name, matrix in files.items():
        np.save(folder / f"{name}.npy", matrix)
    c = b.T @ b / len(b)
    np.save(folder / "c.npy", (c + c.T) / 2)
    return {name: str(folder / f"{name}.npy") for name in [*files, "c"]}


def line_of(program, words, files, folder, limit):
    """The command line with its files and limit."""
    given = [files.get(w.strip("{}"), w) if w.startswith("{") else w for w in words]
    given = [f"{limit:g}" if w == "{limit}" else w for w in given]
    if files["c"] in given:
        at = given.index(files["c"])
        given[at : at + 1] = ["--gram", files["c"]]
    own = [] if words[0] == "certify" else ["--time-limit", f"{limit:g}"]
    own += ["--threads", "1"]
    return [program, *given, *own, "--json", str(folder / "o.json")]


def ended(folder):
    """What the JSON of a run says of its end."""
    try:
        found = json.loads((folder / "o.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "no result"
    found = found[0] if isinstance(found, list) else found
    return str(found.get("status") or found.get("verdict") or "-").split(",")[0][:40]


def processor_seconds(pid):
    """Time of all processors that a process has had so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(line, folder, moment, kills=False):
    """Processor seconds of a process after a moment, at which it may get SIGTERM; its exit code and its end."""
    (folder / "o.json").unlink(missing_ok=True)
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    at = time.monotonic() + moment
    while process.poll() is None and time.monotonic() < at:
        time.sleep(0.005)
    before = after = None
    if process.returncode is None:
        before = after = processor_seconds(process.pid)
        if kills:
            process.send_signal(signal.SIGTERM)
    while process.poll() is None:
        after = processor_seconds(process.pid)
        if after - before > GIVEN_UP:
            process.kill()
            process.wait()
            return after - before, None, "ended by force"
        time.sleep(0.005)
    code = process.returncode
    return (after or 0) - (before or 0), code, ended(folder) if code in (0, 4, 130) else f"exit code {code}"


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("program")
    ask.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000])
    ask.add_argument("--limits", type=float, nargs="+", default=[0.5, 3.0])
    ask.add_argument("--signals", type=int, default=3)
    ask.add_argument("--only", default="")
    o = ask.parse_args()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["command", "variables", *(f"late_{limit:g}s" for limit in o.limits), "after_signal", "ended"])
    rng = random.Random(1)
    for n in o.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = made(folder, n)
            reading = {kind: timed([o.program, "data", "info", file], folder, 0)[0] for kind, file in files.items()}
            for what, words in commands(n).items():
                if o.only not in what:
                    continue
                read = max(seconds for kind, seconds in reading.items() if f"{{{kind}}}" in words) if any("{" in w for w in words) else 0
                late, ends = [], []
                for limit in o.limits:
                    line = line_of(o.program, words, files, folder, limit)
                    whole = 2 * limit if "--bound" in words else limit  # which has seconds of its own
                    if "--solvers" in words:
                        whole *= 1 + words[words.index("--solvers") + 1].count(",")  # each solver has the limit
                    seconds, _, end = timed(line, folder, whole)
                    late.append(max(0.0, seconds - read))
                    ends.append(end)
                slowest = 0.0
                for _ in range(o.signals):
                    line = line_of(o.program, words, files, folder, 1000)
                    slowest = max(slowest, timed(line, folder, rng.uniform(0.05, 5.0), kills=True)[0])
                seconds = [f"{v:.2f}" for v in [*late, slowest]]
                table.writerow([what, n, *seconds, "; ".join(dict.fromkeys(ends))])
                sys.stdout.flush()


if __name__ == "__main__":
    main()
