"""The tables in SQLite: a checkpoint holds its channels, one row for all."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.checkpoint.sqlite.utils import search_where

from langgraph_once.checkpoint.all_rows import LEDGERS, WRITE_COLUMNS, WRITE_KEY
from langgraph_once.checkpoint.database import Program, Row, Statement
from langgraph_once.checkpoint.metadata import COUNTERS, SEALED, opened_metadata, sealed
from langgraph_once.checkpoint.pieces import Assembly, Cell, CutValue, Missing
from langgraph_once.checkpoint.stored import (
    CellTable,
    CheckpointRef,
    Naming,
    StoredCheckpoint,
    StoredWrite,
    bound,
)
from langgraph_once.checkpoint.tables import NEWEST_FIRST, NewCheckpoint, Query, Tables

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_WHERE: Final = "WHERE "
_TEXT: Final = "CAST(metadata AS TEXT)"
_NO_NAN: Final = "replace(replace(metadata, 'NaN', 'null'), 'Infinity', '9e999')"
# Python writes NaN and Infinity, which JSON does not have, and one such row would fail the
# statement for every thread. A text in such a row, and only there, that holds one of the two words
# is compared without it.
_JSON: Final = (
    f"(CASE WHEN json_valid({_TEXT}) THEN {_TEXT} "
    f"WHEN json_valid({_NO_NAN}) THEN {_NO_NAN} ELSE 'null' END)"
)
_TYPE: Final = f"json_type({_JSON}, '$.{{}}') IS {{}}NULL"


_COLUMNS: Final = (
    "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
)
# `json_valid` comes first: Python writes NaN, which JSON does not have, and one such row would
# fail the statement for every thread.
_RUN_ID: Final = (
    "COALESCE(once_run_id, CASE WHEN json_valid(CAST(metadata AS TEXT)) "
    "THEN json_extract(CAST(metadata AS TEXT), '$.run_id') END)"
)
_NOT_JSON: Final = "once_run_id IS NULL AND NOT json_valid(CAST(metadata AS TEXT))"
NOT_JSON: Final = f"""
SELECT thread_id, checkpoint_ns, checkpoint_id, metadata FROM checkpoints WHERE {_NOT_JSON}
"""
# `UNION` and not `UNION ALL`: re-putting an id under its own descendant makes the chain a loop.
# `CROSS JOIN` keeps `chain` as the outer loop, so that each step is one look-up by primary key.
# SQLite yields recursive rows first in, first out: the checkpoint, its parent, and so on.
_CHAIN: Final = f"""
WITH RECURSIVE chain(id) AS (
    SELECT ? UNION
    SELECT c.parent_checkpoint_id FROM chain CROSS JOIN checkpoints c
    ON c.thread_id = ? AND c.checkpoint_ns = ? AND c.checkpoint_id = chain.id LIMIT ?
)
SELECT {", ".join(f"c.{name}" for name in _COLUMNS.split(", "))}
FROM chain CROSS JOIN checkpoints c
ON c.thread_id = ? AND c.checkpoint_ns = ? AND c.checkpoint_id = chain.id
"""
_PUT: Final = f"""
INSERT OR REPLACE INTO checkpoints ({_COLUMNS}, once_run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
# Copies are of no run: a rollback of the source leaves them.
_COPY_CHECKPOINTS: Final = """
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
    type, checkpoint, metadata, once_run_id)
SELECT ?, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
    CASE WHEN json_valid(CAST(metadata AS TEXT)) THEN
        CASE WHEN json_extract(CAST(metadata AS TEXT), '$.thread_id') = ?
        THEN CAST(json_set(CAST(metadata AS TEXT), '$.thread_id', ?) AS BLOB)
        ELSE metadata END
    ELSE metadata END, ''
FROM checkpoints WHERE thread_id = ?
"""

# A checkpoint and its writes in one statement, so both are of one moment. Writes have a null first.
_FOUND: Final = f"""
SELECT {_COLUMNS}, NULL, NULL FROM (
    SELECT {_COLUMNS} FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? {{this}}
) newest
UNION ALL
SELECT NULL, checkpoint_ns, checkpoint_id, {{{{path}}}}, task_id, idx, channel, type, value
FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = {{id}}
"""
_NEWEST: Final = "ORDER BY checkpoint_id DESC LIMIT 1"
_NEWEST_ID: Final = f"""
(SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? {_NEWEST})
"""
_FIND_AT: Final = _FOUND.format(this="AND checkpoint_id = ?", id="?")
_FIND_NEWEST: Final = _FOUND.format(this=_NEWEST, id=_NEWEST_ID)
_FEW_ROWS: Final = 8
"""Of an insert that needs no transaction: for each number of rows a statement is prepared."""

_OLD_WRITES: Final = (
    "SELECT count(*) > 0 AND NOT max(name = 'task_path') FROM pragma_table_info('writes', 'main')"
)
_WITH_TASK_PATH: Final = (
    "DROP VIEW IF EXISTS temp.writes",
    "CREATE TEMP VIEW writes AS SELECT *, '' AS task_path FROM main.writes",
)

_MANY_PIECES: Final = 500
"""To scan all names of a thread takes a fifth, for each, of what it takes to look one up."""
_ROUND: Final = 16
"""Lists of names are filled up to a multiple of this, so that few statements are prepared."""

VERSION: Final = 1
"""Of our tables."""

# Tables of ours have row ids: without, SQLite gives rows of a kilobyte pages of their own.
SCHEMA: Final[Mapping[str, str]] = {
    "checkpoints": """
CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB,
    metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))""",
    "writes": """
CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL,
    idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))""",
    "writes.task_path": "ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT ''",
    "writes.once_run_id": "ALTER TABLE writes ADD COLUMN once_run_id TEXT",
    "checkpoints.once_run_id": "ALTER TABLE checkpoints ADD COLUMN once_run_id TEXT",
    "once_pieces": """
CREATE TABLE once_pieces (thread_id TEXT NOT NULL, digest BLOB NOT NULL, type TEXT NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (thread_id, digest))""",
    "once_stream_states": """
CREATE TABLE once_stream_states (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL, type TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))""",
    "once_checkpoints_runs": f"CREATE INDEX once_checkpoints_runs ON checkpoints({_RUN_ID})",
    "once_checkpoints_not_json": f"""
CREATE INDEX once_checkpoints_not_json ON checkpoints(thread_id) WHERE {_NOT_JSON}""",
    "once_writes_run": (
        "CREATE INDEX once_writes_run ON writes(once_run_id) WHERE once_run_id IS NOT NULL"
    ),
    "once_schema": f"CREATE TABLE once_schema AS SELECT {VERSION} AS version",
}
"""What there must be, and what makes it. The first two are upstream's, and their first columns."""


class SqliteTables(Tables):
    """Statements for SQLite, and what their rows say."""

    writes_table = "writes"
    value_column = "value"
    metadata_columns = "metadata", "?"
    is_sealed = f"instr(CAST(metadata AS TEXT), '\"{SEALED}\"')"
    run_id = _RUN_ID
    bytes_of = "length"
    # Rows are read in their order in the file: by the index, each would be sought. The limit keeps
    # a query around this one apart, or SQLite would sort the values themselves.
    scan = "NOT INDEXED LIMIT -1"
    table_names = Statement("SELECT name FROM sqlite_master WHERE type = 'table'")
    recent = "rowid > (SELECT max(rowid) - 1000 FROM checkpoints)"
    copy_checkpoints = _COPY_CHECKPOINTS
    packs_short = False
    columns = (
        ("checkpoints", ""),
        ("writes", f"{WRITE_COLUMNS}, value"),
    )
    cell_tables = (
        CellTable("checkpoint", "checkpoints", ("checkpoint_ns", "checkpoint_id"), "checkpoint"),
        CellTable("write", "writes", WRITE_KEY, "value", "channel"),
        LEDGERS,
    )

    @staticmethod
    def disk_bytes(names: Iterable[str]) -> Program[tuple[int, int]]:  # noqa: ARG004  # of the file
        """What the file takes on the disk, and what of it is free."""
        counts = []
        for each in ("page_size", "page_count", "freelist_count"):
            ((count,),) = yield Statement(f"PRAGMA {each}")
            counts.append(count)
        size, all_pages, free_pages = counts
        return size * all_pages, size * free_pages

    def place(self, config: RunnableConfig) -> CheckpointRef:
        """The place that a config names: for None, as upstream, thread "None" and no namespace."""
        at = config["configurable"]
        id_ = at.get("checkpoint_id") or None
        checkpoint_ns = str(at.get("checkpoint_ns") or "")
        return CheckpointRef(str(at["thread_id"]), checkpoint_ns, id_ and str(id_))

    def leave_out_missing(self) -> Program[None]:
        """Ask for upstream's tables alone, if ours are not there."""
        yield from super().leave_out_missing()
        columns = yield Statement("SELECT name FROM pragma_table_info('writes')")
        if ("task_path",) not in columns:  # langgraph-checkpoint-sqlite has it since 3.1.2
            self.path_column = "''"

    def among(self, values: Sequence[Any]) -> tuple[str, list[Any]]:
        """A condition that a column has one of these values, and what it takes."""
        return f"IN ({', '.join('?' * len(values))})", list(values)

    def lock(self, thread_id: str, *, alone: bool) -> Iterable[Statement]:
        """Nothing: who writes has the database alone."""
        return ()

    def at_once(
        self, thread_id: str, statements: Sequence[Statement], missing: Missing | None
    ) -> Statement | None:
        """The only statement, which needs no transaction around it."""
        if missing is not None or len(statements) != 1:
            return None
        (one,) = statements
        if one.insert is None:
            return one
        return one.insert.of_few(one.values) if 1 <= len(one.values) <= _FEW_ROWS else None

    def find_alone(
        self, place: CheckpointRef, assembly: Assembly
    ) -> Program[StoredCheckpoint | None]:
        """`find` by one statement, without a transaction; None if there is none."""
        here, id_ = place[:2], place.checkpoint_id
        sql, values = (_FIND_AT, (*here, id_) * 2) if id_ else (_FIND_NEWEST, here * 3)
        rows = yield Statement(sql.format(path=self.path_column), values, is_try=True)
        found = next((row[:7] for row in rows if row[0] is not None), None)
        if found is None:
            return None
        written = self.written((found[0], *row[1:]) for row in rows if row[0] is None)
        return self._checkpoint(found, written.get(CheckpointRef(*found[:3]), []))

    def find(self, place: CheckpointRef) -> Program[StoredCheckpoint | None]:
        """The checkpoint at a place, with its writes."""
        id_ = "AND checkpoint_id = ?" if place.checkpoint_id else ""
        where = f"WHERE thread_id = ? AND checkpoint_ns = ? {id_} ORDER BY checkpoint_id DESC"
        values = place if place.checkpoint_id else place[:2]
        found = yield Statement(f"SELECT {_COLUMNS} FROM checkpoints {where} LIMIT 1", values)
        return (yield from self._with_writes(found))[0] if found else None

    def conditions(self, query: Query) -> tuple[list[str], list[Any]]:
        """What rows must be for `list` to list them, as far as rows tell, and what that takes.

        Raises:
            ValueError: A name of metadata that is no path.
        """
        here, values = search_where(query.config, None, query.before)
        where = [here.removeprefix(_WHERE)] if here else []
        found = [*values]
        for name, wanted in (query.filter or {}).items():
            condition, more = search_where(None, {name: wanted})
            condition = _of_json(condition.removeprefix(_WHERE))
            if self.values.encrypts:  # it may match once its metadata are decrypted
                is_not_there = _TYPE.format(name.partition(".")[0], "")
                condition += f" OR ({is_not_there} AND {_TYPE.format(SEALED, 'NOT ')})"
            where.append(condition)
            found += more
        return where, found

    def matches(self, metadata: Mapping[str, Any], wanted: dict[str, Any]) -> bool:
        """Whether metadata that were decrypted hold what is wanted, as the database would say."""
        where, values = search_where(None, wanted)
        sql = f"SELECT 1 FROM (SELECT ? AS metadata) {_of_json(where)}"
        with contextlib.closing(sqlite3.connect(":memory:")) as conn:
            return conn.execute(sql, [self.metadata_text(metadata), *values]).fetchone() is not None

    def known_pieces(self, thread_id: str, digests: set[bytes]) -> Program[list[bytes]]:
        """Which of these pieces are stored, and perhaps others."""
        if len(digests) >= _MANY_PIECES:
            return (yield from self.piece_names(thread_id))
        names = [*digests]
        asked = names + names[:1] * (-len(names) % _ROUND)
        condition, values = self.among(asked)
        sql = f"SELECT count(*) FROM once_pieces WHERE thread_id = ? AND digest {condition}"
        ((count,),) = yield Statement(sql, [thread_id, *values])
        if count == len(names):
            return names
        return (yield from super().known_pieces(thread_id, digests))

    def select(
        self, where: str, values: Sequence[Any], limit: int
    ) -> Program[list[StoredCheckpoint]]:
        """The newest checkpoints whose rows meet a condition."""
        found = yield Statement(
            f"SELECT {_COLUMNS} FROM checkpoints {where} ORDER BY {NEWEST_FIRST} LIMIT ?",
            [*values, limit],
        )
        return (yield from self._with_writes(found))

    def read_metadata(self, column: Any) -> dict[str, Any]:
        """What the column of metadata says."""
        known: dict[str, Any] = json.loads(column) if column is not None else {}
        return known

    def metadata_text(self, metadata: Mapping[str, Any]) -> Any:
        """What the column of metadata holds."""
        try:
            return _ENCODER.encode(metadata).encode()
        except UnicodeEncodeError:  # lone surrogates, which upstream drops, are escaped
            return json.dumps(metadata).encode()

    def ancestors(
        self, place: CheckpointRef, limit: int, channels: Sequence[str]
    ) -> Program[list[StoredCheckpoint]]:
        """A checkpoint and those before it on its path, nearest first, without their writes."""
        here = place[:2]
        found = yield Statement(_CHAIN, [place.checkpoint_id, *here, limit, *here])
        return [self._checkpoint(row, []) for row in found]

    def put(self, new: NewCheckpoint, cuts: list[CutValue]) -> list[Statement]:
        """Store a checkpoint; `cuts` takes what was cut of it."""
        head = {key: value for key, value in new.checkpoint.items() if key != "channel_values"}
        at = bound("checkpoint", new.place.thread_id, new.place[1:])
        cell = self.values.channels(head, new.checkpoint["channel_values"], cuts, at)
        known = sealed(self.values, new.place, _with_snapshots(new))
        # Always said, if only that there is none: for what is not, indexes parse the metadata.
        row = [*new.place, new.parent_id, *cell, self.metadata_text(known), new.run_id or ""]
        return [Statement(_PUT, row, has_rows=False, is_try=True)]

    def has_deltas(self, thread_id: str, checkpoint_ns: str) -> Program[bool]:
        """Whether a checkpoint counts what its delta channels have had since their snapshots."""
        rows = yield Statement(
            "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND "
            "instr(CAST(metadata AS TEXT), '\"counters_since_delta_snapshot\"') LIMIT 1",
            [thread_id, checkpoint_ns],
        )
        return bool(rows)

    def of_runs(self, run_ids: Sequence[str]) -> Program[list[Row]]:
        """The checkpoints that runs made: thread, namespace, id."""
        found = yield from super().of_runs(run_ids)
        runs = set(run_ids)
        return found + [row[:3] for row in (yield Statement(NOT_JSON)) if _run_of(row[3]) in runs]

    def drop_unread(self, thread_id: str) -> Program[None]:
        """Nothing: values are in the rows of their checkpoints."""
        yield from ()

    def has_own(self) -> Program[bool]:
        """Whether our tables are there."""
        return bool(
            (yield Statement("SELECT 1 FROM sqlite_master WHERE name = 'once_stream_states'"))
        )

    def drop_own(self) -> Program[bool]:
        """Drop our tables, indexes and columns. Returns whether; not if a row of ours is left."""
        if not (yield from self.has_own()):
            return True
        if (yield from self.is_any_ours()):
            return False
        for sql in (
            "DROP INDEX IF EXISTS once_checkpoints_runs",
            "DROP INDEX IF EXISTS once_checkpoints_not_json",
            "DROP INDEX IF EXISTS once_writes_run",
            "ALTER TABLE checkpoints DROP COLUMN once_run_id",
            "ALTER TABLE writes DROP COLUMN once_run_id",
            "DROP TABLE IF EXISTS once_pieces",
            "DROP TABLE IF EXISTS once_stream_states",
            "DROP TABLE IF EXISTS once_schema",
        ):
            yield Statement(sql)
        return True

    def _with_writes(self, found: list[Row]) -> Program[list[StoredCheckpoint]]:
        places = [CheckpointRef(*row[:3]) for row in found]
        writes = yield from self.writes(places)
        pairs = zip(found, places, strict=True)
        return [self._checkpoint(row, writes.get(place, [])) for row, place in pairs]

    def _checkpoint(self, row: Row, writes: list[StoredWrite]) -> StoredCheckpoint:
        place, parent_id, tag, data, metadata = CheckpointRef(*row[:3]), *row[3:]
        at = bound("checkpoint", place.thread_id, place[1:])
        with Naming(place, "the row"):
            checkpoint, values = self.values.parts(self.values.unpacked(Cell(tag, data), at))
        known = opened_metadata(self.values, place, self.read_metadata(metadata))
        return StoredCheckpoint(place, parent_id, checkpoint, values, known, writes)


def with_task_path(conn: sqlite3.Connection) -> None:
    """Let a connection that only reads ask for `writes.task_path` where the column is not there.

    Upstream's savers have it since langgraph-checkpoint-sqlite 3.1.2, and add it when they next
    open the database. What the connection sees is a view of its own: the file stays as it is.
    """
    ((is_old,),) = conn.execute(_OLD_WRITES)
    if is_old:
        for sql in _WITH_TASK_PATH:
            conn.execute(sql)


def _with_snapshots(new: NewCheckpoint) -> Mapping[str, Any]:
    """Metadata that count zero steps since each snapshot of a delta channel that is stored.

    LangGraph leaves out such counts. By them pruning knows the channel where a graph without it
    ran since, whose checkpoints do not have its value.
    """
    values = new.checkpoint["channel_values"]
    zero = {name: (0, 0) for name, value in values.items() if isinstance(value, _DeltaSnapshot)}
    if not zero:
        return new.metadata
    return {**new.metadata, COUNTERS: {**zero, **new.metadata.get(COUNTERS, {})}}


def _run_of(metadata: bytes) -> str | None:
    """The run in metadata that Python wrote and SQLite does not take for JSON."""
    with contextlib.suppress(ValueError, TypeError, LookupError):
        return str(json.loads(metadata)["run_id"])
    return None


def _of_json(condition: str) -> str:
    return condition.replace(_TEXT, _JSON)
