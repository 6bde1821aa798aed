"""LangGraph's rows of classes that no list names: made of their parts, without their code."""

from __future__ import annotations

from typing import Any

import pydantic.v1
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from langgraph_once.serde import OnceSerializer, Opaque

SERDE = OnceSerializer()


class Rows(BaseModel):
    texts: tuple[str, ...] = ()
    pair: tuple[int, bool] = (0, True)


class Old(pydantic.v1.BaseModel):
    number: int = 0
    anything: Any = None


def read(value: Any) -> Any:
    return SERDE.loads_typed(JsonPlusSerializer().dumps_typed(value))


@pytest.mark.parametrize("texts", [(), ("a",), ("a", "b", "c")], ids=len)
def test_tuples_of_any_length_come_back(texts: tuple[str, ...]) -> None:
    value = Rows(texts=texts, pair=(1, False))
    found = read([value])
    assert found == [value]
    assert type(found[0].texts) is type(found[0].pair) is tuple


@pytest.mark.parametrize(
    "value", [Old(number=2), Old(number=2, anything=[1]), Old(number=2, anything="a")], ids=repr
)
def test_models_of_pydantic_v1_come_back_whose_values_are_of_the_declared_types(value: Any) -> None:
    found = read(value)
    assert type(found) is Old
    assert found == value


def test_models_of_pydantic_v1_are_not_made_of_other_values() -> None:
    assert isinstance(read(Old.construct(number="two", anything=1)), Opaque)
