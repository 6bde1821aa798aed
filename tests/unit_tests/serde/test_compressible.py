"""Honest values that compress to next to nothing are stored and read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.cpu import least_seconds, within
from tests.unit_tests.serde.hostile.classes import Record


def messages() -> Any:
    return [HumanMessage("Say it again. " * 20, id=str(n)) for n in range(30_000)]


@pytest.mark.parametrize(
    ("make", "is_packed"),
    [
        (messages, True),
        (lambda: [7] * 1_000_000, True),
        (lambda: ["\u0634\u0643\u0631\u0627 \u0644\u0643 " * 500] * 300, True),
        (lambda: [("x", n % 9) for n in range(100_000)], True),
        (lambda: [np.zeros(40_000_000, "u1")], True),
        (lambda: [np.full(130_000_000, 0x90, "u1")], False),
        (lambda: [Record(n % 9) for n in range(200_000)], False),
        (lambda: [{"id": n % 9, "ok": True} for n in range(300_000)], True),
    ],
    ids=[
        "messages",
        "numbers",
        "Arabic",
        "tuples",
        "zeros",
        "lists in an array",
        "records",
        "rows",
    ],
)
def test_what_repeats_itself_is_read(make: Callable[[], Any], is_packed: bool) -> None:
    """What would take too long for so small a row is stored as it is."""
    value, serde = make(), OnceSerializer()
    stored = serde.dumps_typed(value)
    assert (stored[0] == "once2.zstd") == is_packed
    again = serde.loads_typed(stored)
    assert np.array_equal(again, value) if type(value[0]) is np.ndarray else again == value


def in_pairs(levels: int, first: Any = 1) -> Any:
    value: Any = (first,)
    for _ in range(levels):
        value = (value, value)
    return value


@pytest.mark.parametrize(
    "make", [list, set, lambda items: {"a": items}], ids=["list", "set", "dict"]
)
def test_tuples_in_pairs_are_written_in_the_time_of_langgraph(make: Callable[[Any], Any]) -> None:
    """LangGraph writes all of their two million paths."""
    value, serde = make([in_pairs(21)]), OnceSerializer()
    theirs = least_seconds(lambda: JsonPlusSerializer().dumps_typed(value), 0)
    assert within(least_seconds(lambda: serde.dumps_typed(value), theirs), theirs)
    tag, data = serde.dumps_typed(value)
    assert len(data) < 2000
    assert serde.loads_typed((tag, data)) == value


@pytest.mark.parametrize(
    "first", [{1: 2}, "\ud800", Record(1)], ids=["keys", "surrogate", "record"]
)
def test_tuples_in_pairs_are_written_flat_whatever_is_in_them(first: Any) -> None:
    value, serde = in_pairs(17, first), OnceSerializer()
    stored = serde.dumps_typed(value)
    assert len(stored[1]) < 2000
    assert serde.loads_typed(stored) == value


@pytest.mark.parametrize("beside", [1, "\ud800", {1: 2}], ids=["plain", "surrogate", "keys"])
def test_a_large_tuple_that_stands_once_is_not_written_flat(beside: Any) -> None:
    value, serde = [tuple((n,) for n in range(20_000)), beside], OnceSerializer()
    tag, data = serde.encoded(value)
    assert data[0] == 0x92, "a list of two"
    assert serde.decoded(tag, data) == value
