"""Fingerprints: equal for equal values of equal types; an opaque value has none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import KEEP, Enum, Flag, StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict

from langgraph_once.stream.repeated import MAX_DEPTH, fingerprint


class Color(Enum):
    RED = 1
    BLUE = 2


class Open(StrEnum):
    STATE = "state"


class Closed(StrEnum):
    STATE = "state"


class Rights(Flag, boundary=KEEP):
    READ = 1


@dataclass
class Point:
    x: Any


class Pair(NamedTuple):
    x: Any


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    x: Any


VALUES: list[Any] = [
    *(b"", b"a", b"ab", "a", 1, True, 1.0, None),
    *(Color.RED, Color.BLUE, Open.STATE, Closed.STATE, Rights(2), Rights(4)),
    *([], [1], [[1]], (), (1,), {}, {1: 2}, {2: 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}),
    *(Point(1), Point(b"1"), Pair(1), Model(x=1), Model.model_validate({"x": 1, "y": 2})),
]


def test_different_values_have_different_ones() -> None:
    found = [fingerprint([value]) for value in VALUES]
    assert None not in found
    assert len(set(found)) == len(VALUES)


@pytest.mark.parametrize("at", range(len(VALUES)))
def test_a_value_has_the_same_each_time(at: int) -> None:
    assert fingerprint(VALUES[at]) == fingerprint(VALUES[at])


def test_neighbours_in_a_list_are_told_apart() -> None:
    for one, other in pairwise([b"a", b"b", b"ab", b""]):
        assert fingerprint([one, other]) != fingerprint([one + other])


def test_a_value_that_cannot_be_looked_into_has_no_fingerprint() -> None:
    for value in (object(), [object()], {"a": object()}, Point, {1}):
        assert fingerprint(value) is None


def test_a_value_that_is_too_deep_has_no_fingerprint() -> None:
    deep: Any = "end"
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert fingerprint(deep) is not None
    assert fingerprint([[deep]]) is None


def test_a_tuple_counts_as_a_list_where_it_may_come_from_a_checkpoint() -> None:
    assert fingerprint((1,), of_tuples=b"list") == fingerprint([1])
    assert fingerprint((1,)) != fingerprint([1])


def test_what_refers_to_itself_has_one() -> None:
    def circle(text: str) -> Any:
        value: Any = [text]
        value.append({"around": value})
        return value

    assert fingerprint(circle("a")) == fingerprint(circle("a")) is not None
    assert fingerprint(circle("a")) != fingerprint(circle("b"))


def test_a_list_that_is_referred_to_twice_is_as_two_equal_ones() -> None:
    inner = [1]
    assert fingerprint([inner, inner]) == fingerprint([[1], [1]])


def test_what_is_referred_to_often_is_looked_into_once() -> None:
    value: Any = ["end"]
    for _ in range(MAX_DEPTH):  # 2 ** 64 references
        value = [value, value]
    assert fingerprint(value) is not None


def test_numbers_and_texts_that_cannot_be_written_have_one() -> None:
    assert fingerprint([10**5_000]) != fingerprint([10**5_000 + 1])
    assert fingerprint(["\ud800"]) != fingerprint(["\udfff"])
