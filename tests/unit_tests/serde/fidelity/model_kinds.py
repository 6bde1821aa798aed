"""The models and attrs classes whose instances stand in the fidelity table."""

from __future__ import annotations

import functools
from dataclasses import field
from typing import Annotated, Any, Generic, Literal, TypeVar

import attrs
import pydantic
import pydantic.v1
import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel, SecretStr

T = TypeVar("T")


class Address(BaseModel):
    city: str


class FullAddress(Address):
    street: str


class Person(BaseModel):
    name: str
    address: Address | None = None
    tags: list[str] = []


class Page(BaseModel, Generic[T]):
    items: list[T]


IntPage = Page[int]


class Aliased(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True)

    full_name: str = Field(alias="fullName")
    address: Address | None = Field(default=None, validation_alias="addr")


class Words(RootModel[list[str]]):
    pass


class Private(BaseModel):
    name: str
    _token: str = PrivateAttr(default="none")
    _unset: int = PrivateAttr()


class Excluding(BaseModel):
    name: str
    secret: str = Field(default="", exclude=True)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


class Account(BaseModel):
    user: str
    password: SecretStr


class Rectangle(BaseModel):
    width: int

    @pydantic.computed_field  # type: ignore[prop-decorator]  # mypy has no decorated properties
    @property
    def area(self) -> int:
        return self.width**2

    @functools.cached_property
    def perimeter(self) -> int:
        return self.width * 4


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"


class Zoo(BaseModel):
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]


class FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str


class Growing(BaseModel):
    """Validates to another value each time."""

    count: int

    @pydantic.field_validator("count")
    @classmethod
    def _grow(cls, value: int) -> int:
        return value + 1


class Picky(BaseModel):
    """Refuses everything, in words of its own."""

    number: int
    text: str

    @pydantic.field_validator("number")
    @classmethod
    def _refuse_number(cls, value: int) -> int:
        raise ValueError("not this one")

    @pydantic.field_validator("text")
    @classmethod
    def _refuse_text(cls, value: str) -> str:
        raise pydantic_core.PydanticCustomError("own", "not {what}", {"what": value})


class Masked(BaseModel):
    number: str

    @pydantic.field_serializer("number")
    def _mask(self, value: str) -> str:
        return "*" * len(value)


class Anything(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    value: Any


class Tree(BaseModel):
    name: str
    children: list[Tree] = []
    parent: Tree | None = None


@pydantic.dataclasses.dataclass
class PydanticRecord:
    count: int
    tags: list[str] = field(default_factory=list)


class OldAddress(pydantic.v1.BaseModel):
    city: str


class OldPerson(pydantic.v1.BaseModel):
    name: str
    address: Any = None
    _token: str = pydantic.v1.PrivateAttr(default="none")


class OldOpen(pydantic.v1.BaseModel):
    class Config:
        extra = "allow"

    name: str


def _more(logs: int) -> int:
    return logs + 1


@attrs.define
class Ship:
    name: str
    crew: list[str] = attrs.field(factory=list)


@attrs.frozen
class Coin:
    value: int


@attrs.define(slots=False)
class Raft:
    name: str
    logs: int = attrs.field(default=3, converter=_more)


@attrs.frozen(cache_hash=True)
class Hashed:
    name: str
