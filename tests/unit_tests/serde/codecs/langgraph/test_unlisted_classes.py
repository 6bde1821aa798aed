"""LangGraph's rows of classes that no list names: made of their parts, without their code."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum
from typing import Any, Literal

import ormsgpack
import pydantic.v1
import pytest
from langgraph.checkpoint.serde.jsonplus import EXT_PYDANTIC_V2, JsonPlusSerializer
from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypedDict

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import TypeNotAllowedError
from langgraph_once.serde import OnceSerializer, Opaque
from tests.unit_tests.serde.fidelity.sameness import difference

SERDE = OnceSerializer()
STOCK = JsonPlusSerializer(allowed_msgpack_modules=True)


class Rows(BaseModel):
    texts: tuple[str, ...] = ()
    pair: tuple[int, bool] = (0, True)


class Old(pydantic.v1.BaseModel):
    number: int = 0
    anything: Any = None


class Color(Enum):
    RED = "red"


class Step(TypedDict, total=False):
    name: str
    colors: list[Color]


class Leaf(BaseModel):
    kind: Literal["leaf"] = "leaf"
    color: Color = Color.RED


class Node(BaseModel):
    kind: Literal["node"] = "node"
    inside: list[Node] = []


@pydantic_dataclass
class Place:
    x: int
    leaf: Leaf


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    x: int = 0


class Names(RootModel[dict[str, Leaf]]):
    pass


class All(BaseModel):
    color: Color = Color.RED
    word: Literal["a", 1, Color.RED] = "a"
    listed: list[Leaf] = []
    loose: list = []  # type: ignore[type-arg]  # as users write it
    texts: set[str] = set()
    ids: frozenset[int] = frozenset()
    by_id: dict[int, Leaf] = {}
    by_color: dict[Color, int] = {}
    any_map: dict = {}  # type: ignore[type-arg]  # as users write it
    leaf: Leaf | None = None
    either: int | str | Leaf = 0
    tagged: Leaf | Node = Field(Leaf(), discriminator="kind")
    step: Step = {}
    place: Place | None = None
    opened: Open | None = None
    names: Names | None = None
    at: datetime | None = None
    tree: Node = Node()


FIELDS: list[dict[str, Any]] = [
    {"color": Color.RED},
    *({"word": word} for word in ("a", 1, Color.RED)),
    {"listed": [Leaf(), Leaf()], "loose": [1, "a"]},
    {"texts": {"a", "b"}, "ids": frozenset({1, 2})},
    {"by_id": {1: Leaf(), 2: Leaf()}, "by_color": {Color.RED: 1}, "any_map": {1: "a"}},
    {"leaf": Leaf()},
    *({"either": either} for either in (1, "a", Leaf())),
    *({"tagged": tagged} for tagged in (Leaf(), Node(inside=[Node()]))),
    *({"step": step} for step in ({}, {"name": "n"}, {"name": "n", "colors": [Color.RED]})),
    {"place": Place(1, Leaf())},
    {"opened": Open.model_validate({"x": 1, "y": [2]})},
    {"names": Names({"a": Leaf()})},
    {"at": datetime(2026, 5, 1, tzinfo=UTC)},
    {"tree": Node(inside=[Node(inside=[Node()]), Node()])},
]


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


def row(dump: dict[str, Any]) -> tuple[str, bytes]:
    named = (All.__module__, All.__name__, dump, "model_validate_json")
    return "msgpack", ormsgpack.packb(ormsgpack.Ext(EXT_PYDANTIC_V2, ormsgpack.packb(named)))


@pytest.mark.parametrize("fields", FIELDS, ids=" ".join)
def test_fields_of_any_kind_come_back_as_validation_makes_them(fields: dict[str, Any]) -> None:
    value = All(**fields)
    found = read(value)
    assert type(found) is All
    assert difference(STOCK.loads_typed(STOCK.dumps_typed(value)).__dict__, found.__dict__) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"color": "blue"},
        {"word": "b"},
        {"word": True},
        {"listed": {}},
        {"texts": ["a"]},
        {"by_id": {"1": {}}},
        {"either": 1.5},
        {"tagged": {"kind": "other"}},
        {"tagged": {"kind": ["leaf"]}},
        {"step": {"other": 1}},
        {"at": "2026-05-01"},
        {"leaf": 1},
    ],
    ids=repr,
)
def test_what_validation_would_change_or_refuse_is_not_made_without_it(
    fields: dict[str, Any],
) -> None:
    assert isinstance(SERDE.loads_typed(row(fields)), Opaque)
    with pytest.raises(TypeNotAllowedError, match="All"):
        OnceSerializer(SerdeConfig(on_unavailable="raise")).loads_typed(row(fields))
