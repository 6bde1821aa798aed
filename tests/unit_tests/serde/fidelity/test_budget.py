"""How much one value may hold: what is rebuilt one by one takes more of the budget."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_once.errors import SizeLimitError
from langgraph_once.serde.bounds.msgpack_headers import Kind, read_token
from langgraph_once.serde.codecs.once1.format.scan import FIRST_OF_EXT, after, next_opening, split
from tests.unit_tests.serde.fidelity.core_samples import REGISTRY, TREES, Knot, encode, read

EXT_BYTES = [[first] for first in FIRST_OF_EXT]


def array(*values: bytes) -> bytes:
    return b"\xdd" + len(values).to_bytes(4, "big") + b"".join(values)


@pytest.mark.parametrize(
    ("item", "units"), [((), 12), ((1, 2, 3), 15), (2**70, 20), (Decimal(1), 22)], ids=repr
)
def test_objects_that_are_rebuilt_one_by_one_take_more_of_the_budget(item: Any, units: int) -> None:
    data = array(*[encode([item], REGISTRY)[1:]] * 10_000)
    assert read(data, max_objects=10_000 * units + 4) == [item] * 10_000
    with pytest.raises(SizeLimitError) as caught:
        read(data, max_objects=10_000 * units + 3)
    assert caught.value.limit_objects == 10_000 * units + 3


def test_objects_in_objects_and_in_tables_share_one_budget() -> None:
    shared = [Knot(n) for n in range(100)]
    data = encode([[shared, (shared, (knot,))] for knot in shared], REGISTRY)
    read(data, max_objects=2_000_000)
    with pytest.raises(SizeLimitError):
        read(data, max_objects=4_000)


@given(TREES | st.binary(min_size=200, max_size=400).map(lambda raw: [raw, [raw, 1], 2**70]))
def test_the_next_opening_is_the_first_that_reading_tokens_finds(value: Any) -> None:
    for entry in map(bytes, split(encode(value, REGISTRY))):
        found, at = [], 0
        while at < len(entry):
            token = read_token(entry, at)
            is_small = token.kind is Kind.ARRAY and token.body == at + 1
            if is_small and entry[token.body : token.body + 1] not in map(bytes, EXT_BYTES):
                pass  # passed over
            elif token.kind in (Kind.ARRAY, Kind.EXT):
                found.append(at)
            at = after(token)
        at = 0
        for opening in found:
            assert next_opening(entry, at) == opening
            at = after(read_token(entry, opening))
        assert next_opening(entry, at) >= len(entry)
