"""Keys and items that may be hashed: what that takes is found out before anything is hashed.

A tuple asks all of its items for their hashes, each time. Where these are tuples that occur
twice in the next, sixty of them take for ever; and 200,000 in each other end the process, since
that is done on the C stack. The same is true of frozen dataclasses, generic aliases and slices,
and of comparing what has one hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from enum import Enum
from itertools import chain
from types import GenericAlias
from typing import Any, Final, Generic, TypeVar

from langgraph_once.errors import PayloadError
from langgraph_once.serde.bounds.budget import Budget
from langgraph_once.serde.trust.hash_guard import Guard
from langgraph_once.serde.trust.lookup import attributes_of

__all__ = ["MAX_HASH_LEVELS", "Hashing", "are_harmless"]

MAX_HASH_LEVELS: Final = 500
"""How deep what is hashed may nest. Python's own classes end at about as much."""

_SECRET: Final = frozenset({str, bytes})
"""Nobody can choose their hashes, which they keep, too."""

_SCALARS: Final = _SECRET | {type(None), bool, int, float, complex}
_FLAT: Final = _SCALARS | {tuple}
_LOOSE: Final = _SCALARS - {int}
_HOLD_NO_HASH: Final = frozenset({list, dict, set})
_MOST_COMPARISONS: Final = 10_000_000
"""About 0.3 s."""

_FEW: Final = 3000
"""So many can share a hash."""

_WORK_OF_AN_OBJECT: Final = 10
_WORK_OF_A_LOOK: Final = 2
_BITS_OF_A_UNIT: Final = 1 << 10
_MOST: Final = 1 << 62
_NOTHING: Final = (1, 0, None)
"""Stands for a scalar, and for what contains itself."""

_T = TypeVar("_T")


class _Box(Generic[_T]):
    """Only here to be asked what `typing` makes of a parametrised class."""


_Alias: Final[Any] = type(_Box[int])


def are_harmless(items: Collection[Any]) -> bool:
    """Whether it takes no longer to hash these than to read them, however they are chosen."""
    return len(items) < _FEW and _SCALARS.issuperset(map(type, items))


class Hashing:
    """Bounds the hashing in one value."""

    __slots__ = ("_budget", "_guard", "_known", "has_large_integers")

    def __init__(self, budget: Budget, guard: Guard | None = None) -> None:
        self._budget = budget
        self._guard = guard
        self._known: dict[int, tuple[int, int, Any]] = {}
        """Units, levels, and what they are those of, which must live as long as its id is here."""
        self.has_large_integers = False
        """Whether an integer may be longer than a few words."""

    def forget(self) -> None:
        """Note that something is changed which may have been looked at."""
        self._known.clear()

    def check(self, items: Collection[Any]) -> None:
        """Take what it takes to hash `items` one by one, and to tell them from each other.

        Raises:
            SizeLimitError: It takes too much.
            GuardedError: Hashing would run code of a class that is not listed.
            PayloadError: One is nested too deeply, or too many share a hash.
        """
        if not self.has_large_integers and are_harmless(items):
            return
        kinds = {*map(type, items)}
        if kinds <= _SECRET:
            return
        if self._guard:
            self._guard.check(items, tag=self._budget.tag)
        total = self._flat_units(items, kinds)
        if not total:
            total = sum(map(self._units, items))
        self._budget.take(total)
        if len(items) > 1 and (len(items) * total > _MOST_COMPARISONS or not kinds <= _FLAT):
            self._check_differ(items)

    def measure(self, data: Any) -> None:
        """Take what it takes to hash each of the parts of `data`, which nobody may ever do.

        Raises:
            SizeLimitError: It takes too much.
            PayloadError: One is nested too deeply.
        """
        parts, seen = [data], set()
        for part in parts:
            kind = type(part)
            if kind in _HOLD_NO_HASH or (part is data and kind is tuple):
                if id(part) not in seen:
                    seen.add(id(part))
                    self._budget.take(len(part))
                    parts += chain.from_iterable(part.items()) if kind is dict else part
            elif kind not in _SCALARS:
                self._budget.take(self._units(part))

    def _flat_units(self, items: Collection[Any], kinds: set[type]) -> int:
        """Return the units of scalars, and tuples of scalars; zero for all else."""
        if not kinds <= _FLAT or self.has_large_integers:
            return 0
        if tuple not in kinds:
            return len(items)
        held = [*chain.from_iterable(item for item in items if type(item) is tuple)]
        return len(items) + len(held) if _SCALARS.issuperset(map(type, held)) else 0

    def _units(self, item: Any) -> int:
        units, levels = self._measured(item, self._known, deep=False)
        if levels > MAX_HASH_LEVELS:
            raise PayloadError(
                "an item of a set or a key of a dict is nested too deeply", tag=self._budget.tag
            )
        return units

    def _check_differ(self, items: Collection[Any]) -> None:
        """Check that it takes no time to tell apart what has one hash."""
        hashes = [*map(hash, items)]
        shared = {each: count for each, count in Counter(hashes).items() if count > 1}
        if not shared:
            return
        work = 0
        known: dict[int, tuple[int, int, Any]] = {}
        for item, own in zip(items, hashes, strict=True):
            if own in shared:
                work += shared[own] * self._measured(item, known, deep=True)[0]
        if work > _MOST_COMPARISONS + 100 * len(items):
            raise PayloadError("too many items of a set or dict share a hash", tag=self._budget.tag)

    def _measured(
        self, root: Any, known: dict[int, tuple[int, int, Any]], *, deep: bool
    ) -> tuple[int, int]:
        """Return the units and the levels of a value; what it holds twice counts twice."""
        stack, opened = [root], set()
        while stack:
            value = stack[-1]
            if id(value) in known:
                stack.pop()
                continue
            own, held = _parts(value, deep=deep)
            self._budget.take(_WORK_OF_A_LOOK + len(held))
            todo = [part for part in held if type(part) not in _LOOSE and id(part) not in known]
            if todo and id(value) not in opened:
                opened.add(id(value))
                stack += todo
                continue
            levels = 0
            for part in held:
                units, below, _ = known.get(id(part), _NOTHING)
                own, levels = own + units, max(levels, below)
            known[id(value)] = min(own, _MOST), levels + 1, value
            stack.pop()
        return known[id(root)][:2]


def _parts(value: Any, *, deep: bool) -> tuple[int, list[Any]]:
    """Return the units of a value itself, and what it holds that is hashed with it.

    Args:
        value: Any value.
        deep: Whether to include what can only be compared.
    """
    kind = type(value)
    if kind is int:
        return 1 + value.bit_length() // _BITS_OF_A_UNIT, []
    if kind in _SCALARS or issubclass(kind, (type, Enum)):
        return 1, []
    if kind is tuple:
        return 1, [*value]
    if kind is slice:
        return 1, [value.start, value.stop, value.step]
    if kind in (GenericAlias, _Alias):
        return _WORK_OF_AN_OBJECT, [value.__origin__, *value.__args__]
    if kind is frozenset or kind in _HOLD_NO_HASH:
        return 1, _compared(value, kind) if deep else []
    own_hash: object = kind.__hash__
    if own_hash is None or own_hash is object.__hash__:
        return 1, []
    held = [*attributes_of(value)]
    if issubclass(kind, tuple):
        held += tuple.__iter__(value)
    return _WORK_OF_AN_OBJECT, held


def _compared(value: Any, kind: type) -> list[Any]:
    return [*chain.from_iterable(value.items())] if kind is dict else [*value]
