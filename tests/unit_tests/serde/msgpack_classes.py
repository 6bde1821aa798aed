"""Classes that upstream's msgpack treats in ways of their own; pydantic models last."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto
from typing import Any, ClassVar, NamedTuple

import langchain_core.messages as lc
import pydantic
import pydantic.v1
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

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


class Leaf(BaseModel):
    x: Any = None
    when: datetime | None = None


class SubLeaf(Leaf):
    more: int = 1


class Tree(BaseModel):
    leaf: Leaf | None = None
    leaves: list[Leaf] = []
    by_name: dict[Any, Any] = {}
    child: Tree | None = None
    shade: Shade | None = None


class Info(TypedDict, total=False):
    a: int


class Typed(BaseModel):
    info: Any = None
    known: Info = {}


class Awkward(BaseModel):
    """A bit of everything that changes a dump."""

    model_config = ConfigDict(extra="allow", serialize_by_alias=True, populate_by_name=True)

    named: Any = Field(None, serialization_alias="other")
    hidden: Any = Field(None, exclude=True)
    secret: pydantic.SecretStr = pydantic.SecretStr("s")
    _private: int = 3
    constant: ClassVar[int] = 1

    @pydantic.computed_field  # type: ignore[prop-decorator]  # mypy has no decorated properties
    @property
    def twice(self) -> int:
        return 2


class Serializing(BaseModel):
    a: Any = 1

    @pydantic.field_serializer("a")
    def _a(self, value: Any) -> Any:
        return repr(value)


class WholeSerializing(BaseModel):
    a: Any = 1

    @pydantic.model_serializer
    def _whole(self) -> Any:
        return {"whole": self.a}


class Validating(BaseModel):
    a: Any = 1
    _seen: list[int] = pydantic.PrivateAttr(default_factory=list)

    @pydantic.field_validator("a", mode="before")
    @classmethod
    def _a(cls, value: Any) -> Any:
        return value

    @pydantic.model_validator(mode="after")
    def _after(self) -> Any:
        return self


class Caching(BaseModel):
    a: Any = 1

    @functools.cached_property
    def cached(self) -> int:
        return 7


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")

    a: Any = 1


class Dumping(BaseModel):
    a: Any = 1

    def model_dump(self, **_: Any) -> Any:
        return {"dumped": self.a}


class Aliased(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True, populate_by_name=True)

    a: Any = Field(1, serialization_alias="b")


class Excluding(BaseModel):
    a: Any = Field(1, exclude=True)


class Deriving(BaseModel):
    a: Any = 1

    @pydantic.computed_field  # type: ignore[prop-decorator]  # mypy has no decorated properties
    @property
    def b(self) -> int:
        return 2


class Root(pydantic.RootModel[Any]):
    pass


class Older(pydantic.v1.BaseModel):
    a: Any = 1


class MyMessage(lc.HumanMessage):
    """A subclass of a message, with a field of its own."""

    mine: Any = None
