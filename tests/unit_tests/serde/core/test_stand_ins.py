"""A class that is gone, moved or not allowed: what is handed on behaves as LangGraph's fallback.

It is written back as it was read, by either codec, and becomes the object again where the class is
there again.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import pickle
import sys
from dataclasses import dataclass, make_dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import orjson
import pydantic
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, PayloadError, SerdeError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer, Opaque, OpaqueDict, OpaqueList, OpaqueStr

SHOP = "shop_of_this_test"
FIELDS = {"number": 3, "text": "a"}
NAMES = ("Record", "Model", "Pair", "Mode", "Words", "Rows")

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

class Words(str):
    pass

class Rows(list):
    pass
"""


@dataclass
class Folder:
    items: list[Any]


class Thing:
    """LangGraph writes no class."""


@pytest.fixture(scope="module")
def shop_source(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("shop")
    (folder / f"{SHOP}.py").write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(SHOP, folder / f"{SHOP}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[SHOP] = module
    spec.loader.exec_module(module)
    del sys.modules[SHOP]
    return module


@pytest.fixture
def shop(shop_source: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(sys.modules, SHOP, shop_source)
    return shop_source


def ours(codec: Any = "once2", **settings: Any) -> OnceSerializer:
    compatible = codec == "msgpack"
    return OnceSerializer(SerdeConfig(compatible=compatible, compression="none", **settings))


def objects(shop: Any) -> list[Any]:
    return [shop.Record(**FIELDS), shop.Model(**FIELDS), shop.Pair(**FIELDS), shop.Mode.FAST]


def all_objects(shop: Any) -> list[Any]:
    return [*objects(shop), shop.Words("w"), shop.Rows([1])]


STOCK = JsonPlusSerializer()
WRITERS: dict[str, Any] = {"once2": ours(), "msgpack": ours("msgpack"), "LangGraph": STOCK}
SHOWN: list[Any] = [FIELDS, FIELDS, FIELDS, "fast", "w", [1]]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_class_that_is_there_needs_no_setting(shop: Any, writer: str) -> None:
    again = ours().loads_typed(WRITERS[writer].dumps_typed(objects(shop)))
    assert again == objects(shop)
    assert [*map(type, again)] == [*map(type, objects(shop))]


def gone(shop: Any, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Take the classes away, or their module."""
    if what == "module":
        monkeypatch.delitem(sys.modules, SHOP)
    else:
        for name in NAMES:
            monkeypatch.delattr(shop, name)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("what", ["class", "module"])
def test_a_stand_in_is_what_langgraph_hands_on_and_becomes_the_object_again(
    shop: Any, monkeypatch: pytest.MonkeyPatch, writer: str, what: str
) -> None:
    values = all_objects(shop)
    row = WRITERS[writer].dumps_typed(values)
    with monkeypatch.context() as without:
        gone(shop, without, what)
        found = ours().loads_typed(row)
        assert found == SHOWN
        if writer == "LangGraph":
            assert STOCK.loads_typed(row) == found
        for each, name in zip(found, NAMES if writer == "once2" else NAMES[:4], strict=False):
            assert each.type_name == f"{SHOP}:{name}"
        with pytest.raises((PayloadError, TypeNotAllowedError), match=SHOP):
            ours(on_unavailable="raise").loads_typed(row)
        again = ours().dumps_typed(found)
        assert ours().loads_typed(again) == found
        assert ours().dumps_typed(ours().loads_typed(again)) == again
        if writer != "once2":
            assert ours("msgpack").dumps_typed(found)[1] == row[1]
    back = ours().loads_typed(again)
    assert back == values
    expected = values if writer == "once2" else [*objects(shop), "w", [1]]
    assert [*map(type, back)] == [*map(type, expected)]


def test_what_was_changed_in_a_stand_in_is_stored(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ours().dumps_typed(all_objects(shop))
    with monkeypatch.context() as without:
        gone(shop, without, "class")
        found = ours().loads_typed(row)
        found[0]["number"] = 4
        found[5].append(2)
        again = ours().dumps_typed(found)
    back = ours().loads_typed(again)
    assert back[0] == shop.Record(4, "a")
    assert back[5] == [1, 2]


@pytest.mark.parametrize("writer", ["msgpack", "LangGraph"])
@pytest.mark.parametrize("codec", ["once2", "msgpack"])
def test_what_was_changed_in_a_stand_in_of_langgraphs_rows_is_stored_as_data(
    shop: Any, monkeypatch: pytest.MonkeyPatch, writer: str, codec: str
) -> None:
    row = WRITERS[writer].dumps_typed(objects(shop))
    gone(shop, monkeypatch, "class")
    found = ours().loads_typed(row)
    found[0]["number"] = 4
    back = ours().loads_typed(ours(codec).dumps_typed(found))
    assert back == [{**FIELDS, "number": 4}, *SHOWN[1:4]]
    assert type(back[0]) is dict
    if codec == "once2":  # in what contains itself, too
        found.append(found)
        again = ours().loads_typed(ours().dumps_typed(found))
        assert again[:4] == back
        assert again[4] is again


def test_a_stand_in_becomes_the_object_again_in_a_row_that_langgraph_reads(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [*objects(shop)[:2], {shop.Mode.FAST: 1}]
    row = ours().dumps_typed(values)
    with monkeypatch.context() as without:
        gone(shop, without, "class")
        again = ours("msgpack").dumps_typed(ours().loads_typed(row)[:2])
    assert STOCK.loads_typed(again) == values[:2]


def test_what_langgraph_would_have_nothing_of_is_not_written_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = ours().dumps_typed(Thing)
    monkeypatch.delattr(sys.modules[__name__], "Thing")
    found = ours().loads_typed(row)
    assert type(found) is Opaque
    assert found != object()
    assert found._asdict() == found.payload
    with pytest.raises(EncodeError, match="Opaque"):
        ours("msgpack").dumps_typed([found])


def test_a_stand_in_can_be_copied_pickled_and_sent_as_json(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ours().dumps_typed(all_objects(shop))
    gone(shop, monkeypatch, "class")
    found = ours().loads_typed(row)
    assert [*map(type, found)] == [
        OpaqueDict,
        OpaqueDict,
        OpaqueDict,
        OpaqueStr,
        OpaqueStr,
        OpaqueList,
    ]
    assert json.loads(orjson.dumps(found)) == json.loads(json.dumps(found)) == SHOWN
    for again in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):  # our own
        assert again == found
        assert ours().dumps_typed(again) == ours().dumps_typed(found)
    assert STOCK.loads_typed(STOCK.dumps_typed(found)) == found


def test_a_pydantic_state_heals_it(shop: Any) -> None:
    class Old(pydantic.BaseModel):
        number: int
        text: str

    (found,) = ours(enforcement="strict").loads_typed(ours().dumps_typed([shop.Model(**FIELDS)]))
    assert Old.model_validate(found) == Old(number=3, text="a")


@pytest.mark.parametrize("writer", WRITERS)
def test_a_class_that_moved_is_found_by_its_alias(shop: Any, writer: str) -> None:
    row = WRITERS[writer].dumps_typed(objects(shop)[:2])
    row = row[0], row[1].replace(SHOP.encode(), SHOP.encode()[::-1])
    old = SHOP[::-1]
    assert ours().loads_typed(row) == [FIELDS, FIELDS]
    aliases = {f"{old}:{name}": f"{SHOP}:{name}" for name in ("Record", "Model")}
    assert ours(aliases=aliases).loads_typed(row) == objects(shop)[:2]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_class_made_in_a_function_is_written_and_shows_its_fields(writer: str) -> None:
    @dataclass
    class Record:
        number: int
        text: str

    class Model(pydantic.BaseModel):
        number: int
        text: str

    made = [Record(3, "a"), Model(number=3, text="a")]
    assert ours().loads_typed(WRITERS[writer].dumps_typed(made)) == [FIELDS, FIELDS]


def test_a_json_row_of_a_removed_class(shop: Any) -> None:
    envelope = {"lc": 2, "type": "constructor", "id": [SHOP, "Record"], "kwargs": FIELDS}
    row = "json", json.dumps([envelope]).encode()
    assert ours().loads_typed(row) == objects(shop)[:1]
    lost = "json", row[1].replace(b"Record", b"Gone")
    (found,) = ours().loads_typed(lost)
    assert (found.type_name, found) == (f"{SHOP}:Gone", FIELDS)
    (again,) = ours().loads_typed(ours().dumps_typed([found]))
    assert again == found
    with pytest.raises(SerdeError, match=f"{SHOP}:Gone"):
        ours(on_unavailable="raise").loads_typed(lost)


def test_an_opaque_stands_where_langgraph_has_nothing() -> None:
    tag, data = ours().dumps_typed([Fraction])  # the class itself
    (found,) = ours().loads_typed((tag, data.replace(b"Fraction", b"Fractiom")))
    assert type(found) is Opaque
    assert found.type_name == "fractions:Fractiom"
    assert repr(found) == "<Opaque fractions:Fractiom>"
    assert copy.deepcopy(found) == found
    assert len({found, copy.copy(found)}) == 1
    with pytest.raises(TypeError, match="cannot be called"):
        found()


class _State(TypedDict):
    kept: Any
    turns: int


@pytest.mark.parametrize("codec", ["once2", "msgpack"])
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
        assert graph.get_state(config).values["kept"] == FIELDS
        assert len([*graph.get_state_history(config)]) > 2
    assert graph.invoke({}, config) == {"kept": objects(shop)[0], "turns": 3}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("how", ["redefined", "module imported anew"])
def test_a_class_that_was_defined_anew_is_the_one_that_is_made(
    shop: Any, monkeypatch: pytest.MonkeyPatch, writer: str, how: str
) -> None:
    """As in a notebook: LangGraph looks the class up for each object."""
    reader, row = ours(), WRITERS[writer].dumps_typed(objects(shop))
    assert reader.loads_typed(row) == objects(shop)
    anew = ModuleType(SHOP)
    with monkeypatch.context() as context:
        context.setitem(sys.modules, SHOP, anew)
        exec(SOURCE, vars(anew))  # what a notebook does
        if how == "redefined":
            context.setitem(sys.modules, SHOP, shop)
            for name in NAMES:
                context.setattr(shop, name, getattr(anew, name))
        found = reader.loads_typed(row)
        assert [*map(type, found)] == [anew.Record, anew.Model, anew.Pair, anew.Mode]
        again = reader.loads_typed(reader.dumps_typed(found))
        assert [*map(type, again)] == [*map(type, found)]
    assert [*map(type, reader.loads_typed(row))] == [*map(type, objects(shop))]


def test_objects_in_an_object_are_stand_ins_each_if_their_class_is_gone(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ours().dumps_typed(Folder([shop.Record(1, "a"), shop.Record(2, "b")]))
    gone(shop, monkeypatch, "class")
    found = ours().loads_typed(row)
    assert [*map(type, found.items)] == [OpaqueDict, OpaqueDict]
    with pytest.raises(PayloadError, match=f"{SHOP}:Record could not be rebuilt"):
        ours(on_unavailable="raise").loads_typed(row)


def test_what_contains_itself_and_fits_its_class_no_more_is_named(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = shop.Record(1, "a")
    value.text = value
    row = ours().dumps_typed([value])
    fields = ["price", "number", "text"]
    other = make_dataclass("Record", fields, namespace={"__module__": SHOP})
    monkeypatch.setattr(shop, "Record", other)
    with pytest.raises(PayloadError, match=f"{SHOP}:Record could not be rebuilt: .*price"):
        ours().loads_typed(row)


def test_what_contains_itself_has_an_opaque_for_each_object_whose_class_is_gone(
    shop: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LangGraph writes none of this. Whoever reads the rest of the thread is to get it."""
    parent, child = shop.Record(1, "parent"), shop.Record(2, "child")
    parent.text, child.text = [child], parent
    row = OnceSerializer().dumps_typed({"tree": parent, "rest": "of the thread"})
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, SHOP)
        found = OnceSerializer().loads_typed(row)
        assert found["rest"] == "of the thread"
        assert type(found["tree"]) is Opaque
        assert repr(found["tree"]) == f"<Opaque {SHOP}:Record>"
        back = OnceSerializer().dumps_typed(found)
    tree = OnceSerializer().loads_typed(back)["tree"]
    assert (tree.number, tree.text[0].number) == (1, 2)
    assert tree.text[0].text is tree
    gone(shop, monkeypatch, "class")
    with pytest.raises(PayloadError, match=f"{SHOP}:Record could not be rebuilt"):
        ours(on_unavailable="raise").loads_typed(row)
