"""Checks a bound with NumPy alone, from the multipliers that ``--save-dual`` or ``dual=True`` keep.

``check_relaxation`` is for the relaxation of problems with a weight, X >= 0 or plain PCA (docs/bounds.md), ``check_limits``
for limits of nonzeros or variables (docs/bounds-limits.md, section 7). C, r and the limits are those of the problem as the
reader states it: only the multipliers are taken from the file.

>>> import orthopt
>>> A = np.random.default_rng(0).normal(size=(40, 12))
>>> C = A.T @ A
>>> def agrees(problem, own, **stated):
...     b = orthopt.bound(problem, A, rank=3, **own, nodes=0, dual=True)
...     return bool(np.isclose(check_relaxation(b.dual, C, 3, **stated), b.relaxation, rtol=1e-9))
>>> agrees("l0-pca", {"lam": 2.5}, lam=2.5), agrees("nonneg-pca", {}, nonnegative=True)
(True, True)
>>> agrees("l0-pca", {"total_nonzeros": 9, "maximise": "variance"}, nonzeros=9), agrees("l0-pca", {"variables": 6, "lam": 1.0}, variables=6, lam=1.0)
(True, True)
>>> agrees("l1-pca", {"lam": 2.5}, l1=True, lam=2.5)
True
>>> b = orthopt.bound("l0-pca", A, rank=3, variables=6, nodes=0, dual=True)
>>> check_relaxation(b.dual, C, 3, nonzeros=6)  # as if XX' of six variables could not exceed 6
Traceback (most recent call last):
    ...
AssertionError: another problem
>>> b = orthopt.bound("l0-pca", A, rank=2, lam=2.5, nodes=0, dual=True)
>>> check_relaxation(b.dual, C, 3, lam=2.5)  # a dual of two components
Traceback (most recent call last):
    ...
AssertionError: another number of components
>>> check_relaxation(b.dual, 1.1 * C, 2, lam=2.5)
Traceback (most recent call last):
    ...
AssertionError: another C

>>> A = np.random.default_rng(0).normal(size=(30, 8))
>>> C = A.T @ A
>>> def agrees(r, own, problem="l0-pca", **stated):
...     b = orthopt.bound(problem, A, rank=r, maximise="variance", **own, dual=True)
...     return bool(np.isclose(check_limits(b.dual, C, r, **stated), b.dual["root"], rtol=1e-9) and b.dual["root"] <= b.objective)
>>> agrees(1, {"nonzeros": 3}, nonzeros=[3]), agrees(2, {"nonzeros": [3, 2]}, nonzeros=[3, 2])
(True, True)
>>> agrees(2, {"total_nonzeros": 5}, total=5), agrees(2, {"variables": 4}, variables=4)
(True, True)
>>> agrees(2, {"nonzeros": 3, "lam": 0.5}, nonzeros=[3, 3], lam=0.5)
True
>>> agrees(2, {"nonzeros": 3}, problem="nonneg-pca", nonzeros=[3, 3], nonnegative=True)
True
>>> b = orthopt.bound("l0-pca", A, rank=1, nonzeros=3, dual=True)
>>> check_limits({**b.dual, "part_U": 2 * b.dual["part_U"]}, C, 1, nonzeros=[3])
Traceback (most recent call last):
    ...
AssertionError: more is claimed than the multipliers prove
>>> check_limits(b.dual, C, 1, nonzeros=[2])
Traceback (most recent call last):
    ...
AssertionError: another problem
>>> b = orthopt.bound("l0-pca", A, rank=2, variables=4, dual=True)
>>> check_limits(b.dual, C, 3, variables=4)  # a dual of two components
Traceback (most recent call last):
    ...
AssertionError: another number of components
>>> check_limits(b.dual, np.diag(C.diagonal()), 2, variables=4)
Traceback (most recent call last):
    ...
AssertionError: another C
"""

import itertools

import numpy as np


