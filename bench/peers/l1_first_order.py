"""First-order methods for l1 beside public codes, from the same starts, on one thread.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python bench/peers/l1_first_order.py [--n 1000 2000] [--rank 4 10 20] [--mu 0.5 0.8]

needs orthopt (a release build), smopt and pystop (`pip install smopt pystop`). The problem is that of the literature: A = randn(50, n), columns
centred and of norm 1, min -tr(X'A'AX) + mu ||X||_1, X'X = I, from the leading right singular vectors and from a random start.

smopt and pystop have SLPG, here with gtol 1e-6 and 20000 iterations; f and its gradient are products of NumPy, h is its soft threshold. Their
X is put on the manifold by their own post-processing, and F is then computed here, for all codes alike.

seconds to F   processor seconds until F of the X then, made feasible (polar factor), is within 1e-6 of the code's last F. For public codes
               iterates are kept, each 3 % later than the one before, and F of them is computed after the run. For orthopt the processor seconds
               of the whole call, times the share of the run's seconds after which its trace is there.
all            processor seconds of the whole call, for orthopt with all that a call does: reading A, choosing the storage, the final checks
"""

from __future__ import annotations

import argparse
import time
from typing import Callable

import numpy as np
import orthopt
import pystop.manifold
import pystop.solver
import smopt

#: Relative distance from the last F.
GAP = 1e-6
#: How much later, in iterations, the next X is kept.
NEXT = 1.03


def data(n: int, seed: int) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((50, n))
    A -= A.mean(axis=0)
    return A / np.linalg.norm(A, axis=0)


class Run:
    """f for a public code, which keeps some of the X that it is asked about, off the clock."""

    def __init__(self, A: np.ndarray, mu: float):
        self.A, self.mu, self.paused, self.calls, self.due = A, mu, 0.0, 0, 0.0
        self.kept: list[tuple[float, np.ndarray]] = []
        self.begun = time.process_time()

    def now(self) -> float:
        return time.process_time() - self.begun - self.paused

    def __call__(self, X: np.ndarray) -> tuple[float, np.ndarray]:
        if self.calls >= self.due:
            seconds, self.due = self.now(), NEXT * self.calls
            self.kept.append((seconds, X.copy()))
            self.paused += self.now() - seconds
        self.calls += 1
        AX = self.A @ X
        return -float(np.sum(AX * AX)), -2.0 * (self.A.T @ AX)

    def prox(self, X: np.ndarray, eta: float) -> np.ndarray:
        return np.sign(X) * np.maximum(np.abs(X) - self.mu * eta, 0.0)

    def F(self, X: np.ndarray) -> float:
        """F of the nearest X with orthonormal columns."""
        U, _, V = np.linalg.svd(X, full_matrices=False)
        X = U @ V
        return -float(np.linalg.norm(self.A @ X) ** 2) + self.mu * float(np.abs(X).sum())


def by_smopt(run: Run, X0: np.ndarray) -> np.ndarray:
    manifold = smopt.Stiefel(*X0.shape)
    return smopt.slpg(run, manifold, xinit=X0.copy(), prox=run.prox, maxit=20000, gtol=1e-6, verbosity=0)[0]


def by_pystop(run: Run, X0: np.ndarray) -> np.ndarray:
    manifold = pystop.manifold.Stiefel(*X0.shape)
    return pystop.solver.SLPG(run, manifold, Xinit=X0.copy(), prox=run.prox, maxit=20000, gtol=1e-6, verbosity=0)[0]


def public(code: Callable[[Run, np.ndarray], np.ndarray], A: np.ndarray, mu: float, X0: np.ndarray) -> tuple[float, float, float]:
    """F at the end, seconds to it, seconds of all."""
    run = Run(A, mu)
    try:
        with np.errstate(all="ignore"):
            X = code(run, X0)
    except np.linalg.LinAlgError:  # its numbers have overflowed
        return float("nan"), float("nan"), run.now()
    whole = run.now()
    last = run.F(X)
    close = [seconds for seconds, at in run.kept if np.isfinite(at).all() and run.F(at) <= last + GAP * abs(last)]
    return last, min(close, default=whole), whole


def ours(solver: str, A: np.ndarray, mu: float, X0: np.ndarray) -> tuple[float, float, float]:
    """The same; our F is half of the literature's."""
    begun = time.process_time()
    s = orthopt.solve("l1-pca", A, X0.shape[1], mu / 2, solver=solver, init=X0, threads=1, restarts=0, seed=1, time_limit=60)
    whole = time.process_time() - begun
    last = 2 * s.objective
    curve = zip(s.trace.seconds, s.trace.objective)
    reached = min(t for t, f in curve if 2 * f <= last + GAP * abs(last))
    return last, whole * reached / s.seconds, whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--rank", type=int, nargs="+", default=[4, 10, 20])
    parser.add_argument("--mu", type=float, nargs="+", default=[0.5, 0.8])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print("| n r mu start | code | F | s to F | s all | F - lowest public | time / fastest public |")
    print("|---|---|---|---|---|---|---|")
    for n in args.n:
        A = data(n, args.seed)
        leading = np.linalg.svd(A, full_matrices=False)[2]
        for r in args.rank:
            random = np.linalg.qr(np.random.default_rng(args.seed + 1).standard_normal((n, r)))[0]
            for mu in args.mu:
                for start, X0 in (("pca", leading[:r].T.copy()), ("random", random)):
                    theirs = {"smopt slpg": public(by_smopt, A, mu, X0), "pystop SLPG": public(by_pystop, A, mu, X0)}
                    mine = {name: ours(name, A, mu, X0) for name in ("irpg", "slpg", "amanpg")}
                    finite = [v for v in theirs.values() if np.isfinite(v[0])]
                    lowest = min((v[0] for v in finite), default=np.inf)
                    fastest = min((v[1] for v in finite), default=np.inf)
                    for name, (F, seconds, whole) in {**theirs, **mine}.items():
                        cells = [f"{n} {r} {mu:g} {start}", name, f"{F:.6f}", f"{seconds:.4f}", f"{whole:.3f}"]
                        cells += [f"{F - lowest:+.1e}", f"{seconds / fastest:.2f}"]
                        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
