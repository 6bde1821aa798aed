"""Fingerprints of states, to tell whether one is as it was.

Not by `==`, to which `1` is `True` and the order of keys is nothing, and without keeping the
state itself. A value that cannot be looked into has none, so it counts as changed.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        _feed(value, digest.update, of_tuples, 0)
    except _OpaqueError:
        return None
    return digest.digest()


def _feed(value: Any, write: Any, of_tuples: bytes, depth: int) -> None:
    kind = type(value)
    if kind in ATOMS:
        said = repr(value)
        write(f"{kind.__name__}{len(said)}:{said}".encode("utf-8", "surrogatepass"))
    elif kind is bytes:
        write(b"bytes%d:" % len(value) + value)
    elif depth > MAX_DEPTH:
        raise _OpaqueError
    elif isinstance(value, Enum):
        # Not as text: that of a `StrEnum` is its value. A flag of unknown bits has no name.
        write(f"{kind.__module__}.{kind.__qualname__}.{value.name or value.value}".encode())
    elif kind is list or kind is tuple:
        write(b"%s%d:" % (b"list" if kind is list else of_tuples, len(value)))
        for item in value:
            _feed(item, write, of_tuples, depth + 1)
    elif kind is dict:
        _feed_mapping(value, write, of_tuples, depth)
    else:
        write(f"{kind.__module__}.{kind.__qualname__}".encode())
        _feed_mapping(_fields(value), write, of_tuples, depth)


def _feed_mapping(value: Mapping[Any, Any], write: Any, of_tuples: bytes, depth: int) -> None:
    write(b"dict%d:" % len(value))
    for key, item in value.items():
        _feed(key, write, of_tuples, depth + 1)
        _feed(item, write, of_tuples, depth + 1)


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, BaseModel):
        return {**value.__dict__, **(value.__pydantic_extra__ or {})}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        named: Mapping[str, Any] = value._asdict()
        return named
    raise _OpaqueError
