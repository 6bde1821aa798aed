"""pyarrow: tables, batches, arrays, scalars and what describes them, as streams of Arrow's IPC.

pyarrow is imported where the bytes name one of its classes, and never to write. How the columns
of a table are cut into chunks is not kept. Types that extend Arrow's are refused, for their code
would run, and so are views, of which a few bytes make many.

Arrow's IPC streams: what is checked of one before pyarrow or polars see it.

A stream is a schema and batches of columns, each with a header that says how long all in it is.
Both libraries trust headers that they need not trust here: a few bytes can stand for a column of
any length, for compressed buffers of any size, for types whose code is run, for a schema so deep
that the stack ends.

    message     ff ff ff ff, 4 bytes: how long the header is, header, body
    the end     ff ff ff ff 00 00 00 00

A header is a flatbuffer: tables, whose fields are found through offsets.
"""

from __future__ import annotations

import importlib
import struct
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError, plain
from langgraph_once.serde.trust.lookup import imported

__all__ = ["CLASSES", "ArrowFamily", "check_stream"]

_CONTINUED: Final = b"\xff\xff\xff\xff"
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
_MAX_DEPTH: Final = 32
_MAX_EMPTY: Final = 1_000_000
"""Columns of nulls and the like take no bytes."""
_BYTES_OF_A_FIELD: Final = 8
"""More than that; so there are no more fields than that allows, unless they share their bytes."""


def check_stream(stream: bytes | memoryview) -> None:
    """Check that reading `stream` takes no more memory than it has bytes, and runs nothing.

    Raises:
        ValueError: It is no such stream, or holds what is not written here: compressed buffers,
            types that extend Arrow's, views, changes to dictionaries.
    """
    data = memoryview(stream)
    most = 8 * len(data) + _MAX_EMPTY
    try:
        end = _check_message(data, 0, most, (_SCHEMA,))
        while end < len(data):
            end = _check_message(data, end, most, (_DICTIONARY, _BATCH))
    except struct.error as error:
        raise ValueError("not a stream of Arrow") from error


def _check_message(data: memoryview, at: int, most: int, kinds: tuple[int, ...]) -> int:
    """Return where the message that begins at `at` ends."""
    size = _number("<i", data, at + 4)
    if bytes(data[at : at + 4]) != _CONTINUED or not 0 <= size <= len(data) - at - 8:
        raise ValueError("not a stream of Arrow")
    body = at + 8 + size
    if not size:
        if body != len(data) or _SCHEMA in kinds:
            raise ValueError("a stream of Arrow that ends too early")
        return body
    header = data[at + 8 : body]
    message = _Table(header, _u32(header, 0))
    kind, content = message.number(1, "<B"), message.table(2)
    body_bytes = message.number(3, "<q")
    if kind not in kinds or content is None or not 0 <= body_bytes <= len(data) - body:
        raise ValueError("not a stream of Arrow")
    if kind == _SCHEMA:
        _check_schema(content, header)
    else:
        _check_batch(content, kind, most)
    return body + body_bytes


def _check_schema(schema: _Table, header: memoryview) -> None:
    if b"ARROW:extension" in bytes(header):
        raise ValueError("a type that extends Arrow's")
    left = len(header) // _BYTES_OF_A_FIELD
    fields = [(field, 0) for field in schema.tables(1)]
    while fields:
        field, depth = fields.pop()
        inside = field.tables(5)
        left -= 1 + len(inside)
        if left < 0 or depth > _MAX_DEPTH:
            raise ValueError("a schema that is too deep")
        fields += [(part, depth + 1) for part in inside]


def _check_batch(batch: _Table, kind: int, most: int) -> None:
    if kind == _DICTIONARY:
        data = batch.table(1)
        if data is None or batch.number(2, "<B"):
            raise ValueError("a change to a dictionary")
        batch = data
    if batch.table(3) is not None:
        raise ValueError("a stream that is compressed")
    if batch.vector(4)[1]:
        raise ValueError("a column of views")
    at, count = batch.vector(1)
    # Not with `iter_unpack`: it keeps the memory of a view that garbage collection may clear
    # first, and then Python crashes.
    nodes = struct.unpack_from(f"<{2 * count}q", batch.data, at)
    if not all(0 <= length <= most for length in (batch.number(0, "<q"), *nodes[::2])):
        raise ValueError("a column that is longer than its bytes")


class _Table:
    """A table of a flatbuffer; a field that is not there is 0, or empty."""

    __slots__ = ("at", "data")

    def __init__(self, data: memoryview, at: int) -> None:
        self.data = data
        self.at = at

    def _place(self, field: int) -> int:
        back = _number("<i", self.data, _inside(self.data, self.at))
        offsets = _inside(self.data, self.at - back)
        size = _number("<H", self.data, offsets)
        if 6 + 2 * field > size:
            return 0
        offset = _number("<H", self.data, offsets + 4 + 2 * field)
        return self.at + offset if offset else 0

    def number(self, field: int, code: str) -> int:
        place = self._place(field)
        return _number(code, self.data, place) if place else 0

    def table(self, field: int) -> _Table | None:
        place = self._place(field)
        return _Table(self.data, place + _u32(self.data, place)) if place else None

    def vector(self, field: int) -> tuple[int, int]:
        """Return where the items are, and how many."""
        place = self._place(field)
        if not place:
            return 0, 0
        at = place + _u32(self.data, place)
        count = _u32(self.data, at)
        if count > len(self.data):
            raise ValueError("not a stream of Arrow")
        return at + 4, count

    def tables(self, field: int) -> list[_Table]:
        first, count = self.vector(field)
        places = range(first, first + 4 * count, 4)
        return [_Table(self.data, at + _u32(self.data, at)) for at in places]


