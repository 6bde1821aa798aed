"""Streams of Arrow that pyarrow or polars would trust too much are refused before they see them."""

from __future__ import annotations

import gc
import struct
import time
import tracemalloc
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types
import pytest

from langgraph_once.serde.opaque import UnwritableError
from langgraph_once.serde.plans.arrow import _check_schema, _Table, check_stream
from tests.unit_tests.serde.plans.forms import back, make, take


def stream(table: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def one(array: Any) -> Any:
    return pa.table({"a": array})


def nested(levels: int) -> Any:
    kind = pa.int8()
    for _ in range(levels):
        kind = pa.list_(kind)
    return kind


def changes_to_a_dictionary() -> bytes:
    words = [pa.array(words).dictionary_encode() for words in (["a"], ["a", "b"])]
    return stream(one(pa.chunked_array(words)), emit_dictionary_deltas=True)


def longer_than_its_bytes() -> bytes:
    content = stream(one(pa.nulls(12_345)))
    assert content.count(struct.pack("<q", 12_345)) == 3
    return content.replace(struct.pack("<q", 12_345), struct.pack("<q", 2**62))


ZEROS = pa.array([0] * 1000)
UUIDS = pa.array([b"0" * 16], pa.uuid())
GOOD = stream(one(ZEROS))
LAST = GOOD.rindex(b"\xff\xff\xff\xff", 0, -8)
"""Where the batch begins."""
HOSTILE = {
    "compressed with lz4": stream(one(ZEROS), compression="lz4"),
    "compressed with zstd": stream(one(ZEROS), compression="zstd"),
    "an extension type": stream(one(UUIDS)),
    "an extension type inside": stream(one(pa.ListArray.from_arrays([0, 1], UUIDS))),
    "views": stream(one(pa.array(["a" * 20], pa.string_view()))),
    "changes to a dictionary": changes_to_a_dictionary(),
    "a deep schema": stream(one(pa.nulls(1, nested(60)))),
    "a column longer than its bytes": longer_than_its_bytes(),
    "no stream": b"",
    "the end alone": b"\xff\xff\xff\xff\0\0\0\0",
    "a batch without a schema": GOOD[LAST:],
    "two schemas": GOOD[:LAST] * 2,
    "something after the end": GOOD + b"\0" * 8,
    "a header of 2 GB": b"\xff\xff\xff\xff\xff\xff\xff\x7f" + b"\0" * 64,
    "a header of less than nothing": b"\xff\xff\xff\xff\xf0\xff\xff\xff" + b"\0" * 64,
    "a file, not a stream": b"ARROW1\0\0" + GOOD,
    "text": "a",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("cls", [pa.Table, pl.DataFrame], ids=["pyarrow", "polars"])
def test_a_forged_stream_is_refused_soon_and_cheaply(name: str, cls: type) -> None:
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(ValueError):
            make(cls, HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < 1


def test_what_is_cut_off_is_refused() -> None:
    for end in range(len(GOOD)):
        try:
            check_stream(GOOD[:end])
        except ValueError:
            continue
        # The mark at the end may be missing: the schema, or the schema and the batch.
        assert end in (len(GOOD) - 8, LAST)


def test_a_damaged_stream_is_read_or_refused() -> None:
    for cls in (pa.Table, pl.DataFrame):
        for at in range(len(GOOD) - 8 * len(ZEROS)):
            for changed in (0, 0xFF, GOOD[at] ^ 1):
                try:
                    make(cls, GOOD[:at] + bytes((changed,)) + GOOD[at + 1 :])
                except Exception:
                    continue


def test_a_refusal_leaves_nothing_that_garbage_collection_trips_over() -> None:
    # Python crashes where it clears a view whose memory somebody still holds.
    for at in range(len(GOOD) - 8 * len(ZEROS)):
        content = bytearray(GOOD)
        content[at : at + 2] = b"\xff\xff"
        try:
            check_stream(memoryview(content))
        except ValueError as error:
            error.add_note("in a cycle")
            vars(error)["itself"] = error
    gc.collect()


def test_a_schema_of_fields_that_share_their_bytes_is_refused_soon() -> None:
    """Each field holds the next one twice: 2**30 of them."""
    shape = struct.pack("<8H", 16, 8, 0, 4, 0, 0, 0, 4)  # of schema and fields: only what they hold
    content = bytearray(shape)
    for _ in range(31):
        at = len(content)
        content += struct.pack("<iIIII", at, 4, 2, 8, 4)  # both lead to what comes next
    content += struct.pack("<iII", len(content), 4, 0)
    with pytest.raises(ValueError, match="too deep"):
        _check_schema(_Table(memoryview(content), len(shape)))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (one(pa.array(["a"], pa.string_view())), "a column of views"),
        (one(UUIDS), "a type that extends Arrow's"),
        (pa.nulls(1, nested(60)), "a schema that is too deep"),
        (pa.nulls(2_000_000), "a column that is longer than its bytes"),
        (pl.Series([{1}], dtype=pl.Object), "a column of Python objects"),
        (pl.DataFrame({"a": pl.Series([{1}], dtype=pl.Object)}), "a column of Python objects"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else type(value).__name__,
)
def test_what_no_reader_takes_is_not_written(value: Any, reason: str) -> None:
    with pytest.raises(UnwritableError, match=reason):
        take(value)


@pytest.mark.parametrize(
    ("value", "others"),
    [
        (pa.array([1, 2]), [pa.Int32Array, pa.NullArray]),
        (pa.table({"a": [1], "b": [2]}), [pa.ChunkedArray, pa.Int64Array, pa.Field]),
        (pa.table({"a": []}), [pa.RecordBatch, pa.NullArray]),
        (pl.DataFrame({"a": [1], "b": [2]}), [pl.Series]),
    ],
    ids=["array", "table", "empty table", "polars"],
)
def test_the_content_must_be_of_the_class(value: Any, others: list[type]) -> None:
    for cls in others:
        with pytest.raises(ValueError):
            make(cls, bytes(take(value)))


def test_a_stream_may_stand_at_any_address() -> None:
    table, frame = pa.table({"a": range(20_000)}), pl.DataFrame({"a": range(20_000)})
    for before in range(8):
        _, again, other = back(["x" * before, table, frame])
        assert again.equals(table)
        assert other.equals(frame)
        assert make(pa.Table, memoryview(b"x" * before + take(table))[before:]).equals(table)
