"""Which models dump their fields as they are."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, Tag, computed_field, field_serializer
from typing_extensions import TypedDict

from langgraph_once.serde.codecs.langgraph.write.dumped_as_is import plain_fields


class Keyed(TypedDict):
    __pydantic_config__ = {"extra": "allow"}  # type: ignore[misc]  # noqa: RUF012  # as pydantic says
    a: int


class Plain(BaseModel):
    number: int | None = None
    either: int | str | list[dict[str, float]] = 1
    named: Annotated[int, Tag("n")] | Annotated[str, Tag("s")] = 1
    word: Literal["a", "b"] = "a"
    itself: Plain | None = None


class OfTexts(BaseModel):
    keyed: Keyed


class Serialized(BaseModel):
    either: int | str = 1

    @field_serializer("either")
    def shown(self, value: Any) -> str:
        return str(value)


class Computed(BaseModel):
    a: int = 1

    @computed_field  # type: ignore[prop-decorator]  # as pydantic says
    @property
    def twice(self) -> int:
        return 2 * self.a


class Excluded(BaseModel):
    a: Annotated[int, Field(exclude=True)] = 1


class Aliased(BaseModel):
    a: Annotated[int, Field(serialization_alias="b")] = 1


class Derived(Plain):
    pass


class HoldsDerived(BaseModel):
    one: Derived | int


def test_fields_of_ordinary_types_are_dumped_as_they_are() -> None:
    assert plain_fields(Plain) == (5, False)
    assert plain_fields(OfTexts) == (1, True)
    assert plain_fields(Derived) == (5, False)


@pytest.mark.parametrize("cls", [Serialized, Computed, Excluded, Aliased, HoldsDerived])
def test_what_a_class_changes_in_its_dump_is_not(cls: type[BaseModel]) -> None:
    assert plain_fields(cls) is None
