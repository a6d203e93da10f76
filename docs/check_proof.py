"""Checks a proof of adjusted or polar variance with NumPy alone: check(json.load(open("proof.json")), C, 2, "adjusted", nonzeros=[4, 4]).

The fields of the file and the theorems are in bounds-adjusted.md, section 7. Eigenvalues of NumPy are right to about 1e-14
and not proved to be so; those of `orthopt check-proof` are.
"""

import itertools
import numpy as np

top, block = (lambda T: np.linalg.eigvalsh(T)[..., -1] + 1e-11), (lambda T, S: T[S[:, :, None], S[:, None, :]])

def bounded(C, sets, leaves, head, own, cutoff):
    """A bound of what X on known supports has: the largest over all orders of the later columns, if there is an N."""
    holds = any(cell.get("multipliers", {}).get("n") for leaf in leaves for cell in leaf["cells"])
    orders = [sets[:head] + list(o) for o in itertools.permutations(sets[head:])] if holds else [sets]
    found = [[leaf for leaf in leaves if leaf["supports"] == order][:1] for order in orders]
    return max(of_order(C, leaf[0], head, own, cutoff) for leaf in found) if all(found) else np.inf

def of_order(C, leaf, head, own, cutoff):
    rows, cut, cells, V = np.unique(np.concatenate(leaf["supports"])), leaf["cut"], leaf["cells"], np.array(leaf["axes"])
    A, P = np.linalg.cholesky(C[np.ix_(rows, rows)]).T, [np.searchsorted(rows, S) for S in leaf["supports"]]
    parts, m, r, square = [A[:, S] for S in P], len(rows), len(P), lambda L: np.array(L) @ np.array(L).T
    shared, most = [i for i in range(m) if sum(i in S for S in P) > 1], np.array([top(a.T @ a) for a in parts])
    caps = np.minimum(most, most[0]) * (1 + 1e-10) if own else most * (1 + 1e-10)
    least, values = np.maximum(cut - caps.sum() + caps, 0) * (1 - 1e-10), ((parts[0] @ V) ** 2).sum(axis=0)
    assert cut <= cutoff * (1 + 1e-12) and abs(V.T @ V - np.eye(len(V))).max() < 1e-10 and values.max() <= values[0] * (1 + 1e-10)
    assert abs(parts[0].T @ parts[0] @ V - V * values).max() < 1e-10 * values[0], "no eigenvectors"
    ranges = [(max(least[0], cut / r if own else 0), caps[0]), *zip(np.sqrt(least), np.sqrt(caps))]
    if any(cell.get("multipliers", {}).get("mu") for cell in cells):  # ratios of x_1 in its axes to the first of them
        assert head and ranges[0][0] > values[1:].max()
        reach = np.sqrt((ranges[0][1] - ranges[0][0]) / (ranges[0][0] - values[1:].max())) * 1.0001 + 1e-9
        ranges += [(-reach, reach)] * (len(values) - 1)
    def over(at, ranges):  # a bound over a box, of its own multipliers or of its parts
        if ratios := ranges[r + 1 :]:
            near, far = sum(0 if l * h <= 0 else min(l * l, h * h) for l, h in ratios), sum(max(l * l, h * h) for l, h in ratios)
            low, high = [(values[0] + v * s) / (1 + s) for v, s in ((values[1:].min(), far), (values[1:].max(), near))]
            ranges = [(max(ranges[0][0], low - 1e-10 * values[0]), min(ranges[0][1], high + 1e-10 * values[0])), *ranges[1:]]
        if any(low > high for low, high in ranges[1 - head : 1] + ranges[1 + head : r + 1]):
            return -np.inf  # nothing is in the box
        given, s = cells[at].get("multipliers"), cells[at].get("split")
        bound = of_multipliers(given, ranges) if given else np.inf
        if s:
            assert s["below"] > at < s["above"], "no split"
            k, (low, high) = s["range"], ranges[s["range"]]
            halves = (s["below"], (low, min(s["at"], high))), (s["above"], (max(s["at"], low), high))
            bound = min(bound, max(over(part, [*ranges[:k], half, *ranges[k + 1 :]]) for part, half in halves))
        return bound
    def of_multipliers(given, ranges):
        M, Ns, W = square(A @ given["m"]), [square(A @ N) for N in given["n"]], np.zeros((m, m))
        W[np.ix_(shared, shared)] = square(given["w"]) if shared else 0
        assert min([given["kappa"], *given["mu"]]) >= 0 and len(Ns) <= max(r - 2, 0) * head
        bound = np.trace(M) + np.trace(W) + sum(map(np.trace, Ns))
        if head:
            (alpha, beta), S, a = ranges[0], P[0], parts[0]
            T = (1 + given["kappa"]) * a.T @ a - a.T @ M @ a / beta - W[np.ix_(S, S)]
            for k, ((low, high), mu) in enumerate(zip(ranges[r + 1 :], given["mu"])):
                form = np.outer(V[:, k + 1] - low * V[:, 0], high * V[:, 0] - V[:, k + 1])
                T += mu * (form + form.T) / max(high - low, 1e-9)
            bound += top(T) - given["kappa"] * max(alpha, 0)
        for j in range(head, r):
            a, (low, high), Mj, N = parts[j], ranges[j + 1], M + sum(Ns[: max(j - 1, 0)]), (Ns[j - 1 :] if j > 0 else [])[:1]
            taken, c, delta = W[np.ix_(P[j], P[j])] + sum(a.T @ N @ a / most[j] for N in N), (low + high) / 2, given["delta"][j]
            T = [[delta * np.eye(m) - Mj, c * a], [c * a.T, -taken - delta * np.eye(len(P[j]))]]
            bound += 2 * top(np.block(T)) - low * high if shared or N else top(a @ a.T - Mj)
        return bound
    return over(0, ranges)

