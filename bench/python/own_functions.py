"""Evaluations and seconds of ``orthopt.minimize`` on smooth functions of one's own, beside Pymanopt: all from the same start.

    python bench/python/own_functions.py [SOLVERS] > bench/results/own_functions.csv
    python bench/python/own_functions.py hyperbolic > bench/results/own_functions_j.csv

The second command is for X'JX = J, which Pymanopt does not have, from X = I. SOLVERS are names of orthopt (``auto`` is the default) and ``pymanopt-cg`` and ``pymanopt-tr`` (``pip install pymanopt``), joined by
commas. ``trust-region`` and ``pymanopt-tr`` are given products with the Hessian. Everything that calls f is counted: the check of the
gradient, line searches; a product with the Hessian counts as an evaluation. ``to_1e-6`` counts until f is above the lowest value of all
methods by 1e-6 of the distance from the start to that value; it is empty where a method ends at another minimum. Every method is given
20 seconds and ends by its own rule, Pymanopt where the norm of the gradient is 1e-6 of that at the start.
"""

import csv
import subprocess
import sys
import time

import numpy as np

import orthopt

LIMIT = 20.0


def symmetric(rng, n):
    a = rng.standard_normal((n, n))
    return (a + a.T) / 2


def orthonormal(rng, n, r):
    return np.linalg.qr(rng.standard_normal((n, r)))[0]


def procrustes(a, b):
    return lambda x: (0.5 * np.sum((a @ x - b) ** 2), a.T @ (a @ x - b)), lambda x, d: a.T @ (a @ d)


def noisy_procrustes(rng, n, r):
    a = rng.standard_normal((2 * n, n))
    return procrustes(a, a @ orthonormal(rng, n, r) + 0.1 * rng.standard_normal((2 * n, r)))


def ill_conditioned(rng, n, r):
    return procrustes(np.diag(np.logspace(0, 2.5, n)), rng.standard_normal((n, r)))


def brockett(rng, n, r):
    c, d = symmetric(rng, n), np.arange(r, 0, -1.0)
    return lambda x: (0.5 * np.sum(x * (c @ x) * d), (c @ x) * d), lambda x, v: (c @ v) * d


def ica(rng, n, r):
    sources = rng.laplace(size=(2000, n))
    y = sources / sources.std(0) @ orthonormal(rng, n, n).T

    def f(x):
        z = y @ x
        return np.sum(np.abs(z) + np.log1p(np.exp(-2 * np.abs(z)))) / 2000, y.T @ np.tanh(z) / 2000

    return f, lambda x, d: y.T @ ((1 - np.tanh(y @ x) ** 2) * (y @ d)) / 2000


def robust_subspace(rng, n, r):
    inliers = rng.standard_normal((400, r)) @ orthonormal(rng, n, r).T + 0.01 * rng.standard_normal((400, n))
    y = np.vstack([inliers, 2 * rng.standard_normal((100, n))])

    def f(x):
        z = y @ x
        q = np.sqrt(np.maximum((y * y).sum(1) - (z * z).sum(1), 0) + 1e-6)
        return q.sum(), -y.T @ (z / q[:, None])

    def hess(x, d):
        z, along = y @ x, y @ d
        q = np.sqrt(np.maximum((y * y).sum(1) - (z * z).sum(1), 0) + 1e-6)[:, None]
        return -y.T @ (along / q + z * (z * along).sum(1, keepdims=True) / q**3)

    return f, hess


def quartic(rng, n, r):
    a = symmetric(rng, n)
    return lambda x: (0.5 * np.sum(x * (a @ x)) + 0.25 * np.sum(x**4), a @ x + x**3), lambda x, d: a @ d + 3 * x**2 * d


def dictionary(rng, n, r):
    y = orthonormal(rng, n, n) @ (rng.standard_normal((n, 3000)) * (rng.random((n, 3000)) < 0.3))

    def f(x):
        z = y.T @ x
        return -np.sum(z**4) / 12000, -y @ z**3 / 3000

    return f, lambda x, d: -y @ ((y.T @ x) ** 2 * (y.T @ d)) / 1000


