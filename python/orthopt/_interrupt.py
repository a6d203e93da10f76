"""Handling of Ctrl-C: return the best point so far, or raise with it."""

from __future__ import annotations

from typing import Any, TypeVar

from .errors import Interrupted, InvalidOptionError

T = TypeVar("T")

RETURN, RAISE = "return", "raise"


def check(on_interrupt: Any) -> None:
    """Checks the option before work begins."""
    if on_interrupt not in (RETURN, RAISE):
        raise InvalidOptionError(f"on_interrupt is {on_interrupt!r}: expected 'return' or 'raise'")


def hand_over(result: T, interrupted: bool, on_interrupt: str) -> T:
    """The result, or :class:`Interrupted` with it if requested."""
    if interrupted and on_interrupt == RAISE:
        raise Interrupted(result)
    return result
