"""A class that is gone, moved or made in a function: one meaning, whoever wrote the row.

An `Opaque` stands for the object and shows its fields, is written back as it was read, by either
codec, and becomes the object again where the class is there again.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pydantic
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_once import SerdeConfig
from langgraph_once.errors import PayloadError, SerdeError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer, Opaque

SHOP = "shop_of_this_test"
FIELDS = {"number": 3, "text": "a"}


SOURCE = """
import dataclasses, enum, typing, pydantic

@dataclasses.dataclass
class Record:
    number: int
    text: str

class Model(pydantic.BaseModel):
    number: int
    text: str

class Pair(typing.NamedTuple):
    number: int
    text: str

class Mode(enum.Enum):
    FAST = "fast"
"""


def _made_in_a_function() -> list[Any]:
    @dataclass
    class Record:
        number: int
        text: str

    class Model(pydantic.BaseModel):
        number: int
        text: str

    return [Record(**FIELDS), Model(**FIELDS)]  # type: ignore[arg-type]  # by name


@pytest.fixture(scope="module")
def shop_source(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("shop")
    (folder / f"{SHOP}.py").write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(SHOP, folder / f"{SHOP}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def shop(shop_source: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(sys.modules, SHOP, shop_source)
    return shop_source


def ours(codec: Any = "once1", **settings: Any) -> OnceSerializer:
    return OnceSerializer(SerdeConfig(codec=codec, compression="none", **settings))


WRITERS = {
    "once1": ours(),
    "msgpack": ours("msgpack"),
    "upstream": JsonPlusSerializer(),
}


def objects(shop: Any) -> list[Any]:
    return [shop.Record(**FIELDS), shop.Model(**FIELDS), shop.Pair(**FIELDS), shop.Mode.FAST]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_class_that_is_there_needs_no_setting(shop: Any, writer: str) -> None:
    again = ours().loads_typed(WRITERS[writer].dumps_typed(objects(shop)))
    assert again == objects(shop)
    assert [*map(type, again)] == [*map(type, objects(shop))]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("gone", ["class", "module"])
def test_a_removed_class_is_an_opaque_and_comes_back_with_it(
    shop: Any, monkeypatch: pytest.MonkeyPatch, writer: str, gone: str
) -> None:
    row = WRITERS[writer].dumps_typed([*objects(shop), "text"])
    with monkeypatch.context() as without:
        if gone == "module":
            without.delitem(sys.modules, SHOP)
        else:
            for name in ("Record", "Model", "Pair", "Mode"):
                without.delattr(shop, name)
        found = ours().loads_typed(row)
        assert [*map(type, found)] == [Opaque, Opaque, Opaque, Opaque, str]
        assert [each.type_name for each in found[:-1]] == [
            f"{SHOP}:{name}" for name in ("Record", "Model", "Pair", "Mode")
        ]
        assert found[0].payload == found[1].payload == FIELDS
        assert found[2].payload in (FIELDS, tuple(FIELDS.values()))
        assert found[3].payload in ("fast", "FAST")
        assert not any(f"'{value}'" in repr(found[:-1]) for value in FIELDS.values())
        assert "number" not in repr(found)
        with pytest.raises((PayloadError, TypeNotAllowedError), match=f"{SHOP}:Record"):
            ours(on_unavailable="raise").loads_typed(row)
        again = ours().dumps_typed(found)
        assert ours().loads_typed(again) == found
        assert ours().dumps_typed(ours().loads_typed(again)) == again
        if writer != "once1":
            assert ours("msgpack").dumps_typed(found)[1] == row[1]
    assert ours().loads_typed(again) == [*objects(shop), "text"]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_class_that_moved_is_found_by_its_alias(shop: Any, writer: str) -> None:
    row = WRITERS[writer].dumps_typed(objects(shop)[:2])
    row = row[0], row[1].replace(SHOP.encode(), SHOP.encode()[::-1])
    old = SHOP[::-1]
    assert [*map(type, ours().loads_typed(row))] == [Opaque, Opaque]
    aliases = {f"{old}:{name}": f"{SHOP}:{name}" for name in ("Record", "Model")}
    assert ours(aliases=aliases).loads_typed(row) == objects(shop)[:2]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_class_made_in_a_function_is_written_and_shows_its_fields(writer: str) -> None:
    found = ours().loads_typed(WRITERS[writer].dumps_typed(_made_in_a_function()))
    assert [*map(type, found)] == [Opaque, Opaque]
    assert [each.payload for each in found] == [FIELDS, FIELDS]


def test_a_json_row_of_a_removed_class_is_an_opaque(shop: Any) -> None:
    envelope = {"lc": 2, "type": "constructor", "id": [SHOP, "Record"], "kwargs": FIELDS}
    row = "json", json.dumps([envelope]).encode()
    assert ours().loads_typed(row) == objects(shop)[:1]
    lost = "json", row[1].replace(b"Record", b"Gone")
    (found,) = ours().loads_typed(lost)
    assert (found.type_name, found.payload) == (f"{SHOP}:Gone", FIELDS)
    (again,) = ours().loads_typed(ours().dumps_typed([found]))
    assert again == found
    with pytest.raises(SerdeError, match=f"{SHOP}:Gone"):
        ours(on_unavailable="raise").loads_typed(lost)


class _State(TypedDict):
    kept: Any
    turns: int


@pytest.mark.parametrize("codec", ["once1", "msgpack"])
def test_a_thread_goes_on_whose_class_is_gone(
    shop: Any, monkeypatch: pytest.MonkeyPatch, codec: str
) -> None:
    builder = StateGraph(_State)
    builder.add_node("turn", lambda state: {"turns": state.get("turns", 0) + 1})
    builder.add_edge(START, "turn")
    builder.add_edge("turn", END)
    graph: Any = builder.compile(checkpointer=InMemorySaver(serde=ours(codec)))
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.invoke({"kept": objects(shop)[0]}, config)
    with monkeypatch.context() as without:
        without.delattr(shop, "Record")
        assert graph.invoke({}, config)["turns"] == 2
        assert graph.get_state(config).values["kept"].payload == FIELDS
        assert len([*graph.get_state_history(config)]) > 2
    assert graph.invoke({}, config) == {"kept": objects(shop)[0], "turns": 3}
