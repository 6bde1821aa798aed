"""Pydantic models that change what they dump, and some that do not."""

from __future__ import annotations

import functools
from datetime import datetime
from typing import Any, ClassVar

import langchain_core.messages as lc
import pydantic
import pydantic.v1
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from .msgpack_classes import Shade


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
