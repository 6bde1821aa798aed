"""What is hashed is looked at first; what programs hash is let through."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from types import GenericAlias
from typing import Any

import pytest

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError
from langgraph_once.serde.bounds.budget import Budget
from langgraph_once.serde.bounds.hashing import MAX_HASH_LEVELS, Hashing


@dataclass(frozen=True)
class Pair:
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class Slotted:
    left: Any
    right: Any


@dataclass(eq=False)
class Own:
    left: Any
    right: Any


@dataclass
class Equal:
    """Has one hash for all, and compares its parts."""

    part: Any

    def __hash__(self) -> int:
        return 7


def hashing(limit: int = 1_000_000) -> Hashing:
    return Hashing(Budget(limit, "once1"))


def tied(make: Any, levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = make(value, value)
    return value


MAKERS: list[Any] = [
    lambda left, right: (left, right),
    Pair,
    Slotted,
    lambda left, right: GenericAlias(list, (left, right)),
    lambda left, right: slice(left, right, None),
    lambda left, right: frozenset({(left, right)}),
]


@pytest.mark.parametrize("make", MAKERS[:-1])
def test_hashing_a_key_that_doubles_at_each_level_is_refused(make: Any) -> None:
    hashing().check([tied(make, 10)])
    with pytest.raises(SizeLimitError, match="max_decoded_objects"):
        hashing().check([tied(make, 60)])


def test_a_set_keeps_its_hash() -> None:
    hashing().check([tied(MAKERS[-1], 60)])


def test_an_object_with_its_own_identity_is_one() -> None:
    hashing().check([tied(Own, 60)])


@pytest.mark.parametrize("make", [lambda value: (value,), lambda value: Pair(value, 1)])
def test_what_is_too_deep_is_refused(make: Any) -> None:
    value: Any = 1
    for _ in range(MAX_HASH_LEVELS - 1):
        value = make(value)
    hashing().check([value])
    for _ in range(20_000):
        value = make(value)
    with pytest.raises(PayloadError, match="nested too deeply"):
        hashing(1_000_000).check([value])


def test_what_somebody_may_hash_is_measured_through_lists_that_hold_themselves() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    hashing().measure((cycle, {"a": cycle}))
    with pytest.raises(SizeLimitError):
        hashing().measure((cycle, {"a": [tied(MAKERS[0], 60)]}))


def test_a_tuple_that_occurs_a_thousand_times_is_fine() -> None:
    shared = tuple(range(100))
    hashing().check([(number, shared) for number in range(1000)])
    hashing().check([("a", (number, shared), Fraction(1, 3)) for number in range(1000)])


def test_one_long_integer_counts_for_each_that_holds_it() -> None:
    long = 1 << 1_000_000
    checker = hashing()
    checker.has_large_integers = True
    with pytest.raises(SizeLimitError):
        checker.check([(number, long) for number in range(2000)])


@pytest.mark.parametrize(
    "items",
    [
        [number * (2**61 - 1) for number in range(20_000)],
        [(7,) * 3000 + (number * (2**61 - 1),) for number in range(200)],
        [Equal(tied(lambda a, b: [a, b], 40)), Equal(tied(lambda a, b: [a, b], 40))],
    ],
    ids=["many", "long", "lists"],
)
def test_what_shares_a_hash_is_not_compared_for_ever(items: list[Any]) -> None:
    with pytest.raises(SerdeError):
        hashing(50_000_000).check(items)


def test_a_few_of_one_hash_are_fine() -> None:
    hashing().check([-1, -2, 1, 1.5, "a", (-1,), (-2,)])
    hashing().check([Equal(number) for number in range(100)])
    hashing().check([number * (2**61 - 1) for number in range(1000)])


class Color(Enum):
    RED = 1


@pytest.mark.parametrize("part", [Color.RED, int, Color])
def test_a_member_and_a_class_are_one_unit_whatever_they_hold(part: Any) -> None:
    hashing(17).check([((part,),)])
    with pytest.raises(SizeLimitError):
        hashing(16).check([((part,),)])
