"""The tables in PostgreSQL: a value has a row to itself, by channel and version, as in upstream's.

Statements say `?` where a value goes; the engine says it as the driver does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from langgraph.checkpoint.serde.types import TASKS, _DeltaSnapshot

from langgraph_once.checkpoint.all_rows import LEDGERS, WRITE_COLUMNS, WRITE_KEY
from langgraph_once.checkpoint.database import Insert, Program, Row, Statement, batches
from langgraph_once.checkpoint.metadata import is_kept, opened_metadata, sealed
from langgraph_once.checkpoint.pieces.collect import Assembly, Cell, Missing
from langgraph_once.checkpoint.pieces.cut import DIGEST_BYTES
from langgraph_once.checkpoint.pieces.piece_manifest import CutValue
from langgraph_once.checkpoint.pieces.values import Unpacked
from langgraph_once.checkpoint.postgres.metadata import (
    conditions,
    json_text,
    metadata_text,
    read_metadata,
)
from langgraph_once.checkpoint.postgres.moves import PUT_VALUES, PostgresMoves
from langgraph_once.checkpoint.stored import (
    CellTable,
    CheckpointRef,
    Several,
    StoredCheckpoint,
    StoredWrite,
    bound,
)
from langgraph_once.checkpoint.tables import NEWEST_FIRST, NewCheckpoint, Query

LOCKS: Final = 8_317_140_011_327_529_207
"""Seed of the numbers of our advisory locks: those of others are others."""

_MOST_ROWS: Final = 8
"""Of one statement: for each number of rows there is another, which the server prepares."""
_MOST_STORED: Final = 64
_LOCKED: Final = f"""
SELECT thread_id, pg_advisory_xact_lock_shared(hashtextextended(thread_id, {LOCKS}))
FROM (SELECT ?::text AS thread_id) named
"""
# The statement may have begun to look before it got the lock, and pieces that it sees may have
# been swept. Such rows cannot be locked any more, and do not count. The series is of a length that
# the server knows: else it expects a thousand rows, and plans anew each time.
#
# What is below those that are named goes with them when it is swept. It is counted, as somebody may
# have deleted it by hand, and not locked: a lock is written to the row.
_CHECKED: Final = f"""
SELECT ?::int - count(*) - (
    SELECT count(*) FROM once_pieces p
    WHERE p.thread_id = (SELECT thread_id FROM locked) AND p.digest = ANY(?::bytea[])
) AS lacking
FROM locked CROSS JOIN (SELECT ?::bytea AS names) stored
CROSS JOIN generate_series(1, {_MOST_STORED * DIGEST_BYTES}, {DIGEST_BYTES}) at CROSS JOIN LATERAL (
    SELECT 1 FROM once_pieces p WHERE p.thread_id = locked.thread_id
    AND p.digest = substring(names FROM at FOR {DIGEST_BYTES}) FOR KEY SHARE
) piece WHERE at <= length(names)
"""


def at_once(
    thread_id: str, statements: Iterable[Statement], named: set[bytes], stored: set[bytes]
) -> Statement | None:
    """Statements as one, which gives a row if it was done; none where they cannot be one.

    Args:
        thread_id: The thread, which it locks.
        statements: Those that insert; their rows begin with the id of the thread.
        named: Pieces that the rows name.
        stored: These, and what is below them. If one of all of them is not stored, nothing is done.
    """
    values: list[Any] = [thread_id]
    if stored:
        values += len(stored), [*(stored - named)], b"".join(named)
    inserts = []
    for statement in statements:
        insert, rows = statement.insert, statement.values
        # Of two rows with one key the last must win, which one statement refuses to say.
        if insert is None or not 1 <= len(rows) <= (1 if insert.key else _MOST_ROWS):
            return None
        inserts.append((insert, len(rows)))
        values += [value for row in rows for value in row[1:]]
    if not inserts or len(named) > _MOST_STORED:
        return None
    return Statement(_sql(tuple(inserts), bool(stored)), values, has_rows=False, is_try=True)


@lru_cache(maxsize=512)
def _sql(inserts: tuple[tuple[Insert, int], ...], checks: bool) -> str:
    """All inserts in one, each of rows that are there once the lock is got and nothing lacks."""
    parts = [f"locked AS MATERIALIZED ({_LOCKED})"]
    may = "SELECT thread_id FROM locked"
    if checks:
        parts.append(f"checked AS MATERIALIZED ({_CHECKED})")
        may += " CROSS JOIN checked WHERE lacking = 0"
    parts.append(f"allowed AS MATERIALIZED ({may})")
    for number, (insert, count) in enumerate(inserts):
        row = f"({', '.join(insert.marks[1:])})"
        rows = f"(VALUES {', '.join([row] * count)}) news"
        select = f"SELECT allowed.thread_id, news.* FROM allowed CROSS JOIN {rows}"
        parts.append(f"stored_{number} AS ({insert.into} {select} {insert.then})")
    return f"WITH {', '.join(parts)} SELECT 1 FROM allowed"


RUN_ID: Final = "COALESCE(once_run_id, metadata ->> 'run_id')"

_MOST_INLINE: Final = 1024
"""Characters: longer text stands once in a row of its own, not in each checkpoint."""

_INLINE: Final = frozenset({type(None), bool, int, str})

_COLUMNS: Final = (
    "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata"
)
# A number, which orders them, as a column: `UNION ALL` promises no order. The limit stands in the
# statement: for one that is not known the server would plan anew each time.
_PAGE: Final = f"""
WITH page AS MATERIALIZED (
    SELECT {_COLUMNS}, row_number() OVER (ORDER BY {{order}}) AS at
    FROM checkpoints {{where}} ORDER BY {{order}} LIMIT {{limit}}
)
"""
_HERE: Final = "thread_id = ? AND checkpoint_ns = ?"
# `LATERAL` with a `LIMIT` or an `OFFSET` is one look-up by primary key for each row, whatever the
# planner thinks of how many rows a thread has.
_PATH: Final = f"""
WITH RECURSIVE page AS (
    SELECT {_COLUMNS}, 1 AS at FROM checkpoints WHERE {_HERE} AND checkpoint_id = ?
    UNION ALL
    SELECT parent.*, page.at + 1 FROM page CROSS JOIN LATERAL (
        SELECT {_COLUMNS} FROM checkpoints c WHERE c.thread_id = page.thread_id
        AND c.checkpoint_ns = page.checkpoint_ns AND c.checkpoint_id = page.parent_checkpoint_id
        LIMIT 1
    ) parent WHERE page.at < ?
)
"""
# Each row says what it is: a checkpoint, a value of some of them, or a write on one of them. A
# value that several have is sent once.
_CHECKPOINTS: Final = """
SELECT 'c', thread_id, checkpoint_ns, checkpoint_id, at, parent_checkpoint_id, checkpoint::text,
    metadata::text, NULL, NULL::bytea FROM page
