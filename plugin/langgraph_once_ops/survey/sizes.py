"""A database as it is at one moment, and how much each thread and the store take.

It is only read: nothing is made, locked or written. Sizes are told without values: databases know
how long each is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from langgraph_once.checkpoint import (
    CALL,
    Backend,
    EmptyDatabaseError,
    Engine,
    Execute,
    OnceSaver,
    Program,
    Statement,
    backend_of,
    drive,
    moment_of,
)
from langgraph_once.serde import OnceSerializer
from langgraph_once_ops.retention import Table, tables_of

T = TypeVar("T")


class Snapshot(Engine):
    """Runs all programs in one transaction that only reads.

    Args:
        backend: The database.
        execute: Executes a statement in the transaction.

    Attributes:
        names: Those of the tables that are there.
        has_threads: Whether those of checkpoints are.

    Raises:
        StorageError: It cannot be read, or no saver has made its tables.
    """

    def __init__(self, backend: Backend, execute: Execute) -> None:
        super().__init__(backend.name, workers=1)
        self.backend = backend
        self.tables = backend.tables
        self.ask = execute
        self.names = {name for (name,) in self.ask(self.tables.table_names)}
        self.has_threads = {"checkpoints", self.tables.writes_table} <= self.names
        if not self.has_threads and "store" not in self.names:
            raise EmptyDatabaseError(self.name)

    def run(self, program: Program[T], *, writes: bool = False) -> T:
        """Run a program that only reads."""
        return drive(program, self.ask)

    def set_up(self) -> None:
        """Nothing: what is missing stays missing."""

    def saver(self, serde: OnceSerializer) -> OnceSaver:
        """A saver to read with."""
        return OnceSaver(self, self.tables, serde=serde)


@contextmanager
def open_snapshot(database: str, *, schema: str = "") -> Iterator[Snapshot]:
    """Open a database, and close it at the end; servers may be using it.

    Args:
        database: A path of SQLite, "sqlite:///path" or "postgresql://user@host/database".
        schema: PostgreSQL: where the tables are; where the connection looks if it is empty.

    Raises:
        ConfigError: A URL of another database.
        StorageError: It is not there, or cannot be read. On leaving: nobody had the file of SQLite
            open at first, and then someone wrote to it.
    """
    backend = backend_of(database)
    with backend.snapshot(schema) as execute:
        snapshot = Snapshot(backend, execute)
        yield snapshot
        snapshot.close()


_BUCKET_CHARS: Final = 6
"""Of an id: checkpoints of two hours have the same. `moment_of` needs the rest of it."""
_REST_OF_ID: Final = "00-0000-6000"
"""Makes an id of UUID version 6 of it, at the beginning of these two hours."""


@dataclass(slots=True)
class Namespace:
    """What a namespace of a thread takes.

    Attributes:
        newest: The id of its newest checkpoint; empty if it has none.
    """

    checkpoints: int = 0
    bytes: int = 0
    newest: str = ""


@dataclass(slots=True)
class ThreadSize:
    """What a thread takes."""

    rows: int = 0
    bytes: int = 0
    pieces: int = 0
    """Bytes of ours that several values share."""
    largest: int = 0
    """Bytes of its largest row."""
    newest: str = ""
    """The greatest id in it."""
    namespaces: dict[str, Namespace] = field(default_factory=dict)
    weeks: Counter[str] = field(default_factory=Counter)
    """Its checkpoints by the Monday on which the week began."""
    dateless: int = 0
    """Bytes of rows that name no checkpoint."""

    def add(self, rows: int, size: int, largest: int, newest: str) -> None:
        """Take rows of a table."""
        self.rows += rows
        self.bytes += size
        self.largest = max(self.largest, largest)
        self.newest = max(self.newest, newest)

    @property
    def checkpoints(self) -> int:
        """How many it has, with those of subgraphs."""
        return sum(each.checkpoints for each in self.namespaces.values())

    def ended_calls(self) -> Iterator[Namespace]:
        """Namespaces of subgraph calls that are over: a newer root checkpoint is there, or none.

        Nothing reads them but who looks at the past of the subgraph. While a call waits for an
        answer, its last checkpoint is newer than that of the root.
        """
        root = self.namespaces.get("", Namespace()).newest
        for name, each in self.namespaces.items():
            if CALL in name and (not root or each.newest < root):
                yield each


class Week(NamedTuple):
    """What was stored in a week."""

    checkpoints: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Sizes:
    """What a database holds, all of it counted."""

    threads: dict[str, ThreadSize] = field(default_factory=dict)
    bytes: Counter[str] = field(default_factory=Counter)
    """By table."""
    rows: Counter[str] = field(default_factory=Counter)
    """By table."""
    weeks: dict[str, Week] = field(default_factory=dict)
    """By the Monday on which each began; empty for ids that do not tell."""
    unknown: int = 0
    """Rows whose thread, namespace or checkpoint is no text."""
    orphan_writes: tuple[int, int] = (0, 0)
    """Writes on checkpoints that are not there: how many, and their bytes."""


def tables_in(snapshot: Snapshot) -> list[Table]:
    """The tables of threads that are there."""
    return [each for each in tables_of(snapshot.tables) if each.name in snapshot.names]


def sizes(snapshot: Snapshot) -> Sizes:
    """Count all rows of a database.

    Raises:
        StorageError: It cannot be read.
    """
    found = Sizes()
    if not snapshot.has_threads:
        return found
    for table in tables_in(snapshot):
        _add(snapshot, table, found)
    for thread in found.threads.values():
        _spread(thread, found)
    found.orphan_writes = _orphan_writes(snapshot)
    return found


def _add(snapshot: Snapshot, table: Table, found: Sizes) -> None:
    # Summed up where the rows are: for each namespace and two hours one row comes here.
    rows = snapshot.ask(
        Statement(
            f"SELECT thread_id, namespace, substr(newest, 1, {_BUCKET_CHARS}), count(*), "
            "CAST(sum(size) AS bigint), max(size), max(newest) FROM (SELECT thread_id, "
            f"{table.namespace} AS namespace, {table.size} AS size, {table.newest} AS newest "
            f"FROM {table.name} {snapshot.tables.scan}) sized GROUP BY 1, 2, 3"
        )
    )
    for thread_id, name, bucket, count, size, largest, newest in rows:
        found.bytes[table.name] += size
        found.rows[table.name] += count
        if not (isinstance(thread_id, str) and isinstance(name, str) and isinstance(newest, str)):
            found.unknown += count  # SQLite takes anything for text
            continue
        thread = found.threads.setdefault(thread_id, ThreadSize())
        thread.add(count, size, largest, newest)
        if table.name == "once_pieces":
            thread.pieces += size
        else:
            thread.namespaces.setdefault(name, Namespace()).bytes += size
        if table.name == "checkpoints":
            namespace = thread.namespaces[name]
            namespace.checkpoints += count
            namespace.newest = max(namespace.newest, newest)
            thread.weeks[_monday(bucket)] += count
        if bucket:
            _add_week(found, _monday(bucket), 0, size)
        else:
            thread.dateless += size


def _spread(thread: ThreadSize, found: Sizes) -> None:
    """Take a thread's checkpoints by week, and what names none of them: that is of all of them."""
    total = sum(thread.weeks.values())
    for week, count in thread.weeks.items():
        _add_week(found, week, count, thread.dateless * count // total)


def _add_week(found: Sizes, monday: str, count: int, size: int) -> None:
    before = found.weeks.get(monday, Week())
    found.weeks[monday] = Week(before.checkpoints + count, before.bytes + size)


def _orphan_writes(snapshot: Snapshot) -> tuple[int, int]:
    name = snapshot.tables.writes_table
    table = next(each for each in tables_in(snapshot) if each.name == name)
    ((count, size),) = snapshot.ask(
        Statement(
            f"SELECT count(*), CAST(COALESCE(sum({table.size}), 0) AS bigint) FROM {name} w "
            "WHERE NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread_id = w.thread_id "
            "AND c.checkpoint_ns = w.checkpoint_ns AND c.checkpoint_id = w.checkpoint_id)"
        )
    )
    return count, size


@lru_cache(maxsize=8192)
def _monday(bucket: str) -> str:
    made = moment_of(bucket + _REST_OF_ID)
    if made is None:
        return ""
    year, week, _ = made.isocalendar()
    return datetime.fromisocalendar(year, week, 1).replace(tzinfo=UTC).date().isoformat()


_MOST_NAMES: Final = 50
"""Of more first labels of namespaces, those are taken for ids of users, and not shown."""
_MANY: Final = "(many namespaces)"


class StoreSize(NamedTuple):
    """What the items of a namespace take, and of those below it.

    Attributes:
        lasting: How many never expire.
        expired: How many have, and are still there.
    """

    items: int = 0
    bytes: int = 0
    lasting: int = 0
    expired: int = 0


def store_sizes(snapshot: Snapshot) -> dict[str, StoreSize]:
    """Items by the first label of their namespaces; none if there is no store in a database.

    Raises:
        StorageError: It cannot be read.
    """
    if "store" not in snapshot.names:
        return {}
    backend = snapshot.backend
    rows = snapshot.ask(
        Statement(
            f"SELECT {backend.item_label}, count(*), CAST(sum({backend.item_bytes}) AS bigint), "
            "sum(CASE WHEN expires_at IS NULL THEN 1 ELSE 0 END), "
            "sum(CASE WHEN expires_at < CURRENT_TIMESTAMP THEN 1 ELSE 0 END) FROM store "
            "GROUP BY 1 ORDER BY 3 DESC"
        )
    )
    if len(rows) <= _MOST_NAMES:
        return {str(name): StoreSize(*found) for name, *found in rows}
    _, *columns = zip(*rows, strict=True)
    return {_MANY: StoreSize(*map(sum, columns))}
