"""The fast way to write gives the bytes of the slow one, or gives up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langgraph_once.serde.once1 import Opaque, encode, encode_slow
from langgraph_once.serde.once1.fast import encode_fast

from .core_samples import REGISTRY, TREES, Box, Celsius, Knot, Stranger, graphs, nested


@given(TREES | graphs())
@settings(max_examples=1_000)
def test_both_ways_give_the_same_bytes(value: Any) -> None:
    fast = encode_fast(value, REGISTRY)
    assert fast is None or fast == encode_slow(value, REGISTRY)


COMMON: list[Any] = [
    *(None, 1, 2**70, "text", b"bytes", [], {}, (), frozenset(), [1, [2, {"a": (3, {4})}]]),
    {"messages": [HumanMessage("a"), AIMessage("b", id="1"), ToolMessage("c", tool_call_id="1")]},
    *(Box([1, Knot(2)]), [Celsius(1), Celsius(1)], Celsius((1, 2)), {"a": frozenset({(1,), (2,)})}),
]
SHARED: list[Any] = [1]


@pytest.mark.parametrize("value", COMMON, ids=lambda value: f"{value!r:.30}")
def test_common_values_take_the_fast_way(value: Any) -> None:
    assert encode_fast(value, REGISTRY) == encode_slow(value, REGISTRY)


@pytest.mark.parametrize(
    "value",
    [
        *([SHARED, SHARED], [SHARED, (SHARED,)], [Box(SHARED), Box(SHARED)], {"a": [{}] * 2}),
        *([Box(1)] * 2, [{1}] * 2, [(1,)] * 2, [Celsius([[1]])] * 2, [set()] * 2),
        *([bytearray(b"x")], (memoryview(b"x"),), {1: 2}, {"\ud800": 1}, "\ud800", ["\ud800"]),
        *(Stranger(), int, [Opaque("a", b"", code=14)], {"a": Box(bytearray(b"x"))}),
    ],
    ids=lambda value: f"{value!r:.30}",
)
def test_uncommon_values_do_not(value: Any) -> None:
    assert encode_fast(value, REGISTRY) is None


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: (v,), Box, Knot, lambda v: [(v, [v])]])
@pytest.mark.parametrize("depth", range(1, 70))
def test_both_ways_agree_on_how_deep_is_deep(wrap: Any, depth: int) -> None:
    value = nested(depth, wrap)
    fast = encode_fast(value, REGISTRY)
    assert fast is None or fast == encode_slow(value, REGISTRY)
    assert encode(value, REGISTRY) == encode_slow(value, REGISTRY)
