"""Values with one object, and rows whose classes were read before, take a shorter way."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from langgraph_once.errors import EncodeError, PayloadError
from tests.unit_tests.serde.core.classes import Box, Knot, Point, back, once
from tests.unit_tests.serde.fidelity.sameness import difference

WRAPS: list[Any] = [
    lambda value: value,
    lambda value: [value],
    lambda value: {"messages": [value], "step": 1},
    lambda value: {"v": 4, "channel_values": {"messages": [value]}},
]
VALUES: list[Any] = [
    HumanMessage("hi", id="1"),
    HumanMessage("\ud800"),
    HumanMessage("hi", additional_kwargs={1: 2}),
    ToolMessage("hi", tool_call_id="1", artifact=(1, Point(x=2))),
    Point(x=1),
    Box(Box(1)),
    Knot([1]),
    (1, (2,)),
    {1, 2},
    datetime(2025, 1, 2, tzinfo=UTC),
    re.compile("a"),
    1 << 70,
]


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_one_object_comes_back_the_first_time_and_the_second(value: Any, wrap: Any) -> None:
    serde = once()
    row = serde.dumps_typed(wrap(value))
    for _ in range(2):
        assert difference(wrap(value), serde.loads_typed(row)) is None


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_message_that_was_never_initialised_is_refused_as_by_langgraph(wrap: Any) -> None:
    with pytest.raises(EncodeError, match="HumanMessage"):
        back(wrap(HumanMessage.__new__(HumanMessage)))


def test_a_small_row_that_is_damaged_is_refused_though_its_classes_are_known() -> None:
    serde = once()
    tag, data = serde.dumps_typed({"p": Point(x=1), "t": (1,)})
    serde.loads_typed((tag, data))
    for end in range(1, len(data)):
        with pytest.raises(PayloadError):
            serde.loads_typed((tag, data[:end]))
