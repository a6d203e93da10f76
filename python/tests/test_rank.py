"""The number of components by a rule, its picture, and cross-validation by cells."""

import numpy as np
import pytest

import orthopt
from orthopt import errors, plots


def factors(m=150, n=20, r=3, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, r)) @ rng.normal(size=(r, n)) + noise * rng.normal(size=(m, n)) + 1.0


DATA = factors()


def horn(data, copies=499):
    """Parallel analysis in NumPy, of correlations."""
    z = (data - data.mean(axis=0)) / data.std(axis=0, ddof=1)
    eigenvalues = lambda a: np.linalg.eigvalsh(a.T @ a)[::-1]  # noqa: E731
    rng = np.random.default_rng(1)
    noise = np.percentile([eigenvalues(rng.permuted(z, axis=0)) for _ in range(copies)], 95, axis=0)
    own = eigenvalues(z)
    return int(np.argmin(own > noise)), own / own.sum(), noise / own.sum()


def test_auto_is_parallel_analysis():
    rank, eigenvalues, noise = horn(DATA)
    found = orthopt.scree(DATA, scale="std")
    assert found.rank == rank == 3 and found.rule == "permutation"
    np.testing.assert_allclose(found.eigenvalues, eigenvalues, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.reference, noise, rtol=0.08)
    s = orthopt.solve("l0-pca", DATA, "auto", nonzeros=4, scale="std", effort="quick")
    assert s.rank == 3 and s.reasons[0] == found.reason and s.scree.rank == 3
    assert orthopt.solve("l0-pca", DATA, 2, nonzeros=4, scale="std", effort="quick").scree is None
    assert orthopt.scree(DATA, scale="std", threads=1).reference.tolist() == found.reference.tolist()
    z = (DATA - DATA.mean(axis=0)) / DATA.std(axis=0, ddof=1)
    known = orthopt.scree(z.T @ z, gram=True, samples=len(z))
    assert (known.rank, known.rule) == (3, "marchenko-pastur")
    with pytest.raises(errors.IncompatibleError, match="samples"):
        orthopt.solve("l0-pca", z.T @ z, "auto", nonzeros=4, gram=True)
    # the eigenvalues of C without the number of its rows are there all the same
    with pytest.raises(errors.IncompatibleError, match="rank='90%'|90%"):
        orthopt.scree(z.T @ z, gram=True)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9, "95%", 0.999])
def test_a_share_is_that_of_pca(share):
    _, eigenvalues, _ = horn(DATA, copies=1)
    wanted = 0.95 if share == "95%" else share
    expected = int(np.searchsorted(np.cumsum(eigenvalues), wanted)) + 1
    assert orthopt.solve("pca", DATA, share, scale="std").rank == expected
    assert orthopt.scree(DATA, share, scale="std").rank == expected
    assert orthopt.path("l0-pca", DATA, share, counts=[2], scale="std").best.rank == expected


@pytest.mark.parametrize("bad", ["0%", "101%", 1.5, -0.1, "all", True])
def test_what_is_no_rank_is_refused(bad):
    with pytest.raises(errors.InvalidOptionError):
        orthopt.solve("pca", DATA, bad)
    with pytest.raises((errors.InvalidOptionError, errors.RankError)):
        orthopt.SparsePCA(n_components=bad).fit(DATA)


def test_estimators_take_rules():
    sklearn = pytest.importorskip("sklearn.decomposition")
    for share in (0.5, 0.9):
        theirs = sklearn.PCA(n_components=share, svd_solver="full").fit(DATA).n_components_
        assert orthopt.SparsePCA(n_components=share, penalty="none").fit(DATA).n_components_ == theirs
    auto = orthopt.SparsePCA(n_components="auto", nonzeros=4, effort="quick").fit(DATA)
    assert auto.n_components_ == 3 and auto.components_.shape == (3, 20)
    assert orthopt.NonnegativePCA(n_components="auto", effort="quick").fit(DATA).n_components_ == 3
    sums = orthopt.SparsePCA(n_components="auto", nonzeros=4, effort="quick")
    standard = (DATA - DATA.mean(axis=0)) / DATA.std(axis=0)
    for part in np.array_split(standard, 3):
        sums.partial_fit(part, refit=False)
    assert sums.partial_fit(standard[:1]).n_components_ == 3 and sums.solution_.scree.rule == "marchenko-pastur"
    weighted = orthopt.SparsePCA(n_components="auto", nonzeros=4, effort="quick").fit(DATA, sample_weight=np.linspace(1, 2, 150))
    assert weighted.n_components_ == 3 and weighted.solution_.scree.rule == "signs"


def test_dask_has_the_number_of_rows():
    da = pytest.importorskip("dask.array")
    from orthopt import dask as od

    pytest.importorskip("distributed")
    from distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        x = da.from_array(DATA, chunks=(50, 20))
        found = od.solve("l0-pca", x, "auto", nonzeros=4, starts=1, scale="std", client=client).best
        assert found.rank == 3 and found.scree.rule == "marchenko-pastur"
        assert od.solve("l0-pca", x, 0.5, nonzeros=4, starts=1, scale="std", client=client).best.rank == orthopt.scree(DATA, 0.5, scale="std").rank


def test_scree_is_drawn_with_its_reference():
    pytest.importorskip("matplotlib")
    found = orthopt.scree(DATA, scale="std")
    ax = found.plot()
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_allclose(lines["95th percentile of noise"], 100 * found.reference)
    np.testing.assert_allclose(lines["eigenvalue of C"], 100 * found.eigenvalues)
    assert "r = 3" in lines
    s = orthopt.solve("pca", DATA, 0.9, scale="std")
    assert len(plots.scree(s).get_lines()) == 2
    with pytest.raises(errors.InvalidOptionError, match="auto"):
        plots.scree(orthopt.solve("pca", DATA, 2, scale="std"))


def test_cells_choose_the_variables_of_planted_factors():
    rng = np.random.default_rng(3)
    loadings = np.zeros((15, 2))
    loadings[:5, 0] = loadings[5:10, 1] = 1.0
    data = rng.normal(size=(80, 2)) @ loadings.T + 0.7 * rng.normal(size=(80, 15))
    counts = [1, 3, 4, 5, 6, 8]
    found = orthopt.path("l0-pca", data, 2, counts=counts, cv=5, cv_by="cells", scale="std", effort="quick")
    assert found.at[found.chosen] == 5 and len(found.held_out) == len(counts)
    rows = orthopt.path("l0-pca", data, 2, counts=counts, cv=5, scale="std", effort="quick")
    assert not np.allclose(rows.held_out, found.held_out)
    with pytest.raises(errors.InvalidOptionError, match="cv"):
        orthopt.path("l0-pca", data, 2, counts=counts, cv_by="cells")
    with pytest.raises(errors.InvalidOptionError, match="rows"):
        orthopt.path("l0-pca", data, 2, counts=counts, cv=5, cv_by="columns")
    with pytest.raises(errors.InvalidOptionError, match="3"):
        orthopt.path("l0-pca", data, 2, counts=counts, cv=2, cv_by="cells")
