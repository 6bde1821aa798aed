"""Regular expressions, looked at before they are compiled: that can take minutes and gigabytes.

Compiling takes a time in proportion to the length; besides, a set of characters is a table of
64 KB while it is compiled, and where upper and lower case are the same, each character of a range
is looked up by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants, _parser  # type: ignore[attr-defined]  # typeshed leaves them out
from typing import Any, Final

from langgraph_once.serde.bounds.budget import Budget

__all__ = [
    "MAX_PATTERN_UNITS",
    "PatternTooLargeError",
    "compiled",
    "pattern_units",
    "take_units",
]

MAX_PATTERN_UNITS: Final = 1 << 25
"""What one pattern may take: up to 5 s. It may be two million characters long.

In a row below a megabyte, a third of that: its `Budget` holds no more.
"""

_UNITS_OF_A_CHARACTER: Final = 16
"""At least; at most, where it makes a range of nearly all there are."""

_UNITS_OF_A_SET: Final = 8192
_UNITS_OF_A_RANGE: Final = 1 << 16
_MAX_BYTE: Final = 255
_WIDE_ESCAPES: Final = ("\\u", "\\U", "\\N")


class PatternTooLargeError(ValueError):
    """It would take too long to compile a pattern."""


def pattern_units(pattern: str | bytes, flags: int = 0) -> int:
    """Return how many units of a `Budget` compiling a pattern takes, at most.

    Raises:
        PatternTooLargeError: They are more than `MAX_PATTERN_UNITS`.
        re.error: It is no pattern.
    """
    units = _UNITS_OF_A_CHARACTER * len(pattern)
    if units <= MAX_PATTERN_UNITS:
        most = units + _most_units_of_sets(pattern)
        if most <= MAX_PATTERN_UNITS:
            return most
        units += _units_of_sets(_parser.parse(pattern, flags), _ignores_case(pattern, flags))
    if units > MAX_PATTERN_UNITS:
        raise PatternTooLargeError("a regular expression that takes too long to compile")
    return units


def take_units(arguments: Any, budget: Budget) -> None:
    """Take what it takes to compile what is no pattern yet; what never will be is told by that.

    Raises:
        SizeLimitError: It takes too much.
    """
    try:
        units = pattern_units(*arguments)
    except Exception:
        return
    budget.take(units)


def compiled(pattern: Any, flags: Any = 0) -> re.Pattern[Any]:
    """Do what `re.compile` does; other errors are those of `pattern_units`."""
    pattern_units(pattern, flags)
    return re.compile(pattern, flags)


def _most_units_of_sets(pattern: str | bytes) -> int:
    """Return a bound on what the sets of a pattern take, which may be far too high."""
    if isinstance(pattern, bytes):
        return pattern.count(b"[") * _MAX_BYTE + pattern.count(b"-") * _MAX_BYTE
    if pattern.isascii() and not any(escape in pattern for escape in _WIDE_ESCAPES):
        return pattern.count("[") * _MAX_BYTE + pattern.count("-") * _MAX_BYTE
    return pattern.count("[") * _UNITS_OF_A_SET + pattern.count("-") * _UNITS_OF_A_RANGE


def _ignores_case(pattern: str | bytes, flags: int) -> bool:
    mark = b"(?" if isinstance(pattern, bytes) else "(?"
    return bool(flags & re.IGNORECASE) or mark in pattern  # type: ignore[operator]  # it is of its type


def _units_of_sets(parsed: Iterable[Any], ignores_case: bool) -> int:
    """Return what the sets of characters in a parsed pattern take."""
    units = 0
    pending: list[Any] = [parsed]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple) and len(part) == 2 and part[0] is _constants.IN:
            units += _units_of_set(part[1], ignores_case)
        elif isinstance(part, (tuple, list, _parser.SubPattern)):
            pending += part
    return units


def _units_of_set(items: list[tuple[Any, Any]], ignores_case: bool) -> int:
    units, highest = 0, 0
    for kind, value in items:
        if kind is _constants.RANGE:
            low, high = value
            highest = max(highest, high)
            width = max(0, min(high, _UNITS_OF_A_RANGE) - low)
            units += width if ignores_case else width // 64
        elif kind is _constants.LITERAL:
            highest = max(highest, value)
    return units + (_UNITS_OF_A_SET if highest > _MAX_BYTE else _MAX_BYTE)