def _u32(data: memoryview, at: int) -> int:
    return _number("<I", data, at)


def _number(code: str, data: memoryview, at: int) -> int:
    return int(struct.unpack_from(code, data, at)[0])


def _inside(data: memoryview, at: int) -> int:
    # Where it is negative, `unpack_from` counts from the end.
    if not 0 <= at < len(data):
        raise ValueError("not a stream of Arrow")
    return at


_KINDS: Final = (
    *("Null", "Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
    *("HalfFloat", "Float", "Double", "Decimal32", "Decimal64", "Decimal128", "Decimal256"),
    *("Date32", "Date64", "Time32", "Time64", "Timestamp", "Duration", "MonthDayNanoInterval"),
    *("Binary", "LargeBinary", "FixedSizeBinary", "String", "LargeString"),
    *("List", "LargeList", "FixedSizeList", "Struct", "Map", "Union", "Dictionary"),
    *("ListView", "LargeListView", "RunEndEncoded"),
)
_TYPES: Final = (
    *("Decimal32", "Decimal64", "Decimal128", "Decimal256", "Time32", "Time64", "Timestamp"),
    *("Duration", "FixedSizeBinary", "List", "LargeList", "FixedSizeList", "Struct", "Map"),
    *("Dictionary", "ListView", "LargeListView", "RunEndEncoded", "DenseUnion", "SparseUnion"),
)
CLASSES: Final = (
    *("Table", "RecordBatch", "ChunkedArray", "Schema", "Field", "DataType", "Decima32Array"),
    *(f"{kind}{what}" for kind in _KINDS for what in ("Array", "Scalar")),
    *(f"{kind}Type" for kind in _TYPES),
)
"""Of the module `pyarrow.lib`; its own misprint is one of them."""


class ArrowFamily:
    """The classes of `pyarrow.lib` that are listed in `CLASSES`."""

    name = "arrow"

    def matches(self, cls: type) -> bool:
        lib = imported("pyarrow.lib")
        return (
            lib is not None
            and cls.__module__ == "pyarrow.lib"
            and cls.__name__ in CLASSES
            and getattr(lib, cls.__name__, None) is cls
        )

    def encode(self, obj: Any) -> Any:
        arrow = _arrow()
        table, schema = _table(obj, arrow)
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, schema) as writer:
            if table is not None:
                writer.write(table)
        stream = memoryview(sink.getvalue()).cast("B")
        try:
            check_stream(stream)
        except ValueError as error:
            raise UnwritableError(f"it is, or holds, {error}") from error
        return stream

    def decode(self, cls: Any, data: Any) -> Any:
        # A copy, where it is part of a blob: numbers must stand at even addresses.
        stream = bytes(plain(data, bytes, memoryview))
        check_stream(stream)
        arrow = _arrow()
        try:
            with arrow.ipc.open_stream(stream) as reader:
                table = reader.read_all()
            table.validate(full=True)
            made = _made(cls, table, arrow)
        except Exception as error:
            raise ValueError(f"not a {cls.__name__}") from error
        if type(made) is not cls:
            raise ValueError(f"not a {cls.__name__}")
        return made


def _table(obj: Any, arrow: Any) -> tuple[Any, Any]:
    """Return a table or batch, or None, and the schema, which stand for `obj`."""
    if isinstance(obj, (arrow.Table, arrow.RecordBatch)):
        return obj, obj.schema
    if isinstance(obj, arrow.Schema):
        return None, obj
    if isinstance(obj, arrow.Field):
        return None, arrow.schema([obj])
    if isinstance(obj, arrow.DataType):
        return None, arrow.schema([arrow.field("", obj)])
    schema = arrow.schema([arrow.field("", obj.type)])
    if isinstance(obj, arrow.ChunkedArray):
        return arrow.Table.from_arrays([obj], schema=schema), schema
    array = obj if isinstance(obj, arrow.Array) else arrow.repeat(obj, 1)
    return arrow.RecordBatch.from_arrays([array], schema=schema), schema


def _made(cls: Any, table: Any, arrow: Any) -> Any:
    if cls is arrow.Table:
        return table
    if cls is arrow.Schema:
        return table.schema
    if cls is arrow.RecordBatch:
        (batch,) = table.to_batches()
        return batch
    (field,) = table.schema
    if cls is arrow.Field:
        return field
    if issubclass(cls, arrow.DataType):
        return field.type
    if cls is arrow.ChunkedArray:
        return table.column(0)
    (array,) = table.column(0).chunks
    if issubclass(cls, arrow.Array):
        return array
    (scalar,) = array
    return scalar


def _arrow() -> Any:
    return importlib.import_module("pyarrow")
