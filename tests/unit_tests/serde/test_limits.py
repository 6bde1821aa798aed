"""What a few bytes may cost: memory, stack and time."""

from __future__ import annotations

import enum
import re
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from ormsgpack import OPT_NON_STR_KEYS, Ext, packb

from langgraph_once.errors import PayloadError, SizeLimitError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import head_bytes, holder_bytes
from langgraph_once.serde.limits import (
    MAX_EXPANDED,
    as_key,
    check_hashes,
    check_keys,
    check_levels,
    check_weight,
    checked_pattern,
    copies_of,
    flag_of,
    hold,
    most_added,
    most_to_add,
    pattern_units,
    release,
)
from langgraph_once.serde.opaque import UnavailableError
from tests.unit_tests.serde.cpu import within
from tests.unit_tests.serde.hostile.build import array, headed, many

TWINS = [*islice(product((-1, -2), repeat=14), 3000)]
UNITS = 2**28
FEW_UNITS = UNITS // 8


@contextmanager
def cpu_seconds(limit: float) -> Iterator[None]:
    """Fail if what is inside takes longer."""
    started = time.process_time()
    yield
    assert within(time.process_time() - started, limit)


def pack(value: Any) -> bytes:
    return packb(value, None, OPT_NON_STR_KEYS)


def ext(code: int, *content: Any) -> Ext:
    return Ext(code, pack([*content]))


def read(data: bytes) -> Any:
    return OnceSerializer().loads_typed(("msgpack", data))


# Hashes


def test_many_items_of_one_hash_are_refused() -> None:
    check_hashes(TWINS[:900])
    check_hashes([*range(100_000)])
    check_hashes([str(n) for n in range(5000)])
    with pytest.raises(PayloadError, match="share a hash"):
        check_hashes(TWINS)
    with pytest.raises(TypeError):
        check_hashes([[]] * 2000)


@pytest.mark.parametrize("head", [">cH", ">cI"])
@pytest.mark.parametrize("before", [0, 1, 300])
def test_keys_of_one_hash_are_refused_wherever_they_stand(before: int, head: str) -> None:
    pairs = b"".join(pack(str(n)) + b"\xc0" for n in range(before))
    pairs += b"".join(pack([*key]) + b"\xc0" for key in TWINS)
    code = b"\xde" if head == ">cH" else b"\xdf"
    hostile = struct.pack(head, code, before + len(TWINS)) + pairs
    for data in (hostile, b"\x92\xc0" + hostile, b"\x81\xa1a" + hostile, packb(Ext(7, hostile))):
        with pytest.raises(PayloadError, match="share a hash"):
            read(data)
        with pytest.raises(PayloadError):
            read(data[:-1])


@pytest.mark.parametrize("name", ["set", "frozenset"])
def test_members_of_one_hash_are_handed_on_as_a_list(name: str) -> None:
    members = [[*key] for key in TWINS]
    assert read(packb(ext(0, "builtins", name, members))) == members


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
    assert read(JsonPlusSerializer().dumps_typed(value)[1]) == value


