"""Keys and items whose hash is code of a class that is not listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import chain
from types import GenericAlias
from typing import Any, Final

from langgraph_once.errors import PayloadError
from langgraph_once.serde.trust.class_code import argument_hook, hash_hook
from langgraph_once.serde.trust.lookup import attributes_of, declared

__all__ = ["Danger", "Guard", "GuardedError"]

_ATOMS: Final = frozenset({type(None), bool, int, float, complex, str, bytes, bytearray})
_FLAT: Final = frozenset({tuple, list, set, frozenset})
_OF_OBJECT: Final = vars(object)["__hash__"]


class GuardedError(PayloadError):
    """To hash this would run code of a class that is not listed."""


class Danger(IntEnum):
    """What of a class may run."""

    NONE = 0
    WHERE_USED = 1
    """What constructors ask of their arguments, as `__float__` and `__iter__`."""
    WHERE_HASHED = 2
    """Besides that, its hash, or what that asks for."""


class Guard:
    """The unlisted classes met so far, and what of them is dangerous. Thread-safe."""

    def __init__(self) -> None:
        """Begin with none."""
        self._dangers: dict[int, tuple[Danger, type]] = {}
        self._is_hashed_by_hand = False

    def __bool__(self) -> bool:
        """Whether hashing may run the code of a class that is not listed."""
        return self._is_hashed_by_hand

    def note(self, cls: type) -> None:
        """Note a class that is not listed."""
        danger = Danger.NONE
        if hash_hook(cls):
            danger = Danger.WHERE_HASHED
            self._is_hashed_by_hand = True
        elif argument_hook(cls):
            danger = Danger.WHERE_USED
        self._dangers[id(cls)] = danger, cls

    def check(self, items: Iterable[Any], *, tag: str) -> None:
        """Refuse items which are, or hold, instances of classes that are dangerous to hash.

        What a key holds counts even where its hash does not ask for it: a listed class may hash
        whatever it likes.

        Raises:
            GuardedError: One of them does.
        """
        if self and self.finds(items, Danger.WHERE_HASHED):
            raise GuardedError("a key runs code of a class that is not listed", tag=tag)

    def finds(self, items: Iterable[Any], least: Danger) -> bool:
        """Whether one of the items is, or holds, an instance of a class that dangerous."""
        if not self._dangers:
            return False
        todo, seen = [*items], set()
        while todo:
            item = todo.pop()
            kind = type(item)
            if kind in _ATOMS or id(item) in seen:
                continue
            if id(kind) in self._dangers and self._dangers[id(kind)][0] >= least:
                return True
            seen.add(id(item))
            todo += _held(item, kind)
        return False


def _held(item: Any, kind: Any) -> Iterator[Any]:
    """Yield what a value holds, without asking its class."""
    if kind in _FLAT:
        yield from item
    elif kind is dict:
        yield from chain(item.keys(), item.values())
    elif kind is slice:
        yield from (item.start, item.stop, item.step)
    elif kind is GenericAlias:
        yield from item.__args__
    elif not issubclass(kind, type) and declared(kind, "__hash__") is not _OF_OBJECT:
        for base in (tuple, frozenset):
            if issubclass(kind, base):
                yield from base.__iter__(item)
        yield from attributes_of(item)
