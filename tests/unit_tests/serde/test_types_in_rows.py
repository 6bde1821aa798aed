"""What a stored value names is found in its bytes, whatever wrote it and however it is damaged."""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from ormsgpack import Ext, packb
from pydantic import BaseModel

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import Code, head_bytes, object_of
from langgraph_once.serde.types_in_rows import Mention, mentions_in
from tests.unit_tests.serde.fidelity import kinds as k

HERE = __name__
T = TypeVar("T")


class Leaf(BaseModel):
    value: Any = None


class Page(BaseModel, Generic[T]):
    items: list[T]


@dataclass
class Branch:
    leaf: Any


AGAIN = Branch(1)
LOOP: list[Any] = [Leaf()]
LOOP.append(LOOP)

ONCE_VALUES: dict[str, tuple[Any, set[str]]] = {
    "native": ({"a": [1, "x:Y", b"m:N"]}, set()),
    "model": (Leaf(value=1), {f"{HERE}:Leaf"}),
    "models": ([Leaf(value=1), Leaf(), 3], {f"{HERE}:Leaf"}),
    "nested": (Leaf(value=Branch(Leaf())), {f"{HERE}:Leaf", f"{HERE}:Branch"}),
    "thread": (
        {"messages": [HumanMessage("a"), AIMessage("b")]},
        {"langchain_core.messages.human:HumanMessage", "langchain_core.messages.ai:AIMessage"},
    ),
    "enum": ({k.Colour.RED}, {f"{k.__name__}:Colour"}),
    "key": ({(1, k.Point(1, 2)): 2}, {f"{k.__name__}:Point"}),
    "class": ([Leaf, {1: json.dumps}], {f"{HERE}:Leaf", "json:dumps"}),
    "inner class": (k.Outer.Part("x"), {f"{k.__name__}:Outer.Part"}),
    "parametrised": (Page[Leaf](items=[]), {f"{HERE}:Page[{HERE}:Leaf]"}),
    "shared": ({"first": [AGAIN], "again": AGAIN}, {f"{HERE}:Branch"}),
    "cycle": (LOOP, {f"{HERE}:Leaf"}),
    "in a container": (
        OrderedDict(x=Fraction(1, 2), y=[Branch(2)]),
        {f"{HERE}:Branch", "collections:OrderedDict"},
    ),
    "factory": (defaultdict(list), {"collections:defaultdict", "builtins:list"}),
    "error": (KeyError(Leaf()), {"builtins:KeyError", f"{HERE}:Leaf"}),
}


def names(codec: str, data: bytes) -> set[str]:
    return {mention.name for mention in mentions_in(codec, data)}


@pytest.mark.parametrize("kind", ONCE_VALUES)
def test_once2_names_what_it_holds(kind: str) -> None:
    value, expected = ONCE_VALUES[kind]
    serde = OnceSerializer(SerdeConfig(compression="none", enforcement="open"))
    assert names(*serde.dumps_typed(value)) == expected


def test_what_is_refused_of_a_row_is_named_by_it() -> None:
    """Refusing all shows, by the reader's own account, which names there are."""
    writer = OnceSerializer(SerdeConfig(compression="none", enforcement="open"))
    reader = OnceSerializer(SerdeConfig(enforcement="strict", on_unavailable="raise"))
    for value, expected in ONCE_VALUES.values():
        row = writer.dumps_typed(value)
        mine = {name for name in expected if name.startswith(HERE)}
        if mine:
            with pytest.raises(Exception, match="not allowed") as caught:
                reader.loads_typed(row)
            refused: Any = caught.value
            assert any(refused.type_name in mention.names() for mention in mentions_in(*row))


@pytest.mark.parametrize(
    "serde", [JsonPlusSerializer(), OnceSerializer(SerdeConfig(compatible=True))]
)
def test_upstreams_rows_name_their_types_without_the_classes_around(serde: Any) -> None:
    value = {
        "a": [Leaf(), Branch(k.Colour.RED)],
        "b": k.Outer.Part("x"),
        "c": _DeltaSnapshot([k.Point(1, 2)]),
    }
    tag, data = serde.dumps_typed(value)
    if isinstance(serde, OnceSerializer):
        data = serde.unwrapped((tag, data))[1]
    assert names("msgpack", data) == {f"{HERE}:Leaf", f"{HERE}:Branch"} | {
        f"{k.__name__}:{name}" for name in ("Colour", "Part", "Point")
    }


def test_what_was_read_as_a_stand_in_keeps_its_names() -> None:
    upstream = JsonPlusSerializer().dumps_typed(Branch(k.Colour.RED))
    strict = OnceSerializer(SerdeConfig(enforcement="strict", compression="none"))
    row = strict.dumps_typed(["x", strict.loads_typed(upstream)])
    assert row[0] == "once2"
    assert names(*row) == {f"{HERE}:Branch", f"{k.__name__}:Colour"}
    assert {mention.codec for mention in mentions_in(*row)} == {"msgpack"}


