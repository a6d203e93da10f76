"""Every option of every call for every problem: it changes what comes out, or it is refused with the reason."""

import dataclasses
import inspect
import tempfile
import warnings

import numpy as np
import pytest

import orthopt
from orthopt import _options, errors

RNG = np.random.default_rng(5)
DATA = RNG.normal(size=(12, 6)) * np.arange(1.0, 7.0) + 0.7
HOLES = DATA.copy()
HOLES[3, 2] = np.nan
PROBLEMS = list(orthopt.registry("problems"))
J = ("hyperbolic-eig", "probe")
COMPOSITE = ("dc-pca", "capped-l1-pca", "fused-pca")
SAMPLES = ("ica", "dictionary", "robust-subspace")
REFUSED = (errors.OrthoptError,)

#: What changes no result: limits of the machine, and who is told what.
NO_RESULT = {"threads", "max_memory", "callback", "progress", "on_interrupt"}

#: Whose effect need not show: a search need not come to a solver that looks at them, nor a further start be better.
OF_SOLVERS = {
    "alpha", "block", "max_iters", "candidates", "effort", "init", "jacobi", "min_decrease", "model", "restarts", "seed", "side",
    "solver", "tol", "working_set",
}  # fmt: skip

#: A value for every option, and what stands beside it with and without it.
#: How a table is read, as a file.
LAYOUT = tempfile.NamedTemporaryFile("w", suffix=".json")
LAYOUT.write('{"columns": "1-4"}')
LAYOUT.flush()
VALUES = {
    "lam": 0.7,
    "lam_share": 0.31,
    "relative_lam": 0.3,
    "k": 3,
    "map": "differences",
    "gram": True,
    "center": True,
    "scale": 3.0,
    "covariance": True,
    "missing": "mean",
    "features": 5,
    "storage": "gram",
    "signature": 2,
    "ridge": 0.5,
    "reproduction": True,
    "distances": np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))),
    "radius": 2.0,
    "placement": "before",
    "linear": "randn:3",
    "target": RNG.normal(size=(12, 2)),
    "component_weights": [3.0, 1.0],
    "metric": np.arange(1.0, 7.0),
    "nonzeros": 2,
    "total_nonzeros": 5,
    "variables": 3,
    "constraint": "uncorrelated",
    "maximise": "explained",
    "order": "sequential",
    "min_nonzeros": 2,
    "max_nonzeros": 2,
    "working_set": "random",
    "block": 3,
    "model": "diagonal",
    "side": "columns",
    "alpha": 0.5,
    "candidates": 3,
    "jacobi": True,
    "restarts": 1,
    "effort": "thorough",
    "seed": 5,
    "max_iters": 1,
    "time_limit": 0.0,
    "tol": 0.5,
    "min_decrease": 1e3,
    "certify": True,
    "bound": 1.0,
    "pairs": 4,
    "cv": 3,
    "cv_by": "cells",
    "samples": 50,
    "counts": [1, 3],
    "lams": [0.5, 0.1],
    "nodes": 0,
    "dual": True,
    "header": "no",
    "columns": "1-4",
    "drop": "2",
    "drop_rows": "2",
    "footer": 1,
    "layout": LAYOUT.name,
    "skip": 1,
    "strip": "*",
    "row_names": "none",
    "weights": np.arange(1.0, 1.0 + len(DATA)),
    "transpose": True,
    "na": "-999",
    "decimal": ",",
    "thousands": "'",
    "sheet": "1",
    "names": "names.txt",
    "title": "Pines",
    "nearest": True,
}
BESIDE = {
    "constraint": {"nonzeros": 3},
    "maximise": {"nonzeros": 3},
    "order": {"nonzeros": 3},
    "min_nonzeros": {"total_nonzeros": 6},
    "max_nonzeros": {"total_nonzeros": 6},
    "candidates": {"working_set": "greedy-sv"},
    "time_limit": {},
    "cv_by": {"cv": 3},
}


def value(option, problem):
    if option == "rank":
        return 3
    if option == "penalty":
        return "mcp" if problem == "scad-pca" else "scad"
    if option in ("solver", "solvers"):
        named = {"nonlinear-eig": "obcd-approx", **dict.fromkeys(J, "csdm"), **dict.fromkeys(COMPOSITE, "radmm"), **dict.fromkeys(SAMPLES, "optm-cayley")}
        return named.get(problem, "ladmm")
    if option == "init":
        named = {"nonlinear-eig": "eigen", "nonneg-pca": "partition", **dict.fromkeys(J, "identity")}
        return named.get(problem, "random")
    return VALUES[option]


