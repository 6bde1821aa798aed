"""pyarrow: tables, batches, arrays, schemas and fields, as streams of Arrow's IPC.

pyarrow is asked only where it is imported. How the columns of a table are cut into chunks is not
kept. Types that extend Arrow's are refused, for their code would run, and so are views, of which a
few bytes make many.

`check_stream` looks at a stream before pyarrow or polars do. Both trust headers: a few bytes can
stand for a column of any length, for compressed buffers of any size, for types whose code is run,
for a schema so deep that the stack ends. A stream is

    message    ff ff ff ff, 4 bytes: how long the header is, header, body
    …          the first is the schema, the others are batches of columns
    the end    ff ff ff ff 00 00 00 00, which may be missing

A header is a flatbuffer: tables, whose fields are found through offsets.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from langgraph_once.serde.lookup import imported
from langgraph_once.serde.opaque import UnwritableError
from langgraph_once.serde.plans.base import Form, Maker, check

_CONTINUED: Final = b"\xff\xff\xff\xff"
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
# Lists in lists; arrow walks through them by recursion.
_MAX_SCHEMA_DEPTH: Final = 32
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
    longest = 8 * len(data) + _MAX_EMPTY
    try:
        end = _check_message(data, 0, longest, (_SCHEMA,))
        while end < len(data):
            end = _check_message(data, end, longest, (_DICTIONARY, _BATCH))
    except struct.error as error:
        raise ValueError("not a stream of Arrow") from error


def written_stream(stream: memoryview) -> memoryview:
    """Return a stream that was written just now.

    Raises:
        UnwritableError: It could not be read.
    """
    try:
        check_stream(stream)
    except ValueError as error:
        raise UnwritableError(f"it is, or holds, {error}") from error
    return stream


def _check_message(data: memoryview, at: int, longest: int, kinds: tuple[int, ...]) -> int:
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
    message = _Table(header, _number("<I", header, 0))
    kind, content = message.number(1, "<B"), message.table(2)
    body_bytes = message.number(3, "<q")
    if kind not in kinds or content is None or not 0 <= body_bytes <= len(data) - body:
        raise ValueError("not a stream of Arrow")
    if kind == _SCHEMA:
        _check_schema(content)
    else:
        _check_batch(content, kind, longest)
    return body + body_bytes


def _check_schema(schema: _Table) -> None:
    if b"ARROW:extension" in bytes(schema.data):
        raise ValueError("a type that extends Arrow's")
    left = len(schema.data) // _BYTES_OF_A_FIELD
    fields = [(field, 0) for field in schema.tables(1)]
    while fields:
        field, depth = fields.pop()
        inside = field.tables(5)
        left -= 1 + len(inside)
        if left < 0 or depth > _MAX_SCHEMA_DEPTH:
            raise ValueError("a schema that is too deep")
        fields += [(each, depth + 1) for each in inside]


def _check_batch(batch: _Table, kind: int, longest: int) -> None:
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
    if not all(0 <= length <= longest for length in (batch.number(0, "<q"), *nodes[::2])):
        raise ValueError("a column that is longer than its bytes")


class _Table:
    """A table of a flatbuffer; a field that is not there is 0, or empty."""

    __slots__ = ("at", "data")

    def __init__(self, data: memoryview, at: int) -> None:
        self.data = data
        self.at = at

    def _place(self, field: int) -> int:
        offsets = self.at - _number("<i", self.data, self.at)
        if 6 + 2 * field > _number("<H", self.data, offsets):
            return 0
        offset = _number("<H", self.data, offsets + 4 + 2 * field)
        return self.at + offset if offset else 0

    def _target(self, place: int) -> int:
        return place + _number("<I", self.data, place)

    def number(self, field: int, code: str) -> int:
        """Return a number of that code of `struct`."""
        place = self._place(field)
        return _number(code, self.data, place) if place else 0

    def table(self, field: int) -> _Table | None:
        """Return a table; None where there is none."""
        place = self._place(field)
        return _Table(self.data, self._target(place)) if place else None

    def vector(self, field: int) -> tuple[int, int]:
        """Return where the items are, and how many."""
        place = self._place(field)
        if not place:
            return 0, 0
        at = self._target(place)
        count = _number("<I", self.data, at)
        if count > len(self.data):
            raise ValueError("not a stream of Arrow")
        return at + 4, count

    def tables(self, field: int) -> list[_Table]:
        """Return the tables of a vector."""
        first, count = self.vector(field)
        return [_Table(self.data, self._target(at)) for at in range(first, first + 4 * count, 4)]


def _number(code: str, data: memoryview, at: int) -> int:
    # Where it is negative, it counts from the end of the header: never outside of it.
    return int(struct.unpack_from(code, data, at)[0])


class ArrowForm(Form):
    """Tables, batches, arrays in one or more pieces, schemas, fields. No scalars, no types."""

    name = "arrow"

    def matches(self, cls: type) -> bool:
        lib = imported("pyarrow.lib")
        if lib is None or cls.__module__ != "pyarrow.lib":
            return False
        whole = (lib.Table, lib.RecordBatch, lib.ChunkedArray, lib.Schema, lib.Field)
        return cls in whole or issubclass(cls, lib.Array)

    def take(self, obj: Any) -> memoryview:
        arrow = imported("pyarrow")
        table, schema = _table(obj, arrow)
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, schema) as writer:
            if table is not None:
                writer.write(table)
        return written_stream(memoryview(sink.getvalue()).cast("B"))

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        arrow = imported("pyarrow")

        def make(data: Any) -> Any:
            stream = check(data, bytes, memoryview)
            check_stream(stream)
            # A copy of a view: numbers must stand at even addresses.
            with arrow.ipc.open_stream(bytes(stream)) as reader:
                table = reader.read_all()
            table.validate(full=True)
            return check(_made(cls, table, arrow), cls)

        return make


def _table(obj: Any, arrow: Any) -> tuple[Any, Any]:
    """Return a table or batch, or None, and the schema, which stand for `obj`."""
    if isinstance(obj, (arrow.Table, arrow.RecordBatch)):
        return obj, obj.schema
    if isinstance(obj, arrow.Schema):
        return None, obj
    if isinstance(obj, arrow.Field):
        return None, arrow.schema([obj])
    schema = arrow.schema([arrow.field("", obj.type)])
    kind = arrow.Table if isinstance(obj, arrow.ChunkedArray) else arrow.RecordBatch
    return kind.from_arrays([obj], schema=schema), schema


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
    if cls is arrow.ChunkedArray:
        return table.column(0)
    (array,) = table.column(0).chunks
    return array


FORMS: Final[tuple[Form, ...]] = (ArrowForm(),)
