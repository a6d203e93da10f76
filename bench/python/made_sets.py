"""Six data sets for `orthopt-bench portfolio`, as NumPy files in a folder: made or taken from scikit-learn, not looked at while constants were chosen.

    python bench/python/made_sets.py FOLDER
    ORTHOPT_DATA=FOLDER orthopt-bench portfolio 5 power.npy power.npy

needs scipy, scikit-learn and pillow. Once results on them have led to a change they are data like any other: make new ones.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.stats import random_correlation
from sklearn.datasets import load_diabetes, load_sample_image
from sklearn.feature_extraction.image import extract_patches_2d
from sklearn.preprocessing import PolynomialFeatures


def sets():
    rng = np.random.default_rng(20261125)
    # 500 rows of a random correlation matrix whose eigenvalues fall as k^-0.8
    eigenvalues = np.arange(1, 181) ** -0.8
    eigenvalues *= 180 / eigenvalues.sum()
    C = random_correlation.rvs(eigenvalues, random_state=np.random.default_rng(5))
    yield "power", rng.standard_normal((500, 180)) @ np.linalg.cholesky(C).T
    # p >> n: 40 blocks of correlated variables and noise
    block = rng.integers(0, 40, 2500)
    factors = rng.standard_normal((120, 40)) * rng.gamma(2, 1, 40)
    yield "blocks", factors[:, block] * rng.uniform(0.3, 1, 2500) + rng.standard_normal((120, 2500))
    # near collinear: the first 250 monomials of ten measurements, up to the third degree
    yield "diabetes_poly", PolynomialFeatures(3, include_bias=False).fit_transform(load_diabetes().data)[:, :250]
    # 400 random walks at 300 times
    yield "walks", np.cumsum(rng.standard_normal((400, 300)), axis=1)
    # patches of two photographs, one in grey and one in colours
    china = load_sample_image("china.jpg").astype(float).mean(2)
    yield "china", extract_patches_2d(china, (18, 18), max_patches=1200, random_state=3).reshape(1200, -1)
    flower = load_sample_image("flower.jpg").astype(float)
    yield "flower", extract_patches_2d(flower, (11, 11), max_patches=1000, random_state=3).reshape(1000, -1)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in sets():
        np.save(folder / f"{name}.npy", data)
        print(f"{name}: {data.shape[0]} x {data.shape[1]}")


if __name__ == "__main__":
    main()
