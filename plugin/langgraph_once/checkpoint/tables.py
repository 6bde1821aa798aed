"""The statements that are the same in both databases; each has the others in a file of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint

from langgraph_once.checkpoint.database import Ask, Program, Row, batches
from langgraph_once.checkpoint.pieces.manifest import CutValue
from langgraph_once.checkpoint.pieces.values import Cell, Values
from langgraph_once.checkpoint.stored import CellAt, CellTable, Place, StoredCheckpoint, StoredWrite

__all__ = ["STOCK_TAGS", "Inline", "NewCheckpoint", "Query", "Tables"]

STOCK_TAGS = frozenset({"null", "bytes", "bytearray", "msgpack", "json", "pickle", "empty"})
"""Of rows that upstream's serializer reads; "empty" is no value at all."""

_HERE = "thread_id = ? AND checkpoint_ns = ?"


class Query(NamedTuple):
    """Which checkpoints `list` lists."""

    config: RunnableConfig | None
    filter: dict[str, Any] | None = None
    before: RunnableConfig | None = None


class Inline(NamedTuple):
    """A checkpoint with values beside the cells."""

    place: Place
    values: dict[str, Any]
    """All of them."""
    to_cells: dict[str, str]
    """Versions of those that have no cell, by channel."""
    marks: set[str]
    """Those that are no values: they say that there is a snapshot."""


class NewCheckpoint(NamedTuple):
    """A checkpoint to be stored."""

    place: Place
    parent_id: str | None
    checkpoint: Checkpoint
    metadata: Mapping[str, Any]
    versions: Mapping[str, Any]
    """Of the channels that changed."""
    run_id: str | None


