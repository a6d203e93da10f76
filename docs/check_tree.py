"""Checks a proof of variance, lambda or X >= 0 that has a tree, with NumPy alone (docs/bounds-limits.md, "A proof in a file").

C, r and the limits are those of the problem as the reader states it.
"""

import itertools
import math
import numpy as np

on, top = (lambda M, S: M[np.ix_(list(S), list(S))]), (lambda M, m: np.linalg.eigvalsh(M)[-m:].sum())

def step(parts, s, C, lam, nonnegative, m, cut):
    """The bound of multipliers, and the parts with what these decide."""
    exact, sign = lam > 0 or nonnegative, (lambda M: np.maximum(M, 0)) if nonnegative else np.abs
    rows, used = (sorted(set().union(*lists)) for lists in ([w["rows"] for w in s["parts"]], [R for _, R, _ in parts]))
    at, now = np.searchsorted(rows, used), []
    W, pi = (on(np.array(s["W"]), at) if s["W"] else np.zeros((len(at),) * 2)), (np.array(s["pi"])[at] if s["pi"] else np.zeros(len(at)))
    assert np.array_equal(W, W.T) and (pi >= 0).all() and (pi <= W.diagonal()).all(), "pi is not between 0 and W"
    bound = (W.diagonal() - pi).sum() + len(at) * max(-np.linalg.eigvalsh(W)[0], 0)
    for (k, R, I), w in zip(parts, s["parts"], strict=True):
        at, here, must, q = np.searchsorted(w["rows"], sorted(R)), np.searchsorted(used, sorted(R)), np.isin(sorted(R), list(I)), k - len(I)
        assert [w["rows"][a] for a in at] == sorted(R), "a multiplier has not all rows"
        Z, U = (on(np.array(w[x]), at) if w[x] else np.zeros((len(at),) * 2) for x in "ZU")
        d, a = (np.array(w[x])[at] if w[x] else np.zeros(len(at)) for x in "da")
        assert np.array_equal(Z, Z.T) and min([*d, *a]) >= 0 and (sign(Z) <= np.outer(a, a) * (1 + 1e-14)).all(), "Z is too large"
        V = [np.where(must | (np.arange(len(u)) == i), np.inf, sign(u) ** 2) for i, u in enumerate(U)]  # what is taken comes first
        V = [sign(u)[np.argsort(-v)[: max(k, np.isinf(v).sum())]] ** 2 for u, v in zip(U, V)]
        N, kappa = np.array([v.sum() for v in V]), (m + np.sqrt(m * (k - 1) * (k - m))) / k
        assert (d[N > 0] > 0).all(), "d is not positive"
        c = kappa * a**2 + N / np.where(N > 0, 4 * d, 1) + pi[here] - lam
        free = sorted(np.maximum(c[~must], 0))[::-1] + [0.0] * (k + 1)
        bound += top(on(C, sorted(R)) / 2 - on(W, here) - Z - (U + U.T) / 2 + np.diag(d), m) + c[must].sum() + sum(free[:q])
        now.append((k, R, I, must, c, free[q - 1], free[q], q > 0 and (exact or q < len(R) - len(I))))
    leaves = lambda must, c, last, following: ~must & (c < last) & (bound - last + c <= cut)
    enters = lambda must, c, last, following: (c >= last) & (c > 0) & (bound - c + following <= cut)
    taken = lambda R, which: set(np.array(sorted(R))[which].tolist())
    return bound, [(k, R - taken(R, leaves(*x)), I | taken(R, enters(*x))) if any_ else (k, R, I) for k, R, I, *x, any_ in now]

