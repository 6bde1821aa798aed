"""What rows take, as databases know it without reading a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from langgraph_once.checkpoint import Tables

_NONE: Final = "''"


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


def tables_of(tables: Tables | type[Tables]) -> Iterator[Table]:
    """The tables that statements are for, checkpoints first."""

    def size(column: str) -> str:
        return f"COALESCE({tables.bytes_of}({column}), 0)"

    whole, metadata = f"{size('checkpoint')} + {size('metadata')}", size("metadata")
    cells = {each.holds: each for each in tables.cell_tables}
    yield Table("checkpoints", whole, metadata if cells.pop("checkpoint", None) else whole)
    for holds, each in cells.items():
        newest = "checkpoint_id" if "checkpoint_id" in each.key else _NONE
        fixed = size(each.data) if holds == "ledger" else "0"
        yield Table(each.name, size(each.data), fixed, newest=newest)
    if tables.own:
        yield Table("once_pieces", size("data"), namespace=_NONE, newest=_NONE)
