"""``minimize``: a smooth function of the user."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from . import _autodiff, _data, _ending, _gradient, _hessian, _interrupt, _orthopt
from ._metric import Metric
from ._progress import bar_for
from ._options import checked, fill
from ._solution import Solution, solution
from ._solve import Callback, _Caller
from .errors import DataTypeError, IncompatibleError, InvalidOptionError, ShapeError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._request import MinimizeOptions


def minimize(
    fun: Callable[[np.ndarray], tuple[float, Any]],
    x0: Any,
    *,
    hess: _hessian.Hessian | str | None = None,
    penalty: str = "none",
    lam: float | None = None,
    k: int | None = None,
    map: Any = None,
    metric: Any = None,
    constraint: str = "stiefel",
    signature: Any = None,
    solver: str = "auto",
    lipschitz: float | None = None,
    sample: Callable[[np.ndarray, np.ndarray], tuple[float, Any]] | None = None,
    components: int | None = None,
    certify: bool = False,
    check_gradient: bool = True,
    callback: Callback | None = None,
    progress: bool = False,
    on_interrupt: str = "return",
    **options: Unpack[MinimizeOptions],
) -> Solution:
    """Minimises f(X) + h(X) over X'X = I or X'BX = I, or f(X) over X'JX = J, for a smooth f given as a function.

    Parameters
    ----------
    fun
        Takes X (n x r, a fresh NumPy array) and returns f(X) and its gradient in the ordinary
        sense, an n x r matrix of all partial derivatives; the constraint is taken care of. A function
        written with JAX or PyTorch may return f(X) alone, a scalar of theirs, which is then differentiated
        by them; with PyTorch X comes as a tensor. If ``x0`` is a tensor, or an array of JAX or CuPy, X comes
        in its type and on its device.
        It is called in this thread; what it raises ends the run and is raised here.
        Some solvers evaluate it near the constraint and not only on it.
    x0
        A feasible start (n x r), or the shape ``(n, r)`` for random ones: then runs continue until two starts
        have come to the lowest F, ten starts at the most. A square X (n = r) is started in both halves of
        O(n), those with det X = 1 and det X = -1, which most methods cannot leave, unless f and its gradient
        show that a change of sign of a column leaves f as it is.
    hess
        Products with the Hessian of f: ``hess(X, D)`` returns the derivative of the gradient at X along D (n x r), in the ordinary
        sense. ``"auto"`` for a ``fun`` that returns a scalar of JAX or PyTorch, which is then differentiated twice.
        The default solver is then ``"trust-region"``. Only without a penalty, and for X'X = I or a ``metric``.
    penalty, lam
        h and its weight: ``"none"``, ``"l1"``, ``"l0"``, ``"nonneg"``, ``"l21"`` (lengths of rows), ..., ``"l1-largest-k"`` (the sum of absolute
        values without the k largest), ``"fused-l1"`` (differences of neighbouring rows);
        ``orthopt.registry("penalties")`` lists all. Only for ``constraint="stiefel"``.
    k
        Number of entries that ``"l1-largest-k"`` does not penalise. Default: 5 %, at least one per column.
    map
        A in h(A(X)): ``"differences"``, ``"rows:LIST"``, ``"columns:LIST"``, a matrix B, A(X) = BX, or two functions: ``(A, At)``
        with ``A(X)`` a matrix of any size that is linear in X and ``At`` its adjoint, <A(X), Y> = <X, At(Y)>, which is checked; or a
        ``scipy.sparse.linalg.LinearOperator`` or sparse matrix B. For penalties that are weakly convex and Lipschitz, and ``constraint="stiefel"``.
    metric
        B of the constraint X'BX = I instead of X'X = I: a positive definite matrix (n x n, dense or sparse), or its
        diagonal. The run is one over Y'Y = I with Y = F'X, B = FF' (Cholesky), and the solution has X, f, h
        and ``feasibility`` ||X'BX - I||_F. A penalty is one of X: ``"l0"`` and ``"nonneg"`` need a diagonal B, and others h(A(Y))
        with A(Y) = X. With up to 1000 rows entries of X that are near zero are set to zero at the end where that does not raise f + h, and
        X'BX = I is restored without them.
    constraint
        ``"stiefel"`` (X'X = I) or ``"j-orthogonal"`` (X'JX = J, X square).
    signature
        J: the number of leading ones, or a list of signs.
    solver
        For X'X = I every solver that needs only values and gradients of f: ``"irpg"`` (the
        default for convex penalties), ``"ladmm"`` (the default for others), ``"amanpg"``, ``"manpg-ada"``,
        ``"manpg"``, ``"slpg"``, ``"rsubgrad"``, ``"spm"``, ``"soc"``; without a penalty ``"lbfgs"`` (L-BFGS,
        the default then), ``"optm-cayley"``, ``"optm-qr"``, ``"foforth-gr"``, ``"foforth-p"``, ``"foforth-qr"``; with ``hess``
        ``"trust-region"`` (Newton's method in a trust region, the default then); ``"oadmm"``,
        ``"oadmm-ep"``, ``"oadmm-rr"``, ``"radmm"``, ``"spgm-ep"``, ``"spgm-rr"``, ``"subgrad"``,
        ``"madmm"``, ``"manial"``, ``"rial"``, ``"rada-rgd"``; ``"obcd-majorised"`` (OBCD, a gradient for
        a round of disjoint pairs or blocks of rows: ``block``, ``model``, any penalty), and without a penalty ``"obcd-approx"`` (pairs of
        rows along f itself, ten gradients a pair). For X'JX = J: ``"j-lbfgs"`` (L-BFGS
        on the group, the default), ``"j-jobcd"``, ``"gs-jobcd"``, ``"j-admm"``, ``"umcm"``, ``"csdm"``, ``"vr-j-jobcd"`` (with ``sample``). With a map, or a
        penalty with g or A: ``"oadmm"`` (the default) and those after it in the list above; the default is ``"rada-rgd"`` for a convex
        penalty with a ``metric`` or a square matrix as ``map``. ``"a+b"`` is a chain.
    lipschitz
        The Lipschitz constant of the gradient, the unit of step lengths. Default: estimated at
        ``x0`` (nine evaluations) by solvers that need it.
    sample, components
        Where f is the mean of N = ``components`` functions: ``sample(X, which)`` returns the mean of those with the
        numbers ``which`` (an array, from 0) and the mean of their gradients. For ``constraint="j-orthogonal"`` and
        the solver ``"vr-j-jobcd"``, which uses about sqrt(N) of them in most rounds. It is the default for an N of a million or more;
        for fewer ``"j-lbfgs"``, which does not sample, takes fewer evaluations of all of f.
    certify
        Measure criticality of the result.
    check_gradient
        Compare the gradient at the start with a difference of f along one direction before the run, which costs
        some three evaluations (:func:`orthopt.check_gradient` checks more); likewise a product of ``hess`` with a difference of the
        gradient (:func:`orthopt.check_hessian`).
    callback, progress, on_interrupt
        As for :func:`orthopt.solve`.
    **options
        ``max_iters``, ``time_limit``, ``tol``, ``min_decrease``, ``seed``, ``restarts`` (further random starts, a number
        in the place of the rule above), options of the solvers that use them (``block``,
        ``working_set``, ...), and constants of solvers and penalties. An option that does not apply is an error.

    Returns
    -------
    Solution
        Ctrl-C ends the run with the best X so far. ``settings["evaluations"]`` counts the calls of ``fun``,
        ``settings["hessian_products"]`` those of ``hess``.

    Raises
    ------
    orthopt.errors.GradientError
        The gradient at the start is not that of ``fun``.
    orthopt.errors.HessianError
        What ``hess`` returns at the start is not a product with the Hessian of ``fun``.
    orthopt.errors.OrthoptError
        Invalid input, one class per kind.

    Examples
    --------
    The two leading eigenvectors of a matrix:

    >>> import numpy as np, orthopt
    >>> C = np.diag([5.0, 4.0, 3.0, 2.0, 1.0])
    >>> s = orthopt.minimize(lambda X: (-0.5 * np.sum(X * (C @ X)), -C @ X), (5, 2))
    >>> s.status, round(s.objective, 8)
    ('converged', -4.5)

    The same with an l1 penalty:

    >>> s = orthopt.minimize(lambda X: (-0.5 * np.sum(X * (C @ X)), -C @ X), (5, 2), penalty="l1", lam=0.1)
    >>> s.nnz, s.feasibility < 1e-12
    (2, True)
    """
    if not callable(fun):
        raise DataTypeError(f"fun must be callable, not {type(fun).__name__}")
    _interrupt.check(on_interrupt)
    like, start, shape = x0, *_start(x0)
    seed = checked("seed", options.get("seed", 0), int) or 0
    stiefel = constraint != "j-orthogonal"
    place = start if start is not None else _some_point(shape, stiefel, seed)
    _hessian.refuse(penalty, map, stiefel, solver, hess is not None)
    start_known = _Remembering(fun)
    if metric is not None and not stiefel:
        raise IncompatibleError("metric is for X'BX = I; with constraint='j-orthogonal' X'JX = J has no B")
    change = None if metric is None else Metric(metric, shape[0])
    map = _functions(map, shape)
    if change is not None:
        map = change.map(penalty, map)
        start = None if start is None else change.start(start)
        place = start if start is not None else place
        raw, spent = _autodiff.with_gradient(start_known, like, change.back(place))
        fun = change.of_function(lambda x: _answer(raw(x), shape))
    else:
        fun, spent = _autodiff.with_gradient(start_known, like, place)
    products, used = None, 0
    if hess is not None:
        products, used = _hessian.of(hess, start_known, like, place if change is None else change.back(place))
        products = products if change is None else change.of_hessian(products)
    spent += used
    functions = map if isinstance(map, tuple) else None
    if functions is not None and (penalty == "none" or not stiefel):
        where = "X'JX = J" if not stiefel else "f without a penalty"
        raise IncompatibleError(f"map does not apply to {where}: it is for h(A(X)) with X'X = I; leave it out")
    filled = fill(
        options,
        "minimize",
        own=[] if lipschitz is None else ["lipschitz"],
        penalty=None if penalty == "none" else penalty,
        lam=lam,
        k=k,
        map=None if functions is not None else map,
        signature=signature,
        solver=solver,
        certify=bool(certify),
    )
    sums = _sums(sample, components)
    if check_gradient:
        checks = fun if change is None else raw
        back = None if change is None else change.back
        spent += _gradient.require(lambda x: _answer(checks(x), shape), place, stiefel, seed, back)
        if products is not None:
            spent += _hessian.require(lambda y: _answer(fun(y), shape), products, place, seed)
    with bar_for(progress, filled) as bar:
        caller = _Caller(callback, bar)
        with _ending.calls(fun, products, sample, caller.function, *(functions or ())) as (f, product, part, called, *maps):
            parts = None if sums is None else (part, sums)
            found = _orthopt.minimize(f, product, _answer, start, shape, constraint, lipschitz, parts, filled, tuple(maps) or None, called)
    found["settings"]["evaluations"] = found.pop("evaluations") + spent - start_known.spared
    if change is not None:
        x = change.back(found["X"])
        found["X"] = x if penalty == "none" else change.without_dust(x)
        found["feasibility"] = change.error(found["X"])
        found["nnz"] = int(np.count_nonzero(found["X"]))
    best = solution(found)
    if best.status == "numerical_error":
        warnings.warn(f"minimize: {best.message}", RuntimeWarning, stacklevel=2)
    return _interrupt.hand_over(best, best.status == "interrupted" and not caller.ended, on_interrupt)


def check_gradient(
    fun: Callable[[np.ndarray], tuple[float, Any]],
    x0: Any,
    *,
    metric: Any = None,
    constraint: str = "stiefel",
    directions: int = 5,
    seed: int = 0,
) -> _gradient.GradientCheck:
    """Compares the gradient that ``fun`` returns with slopes of f at ``x0``.

    Slopes are central differences along random curves on the constraint (2 to 10 evaluations each). Where they differ,
    the message says what the mistake looks like: a factor, a sign, a transposed gradient, single entries.

    Parameters
    ----------
    fun, x0, metric, constraint
        As for :func:`orthopt.minimize`.
    directions
        Number of random directions.
    seed
        Of the directions, and of X where ``x0`` is a shape.

    Returns
    -------
    GradientCheck
        True as a condition if the gradient holds.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input: shapes, a start that is not feasible, values that are not finite.

    Examples
    --------
    >>> import numpy as np, orthopt
    >>> C = np.diag([5.0, 4.0, 3.0, 2.0, 1.0])
    >>> bool(orthopt.check_gradient(lambda X: (-0.5 * np.sum(X * (C @ X)), -C @ X), (5, 2)))
    True
    >>> print(orthopt.check_gradient(lambda X: (-np.sum(X * (C @ X)), -C @ X), (5, 2)).message.split(": ")[1])
    the gradient must be multiplied by 2 (a forgotten factor, or a sum where f has a mean)
    """
    if not callable(fun):
        raise DataTypeError(f"fun must be callable, not {type(fun).__name__}")
    start, shape = _start(x0)
    stiefel = constraint != "j-orthogonal"
    x = start if start is not None else _some_point(shape, stiefel, seed)
    back = None
    if metric is not None:
        change = Metric(metric, shape[0])
        back, x = change.back, x if start is None else change.start(x)
    both, spent = _autodiff.with_gradient(fun, x0, x if back is None else back(x))
    found = _gradient.check(lambda y: _answer(both(y), shape), x, stiefel, seed, max(1, int(directions)), back)
    return replace(found, evaluations=found.evaluations + spent)


def check_hessian(
    fun: Callable[[np.ndarray], tuple[float, Any]],
    hess: _hessian.Hessian | str,
    x0: Any,
    *,
    directions: int = 5,
    seed: int = 0,
) -> _gradient.GradientCheck:
    """Compares products with the Hessian that ``hess`` returns with differences of the gradient of ``fun`` at ``x0``.

    Differences are central, along random directions (2 to 8 evaluations of ``fun`` each), and the Hessian must be symmetric. The
    gradient is taken as it is: :func:`check_gradient` checks it.

    Parameters
    ----------
    fun, hess, x0
        As for :func:`orthopt.minimize`.
    directions
        Number of random directions.
    seed
        Of the directions, and of X where ``x0`` is a shape.

    Returns
    -------
    GradientCheck
        True as a condition if the products hold; ``message`` says what the mistake looks like.

    Raises
    ------
    orthopt.errors.OrthoptError
        Invalid input: shapes, types.

    Examples
    --------
    >>> import numpy as np, orthopt
    >>> C = np.diag([5.0, 4.0, 3.0, 2.0, 1.0])
    >>> fun = lambda X: (-0.5 * np.sum(X * (C @ X)), -C @ X)
    >>> bool(orthopt.check_hessian(fun, lambda X, D: -C @ D, (5, 2)))
    True
    >>> print(orthopt.check_hessian(fun, lambda X, D: C @ D, (5, 2)).message.split(": ")[1])
    the product has the wrong sign
    """
    if not callable(fun):
        raise DataTypeError(f"fun must be callable, not {type(fun).__name__}")
    start, shape = _start(x0)
    x = start if start is not None else _some_point(shape, True, seed)
    both, spent = _autodiff.with_gradient(fun, x0, x)
    products, used = _hessian.of(hess, fun, x0, x)
    found = _hessian.check(lambda y: _answer(both(y), shape), products, x, seed, max(1, int(directions)))
    return replace(found, evaluations=found.evaluations + spent + used)


class _Remembering:
    """A function that is not called again at the first X that it was called at."""

    def __init__(self, fun: Callable[[Any], Any]) -> None:
        self.fun = fun
        self.known: tuple[np.ndarray, Any] | None = None
        #: Number of calls that were not made.
        self.spared = 0

    def __call__(self, x: Any) -> Any:
        if self.known is not None and np.array_equal(self.known[0], x):
            self.spared += 1
            return self.known[1]
        point = x.copy() if self.known is None and isinstance(x, np.ndarray) else None
        answer = self.fun(x)
        if point is not None and isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], np.ndarray):
            self.known = (point, (answer[0], answer[1].copy()))
        return answer


def _some_point(shape: tuple[int, int], stiefel: bool, seed: int) -> np.ndarray:
    """A random X with orthonormal columns, or the identity."""
    if not stiefel or shape[0] < shape[1]:
        return np.eye(*shape)
    return np.linalg.qr(np.random.default_rng(seed).standard_normal(shape))[0]


def _functions(map: Any, shape: tuple[int, int]) -> Any:
    """A map given by functions, by an operator of SciPy or by a sparse matrix as a pair of functions of arrays; others as they are."""
    if sp.issparse(map) or isinstance(map, LinearOperator):
        if map.shape[1] != shape[0]:
            raise ShapeError(f"map is {map.shape[0]} x {map.shape[1]}, but X has {shape[0]} rows: expected {shape[0]} columns")
        operator = aslinearoperator(map)
        map = (operator.matmat, operator.rmatmat)
    if callable(map) or (isinstance(map, (tuple, list)) and any(callable(one) for one in map)):
        if not (isinstance(map, (tuple, list)) and len(map) == 2 and all(callable(one) for one in map)):
            raise InvalidOptionError("map: expected two functions, A and its adjoint, as a pair")
        as_matrix = lambda name, function: lambda x: _matrix(function(x), name)  # noqa: E731
        return as_matrix("A", map[0]), as_matrix("the adjoint of A", map[1])
    return map


def _matrix(answer: Any, name: str) -> np.ndarray:
    found = np.asarray(answer)
    if found.ndim != 2:
        raise ShapeError(f"map: what the function for {name} returned has {found.ndim} dimensions, expected 2")
    return np.ascontiguousarray(_data.numbers(found, f"what the function for {name} returned"), dtype=np.float64)


def _sums(sample: Any, components: Any) -> int | None:
    """The number of components of a finite sum."""
    if sample is None and components is None:
        return None
    if sample is None or components is None:
        raise InvalidOptionError("sample and components belong together: give both, or neither")
    if not callable(sample):
        raise DataTypeError(f"sample must be callable, not {type(sample).__name__}")
    number = checked("components", components, int)
    if number is None or number < 2:
        raise InvalidOptionError(f"components is {components!r}: expected a whole number >= 2")
    return int(number)


def _start(x0: Any) -> tuple[np.ndarray | None, tuple[int, int]]:
    x0 = _autodiff.on_host(x0)
    if _autodiff.is_jax(x0):
        x0 = np.asarray(x0, dtype=np.float64)
    if isinstance(x0, tuple) and len(x0) == 2 and all(isinstance(k, (int, np.integer)) for k in x0):
        if min(x0) < 1:
            raise ShapeError(f"x0 is {x0}: a shape (n, r) needs n >= r >= 1")
        return None, (int(x0[0]), int(x0[1]))
    start = _data.dense(x0, "x0")
    return start, start.shape


def _answer(answer: Any, shape: tuple[int, int]) -> tuple[float, np.ndarray]:
    """The result of ``fun`` as a float and an array; an error if it has another form."""
    try:
        value, gradient = answer
    except (TypeError, ValueError):
        raise DataTypeError(
            f"fun must return f(X) and its gradient, a pair; it returned {type(answer).__name__}"
        ) from None
    gradient = np.asarray(_autodiff.on_host(gradient))
    if gradient.shape != tuple(shape):
        raise ShapeError(
            f"the gradient that fun returned has shape {gradient.shape}, expected {tuple(shape)}, that of X"
        )
    try:
        value = np.asarray(_autodiff.on_host(value))
        value = float(value.item() if value.size == 1 else value)
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"f(X) that fun returned is not a number: {error}") from error
    return value, np.ascontiguousarray(_data.numbers(gradient, "the gradient"), dtype=np.float64)