def check(file, C, r, lam=0.0, nonnegative=False, **limit):
    """The claim of a proof of variance by a tree; an AssertionError where the file does not prove it of this problem."""
    p, n, X, said = file["certificate"], len(C), np.array(file["X"]), file["problem"]
    stated = [r, lam, nonnegative, {name.replace("_", "-"): k for name, k in limit.items()} or None, "variance"]
    assert stated == [said[name] for name in ("rank", "lambda", "nonnegative", "limits", "measure")] and p["kind"] == "tree", "another problem"
    sums = [np.trace(C), np.linalg.norm(C), np.cos(np.arange(n) + 1.0) @ C @ np.cos(np.arange(n) + 1.0)]
    assert np.allclose(sums, [file["table"][s] for s in ("trace", "norm", "cosines")], 0, 1e-10 * sums[1]), "another table"
    totals = [c for c in itertools.combinations_with_replacement(range(1, n + 1), r) if sum(c) == limit.get("total_nonzeros")]
    ways = totals or [limit.get("nonzeros") or ([limit["variables"]] if "variables" in limit else [n] * r)]
    assert sorted(sorted(w["counts"]) for w in p["ways"]) == sorted(map(sorted, ways)), "another problem"
    m, rows_of = r // len(ways[0]), (lambda x: np.flatnonzero(x).size)
    F, used = -np.trace(X.T @ C @ X) / 2, [rows_of(X.any(axis=1))] if "variables" in limit else [rows_of(x) for x in X.T]
    fits = sum(used) <= sum(ways[0]) if totals else all(a <= b for a, b in zip(used, ways[0]))
    assert abs(X.T @ X - np.eye(r)).max() < 1e-12 and fits and (X.min() >= 0 or not nonnegative), "X is not allowed"
    F, lam, C, cut = F + lam * sum(used), lam / p["unit"], C / p["unit"], p["cutoff"] + 4e-10 * abs(p["cutoff"])
    exact = lam > 0 or nonnegative
    def settled(parts):  # the parts (k, R, I) with all conclusions, or None where no X is left
        for part in (parts := [list(part) for part in parts]) * n:
            others = set().union(*(o[2] for o in parts if o is not part)) if nonnegative else set()
            k, R, I = part[0], part[1] - others, part[2]
            if I & others or len(I) > k or len(R) < (m if exact else k):
                return None
            part[1:] = (I, I) if len(I) == k else (R, R) if len(R) == (m if exact else k) else (R, I)
        known = [R for _, R, I in parts if R == I]
        one = (exact or sum(k for k, _, _ in parts) <= n) and any(len(S & T) == 1 for S, T in itertools.combinations(known, 2))
        return None if one else parts
    def simple(k, R, I):  # a part by itself: its sets one by one, where they are few
        q = min(k, len(R)) - len(I)
        sizes = range(max(m - len(I), 0), q + 1) if lam > 0 else [q]
        few = sum(math.comb(len(R - I), s) for s in sizes) <= 300
        sets = [I | set(S) for s in sizes for S in itertools.combinations(R - I, s)] if few else [R]
        return max(top(on(C, S) / 2, m) - lam * (len(S) if few else max(len(I), m)) for S in sets)
    def left(at, parts, most):  # the largest bound of what stays open
        node = p["nodes"][at]
        for s in [None, *node["steps"]]:
            bound, parts = step(parts, s, C, lam, nonnegative, m, cut) if s else (most, parts)
            if min(most, bound) <= cut or (parts := settled(parts)) is None:
                return cut
            most = min(most, bound, sum(simple(*part) for part in parts))
            if most <= cut:
                return cut
        if s := node.get("split"):
            k, js, both = parts[(j := s["columns"][0])][0], s["columns"], set().union(*(parts[j][1] for j in s["columns"]))
            assert s["inside"] > at < s["outside"] and all(parts[i][0] == k for i in js) and 0 <= s["row"] < n, "no split"
            parts = [(k, both, set()) if i in js and len(js) > 1 else part for i, part in enumerate(parts)]  # alike again
            inside = [(K, R, I | {s["row"]}) if i == j else (K, R, I) for i, (K, R, I) in enumerate(parts)]
            outside = [(K, R - {s["row"]}, I) if i in js else (K, R, I) for i, (K, R, I) in enumerate(parts)]
            halves = [(s["inside"], inside)] * (s["row"] in parts[j][1]) + [(s["outside"], outside)] * (s["row"] not in parts[j][2])
            return max(left(*half, most) for half in halves)
        return most
    start = lambda counts: [(k, set(range(n)), set()) for k in counts]
    bound = -max(left(way["node"], start(way["counts"]), np.inf) for way in p["ways"]) * p["unit"]
    assert np.allclose([F, bound], [file["objective"], file["bound"]], 1e-8, 1e-12 * sums[1]), "another claim"
    assert (file["proof"] == "optimal") == (F - bound <= 1e-9 * abs(F)), "another claim"
    return file["claim"]
