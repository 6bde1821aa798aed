"""Reading the `msgpack` codec takes no more objects and copies than it may."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError
from langgraph_once.serde.bounds.msgpack_headers import after_value, deepest, end_of_value
from langgraph_once.serde.codecs.langgraph.read.msgpack_rows import MsgpackDecoder
from langgraph_once.serde.codecs.langgraph.scan import WEIGHTS
from langgraph_once.serde.trust.allowlist import Allowlist
from tests.unit_tests.serde.cpu import least_seconds, within
from tests.unit_tests.serde.labels import label
from tests.unit_tests.serde.samples import SAFE_VALUES

ALLOWLIST = Allowlist.from_config(SerdeConfig())
UPSTREAM = JsonPlusSerializer(allowed_msgpack_modules=None)

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text()
    | st.binary()
    | st.sampled_from(["x" * 300, b"x" * 70_000, "y" * 70_000, [0] * 70_000, [1.5] * 20]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def decode(data: bytes, max_objects: int = 10_000_000) -> Any:
    decoder = MsgpackDecoder(ALLOWLIST, min_open_bytes=2**28, max_objects=max_objects)
    return decoder.decode(data, "msgpack")


def units(value: Any) -> int:
    if isinstance(value, dict):
        return 8 + sum(units(k) + units(v) for k, v in value.items())
    return 4 + sum(map(units, value)) if isinstance(value, list) else 1


@given(PLAIN, st.binary(max_size=3))
def test_values_are_weighed_and_end_where_they_end(value: Any, rest: bytes) -> None:
    data = ormsgpack.packb(value)
    assert WEIGHTS.units(data, 10**9) == units(value)
    assert WEIGHTS.exceed([data], units(value) - 1)
    assert not WEIGHTS.exceed([data], units(value))
    assert WEIGHTS.units(ormsgpack.packb(ormsgpack.Ext(0, data)), 10**9) == 20 + units(value)
    assert end_of_value(data + rest, 10**9) == len(data)


@given(PLAIN, st.data())
def test_a_part_of_a_value_has_no_end(value: Any, data: Any) -> None:
    packed = ormsgpack.packb(value)
    assert end_of_value(packed[: data.draw(st.integers(0, len(packed) - 1))], 10**9) == -1


@pytest.mark.parametrize("value", SAFE_VALUES, ids=label)
def test_a_counted_value_is_what_an_uncounted_one_is(value: Any) -> None:
    data = UPSTREAM.dumps_typed([value, b"x" * 1000])[1]
    assert repr(decode(data, max_objects=1000)) == repr(decode(data))


@pytest.mark.parametrize(
    "data",
    [
        b"\xdd" + (2**18).to_bytes(4) + b"\x90" * 2**18,
        b"\xdd" + (2**18).to_bytes(4) + b"\x80\x90" * 2**17,
        b"\xdd" + (2**18).to_bytes(4) + b"\x91\x90" * 2**17,
        b"\xdd" + (2**18).to_bytes(4) + b"\xa1a" * 2**17,
        b"\x91" * 2**18,
        b"\xdd" + (2**18).to_bytes(4) + b"\xd9\x00" * 2**17,
        b"\xdd" + (2**18).to_bytes(4) + b"\xc9\x00\x00\x00\x00\x00" * 2**16,
        b"\xdd" + (2**18).to_bytes(4) + (b"\x00" * 4095 + b"\xda\x01\x00" + b"x" * 256) * 62,
        ormsgpack.packb(ormsgpack.Ext(7, b"\xdd" + (2**18).to_bytes(4) + b"\x90" * 2**18)),
        ormsgpack.packb([ormsgpack.Ext(7, ormsgpack.packb([[]] * 1000))] * 312),
    ],
    ids=["lists", "maps", "pairs", "texts", "deep", "empty", "ext", "broken", "inside", "spread"],
)
def test_too_many_objects_are_refused_before_they_are_made(data: bytes) -> None:
    def refused() -> None:
        with pytest.raises(SizeLimitError, match="max_decoded_objects"):
            decode(data, max_objects=62_500)

    tracemalloc.start()
    seconds = least_seconds(refused, 2)  # traced; a fraction of it otherwise
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert within(seconds, 2)
    assert peak < 10_000_000


def test_as_many_objects_as_allowed_are_made() -> None:
    data = ormsgpack.packb([1.5] * 1000)
    assert decode(data, max_objects=1004) == [1.5] * 1000
    with pytest.raises(SizeLimitError):
        decode(data, max_objects=1003)


@pytest.mark.parametrize("size", [10, 5_000, 2_000_000])
@pytest.mark.parametrize("limit", [40, 10_000_000])
def test_bytes_after_the_end_are_refused_in_blobs_of_any_size(size: int, limit: int) -> None:
    value = ormsgpack.packb(b"x" * size)
    for data in (value, ormsgpack.packb(ormsgpack.Ext(7, value))):
        assert len(repr(decode(data, max_objects=limit))) > size
    for data in (value + b"\xc0", ormsgpack.packb(ormsgpack.Ext(7, value + b"\xc0"))):
        with pytest.raises(PayloadError, match="after the end"):
            decode(data, max_objects=limit)


def test_levels_of_extensions_in_each_other_are_added_up() -> None:
    data = b"\xc0"
    for count in range(1, 4):
        data = ormsgpack.packb(ormsgpack.Ext(7, b"\x91" * 900 + data))
        if count < 3:
            assert decode(data)
    with pytest.raises(PayloadError, match="too deeply nested"):
        decode(data)


def test_containers_are_counted_and_extensions_that_hold_values() -> None:
    pair = ormsgpack.packb(ormsgpack.Ext(9, b"\x91\x01\x02"))
    assert deepest(ormsgpack.packb([{"a": [1]}, [2]]), 9) == (3, 0)
    assert deepest(b"\x91" + pair, 9) == (1, 0)
    assert deepest(b"\x91" + pair, 9, {9: 2}) == (3, 1)
    with pytest.raises(ValueError, match="wrong number"):
        deepest(pair, 9, {9: 1})


def test_a_value_that_is_cut_off_has_no_place_behind_it() -> None:
    assert after_value(b"\x92\x01\xa1a\xc0", 0) == 4
    with pytest.raises(ValueError, match="cut off"):
        after_value(b"\x92\x01\xa1", 0)


def test_a_blob_cannot_bring_the_mark_of_the_end() -> None:
    value = ormsgpack.packb(1)
    for end in (b"end of langgraph-once value", b"", b"x" * 12):
        with pytest.raises(PayloadError):
            decode(value + ormsgpack.packb(end))


def test_a_large_array_is_read_with_two_copies_at_most() -> None:
    array = np.arange(2**22, dtype="<f8")  # 32 MB
    data = UPSTREAM.dumps_typed({"array": array})[1]
    tracemalloc.start()
    found = decode(data)["array"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found == array).all()
    assert found.flags.aligned
    assert not found.flags.writeable
    assert peak < 2.1 * array.nbytes


@pytest.mark.parametrize(
    "content",
    [
        ["<f8", [1000], "C", b"x" * 8000],
        ["<f8", [1000], "C", b"x" * 7999],
        ["<f8", [1000], "C"],
        ["<f8", [1000], "C", "x" * 8000],
        ["<f8", [[1000]], "C", b"x" * 8000],
        ["<f8", [1000], "C", b"x" * 8000, 1],
        ["O", [1000], "C", b"x" * 8000],
        [1, 2, 3, b"x" * 8000],
        [b"x" * 8000] * 4,
        {"a": b"x" * 8000},
    ],
)
def test_a_large_array_of_a_wrong_shape_is_refused(content: Any) -> None:
    packed = ormsgpack.packb(content)
    for data in (packed, packed[:-1], packed + b"\xc0"):
        blob = ormsgpack.packb(ormsgpack.Ext(6, data))
        try:
            found = decode(blob)
        except SerdeError:
            found = None
        assert (found is not None) == (
            data is packed and content == ["<f8", [1000], "C", b"x" * 8000]
        )


def test_a_message_is_still_a_message_in_a_large_blob() -> None:
    value = [HumanMessage("x" * 5000), {"a": b"x" * 2**21}]
    assert decode(UPSTREAM.dumps_typed(value)[1]) == value
