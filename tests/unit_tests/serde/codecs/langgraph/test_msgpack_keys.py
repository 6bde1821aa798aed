"""Large maps are read as they are, unless their keys share a hash."""

from __future__ import annotations

import struct
from itertools import islice, product
from typing import Any

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.errors import PayloadError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.langgraph.scan import (
    _keys,
    has_large_maps,
    keys_of_large_maps,
    share_hashes,
    takes_long,
)
from tests.unit_tests.serde.strictly import strict_config

SERDE = OnceSerializer(strict_config())
TWINS = [*islice(product((-1, -2), repeat=14), 1_000)]

PAIRS = st.tuples(st.integers(0, 300), st.text(max_size=40))
KEYS = st.integers(0, 9) | st.text(max_size=2) | PAIRS
VALUES = st.recursive(
    st.none() | st.integers() | st.floats() | st.sampled_from(["x" * 300, [0] * 40, b"\xdf" * 9]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=30),
    max_leaves=20,
)
LARGE = st.dictionaries(PAIRS | st.text(max_size=2), VALUES, min_size=15, max_size=20)


def pack(value: Any) -> bytes:
    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


def tuple_keys(value: Any, few: int) -> list[list[tuple[Any, ...]]]:
    """What `keys_of_large_maps` finds, told from the value."""
    if isinstance(value, list):
        return [keys for item in value for keys in tuple_keys(item, few)]
    if not isinstance(value, dict):
        return []
    inner = [keys for item in value.values() for keys in tuple_keys(item, few)]
    own = [key for key in value if isinstance(key, tuple)]
    return [own, *inner] if len(value) > few else inner


@given(VALUES | LARGE)
def test_array_keys_of_large_maps_are_found(value: Any) -> None:
    try:
        data = pack(value)
    except TypeError:  # integers beyond 64 bits
        return
    assert [[*_keys(parts)] for parts in keys_of_large_maps(data, 16)] == tuple_keys(value, 16)


@pytest.mark.parametrize("size", [100, 127, 128, 129, 300, 1000])
@pytest.mark.parametrize("odd", [{}, {(1, 2, 3, 4, 5): 1}, {"a": [1]}, {(1, (2,)): {"b": ()}}])
def test_runs_of_short_keys_are_found_too(size: int, odd: dict[Any, Any]) -> None:
    value = {(n, n / 3): n for n in range(size)} | odd | {(str(n),): None for n in range(size)}
    keys = [[*_keys(parts)] for parts in keys_of_large_maps(pack(value), 16)]
    assert keys == [[key for key in value if isinstance(key, tuple)]]


def test_of_numbers_and_texts_as_keys_no_hash_is_asked_for() -> None:
    value = dict.fromkeys(range(1000)) | {0.5: 1, "a": 2}
    assert [[*_keys(parts)] for parts in keys_of_large_maps(pack(value), 16)] == [[]]


@given(VALUES, st.data())
def test_a_part_of_a_value_is_looked_through_without_an_error(value: Any, data: Any) -> None:
    try:
        packed = pack(value)
    except TypeError:
        return
    keys_of_large_maps(packed[: data.draw(st.integers(0, len(packed)))], 1)


@pytest.mark.parametrize(
    "value",
    [
        {(x, y): x for x in range(100) for y in range(100)},
        {(x, (str(y), None)): x for x in range(50) for y in range(50)},
        dict.fromkeys(range(20_000)),
        {str(n): [n * 0.1] * 3 for n in range(20_000)},
        {n: {(n, m): b"\xde\xff\xff" for m in range(300)} for n in range(20)},
        [0.1 * n for n in range(10_000)],
        {(n,): {"s": {(n, 1)}} for n in range(500)},
    ],
    ids=["grid", "nested", "numbers", "texts", "inner", "floats", "beside extensions"],
)
def test_ordinary_large_values_are_read(value: Any) -> None:
    found = SERDE.loads_typed(JsonPlusSerializer().dumps_typed(value))
    assert found == value


@pytest.mark.parametrize("head", [">cH", ">cI"])
@pytest.mark.parametrize("before", [0, 1, 300])
def test_keys_of_one_hash_are_refused_wherever_they_stand(before: int, head: str) -> None:
    pairs = b"".join(pack(str(n)) + b"\xc0" for n in range(before))
    pairs += b"".join(pack([*key]) + b"\xc0" for key in TWINS)
    code = b"\xde" if head == ">cH" else b"\xdf"
    hostile = struct.pack(head, code, before + len(TWINS)) + pairs
    in_extension = ormsgpack.packb(ormsgpack.Ext(7, hostile))
    places = (b"", b"\x92\xc0", b"\x81\xa1a", b"\xc0")  # the last: behind the value
    for data in (*(place + hostile for place in places), in_extension):
        with pytest.raises(PayloadError, match="share a hash"):
            SERDE.loads_typed(("msgpack", data))
        with pytest.raises(PayloadError, match="share a hash"):
            SERDE.loads_typed(("msgpack", data[:-1]))


@pytest.mark.parametrize(("code", "wrap"), [(0, False), (1, True)])
@pytest.mark.parametrize("name", ["set", "frozenset"])
def test_members_of_one_hash_are_refused(code: int, wrap: bool, name: str) -> None:
    members = [[*key] for key in TWINS]
    content = ["builtins", name, [members] if wrap else members]
    data = ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(content)))
    with pytest.raises(PayloadError, match=f"builtins:{name}") as caught:
        SERDE.loads_typed(("msgpack", data))
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_key_that_cannot_be_read_does_not_hide_the_others() -> None:
    hostile = b"\xdf" + struct.pack(">I", len(TWINS) + 1)
    hostile += b"".join(pack([*key]) + b"\xc0" for key in TWINS) + b"\x91\xc1\xc0"
    assert takes_long(hostile)


def test_a_map_that_promises_more_than_there_is_is_looked_at() -> None:
    hostile = b"\xdf\xff\xff\xff\xff" + b"".join(pack([*key]) + b"\xc0" for key in TWINS)
    assert has_large_maps(hostile)
    with pytest.raises(PayloadError, match="share a hash"):
        SERDE.loads_typed(("msgpack", hostile))


def test_only_heads_of_large_maps_are_taken_for_such() -> None:
    heads = (b"\xde\x01\xff", b"\xde\x02\x00", b"\xdf\0\0\1\xff", b"\xdf\0\0\2\0")
    assert [has_large_maps(head + b"\xc0" * 1026) for head in heads] == [False, True] * 2
    assert not any(has_large_maps(head + b"\xc0" * 1019) for head in heads)
    assert has_large_maps(b"\xde" + heads[1] + b"\xc0" * 1026)  # what looks like one before it


def test_small_maps_with_other_keys_than_text_are_not_looked_through() -> None:
    packed = JsonPlusSerializer().dumps_typed([{n: n for n in range(20)}] * 500)
    assert not has_large_maps(packed[1])


def test_few_items_may_share_a_hash() -> None:
    assert not share_hashes([(-1,), (-2,)] * 100)
    assert not share_hashes(range(100_000))
    assert share_hashes(TWINS)
