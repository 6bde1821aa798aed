"""pyarrow: tables, batches, arrays, scalars and what describes them, as streams of Arrow's IPC.

pyarrow is imported where the bytes name one of its classes, and never to write. How the columns
of a table are cut into chunks is not kept. Types that extend Arrow's are refused, for their code
would run, and so are views, of which a few bytes make many.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.checks import plain
from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError
from langgraph_once.serde.codecs.once1.types.data.arrow_streams import check_stream
from langgraph_once.serde.trust.lookup import imported

__all__ = ["CLASSES", "ArrowFamily"]

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
