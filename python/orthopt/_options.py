"""Options as the compiled half takes them: defaults, kinds, and errors that name the option."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

from . import _data
from .errors import InvalidOptionError

#: Every option of the compiled half with its default.
DEFAULTS: dict[str, Any] = {
    "rank": None,
    "lam": None,
    "lam_share": None,
    "relative_lam": None,
    "penalty": None,
    "k": None,
    "map": None,
    "gram": False,
    "center": None,
    "scale": "none",
    "covariance": None,
    "missing": "error",
    "features": None,
    "storage": "auto",
    "signature": None,
    "ridge": 0.0,
    "reproduction": False,
    "distances": None,
    "radius": None,
    "placement": None,
    "linear": None,
    "nonzeros": None,
    "total_nonzeros": None,
    "variables": None,
    "constraint": "orthogonal",
    "maximise": "variance",
    "order": "joint",
    "min_nonzeros": None,
    "max_nonzeros": None,
    "solver": "auto",
    "init": None,
    "working_set": None,
    "block": None,
    "model": None,
    "side": None,
    "alpha": None,
    "candidates": None,
    "jacobi": False,
    "restarts": None,
    "effort": None,
    "seed": 0,
    "threads": None,
    "max_iters": None,
    "time_limit": None,
    "tol": 1e-9,
    "min_decrease": 0.0,
}

#: Those that say what is minimised, without rank: data and problem. The others are of the solver, the threads apart.
STATEMENT = frozenset(
    "lam lam_share relative_lam penalty k map gram center scale covariance missing features storage signature ridge "
    "reproduction distances radius placement linear nonzeros total_nonzeros variables constraint maximise order min_nonzeros max_nonzeros threads".split()
)

_KINDS: dict[str, type] = {
    **{key: int for key in ("rank", "k", "features", "block", "restarts", "seed", "threads", "max_iters")},
    **{key: int for key in ("total_nonzeros", "variables", "min_nonzeros", "max_nonzeros")},
    **{
        key: float
        for key in ("lam", "lam_share", "relative_lam", "ridge", "radius", "alpha", "time_limit", "tol", "min_decrease")
    },
    **{key: str for key in ("constraint", "maximise", "order", "effort", "missing", "penalty", "scale", "storage", "solver", "working_set", "model", "side", "placement")},
    **{key: bool for key in ("gram", "center", "covariance", "reproduction", "jacobi")},
}


def fill(
    options: dict[str, Any], call: str = "solve", *, own: Iterable[str] = (), assumed: Iterable[str] = (), **fixed: Any
) -> dict[str, Any]:
    """All options of the compiled half; what is no option must be a constant of a solver.

    ``call`` is what is done, ``own`` names options of the call alone that were given, and ``assumed`` those that the
    caller of this function has set and not the user: what a user gives and what means nothing is refused.
    """
    twice = sorted(set(options) & set(fixed))
    if twice:
        raise InvalidOptionError(f"{twice[0]} is no further option of {call}: it has an argument of its own, or none")
    given = {**options, **fixed}
    checks = given.pop("certify", False)
    filled = {key: given.pop(key, default) for key, default in DEFAULTS.items()}
    if filled["lam"] is not None and filled["lam_share"] is not None:
        raise InvalidOptionError("give lam or lam_share, not both")
    if isinstance(filled["scale"], (int, float, np.number)) and not isinstance(filled["scale"], bool):
        filled["scale"] = repr(float(filled["scale"]))
    for key, kind in _KINDS.items():
        filled[key] = checked(key, filled[key], kind)
    if filled["scale"] is None:
        filled["scale"] = "none"
    filled["nonzeros"] = _counts(filled["nonzeros"])
    filled["certify_all"] = checks is True
    filled["certify"] = 0 if checks is True else checked("certify", int(checks or 0), int)
    names = [key for key, default in DEFAULTS.items() if not _same(filled[key], default)]
    names += ["certify"] if checks is True else ["certify_sample"] if filled["certify"] else []
    filled["given"] = [name for name in [*names, *own] if name not in assumed]
    filled["call"] = call
    filled["constants"] = {key: _constant(key, value) for key, value in given.items()}
    for key in ("signature", "candidates"):
        filled[key] = _text(key, filled[key])
    for key in ("distances", "linear", "init", "map"):
        if filled[key] is not None and not (key in ("init", "map", "linear") and isinstance(filled[key], str)):
            filled[key] = _data.dense(filled[key], key)
    return filled


def _same(value: Any, default: Any) -> bool:
    """Whether a value is what holds when nothing is said; False is so for every flag."""
    if value is None or value is False:
        return True
    return isinstance(value, (str, int, float)) and value == default


def checked(key: str, value: Any, kind: type) -> Any:
    """``value`` as ``kind``, or an error that names the option."""
    if value is None:
        return None
    expected = {int: "a whole number >= 0", float: "a number", str: "a name", bool: "True or False"}[kind]
    wrong = InvalidOptionError(f"{key} is {value!r}: expected {expected}")
    if kind is bool or kind is str:
        if not isinstance(value, (kind, np.bool_) if kind is bool else kind):
            raise wrong
        return kind(value)
    if isinstance(value, (bool, str, np.bool_)):
        raise wrong
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
    if kind is int and (number != value or not 0 <= number < 2**63):
        raise wrong
    return number


def _counts(value: Any) -> list[int] | str | None:
    """One number of nonzeros for all components, or one for each, as a list; a word as it is."""
    if value is None or isinstance(value, str):
        return value
    many = isinstance(value, (list, tuple, np.ndarray))
    return [checked("nonzeros", one, int) for one in (value if many else [value])]


def _constant(key: str, value: Any) -> bool | int | float | str:
    """The value of a constant as the compiled half reads it."""
    if value is None:
        return "auto"
    for kind, plain in ((np.bool_, bool), (np.integer, int), (np.floating, float)):
        if isinstance(value, kind):
            value = plain(value)
    if not isinstance(value, (bool, int, float, str)):
        raise InvalidOptionError(f"{key} is {value!r}: expected a number, True, False or a name")
    return value


def _text(key: str, value: Any) -> str | None:
    """A number or a list of signs as the library reads them."""
    if value is None or isinstance(value, str):
        return value
    if np.ndim(value) == 1:
        return " ".join(str(int(sign)) if sign in (-1, 1) else str(sign) for sign in value) + " "
    return str(checked(key, value, int))


def seconds(name: str, value: Any) -> float:
    """A number of seconds, or an error that names the option."""
    number = checked(name, value, float)
    if number is None or not 0.0 <= number < np.inf:
        raise InvalidOptionError(f"{name} is {value!r}: expected a finite number >= 0")
    return number
