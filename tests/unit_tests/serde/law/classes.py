"""The models and data classes of the pool, as applications write them.

They stand in a module of their own: a row names it, and another process imports it for the row.
What the fidelity table has too stands there, in `fidelity/kinds.py` and beside it.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict

import attrs
import pydantic.v1
from pydantic import (
    AfterValidator,
    AliasChoices,
    Base64Bytes,
    Base64Str,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    Json,
    PlainSerializer,
    PrivateAttr,
    RootModel,
    SecretBytes,
    SecretStr,
    WrapValidator,
    computed_field,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass

from tests.unit_tests.serde.fidelity.model_kinds import Cat, Page


class Plain(BaseModel):
    name: str
    count: int = 0
    tags: list[str] = []


class Anything(BaseModel):
    value: Any = None


class Nested(BaseModel):
    first: Plain
    others: list[Plain] = []
    by_name: dict[str, Plain] = {}


class Child(Plain):
    extra: str = ""


class FieldOfBase(BaseModel):
    item: Plain


class Collections(BaseModel):
    pair: tuple[int, str]
    some: set[int]
    frozen: frozenset[str]
    numbers: dict[int, str]


class Percent(BaseModel):
    share: float

    @field_validator("share", mode="before")
    @classmethod
    def of_hundred(cls, value: Any) -> Any:
        return value / 100 if isinstance(value, int) else value

    @field_serializer("share")
    def as_percent(self, value: float) -> int:
        return round(value * 100)


class AfterValidated(BaseModel):
    name: Annotated[str, AfterValidator(str.strip)]


class BeforeValidated(BaseModel):
    words: Annotated[list[str], BeforeValidator(lambda v: v.split() if isinstance(v, str) else v)]


class WrapValidated(BaseModel):
    count: Annotated[int, WrapValidator(lambda value, handler: handler(value))]


class Scaling(BaseModel):
    """Its validator is not idempotent: each validation doubles the number."""

    amount: int

    @field_validator("amount")
    @classmethod
    def double(cls, value: int) -> int:
        return value * 2


class ModelValidated(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def ordered(self) -> ModelValidated:
        if self.low > self.high:
            raise ValueError("low > high")
        return self


class BeforeModelValidated(BaseModel):
    name: str

    @model_validator(mode="before")
    @classmethod
    def unpack(cls, data: Any) -> Any:
        return {"name": data["payload"]} if isinstance(data, dict) and "payload" in data else data


class AnnotatedSerializer(BaseModel):
    when: Annotated[date, PlainSerializer(lambda value: value.strftime("%d.%m.%Y"))]


class ModelSerialized(BaseModel):
    a: int
    b: int

    @model_serializer
    def packed(self) -> dict[str, Any]:
        return {"sum": self.a + self.b}


class Based64(BaseModel):
    data: Base64Bytes
    text: Base64Str

    @classmethod
    def of(cls, data: bytes) -> Based64:
        encoded = base64.b64encode(data)
        return cls(data=encoded, text=encoded.decode())


class Jsonned(BaseModel):
    payload: Json[Any]


class Secrets(BaseModel):
    key: SecretStr
    raw: SecretBytes = SecretBytes(b"")


PageOfInt = Page[int]


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    tricks: list[str] = []


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    number: int | str | None = None


class Private(BaseModel):
    name: str
    _token: str = PrivateAttr(default="none")
    _cache: dict[str, Any] = PrivateAttr(default_factory=dict)


class Excluding(BaseModel):
    name: str
    hidden: str = Field(default="", exclude=True)


class ExcludingRequired(BaseModel):
    name: str
    hidden: str = Field(exclude=True)


class PostInit(BaseModel):
    width: int
    _area: int = PrivateAttr(default=0)

    def model_post_init(self, context: Any, /) -> None:
        self._area = self.width**2


class Counting(BaseModel):
    """What happens after validation changes a field each time."""

    runs: int = 0

    def model_post_init(self, context: Any, /) -> None:
        self.runs += 1


class Table(RootModel[dict[str, Plain]]):
    pass


class StrictModel(BaseModel):
    model_config = ConfigDict(strict=True)

    pair: tuple[int, int]
    when: datetime | None = None


class Aliased(BaseModel):
    full_name: str = Field(alias="fullName")
    other: int = Field(default=0, validation_alias=AliasChoices("x", "y"))


class AliasedByName(BaseModel):
    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    full_name: str = Field(alias="fullName")


class Computing(BaseModel):
    width: int

    @computed_field  # type: ignore[prop-decorator]  # mypy has no decorated properties
    @property
    def area(self) -> int:
        return self.width**2


class ForbiddingComputed(BaseModel):
    """Its dump has a key that its validation forbids."""

    model_config = ConfigDict(extra="forbid")

    width: int

    @computed_field  # type: ignore[prop-decorator]  # mypy has no decorated properties
    @property
    def area(self) -> int:
        return self.width**2


class OwnInit(BaseModel):
    name: str

    def __init__(self, name: str, **data: Any) -> None:
        super().__init__(name=name.strip(), **data)


class Sites(BaseModel):
    url: HttpUrl
    price: Decimal
    when: datetime


class Dated(BaseModel):
    price: Decimal
    when: datetime


class Arbitrary(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    error: Exception | None = None
    kind: type[Any] | None = None


class Outer:
    class Inner(BaseModel):
        name: str

    @dataclass
    class Part:
        name: str


class OldPlain(pydantic.v1.BaseModel):
    name: str
    count: int = 0


class OldAnything(pydantic.v1.BaseModel):
    value: Any = None


class OldOpen(pydantic.v1.BaseModel):
    name: str

    class Config:
        extra = "allow"


class OldValidated(pydantic.v1.BaseModel):
    words: list[str]

    @pydantic.v1.validator("words", pre=True)
    def split(cls, value: Any) -> Any:  # noqa: N805  # it gets the class
        return value.split() if isinstance(value, str) else value


class OldScaling(pydantic.v1.BaseModel):
    amount: int

    @pydantic.v1.validator("amount")
    def double(cls, value: int) -> int:  # noqa: N805  # it gets the class
        return value * 2


class OldPrivate(pydantic.v1.BaseModel):
    name: str
    _token: str = pydantic.v1.PrivateAttr(default="none")


class OldSecret(pydantic.v1.BaseModel):
    key: pydantic.v1.SecretStr


class OldAliased(pydantic.v1.BaseModel):
    full_name: str = pydantic.v1.Field(alias="fullName")


class OldNested(pydantic.v1.BaseModel):
    first: OldPlain
    pair: tuple[int, str] = (0, "")


@pydantic_dataclass
class Checked:
    name: str
    tags: tuple[str, ...] = ()


@dataclass
class Simple:
    name: str
    value: Any = None


@dataclass
class SimpleChild(Simple):
    more: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Slotted:
    name: str
    value: Any = None


@dataclass
class NotInInit:
    width: int
    area: int = field(init=False)

    def __post_init__(self) -> None:
        self.area = self.width**2


@dataclass
class NotInInitChanged:
    name: str
    seen: int = field(init=False, default=0)


@dataclass
class Normalising:
    name: str

    def __post_init__(self) -> None:
        self.name = self.name.strip().lower()


@dataclass
class Attributed:
    """Takes attributes that are no fields."""

    name: str


@attrs.define
class Point:
    x: int
    y: Any = None


@attrs.frozen
class FrozenPoint:
    x: int
    y: tuple[int, ...] = ()


@attrs.define(slots=False)
class Converted:
    count: int = attrs.field(converter=int)
    _hidden: str = "h"


class Movie(TypedDict, total=False):
    title: str
    value: Any


class DictLike:
    """An ordinary class that LangGraph takes for a model of pydantic 1."""

    def __init__(self, name: str) -> None:
        self.name = name

    def dict(self) -> Any:
        return {"name": self.name}


class DumpLike:
    """An ordinary class that LangGraph takes for a model of pydantic 2."""

    def __init__(self, name: str) -> None:
        self.name = name

    def model_dump(self) -> dict[str, Any]:
        return {"name": self.name}
