"""What rows take, as databases know it without reading a value."""

from __future__ import annotations

from collections.abc import Container
from typing import Final, NamedTuple

from langgraph_once.checkpoint.sqlite.tables import SqliteTables
from langgraph_once.checkpoint.tables import Tables

__all__ = ["Table", "tables_named", "tables_of"]


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
_SQLITE: Final = (
    Table(
        "checkpoints",
        "COALESCE(length(checkpoint), 0) + COALESCE(length(metadata), 0)",
        "COALESCE(length(metadata), 0)",
    ),
    Table("writes", "COALESCE(length(value), 0)"),
    Table("once_pieces", "length(data)", namespace=_NONE, newest=_NONE),
    Table("once_stream_states", "length(data)", "length(data)"),
)
"""The tables of a SQLite database; the first two are upstream's."""
# Not `length`, which would decompress.
_JSON: Final = "pg_column_size(checkpoint) + pg_column_size(metadata)"
_BLOB: Final = "COALESCE(pg_column_size(blob), 0)"
_POSTGRES: Final = (
    Table("checkpoints", _JSON, _JSON),
    Table("checkpoint_writes", _BLOB),
    Table("checkpoint_blobs", _BLOB, newest=_NONE),
    Table("once_pieces", "pg_column_size(data)", namespace=_NONE, newest=_NONE),
    Table("once_stream_states", "pg_column_size(data)", "pg_column_size(data)"),
)
"""The tables of a PostgreSQL database; the first three are upstream's."""


def tables_named(names: Container[str], *, is_postgres: bool) -> list[Table]:
    """The tables of threads that have one of these names."""
    return [each for each in (_POSTGRES if is_postgres else _SQLITE) if each.name in names]


def tables_of(tables: Tables) -> list[Table]:
    """The tables that statements are for; ours only where they are there."""
    names = dict((*tables.columns, *tables.own))
    return tables_named(names, is_postgres=not isinstance(tables, SqliteTables))
