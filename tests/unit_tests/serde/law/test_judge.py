"""The judge tells values apart, and takes what LangGraph gives for each part."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.unit_tests.serde.law.classes import Anything, Outer, Plain, Private
from tests.unit_tests.serde.law.judge import LOST, breach, same, stock_gives
from tests.unit_tests.serde.law.pool import KINDS
from tests.unit_tests.serde.law.values import Colour, Zone

FOREIGN = datetime(2026, 1, 1, tzinfo=Zone(3))
FIXED = stock_gives(FOREIGN)


def _private(token: str) -> Private:
    made = Private(name="x")
    made._token = token
    return made


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, True),
        (0.0, -0.0),
        ((1,), [1]),
        (ValueError("a"), ValueError("b")),
        (KeyError("a"), ValueError("a")),
        (Plain(name="x"), Plain(name="x", count=0)),
        (_private("a"), _private("b")),
        (np.array([1, 2]), np.array([1, 2], dtype="i4")),
        (np.array([1, 2]), np.array([1, 3])),
        (datetime(2026, 1, 1, tzinfo=Zone(3)), datetime(2026, 1, 1, tzinfo=Zone(4))),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1)),  # noqa: DTZ001  # that differs
    ],
)
def test_what_differs_is_not_the_same(first: Any, second: Any) -> None:
    assert not same(first, second)


def test_one_list_may_become_two_and_a_number_that_is_none_is_itself() -> None:
    one = [float("nan")]
    assert same([one, one], [[float("nan")], [float("nan")]])


def test_two_values_of_a_kind_that_are_shown_differently_are_not_the_same() -> None:
    for kind, make in KINDS.items():
        made = [make(Random(seed)) for seed in range(6)]
        first, *others = [(value, re.sub(r"0x\w+", "", _shown(value))) for value in made]
        for value, shown in others:
            assert shown == first[1] or not same(value, first[0]), kind


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # arrays in a `Command`
        return ""


@pytest.mark.parametrize(
    ("original", "found"),
    [
        ((1, FOREIGN), (1, FOREIGN)),
        ((1, FOREIGN), [1, FIXED]),
        ((1, FOREIGN), (1, FIXED)),
        ((1, FOREIGN), [1, FOREIGN]),
        (Anything(value=(FOREIGN,)), Anything(value=(FIXED,))),
        ({"error": ValueError("x")}, {"error": "ValueError('x')"}),
        ([Anything(value=ValueError("x"))], [Anything(value="ValueError('x')")]),
        (threading.Lock(), "anything"),
    ],
)
def test_each_part_may_be_as_it_was_or_as_langgraph_gives_it(original: Any, found: Any) -> None:
    assert breach(original, stock_gives(original), found) is None


@pytest.mark.parametrize(
    ("original", "found"),
    [
        ((1, FOREIGN), {1, FIXED}),
        ((1, FOREIGN), (1, FOREIGN, 2)),
        ((1, FOREIGN), (1, None)),
        (Outer.Part("x"), {"name": "y"}),
        (Plain(name="x"), {"name": "x"}),
        (Anything(value=[FOREIGN]), Anything(value=[])),
        ({"error": ValueError("x")}, {"error": ValueError("y")}),
        ({"a": Anything(value=Colour.RED)}, {"a": Anything(value="red")}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ("x", "y"),
        (["x", FOREIGN], ["y", FIXED]),
    ],
)
def test_anything_else_breaks_the_law(original: Any, found: Any) -> None:
    told = breach(original, stock_gives(original), found)
    assert told is not None
    assert told.startswith("value")


def test_what_langgraph_refuses_is_lost_and_so_is_what_it_makes_none_of() -> None:
    assert stock_gives(threading.Lock()) is LOST
    assert stock_gives(np.array(["a", None], dtype=object)) is LOST
    assert stock_gives(None) is None
