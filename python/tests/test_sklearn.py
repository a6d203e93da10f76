"""The estimators in scikit-learn's own checks and on real data."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import orthopt
from orthopt import NonnegativePCA, SparsePCA

#: Checks of scikit-learn that are expected to fail, each with its reason. There are none.
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [
        SparsePCA(2, restarts=0, certify=1000, random_state=0),
        SparsePCA(penalty="l1", solver="manpg-ada+obcd", certify=False, random_state=0),
        NonnegativePCA(),
        NonnegativePCA(2, restarts=0, tol=1e-12, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_sklearn_checks(estimator, check):
    check(estimator)


TABLES = {"iris": load_iris, "wine": load_wine}
MEASURES = {"variance": "projected", "adjusted": "total", "polar": "polar", "explained": "predicted"}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_where_nothing_binds_it_is_pca(name, measure):
    X = StandardScaler().fit_transform(TABLES[name]().data)
    known = PCA(2).fit(X)
    for options in ({"penalty": "none"}, {"nonzeros": X.shape[1]}, {"alpha": 1e-13}):
        found = SparsePCA(2, maximise=measure, random_state=0, certify=False, **options).fit(X)
        turned = found.components_ * np.sign(np.sum(found.components_ * known.components_, axis=1, keepdims=True))
        np.testing.assert_allclose(turned, known.components_, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found.explained_variance_ratio_, known.explained_variance_ratio_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("measure", MEASURES)
def test_estimator_maximises_what_it_says(cancer, measure):
    found = SparsePCA(3, nonzeros=3, maximise=measure, random_state=0, certify=False).fit(cancer)
    variance = found.solution_.explained_variance
    assert variance.maximised == measure
    share = getattr(variance, MEASURES[measure])
    assert found.objective_ == pytest.approx(-0.5 * share * found.solution_.trace_of_c, rel=1e-12)
    if measure == "adjusted":
        assert variance.total > 0.2496
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(3), rtol=0, atol=1e-12)


def test_both_constraints_at_once(cancer):
    found = SparsePCA(3, nonzeros=4, constraint="both", random_state=0, certify=False).fit(cancer)
    scores = found.transform(cancer)
    np.testing.assert_allclose(np.corrcoef(scores.T), np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(3), rtol=0, atol=1e-12)


def test_defaults_leave_zeros():
    found = SparsePCA(random_state=0).fit(StandardScaler().fit_transform(load_iris().data))
    assert found.n_components_ == 3 and (np.count_nonzero(found.components_, axis=1) < 4).all()
    assert SparsePCA(random_state=0).fit(np.arange(5.0)[:, None]).n_components_ == 1


def test_an_alpha_that_leaves_single_variables_is_told():
    X = StandardScaler().fit_transform(load_wine().data)
    with pytest.warns(orthopt.errors.OrthoptWarning, match="^alpha=1 leaves one variable in each component.*scikit-learn"):
        SparsePCA(3, alpha=1, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", orthopt.errors.OrthoptWarning)
        SparsePCA(3, alpha=0.1, random_state=0).fit(X)
        SparsePCA(3, nonzeros=1, random_state=0).fit(X)


@pytest.fixture(scope="module")
def cancer():
    return StandardScaler().fit_transform(load_breast_cancer().data)


def test_without_a_penalty_it_is_pca(cancer):
    ours = SparsePCA(4, penalty="none", random_state=0).fit(cancer)
    theirs = PCA(4).fit(cancer)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-6
    )
    np.testing.assert_allclose(ours.mean_, theirs.mean_, atol=1e-12)
    subspace = ours.components_.T @ ours.components_
    np.testing.assert_allclose(subspace, theirs.components_.T @ theirs.components_, atol=1e-4)


def test_adjusted_variance_is_that_of_a_qr_of_the_scores(cancer):
    pca = SparsePCA(5, alpha=0.2, random_state=0).fit(cancer)
    scores = pca.transform(cancer)
    r = np.linalg.qr(scores, mode="r")
    np.testing.assert_allclose(pca.explained_variance_, np.diag(r) ** 2 / (len(cancer) - 1), rtol=1e-9)
    total = np.var(cancer, axis=0, ddof=1).sum()
    np.testing.assert_allclose(pca.explained_variance_ratio_, pca.explained_variance_ / total, rtol=1e-9)
    # plain variances count twice what correlated scores share
    assert pca.explained_variance_.sum() < np.var(scores, axis=0, ddof=1).sum()


def test_orthonormal_sparse_and_certified(cancer):
    pca = SparsePCA(5, alpha=0.2, random_state=0).fit(cancer)
    gram = pca.components_ @ pca.components_.T
    assert np.linalg.norm(gram - np.eye(5)) < 1e-12
    assert 0 < np.count_nonzero(pca.components_) < 0.5 * pca.components_.size
    assert pca.status_ == "converged" and pca.certificate_.holds
    # a projection: done twice it is done once
    scores = pca.transform(cancer)
    np.testing.assert_allclose(pca.transform(pca.inverse_transform(scores)), scores, atol=1e-9)


def test_nonnegative_components_do_not_overlap(cancer):
    pca = NonnegativePCA(4, random_state=0).fit(cancer)
    assert pca.components_.min() >= 0.0
    assert np.count_nonzero(pca.components_, axis=0).max() == 1


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
def test_sparse_is_dense_without_the_zeros(kind):
    X = load_digits().data[:300]
    dense = SparsePCA(4, alpha=0.1, random_state=0, restarts=0).fit(X)
    sparse = SparsePCA(4, alpha=0.1, random_state=0, restarts=0).fit(kind(X))
    np.testing.assert_allclose(sparse.mean_, dense.mean_, atol=1e-12)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-9)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-7)
    np.testing.assert_allclose(sparse.transform(kind(X)), dense.transform(X), atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_certificates_do_not_depend_on_units(cancer):
    """Where runs are cut short X is not stationary, however small the numbers are."""
    settings = {"penalty": "l1", "alpha": 0.2, "solver": "obcd", "restarts": 0, "random_state": 0}
    for max_iter, holds in [(3, False), (None, True)]:
        one, small = (
            SparsePCA(3, max_iter=max_iter, **settings).fit(unit * cancer) for unit in (1.0, 2.0**-20)
        )
        assert one.certificate_.holds is holds and small.certificate_.holds is holds
        assert one.status_ == small.status_
        np.testing.assert_array_equal(one.components_, small.components_)
        assert small.objective_ == one.objective_ * 2.0**-40


def test_alpha_does_not_depend_on_units_or_repetition(cancer):
    one = SparsePCA(3, alpha=0.2, random_state=0).fit(cancer)
    for factor, other in [(1e6, 1000.0 * cancer), (2.0, np.vstack([cancer, cancer]))]:
        pca = SparsePCA(3, alpha=0.2, random_state=0).fit(other)
        assert pca.lambda_ == pytest.approx(factor * one.lambda_)
        # the same problem, up to which local solution is found
        assert pca.objective_ == pytest.approx(factor * one.objective_, rel=0.02)


def test_names_frames_and_pipelines(cancer):
    pd = pytest.importorskip("pandas")
    names = [str(name) for name in load_breast_cancer().feature_names]
    frame = pd.DataFrame(cancer, columns=names)
    pca = SparsePCA(2, restarts=0, random_state=0).fit(frame)
    assert list(pca.feature_names_in_) == names
    assert list(pca.get_feature_names_out()) == ["sparsepca0", "sparsepca1"]
    out = clone(pca).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["sparsepca0", "sparsepca1"]


def test_in_a_pipeline(cancer):
    model = make_pipeline(StandardScaler(), SparsePCA(2, restarts=0, random_state=0))
    assert model.fit_transform(cancer).shape == (len(cancer), 2)
    assert list(model.get_feature_names_out()) == ["sparsepca0", "sparsepca1"]


def test_limits_warn(cancer):
    with pytest.warns(ConvergenceWarning, match="limit of 10 iterations"):
        pca = SparsePCA(3, max_iter=10, restarts=0, random_state=0).fit(cancer)
    assert pca.status_ == "max_iters"


def test_random_state(cancer):
    fits = [SparsePCA(3, restarts=0, random_state=s).fit(cancer) for s in (7, 7, np.random.RandomState(3))]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    assert fits[0].solution_.seed == 7
    SparsePCA(3, restarts=0, random_state=None).fit(cancer)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"n_components": 31}, orthopt.errors.RankError),
        ({"n_components": 0}, orthopt.errors.RankError),
        ({"n_components": 2.5}, orthopt.errors.InvalidOptionError),
        ({"n_components": True}, orthopt.errors.InvalidOptionError),
        ({"alpha": -1.0}, orthopt.errors.InvalidOptionError),
        ({"alpha": float("nan")}, orthopt.errors.InvalidOptionError),
        ({"alpha": "big"}, orthopt.errors.InvalidOptionError),
        ({"penalty": "l2"}, orthopt.errors.UnknownNameError),
        ({"solver": "newton"}, orthopt.errors.UnknownNameError),
        ({"tol": -1.0}, orthopt.errors.InvalidOptionError),
        ({"max_iter": 0}, orthopt.errors.InvalidOptionError),
        ({"init": np.ones((30, 2))}, orthopt.errors.NotOrthonormalError),
        ({"penalty_params": {"mcp_delta": 2.0}}, orthopt.errors.UnknownNameError),
        ({"penalty": "mcp", "penalty_params": {"mcp_gamma": -2.0}}, orthopt.errors.InvalidOptionError),
    ],
)
def test_bad_parameters(cancer, parameters, error):
    estimator = SparsePCA(**{"n_components": 2, **parameters})
    with pytest.raises(error) as raised:
        estimator.fit(cancer)
    assert isinstance(raised.value, ValueError)


def test_bad_data():
    for X in (np.full((5, 3), np.nan), np.full((5, 3), np.inf), np.ones((5, 3), dtype=complex)):
        with pytest.raises(ValueError):
            SparsePCA(2).fit(X)
    with pytest.raises(ValueError):
        SparsePCA(2).fit(np.ones(5))
    with pytest.raises(ValueError):
        SparsePCA(2).fit(np.array([["a", "b"], ["c", "d"]], dtype=object))
    objects = np.random.default_rng(0).normal(size=(20, 4)).astype(object)
    assert SparsePCA(2, random_state=0).fit(objects).components_.shape == (2, 4)
    constant = SparsePCA(2, random_state=0).fit(np.ones((5, 3)))
    assert np.allclose(constant.explained_variance_, 0.0)


def test_components_with_uncorrelated_scores():
    x = StandardScaler().fit_transform(load_breast_cancer().data)
    pca = SparsePCA(3, nonzeros=4, constraint="uncorrelated", random_state=0).fit(x)
    covariance = np.cov(pca.transform(x).T)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() <= 1e-10 * np.trace(covariance)
    np.testing.assert_allclose(np.linalg.norm(pca.components_, axis=1), 1, rtol=1e-12)
    assert (np.count_nonzero(pca.components_, axis=1) <= 4).all()
    # no variance is counted twice
    np.testing.assert_allclose(
        pca.explained_variance_ratio_, np.diag(covariance) / x.var(axis=0, ddof=1).sum(), rtol=1e-9
    )
    with pytest.raises(orthopt.errors.UnknownNameError, match="uncorrelated"):
        SparsePCA(2, nonzeros=4, constraint="independent").fit(x)


def test_covariance_of_plain_pca_is_that_of_scikit_learn():
    from sklearn.decomposition import PCA

    X = np.random.default_rng(7).normal(size=(80, 6)) @ np.diag([5.0, 3.0, 2.0, 1.0, 0.7, 0.5]) + 4.0
    for r in (2, 5, 6):
        found = SparsePCA(r, penalty="none", random_state=0, certify=False).fit(X).get_covariance()
        np.testing.assert_allclose(found, PCA(r).fit(X).get_covariance(), atol=1e-8)
    np.testing.assert_allclose(found, np.cov(X.T), atol=1e-8)


def test_covariance_of_sparse_components():
    X = np.random.default_rng(8).normal(size=(60, 7)) @ np.random.default_rng(9).normal(size=(7, 7)) + 2.0
    pca = SparsePCA(3, nonzeros=3, random_state=0, effort="quick").fit(X)
    c, P = pca.get_covariance(), pca.components_.T
    np.testing.assert_allclose(P.T @ c @ P, np.cov(pca.transform(X).T), rtol=1e-9, atol=1e-9)
    assert np.trace(c) == pytest.approx(np.trace(np.cov(X.T))) and np.linalg.eigvalsh(c)[0] > 0
    np.testing.assert_allclose(SparsePCA(3, nonzeros=3, random_state=0, effort="quick").fit(sp.csr_matrix(X)).get_covariance(), c, atol=1e-8)
    parts = SparsePCA(3, nonzeros=3, random_state=0, effort="quick")
    for rows in np.array_split(X, 3):
        parts.partial_fit(rows)
    np.testing.assert_allclose(parts.get_covariance(), c, atol=1e-8)
    twice = SparsePCA(3, nonzeros=3, random_state=0, effort="quick").fit(X, sample_weight=np.full(60, 2.0))
    again = SparsePCA(3, nonzeros=3, random_state=0, effort="quick").fit(np.repeat(X, 2, axis=0))
    np.testing.assert_allclose(twice.get_covariance(), again.get_covariance(), atol=1e-8)
    own = SparsePCA(3, nonzeros=4, constraint="uncorrelated", random_state=0, effort="quick").fit(X)
    Q = own.components_.T
    np.testing.assert_allclose(Q.T @ own.get_covariance() @ Q, np.cov(own.transform(X).T), rtol=1e-8, atol=1e-8)


def test_score_takes_rows_in_blocks():
    X = np.random.default_rng(3).normal(size=(2500, 5)) + 1e3
    pca = SparsePCA(2, nonzeros=3, random_state=0, effort="quick").fit(X)
    centred = X - pca.mean_
    expected = np.sum((centred @ pca.components_.T) ** 2) / np.sum(centred**2)
    assert pca.score(X) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_iter": 0}, {"max_iter": 2.5}, {"time_limit": -1}, {"tol": "small"}, {"restarts": -1}, {"effort": "fast"}, {"certify": -2},
        {"bound": -1.0}, {"n_threads": 0}, {"random_state": "x"}, {"on_interrupt": "stop"}, {"missing": "guess"}, {"alpha": -0.1},
        {"alpha": True}, {"nonzeros": 0}, {"nonzeros": "few"}, {"n_components": 0}, {"n_components": 1.5}, {"penalty": 3}, {"order": 1},
        {"constraint": "none"}, {"order": "random"}, {"penalty": "l7"}, {"solver": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_messages_name_the_parameter(wrong):
    (name, _), X = *wrong.items(), load_breast_cancer().data[:40]
    with pytest.raises(orthopt.errors.OrthoptError) as caught:
        SparsePCA(**{"n_components": 2, "max_iter": 50, **wrong}).fit(X)
    assert isinstance(caught.value, ValueError)
    assert re.search(rf"\b{name}\b", str(caught.value)), caught.value
    others = {"max_iters", "seed", "threads", "nonzeros", "lam", "lam_share", "rank"} - {name}
    assert not any(re.search(rf"\b{other}\b", str(caught.value)) for other in others), caught.value


def test_every_parameter_has_its_values():
    for estimator in (SparsePCA, NonnegativePCA):
        missing = set(estimator().get_params()) - set(estimator._parameter_constraints)
        assert not missing, missing


def test_single_precision_stays_where_rows_are_projected():
    X = load_breast_cancer().data
    pca = SparsePCA(2, nonzeros=5, effort="quick", random_state=0).fit(X)
    thin = X.astype(np.float32)
    scores = pca.transform(thin)
    assert scores.dtype == np.float32 and pca.transform(X).dtype == np.float64
    np.testing.assert_allclose(scores, pca.transform(X), atol=1e-5 * np.abs(X).max())
    assert pca.transform(sp.csr_array(thin)).dtype == np.float32
    assert abs(pca.score(thin) - pca.score(X)) < 1e-6


def test_rows_of_dask_stay_where_they_are():
    da = pytest.importorskip("dask.array")
    dd = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X = load_breast_cancer().data
    pca = SparsePCA(2, nonzeros=5, effort="quick", random_state=0).fit(X)
    touched = []
    rows = da.from_array(X, chunks=(100, 7)).map_blocks(lambda block: touched.append(len(block)) or block, dtype=float)
    touched.clear()
    lazy = pca.transform(rows)
    assert not touched and lazy.shape == (len(X), 2), "nothing is computed before it is asked for"
    np.testing.assert_allclose(lazy.compute(scheduler="sync"), pca.transform(X), atol=1e-9)
    assert max(touched) <= 100
    assert abs(pca.score(rows) - pca.score(X)) < 1e-12
    assert pca.transform(da.from_array(X.astype(np.float32), chunks=100)).compute().dtype == np.float32
    with pytest.raises(orthopt.errors.ShapeError, match="SparsePCA is expecting 30 features"):
        pca.transform(rows[:, :5])
    frame = pandas.DataFrame(X, columns=[f"v{i}" for i in range(30)])
    named = SparsePCA(2, nonzeros=5, effort="quick", random_state=0).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = named.transform(dd.from_pandas(frame, npartitions=3)).compute()
    np.testing.assert_allclose(scores, named.transform(frame), atol=1e-9)
    with pytest.raises(ValueError, match="feature names"):
        named.transform(dd.from_pandas(frame.rename(columns={"v0": "other"}), npartitions=2))
