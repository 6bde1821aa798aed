"""What is written can be read: one budget, which the writer asks as the reader does."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, SizeLimitError
from langgraph_once.serde import OnceSerializer
from tests.examples import examples

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Frozen:
    number: int
    text: str = "x"


SHARED = [1, 2]

KINDS: dict[str, Callable[[int], Any]] = {
    "integers": lambda number: number,
    "texts": str,
    "lists": lambda number: [number],
    "dicts": lambda number: {"a": number},
    "tuples": lambda number: (number, 2, 3),
    "sets": lambda number: {number, "a"},
    "frozensets": lambda number: frozenset({number}),
    "datetimes": lambda number: datetime(2025, 1, 1, microsecond=number, tzinfo=UTC),
    "UUIDs": lambda number: UUID(int=number),
    "decimals": lambda number: Decimal(number) / 100,
    "deques": lambda number: deque([number]),
    "frozen dataclasses": Frozen,
    "messages": lambda number: HumanMessage(str(number)),
    "dicts by number": lambda number: {number: 1},
    "patterns": lambda number: re.compile(f"[a-z]{number}"),
    "tuples of one list": lambda number: (number, SHARED),
}
CODECS: Any = ("once1", "msgpack")


def serializer(codec: Any, limit: int) -> OnceSerializer:
    return OnceSerializer(
        SerdeConfig(
            codec=codec,
            compression="none",
            max_decoded_objects=limit,
            allowed_types=(f"{__name__}:Frozen",),
        )
    )


def least_limit(value: Any, codec: Any) -> int:
    """Return the least limit under which a value is written."""
    low, high = 1024, 2048
    while not is_written(value, codec, high):
        low, high = high, 2 * high
    while high - low > 1:
        limit = (low + high) // 2
        if is_written(value, codec, limit):
            high = limit
        else:
            low = limit
    return high


def is_written(value: Any, codec: Any, limit: int) -> bool:
    try:
        serializer(codec, limit).dumps_typed(value)
    except EncodeError:
        return False
    return True


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read_and_nothing_else(kind: str, codec: Any) -> None:
    value = next(
        made
        for count in (70, 140, 280, 550, 1100)
        if not is_written(made := [KINDS[kind](number) for number in range(count)], codec, 1024)
    )
    limit = least_limit(value, codec)
    assert limit > 1024
    row = serializer(codec, limit).dumps_typed(value)
    assert serializer(codec, limit).loads_typed(row)
    with pytest.raises(EncodeError, match="max_decoded_objects"):
        serializer(codec, limit - 1).dumps_typed(value)
    with pytest.raises(SizeLimitError):
        serializer(codec, limit - 1).loads_typed(row)


@examples(25)
@given(
    st.lists(st.tuples(st.sampled_from([*KINDS]), st.integers(1, 400)), min_size=1, max_size=6),
    st.sampled_from(CODECS),
    st.integers(1024, 20_000),
)
def test_mixtures_are_read_if_they_are_written(
    parts: list[tuple[str, int]], codec: Any, limit: int
) -> None:
    value = {kind: [KINDS[kind](number) for number in range(count)] for kind, count in parts}
    row = serializer(codec, 2**28).dumps_typed(value)
    bounded = serializer(codec, limit)
    try:
        written = bounded.dumps_typed(value)
    except EncodeError:
        with pytest.raises(SizeLimitError):
            bounded.loads_typed(row)
    else:
        assert written == row
        bounded.loads_typed(row)


def pairs(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = (value, value)
    return value


@pytest.mark.parametrize("make", [lambda levels: {pairs(levels)}, lambda n: {pairs(n): 1}])
def test_what_takes_too_long_to_hash_is_not_written(make: Callable[[int], Any]) -> None:
    small = serializer("once1", 3_000_000)
    assert small.loads_typed(small.dumps_typed(make(14))) == make(14)
    with pytest.raises(EncodeError, match="max_decoded_objects"):
        small.dumps_typed(make(18))
    row = serializer("once1", 2**28).dumps_typed(make(18))
    with pytest.raises(SizeLimitError):
        small.loads_typed(row)


@pytest.mark.parametrize("depth", [40, 490, 600])
def test_a_key_as_deep_as_is_written_is_read(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = (value,)
    serde = serializer("once1", 2**28)
    if depth < 500:
        assert serde.loads_typed(serde.dumps_typed({value})) == {value}
    else:
        with pytest.raises(EncodeError, match="nested too deeply"):
            serde.dumps_typed({value})
        assert serde.loads_typed(serde.dumps_typed([value])) == [value]


def test_what_was_refused_is_read_under_a_higher_limit() -> None:
    value = [(number,) for number in range(10_000)]
    row = serializer("once1", 2**28).dumps_typed(value)
    with pytest.raises(SizeLimitError) as caught:
        serializer("once1", 50_000).loads_typed(row)
    assert caught.value.limit_objects == 50_000
    assert serializer("once1", 500_000).loads_typed(row) == value


def test_an_error_that_is_too_large_is_stored_in_short() -> None:
    stored = serializer("once1", 20_000)
    found = stored.loads_typed(stored.dumps_typed(ValueError([(n,) for n in range(10_000)])))
    assert "max_decoded_objects" in str(found)
    assert "ValueError" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "kind", ["integers", "tuples", "sets", "datetimes", "UUIDs", "decimals", "frozen dataclasses"]
)
def test_64_mb_of_ordinary_state_pass(kind: str, codec: Any) -> None:
    make = partial(KINDS[kind])
    serde = serializer(codec, SerdeConfig().max_decoded_objects)
    few = [make(number % 1_000_000) for number in range(900_000, 901_000)]
    each = len(serde.dumps_typed(few)[1]) / 1000
    count = int(64 * 2**20 / each)
    row = serde.dumps_typed([make(number % 1_000_000) for number in range(count)])
    assert len(serde.loads_typed(row)) == count
