"""Classes that the stored blobs name. Neither they nor this module may ever be renamed.

Imports only what the oldest upstream version that wrote a blob has, too.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pydantic
import pydantic.v1

T = TypeVar("T")


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Access(Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: Any


@dataclass
class Task:
    name: str
    inner: Any = None


@dataclass(frozen=True)
class Fixed:
    name: str


class Profile(pydantic.BaseModel):
    name: str
    tags: list[str] = []
    inner: Any = None


class OldProfile(pydantic.v1.BaseModel):
    name: str
    tags: list[str] = []


@dataclass
class Grown:
    """A class that has changed since its first blob was written."""

    __once_version__: ClassVar[int] = 2
    name: str


@dataclass
class Pair(Generic[T]):
    left: T
    right: T


class Title(str):
    __slots__ = ("language",)
    language: str


class Tags(list[Any]):
    pass


class RunError(Exception):
    def __init__(self, code: int, *, hint: str) -> None:
        super().__init__(code)
        self.hint = hint


@dataclass
class Locked:
    """Holds what only LangGraph's own way of writing leaves out."""

    name: str

    def __post_init__(self) -> None:
        self.lock = threading.Lock()


@dataclass
class Slotted:
    __slots__ = ("size",)
    size: int


class Account(pydantic.BaseModel):
    """Has all that a model of pydantic can have beside its fields."""

    model_config = pydantic.ConfigDict(extra="allow")
    name: str
    age: int
    tags: list[str] = []
    _seen: int = 0


class Page(pydantic.BaseModel, Generic[T]):
    items: list[T]


class Names(pydantic.RootModel[list[str]]):
    pass


class Stamp(datetime):
    pass


class Money(Decimal):
    pass


class Reduced:
    """Says itself what call makes it."""

    def __init__(self, size: int) -> None:
        self.double_size = 2 * size

    def __reduce__(self) -> Any:
        return Reduced, (self.double_size // 2,)


class Angle:
    """Is known to an adapter."""

    def __init__(self, degrees: int) -> None:
        self.degrees = degrees


class Shape:
    """Is known to an adapter, with all that is derived from it."""

    def __init__(self, sides: int) -> None:
        self.sides = sides


class Square(Shape):
    pass


def double(number: int) -> int:
    return 2 * number


NAMES = (
    *("Colour", "Level", "Access", "Point", "Task", "Fixed", "Profile", "OldProfile"),
    *("Grown", "Title", "Pair", "Tags", "RunError", "Locked", "double"),
    *("Slotted", "Account", "Page", "Names", "Stamp", "Money", "Reduced", "Square"),
)

ALLOWED_TYPES = tuple(f"{__name__}:{name}" for name in NAMES)
"""For `SerdeConfig.allowed_types`."""