@given(st.binary(max_size=60), st.sampled_from([b"\xde\xff\xff", b"\xdf\0\0\xff\xff"]))
def test_any_bytes_have_keys_or_an_error(data: bytes, head: bytes) -> None:
    for at in (0, len(data) // 2):
        check_keys(data[:at] + head + data[at:])


def test_lists_become_keys_again() -> None:
    assert as_key([1, [2, []], "a"]) == (1, (2, ()), "a")


# Stack


def nested(levels: int, native: int) -> bytes:
    """Return an object in an object, each in so many lists."""
    value = b"\xc0"
    for _ in range(levels):
        inside = b"\x81\xa5value" + b"\x91" * native + value
        content = b"\x93" + pack("langgraph.types") + pack("Overwrite") + inside
        value = packb(Ext(2, content))
    return value


def test_levels_are_counted_in_lists_and_not_in_what_looks_like_them() -> None:
    assert check_levels(pack([[[1]], [2]])) >= 3
    assert check_levels(pack({"a": [b"\x91" * 3000, "\u0591" * 3000, [1.5] * 3000]})) <= 3
    assert check_levels(pack([[1], [2]] * 5000)) <= 2
    assert check_levels(b"\x91" * 256 + b"\xc0") == 256
    with pytest.raises(PayloadError, match="too deeply"):
        check_levels(b"\x91" * 257 + b"\xc0")


@given(
    st.recursive(st.integers(-9, 2**40), lambda inner: st.lists(inner, max_size=40), max_leaves=200)
)
def test_no_level_is_overlooked(value: Any) -> None:
    def depth(value: Any) -> int:
        return 1 + max(map(depth, value), default=0) if type(value) is list and value else 0

    assert check_levels(pack(value)) >= depth(value)


@pytest.mark.parametrize(("levels", "native"), [(400, 0), (300, 3), (3, 250), (1, 1000)])
def test_what_is_written_deep_is_read(levels: int, native: int) -> None:
    assert read(nested(levels, native)) is not None


@pytest.mark.parametrize(("levels", "native"), [(30, 1000), (200, 250), (3000, 0), (16, 1010)])
def test_what_would_overflow_the_stack_is_refused(levels: int, native: int) -> None:
    with pytest.raises(PayloadError, match="deep"):
        read(nested(levels, native))


def test_copies_of_nested_contents_are_bounded() -> None:
    assert copies_of(1000) >= 1000
    value = packb(b"x" * 2_000_000)
    for _ in range(200):
        value = packb(Ext(7, value))
    with pytest.raises(SizeLimitError, match="nested") as caught:
        read(value)
    assert caught.value.limit_bytes == MAX_EXPANDED


# Memory


@pytest.mark.parametrize("tag", ["msgpack.zstd", "once2.zstd", "json.zstd"])
@pytest.mark.parametrize(
    "data",
    [
        b"\x90" * 4_000_000,
        b"\x80" * 4_000_000,
        b"\xa0" * 6_000_000,
        b"[],{}," * 500_000,
        b"\xc9" + (4_000_000).to_bytes(4, "big") + b"\x02" + b"\x90" * 4_000_000,
    ],
    ids=["lists", "maps", "texts", "json", "in an extension"],
)
def test_a_few_bytes_do_not_say_that_memory_is_to_be_filled(tag: str, data: bytes) -> None:
    if tag.startswith("json") == (data[:1] == b"["):
        with pytest.raises(SizeLimitError, match="max_decoded_bytes"):
            check_weight(data, 3000, FEW_UNITS, tag)
    check_weight(data[:50_000], 3000, FEW_UNITS, tag)


@pytest.mark.parametrize("kind", ["once2", "msgpack"])
def test_one_large_part_is_one_value_whatever_is_in_it(kind: str) -> None:
    writer = OnceSerializer() if kind == "once2" else JsonPlusSerializer()
    values: list[Any] = [
        np.full(80_000_000, 0x90, "u1"),
        {"text": "\u0390" * 40_000_000},
        [b"\x90" * 80_000_000],
    ]
    for value in values:
        data = writer.dumps_typed(value)[1] if kind == "msgpack" else pack_once(value)
        check_weight(data, 3000, UNITS, f"{kind}.zstd")


def pack_once(value: Any) -> bytes:
    serde = OnceSerializer()
    return serde.encoded(value)[1]


@pytest.mark.parametrize("length", [3, 100, 200, 300, 70_000])
def test_no_head_of_an_object_hides_what_is_behind_it(length: int) -> None:
    head = b"\xa1" * length
    size = bytes((length,)) if length < 0xFF else b"\xff" + length.to_bytes(4, "big")
    content = size + head + b"\x90" * 4_000_000
    data = b"\xc9" + len(content).to_bytes(4, "big") + b"\x09" + content
    with pytest.raises(SizeLimitError):
        check_weight(data, 3000, FEW_UNITS, "once2.zstd")


_STOCK_HEAD = head_bytes("stock", "a:B", 0, 0)


@pytest.mark.parametrize(
    "holds",
    [
        lambda data: headed(_STOCK_HEAD, data),
        lambda data: array(many([_STOCK_HEAD], b"\x01"), data),
        lambda data: headed(holder_bytes(b"\xc0", [("a", 0, (b"\x90" * 300, _STOCK_HEAD))]), data),
    ],
    ids=["an object", "a thread", "an object that holds others"],
)
def test_nothing_hides_that_bytes_are_read_as_langgraphs(holds: Callable[[bytes], bytes]) -> None:
    data = holds(packb(b"\x90" * 4_000_000))
    with pytest.raises(SizeLimitError):
        check_weight(data, 3000, FEW_UNITS, "once2.zstd")
    check_weight(data.replace(b"stock", b"other"), 3000, FEW_UNITS, "once2.zstd")


_HEAVY = st.sampled_from(
    [b"\xa6pandas", b"\xd4\x09", b"\xc9\0\0\0", b"\x80", b"\x90", b"\xa0", b"\xc4", b"a", b"\x0e"]
)
_LONG_THREAD = pack_once([AIMessage("word " * 41, id=f"{n}") for n in range(5_000)])


@given(
    parts=st.lists(
        st.tuples(
            st.floats(0, 1), st.lists(_HEAVY, max_size=40).map(b"".join), st.integers(1, 200)
        ),
        max_size=5,
    )
)
def test_nothing_that_is_added_weighs_more_than_it_may(
    parts: list[tuple[float, bytes, int]],
) -> None:
    left = most_to_add(_LONG_THREAD, UNITS, "once2")
    assert left > UNITS // 4
    longer, added = _LONG_THREAD, []
    for where, part, times in parts:
        at = 1 + round(where * (len(longer) - 1))
        added.append(part * times)
        longer = longer[:at] + part * times + longer[at:]
    most = most_added(added)
    if most < left:
        check_weight(longer, 0, UNITS, "once2")
        assert most_to_add(longer, UNITS, "once2") >= left - most


def test_what_may_be_added_is_little_where_forms_are_that_take_long() -> None:
    data = _LONG_THREAD + b"\xa6pandas" * 1_500
    assert (
        most_to_add(data, UNITS, "once2")
        < most_to_add(_LONG_THREAD, UNITS, "once2") - 1_500 * 65_536
    )


def test_what_becomes_a_graph_is_weighed_anew() -> None:
    assert most_added([b"\xc9\0\0\0\xff\x0e"]) > UNITS * 16


def test_what_takes_its_room_in_the_database_may_be_larger() -> None:
    data = b"\x90" * 30_000_000
    check_weight(data, len(data), UNITS, "msgpack")
    check_weight(data, 2_000_000, UNITS, "msgpack.zstd")
    with pytest.raises(SizeLimitError):
        check_weight(data, len(data), 2**20, "msgpack")


# Patterns, flags, networks, numbers


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?i)^[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}$",
        "[\U0001f300-\U0001f9ff\u2600-\u27bf]+",
        "|".join(["M\u00fcller-Stra\u00dfe"] * 20_000),
        "[a-z]+" * 2000,
        rb"\d+[\x80-\xff]",
    ],
    ids=["mail", "emoji", "words", "sets", "bytes"],
)
def test_what_programs_compile_is_compiled(pattern: Any) -> None:
    assert checked_pattern(pattern, 0) == re.compile(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["a" * 3_000_000, "(?i)" + "[\u0100-\uffff]" * 400, "[\u4e00-\u9fff]" * 3000, "[a]" * 300_000],
    ids=["long", "ranges", "wide", "sets"],
)
def test_what_takes_too_long_to_compile_is_refused(pattern: str) -> None:
    with cpu_seconds(2), pytest.raises(ValueError, match="too long"):
        checked_pattern(pattern, 0)


