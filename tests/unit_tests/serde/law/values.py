"""The pool's subclasses of builtin values, its enums, zones and exceptions.

What the fidelity table has too stands there, in `fidelity/kinds.py` and `object_kinds.py`.
"""

from __future__ import annotations

import collections
import enum
import pathlib
import uuid
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Shade(enum.Enum):
    DARK = (0, 0, 128)
    LIGHT = (128, 128, 255)


class Mode(enum.StrEnum):
    FAST = "fast"
    SLOW = "slow"


class OldMode(str, enum.Enum):  # noqa: UP042  # as it was written before StrEnum
    FAST = "fast"
    SLOW = "slow"


class Planet(enum.Enum):
    """Its value is not what it is made of."""

    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)

    def __init__(self, mass: float, radius: float) -> None:
        self.mass = mass
        self.radius = radius


class Holder:
    class Inner(enum.Enum):
        ONE = 1
        TWO = 2


Pair = collections.namedtuple("Pair", "left right")  # noqa: PYI024  # the old way is meant


class Text(str):
    """Takes attributes, as the texts of BeautifulSoup do."""


class Whole(int):
    pass


class Buffer(bytearray):
    pass


class Rows(list[Any]):
    pass


class Table(dict[Any, Any]):
    pass


class AttributeTable(dict[str, Any]):
    """Its items are its attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Couple(tuple[Any, ...]):
    __slots__ = ()


class Queue(deque[Any]):
    pass


class Counts(Counter[Any]):
    pass


class Sequence(OrderedDict[Any, Any]):
    pass


class Groups(defaultdict[Any, Any]):
    pass


class Money(Decimal):
    def label(self) -> str:
        return f"{self} EUR"


class Share(Fraction):
    pass


class Day(date):
    pass


class Moment(datetime):
    pass


class Clock(time):
    pass


class Span(timedelta):
    pass


class Key(uuid.UUID):
    pass


class File(type(pathlib.Path())):  # type: ignore[misc]  # what a path is here
    pass


class Address(IPv4Address):
    pass


class Settings(UserDict[str, Any]):
    pass


class Zone(tzinfo):
    """A zone as applications wrote them before `zoneinfo`."""

    def __init__(self, hours: int) -> None:
        self.hours = hours

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta(hours=self.hours)

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        return f"zone {self.hours}"


class FixedZone(tzinfo):
    """A zone without arguments."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta(hours=2)

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        return "fixed"


class RefusedError(Exception):
    pass


class CodedError(Exception):
    """Its arguments are not those of its constructor."""

    def __init__(self, code: int, *, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


class MyMessage(HumanMessage):
    mood: str = "calm"


class MyAnswer(AIMessage):
    sources: tuple[str, ...] = ()


class MyDocument(Document):
    score: float = 0.0
