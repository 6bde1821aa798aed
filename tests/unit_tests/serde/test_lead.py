"""What changes whenever a value gets longer stands before its first piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langgraph_once import OnceSerializer
from langgraph_once.serde.format import lead_bytes


@dataclass
class Holder:
    items: list[Any]


class Rows(list[int]):
    pass


def thread(count: int) -> list[Any]:
    return [(HumanMessage, AIMessage)[at % 2](f"text {at}", id=str(at)) for at in range(count)]


GROWING: dict[str, Callable[[int], Any]] = {
    "a thread": thread,
    "a list": lambda count: [*range(count)],
    "a list of objects in others": lambda count: [Holder([each]) for each in thread(count)],
    "a list of a class of its own": lambda count: Rows(range(count)),
    "a tuple": lambda count: tuple(map(str, range(count))),
    "keys that are no text": lambda count: {at: str(at) for at in range(count)},
    "a dictionary": lambda count: {str(at): at for at in range(count)},
    "a text": lambda count: "word " * count,
}


def encoded(value: Any) -> bytes:
    return OnceSerializer().encoded(value)[1]


@pytest.mark.parametrize("count", [3, 15, 16, 300, 66_000])
@pytest.mark.parametrize("kind", GROWING)
def test_what_comes_behind_the_lead_stays_as_the_value_grows(kind: str, count: int) -> None:
    if count > 1_000 and kind != "a list":
        count = 2_000
    shorter, longer = (encoded(GROWING[kind](count + more)) for more in (0, 1))
    before, after = (data[lead_bytes(data) :] for data in (shorter, longer))
    assert after.startswith(before)


@pytest.mark.parametrize("kind", GROWING)
def test_the_lead_is_short(kind: str) -> None:
    value = GROWING[kind](2_000)
    data = encoded(value)
    assert lead_bytes(data) < 3_000 + len(value) * (kind == "a thread")


def test_a_value_that_holds_itself_has_a_lead() -> None:
    value: list[Any] = [[str(at)] for at in range(100)]
    value[0].append(value)
    assert 1 < lead_bytes(encoded(value)) < 10


@pytest.mark.parametrize("value", [None, True, 7, "", [], {}, (), b"", 2**70, float("nan")])
def test_a_value_without_parts_has_a_lead(value: Any) -> None:
    data = encoded(value) or b"\xc0"
    assert 1 <= lead_bytes(data) <= len(data) + 1
