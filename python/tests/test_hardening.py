"""Every kind of array, matrix and frame at every entrance: the same result as for plain doubles, or an error of
orthopt.errors that says what and where."""

import numpy as np
import pytest
import scipy.sparse as sp

import orthopt
from orthopt import errors

RANK, LAMBDA = 2, 5.0


def solved(data):
    return orthopt.solve("l0-pca", data, RANK, LAMBDA, restarts=0, max_iters=300).objective


def compared(data):
    found = orthopt.compare("l0-pca", data, RANK, LAMBDA, solvers=["obcd"], max_iters=300)
    return found[0].objective


def certified(data):
    numbers = data.select_dtypes("number") if hasattr(data, "select_dtypes") else data  # words are left out
    columns = numbers.shape[1] if getattr(numbers, "ndim", 0) == 2 else 12
    x = np.eye(max(columns, RANK))[:, :RANK]
    return orthopt.certify("l0-pca", data, x, LAMBDA).objective


def traced(data):
    return orthopt.path("l0-pca", data, RANK, counts=[2], max_iters=300)[0].objective


def bounded(data):
    return orthopt.bound("pca", data, RANK).bound


def summed(data):
    return orthopt.GramAccumulator(reproducible=True).add(data).gram()[0, 0]


ENTRANCES = [solved, compared, certified, traced, bounded, summed]
entrances = pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda f: f.__name__)


@pytest.fixture(scope="module")
def table():
    """30 samples of 12 variables, whole numbers and quarters: exact in every type of float."""
    rng = np.random.default_rng(8)
    return np.round(4 * rng.normal(size=(30, 3)) @ rng.normal(size=(3, 12))) / 4


def with_one(table, value):
    changed = np.array(table)
    changed[3, 2] = value
    return changed


def every_other(table):
    wide = np.full((2 * table.shape[0], 3 * table.shape[1]), np.nan)
    wide[::2, ::3] = table
    return wide[::2, ::3]


def read_only(table):
    frozen = table.copy()
    frozen.flags.writeable = False
    return frozen


def unaligned(table):
    """The same numbers, beginning at an odd byte."""
    raw = np.zeros(table.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(table.shape)
    view[:] = table
    return view


LAYOUTS = {
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "long double": lambda a: a.astype(np.longdouble),
    "object": lambda a: a.astype(object),
    "big endian": lambda a: a.astype(">f8"),
    "fortran": np.asfortranarray,
    "every other": every_other,
    "backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "read only": read_only,
    "unaligned": unaligned,
    "subclass": lambda a: a.view(type("Mine", (np.ndarray,), {})),
    "nothing masked": lambda a: np.ma.masked_array(a, mask=False),
    "lists": lambda a: a.tolist(),
}


@entrances
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_numbers_in_another_form(table, entrance, layout):
    given = LAYOUTS[layout](table)
    before = np.array(given, copy=True)
    assert entrance(given) == entrance(table)
    np.testing.assert_array_equal(np.asarray(given), before)


@entrances
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.uint64])
def test_whole_numbers(table, entrance, dtype):
    whole = np.abs(np.round(table)).astype(dtype)
    assert entrance(whole) == entrance(whole.astype(np.float64))


SPARSE = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@entrances
@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, bool])
def test_sparse_forms(table, entrance, form, dtype):
    thin = np.where(np.abs(table) > 6, np.round(table), 0).astype(dtype)
    given = sp.csr_array(thin).asformat(form)
    expected = entrance(sp.csc_array(thin.astype(np.float64)))
    assert entrance(given) == expected
    assert given.dtype == dtype and given.format == form


def explicit_zeros():
    pointers, indices = np.array([0, 2, 3, 5, 5]), np.array([0, 2, 1, 0, 3])
    return sp.csr_matrix((np.array([1.0, 0.0, 2.0, 0.0, 4.0]), indices, pointers), shape=(4, 5))


def unsorted_twice():
    """Row 0 has column 2 twice, and its columns in no order."""
    pointers, indices = np.array([0, 3, 4, 6, 6]), np.array([2, 0, 2, 1, 3, 0])
    return sp.csr_matrix((np.array([0.5, 1.0, 1.5, 2.0, 4.0, 3.0]), indices, pointers), shape=(4, 5))


