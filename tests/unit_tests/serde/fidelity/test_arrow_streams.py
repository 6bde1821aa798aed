"""Streams of Arrow that pyarrow or polars would trust too much are refused before they see them."""

from __future__ import annotations

import gc
import io
import struct
import time
import tracemalloc
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types
import pytest

from langgraph_once.errors import EncodeError, SerdeError
from langgraph_once.serde.codecs.once1.types import BUILTIN_FAMILIES
from langgraph_once.serde.codecs.once1.types.data.arrow import check_stream
from tests.unit_tests.serde.fidelity.table import once1

FAMILIES = {family.name: family for family in BUILTIN_FAMILIES}


def stream(table: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def one(array: Any) -> Any:
    return pa.table({"a": array})


def changes_to_a_dictionary() -> bytes:
    parts = [pa.array(words).dictionary_encode() for words in (["a"], ["a", "b"])]
    table = one(pa.chunked_array(parts))
    return stream(table, emit_dictionary_deltas=True)


def nested(levels: int) -> Any:
    kind = pa.int8()
    for _ in range(levels):
        kind = pa.list_(kind)
    return kind


def longer_than_its_bytes() -> bytes:
    content = stream(one(pa.nulls(12_345)))
    assert content.count(struct.pack("<q", 12_345)) == 3
    return content.replace(struct.pack("<q", 12_345), struct.pack("<q", 2**62))


ZEROS = pa.array([0] * 1000)
GOOD = stream(one(ZEROS))
HOSTILE = {
    "compressed with lz4": stream(one(ZEROS), compression="lz4"),
    "compressed with zstd": stream(one(ZEROS), compression="zstd"),
    "an extension type": stream(one(pa.array([b"0" * 16], pa.uuid()))),
    "an extension type inside": stream(
        one(pa.ListArray.from_arrays([0, 1], pa.array([b"0" * 16], pa.uuid())))
    ),
    "views": stream(one(pa.array(["a" * 20], pa.string_view()))),
    "changes to a dictionary": changes_to_a_dictionary(),
    "a deep schema": stream(one(pa.nulls(1, nested(60)))),
    "a column longer than its bytes": longer_than_its_bytes(),
    "no stream": b"",
    "the end alone": b"\xff\xff\xff\xff\0\0\0\0",
    "a batch without a schema": GOOD[GOOD.rindex(b"\xff\xff\xff\xff", 0, -8) :],
    "two schemas": GOOD[: GOOD.rindex(b"\xff\xff\xff\xff", 0, -8)] * 2,
    "something after the end": GOOD + b"\0" * 8,
    "a header of 2 GB": b"\xff\xff\xff\xff\xff\xff\xff\x7f" + b"\0" * 64,
    "a header of less than nothing": b"\xff\xff\xff\xff\xf0\xff\xff\xff" + b"\0" * 64,
    "a file, not a stream": b"ARROW1\0\0" + GOOD,
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    ("family", "cls"), [("arrow", pa.Table), ("polars", pl.DataFrame)], ids=["pyarrow", "polars"]
)
def test_a_forged_arrow_stream_is_refused_soon_and_cheaply(
    content: bytes, family: str, cls: type
) -> None:
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(ValueError):
            check_stream(content)
        with pytest.raises(ValueError):
            FAMILIES[family].decode(cls, content)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < 1


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


def test_what_is_cut_off_is_refused() -> None:
    for end in range(len(GOOD)):
        found = GOOD[:end]
        try:
            check_stream(found)
        except ValueError:
            continue
        # The mark at the end may be missing: the schema, or the schema and the batch.
        assert end in (len(GOOD) - 8, GOOD.rindex(b"\xff\xff\xff\xff", 0, -8))


def test_a_schema_of_fields_that_share_their_bytes_is_refused_soon() -> None:
    # Each field refers to the next one twice: 2**30 of them.
    table = one(pa.nulls(1, nested(30)))
    content = bytearray(stream(table))
    started = time.process_time()
    for at in range(0, len(content) - 8, 4):
        if content[at : at + 4] == struct.pack("<I", 1):  # a vector of one
            changed = content.copy()
            changed[at : at + 4] = struct.pack("<I", 2)
            try:
                check_stream(bytes(changed))
            except ValueError:
                continue
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (one(pa.array(["a"], pa.string_view())), "a column of views"),
        (one(pa.array([b"0" * 16], pa.uuid())), "a type that extends Arrow's"),
        (pa.nulls(1, nested(60)), "a schema that is too deep"),
        (pa.nulls(2_000_000), "a column that is longer than its bytes"),
        (pl.Series([{1}], dtype=pl.Object), "a column of Python objects"),
        (pl.DataFrame({"a": pl.Series([{1}], dtype=pl.Object)}), "a column of Python objects"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else type(value).__name__,
)
def test_an_arrow_value_that_no_reader_takes_is_not_written(value: Any, reason: str) -> None:
    with pytest.raises(EncodeError, match=reason):
        once1().dumps_typed([value])


def test_the_class_in_the_bytes_must_be_that_of_the_content() -> None:
    tag, data = once1().dumps_typed(pa.array([1, 2]))
    for name in (b"Int32Array", b"RecordBatc", b"NullScalar", b"StructType"):
        with pytest.raises(SerdeError):
            once1(on_unavailable="raise").loads_typed((tag, data.replace(b"Int64Array", name)))
    tag, data = once1().dumps_typed(pl.DataFrame({"a": [1], "b": [2]}))
    changed = data.replace(b"polars.dataframe.frame:DataFrame", b"polars.series.series:Series")
    with pytest.raises(SerdeError):
        once1(on_unavailable="raise").loads_typed((tag, changed))


def test_a_stream_may_stand_at_any_address() -> None:
    value = pl.DataFrame({"a": range(20_000)})
    for before in range(8):
        table = pa.table({"a": range(20_000)})
        row = once1().dumps_typed(["x" * before, table, value])
        _, back, frame = once1().loads_typed(row)
        assert back.equals(table)
        assert frame.equals(value)


DATE = pl.Series([-(2**31), None], dtype=pl.Int32).cast(pl.Date)
BEYOND_ALL_CALENDARS: dict[str, Any] = {
    "a date": DATE,
    "milliseconds": pl.Series([2**62]).cast(pl.Datetime("ms")),
    "microseconds": pl.Series([2**63 - 1]).cast(pl.Datetime("us")),
    "microseconds in a zone": pl.Series([2**63 - 1]).cast(pl.Datetime("us", "UTC")),
    "in a frame": pl.DataFrame({"a": [1, 2], "b": DATE}),
    "in a structure in a list": pl.DataFrame({"a": DATE}).select(pl.struct("a").implode())["a"],
}


@pytest.mark.parametrize("name", BEYOND_ALL_CALENDARS)
def test_times_that_make_polars_panic_are_neither_written_nor_read(name: str) -> None:
    value = BEYOND_ALL_CALENDARS[name]
    with pytest.raises(pl.exceptions.PanicException):  # which is no `Exception`
        repr(value)
    with pytest.raises(EncodeError, match="a time that polars cannot show"):
        once1().dumps_typed(value)
    frame = value if isinstance(value, pl.DataFrame) else value.to_frame()
    content = io.BytesIO()
    frame.write_ipc_stream(content, compat_level=pl.CompatLevel.oldest())
    with pytest.raises(ValueError, match="a time that polars cannot show"):
        FAMILIES["polars"].decode(type(value), content.getvalue())


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_that_polars_shows_come_back(sign: int, unit: Any) -> None:
    last = sign * {"ms": 95_000_000 * 86_400_000, "us": 95_000_000 * 86_400_000_000}.get(
        unit, 2**62
    )
    values = pl.Series([last, None]).cast(pl.Datetime(unit))
    assert once1().loads_typed(once1().dumps_typed(values)).equals(values)
    assert repr(values)
