"""Fingerprints of states, to tell whether one is as it was.

Not by `==`, to which `1` is `True` and the order of keys is nothing, and without keeping the
state itself. A value that cannot be looked into has none, so it counts as changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from typing import Any
from uuid import UUID

from pydantic import BaseModel

__all__ = ["fingerprint"]

ATOMS = frozenset(
    {str, int, float, bool, type(None), date, datetime, time, timedelta, Decimal, UUID, complex}
)
MAX_DEPTH = 64

MAX_AGAIN = 10_000
"""How often parts are looked into again. Until then two references to one list are as two equal
lists; but twenty lists, each of which holds the next one twice, are a million."""


class _OpaqueError(Exception):
    """A value that cannot be looked into."""


def fingerprint(value: Any, *, of_tuples: bytes = b"tuple") -> bytes | None:
    """The fingerprint of `value`, equal for equal values of equal types; None if it has none.

    Args:
        value: What may have come before.
        of_tuples: What a tuple counts as: a `list` where the value may come from a checkpoint, as
            those of `JsonPlusSerializer` hold none.
    """
    digest = blake2b(digest_size=16)
    try:
        _Feed(digest.update, of_tuples).add(value, 0)
    except _OpaqueError:
        return None
    return digest.digest()


class _Feed:
    """One walk through a value."""

    def __init__(self, write: Callable[[bytes], None], of_tuples: bytes) -> None:
        self._write = write
        self._of_tuples = of_tuples
        self._met: dict[int, int] = {}
        self._around: set[int] = set()
        self._again = 0

    def add(self, value: Any, depth: int) -> None:
        """Write what a part of it is."""
        kind, write = type(value), self._write
        if kind in ATOMS:
            said = hex(value) if kind is int else repr(value)  # Python writes 4,300 digits
            write(f"{kind.__name__}{len(said)}:{said}".encode("utf-8", "surrogatepass"))
        elif kind is bytes:
            write(b"bytes%d:" % len(value) + value)
        elif isinstance(value, Enum):
            # Not as text: that of a `StrEnum` is its value. A flag of unknown bits has no name.
            write(f"{kind.__module__}.{kind.__qualname__}.{value.name or value.value}".encode())
        elif self._is_named(value):
            write(b"again%d:" % self._met[id(value)])
        elif depth > MAX_DEPTH:
            raise _OpaqueError
        else:
            self._met.setdefault(id(value), len(self._met))
            self._around.add(id(value))
            self._add_container(value, kind, depth)
            self._around.discard(id(value))

    def _is_named(self, value: Any) -> bool:
        """Whether a part that was met before is only named: inside itself, or when it is enough."""
        if id(value) not in self._met:
            return False
        self._again += 1
        return self._again > MAX_AGAIN or id(value) in self._around

    def _add_container(self, value: Any, kind: type, depth: int) -> None:
        if kind is list or kind is tuple:
            name = b"list" if kind is list else self._of_tuples
            self._write(b"%s%d:" % (name, len(value)))
            for item in value:
                self.add(item, depth + 1)
            return
        if kind is not dict:
            self._write(f"{kind.__module__}.{kind.__qualname__}".encode())
            value = _fields(value)
        self._write(b"dict%d:" % len(value))
        for key, item in value.items():
            self.add(key, depth + 1)
            self.add(item, depth + 1)


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, BaseModel):
        return {**value.__dict__, **(value.__pydantic_extra__ or {})}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        named: Mapping[str, Any] = value._asdict()
        return named
    raise _OpaqueError