@entrances
@pytest.mark.parametrize("make", [explicit_zeros, unsorted_twice])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_that_is_not_canonical(entrance, make, form):
    given = make() if form == "csr" else sp.coo_matrix(make().T.T).asformat(form)
    copies = [np.array(part) for part in (given.data,)]
    assert entrance(given) == pytest.approx(entrance(make().toarray()), rel=1e-12)
    np.testing.assert_array_equal(given.data, copies[0])


def broken_indices():
    broken = sp.csr_matrix((4, 5))
    broken.data, broken.indices, broken.indptr = np.ones(2), np.array([1, 9]), np.array([0, 1, 2, 2, 2])
    return broken


def broken_pointers():
    broken = sp.csc_matrix((4, 5))
    broken.data, broken.indices, broken.indptr = np.ones(2), np.array([1, 2]), np.array([0, 2, 1, 2, 2, 2])
    return broken


def negative_indices():
    broken = sp.coo_matrix((np.ones(2), ([0, 1], [1, 2])), shape=(4, 5))
    broken.col = np.array([-1, 2], dtype=np.int32)
    return broken


WRONG = {
    "nan": (lambda a: with_one(a, np.nan), errors.NotFiniteError, "row 4.*column 3|row 4, column 3"),
    "inf": (lambda a: with_one(a, -np.inf), errors.NotFiniteError, "row 4"),
    "nan, float32": (lambda a: with_one(a, np.nan).astype("f4"), errors.NotFiniteError, "row 4"),
    "nan, sparse": (lambda a: sp.csr_array(with_one(a, np.nan)), errors.NotFiniteError, "row 4"),
    "masked": (lambda a: np.ma.masked_array(a, mask=with_one(0 * a, 1)), errors.NotFiniteError, "row 4"),
    "none among objects": (lambda a: with_one(a, None).astype(object), errors.NotFiniteError, "row 4"),
    "no rows": (lambda a: a[:0], errors.EmptyDataError, "0 rows"),
    "no columns": (lambda a: a[:, :0], errors.EmptyDataError, "0 columns"),
    "no rows, sparse": (lambda a: sp.csr_array(a[:0]), errors.EmptyDataError, "0 rows"),
    "no columns, sparse": (lambda a: sp.csc_array(a[:, :0]), errors.EmptyDataError, "0 columns"),
    "one dimension": (lambda a: a[0], errors.ShapeError, "1 dimension"),
    "three dimensions": (lambda a: np.stack([a, a]), errors.ShapeError, "3 dimension"),
    "a number": (lambda a: 3.0, errors.ShapeError, "0 dimension"),
    "nothing": (lambda a: None, errors.ShapeError, "0 dimension"),
    "complex": (lambda a: a + 1j, errors.DataTypeError, "complex"),
    "complex, sparse": (lambda a: sp.csc_array(a + 1j), errors.DataTypeError, "complex"),
    "words": (lambda a: np.full((4, 5), "word"), errors.DataTypeError, "not real numbers"),
    "bytes": (lambda a: np.full((4, 5), b"word"), errors.DataTypeError, "not real numbers"),
    "words among objects": (lambda a: with_object(a, "word"), errors.DataTypeError, "word"),
    "dicts among objects": (lambda a: with_object(a, {}), errors.DataTypeError, "not real numbers"),
    "complex among objects": (lambda a: with_object(a, 1j), errors.DataTypeError, "not real numbers"),
    "huge whole numbers": (lambda a: with_object(a, 10**400), errors.DataTypeError, "not real numbers"),
    "times": (lambda a: a.astype("M8[s]"), errors.DataTypeError, "times"),
    "records": (lambda a: np.zeros((3, 3), dtype=[("a", "f8"), ("b", "i4")]), errors.DataTypeError, ""),
    "ragged lists": (lambda a: [[1.0, 2.0], [3.0]], errors.OrthoptError, ""),
    "indices outside": (lambda a: broken_indices(), errors.OrthoptError, "ind"),
    "pointers in no order": (lambda a: broken_pointers(), errors.OrthoptError, "ind"),
    "indices below zero": (lambda a: negative_indices(), errors.OrthoptError, "ind"),
}