def test_many_patterns_of_one_row_are_refused() -> None:
    many = [ext(1, "re", "compile", ["[\u4e00-\u9fff]" * 200 + str(n), 0]) for n in range(20)]
    assert pattern_units("[\u4e00-\u9fff]" * 200) > 1_000_000
    with cpu_seconds(3), pytest.raises(SizeLimitError, match="regular expressions"):
        read(packb(many))


def test_a_pattern_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert checked_pattern("a", re.DEBUG) == re.compile("a")
    assert capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="no regular expression"):
        checked_pattern("(", 0)


class Perm(enum.Flag):
    R = 1
    W = 2


class Wide(enum.IntFlag):
    FIRST = 1


def test_flags_of_all_bits_are_made() -> None:
    assert flag_of(Perm, 3) is Perm.R | Perm.W
    assert flag_of(Perm, 0) is Perm(0)
    assert flag_of(Wide, 1 << 40).value == 1 << 40
    for value in (64, 1 << 5000):
        with pytest.raises(ValueError):
            flag_of(Perm, value)


def test_combinations_of_flags_do_not_fill_the_memory() -> None:
    def fill() -> None:
        for number in range(20_000):
            flag_of(Wide, number)

    with pytest.raises(UnavailableError):
        fill()
    assert len(Wide._value2member_map_) < 17_000
    assert flag_of(Wide, 1) is Wide.FIRST
    assert read(packb(ext(0, __name__, "Wide", 1 << 50))) == 1 << 50


