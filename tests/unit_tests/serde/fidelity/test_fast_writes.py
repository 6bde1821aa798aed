"""The fast way to write says what the slow one says, or gives up."""

from __future__ import annotations

import dataclasses
from collections import deque
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from langgraph_once.serde.codecs.once1 import Opaque, Registry, encode_slow
from langgraph_once.serde.codecs.once1.read.general_form import plain_blob
from langgraph_once.serde.codecs.once1.write.attempts import FastEncoder
from tests.examples import examples
from tests.unit_tests.serde.fidelity.core_samples import (
    EXTENSIONS,
    OWN,
    REGISTRY,
    TREES,
    Box,
    Celsius,
    Knot,
    Stranger,
    encode,
    graphs,
    loader,
    nested,
    read,
    shape,
)
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.labels import label

FAST = FastEncoder(Registry(EXTENSIONS))


@given(TREES | graphs())
@examples(60)
def test_both_ways_come_back_as_the_same(value: Any) -> None:
    fast = FAST.encode(value)
    assert fast is None or shape(read(fast)) == shape(read(encode_slow(value, REGISTRY)))


@given(TREES)
@examples(50)
def test_what_shares_nothing_is_written_in_the_same_bytes(value: Any) -> None:
    assert same_bytes(value)


def same_bytes(value: Any) -> bool:
    fast = FAST.encode(value)
    return fast is not None and plain_blob(fast) == encode_slow(value, REGISTRY)


@dataclasses.dataclass
class Note:
    """A dataclass without anything special."""

    text: str
    more: Any = None


class Page(BaseModel, extra="allow"):
    """A model whose instances may hold anything."""

    title: str = ""
    body: Any = None
    tags: list[Any] = []


class Leaf(Page, extra="ignore"):
    """One without extra values, and with a field more."""

    number: float = 0


