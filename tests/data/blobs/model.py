"""Classes that the stored blobs name. Neither they nor this module may ever be renamed.

Imports only what the oldest upstream version that wrote a blob has, too.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
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


class Stranger:
    """A class of a kind that no codec knows."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __reduce__(self) -> Any:
        raise TypeError("not to be written")


@dataclass
class Locked:
    """Holds what only LangGraph's own way of writing leaves out."""

    name: str

    def __post_init__(self) -> None:
        self.lock = threading.Lock()


def double(number: int) -> int:
    return 2 * number


NAMES = (
    *("Colour", "Level", "Access", "Point", "Task", "Fixed", "Profile", "OldProfile"),
    *("Grown", "Title", "Pair", "Tags", "RunError", "Stranger", "Locked", "double"),
)

ALLOWED_TYPES = tuple(f"{__name__}:{name}" for name in NAMES)
"""For `SerdeConfig.allowed_types`."""
