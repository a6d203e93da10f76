"""Which solver for an l1 problem? The same problem and start for each."""

import numpy as np

import orthopt

rng = np.random.default_rng(0)
truth = np.linalg.qr(rng.normal(size=(100, 3)) * (rng.random((100, 3)) < 0.1))[0]
X = rng.normal(size=(200, 3)) * [6, 5, 4] @ truth.T + rng.normal(size=(200, 100))

comparison = orthopt.compare(
    "l1-pca", X, rank=3, lam=60.0, center=True, init="pca",
    solvers=["obcd", "manpg-ada", "irpg", "ladmm", "manpg-ada+obcd"], time_limit=1.0, certify=False,
)
print(comparison)
best = comparison.best
print(f"best: {best.solver}, {best.message}")
