"""Every kind of array, matrix and frame at every entrance: the same result as for plain doubles, or an error of
orthopt.errors that says what and where. Then threads, forks, and an interpreter that ends in the middle of a run."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

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
    columns = data.shape[1] if getattr(data, "ndim", 0) == 2 else 12
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
    "words": (lambda a: np.full((4, 5), "word"), errors.DataTypeError, "no real numbers"),
    "bytes": (lambda a: np.full((4, 5), b"word"), errors.DataTypeError, "no real numbers"),
    "words among objects": (lambda a: with_object(a, "word"), errors.DataTypeError, "word"),
    "dicts among objects": (lambda a: with_object(a, {}), errors.DataTypeError, "no real numbers"),
    "complex among objects": (lambda a: with_object(a, 1j), errors.DataTypeError, "no real numbers"),
    "huge whole numbers": (lambda a: with_object(a, 10**400), errors.DataTypeError, "no real numbers"),
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


@pytest.mark.parametrize("factor", [1e-200, 1e-150, 1e-100, 1e100, 1e140])
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
    for entrance in ENTRANCES:
        with pytest.raises(errors.DataTypeError, match="anna"):
            entrance(named)
    with pytest.raises(errors.DataTypeError):
        solved(frame.assign(when=pd.Timestamp("2020-01-01")))
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


class Mine(Exception):
    """Raised by callbacks."""


def test_callbacks_that_raise(table):
    def raising(*_):
        raise Mine("here")

    def slow(x):
        time.sleep(0.05)  # callbacks come ten times a second
        return -0.5 * float(np.sum(x * x * np.arange(6)[:, None])), -x * np.arange(6)[:, None]

    calls = [
        lambda: orthopt.solve("l0-pca", "randn:60:40:1", 3, 5.0, callback=raising),
        lambda: orthopt.minimize(raising, (6, 2)),
        lambda: orthopt.minimize(slow, (6, 2), tol=0.0, callback=raising),
        lambda: orthopt.path("l0-pca", "randn:60:40:1", 3, callback=raising),
        lambda: orthopt.bound("l0-pca", "randn:60:40:1", 3, 5.0, callback=raising),
    ]
    for call in calls:
        with pytest.raises(Mine, match="here"):
            call()
    assert np.isfinite(solved(table))  # nothing is left locked


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda x: None, errors.DataTypeError),
        (lambda x: (1.0,), errors.DataTypeError),
        (lambda x: ("a", x), errors.DataTypeError),
        (lambda x: (1j, x), errors.DataTypeError),
        (lambda x: (1.0, x[:1]), errors.ShapeError),
        (lambda x: (1.0, x + 1j), errors.DataTypeError),
        (lambda x: (1.0, [["a", "b"]] * 6), errors.DataTypeError),
    ],
)
def test_functions_that_answer_nonsense(answer, error):
    with pytest.raises(error):
        orthopt.minimize(answer, (6, 2), max_iters=5)


@pytest.mark.parametrize(
    ("answer", "statuses"),
    [
        (lambda x: (np.nan, x), ["numerical_error"]),
        (lambda x: (np.inf, x), ["numerical_error"]),
        # a gradient alone that is none leaves f as it is, and X where it was
        (lambda x: (1.0, np.nan * x), ["numerical_error", "stalled", "max_iters"]),
    ],
)
def test_functions_without_a_value(answer, statuses):
    """A function that breaks is mathematics and no misuse: the status says so, and X is a point all the same."""
    found = orthopt.minimize(answer, (6, 2), max_iters=5)
    assert found.status in statuses and np.isfinite(found.X).all() and found.feasibility < 1e-12


def test_functions_that_keep_or_change_their_argument():
    kept = []

    def fun(x):
        kept.append(x)
        gradient = 2.0 * x * np.arange(6)[:, None]
        value = float(np.sum(x * x * np.arange(6)[:, None]))
        x[:] = np.nan
        return value, gradient

    found = orthopt.minimize(fun, (6, 2), max_iters=200)
    assert np.isfinite(found.X).all() and found.objective == pytest.approx(1.0, abs=1e-6) and len(kept) > 2


def test_threads_solve_at_once(table):
    def objective(seed):
        return orthopt.solve("l0-pca", table, 3, 2.0, seed=seed, restarts=0, max_iters=2000, init="random").objective

    results, alone = {}, {seed: objective(seed) for seed in range(4)}

    def work(seed):
        results[seed] = [objective(seed) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in alone]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == {seed: [value] * 5 for seed, value in alone.items()}


def _child(queue):
    queue.put(orthopt.solve("l0-pca", "randn:60:40:1", 3, 5.0, max_iters=500).objective)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    here = orthopt.solve("l0-pca", "randn:60:40:1", 3, 5.0, max_iters=500).objective
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=_child, args=(queue,)) for _ in range(2)]
    [child.start() for child in children]
    try:
        assert [queue.get(timeout=120) for _ in children] == [here, here]
        [child.join(120) for child in children]
        assert [child.exitcode for child in children] == [0, 0]
    finally:
        [child.kill() for child in children]


ENDING = """
import sys, threading, time
import numpy as np, orthopt

begun = threading.Event()
def callback(*_):
    begun.set()
def fun(x):
    begun.set()
    return -0.5 * float(np.sum(x * x * np.arange(len(x))[:, None])), -x * np.arange(len(x))[:, None]

def work():
    if sys.argv[1] == "solve":
        orthopt.solve("l0-pca", "randn:300:600:1", 10, 1.0, time_limit=600, callback=callback)
    elif sys.argv[1] == "bound":
        begun.set()
        orthopt.bound("l0-pca", "randn:100:60:1", 5, 1.0, time_limit=600)
    else:
        while True:
            orthopt.minimize(fun, (200, 5), tol=0.0, max_iters=100000, penalty="l1", lam=1.0)

threading.Thread(target=work, daemon=True).start()
assert begun.wait(60)
time.sleep(0.3)
print("ending")
if sys.argv[2] == "raise":
    raise SystemExit(7)
"""


@pytest.mark.parametrize("what", ["solve", "bound", "minimize"])
@pytest.mark.parametrize("how", ["end", "raise"])
def test_the_interpreter_ends_during_a_run(what, how):
    """A daemon thread is in the middle of a run: the process ends by itself, without a crash."""
    done = subprocess.run(
        [sys.executable, "-c", ENDING, what, how],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "RUST_BACKTRACE": "1"},
    )
    assert done.stdout.strip() == "ending", done.stderr
    assert done.returncode == (7 if how == "raise" else 0), (done.returncode, done.stderr)
    assert "panicked" not in done.stderr and "Fatal" not in done.stderr, done.stderr
