"""Minimise a function of your own over orthonormal matrices, with an l1 penalty."""

import numpy as np

import orthopt

rng = np.random.default_rng(0)
data = rng.standard_t(df=2, size=(300, 40)) * np.linspace(1, 2, 40)
data -= np.median(data, axis=0)


def robust(X):
    """-mean log(1 + scores^2): outliers count little. Value and gradient."""
    scores = data @ X
    value = -np.log1p(scores**2).sum() / len(data)
    gradient = -data.T @ (2 * scores / (1 + scores**2)) / len(data)
    return value, gradient


solution = orthopt.minimize(robust, (40, 3), penalty="l1", lam=0.1, time_limit=10)
print(solution)
print(f"{solution.settings['evaluations']} evaluations in {solution.seconds:.3f} s; {solution.message}")
