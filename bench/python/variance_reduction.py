"""VR-J-JOBCD against J-JOBCD on structural probes, and what decides between them.

    python bench/python/variance_reduction.py counts orthopt 200:10 1000:20 > counts.csv
    python bench/python/variance_reduction.py smooth 200:10 1000:20 10000:20 > smoothness.csv

`counts` runs both solvers from the same random start until they have used the same number of component gradients, or of component gradients and
values, and prints F. A value of f costs J-JOBCD as much as N components; VR-J-JOBCD asks for one at its start and at its end.

`smooth` needs NumPy. It moves X as far as a round does and prints, for the components f_i and their mean f, rho = sqrt(mean |dg_i - dg|^2) / |dg|, dg the
change of the gradient. PAGE with b' of N components has this share of |dg| as its error per round over sqrt(b'), and keeps it for 1/p rounds.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys

SEEDS = (1, 2, 3)
COUNTED = ("gradients", "evaluations")
SOLVERS = ("j-jobcd", "vr-j-jobcd")


def budget(rows: int) -> float:
    """Evaluations in units of N."""
    return 100 if rows < 1000 else 30 if rows < 3000 else 10


def solve(command: str, rows: int, columns: int, seed: int, solver: str, rounds: int) -> tuple[float, float, float]:
    """F, component gradients and component values over N after so many rounds."""
    words = [command, "solve", "probe", f"randn:{rows}:{columns}:{seed}", "--signature", str(columns // 2)]
    words += ["--solver", solver, "--init", "random", "--restarts", "0", "--seed", str(seed), "--threads", "1"]
    words += ["--max-iters", str(rounds), "--json", "-", "--quiet"]
    told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    counts = told["settings"]
    return told["objective"], counts["component_gradients"] / rows, counts["values"]


def used(what: str, gradients: float, values: float) -> float:
    return gradients + (values if what == "evaluations" else 0)


def counts(command: str, cells: list[str]) -> None:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["m", "columns", "seed", "counted", "used_N", "method", "F", "rounds"])
    for cell in cells:
        rows, columns = map(int, cell.split(":"))
        most = budget(rows)
        for seed in SEEDS if rows < 3000 else SEEDS[:1]:
            for what in COUNTED:
                for solver in SOLVERS:
                    rounds = 10 if solver == "j-jobcd" else 60
                    for _ in range(3):  # the rounds that use the budget up
                        objective, gradients, values = solve(command, rows, columns, seed, solver, rounds)
                        spent = used(what, gradients, values)
                        if abs(spent - most) <= 0.03 * most:
                            break
                        rounds = max(1, round(rounds * most / spent))
                    out.writerow([rows, columns, seed, what, f"{spent:.1f}", solver, f"{objective:.4f}", rounds])
                    sys.stdout.flush()


def smooth(cells: list[str]) -> None:
    import numpy as np

    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["m", "columns", "seed", "length", "rho", "rho_over_sqrt_batch", "error_of_a_period"])
    for cell in cells:
        rows, columns = map(int, cell.split(":"))
        p = columns // 2
        sign = np.r_[np.ones(p), -np.ones(columns - p)]
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            data = rng.standard_normal((rows, columns))
            picked = rng.choice(rows, min(rows, 400), replace=False)  # components that are looked at

            def gradients(x: np.ndarray) -> np.ndarray:
                """Gradients in X of so many components, one a row."""
                moved = data @ x
                s, t = moved[:, :p], moved[:, p:]
                size = np.linalg.norm(t, axis=1)
                height = np.sqrt(1 + (s**2).sum(1))
                points = np.c_[s, t * (height / size)[:, None]]
                result = np.empty((len(picked), columns * columns))
                for row, i in enumerate(picked):
                    k = points @ (sign * points[i])
                    far = np.abs(k) >= 1
                    distance = np.where(far, np.arccosh(np.maximum(np.abs(k), 1)), np.arccos(np.minimum(np.abs(k), 1)))
                    wanted = np.linalg.norm(data - data[i], axis=1)
                    slope = np.where(far, 1, -1) * np.sign(k) / np.sqrt(np.maximum(np.abs(k * k - 1), 1e-10))
                    weight = np.where(np.arange(rows) == i, 0, -2 * (wanted - distance) * slope) / rows
                    # d<q_i, q_j>_J with respect to the points, back through phi
                    back = np.zeros_like(points)
                    back += weight[:, None] * (sign * points[i])
                    back[i] += sign * (weight @ points)
                    bs, bt = back[:, :p], back[:, p:]
                    along = (bt * t).sum(1) / size
                    ds = bs + s * (along / height)[:, None]
                    dt = bt * (height / size)[:, None] - t * (along * height / size**2)[:, None]
                    result[row] = (data.T @ np.c_[ds, dt]).ravel()
                return result

            x = np.eye(columns)
            base = gradients(x)
            for length in (1e-1, 1e-2, 1e-3, 1e-4):
                order = rng.permutation(columns)
                moved = x.copy()
                for a, b in zip(order[::2], order[1::2]):
                    mu = length * rng.standard_normal()
                    mixed = sign[a] != sign[b]
                    c, s = (math.cosh(mu), math.sinh(mu)) if mixed else (math.cos(mu), math.sin(mu))
                    moved[a], moved[b] = c * x[a] + s * x[b], (s if mixed else -s) * x[a] + c * x[b]
                change = gradients(moved) - base
                mean = change.mean(0)
                rho = math.sqrt(((change - mean) ** 2).sum(1).mean()) / np.linalg.norm(mean)
                batch = round(math.sqrt(rows))
                period = (rows + batch) / batch  # 1/p
                share = rho / math.sqrt(batch)
                out.writerow([rows, columns, seed, length, f"{rho:.2f}", f"{share:.2f}", f"{share * math.sqrt(period):.2f}"])
                sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1] == "counts":
        counts(sys.argv[2], sys.argv[3:])
    else:
        smooth(sys.argv[2:])
