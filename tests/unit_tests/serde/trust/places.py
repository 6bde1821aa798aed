"""Classes of every kind that a row may name."""

from __future__ import annotations

import collections
import enum
import typing
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import attrs
import pydantic
import pydantic.v1


@dataclass
class Record:
    text: str = ""


class Model(pydantic.BaseModel):
    text: str = ""

    @pydantic.field_validator("text")
    @classmethod
    def stripped(cls, text: str) -> str:
        return text.strip()


class OldModel(pydantic.v1.BaseModel):
    text: str = ""


@attrs.define
class Attributes:
    text: str = ""


class Colour(enum.Enum):
    RED = 1


class Pair(NamedTuple):
    left: int


class Text(str):
    pass


class Money(Decimal):
    pass


class Table(collections.UserDict[str, Any]):
    pass


class RefusedError(Exception):
    pass


class Registered(typing.Protocol):
    pass


class Ordinary:
    """Its attributes are all that it is; its constructor may do anything."""

    class Inner(enum.Enum):
        ONE = 1


class Deleting(Record):
    def __del__(self) -> None:
        raise AssertionError("run")


class _Calling(type):
    def __call__(cls, *args: Any) -> Any:
        raise AssertionError("run")

    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError(f"asked for {name}")


class Called(metaclass=_Calling):
    pass


class _Noting(type):
    """Takes part in making classes, as a registry does, and in nothing else."""

    known: typing.ClassVar[list[str]] = []

    def __new__(cls, name: str, *made: Any) -> Any:
        cls.known.append(name)
        return super().__new__(cls, name, *made)


class _NotingModels(type(pydantic.BaseModel)):  # type: ignore[misc]  # pydantic's own
    pass


class _NotingEnums(enum.EnumMeta):
    pass


@dataclass
class Noted(metaclass=_Noting):
    text: str = ""


class NotedModel(pydantic.BaseModel, metaclass=_NotingModels):
    text: str = ""


class NotedColour(enum.Enum, metaclass=_NotingEnums):
    RED = 1


class Renamed:
    pass


class _Hiding(Record):
    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # that is what is tested
        raise AssertionError("run")


Hiding = _Hiding
Old = Record
DATA = (Record, Model, OldModel, Attributes, Colour, Pair, Text, Money, Table, RefusedError)
NOTED = (Noted("a"), NotedModel(text="a"), NotedColour.RED)
HOOKS = (Deleting, Called, Hiding)


def function() -> None:
    raise AssertionError("run")