"""
_VALUES: Final = """
UNION ALL
SELECT 'v', named.thread_id, named.checkpoint_ns, NULL, 0, named.key, named.value, NULL, blob.type,
    {data}
FROM (
    SELECT DISTINCT page.thread_id, page.checkpoint_ns, version.key, version.value
    FROM page CROSS JOIN LATERAL jsonb_each_text(page.checkpoint -> 'channel_versions') version
) named CROSS JOIN LATERAL (
    SELECT b.type, b.blob FROM checkpoint_blobs b WHERE b.thread_id = named.thread_id
    AND b.checkpoint_ns = named.checkpoint_ns AND b.channel = named.key
    AND b.version = named.value LIMIT 1
) blob WHERE blob.type <> 'empty'
"""
# Tables of langgraph-checkpoint-postgres up to 2.0.10 have no `task_path`. A column that is
# not there is looked for in the query around.
_NO_PATH: Final = "(SELECT ''::text AS task_path) no_path"
_WRITES: Final = f"""
UNION ALL
SELECT 'w', page.thread_id, page.checkpoint_ns, page.checkpoint_id, written.*
FROM page CROSS JOIN {_NO_PATH} CROSS JOIN LATERAL (
    SELECT idx, task_path, task_id, channel, type, blob
    FROM checkpoint_writes w WHERE w.thread_id = page.thread_id
    AND w.checkpoint_ns = page.checkpoint_ns AND w.checkpoint_id = page.checkpoint_id OFFSET 0
) written
"""
_FEW: Final = 64
_FEW_BYTES: Final = 128 * 1024
"""Of a thread that has so few pieces, the latest checkpoint needs most; they come with it, as to
ask for them takes as long as to send them."""
_FEW_PIECES: Final = f"""
UNION ALL
SELECT 'p', NULL, NULL, NULL, 0, encode(digest, 'hex'), NULL, NULL, type, data
FROM once_pieces WHERE thread_id = ? AND (
    SELECT count(*) <= {_FEW} AND sum(octet_length(data)) <= {_FEW_BYTES}
    FROM (SELECT data FROM once_pieces WHERE thread_id = ? LIMIT {_FEW + 1}) few
)
"""
_PUT: Final = Insert(
    "checkpoints",
    (*_COLUMNS.split(", "), "once_run_id"),
    CheckpointRef._fields,
    frozenset({"checkpoint", "metadata"}),
)
# Copies are of no run: a rollback of the source leaves them.
_COPY_CHECKPOINTS: Final = f"""
INSERT INTO checkpoints ({_COLUMNS}, type, once_run_id)
SELECT ?, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint,
    CASE WHEN metadata ->> 'thread_id' = ?
    THEN jsonb_set(metadata, '{{thread_id}}', to_jsonb(?::text)) ELSE metadata END, type, ''