def kohn_sham(rng, n, r):
    laplacian = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    inverse = np.linalg.inv(laplacian)

    def f(x):
        rho = (x * x).sum(1)
        potential = inverse @ rho
        return 0.5 * np.sum(x * (laplacian @ x)) + 0.25 * rho @ potential, laplacian @ x + potential[:, None] * x

    def hess(x, d):
        potential, change = inverse @ (x * x).sum(1), inverse @ (2 * (x * d).sum(1))
        return laplacian @ d + potential[:, None] * d + change[:, None] * x

    return f, hess


def joint_diagonalisation(rng, n, r):
    q = orthonormal(rng, n, n)
    matrices = [(q * rng.standard_normal(n)) @ q.T + 0.05 * symmetric(rng, n) for _ in range(8)]

    def f(x):
        value, gradient = 0.0, np.zeros_like(x)
        for c in matrices:
            d = (x * (c @ x)).sum(0)
            value -= 0.5 * d @ d
            gradient -= 2 * (c @ x) * d
        return value, gradient

    def hess(x, d):
        total = np.zeros_like(x)
        for c in matrices:
            image = c @ x
            total -= 2 * ((c @ d) * (x * image).sum(0) + 2 * image * (d * image).sum(0))
        return total

    return f, hess


def balanced_cut(rng, n, r):
    w = np.triu(rng.random((n, n)) < 0.1, 1).astype(float)
    laplacian = np.diag((w + w.T).sum(1)) - w - w.T

    def f(x):
        excess = (x * x).sum(1) - r / n
        return -0.5 * np.sum(x * (laplacian @ x)) + 0.5 * n * excess @ excess, -laplacian @ x + 2 * n * excess[:, None] * x

    def hess(x, d):
        excess, change = (x * x).sum(1) - r / n, 2 * (x * d).sum(1)
        return -laplacian @ d + 2 * n * (excess[:, None] * d + change[:, None] * x)

    return f, hess


def singular_vectors(rng, n, r):
    a = rng.standard_normal((n, n)) * 0.9 ** np.arange(n)
    c = a.T @ a
    return lambda x: (-0.5 * np.sum(x * (c @ x)), -c @ x), lambda x, d: -c @ d


def large(rng, n, r):
    d = np.linspace(1, 50, n)[:, None]
    return lambda x: (0.5 * np.sum(d * x * x) + 0.25 * np.sum(x**4), d * x + x**3), lambda x, v: d * v + 3 * x**2 * v


PROBLEMS = [
    ("procrustes", noisy_procrustes, 60, 5),
    ("procrustes", noisy_procrustes, 20, 20),
    ("procrustes, condition 1e5", ill_conditioned, 100, 10),
    ("brockett", brockett, 80, 6),
    ("brockett", brockett, 60, 60),
    ("ica", ica, 20, 20),
    ("robust subspace", robust_subspace, 40, 5),
    ("quartic", quartic, 100, 5),
    ("quartic", quartic, 200, 1),
    ("l4 dictionary", dictionary, 20, 20),
    ("kohn-sham", kohn_sham, 100, 6),
    ("joint diagonalisation", joint_diagonalisation, 15, 15),
    ("balanced cut", balanced_cut, 60, 4),
    ("singular vectors", singular_vectors, 100, 5),
    ("diagonal and quartic", large, 2000, 5),
]


def spectrum(rng, n, condition):
    w = 0.1 * rng.standard_normal((n, n))
    return np.diag(np.logspace(0, np.log10(condition), n)) + w @ w.T


def hyperbolic_eigenvalues(condition):
    def make(rng, n, p):
        c = spectrum(rng, n, condition)
        return lambda x: (np.sum(x * (c @ x)), 2 * c @ x), None

    return make


def hyperbolic_quartic(rng, n, p):
    c = spectrum(rng, n, 10)
    return lambda x: (0.5 * np.sum(x * (c @ x)) + np.sum(x**4), c @ x + 4 * x**3), None


def hyperbolic_nearest(rng, n, p):
    b = np.eye(n) + 0.4 * rng.standard_normal((n, n))
    return lambda x: (0.5 * np.sum((x - b) ** 2), x - b), None


