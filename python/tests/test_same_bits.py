"""The same seed and options give the same X, bit by bit, on the command line, in Rust, in R and here."""

import numpy as np
import pytest
import scipy.sparse as sp

import orthopt
from orthopt import errors


def same_bits(a, b):
    return a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.fixture(scope="module")
def file(samples, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "samples.npy"
    np.save(path, samples)
    return path


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, []),
        ({"center": True}, ["--center"]),
        ({"center": True, "scale": "unit", "lam": 0.2}, ["--center", "--scale", "unit", "--lambda", "0.2"]),
        ({"scale": 0.5, "lam": 0.2}, ["--scale", "0.5", "--lambda", "0.2"]),
        ({"features": 7, "storage": "gram"}, ["--features", "7", "--storage", "gram"]),
        ({"center": True, "storage": "gram"}, ["--center", "--storage", "gram"]),
        ({"solver": "obcd", "seed": 5}, ["--solver", "obcd", "--seed", "5"]),
        ({"solver": "ladmm+obcd", "init": "pca"}, ["--solver", "ladmm+obcd", "--init", "pca"]),
        ({"penalty": "mcp", "mcp_gamma": 2.5}, ["--penalty", "mcp", "--mcp-gamma", "2.5"]),
        ({"working_set": "greedy-sv", "restarts": 3}, ["--working-set", "greedy-sv", "--restarts", "3"]),
        ({"solver": "obcd", "max_iters": 50}, ["--solver", "obcd", "--max-iters", "50"]),
    ],
)
@pytest.mark.parametrize("problem", ["l0-pca", "l1-pca"])
def test_command_line(cli, samples, file, tmp_path, problem, options, arguments):
    x = tmp_path / "x.npy"
    cli("solve", problem, file, "-r", 3, "--save-x", x, "--quiet", *arguments)
    ours = orthopt.solve(problem, samples, 3, **options)
    assert same_bits(np.ascontiguousarray(ours.X), np.ascontiguousarray(np.load(x)))


def test_command_line_sparse(cli, tmp_path):
    matrix = sp.random(60, 20, density=0.2, random_state=1, format="csc")
    sp.save_npz(tmp_path / "a.npz", matrix)
    for options, arguments in [({}, []), ({"center": True}, ["--center"]), ({"storage": "gram"}, ["--storage", "gram"])]:
        quick = ["--nonzeros", 4, "--effort", "quick", "--save-x", tmp_path / "x.npy", "--quiet"]
        cli("solve", "l0-pca", tmp_path / "a.npz", "-r", 3, *quick, *arguments)
        ours = orthopt.solve("l0-pca", matrix.tocsr(), 3, nonzeros=4, effort="quick", **options)
        assert same_bits(np.ascontiguousarray(ours.X), np.ascontiguousarray(np.load(tmp_path / "x.npy")))


def test_command_line_hyperbolic(cli, samples, file, tmp_path):
    cli("solve", "hyperbolic-eig", file, "--signature", 5, "--ridge", 0.1, "--save-x", tmp_path / "x.npy")
    ours = orthopt.solve("hyperbolic-eig", samples, signature=5, ridge=0.1)
    assert same_bits(np.ascontiguousarray(ours.X), np.ascontiguousarray(np.load(tmp_path / "x.npy")))


@pytest.mark.parametrize(
    ("problem", "options", "arguments"),
    [
        ("dc-pca", {"k": 9, "lam": 2.0}, ["--k", "9", "--lambda", "2"]),
        ("fused-pca", {"lam": 0.5}, ["--lambda", "0.5"]),
        ("mcp-pca", {}, []),
        ("l1-pca", {"map": "differences"}, ["--map", "differences"]),
        ("hyperbolic-eig", {"ridge": 0.1, "side": "rows", "max_iters": 500},
         ["--ridge", "0.1", "--side", "rows", "--max-iters", "500"]),
    ],
)  # fmt: skip
def test_command_line_other_problems(cli, samples, file, tmp_path, problem, options, arguments):
    """Without limits too: how often both start again is decided in one place."""
    x = tmp_path / "x.npy"
    rank = {} if problem == "hyperbolic-eig" else {"rank": 3}
    cli("solve", problem, file, *(["-r", 3] if rank else []), "--save-x", x, "--quiet", *arguments)
    ours = orthopt.solve(problem, samples, **rank, **options)
    assert same_bits(np.ascontiguousarray(ours.X), np.ascontiguousarray(np.load(x)))


def test_command_line_nonlinear(cli, tmp_path):
    x = tmp_path / "x.npy"
    cli("solve", "nonlinear-eig", "laplace:40", "-r", 2, "--lambda", 5, "--save-x", x, "--quiet")
    ours = orthopt.solve("nonlinear-eig", "laplace:40", 2, 5.0)
    assert same_bits(np.ascontiguousarray(ours.X), np.ascontiguousarray(np.load(x)))
    cli("solve", "nonlinear-eig", "randn:20:30", "-r", 2, "--linear", "randn:3", "--save-x", x, "--quiet")
    ours = orthopt.solve("nonlinear-eig", "randn:20:30", 2, linear="randn:3")
    assert same_bits(np.ascontiguousarray(ours.X), np.ascontiguousarray(np.load(x)))
    with pytest.raises(errors.InvalidOptionError, match="randn"):
        orthopt.solve("nonlinear-eig", "randn:20:30", 2, linear="normal")


def test_estimator_is_solve(samples):
    sklearn = pytest.importorskip("sklearn")
    assert sklearn
    fitted = orthopt.SparsePCA(3, alpha=0.1, random_state=4).fit(samples)
    solved = orthopt.solve("l0-pca", samples, 3, lam_share=0.1, center=True, seed=4)
    assert same_bits(fitted.solution_.X, solved.X)


@pytest.mark.parametrize("options", [{}, {"center": True}, {"storage": "gram"}, {"center": True, "storage": "gram"}])
def test_layout_and_threads_do_not_matter(samples, options):
    options = {"seed": 2, "nonzeros": 4, "effort": "quick", **options}
    reference = orthopt.solve("l0-pca", samples, 3, **options).X
    padded = np.zeros((80, 30))
    padded[::2, 3:27:2] = samples
    frozen = samples.copy()
    frozen.flags.writeable = False
    layouts = [np.asfortranarray(samples), padded[::2, 3:27:2], samples[::-1][::-1], frozen, samples.tolist()]
    layouts.append(samples.astype(samples.dtype.newbyteorder()))
    for layout in layouts:
        assert same_bits(orthopt.solve("l0-pca", layout, 3, **options).X, reference)
    for threads in (1, 3):
        assert same_bits(orthopt.solve("l0-pca", samples, 3, threads=threads, **options).X, reference)


def test_tall_data_in_slabs():
    """More rows than are copied at a time."""
    rng = np.random.default_rng(5)
    tall = rng.normal(size=(9000, 6)) * np.arange(1, 7) + 3.0
    reference = orthopt.solve("l1-pca", tall, 2, center=True, restarts=0)
    fortran = orthopt.solve("l1-pca", np.asfortranarray(tall), 2, center=True, restarts=0)
    assert same_bits(reference.X, fortran.X)
    by_hand = tall - tall.mean(axis=0)
    direct = orthopt.solve("l1-pca", by_hand, 2, lam=reference.lam, restarts=0)
    np.testing.assert_allclose(direct.objective, reference.objective, rtol=1e-10)