def test_json_rows_name_their_constructors() -> None:
    def envelope(version: int, *identity: Any, **more: Any) -> dict[str, Any]:
        return {"lc": version, "type": "constructor", "id": [*identity], **more}

    rows = [
        envelope(2, "shop", "state", "Cart", kwargs={"x": [envelope(2, "shop", "Item")]}),
        envelope(1, "langchain", "schema", "HumanMessage"),
        envelope(2, "datetime", "datetime", method="fromisoformat"),
        {"lc": 2, "type": "constructor", "id": "no list"},
    ]
    assert names("json", json.dumps(rows).encode()) == {"shop.state:Cart", "shop:Item"}


def test_types_beside_a_channel_that_nobody_could_write_are_told_with_theirs() -> None:
    point = OnceSerializer().encoded([k.Point(1, 2)])[1]
    channels = b"\x82" + packb("deep") + b"\x91" * 600 + point + packb("plain") + point[:1]
    colour = OnceSerializer().encoded([k.Colour.RED])[1]
    row = b"\x81" + packb("channel_values") + channels + colour[1:]
    found = {
        each.name.rpartition(":")[2]: where for each, where in mentions_in("once2", row).items()
    }
    assert found == {"Point": "", "Colour": "plain"}


@pytest.mark.parametrize("codec", ["once2", "msgpack"])
def test_the_channel_is_told_in_which_a_type_stands(codec: Any) -> None:
    values = {
        "messages": [HumanMessage("x")],
        "nested": (Branch([Leaf()]),),
        "error": [k.Point(1, 2)],
        "deep": {"channel_values": {"first": [k.Colour.RED]}},
    }
    checkpoint = {"v": 4, "id": "1", "channel_values": values, "versions_seen": {"n": {"first": 1}}}
    serde = OnceSerializer(SerdeConfig(compatible=codec == "msgpack", enforcement="open"))
    tag, data = serde.unwrapped(serde.dumps_typed(checkpoint))
    channels = {
        mention.name.rpartition(":")[2]: channel
        for mention, channel in mentions_in(tag.codec, data).items()
    }
    assert channels == {
        "HumanMessage": "messages",
        "Leaf": "nested",
        "Branch": "nested",
        "Point": "error",
        "Colour": "deep",
    }


@pytest.mark.parametrize("alone", [Leaf(value=Branch(1)), {"v": {1: Branch(1)}}, [Branch(1)]])
def test_what_is_no_checkpoint_has_no_channel(alone: Any) -> None:
    tag, data = OnceSerializer(SerdeConfig(compression="none")).dumps_typed(alone)
    assert tag == "once2"
    assert {*mentions_in(tag, data).values()} == {""}


def test_what_an_adapter_wrote_names_no_class() -> None:
    head = head_bytes("own:range", None)
    assert Mention.of_head(head).name == ""
    assert mentions_in("once2", packb(object_of(head, 1))) == {}


@pytest.mark.parametrize(
    "name", [":", "a:", ":b", "no colon", "a:\x1b[2J", "a:b\n", "a:" + "b" * 500, ["a:b", "a:"]]
)
def test_a_name_that_no_type_can_have_is_damage(name: Any) -> None:
    data = packb(object_of(head_bytes("named", name), None))
    with pytest.raises(ValueError, match="a name that no type can have"):
        mentions_in("once2", data)


@pytest.mark.parametrize("codec", ["once2", "msgpack", "json"])
def test_damage_is_an_error_of_values_and_ends_soon(codec: str) -> None:
    rng = random.Random(13)
    serde = OnceSerializer(SerdeConfig(compression="none", enforcement="open"))
    blobs = [serde.dumps_typed(value)[1] for value, _ in ONCE_VALUES.values()]
    blobs += [JsonPlusSerializer().dumps_typed([Leaf(value=Branch(1))])[1], b'{"lc":2}', b""]
    started = time.process_time()
    for _ in range(4000):
        data = bytearray(rng.choice(blobs))
        for _ in range(rng.randrange(4)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        with contextlib.suppress(ValueError):
            mentions_in(codec, bytes(data))
    assert time.process_time() - started < 60


def _boxes(count: int, code: int) -> bytes:
    data = b"\xc0"
    for _ in range(count):
        data = packb(Ext(code, data))
    return data


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        ("msgpack", b"\x91" * 200_000 + b"\xc0"),
        ("once2", b"\x91" * 200_000 + b"\xc0"),
        ("json", b"[" * 20_000 + b"]" * 20_000),
        ("once2", _boxes(5_000, Code.TUPLE)),
        ("once2", _boxes(5_000, Code.SHARED)),
        ("msgpack", _boxes(5_000, 7)),
        ("msgpack", b"\xc9\x00\x09\x27\xc0\x07" + b"\xd4\x07\x91" * 199_333 + b"\xc0" * 2001),
    ],
    ids=["deep", "deep once2", "deep json", "tuples", "shared", "deltas", "wide deltas"],
)
def test_a_hostile_value_takes_seconds_at_most(codec: str, data: bytes) -> None:
    started = time.process_time()
    with contextlib.suppress(ValueError):
        mentions_in(codec, data)
    assert time.process_time() - started < 2
