"""A compressed row of a few bytes holds no more than two seconds take; what is written is read."""

from __future__ import annotations

import struct
import sys
import time
from typing import Any

import ormsgpack
import pytest

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import PayloadError, SizeLimitError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1 import Opaque
from tests.unit_tests.serde.cpu import within

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SERDE = OnceSerializer()


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
@pytest.mark.parametrize(("count", "is_compressed"), [(50_000, True), (200_000, False)])
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


@pytest.mark.parametrize("module", ["a" * 300, "x." + "a" * 300, "x." * 300 + "a"])
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
