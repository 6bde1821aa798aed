"""The statements that are the same in both databases; each has the others in a file of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint

from langgraph_once.checkpoint.all_rows import OWN, AllRows, at_places
from langgraph_once.checkpoint.database import Insert, Program, Row, Statement, batches
from langgraph_once.checkpoint.pieces import Assembly, Cell, CutValue, Missing, PieceManifest
from langgraph_once.checkpoint.stored import CheckpointRef, StoredCheckpoint, StoredWrite, bound

NEWEST_FIRST: Final = "checkpoint_id DESC, thread_id DESC, checkpoint_ns DESC"
_PATH: Final = 64
"""How many ancestors are read at once."""
_HERE = "thread_id = ? AND checkpoint_ns = ?"
_PUT_PIECES: Final = Insert("once_pieces", ("thread_id", "digest", "type", "data"))
_PUT_LEDGER: Final = Insert(
    "once_stream_states", (*CheckpointRef._fields, "type", "data"), CheckpointRef._fields
)


class Query(NamedTuple):
    """Which checkpoints `list` lists."""

    config: RunnableConfig | None
    filter: dict[str, Any] | None = None
    before: RunnableConfig | None = None


class NewCheckpoint(NamedTuple):
    """A checkpoint to be stored."""

    place: CheckpointRef
    parent_id: str | None
    checkpoint: Checkpoint
    metadata: Mapping[str, Any]
    versions: Mapping[str, Any]
    """Of the channels that changed."""
    run_id: str | None


class Tables(AllRows):
    """Statements on upstream's tables and on ours."""

    run_id: ClassVar[str]
    """An expression: the run that made a checkpoint. There is an index of it."""
    copy_checkpoints: ClassVar[str]
    """A statement, which takes target, source, target, source."""
    packs_short: ClassVar[bool] = True
    """Whether rows of short threads are compressed; a server would compress them itself."""

    @abstractmethod
    def among(self, values: Sequence[Any]) -> tuple[str, list[Any]]:
        """A condition that a column has one of these values, and what it takes."""

    @abstractmethod
    def lock(self, thread_id: str, *, alone: bool) -> Iterable[Statement]:
        """Keep those who delete of a thread, and those who write to it, apart until the end."""

    @abstractmethod
    def at_once(
        self, thread_id: str, statements: Sequence[Statement], missing: Missing | None
    ) -> Statement | None:
        """Inserts, and the lock, as one to be tried: not if a piece that is wanted is missing."""

    def place(self, config: RunnableConfig) -> CheckpointRef:
        """The place that a config names; what it names by None, no statement finds or stores."""
        return CheckpointRef.of(config)

    @abstractmethod
    def find_alone(
        self, place: CheckpointRef, assembly: Assembly
    ) -> Program[StoredCheckpoint | None]:
        """Optimistic `find` without a transaction; None: not found, or no gain here.

        Args:
            place: Where the checkpoint is.
            assembly: Takes the pieces of a short thread that nobody remembers.
        """

    @abstractmethod
    def find(self, place: CheckpointRef) -> Program[StoredCheckpoint | None]:
        """The checkpoint at a place, with its writes."""

    @abstractmethod
    def conditions(self, query: Query) -> tuple[list[str], list[Any]]:
        """What rows must be for `list` to list them, as far as rows tell, and what that takes."""

    @abstractmethod
    def matches(self, metadata: Mapping[str, Any], wanted: dict[str, Any]) -> bool:
        """Whether metadata that were decrypted hold what is wanted, as the database would say."""

    @abstractmethod
    def select(
        self, where: str, values: Sequence[Any], limit: int
    ) -> Program[list[StoredCheckpoint]]:
        """The newest checkpoints whose rows meet a condition."""

    def page(
        self, query: Query, after: CheckpointRef | None, limit: int
    ) -> Program[list[StoredCheckpoint]]:
        """At most `limit` checkpoints that match, newest first, that come after one."""
        return self.select(*self._where(query, after), limit)

    def at(self, places: Sequence[CheckpointRef]) -> Program[list[StoredCheckpoint]]:
        """Some checkpoints, newest first."""
        if not places:
            yield from ()
            return []
        here, values = at_places(places)
        return (yield from self.select(f"WHERE {here}", values, len(places)))

    def candidates(
        self, query: Query, after: CheckpointRef | None, limit: int
    ) -> Program[list[tuple[CheckpointRef, dict[str, Any]]]]:
        """Where checkpoints are that match as far as rows tell, and what rows have as metadata."""
        where, values = self._where(query, after)
        rows = yield Statement(
            f"SELECT thread_id, checkpoint_ns, checkpoint_id, {self.metadata_columns[0]} "
            f"FROM checkpoints {where} ORDER BY {NEWEST_FIRST} LIMIT {limit}",
            values,
        )
        return [(CheckpointRef(*row[:3]), self.read_metadata(row[3])) for row in rows]

    def _where(self, query: Query, after: CheckpointRef | None) -> tuple[str, list[Any]]:
        where, values = self.conditions(query)
        if after is not None:
            where = [*where, "(checkpoint_id, thread_id, checkpoint_ns) < (?, ?, ?)"]
            values = [*values, after.checkpoint_id, after.thread_id, after.checkpoint_ns]
        return f"WHERE ({') AND ('.join(where)})" if where else "", values

    @abstractmethod
    def ancestors(
        self, place: CheckpointRef, limit: int, channels: Sequence[str]
    ) -> Program[list[StoredCheckpoint]]:
        """A checkpoint and those before it on its path, nearest first, without their writes.

        All of its channels are named, but only those asked for need to have their values.
        """

    @abstractmethod
    def put(self, new: NewCheckpoint, cuts: list[CutValue]) -> list[Statement]:
        """Store a checkpoint; `cuts` takes what was cut of it."""

    @abstractmethod
    def has_deltas(self, thread_id: str, checkpoint_ns: str) -> Program[bool]:
        """Whether a checkpoint counts what its delta channels have had since their snapshots."""

    def senders(self, thread_id: str, checkpoint_ns: str, ids: Sequence[str]) -> Program[list[str]]:
        """The checkpoints on which others keep what was sent to their tasks; none, in SQLite."""
        yield from ()
        return []

    def value_sizes(self, thread_id: str) -> Program[list[Row]]:
        """Values of a thread in rows of their own: namespace, version, channel, bytes.

        None, in SQLite. The same is true of `value_readers`.
        """
        yield from ()
        return []

    def value_readers(self, thread_id: str) -> Program[list[Row]]:
        """Which checkpoints have them: namespace, version, channel, checkpoint."""
        yield from ()
        return []

    @abstractmethod
    def drop_unread(self, thread_id: str) -> Program[None]:
        """Delete values of a thread that no checkpoint has any more."""

    def put_writes(
        self, place: CheckpointRef, writes: Sequence[Row], run_id: str | None, *, replaces: bool
    ) -> Statement:
        """Store writes: task, index, path, channel, tag, bytes. One that is there stays, or not."""
        insert = _insert_writes(self.writes_table, self.value_column, replaces=replaces)
        return insert.of([(*place, *write, run_id) for write in writes])

    def writes(
        self, places: Sequence[CheckpointRef], channels: Sequence[str] | None = None
    ) -> Program[dict[CheckpointRef, list[StoredWrite]]]:
        """What was written on some checkpoints, in the order in which it takes effect."""
        found: list[Row] = []
        where, values = self.among(channels) if channels is not None else ("", [])
        for some in batches(places):
            here, of_places = at_places(some)
            found += yield Statement(
                f"SELECT thread_id, checkpoint_ns, checkpoint_id, {self.path_column}, task_id, "
                f"idx, channel, type, {self.value_column} FROM {self.writes_table} WHERE {here}"
                f"{where and ' AND channel ' + where}",
                of_places + values,
            )
        return self.written(found)

    def written(self, rows: Iterable[Row]) -> dict[CheckpointRef, list[StoredWrite]]:
        """What rows of writes say: place, path, task, index, channel, tag, bytes."""
        found: dict[CheckpointRef, list[StoredWrite]] = {}
        for row in rows:
            *place, path, task_id, position, channel, tag, data = row
            at = bound("write", place[0], (*place[1:], task_id, position), channel)
            value = self.values.unpacked_if_sound(Cell(tag, bytes(data)), at)
            write = StoredWrite(path, task_id, position, channel, value)
            found.setdefault(CheckpointRef(*place), []).append(write)
        for each in found.values():
            each.sort(key=StoredWrite.order)
        return found

    def drop(self, thread_id: str, checkpoint_ns: str, ids: Sequence[str]) -> Program[None]:
        """Delete checkpoints, and what is on them."""
        for table in ("checkpoints", *self.on_checkpoints):
            sql = f"DELETE FROM {table} WHERE {_HERE} AND checkpoint_id"
            yield from self._among(sql, ids, [thread_id, checkpoint_ns])

    @property
    def on_checkpoints(self) -> tuple[str, ...]:
        """The tables of what is stored beside a checkpoint, under its id."""
        return (self.writes_table, "once_stream_states") if self.own else (self.writes_table,)

    def parents(self, places: Sequence[CheckpointRef]) -> Program[dict[str, str]]:
        """Of those of these checkpoints that have a parent, its id by theirs."""
        found: dict[str, str] = {}
        for some in batches(places):
            here, values = at_places(some)
            rows = yield Statement(
                "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints "
                f"WHERE {here} AND parent_checkpoint_id IS NOT NULL",
                values,
            )
            found.update((id_, parent) for id_, parent in rows)
        return found

    def forget_parents(
        self, thread_id: str, checkpoint_ns: str, ids: Sequence[str]
    ) -> Program[None]:
        """Leave the children of checkpoints that were deleted without a parent."""
        sql = (
            f"UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE {_HERE} "
            "AND parent_checkpoint_id"
        )
        yield from self._among(sql, ids, [thread_id, checkpoint_ns])

    def of_runs(self, run_ids: Sequence[str]) -> Program[list[Row]]:
        """The checkpoints that runs made: thread, namespace, id."""
        sql = "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints WHERE"
        return (yield from self._among(f"{sql} {self.run_id}", run_ids, has_rows=True))

    def written_by_runs(self, run_ids: Sequence[str]) -> Program[set[str]]:
        """The threads in which runs wrote on checkpoints."""
        sql = f"SELECT DISTINCT thread_id FROM {self.writes_table} WHERE once_run_id"
        rows = yield from self._among(sql, run_ids, has_rows=True)
        return {row[0] for row in rows}

    def drop_writes_of_runs(self, run_ids: Sequence[str]) -> Program[None]:
        """Delete what runs wrote on checkpoints."""
        sql = f"DELETE FROM {self.writes_table} WHERE once_run_id"
        yield from self._among(sql, run_ids)

    def delete_threads(self, thread_ids: Iterable[str]) -> Program[None]:
        """Delete all rows of threads."""
        ids = [*thread_ids]
        for table in dict(self.columns + OWN):
            yield from self._among(f"DELETE FROM {table} WHERE thread_id", ids)

    def known_pieces(self, thread_id: str, digests: set[bytes]) -> Program[list[bytes]]:
        """Which of these pieces are stored, and perhaps others."""
        sql = "SELECT digest FROM once_pieces WHERE thread_id = ? AND digest"
        rows = yield from self._among(sql, digests, [thread_id], has_rows=True)
        return [bytes(digest) for (digest,) in rows]

    def load_pieces(
        self, thread_id: str, wanted: Mapping[bytes, int], *, alone: bool = False
    ) -> Program[list[Row]]:
        """Digest, tag and bytes of those of these pieces that are stored.

        Args:
            thread_id: The thread.
            wanted: The pieces, and how many levels below each may be loaded at once.
            alone: Whether it is tried without a transaction, with no rows where that cannot be.
        """
        sql = "SELECT digest, type, data FROM once_pieces WHERE thread_id = ? AND digest"
        return (yield from self._among(sql, wanted, [thread_id], has_rows=True, is_try=alone))

    def add_pieces(self, thread_id: str, pieces: Iterable[tuple[bytes, Cell]]) -> Statement:
        """Store pieces; those that are stored already stay."""
        return _PUT_PIECES.of([(thread_id, digest, *cell) for digest, cell in pieces])

    def keep_pieces(self, thread_id: str, digests: set[bytes]) -> Program[int]:
        """Delete all other pieces of a thread. Returns how many."""
        spare = set((yield from self.piece_names(thread_id))) - digests
        sql = "DELETE FROM once_pieces WHERE thread_id = ? AND digest"
        yield from self._among(sql, spare, [thread_id])
        return len(spare)

    def load_stream_state(self, place: CheckpointRef) -> Program[Cell | None]:
        """The ledger of a thread."""
        rows = yield Statement(
            f"SELECT type, data FROM once_stream_states WHERE {_HERE} AND checkpoint_id = ?", place
        )
        return Cell(rows[0][0], bytes(rows[0][1])) if rows else None

    def save_stream_state(self, place: CheckpointRef, cell: Cell) -> Statement:
        """Store the ledger of a thread, in place of the one that it has."""
        return _PUT_LEDGER.of([(*place, *cell)])

    def sees_all(self) -> Program[bool]:
        """Whether no checkpoint is hidden, whose writes and values would look like leftovers."""
        yield from ()
        return True

    def drop_orphans(self, thread_id: str, settled_before: str) -> Iterable[Statement]:
        """Delete writes of checkpoints that were never stored, or are not any more.

        A run stores them beside its checkpoint, so a killed process may leave them without one.
        Or the run is about to store that checkpoint, even where another run has stored a newer
        one meanwhile. So rows whose checkpoint has no smaller id than `settled_before` stay.
        Ledgers go with the last checkpoint of their thread; once there was one for each.
        """
        for table in self.on_checkpoints:
            sql = f"DELETE FROM {table} WHERE {_is_orphan(table)}"
            yield Statement(sql, [thread_id, settled_before], has_rows=False)

    def orphaned_writes(self, thread_id: str, settled_before: str) -> Program[list[Row]]:
        """Where writes are that `drop_orphans` deletes: namespace, checkpoint, one channel."""
        table = self.writes_table
        return (
            yield Statement(
                f"SELECT checkpoint_ns, checkpoint_id, min(channel) FROM {table} "
                f"WHERE {_is_orphan(table)} GROUP BY 1, 2 ORDER BY 1, 2",
                [thread_id, settled_before],
            )
        )

    def path(
        self,
        place: CheckpointRef,
        is_end: Callable[[StoredCheckpoint], bool],
        channels: Sequence[str] = (),
    ) -> Program[None]:
        """Walk from a checkpoint to its ancestors, until one is the end."""
        seen: set[str | None] = set()
        at: str | None = place.checkpoint_id
        while at is not None:
            here = place._replace(checkpoint_id=at)
            path = yield from self.ancestors(here, _PATH, channels)
            for stored in path:
                if stored.place.checkpoint_id in seen or is_end(stored):
                    return
                seen.add(stored.place.checkpoint_id)
            at = path[-1].parent_id if path else None

    def collect(
        self,
        thread_id: str,
        manifests: Sequence[PieceManifest],
        assembly: Assembly,
        *,
        alone: bool = False,
    ) -> Program[None]:
        """Read the pieces of values; one that is missing is told when its value is decoded.

        Args:
            thread_id: The thread.
            manifests: Say of what the values consist.
            assembly: Takes the pieces.
            alone: Whether it is tried without a transaction, with no rows where that cannot be.
        """
        wanted = assembly.wanted(manifests)
        while wanted:
            found = yield from self.load_pieces(thread_id, wanted, alone=alone)
            if not assembly.add(found):
                return
            wanted = assembly.wanted()

    def copy(self, source: str, target: str) -> Iterable[Statement]:
        """Copy the rows of a thread."""
        # Checkpoints come first: what another saver stores meanwhile is then copied whole or not.
        yield Statement(self.copy_checkpoints, [target, source, target, source], has_rows=False)
        for table, columns in self.columns[1:] + OWN:
            yield Statement(
                f"INSERT INTO {table} (thread_id, {columns}) "
                f"SELECT ?, {columns} FROM {table} WHERE thread_id = ?",
                [target, source],
                has_rows=False,
            )

    def _among(
        self,
        sql: str,
        values: Iterable[Any],
        given: Sequence[Any] = (),
        *,
        has_rows: bool = False,
        is_try: bool = False,
    ) -> Program[list[Row]]:
        """Execute a statement that ends in a column, for some at a time of what that may be."""
        found: list[Row] = []
        for some in batches(values):
            condition, of_column = self.among(some)
            found += yield Statement(
                f"{sql} {condition}", [*given, *of_column], has_rows=has_rows, is_try=is_try
            )
        return found


@lru_cache
def _insert_writes(table: str, value_column: str, *, replaces: bool) -> Insert:
    key = (*CheckpointRef._fields, "task_id", "idx")
    columns = (*key, "task_path", "channel", "type", value_column, "once_run_id")
    return Insert(table, columns, key if replaces else ())


def _is_orphan(table: str) -> str:
    """A condition that a row is of a checkpoint that is not stored, and has a smaller id.

    A ledger is one if it is of a checkpoint at all, or of a thread that has none.
    """
    of_graph = (
        f"NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread_id = {table}.thread_id "
        f"AND c.checkpoint_ns = {table}.checkpoint_ns"
    )
    if table == "once_stream_states":
        return f"thread_id = ? AND checkpoint_id < ? AND (checkpoint_id <> '' OR {of_graph}))"
    here = f"{of_graph} AND c.checkpoint_id = {table}.checkpoint_id)"
    return f"thread_id = ? AND checkpoint_id < ? AND {here}"