LOADER = loader(*OWN, *(f"{cls.__module__}:{cls.__qualname__}" for cls in (Note, Page, Leaf)))
TEXTS = st.text(st.characters(exclude_categories=()), max_size=4)
PLAIN = st.recursive(
    st.none() | st.integers() | TEXTS | st.binary(max_size=3) | st.builds(bytearray, st.just(b"x")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = {"title": TEXTS, "body": inner, "tags": st.lists(inner, max_size=2)}
    page = st.fixed_dictionaries({}, optional={**fields, "surplus": inner})
    return (
        st.builds(Note, TEXTS, inner)
        | page.map(lambda given: Page(**given))
        | st.fixed_dictionaries({}, optional=fields).map(lambda given: Leaf(**given))
        | st.builds(Leaf.model_construct, st.none(), body=inner)
    )


@st.composite
def messages(draw: st.DrawFn) -> BaseMessage:
    own = {
        "additional_kwargs": draw(st.dictionaries(TEXTS, PLAIN, max_size=2)),
        "response_metadata": draw(st.dictionaries(TEXTS, PLAIN, max_size=1)),
        "id": draw(st.none() | TEXTS),
    }
    content: Any = draw(TEXTS | st.lists(TEXTS | st.dictionaries(TEXTS, PLAIN), max_size=2))
    match draw(st.sampled_from(["human", "ai", "tool"])):
        case "human":
            return HumanMessage(content, **own)
        case "tool":
            return ToolMessage(content, tool_call_id="1", artifact=draw(PLAIN), **own)
        case _:
            args = draw(st.dictionaries(TEXTS, PLAIN, max_size=2))
            count = draw(st.integers(0, 2))
            calls: Any = [{"name": "f", "args": deepcopy(args), "id": "1"} for _ in range(count)]
            usage: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
            return AIMessage(content, tool_calls=calls, usage_metadata=usage, **own)


VALUES = st.recursive(
    PLAIN | messages(),
    lambda inner: (
        objects(inner)
        | st.lists(inner | messages() | objects(inner), max_size=4)
        | st.dictionaries(TEXTS | st.integers(), inner, max_size=3)
        | st.lists(inner, max_size=2).map(tuple)
    ),
    max_leaves=12,
)


@given(st.lists(VALUES, min_size=1, max_size=4), st.data())
@examples(40)
def test_objects_come_back_as_the_slow_way_brings_them_back(values: Any, data: Any) -> None:
    """Type, values, order, fields set, extra values; and what is shared, outside of messages."""
    again = data.draw(st.lists(st.sampled_from(values), max_size=2))
    value = {"values": values, "again": again}
    fast = FAST.encode(value)
    assert fast is not None
    assert difference(read(fast, LOADER), read(encode_slow(value, REGISTRY), LOADER)) is None
    assert difference(read(fast, LOADER), value) is None
    assert difference(read(plain_blob(fast), LOADER), value) is None


def changed(obj: Any, name: str, value: Any = None) -> Any:
    if value is None:
        delattr(obj, name)
    else:
        setattr(obj, name, value)
    return obj


def with_extra(page: Page) -> Page:
    """Set an extra value behind the back of `__setattr__`: it is not among the fields set."""
    assert page.__pydantic_extra__ is not None
    page.__pydantic_extra__["surplus"] = 1
    return page


@pytest.mark.parametrize(
    "obj",
    [
        with_extra(Page(title="x")),
        changed(Page(title="x"), "surplus", 1),
        changed(Note("x"), "surplus", 1),
        changed(Note("x", 1), "text"),
        changed(changed(Note("x", 1), "text"), "surplus", 1),
    ],
    ids=["hidden", "extra", "more", "less", "other"],
)
def test_an_object_that_is_not_as_its_class_says_keeps_what_it_has(obj: Any) -> None:
    assert difference(read(encode([obj, {"a": obj}], REGISTRY), LOADER), [obj, {"a": obj}]) is None
    assert difference(read(encode(obj, REGISTRY), LOADER), obj) is None


def test_two_messages_that_hold_one_dictionary_get_one_each() -> None:
    first = HumanMessage("a", additional_kwargs={"k": [1]})
    second = first.model_copy(update={"content": "b"})
    assert first.additional_kwargs is second.additional_kwargs
    one, two = read(encode([first, second], REGISTRY))
    assert [one, two] == [first, second]
    assert one.additional_kwargs is not two.additional_kwargs


def test_an_object_that_two_messages_hold_stays_one() -> None:
    note = Note("shared")
    value = [ToolMessage("a", tool_call_id="1", artifact=note) for _ in range(2)]
    one, two = read(encode(value, REGISTRY), LOADER)
    assert one.artifact is two.artifact


COMMON: list[Any] = [
    *(None, 1, 2**70, "text", b"bytes", [], {}, (), frozenset(), [1, [2, {"a": (3, {4})}]]),
    {"messages": [HumanMessage("a"), AIMessage("b", id="1"), ToolMessage("c", tool_call_id="1")]},
    *(Box([1, Knot(2)]), [Celsius(1), Celsius(1)], Celsius((1, 2)), {"a": frozenset({(1,), (2,)})}),
    *([bytearray(b"x")], (memoryview(b"x"),), {1: 2}, {"\ud800": 1}, "\ud800", ["\ud800"]),
    {"a": Box(bytearray(b"x"))},
]


@pytest.mark.parametrize("value", COMMON, ids=label)
def test_common_values_take_the_fast_way(value: Any) -> None:
    assert same_bytes(value)


SHARED: list[Any] = [1]


@pytest.mark.parametrize(
    "value",
    [
        *([SHARED, SHARED], [SHARED, (SHARED,)], [Box(SHARED), Box(SHARED)], {"a": [{}] * 2}),
        *([Box(1)] * 2, [{1}] * 2, [(1,)] * 2, [Celsius([[1]])] * 2, [set()] * 2),
        *([HumanMessage("a")] * 2, {"a": [Note("b")] * 3}, [Page(body=SHARED), SHARED]),
        {"messages": [HumanMessage("a", id="1"), last := HumanMessage("b")], "last": last},
    ],
    ids=label,
)
def test_what_is_shared_takes_the_fast_way_too(value: Any) -> None:
    fast = FAST.encode(value)
    assert fast is not None
    assert difference(read(fast, LOADER), value) is None


def cycle() -> list[Any]:
    made: list[Any] = [1]
    made.append(made)
    return made


@pytest.mark.parametrize(
    "value",
    [Stranger(), int, [Opaque("a", b"", code=14)], cycle(), nested(70, lambda v: [v])],
    ids=["unknown", "class", "opaque", "cycle", "deep"],
)
def test_unusual_values_do_not(value: Any) -> None:
    assert FAST.encode(value) is None


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: (v,), Box, Knot, lambda v: [(1, [v])]])
def test_both_ways_agree_on_how_deep_is_deep(wrap: Any) -> None:
    for depth in (*range(1, 24), *range(29, 35), *range(61, 68)):  # where it changes
        value = nested(depth, wrap)
        assert shape(read(encode(value, REGISTRY))) == shape(read(encode_slow(value, REGISTRY)))


@pytest.mark.parametrize(
    ("wrap", "holds", "stands"),
    [
        (lambda value: (value,), 62, 61),
        (lambda value: Note("n", value), 61, 60),
        (lambda value: deque([value]), 61, 60),
        (lambda value: {1: value}, 62, 61),
        (lambda value: MappingProxyType({"a": value}), 61, 60),
    ],
    ids=["tuple", "object", "deque", "map", "proxy"],
)
def test_the_fast_way_goes_as_deep_as_readers_do(wrap: Any, holds: int, stands: int) -> None:
    assert FAST.encode(wrap(lists(holds, 1))) is not None
    assert FAST.encode(wrap(lists(holds + 1, 1))) is None
    assert FAST.encode(lists(stands, wrap([1]))) is not None
    assert FAST.encode(lists(stands + 1, wrap([1]))) is None


def lists(count: int, inner: Any) -> Any:
    for _ in range(count):
        inner = [inner]
    return inner