def check_relaxation(dual, C, r, lam=0.0, nonzeros=None, variables=None, nonnegative=False, l1=False):
    """The lower bound of F that Z proves for this problem; an AssertionError where it does not."""
    assert dual["rank"] == r, "another number of components"
    assert C.shape == dual["C"].shape and np.allclose(C, dual["C"], 0, 1e-12 * np.abs(C).max()), "another C"
    Z, F = dual["Z"], float(dual["objective"]) if l1 else np.inf
    top = lambda M: np.linalg.eigvalsh(M)[-r:].sum()
    weight, K, k = lam, np.nan if nonzeros is None else nonzeros, 0.0
    if variables is not None:
        weight, K = lam / np.sqrt(r), variables * np.sqrt(r)
    if l1:
        tau = np.fmin(np.sqrt(len(C)), max((top(C / 2) + F) / lam - r + 1, 1.0))
        weight, k = lam / (tau + 1), r * lam * tau / (tau + 1)
    assert np.array_equal(C, C.T) and np.array_equal(Z, Z.T)
    assert np.allclose([weight, K], [dual["lam"], dual["K"]], 1e-6, 0, equal_nan=True), "another problem"
    mu = 0.0 if nonnegative else max(np.abs(Z).max() - weight, 0.0)
    assert Z.max() <= 0 if nonnegative else mu == 0 or K == K, "Z is too large"
    return np.fmin(k - top(C / 2 - Z) - (mu * K if mu else 0.0), F)


def check_limits(dual, C, r, nonzeros=None, total=None, variables=None, lam=0.0, nonnegative=False):
    """The lower bound of F that the multipliers prove for this problem; an AssertionError where they do not."""
    assert dual["rank"] == r, "another number of components"
    assert C.shape == dual["C"].shape and np.allclose(C, dual["C"], 0, 1e-12 * np.abs(C).max()), "another C"
    counts = np.atleast_2d(dual["counts"]).astype(int)
    (ways, parts), n, most = counts.shape, len(C), -np.inf
    stated = [list(nonzeros) if variables is None and total is None else [variables]]
    if total is not None:
        stated = [c for c in itertools.combinations_with_replacement(range(1, n + 1), r) if sum(c) == total]
    assert sorted(map(sorted, counts.tolist())) == sorted(map(sorted, stated)), "another problem"
    m, sign = r // parts, (lambda M: np.maximum(M, 0)) if nonnegative else np.abs
    for way, part in itertools.product(range(ways), range(parts)):
        k, at = counts[way, part], way * parts + part
        Z, U = (dual[name][at * n : at * n + n] for name in ("part_Z", "part_U"))
        W, pi, d, a = dual["W"][way * n : way * n + n], dual["pi"][way], dual["part_d"][at], dual["part_a"][at]
        assert all(np.array_equal(M, M.T) for M in (C, W, Z)) and d.min() > 0 and a.min() >= 0
        assert (sign(Z) <= np.outer(a, a) * (1 + 1e-14)).all(), "Z is too large"
        assert (pi >= 0).all() and (pi <= W.diagonal()).all(), "pi is not between 0 and W"
        if part == 0:
            bound = (W.diagonal() - pi).sum() + n * max(-np.linalg.eigvalsh(W)[0], 0.0)
        V = sign(U) ** 2
        N = V.diagonal() + np.sort(V - np.diag(V.diagonal()))[:, n - k + 1 :].sum(axis=1)
        kappa = (m + np.sqrt(m * (k - 1) * (k - m))) / k
        costs = np.maximum(kappa * a**2 + N / (4 * d) + pi - lam, 0)
        bound += np.linalg.eigvalsh(C / 2 - W - Z - (U + U.T) / 2 + np.diag(d))[-m:].sum() + np.sort(costs)[n - k :].sum()
        most = max(most, bound) if part == parts - 1 else most
    assert -most >= dual["root"] - 1e-10 * abs(dual["root"]), "more is claimed than the multipliers prove"
    return -most