FROM checkpoints WHERE thread_id = ?
"""
# A group is a row of digests. One that is compressed or encrypted only we can read: what is below
# it is asked for next. Each piece comes once, however often it is named.
_LOAD_PIECES: Final = f"""
WITH RECURSIVE tree (digest, level) AS (
    SELECT * FROM unnest(?::bytea[], ?::int[])
    UNION
    SELECT substring(piece.data FROM at FOR {DIGEST_BYTES}), tree.level - 1
    FROM tree CROSS JOIN LATERAL (
        SELECT data FROM once_pieces WHERE thread_id = ? AND digest = tree.digest
        AND type = 'bytes' LIMIT 1
    ) piece CROSS JOIN LATERAL generate_series(1, length(piece.data), {DIGEST_BYTES}) at
    WHERE tree.level > 0
)
SELECT piece.* FROM (SELECT DISTINCT digest FROM tree) named CROSS JOIN LATERAL (
    SELECT digest, type, data FROM once_pieces p WHERE p.thread_id = ? AND p.digest = named.digest
    LIMIT 1
) piece
"""
_MOST_ALONE: Final = 32
"""Pieces: the server plans to compile a statement that asks for some 50 (`jit_above_cost`)."""
# Nothing takes so long that compiling it would pay; of what recurs the server thinks it does.
_NO_JIT: Final = Statement("SELECT set_config('jit', 'off', true)", has_rows=False)
_READ: Final = f"{_CHECKPOINTS} {_VALUES.format(data='blob.blob')} {_WRITES}"
_NO_SENDS: Final = 4
"""The version of checkpoints from which on LangGraph keeps on them what is sent to tasks."""


class PostgresTables(PostgresMoves):
    """Statements for PostgreSQL, and what their rows say."""

    writes_table = "checkpoint_writes"
    value_column = "blob"
    run_id = RUN_ID
    copy_checkpoints = _COPY_CHECKPOINTS
    columns = (
        ("checkpoints", ""),
        ("checkpoint_blobs", "checkpoint_ns, channel, version, type, blob"),
        ("checkpoint_writes", f"{WRITE_COLUMNS}, blob"),
    )

    cell_tables = (
        CellTable(
            "value", "checkpoint_blobs", ("checkpoint_ns", "version", "channel"), "blob", "channel"
        ),
        CellTable("write", "checkpoint_writes", WRITE_KEY, "blob", "channel"),
        LEDGERS,
    )

    def sees_all(self) -> Program[bool]:
        """Whether no policy of row security hides checkpoints from this role."""
        ((is_restricted,),) = yield Statement("SELECT row_security_active('checkpoints')")
        return not is_restricted

    def among(self, values: Sequence[Any]) -> tuple[str, list[Any]]:
        """A condition that a column has one of these values, and what it takes."""
        return "= ANY(?)", [list(values)]

    def lock(self, thread_id: str, *, alone: bool) -> Iterable[Statement]:
        """Keep those who delete of a thread, and those who write to it, apart until the end."""
        function = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        sql = f"SELECT {function}(hashtextextended(?, {LOCKS}))"
        yield Statement(sql, [thread_id], has_rows=False)

    def at_once(
        self, thread_id: str, statements: Sequence[Statement], missing: Missing | None
    ) -> Statement | None:
        """Inserts, and the lock, as one to be tried: not if a piece that is wanted is missing."""
        named, stored = (missing.named(), missing.wanted) if missing else (set(), set())
        return at_once(thread_id, statements, named, stored)

    def find_alone(
        self, place: CheckpointRef, assembly: Assembly
    ) -> Program[StoredCheckpoint | None]:
        """`find` by one statement, with the pieces of a short thread that nobody remembers."""
        page, values = _latest(place)
        sql = f"{page} {_READ}"
        if not self.values.remembers(place.thread_id):
            sql, values = f"{sql} {_FEW_PIECES}", [*values, place.thread_id, place.thread_id]
        rows = yield Statement(sql, values, is_try=True)
        assembly.add((bytes.fromhex(row[5]), *row[8:]) for row in rows if row[0] == "p")
        found = self._checkpoints(rows)
        return found[0] if found and found[0].checkpoint["v"] >= _NO_SENDS else None

    def find(self, place: CheckpointRef) -> Program[StoredCheckpoint | None]:
        """The checkpoint at a place, with its writes."""
        found = yield from self._read(*_latest(place))
        return found[0] if found else None

    def conditions(self, query: Query) -> tuple[list[str], list[Any]]:
        """What rows must be for `list` to list them, as far as rows tell, and what that takes."""
        return conditions(query, may_be_sealed=self.values.encrypts)

    def select(
        self, where: str, values: Sequence[Any], limit: int
    ) -> Program[list[StoredCheckpoint]]:
        """The newest checkpoints whose rows meet a condition."""
        page = _PAGE.format(where=where, order=NEWEST_FIRST, limit=limit)
        return (yield from self._read(page, values))

    def ancestors(
        self, place: CheckpointRef, limit: int, channels: Sequence[str]
    ) -> Program[list[StoredCheckpoint]]:
        """A checkpoint and those before it on its path, nearest first, without their writes."""
        data = "CASE WHEN named.key = ANY(?) THEN blob.blob END"
        sql = f"{_PATH} {_CHECKPOINTS} {_VALUES.format(data=data)}"
        yield _NO_JIT
        rows = yield Statement(sql, [*place, limit, list(channels)])
        return self._checkpoints(rows)

    def put(self, new: NewCheckpoint, cuts: list[CutValue]) -> list[Statement]:
        """Store a checkpoint; `cuts` takes what was cut of it."""
        inline: dict[str, Any] = {}
        rows = []
        versions = new.checkpoint["channel_versions"]
        for channel, value in sorted(new.checkpoint["channel_values"].items()):
            if self._is_inline(value):
                inline[channel] = value
                continue
            if isinstance(value, _DeltaSnapshot):
                inline[channel] = True  # upstream's mark of a snapshot
            version = new.versions.get(channel)
            if version is None and _is_inline_for_others(value):
                # It is of an earlier step, and its version may have no row: whoever stored it kept
                # it in the checkpoint.
                version = versions.get(channel)
            if version is not None:
                key = (new.place.checkpoint_ns, str(version), channel)
                at = bound("value", new.place.thread_id, key, channel)
                cell = self.values.cell(value, cuts, at)
                rows.append([*new.place[:2], channel, str(version), *cell])
        head = {**new.checkpoint, "channel_values": inline}
        known = sealed(self.values, new.place, new.metadata)
        # Always said, if only that there is none: by that our rows are told from others'.
        run_id = new.run_id or ""
        row = [*new.place, new.parent_id, json_text(head), metadata_text(known), run_id]
        return [*([PUT_VALUES.of(rows)] if rows else []), _PUT.of([row])]

    def writes(
        self, places: Sequence[CheckpointRef], channels: Sequence[str] | None = None
    ) -> Program[dict[CheckpointRef, list[StoredWrite]]]:
        """What was written on some checkpoints, in the order in which it takes effect."""
        found: list[Row] = []
        for thread_id, checkpoint_ns in dict.fromkeys(place[:2] for place in places):
            ids = [place[2] for place in places if place[:2] == (thread_id, checkpoint_ns)]
            where, values = self.among(ids)
            if channels is not None:
                condition, more = self.among(channels)
                where, values = f"{where} AND channel {condition}", values + more
            found += yield Statement(
                f"SELECT written.* FROM {_NO_PATH} CROSS JOIN LATERAL (SELECT thread_id, "
                "checkpoint_ns, checkpoint_id, task_path, task_id, idx, channel, type, blob "
                f"FROM checkpoint_writes WHERE {_HERE} AND checkpoint_id {where}) written",
                [thread_id, checkpoint_ns, *values],
            )
        return self.written(found)

    def has_deltas(self, thread_id: str, checkpoint_ns: str) -> Program[bool]:
        """Whether a checkpoint counts what its delta channels have had since their snapshots."""
        rows = yield Statement(
            f"SELECT 1 FROM checkpoints WHERE {_HERE} "
            "AND jsonb_exists(metadata, 'counters_since_delta_snapshot') LIMIT 1",
            [thread_id, checkpoint_ns],
        )
        return bool(rows)

    def senders(self, thread_id: str, checkpoint_ns: str, ids: Sequence[str]) -> Program[list[str]]:
        """The checkpoints on which others keep what was sent to their tasks."""
        rows = yield Statement(
            f"SELECT DISTINCT parent_checkpoint_id FROM checkpoints WHERE {_HERE} "
            f"AND checkpoint_id = ANY(?) AND (checkpoint ->> 'v')::int < {_NO_SENDS} "
            "AND parent_checkpoint_id IS NOT NULL",
            [thread_id, checkpoint_ns, [*ids]],
        )
        parents = [CheckpointRef(thread_id, checkpoint_ns, parent) for (parent,) in rows]
        sent = (yield from self.writes(parents, [TASKS])) if parents else {}
        return [str(place.checkpoint_id) for place in sent]

    def load_pieces(
        self, thread_id: str, wanted: Mapping[bytes, int], *, alone: bool = False
    ) -> Program[list[Row]]:
        """Digest, tag and bytes of those of these pieces that are stored, and of those below."""
        alone = alone and len(wanted) <= _MOST_ALONE
        found: list[Row] = []
        if not alone:
            yield _NO_JIT
        for some in batches(wanted.items()):
            digests, levels = map(list, zip(*some, strict=True))
            values = [digests, levels, thread_id, thread_id]
            found += yield Statement(_LOAD_PIECES, values, is_try=alone)
        return found

    def value_sizes(self, thread_id: str) -> Program[list[Row]]:
        """Values of a thread in rows of their own: namespace, version, channel, bytes."""
        return (
            yield Statement(
                "SELECT checkpoint_ns, version, channel, COALESCE(pg_column_size(blob), 0) "
                "FROM checkpoint_blobs WHERE thread_id = ?",
                [thread_id],
            )
        )

    def value_readers(self, thread_id: str) -> Program[list[Row]]:
        """Which checkpoints have them: namespace, version, channel, checkpoint."""
        return (
            yield Statement(
                "SELECT checkpoint_ns, version.value, version.key, checkpoint_id FROM checkpoints "
                "CROSS JOIN LATERAL jsonb_each_text(checkpoint -> 'channel_versions') version "
                "WHERE thread_id = ?",
                [thread_id],
            )
        )

    def drop_unread(self, thread_id: str) -> Program[None]:
        """Delete values of a thread that no checkpoint has any more."""
        # Not in one statement: how it is planned follows from how many rows a thread has, which
        # the planner knows least of the longest. What is stored is asked first: who stores a value
        # meanwhile without our lock, as upstream's saver does, stores its checkpoint with it.
        stored = yield Statement(
            "SELECT checkpoint_ns, channel, version FROM checkpoint_blobs WHERE thread_id = ?",
            [thread_id],
        )
        read = yield Statement(
            "SELECT DISTINCT checkpoint_ns, version.key, version.value FROM checkpoints "
            "CROSS JOIN LATERAL jsonb_each_text(checkpoint -> 'channel_versions') version "
            "WHERE thread_id = ?",
            [thread_id],
        )
        for some in batches(set(stored) - set(read)):
            yield Statement(
                "DELETE FROM checkpoint_blobs WHERE thread_id = ? AND (checkpoint_ns, channel, "
                "version) IN (SELECT * FROM unnest(?::text[], ?::text[], ?::text[]))",
                [thread_id, *map(list, zip(*some, strict=True))],
                has_rows=False,
            )

    def _read(self, page: str, values: Sequence[Any]) -> Program[list[StoredCheckpoint]]:
        found = self._checkpoints((yield Statement(f"{page} {_READ}", values)))
        old = {
            stored.place: stored.place._replace(checkpoint_id=stored.parent_id)
            for stored in found
            if stored.parent_id and stored.checkpoint["v"] < _NO_SENDS
        }
        if old:  # LangGraph kept what was sent to tasks on the parent
            sent = yield from self.writes(list(old.values()), [TASKS])
            sends = {place: sent.get(parent, []) for place, parent in old.items()}
            found = [_with_sends(stored, sends.get(stored.place, [])) for stored in found]
        return found

    def _checkpoints(self, rows: Sequence[Row]) -> list[StoredCheckpoint]:
        blobs = {(*row[1:3], *row[5:7]): self._blob(row) for row in rows if row[0] == "v"}
        writes = self.written(
            [(*row[1:4], *row[5:7], row[4], *row[7:]) for row in rows if row[0] == "w"]
        )
        found = []
        for row in sorted((row for row in rows if row[0] == "c"), key=lambda row: row[4]):
            place, parent_id = CheckpointRef(*row[1:4]), row[5]
            checkpoint = json.loads(row[6])
            metadata = opened_metadata(self.values, place, read_metadata(row[7]))
            values = checkpoint.pop("channel_values", None) or {}
            for name, version in checkpoint["channel_versions"].items():
                text = version if isinstance(version, str) else json.dumps(version)
                if (key := (*place[:2], name, text)) in blobs:
                    values[name] = blobs[key]
            written = writes.get(place, [])
            found.append(StoredCheckpoint(place, parent_id, checkpoint, values, metadata, written))
        return found

    def _blob(self, row: Row) -> Unpacked | None:
        _, thread_id, checkpoint_ns, _, _, channel, version, _, tag, data = row
        if data is None:  # nobody asked for it
            return None
        at = bound("value", thread_id, (checkpoint_ns, version, channel), channel)
        return self.values.unpacked_if_sound(Cell(tag, data), at)

    def _is_inline(self, value: Any) -> bool:
        """Whether a value stands in the checkpoint itself, where all can read it."""
        if self.values.encrypts:
            return False
        if isinstance(value, str) and len(value) > _MOST_INLINE:
            return False
        return type(value) in _INLINE and is_kept(value)


def _latest(place: CheckpointRef) -> tuple[str, Sequence[Any]]:
    """A page with the checkpoint at a place, and what it takes."""
    id_ = "AND checkpoint_id = ?" if place.checkpoint_id else ""
    page = _PAGE.format(where=f"WHERE {_HERE} {id_}", order="checkpoint_id DESC", limit=1)
    return page, place if place.checkpoint_id else place[:2]


def _with_sends(stored: StoredCheckpoint, sends: Sequence[StoredWrite]) -> StoredCheckpoint:
    if not sends:
        return stored
    versions = dict(stored.checkpoint["channel_versions"])
    versions[TASKS] = max(versions.values(), default=f"{1:032}.{0:016}")
    return stored._replace(
        checkpoint={**stored.checkpoint, "channel_versions": versions},
        values={**stored.values, TASKS: Several(write.value for write in sends)},
    )


def _is_inline_for_others(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)
