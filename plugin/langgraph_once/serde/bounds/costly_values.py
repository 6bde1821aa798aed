"""Values of a few bytes that cost much: regular expressions, IP networks, combinations of flags.

**Regular expressions** are looked at before they are compiled: that can take minutes and gigabytes.
Compiling takes a time in proportion to the length; besides, a set of characters is a table of 64 KB
while it is compiled, and where upper and lower case are the same, each character of a range is
looked up by itself.

**IP networks** refuse that anything walks through them while a value is being rebuilt.
`IPv6Network("::/64")` takes nine characters and yields 2**64 addresses: `set` or a pydantic list
field that is handed one never comes back. No rule on arguments can tell such a blob from a model
with a network in its fields. So a rebuilt network refuses iteration until the whole value stands,
and then becomes an ordinary one.

**Combinations of flags** are kept by Python for ever once they were asked for. Bytes could ask for
2**64 of them. So those that came from bytes, and that nobody holds any more, are dropped when they
have become many. Whoever asks next gets a new one, and cannot tell.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from enum import Flag
from ipaddress import IPv4Network, IPv6Network
from re import _constants, _parser  # type: ignore[attr-defined]  # typeshed leaves them out
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from langgraph_once.serde.bounds.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MAX_PATTERN_UNITS",
    "PatternTooLargeError",
    "compiled",
    "flag_of",
    "hold",
    "is_network",
    "pattern_units",
    "release",
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


_WALKED: Final = "_langgraph_once_walked"


class _HeldIPv4Network(IPv4Network):
    def __iter__(self) -> Iterator[Any]:
        raise _refusal(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return IPv4Network, (str(self),)


class _HeldIPv6Network(IPv6Network):
    def __iter__(self) -> Iterator[Any]:
        raise _refusal(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return IPv6Network, (str(self),)


def _refusal(network: IPv4Network | IPv6Network) -> TypeError:
    # Constructors may swallow the exception, hence the mark.
    setattr(network, _WALKED, True)
    return TypeError("a network stands where a collection was expected")


def is_network(value: object) -> bool:
    """Whether `value` is a network of the standard library (subclasses excepted)."""
    return type(value) in (IPv4Network, IPv6Network)


def hold(network: IPv4Network | IPv6Network) -> None:
    """Make `network` refuse iteration."""
    held = _HeldIPv4Network if isinstance(network, IPv4Network) else _HeldIPv6Network
    network.__class__ = held


def release(network: IPv4Network | IPv6Network) -> bool:
    """Undo `hold`; return whether something tried to iterate meanwhile."""
    network.__class__ = IPv4Network if isinstance(network, IPv4Network) else IPv6Network
    return _WALKED in vars(network)


_FEW: Final = 4096


class _Made:
    """Of a class: the combinations that were made for bytes, and are kept."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self.most = _FEW

    def add(self, value: int, members: dict[Any, Any]) -> None:
        self.values.append(value)
        if len(self.values) >= self.most:
            self._let_go(members)
            self.most = 2 * len(self.values) + _FEW  # so that each is looked at seldom

    def _let_go(self, members: dict[Any, Any]) -> None:
        """Forget those that nobody holds but the class."""
        kept = [each for each in self.values if _references(members, each) > _ALONE]
        for value in {*self.values}.difference(kept):
            members.pop(value, None)
        self.values = kept


_made: Final[WeakKeyDictionary[type[Flag], _Made]] = WeakKeyDictionary()
_lock: Final = Lock()


def flag_of(cls: type[Flag], value: int) -> Flag:
    """Return the flags of a class whose value is `value`; errors are those of the class."""
    members: dict[Any, Any] = cls._value2member_map_
    found = members.get(value)
    if found is not None:
        return found  # type: ignore[no-any-return]  # the dictionary says no more of it
    with _lock:
        made = cls(value)
        if value in members:
            _made.setdefault(cls, _Made()).add(value, members)
    return made


def _references(members: dict[Any, Any], value: int) -> int:
    return sys.getrefcount(members.get(value))


_ALONE: Final = _references({0: object()}, 0)
"""Of what only a dictionary holds."""
