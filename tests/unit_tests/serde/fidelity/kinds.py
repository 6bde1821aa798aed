"""The classes whose instances stand in the fidelity table, as an application would write them."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    GREEN = (0, 128, 0)
    CRIMSON = "red"  # noqa: PIE796  # an alias


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Mode(enum.StrEnum):
    FAST = "fast"


class OldMode(str, enum.Enum):  # noqa: UP042  # as it was written before StrEnum
    FAST = "fast"


class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
    BOTH = READ | WRITE


class Bits(enum.IntFlag):
    ONE = 1
    FOUR = 4


class Outer:
    class Inner(enum.Enum):
        ONE = 1

    @dataclass
    class Part:
        name: str

    class Model(BaseModel):
        name: str


class Point(NamedTuple):
    x: int
    y: Any = None


Pair = collections.namedtuple("Pair", "left right")  # noqa: PYI024  # the old way is meant


class LongPoint(Point):
    """A named tuple that takes attributes."""


class Movie(TypedDict):
    title: str
    year: int


@dataclass
class Plain:
    name: str
    inner: Any = None


@dataclass(frozen=True)
class Frozen:
    name: str
    tags: tuple[str, ...] = ()


@dataclass(slots=True)
class Slotted:
    name: str
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Strict:
    name: str
    limit: float = 1.0


@dataclass
class Computed:
    width: int
    area: int = field(init=False)
    late: int = field(init=False)

    def __post_init__(self) -> None:
        self.area = self.width**2


@dataclass
class Drifting:
    """Changes its value each time it is constructed."""

    count: int

    def __post_init__(self) -> None:
        self.count += 1


@dataclass
class WithInitVar:
    total: int = field(init=False)
    start: dataclasses.InitVar[int] = 0

    def __post_init__(self, start: int) -> None:
        self.total = start * 2


@dataclass
class Child(Plain):
    extra: list[int] = field(default_factory=list)


@dataclass
class Box(Generic[T]):
    content: T


@dataclass
class Cached:
    n: int

    @functools.cached_property
    def double(self) -> int:
        return self.n * 2


@dataclass
class DeclaredError(Exception):
    code: int


@dataclass
class Node:
    name: str
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None


class Text(str):
    """Text with attributes."""

    lang: str


class Slug(str):
    __slots__ = ()


class Number(int):
    unit: str


class Ratio(float):
    pass


class Blob(bytes):
    pass


class Rows(list[Any]):
    source: str


class Table(dict[Any, Any]):
    source: str


class Triple(tuple[Any, ...]):
    note: str


class Names(set[Any]):
    pass


class FrozenNames(frozenset[Any]):
    pass


class Log(collections.deque[Any]):
    pass


class Shouting(dict[str, Any]):
    """Overrides what a naive reader would call."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key.upper(), value)


class AppError(Exception):
    """Takes other arguments than it passes on."""

    def __init__(self, code: int, *, hint: str = "") -> None:
        super().__init__(f"failed with {code}")
        self.code = code
        self.hint = hint


class QuietError(AppError):
    pass


class SlottedError(AppError):
    __slots__ = ("size",)


class DiskError(OSError):
    pass


class AppGroup(ExceptionGroup[Exception]):
    pass


def shout(text: str) -> str:
    return text.upper()


def fresh_list() -> list[int]:
    return [0]


class Outsider:
    """Nobody taught the codec this class."""
