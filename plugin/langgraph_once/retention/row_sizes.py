"""What rows take, as databases know it without reading a value."""

from __future__ import annotations

from typing import Final, NamedTuple

from langgraph_once.checkpoint.sqlite.tables import SqliteTables
from langgraph_once.checkpoint.tables import Tables

__all__ = ["POSTGRES", "SQLITE", "Table", "tables_of"]


class Table(NamedTuple):
    """A table, and what its rows tell."""

    name: str
    size: str
    """An expression: bytes of the values of a row, as they are stored."""
    fixed: str = "0"
    """An expression: how many of these no other form of rows would change."""
    namespace: str = "checkpoint_ns"
    newest: str = "checkpoint_id"
    """An expression: the checkpoint of a row; empty if it is of several."""


_NONE: Final = "''"
SQLITE: Final = (
    Table(
        "checkpoints",
        "COALESCE(length(checkpoint), 0) + COALESCE(length(metadata), 0)",
        "COALESCE(length(metadata), 0)",
    ),
    Table("writes", "COALESCE(length(value), 0)"),
    Table("once_pieces", "length(data)", namespace=_NONE, newest=_NONE),
    Table("once_stream_states", "length(data)", "length(data)"),
)
"""Those of a database of SQLite, the first two of them upstream's."""
# Not `length`, which would decompress.
_JSON: Final = "pg_column_size(checkpoint) + pg_column_size(metadata)"
_BLOB: Final = "COALESCE(pg_column_size(blob), 0)"
POSTGRES: Final = (
    Table("checkpoints", _JSON, _JSON),
    Table("checkpoint_writes", _BLOB),
    Table("checkpoint_blobs", _BLOB, newest=_NONE),
    Table("once_pieces", "pg_column_size(data)", namespace=_NONE, newest=_NONE),
    Table("once_stream_states", "pg_column_size(data)", "pg_column_size(data)"),
)
"""Those of a PostgreSQL, the first three of them upstream's."""


def tables_of(tables: Tables) -> list[Table]:
    """Those that statements are for; ours only where they are there."""
    known = SQLITE if isinstance(tables, SqliteTables) else POSTGRES
    names = dict((*tables.columns, *tables.own))
    return [table for table in known if table.name in names]
