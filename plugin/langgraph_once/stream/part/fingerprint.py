"""Fingerprints of states, to tell whether one is as it was.

Not by `==`, to which `1` is `True` and the order of keys is nothing, and without keeping the
state itself. A value that cannot be looked into has none, so it counts as changed.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from itertools import chain
from typing import Any
from uuid import UUID

from pydantic import BaseModel

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
    known: dict[int, bytes] = {}  # what stands for the containers that were met, by `id()`

    def said(part: Any, depth: int) -> bytes:
        """What stands for a part; for a container its hash, as it may come often."""
        kind = type(part)
        if kind in ATOMS:
            text = hex(part) if kind is int else repr(part)  # Python writes 4,300 digits
            return f"{kind.__name__}{len(text)}:{text}".encode("utf-8", "surrogatepass")
        if kind is bytes:
            return bytes(b"bytes%d:" % len(part) + part)
        if isinstance(part, Enum):
            # Not as text: that of a `StrEnum` is its value. A flag of unknown bits has no name.
            return f"{kind.__module__}.{kind.__qualname__}.{part.name or part.value}".encode()
        if id(part) not in known:
            if depth > MAX_DEPTH:
                raise _OpaqueError
            known[id(part)] = b"around%d:" % depth  # should it be met inside itself
            name, items = (of_tuples, part) if kind is tuple else _inside(part)
            digest = blake2b(b"%s%d:" % (name, len(items)), digest_size=16)
            for item in items:
                digest.update(said(item, depth + 1))
            known[id(part)] = digest.digest()
        return known[id(part)]

    try:
        return blake2b(said(value, 0), digest_size=16).digest()
    except _OpaqueError:
        return None


def _inside(value: Any) -> tuple[bytes, list[Any]]:
    """What kind of container a value is, and what it holds."""
    kind, name = type(value), f"{type(value).__module__}.{type(value).__qualname__}"
    if kind is list:
        return b"list", value
    if kind is dict:
        name, named = "dict", value
    elif isinstance(value, BaseModel):
        named = {**value.__dict__, **(value.__pydantic_extra__ or {})}
    elif is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name, None) for field in fields(value)}
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        named = value._asdict()
    else:
        raise _OpaqueError
    return name.encode(), [*chain.from_iterable(named.items())]