def with_object(table, value):
    objects = table.astype(object)
    objects[3, 2] = value
    return objects


@entrances
@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_matrix_of_numbers(table, entrance, kind):
    make, error, words = WRONG[kind]
    if entrance is summed and kind.startswith("no rows"):
        pytest.skip("a chunk without rows adds nothing")
    with pytest.raises(error, match=words) as raised:
        entrance(make(table))
    assert isinstance(raised.value, errors.OrthoptError)
    assert str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("entrance", [solved, compared, traced, bounded], ids=lambda f: f.__name__)
@pytest.mark.parametrize("sparse", [False, True])
def test_huge(table, entrance, sparse):
    data = with_one(table, 1e200)
    with pytest.raises(errors.DataOverflowError, match="scale"):
        entrance(sp.csr_array(data) if sparse else data)


def test_numbers_without_squares(table):
    with pytest.raises(errors.DataUnderflowError, match="scale"):
        orthopt.solve("pca", 1e-200 * table, RANK)
    assert orthopt.solve("pca", 1e-200 * table, RANK, scale="std").feasibility < 1e-10


@pytest.mark.parametrize("factor", [1e-150, 1e-100, 1e100, 1e140])
def test_any_scale_that_can_be_squared(table, factor):
    """Finite numbers, whatever the scale."""
    found = orthopt.solve("pca", factor * table, RANK, restarts=0, max_iters=300)
    assert np.isfinite(found.objective) and np.isfinite(found.X).all()
    assert found.feasibility < 1e-10


def test_frames(table):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table, columns=[f"v{j}" for j in range(12)])
    assert solved(frame) == solved(table)
    assert solved(frame.astype("Float64")) == solved(table)
    with pytest.raises(errors.NotFiniteError, match="row 4, column 3"):
        solved(frame.mask(with_one(0 * table, 1) > 0))
    with pytest.raises(errors.OrthoptError):
        solved(frame.astype("Float64").mask(with_one(0 * table, 1) > 0))
    named = frame.assign(name="anna")
    for entrance in [solved, compared, certified, traced]:
        with pytest.warns(errors.OrthoptWarning, match="column `name` holds words and is left out"):
            entrance(named)
    with pytest.raises(errors.DataTypeError, match=r"column 13 \('name'\) .* drop=\['name'\]"):
        summed(named)
    with pytest.warns(errors.OrthoptWarning, match="column `when` holds words"):
        assert solved(frame.assign(when=pd.Timestamp("2020-01-01"))) == solved(frame)
    with pytest.raises(errors.EmptyDataError):
        solved(frame.iloc[:0])


@pytest.mark.parametrize("kind", ["nan", "no rows", "one dimension", "complex", "words"])
def test_estimators(table, kind):
    """scikit-learn looks first; what it lets pass is for us to refuse."""
    make = WRONG[kind][0]
    with pytest.raises((ValueError, errors.OrthoptError)) as raised:
        orthopt.SparsePCA(2).fit(make(table))
    assert str(raised.value)


@pytest.mark.parametrize("where", ["x0", "X", "init", "weights"])
def test_other_matrices_are_checked_too(table, where):
    bad = np.eye(12)[:, :2]
    bad[1, 1] = np.nan

    def give(value):
        if where == "x0":
            orthopt.minimize(lambda x: (0.0, 0 * x), value, max_iters=3)
        elif where == "X":
            orthopt.certify("pca", table, value)
        elif where == "init":
            orthopt.solve("pca", table, 2, init=value)
        else:
            orthopt.GramAccumulator().add(table, weights=value)

    for value in (bad, bad.astype(complex), np.zeros((0, 2)), np.array([["a", "b"]]), np.ones((2, 2, 2)), np.ones(3)):
        with pytest.raises(errors.OrthoptError) as raised:
            give(value)
        assert str(raised.value)
