"""A compressed row of a few bytes holds no more than two seconds take; what is written is read."""

from __future__ import annotations

import re
import struct
import sys
import time
from typing import Any

import ormsgpack
import polars as pl
import pytest

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, PayloadError, SizeLimitError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1 import Opaque
from langgraph_once.serde.codecs.once1.format.layout import Ext, pack
from tests.unit_tests.serde.bounds.attacks_small import (
    doubled,
    ext,
    one,
    pattern,
    same,
    upstream_pattern,
)
from tests.unit_tests.serde.cpu import within
from tests.unit_tests.serde.strictly import strict_config

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SERDE = OnceSerializer()


def array_of_one(item: bytes) -> bytes:
    return b"\x91" + item


def array(item: bytes, count: int) -> bytes:
    return zstd.compress(b"\xdd" + struct.pack(">I", count) + item * count, 1)


ROWS = {
    "tuples": ("once1.zstd", b"\xd4\x01\x90"),
    "sets": ("once1.zstd", b"\xd4\x03\x90"),
    "dicts": ("once1.zstd", b"\x80"),
    "lists": ("msgpack.zstd", b"\x90"),
    "extensions": ("msgpack.zstd", b"\xd4\x07\xc0"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_a_few_bytes_is_refused_soon(name: str) -> None:
    tag, item = ROWS[name]
    blob = array(item, 4_000_000)
    assert len(blob) < 4_000
    started = time.process_time()
    with pytest.raises(SizeLimitError, match=r"a compressed row of .* `max_decoded_objects`"):
        SERDE.loads_typed((tag, blob))
    assert within(time.process_time() - started, 0.5)


def test_json_of_a_few_bytes_is_refused_soon() -> None:
    blob = zstd.compress(b"[" + b"[]," * 2_000_000 + b"0]", 1)
    with pytest.raises(SizeLimitError):
        SERDE.loads_typed(("json.zstd", blob))


@pytest.mark.parametrize("codec", ["once1", "msgpack"])
@pytest.mark.parametrize(("count", "is_compressed"), [(30_000, True), (200_000, False)])
def test_what_would_be_refused_is_stored_as_it_is(
    codec: Any, count: int, *, is_compressed: bool
) -> None:
    config = SerdeConfig(codec=codec, max_decoded_objects=2_000_000)
    serde, value = OnceSerializer(config), [0] * count
    tag, data = serde.dumps_typed(value)
    assert tag.endswith("zstd") is is_compressed
    assert serde.loads_typed((tag, data)) == value


def test_a_higher_limit_reads_what_was_refused() -> None:
    row = OnceSerializer(SerdeConfig(max_decoded_objects=2**28)).dumps_typed([0] * 200_000)
    assert row[0] == "once1.zstd"
    with pytest.raises(SizeLimitError):
        OnceSerializer(SerdeConfig(max_decoded_objects=2_000_000)).loads_typed(row)
    assert OnceSerializer(SerdeConfig(max_decoded_objects=2**26)).loads_typed(row) == [0] * 200_000


TEXT = "a|" * 450_000
SETS = "[a-\uffff]" * 8_000


def beside_zeros(part: bytes) -> bytes:
    """Return a value that is so long that more is allowed for it, unless it is compressed."""
    return b"\x92" + part + pack(bytes(2_000_000))


@pytest.mark.parametrize(
    ("tag", "row"),
    [
        ("once1", pattern(TEXT)),
        ("msgpack", upstream_pattern(TEXT)),
        ("once1.zstd", zstd.compress(beside_zeros(pattern(TEXT)), 1)),
        ("msgpack.zstd", zstd.compress(beside_zeros(upstream_pattern(TEXT)), 1)),
    ],
    ids=["once1", "msgpack", "once1, compressed", "msgpack, compressed"],
)
def test_a_small_row_has_no_long_pattern_compiled(tag: str, row: bytes) -> None:
    started = time.process_time()
    with pytest.raises(SizeLimitError, match="max_decoded_objects"):
        SERDE.loads_typed((tag, row))
    assert within(time.process_time() - started, 0.5)


@pytest.mark.parametrize("name", [b"\xd9\x07", b"\xda\0\x07", b"\xdb\0\0\0\x07"])
def test_patterns_are_found_whatever_header_their_name_has(name: bytes) -> None:
    usual = upstream_pattern(TEXT)
    row = usual.replace(b"\xa7compile", name + b"compile")
    size = len(row) - len(usual) + int.from_bytes(usual[1:5])
    row = zstd.compress(beside_zeros(row[:1] + size.to_bytes(4) + row[5:]), 1)
    with pytest.raises(SizeLimitError, match="a compressed row"):
        SERDE.loads_typed(("msgpack.zstd", row))


@pytest.mark.parametrize(("code", "content"), [(0, SETS), (2, {"pattern": SETS})])
def test_only_as_langgraph_writes_it_is_a_pattern_compiled(code: int, content: Any) -> None:
    row = ext(code, ormsgpack.packb(["re", "compile", content]))
    started = time.process_time()
    assert isinstance(SERDE.loads_typed(("msgpack", row)), Opaque)
    assert within(time.process_time() - started, 0.5)
    with pytest.raises(PayloadError, match="re:compile"):
        OnceSerializer(strict_config()).loads_typed(("msgpack", row))


@pytest.mark.parametrize("codec", ["once1", "msgpack"])
def test_no_longer_pattern_is_written_than_is_read(codec: Any) -> None:
    serde = OnceSerializer(SerdeConfig(codec=codec, max_decoded_objects=2_000_000))
    short, long = re.compile("a|" * 2_000), re.compile("b|" * 9_000)
    assert serde.loads_typed(serde.dumps_typed([short])) == [short]
    with pytest.raises(EncodeError, match="max_decoded_objects"):
        serde.dumps_typed([long])


def test_what_a_table_has_many_entries_of_is_refused_before_they_are_read() -> None:
    serde = OnceSerializer(SerdeConfig(max_decoded_objects=2_000_000))
    row = zstd.compress(doubled(2_000, one, same), 1)
    with pytest.raises(SizeLimitError, match="a compressed row"):
        serde.loads_typed(("once1.zstd", row))
    with pytest.raises(SizeLimitError, match="max_decoded_objects"):
        serde.loads_typed(("once1", ext(Ext.TABLE, b"\xc4\x01\x01" * 2_000)))


def test_frames_of_libraries_take_more_than_their_bytes_say() -> None:
    serde = OnceSerializer(SerdeConfig(max_decoded_objects=2_000_000))
    row = serde.dumps_typed([pl.Series([number]) for number in range(200)])
    assert row[0] == "once1", "compressed, it would be refused"
    assert len(serde.loads_typed(row)) == 200
    with pytest.raises(SizeLimitError, match="a compressed row"):
        serde.loads_typed(("once1.zstd", zstd.compress(row[1], 1)))


@pytest.mark.parametrize("codec", ["once1", "msgpack", "json"])
def test_the_channels_of_one_row_are_counted_together(codec: str) -> None:
    part = b"[" + b"0," * 50_000 + b"0]" if codec == "json" else b"\xdc\xff\xff" + b"\0" * 65_535
    few, many = (
        zstd.compress(
            ormsgpack.packb([1, ("once1", b"\x80"), {str(n): (codec, part) for n in range(count)}]),
            1,
        )
        for count in (10, 100)
    )
    assert SERDE.unwrapped(("channels.zstd", few))
    with pytest.raises(SizeLimitError, match="a compressed row"):
        SERDE.unwrapped(("channels.zstd", many))


@pytest.mark.parametrize("tag", ["once1", "msgpack"])
def test_a_small_row_holds_no_long_bytes_in_many_extensions(tag: str) -> None:
    serde = OnceSerializer(SerdeConfig(max_decoded_bytes=4_000_000))

    def nested(levels: int) -> tuple[str, bytes]:
        data = pack(bytes(1_000_000))
        for _ in range(levels):
            data = ext(1, array_of_one(data)) if tag == "once1" else ext(7, data)
        return f"{tag}.zstd", zstd.compress(data, 1)

    assert serde.loads_typed(nested(2))
    with pytest.raises(SizeLimitError, match="a compressed row"):
        serde.loads_typed(nested(8))


def test_what_a_small_row_may_become_is_less_than_what_others_may() -> None:
    zeros = bytes(121 * 1024 * 1024)
    tag, data = SERDE.dumps_typed({"zeros": zeros})
    assert tag == "once1"
    assert len(data) > len(zeros)
    with pytest.raises(SizeLimitError, match="as a row below"):
        SERDE.loads_typed(("bytes.zstd", zstd.compress(zeros, 1)))


@pytest.mark.parametrize("module", ["a" * 260, "x." + "a" * 260, "a" * 300, "x." * 300 + "a"])
def test_an_overlong_name_is_one_opaque_and_no_error_of_the_whole(module: str) -> None:
    named = ormsgpack.packb([module, "N", {"t": 1}])
    row = ormsgpack.packb([1, ormsgpack.Ext(2, named)])
    first, second = SERDE.loads_typed(("msgpack", row))
    assert first == 1
    assert type(second) is Opaque
    assert second.payload == {"t": 1}


@pytest.mark.parametrize("payload", [None, "text", 5, [1]])
@pytest.mark.parametrize("tag", ["once1", "msgpack", "json", "once1.zstd"])
def test_what_are_no_bytes_is_an_error_of_ours(tag: str, payload: Any) -> None:
    with pytest.raises(PayloadError, match="where bytes belong"):
        SERDE.loads_typed((tag, payload))


def test_of_none_the_payload_does_not_matter() -> None:
    row: Any = ("null", None)
    assert SERDE.loads_typed(row) is None
