"""Lists of messages and the like: one head for each kind, and each message is its attributes."""

from __future__ import annotations

from itertools import combinations
from threading import Lock
from time import process_time
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from ormsgpack import Ext, packb
from pydantic import BaseModel, Field

from langgraph_once.errors import PayloadError
from langgraph_once.serde.format import Code, Held, head_bytes, object_of
from langgraph_once.serde.types_in_rows import mentions_in
from tests.unit_tests.serde.core.classes import ONCE, Box, Knot, Locked, Point, back, once
from tests.unit_tests.serde.fidelity.sameness import difference


def message(number: int) -> Any:
    call: Any = {"name": "f", "args": {"a": number}, "id": str(number)}
    kinds: list[Any] = [
        HumanMessage(f"h{number}", id=str(number)),
        AIMessage(f"a{number}", tool_calls=[call]),
        ToolMessage(f"t{number}", tool_call_id=str(number), artifact=(1, number)),
        AIMessageChunk(content=f"c{number}", response_metadata={"tokens": [number, {}]}),
        HumanMessage([{"type": "text", "text": f"h{number}"}]),
    ]
    return kinds[number % len(kinds)]


class Step(BaseModel):
    """Nothing in it may hold objects."""

    number: int
    text: str


WRAPS: list[Any] = [
    lambda thread: thread,
    lambda thread: {"messages": thread, "n": 1},
    lambda thread: {"v": 4, "channel_values": {"messages": thread, "others": [1, 2]}},
    lambda thread: {"a": thread[:2], "b": thread[2:], "c": [], "d": [1], "e": [[]]},
    lambda thread: [1, {"a": thread}],
    lambda thread: (thread,),
    lambda thread: {"a": {"b": thread}},
    lambda thread: Knot(thread),
]


@pytest.mark.parametrize("count", [0, 1, 2, 13, 14, 15, 16, 127, 128, 129])
@pytest.mark.parametrize("wrap", WRAPS)
def test_a_thread_comes_back_wherever_it_stands(wrap: Any, count: int) -> None:
    value = wrap([message(number) for number in range(count)])
    assert difference(value, back(value)) is None


@pytest.mark.parametrize("wrap", WRAPS[:3])
def test_a_thread_holds_each_head_once(wrap: Any) -> None:
    data = ONCE.dumps_typed(wrap([message(number) for number in range(100)]))[1]
    assert data.count(b"langchain_core.messages.human:HumanMessage") <= 2


@pytest.mark.parametrize("wrap", WRAPS[:2])
def test_a_list_of_models_of_one_class_holds_their_head_once(wrap: Any) -> None:
    value = wrap([Step(number=number, text=str(number)) for number in range(20)])
    assert difference(value, back(value)) is None
    assert ONCE.dumps_typed(value)[1].count(b"Step") == 1


def test_a_message_that_stands_twice_stays_one() -> None:
    thread = [message(0), message(1)]
    value = {"messages": [*thread, thread[0]], "last": thread[1]}
    assert difference(value, back(value)) is None


def test_values_of_other_kinds_stand_among_messages() -> None:
    odd = Locked(name="n")
    value = [message(0), 1, None, {"a": 1}, [2], {3: "\ud800"}, Point(x=odd), message(1)]
    found = back(value)
    assert found[6].x.name == "n"
    del found[6], value[6]
    assert difference(value, found) is None


def test_more_kinds_of_heads_than_a_byte_can_count() -> None:
    fields = [*AIMessage.model_fields]
    ways = [{*way} for size in range(5) for way in combinations(fields, size)][:300]
    value = []
    for way in ways:
        made = AIMessage("a")
        made.__pydantic_fields_set__ = way
        value.append(made)
    found = back(value)
    assert [each.model_fields_set for each in found] == ways


def many(heads: list[bytes], numbers: Any, *items: Any) -> bytes:
    return packb([Ext(Code.MANY, packb([heads, numbers])), *items])


HEAD = head_bytes("model", f"{Point.__module__}:Point", 0, None)
ITEM = {"x": 1, "y": 2}


def test_what_the_tests_forge_is_what_is_written() -> None:
    assert ONCE.dumps_typed([Point(**ITEM), Point(**ITEM)])[1] == many([HEAD], b"\1\1", ITEM, ITEM)


@pytest.mark.parametrize(
    "data",
    [
        many([HEAD], b"\1", ITEM, ITEM),
        many([HEAD], b"\1\1", ITEM),
        many([HEAD], b"\1\2", ITEM, ITEM),
        many([HEAD], b"", ITEM),
        many([], b"\1", ITEM),
        many([HEAD], [1], ITEM),
        many([HEAD], b"\1", [1]),
        many([HEAD[:-1]], b"\1", ITEM),
        many([b""], b"\1", ITEM),
        many([HEAD], b"\0", Ext(Code.MANY, packb([[], b""]))),
        packb([1, Ext(Code.MANY, packb([[HEAD], b"\1"])), ITEM]),
        packb({"a": {"b": [Ext(Code.MANY, packb([[HEAD], b"\1"])), ITEM]}}),
        packb({"a": Ext(Code.MANY, packb([[HEAD], b"\1"]))}),
        packb(Ext(Code.MANY, packb([[], b""]))),
        packb(Ext(Code.TUPLE, many([HEAD], b"\1", ITEM))),
    ],
)
def test_a_damaged_thread_is_refused(data: bytes) -> None:
    with pytest.raises(PayloadError):
        ONCE.loads_typed(("once2", data))


class Lines(BaseModel):
    by_sku: dict[str, Point]


