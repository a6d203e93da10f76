"""Microseconds per evaluation of ``orthopt.minimize`` with a trivial NumPy callable, by size.

    python bench/python/overhead.py [REPEATS]

Everything is counted: the callable, the step of the solver (rsubgrad, the cheapest), and the way
between them. The last column is the callable alone.
"""

import sys
import time

import numpy as np

import orthopt

repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
print("| n x r | microseconds per evaluation | of which the callable |\n|---|---|---|")
for n, r in [(10, 2), (30, 3), (100, 5), (1000, 5)]:
    gradient = np.zeros((n, r))
    gradient[0, 0] = 1.0

    def fun(x, gradient=gradient):
        return x[0, 0], gradient

    best = np.inf
    for _ in range(repeats):
        s = orthopt.minimize(fun, (n, r), solver="rsubgrad", tol=0.0, max_iters=5000, lipschitz=1.0)
        best = min(best, s.seconds / s.settings["evaluations"])
    x = np.zeros((n, r))
    began = time.perf_counter()
    for _ in range(100_000):
        fun(x)
    alone = (time.perf_counter() - began) / 100_000
    print(f"| {n} x {r} | {best * 1e6:.2f} | {alone * 1e6:.2f} |")
