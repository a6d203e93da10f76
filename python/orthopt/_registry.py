"""Names that options take."""

from __future__ import annotations

from typing import NamedTuple

from . import _orthopt
from .errors import UnknownNameError

_LISTS = ("problems", "solvers", "penalties", "starts", "working-sets")


class Constant(NamedTuple):
    """A constant of a solver or a penalty."""

    #: Its meaning.
    doc: str
    #: ``None``: chosen from the data, as ``doc`` says.
    default: float | int | bool | str | None
    #: ``"float"``, ``"int"``, ``"bool"`` or ``"str"``.
    type: str
    #: What is accepted, in words; ``None`` or ``"auto"`` as well where the default is ``None``.
    range: str
    #: The symbol in the paper.
    symbol: str
    #: The solver or penalty.
    owner: str


def registry(kind: str) -> dict[str, str]:
    """Names that options take, with a one-line description each.

    Parameters
    ----------
    kind
        ``"problems"``, ``"solvers"``, ``"penalties"``, ``"starts"`` or ``"working-sets"``.

    Returns
    -------
    dict
        The description of every name.

    Raises
    ------
    orthopt.errors.UnknownNameError
        Another ``kind``.

    Examples
    --------
    >>> import orthopt
    >>> sorted(orthopt.registry("penalties"))[:3]
    ['box', 'capped-l1', 'elastic-net']
    """
    found = _orthopt.registry(kind)
    if found is None:
        raise UnknownNameError(f"there is no list {kind!r}; choose one of: {', '.join(_LISTS)}")
    return dict(found)


def constants() -> dict[str, Constant]:
    """Every constant of every solver and penalty, by its argument of :func:`orthopt.solve`.

    Returns
    -------
    dict
        For every name a tuple with ``doc``, ``default`` (``None``: chosen from the data), ``type``, ``range``, ``symbol`` (of
        the paper) and ``owner`` (the solver or penalty).

    Examples
    --------
    >>> import orthopt
    >>> tau = orthopt.constants()["manpg_ada_tau"]
    >>> tau.default, tau.type, tau.range
    (1.01, 'float', 'a number > 1')
    """
    return {name: Constant(**entry) for name, entry in _orthopt.constants()}
