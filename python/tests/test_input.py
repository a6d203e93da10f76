"""Bad and unusual input: the right result or a clear error."""

import numpy as np
import pytest
import scipy.sparse as sp

import orthopt
from orthopt import errors


def objective(data, **options):
    return orthopt.solve("l0-pca", data, 2, 5.0, restarts=0, **options).objective


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u2", "i8", "?", ">f8", "O"])
def test_dtypes_are_converted(samples, dtype):
    data = (samples > 0.5) if dtype == "?" else np.round(samples, 1)
    data = np.abs(data) if dtype == "u2" else data
    given = data.astype(dtype)
    assert objective(given) == objective(given.astype(np.float64))


def test_sparse_formats(samples):
    data = np.where(np.abs(samples) > 1.5, samples, 0.0)
    expected = objective(data)
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        assert objective(sp.csr_matrix(data).asformat(kind)) == pytest.approx(expected, rel=1e-12), kind
        assert objective(sp.csr_array(data).asformat(kind)) == pytest.approx(expected, rel=1e-12), kind


def test_sparse_is_not_changed(samples):
    rows, cols = np.array([0, 0, 3, 1]), np.array([2, 2, 1, 0])
    unsorted = sp.csc_matrix((np.array([1.0, 2.0, 4.0, 8.0]), (rows, cols)), shape=(5, 4))
    twice = sp.csc_matrix(
        (np.array([8.0, 4.0, 2.0, 1.0]), np.array([1, 3, 0, 0]), np.array([0, 1, 2, 4, 4])), shape=(5, 4)
    )
    before = twice.data.copy(), twice.indices.copy()
    assert orthopt.solve("l0-pca", twice, 2, 0.1).objective == orthopt.solve("l0-pca", unsorted, 2, 0.1).objective
    np.testing.assert_array_equal(twice.data, before[0])
    np.testing.assert_array_equal(twice.indices, before[1])


def test_broken_sparse():
    broken = sp.csc_matrix((5, 4))
    broken.data, broken.indices, broken.indptr = np.ones(2), np.array([1, 9]), np.array([0, 1, 2, 2, 2])
    with pytest.raises(ValueError):
        objective(broken)


