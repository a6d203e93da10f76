"""Fitting 20,000 x 5,000 numbers (800 MB) holds no more than one extra copy of them."""

import os
import subprocess
import sys

import pytest

CODE = """
import resource, sys
import numpy as np
import orthopt
from orthopt import SparsePCA
from sklearn.decomposition import PCA  # imported before memory is looked at

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

rows, cols = int(sys.argv[1]), int(sys.argv[2])
X = np.empty((rows, cols))
rng = np.random.default_rng(0)
for i in range(rows):
    X[i] = rng.standard_normal(cols) + 1.0
SparsePCA(2, max_iter=10, certify=False).fit(X[:300, :50].copy())
before = peak()
pca = SparsePCA(3, alpha=0.1, max_iter=50, certify=False, random_state=0).fit(X)
print((peak() - before) / X.nbytes, pca.components_.shape[1])
"""


def extra_copies(rows, cols):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, str(rows), str(cols)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split()[0])


def test_tall():
    pytest.importorskip("sklearn")
    assert extra_copies(20_000, 2_000) < 1.0


def test_wide():
    """m < n and n too large for C: the storage keeps A, which is one copy."""
    pytest.importorskip("sklearn")
    assert extra_copies(1_500, 8_000) < 1.2


@pytest.mark.skipif("ORTHOPT_LARGE" not in os.environ, reason="set ORTHOPT_LARGE=1: takes a minute and 1.3 GB")
def test_large():
    pytest.importorskip("sklearn")
    assert extra_copies(20_000, 5_000) < 1.0
