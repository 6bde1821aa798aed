"""Combinations of flags, which Python keeps for ever once they were asked for.

Bytes could ask for 2**64 of them. So those that came from bytes, and that nobody holds any more,
are dropped when they have become many. Whoever asks next gets a new one, and cannot tell.
"""

from __future__ import annotations

import sys
from enum import Flag
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

__all__ = ["flag_of"]

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