def test_frames_and_paths(samples, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(samples, columns=[f"v{i}" for i in range(12)])
    solution = orthopt.solve("l0-pca", frame, 2, 5.0, restarts=0)
    assert solution.objective == objective(samples)
    assert solution.feature_names[:2] == ["v0", "v1"]


def test_files_and_generators(samples, tmp_path):
    np.save(tmp_path / "a.npy", samples)
    assert objective(tmp_path / "a.npy") == objective(samples)
    assert orthopt.solve("l0-pca", "builtin:pitprops", 2).feature_names[0] == "topdiam"
    assert orthopt.solve("pca", "randn:30:5:1", 2).data_shape == (30, 5)


def test_gram(samples):
    c = samples.T @ samples
    given = orthopt.solve("l0-pca", c, 2, 5.0, gram=True, restarts=0)
    assert given.objective == pytest.approx(objective(samples), rel=1e-9)
    with pytest.raises(errors.NotSymmetricError):
        orthopt.solve("l0-pca", c + np.triu(np.ones_like(c), 1), 2, gram=True)
    with pytest.raises(errors.IncompatibleError):
        orthopt.solve("l0-pca", c, 2, gram=True, center=True)
    with pytest.raises(ValueError):
        orthopt.solve("l0-pca", samples, 2, gram=True)


def bad(value, at=(3, 2)):
    data = np.random.default_rng(0).normal(size=(10, 5))
    data[at] = value
    return data


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (bad(np.nan), errors.NotFiniteError, "row 4, column 3"),
        (np.asfortranarray(bad(np.inf)), errors.NotFiniteError, "row 4, column 3"),
        (sp.csc_matrix(bad(np.nan)), errors.NotFiniteError, "row 4, column 3"),
        (bad(1e200), errors.DataOverflowError, "scale"),
        (np.ones(7), errors.ShapeError, "1 dimension"),
        (np.ones((2, 3, 4)), errors.ShapeError, "3 dimension"),
        (np.zeros((0, 5)), errors.EmptyDataError, "0 rows"),
        (np.zeros((5, 0)), errors.EmptyDataError, "0 columns"),
        (np.ones((4, 3), dtype=complex), errors.DataTypeError, "complex"),
        (np.array([["a", "b"]] * 3), errors.DataTypeError, "not real numbers"),
        (np.array([[None, 1.0]] * 3, dtype=object), ValueError, ""),
        (np.array([[{}, 1.0]] * 3, dtype=object), errors.DataTypeError, "not real numbers"),
        (np.zeros((3, 2), dtype="M8[s]"), errors.DataTypeError, ""),
        (None, errors.ShapeError, ""),
        ("no-such-file.csv", errors.DataNotFoundError, "no-such-file.csv"),
        ("randn:5", errors.DataSpecError, "randn:M:N"),
        ("file.docx", (errors.UnknownFormatError, errors.DataNotFoundError), "file.docx"),
    ],
)
@pytest.mark.parametrize("center", [False, True])
def test_bad_data(data, error, words, center):
    with pytest.raises(error, match=words or None) as raised:
        orthopt.solve("l0-pca", data, 2, center=center)
    assert isinstance(raised.value, errors.OrthoptError)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"rank": 13}, errors.RankError),
        ({"rank": 0}, errors.RankError),
        ({"rank": -1}, errors.InvalidOptionError),
        ({"rank": 2.5}, errors.InvalidOptionError),
        ({"rank": "two"}, errors.InvalidOptionError),
        ({"rank": 2**80}, ValueError),
        ({"lam": -1}, errors.InvalidOptionError),
        ({"lam": float("nan")}, errors.InvalidOptionError),
        ({"lam": 1.0, "lam_share": 1.0}, errors.InvalidOptionError),
        ({"solver": "simplex"}, errors.UnknownNameError),
        ({"solver": "manpg"}, errors.IncompatibleError),
        ({"init": "origin"}, errors.UnknownNameError),
        ({"init": np.ones((12, 5))}, errors.NotOrthonormalError),
        ({"init": np.eye(5)}, errors.ShapeError),
        ({"storage": "tape"}, errors.UnknownNameError),
        ({"penalty": "l7"}, errors.UnknownNameError),
        ({"working_set": "best"}, errors.UnknownNameError),
        ({"candidates": "few"}, errors.InvalidOptionError),
        ({"block": 1}, errors.InvalidOptionError),
        ({"alpha": 0.0}, errors.InvalidOptionError),
        ({"max_iters": 0}, errors.InvalidOptionError),
        ({"time_limit": -1.0}, errors.InvalidOptionError),
        ({"threads": 0}, errors.InvalidOptionError),
        ({"features": 99}, errors.InvalidOptionError),
        ({"scale": "log"}, errors.InvalidOptionError),
        ({"seed": -1}, errors.InvalidOptionError),
        ({"center": "yes"}, errors.InvalidOptionError),
        ({"certify": -5}, errors.InvalidOptionError),
        ({"manpg_gamma": "x"}, errors.InvalidOptionError),
        ({"no_such_option": 1}, errors.UnknownNameError),
    ],
)
def test_bad_options(samples, options, error):
    with pytest.raises(error) as raised:
        orthopt.solve("l0-pca", samples, **options)
    assert isinstance(raised.value, ValueError)


def test_other_errors(samples):
    with pytest.raises(errors.UnknownNameError, match="choose one of: l0-pca"):
        orthopt.solve("l2-pca", samples)
    with pytest.raises(errors.DataTypeError):
        orthopt.solve(3, samples)
    with pytest.raises(errors.NegativeError):
        negative = np.eye(12)[:, :2]
        negative[0, 0] = -1.0
        orthopt.certify("nonneg-pca", samples, negative)
    with pytest.raises(errors.NotJOrthogonalError):
        orthopt.solve("hyperbolic-eig", samples, signature=5, init=2.0 * np.eye(12))
    with pytest.raises(errors.NotDefiniteError, match="ridge"):
        orthopt.solve("hyperbolic-eig", samples[:5], signature=5)
    with pytest.raises(errors.InvalidOptionError):
        orthopt.solve("hyperbolic-eig", samples, signature=[1, 2] * 6)
    with pytest.raises(errors.UnknownNameError):
        orthopt.registry("sovlers")


def test_messages_speak_python(samples):
    with pytest.raises(errors.DataOverflowError) as raised:
        orthopt.solve("l0-pca", bad(1e200), 2)
    assert 'scale="unit"' in str(raised.value) and "--" not in str(raised.value)
    with pytest.raises(errors.IncompatibleError, match="^signature= does not apply to l0-pca"):
        orthopt.solve("l0-pca", samples, 2, signature=3)


def test_every_exception_is_documented_and_named():
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.OrthoptError):
            assert kind.__doc__ and kind.__module__ == "orthopt.errors", name
            assert kind is errors.OrthoptError or issubclass(kind, (ValueError, OSError, TypeError, ArithmeticError))