def check(file, C, r, measure, nonzeros=None, total=None):
    """The claim of a proof of adjusted or polar variance; an AssertionError where the file does not prove it of this problem."""
    p, n, head, X = file["certificate"], len(C), int(measure == "adjusted"), np.array(file["X"])
    limits = {"nonzeros": nonzeros} if total is None else {"total-nonzeros": total}
    stated = {"name": "l0-pca", "measure": measure, "rank": r, "lambda": 0.0, "nonnegative": False, "limits": limits, "max_nonzeros": None}
    sums = [np.trace(C), np.linalg.norm(C), np.cos(np.arange(n) + 1.0) @ C @ np.cos(np.arange(n) + 1.0)]
    assert file["problem"] == stated and p["kind"] == "supports", "another problem"
    assert np.allclose(sums, [file["table"][s] for s in ("trace", "norm", "cosines")], 0, 1e-10 * sums[1]), "another table"
    ways = [c for c in itertools.product(range(1, n + 1), repeat=r) if sum(c) == total and list(c[head:]) == sorted(c[head:])[::-1]]
    assert sorted(w["counts"] for w in p["ways"]) == sorted(map(list, ways or [nonzeros])), "another problem"
    own, S, used = head and (total or len(set(nonzeros)) == 1), X.T @ C @ X, (X != 0).sum(axis=0)
    S = S[np.ix_(*[np.argsort(-S.diagonal(), kind="stable")] * 2)] if own else S
    w, v = np.linalg.eigh(S)
    F = -(np.linalg.cholesky(S).diagonal() ** 2 if head else ((v * np.sqrt(w)) @ v.T).diagonal() ** 2).sum() / 2
    assert abs(X.T @ X - np.eye(r)).max() < 1e-12 and (used.sum() <= total if total else (used <= nonzeros).all()), "X is not allowed"
    C, cut = C / p["unit"] + 1e-12 * sums[0] / p["unit"] * np.eye(n), p["cutoff"] * (1 + 2e-7)
    given = [(B, C @ B, B.T @ C @ B) for B in map(np.array, p["multipliers"])]
    def below(B, Y, N, j, S, t):  # on which supports v of component j is at most t
        if j < head:
            return top(block(C, S) - block(Y @ Y.T, S) / top(block(C, S))[:, None, None]) <= t
        G = np.linalg.solve(max(t, 1e-300) * np.eye(len(N)) + N, Y.T)
        return (t > 0) & (top(block((np.eye(n) - B @ G).T @ C @ (np.eye(n) - B @ G) + t * G.T @ G, S)) <= t)
    def apart(lists):  # supports that share one row with a known one leave; false where a list is empty
        for a, b in itertools.permutations(range(r), 2):
            if len(lists[a]) == 1 and sum(S.shape[1] for S in lists) <= n:
                lists[b] = lists[b][np.isin(lists[b], lists[a]).sum(axis=1) != 1]
        return all(map(len, lists))
    def left(at, lists, most):  # bounds and supports of what the multipliers of a node leave above the cutoff
        for m, v in [(given[s["multiplier"]], np.array(s["v"])) for s in p["nodes"][at]["steps"]]:
            if not apart(lists):
                return
            v += 1e-8 * np.maximum(abs(v), 1)
            assert all(below(*m, j, lists[j], v[j]).all() for j in range(r)), "a multiplier does not prove what is said of it"
            bound = np.trace(m[2]) + v.sum()
            if bound <= cut:
                return
            most, lists = min(most, bound), [S[~below(*m, j, S, cut - bound + v[j])] for j, S in enumerate(lists)]
        if not apart(lists):
            return
        if s := p["nodes"][at].get("split"):
            S, js = lists[s["columns"][0]], s["columns"]
            assert s["inside"] > at < s["outside"] and all(np.array_equal(lists[j], S) and (j >= head or js == [0]) for j in js), "no split"
            inside = (S == s["row"]).any(axis=1)
            yield from left(s["inside"], [S[inside] if j == js[0] else L for j, L in enumerate(lists)], most)
            yield from left(s["outside"], [S[~inside] if j in js else L for j, L in enumerate(lists)], most)
            return
        known = [S[0].tolist() for S in lists] if all(len(S) == 1 for S in lists) else None
        most = min(most, bounded(C, known, p["nodes"][at].get("leaves", []), head, own, p["cutoff"])) if known else most
        if most > cut:
            yield most, known and sorted(known)
    every = lambda j, k: (S := np.array(list(itertools.combinations(range(n), k))))[(top(block(C, S)) > cut / r) | (j >= head) | (not own)]
    left_open = [found for way in p["ways"] for found in left(way["node"], [every(*jk) for jk in enumerate(way["counts"])], np.inf)]
    bound = -max([most for most, _ in left_open] + [cut]) * p["unit"] / 2
    gap, places = (F - bound) / -F, sorted(np.flatnonzero(x).tolist() for x in X.T)
    proof = "optimal" if gap <= 1e-6 else "supports" if left_open and all(S == places for _, S in left_open) else None
    assert np.allclose([F, bound], [file["objective"], file["bound"]], 1e-8, 0) and proof == file["proof"], "another claim"
    return file["claim"]