class Tables(ABC):
    """Statements on upstream's tables and on ours.

    Args:
        values: Reads and writes cells.
    """

    writes_table: ClassVar[str]
    """Of upstream's; its rows have a `value_column`."""
    value_column: ClassVar[str]
    run_id: ClassVar[str]
    """An expression: the run that made a checkpoint. There is an index of it."""
    columns: ClassVar[tuple[tuple[str, str], ...]]
    """Upstream's tables, and those of their columns that a copy takes over as they are."""

    cell_tables: ClassVar[tuple[CellTable, ...]]
    """Where cells are, but for those of pieces. The last is ours."""
    row_lock: ClassVar[str] = ""
    """What keeps others from changing rows that were read, until the end."""

    def __init__(self, values: Values) -> None:
        self.values = values

    @abstractmethod
    def among(self, values: Sequence[Any]) -> tuple[str, list[Any]]:
        """A condition that a column has one of these values, and what it takes."""

    @abstractmethod
    def lock(self, thread_id: str, *, alone: bool) -> Iterable[Ask]:
        """Keep those who delete of a thread, and those who write to it, apart until the end."""

    def at_once(self, thread_id: str, asks: Sequence[Ask], stored: Sequence[bytes]) -> Ask | None:
        """Inserts, and the lock, as one to be tried: not if a piece of `stored` is not there."""
        return None

    @abstractmethod
    def find(self, place: Place) -> Program[StoredCheckpoint | None]:
        """The checkpoint at a place, with its writes."""

    @abstractmethod
    def page(
        self, query: Query, after: Place | None, limit: int
    ) -> Program[list[StoredCheckpoint]]:
        """At most `limit` checkpoints that match, newest first, that come after one."""

    @abstractmethod
    def ancestors(
        self, place: Place, limit: int, channels: Sequence[str]
    ) -> Program[list[StoredCheckpoint]]:
        """A checkpoint and those before it on its path, nearest first, without their writes.

        All of its channels are named, but only those asked for need to have their values.
        """

    @abstractmethod
    def put(self, new: NewCheckpoint, cuts: list[CutValue]) -> list[Ask]:
        """Store a checkpoint; `cuts` takes what was cut of it."""

    @abstractmethod
    def has_deltas(self, thread_id: str, checkpoint_ns: str) -> Program[bool]:
        """Whether a checkpoint counts what its delta channels have had since their snapshots."""

    @abstractmethod
    def manifest_cells(self, thread_id: str) -> Program[list[Cell]]:
        """What of a thread may refer to pieces."""

    @abstractmethod
    def copy(self, source: str, target: str) -> list[Ask]:
        """Copy the rows of a thread in upstream's tables."""

    @abstractmethod
    def drop_unread(self, thread_id: str) -> Program[None]:
        """Delete values of a thread that no checkpoint has any more."""

    @abstractmethod
    def has_own(self) -> Program[bool]:
        """Whether our tables are there."""

    @abstractmethod
    def drop_own(self) -> Program[bool]:
        """Drop our tables, indexes and columns. Returns whether; not if a row of ours is left."""

    def restore_metadata(self, thread_id: str) -> Program[int]:
        """Put metadata where upstream has them. Returns of how many checkpoints."""
        yield from ()
        return 0

    def inline(self, thread_id: str) -> Program[list[Inline]]:
        """Checkpoints with values beside the cells, which nothing encrypts."""
        yield from ()
        return []

    def take_out(self, found: Inline, cells: Mapping[str, Cell]) -> Iterable[Ask]:
        """Make values beside the cells cells."""
        raise NotImplementedError

    def thread_ids(self) -> Program[list[str]]:
        """All threads that have something."""
        names = [*dict(self.columns)]
        if (yield from self.has_own()):
            names += ["once_pieces", "once_stream_states"]
        rows = yield Ask(" UNION ".join(f"SELECT thread_id FROM {name}" for name in names))
        return sorted(row[0] for row in rows)

    def cells_at(self, table: CellTable, thread_id: str) -> Program[list[CellAt]]:
        """Where a thread has cells."""
        key = ", ".join(table.key)
        rows = yield Ask(
            f"SELECT type, {table.channel}, {key} FROM {table.name} WHERE thread_id = ? "
            f"ORDER BY {key}",
            [thread_id],
        )
        return [CellAt(tag, channel, tuple(key)) for tag, channel, *key in rows]

    def cells(
        self, table: CellTable, thread_id: str, at: Sequence[CellAt], *, locks: bool = False
    ) -> Program[dict[tuple[Any, ...], Cell]]:
        """Some cells by their keys; if it `locks`, nobody may change them until the end."""
        here = " AND ".join(f"{name} = ?" for name in ("thread_id", *table.key))
        rows = yield Ask(
            f"SELECT type, {table.data}, {', '.join(table.key)} FROM {table.name} "
            f"WHERE {' OR '.join([f'({here})'] * len(at))}{self.row_lock if locks else ''}",
            [part for each in at for part in (thread_id, *each.key)],
        )
        return {tuple(key): Cell(tag, data) for tag, data, *key in rows}

    def replace(
        self, table: CellTable, thread_id: str, news: Mapping[tuple[Any, ...], Cell]
    ) -> Ask:
        """Put cells in the place of others."""
        here = " AND ".join(f"{name} = ?" for name in ("thread_id", *table.key))
        sql = f"UPDATE {table.name} SET type = ?, {table.data} = ? WHERE {here}"
        return Ask(sql, [(*cell, thread_id, *key) for key, cell in news.items()], True, False)

    def checkpoint_of(
        self,
        table: CellTable,
        thread_id: str,
        at: CellAt,
    ) -> Program[str | None]:
        """The first checkpoint that has a cell."""
        yield from ()
        return str(at.key[1])

    def runs(self, thread_id: str) -> Program[dict[tuple[Any, ...], str]]:
        """What made checkpoints and writes, by their keys, where no metadata say it."""
        found: dict[tuple[Any, ...], str] = {}
        for table, key in (
            ("checkpoints", "checkpoint_ns, checkpoint_id"),
            (self.writes_table, "checkpoint_ns, checkpoint_id, task_id, idx"),
        ):
            rows = yield Ask(
                f"SELECT once_run_id, {key} FROM {table} "
                "WHERE thread_id = ? AND once_run_id IS NOT NULL",
                [thread_id],
            )
            found.update({tuple(at): run_id for run_id, *at in rows})
        return found

    def is_any_ours(self) -> Program[bool]:
        """Whether a row of upstream's tables is one that only we read."""
        tags = ", ".join(f"'{tag}'" for tag in sorted(STOCK_TAGS))
        for table in self.cell_tables[:-1]:
            sql = f"SELECT 1 FROM {table.name} WHERE type NOT IN ({tags}) LIMIT 1"
            if (yield Ask(sql)):
                return True
        return False

    def piece_bytes(self, thread_id: str) -> Program[int]:
        """How much room the pieces of a thread take."""
        sql = "SELECT COALESCE(SUM(LENGTH(data)), 0) FROM once_pieces WHERE thread_id = ?"
        rows = yield Ask(sql, [thread_id])
        return int(rows[0][0])

    def piece_names(self, thread_id: str) -> Program[list[bytes]]:
        """The digests of all pieces of a thread."""
        rows = yield Ask("SELECT digest FROM once_pieces WHERE thread_id = ?", [thread_id])
        return [bytes(row[0]) for row in rows]

    def put_writes(
        self, place: Place, writes: Sequence[Row], run_id: str | None, *, replaces: bool
    ) -> Ask:
        """Store writes: task, index, path, channel, tag, bytes. One that is there stays, or not."""
        key = "thread_id, checkpoint_ns, checkpoint_id, task_id, idx"
        rest = ("task_path", "channel", "type", self.value_column, "once_run_id")
        news = ", ".join(f"{name} = excluded.{name}" for name in rest)
        then = f"({key}) DO UPDATE SET {news}" if replaces else "DO NOTHING"
        sql = (
            f"INSERT INTO {self.writes_table} ({key}, {', '.join(rest)}) VALUES "
            f"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT {then}"
        )
        return Ask(sql, [(*place, *write, run_id) for write in writes], True, False)

    def writes(
        self, places: Sequence[Place], channels: Sequence[str] | None = None
    ) -> Program[dict[Place, list[StoredWrite]]]:
        """What was written on some checkpoints, in the order in which it takes effect."""
        found: list[Row] = []
        where, values = self.among(channels) if channels is not None else ("", [])
        for some in batches(places):
            found += yield Ask(
                "SELECT thread_id, checkpoint_ns, checkpoint_id, task_path, task_id, idx, channel, "
                f"type, {self.value_column} FROM {self.writes_table} WHERE (thread_id, "
                f"checkpoint_ns, checkpoint_id) IN (VALUES {', '.join(['(?, ?, ?)'] * len(some))})"
                f"{where and ' AND channel ' + where}",
                [part for place in some for part in place] + values,
            )
        return self.written(found)

    def written(self, rows: Iterable[Row]) -> dict[Place, list[StoredWrite]]:
        """What rows of writes say: place, path, task, index, channel, tag, bytes."""
        found: dict[Place, list[StoredWrite]] = {}
        for row in rows:
            *place, path, task_id, position, channel, tag, data = row
            value = self.values.unpacked(Cell(tag, bytes(data)))
            write = StoredWrite(path, task_id, position, channel, value)
            found.setdefault(Place(*place), []).append(write)
        for each in found.values():
            each.sort(key=StoredWrite.order)
        return found

    def ids(self, thread_id: str) -> Program[dict[str, list[str]]]:
        """The checkpoints of a thread by namespace, newest first."""
        rows = yield Ask(
            "SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = ? "
            "ORDER BY checkpoint_ns, checkpoint_id DESC",
            [thread_id],
        )
        found: dict[str, list[str]] = {}
        for checkpoint_ns, checkpoint_id in rows:
            found.setdefault(checkpoint_ns, []).append(checkpoint_id)
        return found

    def drop(self, thread_id: str, checkpoint_ns: str, ids: Sequence[str]) -> Program[None]:
        """Delete checkpoints, and what is on them."""
        for some in batches(ids):
            condition, values = self.among(some)
            for table in ("checkpoints", self.writes_table, "once_stream_states"):
                sql = f"DELETE FROM {table} WHERE {_HERE} AND checkpoint_id {condition}"
                yield Ask(sql, [thread_id, checkpoint_ns, *values], has_rows=False)

    def of_runs(self, run_ids: Sequence[str]) -> Program[list[Row]]:
        """The checkpoints that runs made: thread, namespace, id."""
        found: list[Row] = []
        for some in batches(run_ids):
            condition, values = self.among(some)
            sql = "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints"
            found += yield Ask(f"{sql} WHERE {self.run_id} {condition}", values)
        return found

    def written_by_runs(self, run_ids: Sequence[str]) -> Program[set[str]]:
        """The threads in which runs wrote on checkpoints."""
        found = set()
        for some in batches(run_ids):
            condition, values = self.among(some)
            sql = f"SELECT DISTINCT thread_id FROM {self.writes_table} WHERE once_run_id"
            found |= {row[0] for row in (yield Ask(f"{sql} {condition}", values))}
        return found

    def drop_writes_of_runs(self, run_ids: Sequence[str]) -> Program[None]:
        """Delete what runs wrote on checkpoints."""
        for some in batches(run_ids):
            condition, values = self.among(some)
            sql = f"DELETE FROM {self.writes_table} WHERE once_run_id {condition}"
            yield Ask(sql, values, has_rows=False)

    def delete_threads(self, thread_ids: Iterable[str]) -> Program[None]:
        """Delete all rows of threads."""
        for some in batches(thread_ids):
            condition, values = self.among(some)
            for table in (*dict(self.columns), "once_pieces", "once_stream_states"):
                yield Ask(
                    f"DELETE FROM {table} WHERE thread_id {condition}", values, has_rows=False
                )

    def known_pieces(self, thread_id: str, digests: Iterable[bytes]) -> Program[list[bytes]]:
        """Which of these pieces are stored."""
        rows = yield from self._pieces("digest", thread_id, digests)
        return [bytes(digest) for (digest,) in rows]

    def load_pieces(self, thread_id: str, wanted: Mapping[bytes, int]) -> Program[list[Row]]:
        """Digest, tag and bytes of those of these pieces that are stored.

        Args:
            thread_id: The thread.
            wanted: The pieces, and how many levels below each may be loaded at once.
        """
        return (yield from self._pieces("digest, type, data", thread_id, wanted))

    def add_pieces(self, thread_id: str, pieces: Iterable[tuple[bytes, Cell]]) -> Ask:
        """Store pieces; those that are stored already stay."""
        sql = (
            "INSERT INTO once_pieces (thread_id, digest, type, data) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING"
        )
        return Ask(sql, [(thread_id, digest, *cell) for digest, cell in pieces], True, False)

    def keep_pieces(self, thread_id: str, digests: set[bytes]) -> Program[int]:
        """Delete all other pieces of a thread. Returns how many."""
        spare = set((yield from self.piece_names(thread_id))) - digests
        for some in batches(spare):
            condition, values = self.among(some)
            sql = f"DELETE FROM once_pieces WHERE thread_id = ? AND digest {condition}"
            yield Ask(sql, [thread_id, *values], has_rows=False)
        return len(spare)

    def load_stream_state(self, place: Place) -> Program[Cell | None]:
        """The ledger of a checkpoint."""
        rows = yield Ask(
            f"SELECT type, data FROM once_stream_states WHERE {_HERE} AND checkpoint_id = ?", place
        )
        return Cell(rows[0][0], bytes(rows[0][1])) if rows else None

    def save_stream_state(self, place: Place, cell: Cell) -> Ask:
        """Store the ledger of a checkpoint, in place of the one that it has."""
        sql = (
            "INSERT INTO once_stream_states (thread_id, checkpoint_ns, checkpoint_id, type, data) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) "
            "DO UPDATE SET type = excluded.type, data = excluded.data"
        )
        return Ask(sql, [*place, *cell], has_rows=False)

    def copy_own(self, source: str, target: str) -> Iterable[Ask]:
        """Copy the rows of a thread in our tables."""
        for table, columns in (
            ("once_pieces", "digest, type, data"),
            ("once_stream_states", "checkpoint_ns, checkpoint_id, type, data"),
        ):
            yield Ask(
                f"INSERT INTO {table} (thread_id, {columns}) "
                f"SELECT ?, {columns} FROM {table} WHERE thread_id = ?",
                [target, source],
                has_rows=False,
            )

    def _pieces(self, columns: str, thread_id: str, digests: Iterable[bytes]) -> Program[list[Row]]:
        found: list[Row] = []
        for some in batches(digests):
            condition, values = self.among(some)
            sql = f"SELECT {columns} FROM once_pieces WHERE thread_id = ? AND digest {condition}"
            found += yield Ask(sql, [thread_id, *values])
        return found
