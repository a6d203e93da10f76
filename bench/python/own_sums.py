"""A mean of N functions over X'JX = J: passes over all of them until F is reached, and until the run ends by itself.

python bench/python/own_sums.py > bench/results/own_sums.csv
"""

import time

import numpy as np
import orthopt
import scipy.linalg

SIZES = [(100, 6), (1_000, 6), (1_000, 20), (10_000, 6), (100_000, 6), (1_000_000, 6)]
SOLVERS = ["j-lbfgs", "vr-j-jobcd"]
#: F within so much of the lowest F of both.
NEAR = 1e-6
LIMIT = 40.0


def fit(samples, n):
    """mean_i sum_k sqrt(1 + (x_i X - y_i)_k^2) - 1 with y_i = x_i L + noise, as a mean and in parts; the evaluations of single terms."""
    rng = np.random.default_rng(1)
    A, K = rng.standard_normal((samples, n)), 0.3 * rng.standard_normal((n, n))
    J = np.diag(np.r_[np.ones(n // 2), -np.ones(n - n // 2)])
    B = A @ scipy.linalg.expm(J @ (K - K.T)) + 0.3 * rng.standard_normal((samples, n))
    used = [0]

    def part(X, which=slice(None)):
        a, b = A[which], B[which]
        used[0] += len(a)
        E = a @ X - b
        h = np.sqrt(1 + E**2)
        return np.mean(np.sum(h - 1, axis=1)), a.T @ (E / h) / len(a)

    return part, used


def run(solver, samples, n):
    part, used = fit(samples, n)
    curve, begin = [], time.process_time()
    sums = {"sample": part, "components": samples} if solver == "vr-j-jobcd" else {}
    found = orthopt.minimize(
        part,
        np.eye(n),
        constraint="j-orthogonal",
        signature=n // 2,
        solver=solver,
        seed=1,
        time_limit=LIMIT,
        callback=lambda p: curve.append((p.objective, used[0] / samples, time.process_time() - begin)),
        **sums,
    )
    curve.append((found.objective, used[0] / samples, time.process_time() - begin))
    return found, curve


print("N,variables,solver,passes_to_F,seconds_to_F,passes,seconds,status,F")
for samples, n in SIZES:
    runs = [(solver, *run(solver, samples, n)) for solver in SOLVERS]
    lowest = min(found.objective for _, found, _ in runs)
    for solver, found, curve in runs:
        reached = next(((f"{p:.1f}", f"{s:.2f}") for f, p, s in curve if f <= lowest + NEAR * abs(lowest)), ("", ""))
        end = f"{curve[-1][1]:.1f},{curve[-1][2]:.2f},{found.status},{found.objective:.9f}"
        print(f"{samples},{n},{solver},{','.join(reached)},{end}", flush=True)