#: Problems with X'JX = J, X of n rows, J with p ones.
HYPERBOLIC = [
    ("eigenvalues, condition 10", hyperbolic_eigenvalues(10), 20, 8),
    ("eigenvalues, condition 1e3", hyperbolic_eigenvalues(1e3), 60, 30),
    ("quartic", hyperbolic_quartic, 15, 7),
    ("quartic", hyperbolic_quartic, 40, 13),
    ("nearest matrix", hyperbolic_nearest, 20, 10),
]


def rival(name, f, hess, start):
    import pymanopt
    from pymanopt.manifolds import Stiefel
    from pymanopt.optimizers import ConjugateGradient, TrustRegions

    manifold = Stiefel(*start.shape)
    known = [None, None]

    def both(x):  # the value and the gradient at one X are one evaluation
        if known[0] is None or not np.array_equal(known[0], x):
            known[:] = x.copy(), f(x)
        return known[1]

    @pymanopt.function.numpy(manifold)
    def cost(x):
        return both(x)[0]

    @pymanopt.function.numpy(manifold)
    def gradient(x):
        return both(x)[1]

    @pymanopt.function.numpy(manifold)
    def hessian(x, d):
        return hess(x, d)

    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
    first = np.linalg.norm(manifold.euclidean_to_riemannian_gradient(start, f(start)[1]))
    method = ConjugateGradient if name == "pymanopt-cg" else TrustRegions
    optimizer = method(verbosity=0, max_time=LIMIT, max_iterations=100_000, min_gradient_norm=1e-6 * first, min_step_size=1e-14)
    return optimizer.run(problem, initial_point=start.copy()).cost


def run(name, f, hess, start, **constraint):
    """F, f with seconds at every evaluation and product with the Hessian, and the number of products."""
    course, products = [], []
    began = time.perf_counter()

    def counted(x):
        answer = f(x)
        course.append((float(answer[0]), time.perf_counter() - began))
        return answer

    def product(x, d):
        answer = hess(x, d)
        products.append(1)
        course.append((course[-1][0] if course else np.inf, time.perf_counter() - began))
        return answer

    if name.startswith("pymanopt"):
        return rival(name, counted, product, start), course, len(products)
    given = {"hess": product} if name == "trust-region" else {}
    return orthopt.minimize(counted, start, solver=name, time_limit=LIMIT, **given, **constraint).objective, course, len(products)


def main():
    asked = sys.argv[1] if len(sys.argv) > 1 else "auto,trust-region,optm-cayley,pymanopt-cg,pymanopt-tr"
    hyperbolic = asked == "hyperbolic"
    names = ["auto", "j-jobcd", "gs-jobcd"] if hyperbolic else asked.split(",")
    if any(name.startswith("pymanopt") for name in names):
        import pymanopt  # noqa: F401 - loaded before the clock runs
    version = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    out = csv.writer(sys.stdout, lineterminator="\n")
    head = f"problem,n,{'p' if hyperbolic else 'r'},method,F,evaluations,products,seconds,evaluations_to_1e-6,seconds_to_1e-6,version"
    out.writerow(head.split(","))
    for seed, (title, make, n, r) in enumerate(HYPERBOLIC if hyperbolic else PROBLEMS):
        f, hess = make(np.random.default_rng(seed), n, r)
        start = np.eye(n) if hyperbolic else orthonormal(np.random.default_rng(99), n, r)
        constraint = {"constraint": "j-orthogonal", "signature": r} if hyperbolic else {}
        found = {name: run(name, f, hess, start, **constraint) for name in names}
        lowest = min(value for value, *_ in found.values())
        near = lowest + 1e-6 * (f(start)[0] - lowest)
        for name, (value, course, products) in found.items():
            at = next((k for k, (here, _) in enumerate(course) if here <= near), None)
            first = ["", ""] if at is None else [at + 1, f"{course[at][1]:.4f}"]
            out.writerow([title, n, r, name, f"{value:.9g}", len(course), products, f"{course[-1][1]:.3f}", *first, version])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
