"""What would go with some checkpoints of a thread: the rows of all tables, and their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from langgraph_once.checkpoint import Program, Statement, Tables, settled_before
from langgraph_once.errors import SerdeError

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


Place: TypeAlias = tuple[str, str]
"""A namespace, and a checkpoint in it."""
ValueKey: TypeAlias = tuple[str, str, str]
"""A namespace, a version, and a channel."""


class Weight(NamedTuple):
    """How much some rows are. Bytes are those of values as they are stored, without keys."""

    rows: int = 0
    bytes: int = 0

    def plus(self, rows: int, size: int) -> Weight:
        """With more rows."""
        return Weight(self.rows + rows, self.bytes + size)

    def less(self, other: Weight) -> Weight:
        """Without others."""
        return Weight(self.rows - other.rows, self.bytes - other.bytes)


NO_WEIGHT: Final = Weight()


@dataclass(slots=True)
class ThreadRows:
    """What each row of a thread takes.

    Attributes:
        checkpoints: Those that are stored.
        places: What stands under the id of a checkpoint, stored or not.
        values: Those in rows of their own, in PostgreSQL.
        read_by: The checkpoints that have a value.
        pieces: By name, their bytes.
        fixed: Bytes that no other form of rows would change.
    """

    checkpoints: set[Place] = field(default_factory=set)
    places: dict[Place, Weight] = field(default_factory=dict)
    values: dict[ValueKey, int] = field(default_factory=dict)
    read_by: dict[ValueKey, set[str]] = field(default_factory=dict)
    pieces: dict[bytes, int] = field(default_factory=dict)
    fixed: int = 0

    @property
    def unread(self) -> list[ValueKey]:
        """Values that no checkpoint has."""
        return [key for key in self.values if key not in self.read_by]


def read_rows(tables: Tables, thread_id: str) -> Program[ThreadRows]:
    """Look at all rows of a thread, but at no value."""
    found = ThreadRows()
    for table in tables_of(tables):
        if table.name == "once_pieces":
            sql = f"SELECT digest, {table.size} FROM once_pieces WHERE thread_id = ?"
            rows = yield Statement(sql, [thread_id])
            found.pieces = {bytes(digest): size for digest, size in rows}
        elif table.newest == "checkpoint_id":
            sql = f"SELECT checkpoint_ns, checkpoint_id, {table.size}, {table.fixed} "
            rows = yield Statement(f"{sql} FROM {table.name} WHERE thread_id = ?", [thread_id])
            for *at, size, fixed in rows:
                place: Place = tuple(at)
                found.places[place] = found.places.get(place, NO_WEIGHT).plus(1, size)
                found.fixed += fixed
            if table.name == "checkpoints":
                found.checkpoints = {*found.places}
    sizes = yield from tables.value_sizes(thread_id)
    found.values = {tuple(key): size for *key, size in sizes}
    for *key, id_ in (yield from tables.value_readers(thread_id)):
        found.read_by.setdefault(tuple(key), set()).add(id_)
    return found


def weigh(
    tables: Tables, thread_id: str, rows: ThreadRows, dropped: Mapping[str, Iterable[str]]
) -> Program[Weight]:
    """What goes if some checkpoints are deleted, and what belongs to nothing then.

    Args:
        tables: The database.
        thread_id: The thread.
        rows: Those of the thread.
        dropped: The checkpoints, by namespace.
    """
    settled = settled_before()
    places = {(ns, id_) for ns, ids in dropped.items() for id_ in ids}
    graphs = {namespace for namespace, _ in rows.checkpoints - places}
    places |= {
        (namespace, id_)
        for namespace, id_ in rows.places.keys() - rows.checkpoints
        if id_ < settled and (id_ or namespace not in graphs)  # a ledger has none
    }
    values = {
        key
        for key in rows.values
        if all((key[0], id_) in places for id_ in rows.read_by.get(key, ()))
    }
    gone = NO_WEIGHT
    for at in places:
        gone = gone.plus(*rows.places.get(at, NO_WEIGHT))
    gone = gone.plus(len(values), sum(rows.values[key] for key in values))
    if rows.pieces:
        kept = yield from _kept_pieces(tables, thread_id, places | values)
        spare = rows.pieces.keys() - (rows.pieces.keys() if kept is None else kept)
        gone = gone.plus(len(spare), sum(rows.pieces[name] for name in spare))
    return gone


def _kept_pieces(
    tables: Tables, thread_id: str, gone: set[Place | ValueKey]
) -> Program[set[bytes] | None]:
    """The pieces that a thread has without some of its rows; None if one does not tell."""
    cells = yield from tables.manifest_cells(thread_id)
    assembly = tables.values.assembly(groups_only=True)
    try:
        manifests = [
            manifest
            for cell, bound_to in cells
            # A value is of several checkpoints: its row is named by all of its key.
            if tuple(bound_to[2:5] if bound_to[0] == "value" else bound_to[2:4]) not in gone
            for manifest in tables.values.manifests(cell, bound_to)
        ]
        yield from tables.collect(thread_id, manifests, assembly)
        return assembly.all_of(manifests)
    except SerdeError:
        return None


def weight_of(tables: Tables, thread_id: str) -> Program[Weight]:
    """What a thread is, all of it."""
    whole = NO_WEIGHT
    for table in tables_of(tables):
        sql = f"SELECT count(*), CAST(COALESCE(sum({table.size}), 0) AS bigint) FROM {table.name}"
        ((rows, size),) = yield Statement(f"{sql} WHERE thread_id = ?", [thread_id])
        whole = whole.plus(rows, size)
    return whole
