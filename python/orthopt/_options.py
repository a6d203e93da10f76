"""Options as the compiled half takes them: its own table says which there are."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

from . import _data, _orthopt, _threads
from .errors import InvalidOptionError

#: Every option by its name, from the one table of the library.
TABLE: dict[str, dict[str, Any]] = dict(_orthopt.options())

#: Seconds for a global bound.
BOUND_SECONDS = 60.0

#: Those that say what is minimised, without rank: data and problem. The others are of the solver, the threads apart.
STATEMENT = {key for key, option in TABLE.items() if option["group"] in ("Data", "Problem") or key in ("threads", "title")} - {"rank"}


def fill(
    options: dict[str, Any],
    call: str = "solve",
    *,
    own: Iterable[str] = (),
    assumed: Iterable[str] = (),
    judged: bool = False,
    bound: Any = False,
    **fixed: Any,
) -> dict[str, Any]:
    """What the compiled half takes; what is no option must be a constant of a solver or penalty.

    ``call`` is what is done, ``own`` names options of the call alone that were given, and ``assumed`` those that the
    caller of this function has set and not the user: what a user gives and what means nothing is refused, unless the
    options are ``judged`` already. ``bound`` is that of :func:`orthopt.solve`.
    """
    twice = sorted(set(options) & set(fixed))
    if twice:
        raise InvalidOptionError(f"{twice[0]} is not a further option of {call}: it has an argument of its own, or none")
    given = {**options, **fixed}
    limit = bound_seconds(bound)
    if limit is not None:
        own = [*own, "bound"]
    if given.get("lam") is not None and given.get("lam_share") is not None:
        raise InvalidOptionError("give lam or lam_share, not both")
    if not given.get("certify", True):  # no random pairs are none
        given["certify"] = False
    weights = given.get("weights")
    if weights is not None and not isinstance(weights, str):
        weights = _data.weights(given.pop("weights"))
        own = [*own, "weights"]
    else:
        weights = None
    if given.get("threads") is None and call != "minimize":  # which runs the functions of its caller
        threads = _threads.usual()
        if threads is not None:
            given["threads"] = threads
            assumed = [*assumed, "threads"]
    for key in ("columns", "drop", "na"):
        if isinstance(given.get(key), (list, tuple)):
            given[key] = listed(given[key])
    for key, value in given.items():
        if value is not None and not isinstance(value, str) and TABLE.get(key, {}).get("matrix"):
            given[key] = _data.dense(value, key)
    return {"options": given, "call": call, "own": list(own), "assumed": list(assumed), "judged": judged, "bound": limit, "weights": weights}


def bound_seconds(bound: Any) -> float | None:
    """Seconds of the bound after a run, if there is to be one."""
    if bound is False or bound is None:
        return None
    return BOUND_SECONDS if bound is True else seconds("bound", bound)


def listed(words: Iterable[Any]) -> str:
    """Words as one list; those with a comma stand in quotes."""
    quoted = lambda word: f'"{word.replace(chr(34), chr(34) * 2)}"' if "," in word else word  # noqa: E731
    return ",".join(quoted(str(word)) for word in words)


def checked(key: str, value: Any, kind: type) -> Any:
    """``value`` as ``kind``, or an error that names the option."""
    if value is None:
        return None
    expected = {int: "a whole number >= 0", float: "a number"}[kind]
    wrong = InvalidOptionError(f"{key} is {value!r}: expected {expected}")
    if isinstance(value, (bool, str, np.bool_)):
        raise wrong
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
    if kind is int and (number != value or not 0 <= number < 2**63):
        raise wrong
    return number


def seconds(name: str, value: Any) -> float:
    """A number of seconds, or an error that names the option."""
    number = checked(name, value, float)
    if number is None or not 0.0 <= number < np.inf:
        raise InvalidOptionError(f"{name} is {value!r}: expected a finite number >= 0")
    return number
