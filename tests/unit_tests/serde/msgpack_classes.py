"""Enums, dataclasses and subclasses of built-in types that are easily written wrongly."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto
from typing import Any, NamedTuple

NOW = datetime(2025, 3, 1, tzinfo=UTC)


class Shade(Enum):
    LIGHT = "light"
    PAIR = (1, [2])
    NESTED = {"a": date(2025, 1, 1)}  # noqa: RUF012  # a member, not a default


class Word(StrEnum):
    YES = "yes"


class Rank(IntEnum):
    LOW = 1


class Access(IntFlag):
    READ = 1
    WRITE = 2


class Mode(Flag):
    A = auto()
    B = auto()


class Answering(Enum):
    """Has an attribute that upstream asks for before it asks for the type."""

    ONE = 1

    def dict(self) -> dict[str, int]:
        return {"one": 1}


class Renamed(Enum):
    ONE = 1

    @property
    def value(self) -> Any:
        return "renamed"


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Mapping(dict[Any, Any]):
    pass


class Listing(list[Any]):
    pass


class Pair(NamedTuple):
    left: Any
    right: Any = None


class Bag(set[Any]):
    pass


@dataclass
class Plain:
    a: Any
    b: Any = None


@dataclass(slots=True, frozen=True, eq=False)
class Slotted:
    a: Any
    b: Any = 3


@dataclass
class Late(Plain):
    """Sets a field in another order, and one that is no field."""

    c: Any = field(init=False)

    def __post_init__(self) -> None:
        b = self.b
        del self.b
        self.c = 1
        self.b = b
        self.extra = 2


@dataclass(frozen=True)
class LikeSend:
    node: Any
    arg: Any


@dataclass
class LikeModel:
    a: Any

    def dict(self) -> dict[str, Any]:
        return {"a": 0}


@dataclass
class HalfSend:
    node: Any


@dataclass
class Computed:
    a: Any

    @property
    def b(self) -> int:
        return 1

    @functools.cached_property
    def c(self) -> int:
        return 2


@dataclass
class Delegating:
    a: Any = 1

    def __getattr__(self, name: str) -> Any:
        if name == "_asdict":
            return lambda: {"a": 5}
        raise AttributeError(name)


class Day(date, Enum):
    FIRST = 2025, 1, 1


@dataclass
class Amount(Decimal):
    a: Any = 1