def facts(found):
    """What there is in a result, without times and without what only repeats the settings."""
    if dataclasses.is_dataclass(found):
        skip = ("seconds", "settings", "trace", "solution")
        return {f.name: facts(getattr(found, f.name)) for f in dataclasses.fields(found) if f.name not in skip}
    if isinstance(found, (list, tuple)):
        return [facts(one) for one in found]
    if isinstance(found, np.ndarray):
        return found.tolist()
    if isinstance(found, dict):
        return {key: facts(one) for key, one in found.items()}
    return found


def outcome(call, problem, options):
    """The facts of a call, or the error that refuses it."""
    options = dict(options)
    data = options.pop("data", DATA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if call == "certify":
                beside = {"target": VALUES["target"]} if problem == "procrustes" else {}
                start = orthopt.solve(problem, DATA, None if problem in J else 2, max_iters=40, **beside).X
                return facts(orthopt.certify(problem, data, start, **options))
            return facts(getattr(orthopt, call)(problem, data, **options))
        except errors.OrthoptError as error:
            return error


def base(call, problem, option):
    """The call without the option."""
    options = {} if call == "certify" else {"max_iters": 40}
    if problem not in J and call != "certify" and option != "rank":
        options["rank"] = 2
    if call == "path" and option not in ("counts", "lams"):
        options["counts"] = [1, 2]
    if call == "bound" and option != "time_limit":
        options["time_limit"] = 2.0
    if problem == "procrustes" and option != "target":
        options["target"] = VALUES["target"]
    if option == "gram":
        options["data"] = DATA.T @ DATA
    if option == "missing":
        options["data"] = HOLES
    return {**options, **BESIDE.get(option, {})}


def options_of(call):
    """Every argument, and every option behind ``**options``."""
    named = inspect.signature(getattr(orthopt, call)).parameters
    hidden = _options.TABLE
    skip = {"problem", "data", "options", "X", "fun", "x0"}
    return sorted((set(named) | set(hidden)) - skip - NO_RESULT)


def cells(call):
    return [(problem, option) for problem in PROBLEMS for option in options_of(call)]


def judge(call, problem, option):
    without = base(call, problem, option)
    plain = outcome(call, problem, without)
    if isinstance(plain, REFUSED) and option != "missing":
        return "refused as a whole"
    found = outcome(call, problem, {**without, option: value(option, problem)})
    if isinstance(found, Exception):
        if isinstance(found, REFUSED):
            assert str(found), (problem, option)
            return "refused"
        assert option in ("gram", "time_limit", "missing", "ridge", "reproduction"), (problem, option, found)
        return "failed"
    if option in OF_SOLVERS or (option, problem) == ("bound", "pca"):  # plain PCA is proved without being asked
        return "means something"
    assert found != plain, f"{call} {problem} {option}={value(option, problem)!r} changes nothing and is accepted"
    return "means something"


@pytest.mark.parametrize("call", ["solve", "compare", "path", "certify"])  # of bound the test of the command does it
def test_every_option_means_something_or_is_refused(call):
    wrong, counts = [], {}
    for problem, option in cells(call):
        try:
            verdict = judge(call, problem, option)
            counts[verdict] = counts.get(verdict, 0) + 1
        except AssertionError as error:
            wrong.append(str(error).splitlines()[0])
    print(call, counts)
    assert counts["refused"] > 20 and counts["means something"] > 20
    assert not wrong, f"{len(wrong)} cells:\n" + "\n".join(wrong)


def quadratic(c):
    return lambda x: (-0.5 * float(np.sum(x * (c @ x))), -c @ x)


C = DATA.T @ DATA


def minimised(constraint, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            shape = (6, 6) if constraint == "j-orthogonal" else (6, 2)
            f = (lambda x: (float(np.sum(x * (C @ x))), 2 * C @ x)) if shape == (6, 6) else quadratic(C)
            return facts(orthopt.minimize(f, shape, constraint=constraint, **options))
        except errors.OrthoptError as error:
            return error


@pytest.mark.parametrize("constraint", ["stiefel", "j-orthogonal"])
def test_every_option_of_minimize_means_something_or_is_refused(constraint):
    j = constraint == "j-orthogonal"
    means = set()
    extra = {
        "solver": "csdm" if j else "spm",
        "penalty": "l1",
        "lipschitz": 1e6,
        "sample": lambda x, which: (float(np.sum(x * (C @ x))), 2 * C @ x),
        "components": 1_000_000,  # with fewer the default does not sample
        "hess": lambda x, d: -C @ d,  # of quadratic(C)
        "init": "random",
        "rank": 3,
        "k": 2,
        "signature": 2,
    }
    beside = {
        "penalty": {"lam": 20.0},
        "lam": {"penalty": "l1"},
        "k": {"penalty": "l1-largest-k", "lam": 20.0},
        "map": {"penalty": "l1", "lam": 20.0},
        "candidates": {"working_set": "greedy-sv"},
    }
    for option in options_of("minimize"):
        if option in ("constraint", "check_gradient"):  # a gradient that is wrong raises, another one changes nothing
            continue
        without = {"max_iters": 30, "seed": 1, **({"signature": 3} if j else {})}
        others = dict(beside.get(option, {}))
        if option == "penalty":
            without_it, others = dict(without), others
        else:
            without.update({} if j else others)
            without_it = without
        plain = minimised(constraint, without_it)
        if option == "lam" and not j:
            plain = minimised(constraint, {**without, "lam": 1.0})
        given = {"sample": ("sample", "components"), "components": ("sample", "components")}.get(option, (option,))
        values = {name: extra.get(name, VALUES.get(name)) for name in given}
        found = minimised(constraint, {**without, **({} if j else others), **values})
        if isinstance(found, Exception):
            assert isinstance(found, REFUSED + (TypeError,)), (option, found)
            continue
        if option not in OF_SOLVERS | {"k"}:  # of twelve entries the largest k may be all that matter
            assert found != plain, f"minimize {constraint} {option} changes nothing and is accepted"
        means.add(option)
    shared = {"solver", "max_iters", "seed", "tol", "certify"}
    assert shared <= means, shared - means
    assert ({"penalty", "lam", "k", "map"} <= means) != j and ("signature" in means) == j
    assert not means & {"center", "nonzeros", "ridge", "linear", "variables", "scale", "threads", "effort"}


def test_minimize_through_a_map():
    """The same problem with the map in the library's own and in that of the call, and by the fused penalty."""
    a = np.random.default_rng(3).normal(size=(20, 8)) @ np.diag(np.arange(1.0, 9.0))
    c = a.T @ a
    x0 = np.linalg.qr(np.random.default_rng(4).normal(size=(8, 2)))[0]
    own = dict(solver="oadmm", max_iters=400)
    library = orthopt.solve("l1-pca", c, 2, 30.0, gram=True, map="differences", init=x0, restarts=0, **own)
    here = orthopt.minimize(quadratic(c), x0, penalty="l1", lam=30.0, map="differences", **own)
    fused = orthopt.minimize(quadratic(c), x0, penalty="fused-l1", lam=30.0, **own)
    plain = orthopt.minimize(quadratic(c), x0, penalty="l1", lam=30.0, **own)
    assert here.objective == pytest.approx(library.objective, rel=1e-6)
    assert np.array_equal(here.X, fused.X) and not np.allclose(here.X, plain.X)
    assert here.nonsmooth == pytest.approx(30.0 * np.abs(np.diff(here.X, axis=0)).sum(), rel=1e-9)
    matrix = orthopt.minimize(quadratic(c), x0, penalty="l1", lam=30.0, map=np.diff(np.eye(8), axis=0), **own)
    assert matrix.objective == pytest.approx(here.objective, rel=1e-6)


def test_minimize_without_the_largest():
    f = quadratic(C)
    s = orthopt.minimize(f, (6, 2), penalty="l1-largest-k", lam=50.0, k=4, max_iters=4000, seed=2)
    rest = np.sort(np.abs(s.X).ravel())[:-4].sum()
    assert s.nonsmooth == pytest.approx(50.0 * rest, abs=1e-4 * (1 + abs(s.objective)))
    assert orthopt.minimize(f, (6, 2), penalty="l1-largest-k", lam=50.0, k=12, max_iters=50).nonsmooth == pytest.approx(0.0)
    with pytest.raises(errors.IncompatibleError, match="^k= does not apply .* l1-largest-k"):
        orthopt.minimize(f, (6, 2), penalty="l1", lam=1.0, k=3)
    with pytest.raises(errors.IncompatibleError, match="^map="):
        orthopt.minimize(f, np.eye(6), constraint="j-orthogonal", signature=3, map="differences")


def test_minimize_finite_sums():
    """The mean of m functions: sampled components find the minimum that all of them together have."""
    rng = np.random.default_rng(8)
    parts = rng.normal(size=(50, 6, 6))
    parts = parts @ parts.transpose(0, 2, 1) + 0.5 * np.eye(6)
    looked = []

    def sample(x, which):
        looked.append(len(which))
        c = parts[which].mean(axis=0)
        return float(np.sum(x * (c @ x))), 2 * c @ x

    def fun(x):
        return sample(x, np.arange(50))

    own = dict(constraint="j-orthogonal", signature=3, max_iters=3000, seed=1)
    s = orthopt.minimize(fun, np.eye(6), sample=sample, components=50, solver="vr-j-jobcd", **own)
    known = np.abs(np.linalg.eigvals(np.diag([1.0] * 3 + [-1.0] * 3) @ parts.mean(axis=0))).sum()
    assert s.solver == "vr-j-jobcd" and s.objective == pytest.approx(known, rel=1e-3)
    assert min(looked) < 50
    sampled = sum(looked)
    looked.clear()
    whole = orthopt.minimize(fun, np.eye(6), sample=sample, components=50, **own)  # the default costs less
    assert whole.solver == "j-lbfgs" and whole.objective <= s.objective + 1e-9 * known
    assert sum(looked) < 0.5 * sampled
    one = lambda x, which: fun(x)  # noqa: E731
    many = orthopt.minimize(fun, np.eye(6), sample=one, components=1_000_000, **{**own, "max_iters": 2})
    assert many.solver == "vr-j-jobcd"
    with pytest.raises(errors.IncompatibleError, match="mean of its components"):
        orthopt.minimize(lambda x: (fun(x)[0] + 1, fun(x)[1]), np.eye(6), sample=sample, components=50, **own)
    with pytest.raises(errors.IncompatibleError, match="^sample= does not apply"):
        orthopt.minimize(fun, np.eye(6), sample=sample, components=50, solver="csdm", **own)
    with pytest.raises(errors.InvalidOptionError, match="belong together"):
        orthopt.minimize(fun, np.eye(6), components=50, **own)
    with pytest.raises(errors.IncompatibleError, match="finite sums"):
        orthopt.minimize(fun, np.eye(6), solver="vr-j-jobcd", **own)


#: Parameters of the estimators with a value other than the default, and what stands beside it.
PARAMETERS = {
    "n_components": (3, {}),
    "penalty": ("l1", {"alpha": 0.3}),
    "alpha": (0.4, {}),
    "nonzeros": (2, {}),
    "constraint": ("uncorrelated", {"nonzeros": 3}),
    "maximise": ("explained", {"nonzeros": 3}),
    "order": ("sequential", {"nonzeros": 3}),
    "solver": ("ladmm", {}),
    "init": ("random", {}),
    "max_iter": (3, {}),
    "time_limit": (0.0, {}),
    "tol": (0.5, {}),
    "restarts": (1, {}),
    "effort": ("thorough", {}),
    "certify": (3, {}),
    "bound": (1.0, {}),
    "penalty_params": ({"mcp_gamma": 5.0}, {"penalty": "mcp", "alpha": 0.3}),
    "random_state": (3, {}),
    "missing": ("mean", {}),
}


@pytest.mark.parametrize("base", [{}, {"penalty": "none"}, {"nonzeros": 2}, {"solver": "obcd"}], ids=str)
def test_every_parameter_of_the_estimators_means_something_or_is_refused(base):
    # n_threads: the result does not depend on it; on_interrupt: what Ctrl-C does
    names = set(inspect.signature(orthopt.SparsePCA).parameters) - {"n_threads", "on_interrupt"}
    assert names == set(PARAMETERS)

    def fitted(options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return facts(orthopt.SparsePCA(**options).fit(data).solution_)
            except (errors.OrthoptError, ValueError) as error:
                return error

    for name, (given, beside) in PARAMETERS.items():
        if name in base:
            continue
        data = DATA.copy()
        if name == "missing":
            data[3, 1] = np.nan
        common = {"n_components": 2, "random_state": 0, "max_iter": 400, **beside, **base}
        common.pop(name, None)
        if name == "n_components":
            common.pop("n_components", None)
        plain, found = fitted(common), fitted({**common, name: given})
        if isinstance(found, Exception):
            assert isinstance(found, REFUSED), (name, found)
        else:
            quiet = {"max_iter", "random_state", "certify"} | OF_SOLVERS
            quiet |= {"bound"} if common.get("penalty") == "none" else set()  # plain PCA is proved without being asked
            assert name in quiet or found != plain, f"{name}={given!r} beside {common} changes nothing"


def test_options_that_a_call_sets_itself_are_not_overridden():
    x = orthopt.solve("l0-pca", DATA, 2, 5.0, max_iters=50).X
    for options in ({"solver": "obcd"}, {"init": "pca"}, {"rank": 2}, {"max_iters": 3}, {"effort": "quick"}, {"seed": 4}):
        with pytest.raises(REFUSED):
            orthopt.certify("l0-pca", DATA, x, 5.0, **options)
    for options in ({"solver": "obcd"}, {"seed": 4}, {"obcd_r": 1}, {"restarts": 2}, {"irpg_rho": 0.9}):
        with pytest.raises(REFUSED):
            orthopt.bound("l0-pca", DATA, lam=5.0, X=x, nodes=0, **options)
    with pytest.raises(errors.RankError):
        orthopt.bound("l0-pca", DATA, 3, 5.0, X=x, nodes=0)
    with pytest.raises(REFUSED):
        orthopt.SparsePCA(2, penalty_params={"center": False}).fit(DATA)
