"""Classes and a codec without layers, for the tests of the core."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from pydantic import BaseModel, PrivateAttr

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer


def once(*adapters: Any, **settings: Any) -> OnceSerializer:
    """Return a serializer of codec `once2` without compression."""
    return OnceSerializer(SerdeConfig(compression="none", **settings), adapters=adapters)


def back(value: Any, serde: OnceSerializer | None = None) -> Any:
    """Return a value as it comes back."""
    serde = serde or ONCE
    return serde.loads_typed(serde.dumps_typed(value))


ONCE = once()


@dataclass(eq=False)
class Knot:
    """Has its own identity, and may hold itself."""

    label: Any = None
    links: Any = field(default_factory=list)


@dataclass(frozen=True)
class Box:
    """Can be hashed."""

    content: Any


class Point(BaseModel):
    x: Any
    y: Any = 0


class Locked(BaseModel):
    """Has a private attribute that nobody can store."""

    name: str
    _lock: Any = PrivateAttr(default_factory=threading.Lock)


class Pair(NamedTuple):
    first: Any
    second: Any


class Mode(Enum):
    FAST = "fast"


class Text(str):
    """A text with attributes."""
