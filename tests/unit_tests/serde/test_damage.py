"""Blobs that are cut, extended or changed: our error or a value, never anything else."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import PayloadError, SerdeError
from langgraph_once.serde import OnceSerializer

from .samples import (
    OWN_TYPES,
    OWN_VALUES,
    SAFE_VALUES,
    outcome,
)

UPSTREAM = JsonPlusSerializer()


def load(blob: bytes) -> Any:
    return OnceSerializer().loads_typed(("msgpack", blob))


GOOD = UPSTREAM.dumps_typed({"a": [1, "text"], "b": {1, 2}, "c": SAFE_VALUES[20]})[1]


def test_a_truncated_blob_is_refused() -> None:
    for cut in range(len(GOOD)):
        with pytest.raises(PayloadError):
            load(GOOD[:cut])


BLOBS = [UPSTREAM.dumps_typed(value)[1] for value in SAFE_VALUES + OWN_VALUES]
READER = OnceSerializer(SerdeConfig(allowed_types=OWN_TYPES))


@given(
    st.sampled_from(BLOBS),
    st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 255)), min_size=1, max_size=4),
)
def test_changed_bytes_yield_a_value_or_our_error(
    blob: bytes, flips: list[tuple[int, int]]
) -> None:
    changed = bytearray(blob)
    for position, mask in flips:
        if changed:
            changed[position % len(changed)] ^= mask
    result = outcome(READER, ("msgpack", bytes(changed)))
    if isinstance(result, SerdeError):
        assert result.tag == "msgpack"


@given(st.binary(max_size=60))
def test_any_bytes_yield_a_value_or_our_error(blob: bytes) -> None:
    with contextlib.suppress(SerdeError):
        READER.loads_typed(("msgpack", blob))
