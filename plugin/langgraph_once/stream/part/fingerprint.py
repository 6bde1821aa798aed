"""Fingerprints of states, to tell whether one is as it was.

Not by `==`, to which `1` is `True` and the order of keys is nothing, and without keeping the
state itself. A value that cannot be looked into has none, so it counts as changed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from itertools import chain
from typing import Any
from uuid import UUID

from pydantic import BaseModel

__all__ = ["fingerprint"]

ATOMS = frozenset(
    {str, int, float, bool, type(None), date, datetime, time, timedelta, Decimal, UUID, complex}
)
MAX_DEPTH = 64


class _OpaqueError(Exception):
    """A value that cannot be looked into."""


def fingerprint(value: Any, *, of_tuples: bytes = b"tuple") -> bytes | None:
    """The fingerprint of `value`, equal for equal values of equal types; None if it has none.

    Args:
        value: What may have come before.
        of_tuples: What a tuple counts as: a `list` where the value may come from a checkpoint, as
            those of `JsonPlusSerializer` hold none.
    """
    try:
        return blake2b(_said(value, of_tuples, {}, 0), digest_size=16).digest()
    except _OpaqueError:
        return None


def _said(value: Any, of_tuples: bytes, known: dict[int, bytes], depth: int) -> bytes:
    """What stands for a part of a value; for a container its hash, as it may come often.

    Args:
        value: The part.
        of_tuples: As `fingerprint`.
        known: What stands for the containers that were met, by `id()`.
        depth: How deep it is.
    """
    kind = type(value)
    if kind in ATOMS:
        said = hex(value) if kind is int else repr(value)  # Python writes 4,300 digits
        return f"{kind.__name__}{len(said)}:{said}".encode("utf-8", "surrogatepass")
    if kind is bytes:
        return bytes(b"bytes%d:" % len(value) + value)
    if isinstance(value, Enum):
        # Not as text: that of a `StrEnum` is its value. A flag of unknown bits has no name.
        return f"{kind.__module__}.{kind.__qualname__}.{value.name or value.value}".encode()
    if id(value) not in known:
        if depth > MAX_DEPTH:
            raise _OpaqueError
        known[id(value)] = b"around%d:" % depth  # should it be met inside itself
        name, items = _inside(value, kind, of_tuples)
        digest = blake2b(b"%s%d:" % (name, len(items)), digest_size=16)
        for item in items:
            digest.update(_said(item, of_tuples, known, depth + 1))
        known[id(value)] = digest.digest()
    return known[id(value)]


def _inside(value: Any, kind: type, of_tuples: bytes) -> tuple[bytes, Collection[Any]]:
    """What kind of container a value is, and what it holds."""
    if kind is list or kind is tuple:
        return (b"list" if kind is list else of_tuples), value
    if kind is dict:
        return b"dict", [*chain.from_iterable(value.items())]
    if isinstance(value, BaseModel):
        named = {**value.__dict__, **(value.__pydantic_extra__ or {})}
    elif is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name, None) for field in fields(value)}
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        named = value._asdict()
    else:
        raise _OpaqueError
    name = f"{kind.__module__}.{kind.__qualname__}".encode()
    return name, [*chain.from_iterable(named.items())]