@pytest.mark.parametrize("network", [IPv4Network("10.0.0.0/8"), IPv6Network("::/64")])
def test_nothing_walks_through_a_network_while_a_value_is_made(network: Any) -> None:
    held = hold(network)
    assert isinstance(held, (IPv4Network, IPv6Network))
    with pytest.raises(TypeError, match="where a collection was expected"):
        next(iter(held))
    release(held)
    assert type(network) in (IPv4Network, IPv6Network)


@pytest.mark.parametrize(
    "make",
    [
        lambda part: ext(0, "collections", "deque", part),
        lambda part: ext(0, "builtins", "set", part),
        lambda part: ext(1, "langgraph.types", "Send", part),
        lambda part: ext(5, "langchain_core.messages.human", "HumanMessage", {"content": part}),
    ],
)
def test_a_network_of_many_addresses_ends_no_reading(make: Callable[[Any], Any]) -> None:
    network = ext(0, "ipaddress", "IPv6Network", "::/16")
    with cpu_seconds(2):
        assert read(packb(make(network))) is not None


def test_a_number_of_many_digits_is_not_written_out_by_a_field() -> None:
    usage = {"input_tokens": ext(0, "decimal", "Decimal", "1e99999999"), "output_tokens": 1}
    dump = {"content": "x", "usage_metadata": {**usage, "total_tokens": 1}}
    row = packb(ext(5, "langchain_core.messages.ai", "AIMessage", dump))
    with cpu_seconds(2):
        assert isinstance(read(row), AIMessage)
    assert read(packb([ext(0, "decimal", "Decimal", "1e99999999")])) == [Decimal("1e99999999")]


def test_a_template_is_not_tried_out_that_would_become_long() -> None:
    dump = {"template": "{x:>999999999}", "input_variables": ["x"], "validate_template": True}
    row = packb(ext(5, "langchain_core.prompts.prompt", "PromptTemplate", dump))
    with cpu_seconds(2):
        assert read(row) == dump


def test_names_of_many_classes_that_are_gone_are_not_all_looked_for() -> None:
    names = [ext(0, "langgraph.types", f"Gone{n}", 1) for n in range(20_000)]
    modules = [ext(0, f"langgraph.gone_{n}", "Gone", 1) for n in range(5000)]
    with cpu_seconds(4):
        assert read(packb(names)) == [1] * 20_000
        assert read(packb(modules)) == [1] * 5000