def holder(held: Any, heads: Any, data: Any, *, name: Any = "x", inner: Any = HEAD) -> bytes:
    """Return a `Point` whose `x` holds objects."""
    head = packb(["holder", None, 0, inner, [[name, held, heads]]])
    return packb(object_of(head, {"x": data, "y": 0}))


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Point(**ITEM), holder(Held.ONE, [HEAD], ITEM)),
        ([Point(**ITEM)] * 1, holder(Held.ALIKE, [HEAD], [ITEM])),
        ([Point(**ITEM), Point(**ITEM)], holder(Held.ALIKE, [HEAD], [ITEM, ITEM])),
        ([Point(**ITEM), 3], holder(Held.MIXED, [HEAD], [b"\1\0", [ITEM, 3]])),
        ({"a": Point(**ITEM)}, holder(Held.ALIKE, [HEAD], {"a": ITEM})),
        ([3, Point(x=4)], None),
        ([Point(x=Point(**ITEM)), Point(x={"a": Point(**ITEM)}), Knot([Point(**ITEM)])], None),
    ],
)
def test_an_object_holds_the_data_of_others(value: Any, data: bytes | None) -> None:
    whole = Point(x=value, y=0)
    written = ONCE.dumps_typed(whole)[1]
    assert data is None or written == data
    assert difference(whole, back(whole)) is None
    assert difference([whole, whole], back([whole, whole])) is None


def test_what_an_object_holds_is_found_among_the_types_of_a_row() -> None:
    data = ONCE.dumps_typed([Point(x=[Knot(Box(1))]), 3])[1]
    names = {mention.name.partition(":")[2] for mention in mentions_in("once2", data)}
    assert names == {"Point", "Knot", "Box"}


@pytest.mark.parametrize("key", [1, "\ud800", (1, 2)], ids=type)
def test_a_dictionary_of_objects_may_have_any_keys(key: Any) -> None:
    value = Lines.model_construct(by_sku={key: Point(**ITEM), "b": Point(x=(1,))})
    assert difference(value, back(value)) is None


@pytest.mark.parametrize(
    "data",
    [
        holder(Held.ONE, [HEAD], [1]),
        holder(Held.ONE, [], ITEM),
        holder(Held.ONE, [HEAD, HEAD], ITEM),
        holder(Held.ONE, [3], ITEM),
        holder(Held.ONE, [HEAD], ITEM, name="z"),
        holder(Held.ONE, [HEAD], ITEM, name=[]),
        holder(Held.ONE, [HEAD], ITEM, inner=3),
        holder(Held.ONE, [HEAD * 1000], ITEM),
        holder(Held.ALIKE, [HEAD], 3),
        holder(Held.ALIKE, [HEAD], [3]),
        holder(Held.ALIKE, [HEAD], {"a": 3}),
        holder(Held.ALIKE, [b""], [ITEM]),
        holder(Held.MIXED, [HEAD], [ITEM]),
        holder(Held.MIXED, [HEAD], [b"\1", [ITEM, ITEM]]),
        holder(Held.MIXED, [HEAD], [b"\2", [ITEM]]),
        holder(Held.MIXED, [HEAD], [b"\1\1", {"a": ITEM}]),
        packb(object_of(packb(["holder", None, 0, HEAD, [["x", 0, [HEAD]]]]), [ITEM])),
        packb(object_of(packb(["holder", None, 0, HEAD]), ITEM)),
        packb([[[HEAD], b"\1"], ITEM, {"a": [Ext(Code.MANY, packb([[HEAD], b"\1"])), ITEM]}]),
    ],
)
def test_a_damaged_holder_is_refused(data: bytes) -> None:
    with pytest.raises(PayloadError):
        ONCE.loads_typed(("once2", data))


class Excluding(BaseModel):
    """Has a field that LangGraph leaves out."""

    name: str
    held: Any = Field(default=None, exclude=True)


def test_one_of_the_objects_in_an_object_that_cannot_be_written_concerns_no_other() -> None:
    inner = [Excluding(name="a"), Excluding(name="b", held=Lock()), Point(x=(1,))]
    found = back(Point(x=[Knot(inner), Knot([Point(x=1), Point(x=2)])]))
    first, second = found.x
    assert [first.label[0], first.label[2]] == [Excluding(name="a"), Point(x=(1,))]
    assert first.label[1] == Excluding(name="b")
    assert second.label == [Point(x=1), Point(x=2)]


def test_writing_takes_no_longer_the_deeper_what_cannot_be_written_stands() -> None:
    value: Any = Excluding(name="a", held=Lock())
    for _ in range(25):
        value = Point(x=[value, 1])
    began = process_time()
    back(value)
    assert process_time() - began < 5


@pytest.mark.parametrize("levels", [2, 20, 60])
def test_objects_in_lists_of_objects_may_stand_deep(levels: int) -> None:
    value: Any = [Point(x="\ud800"), Point(x=(1,))]
    for level in range(levels):
        value = [Point(x=value), Point(x=level)]
    assert difference(value, back(value)) is None


def test_a_class_that_is_not_allowed_gives_stand_ins_or_an_error() -> None:
    data = many([HEAD], b"\1\1", ITEM, ITEM)
    found = once(enforcement="strict").loads_typed(("once2", data))
    assert found == [ITEM, ITEM]
    assert {each.type_name for each in found} == {f"{Point.__module__}:Point"}
    assert back(found) == [Point(**ITEM)] * 2
    with pytest.raises(Exception, match="Point is not allowed"):
        once(enforcement="strict", on_unavailable="raise").loads_typed(("once2", data))
