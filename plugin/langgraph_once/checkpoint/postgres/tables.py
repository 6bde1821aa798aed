"""The tables in PostgreSQL: a value has a row to itself, by channel and version, as in upstream's.

Statements say `?` where a value goes; the engine says it as the driver does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from langgraph.checkpoint.base import get_checkpoint_id
from langgraph.checkpoint.serde.types import TASKS, _DeltaSnapshot

from langgraph_once.checkpoint.all_rows import LEDGERS, OWN, WRITE_COLUMNS, WRITE_KEY, Inline
from langgraph_once.checkpoint.database import Program, Row, Statement, batches
from langgraph_once.checkpoint.metadata import (
    SEALED,
    contains,
    exact_json,
    is_kept,
    is_taken,
    json_text,
    opened_metadata,
    read_json,
    sealed,
)
from langgraph_once.checkpoint.pieces import Assembly, Cell, CutValue, Missing
from langgraph_once.checkpoint.postgres import queries
from langgraph_once.checkpoint.stored import (
    CellAt,
    CellTable,
    CheckpointRef,
    Several,
    StoredCheckpoint,
    StoredWrite,
    bound,
)
from langgraph_once.checkpoint.tables import NEWEST_FIRST, NewCheckpoint, Query, Tables
from langgraph_once.checkpoint.values import Unpacked
from langgraph_once.errors import StorageError

_MOST_INLINE: Final = 1024
"""Characters: longer text stands once in a row of its own, not in each checkpoint."""

_INLINE: Final = frozenset({type(None), bool, int, str})
_RIGHTS: Final = ("INSERT", "UPDATE", "DELETE")
_SHORT: Final = 127
"""From so many bytes on it takes four, not one, to say how many."""
_MOST_IN_ROW: Final = 2000
"""About: a row of more than 2,032 bytes has its longest values outside."""


class PostgresTables(Tables):
    """Statements for PostgreSQL, and what their rows say."""

    writes_table = "checkpoint_writes"
    value_column = "blob"
    run_id = queries.RUN_ID
    copy_checkpoints = queries.COPY_CHECKPOINTS
    row_lock = " FOR UPDATE"
    metadata_columns = "metadata::text", "?::jsonb"
    is_sealed = f"jsonb_exists(metadata, '{SEALED}')"
    bytes_of = "pg_column_size"  # `length` would decompress it
    # Of the store none is told that this role may not read: threads are asked for above all.
    table_names = Statement(
        "SELECT relname::text FROM pg_class WHERE oid IN "
        "(to_regclass('checkpoints'), to_regclass('checkpoint_writes'), "
        "to_regclass('checkpoint_blobs'), to_regclass('once_pieces'), "
        "to_regclass('once_stream_states')) "
        "OR oid = to_regclass('store') AND has_table_privilege(oid, 'SELECT')"
    )
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
        sql = f"SELECT {function}(hashtextextended(?, {queries.LOCKS}))"
        yield Statement(sql, [thread_id], has_rows=False)

    def at_once(
        self, thread_id: str, statements: Sequence[Statement], missing: Missing | None
    ) -> Statement | None:
        """Inserts, and the lock, as one to be tried: not if a piece that is wanted is missing."""
        named, stored = (missing.named(), missing.wanted) if missing else (set(), set())
        return queries.at_once(thread_id, statements, named, stored)

    def find_alone(
        self, place: CheckpointRef, assembly: Assembly
    ) -> Program[StoredCheckpoint | None]:
        """`find` by one statement, with the pieces of a short thread that nobody remembers."""
        page, values = _latest(place)
        sql = f"{page} {queries.READ}"
        if not self.values.remembers(place.thread_id):
            sql, values = f"{sql} {queries.FEW_PIECES}", [*values, place.thread_id, place.thread_id]
        rows = yield Statement(sql, values, is_try=True)
        assembly.add((bytes.fromhex(row[5]), *row[8:]) for row in rows if row[0] == "p")
        found = self._checkpoints(rows)
        return found[0] if found and found[0].checkpoint["v"] >= queries.NO_SENDS else None

    def find(self, place: CheckpointRef) -> Program[StoredCheckpoint | None]:
        """The checkpoint at a place, with its writes."""
        found = yield from self._read(*_latest(place))
        return found[0] if found else None

    def conditions(self, query: Query) -> tuple[list[str], list[Any]]:
        """What rows must be for `list` to list them, as far as rows tell, and what that takes."""
        where = []
        values: list[Any] = []
        if query.config:
            at = query.config["configurable"]
            place = CheckpointRef.of(query.config)
            where.append("thread_id = ?")
            values.append(place.thread_id)  # of None, nothing: never those of all threads
            if at.get("checkpoint_ns") is not None:
                where.append("checkpoint_ns = ?")
                values.append(place.checkpoint_ns)
            if place.checkpoint_id is not None:
                where.append("checkpoint_id = ?")
                values.append(place.checkpoint_id)
        for name, wanted in (query.filter or {}).items():
            where.append("metadata @> ?::jsonb")
            values.append(json.dumps({name: wanted}))
            if self.values.encrypts:  # it may match once its metadata are decrypted
                where[-1] += " OR (NOT jsonb_exists(metadata, ?) AND jsonb_exists(metadata, ?))"
                values += [name, SEALED]
        if query.before is not None:
            where.append("checkpoint_id < ?")
            values.append(get_checkpoint_id(query.before))
        return where, values

    def select(
        self, where: str, values: Sequence[Any], limit: int
    ) -> Program[list[StoredCheckpoint]]:
        """The newest checkpoints whose rows meet a condition."""
        page = queries.PAGE.format(where=where, order=NEWEST_FIRST, limit=limit)
        return (yield from self._read(page, values))

    def ancestors(
        self, place: CheckpointRef, limit: int, channels: Sequence[str]
    ) -> Program[list[StoredCheckpoint]]:
        """A checkpoint and those before it on its path, nearest first, without their writes."""
        data = "CASE WHEN named.key = ANY(?) THEN blob.blob END"
        sql = f"{queries.PATH} {queries.CHECKPOINTS} {queries.VALUES.format(data=data)}"
        yield queries.NO_JIT
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
        row = [*new.place, new.parent_id, json_text(head), exact_json(known), run_id]
        return [*([queries.PUT_VALUES.of(rows)] if rows else []), queries.PUT.of([row])]

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
                f"SELECT written.* FROM {queries.NO_PATH} CROSS JOIN LATERAL (SELECT thread_id, "
                "checkpoint_ns, checkpoint_id, task_path, task_id, idx, channel, type, blob "
                f"FROM checkpoint_writes WHERE {queries.HERE} AND checkpoint_id {where}) written",
                [thread_id, checkpoint_ns, *values],
            )
        return self.written(found)

    def has_deltas(self, thread_id: str, checkpoint_ns: str) -> Program[bool]:
        """Whether a checkpoint counts what its delta channels have had since their snapshots."""
        rows = yield Statement(
            f"SELECT 1 FROM checkpoints WHERE {queries.HERE} "
            "AND jsonb_exists(metadata, 'counters_since_delta_snapshot') LIMIT 1",
            [thread_id, checkpoint_ns],
        )
        return bool(rows)

    def senders(self, thread_id: str, checkpoint_ns: str, ids: Sequence[str]) -> Program[list[str]]:
        """The checkpoints on which others keep what was sent to their tasks."""
        rows = yield Statement(
            f"SELECT DISTINCT parent_checkpoint_id FROM checkpoints WHERE {queries.HERE} "
            f"AND checkpoint_id = ANY(?) AND (checkpoint ->> 'v')::int < {queries.NO_SENDS} "
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
        alone = alone and len(wanted) <= queries.MOST_ALONE
        found: list[Row] = []
        if not alone:
            yield queries.NO_JIT
        for some in batches(wanted.items()):
            digests, levels = map(list, zip(*some, strict=True))
            values = [digests, levels, thread_id, thread_id]
            found += yield Statement(queries.LOAD_PIECES, values, is_try=alone)
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
        found = self._checkpoints((yield Statement(f"{page} {queries.READ}", values)))
        old = {
            stored.place: stored.place._replace(checkpoint_id=stored.parent_id)
            for stored in found
            if stored.parent_id and stored.checkpoint["v"] < queries.NO_SENDS
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
            metadata = opened_metadata(self.values, place, read_json(row[7]))
            values = checkpoint.pop("channel_values", None) or {}
            for name, version in checkpoint.get("channel_versions", {}).items():
                if (key := (*place[:2], name, _text(version))) in blobs:
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

    @staticmethod
    def disk_bytes(names: Iterable[str]) -> Program[tuple[int, int]]:
        """What some tables take on the disk; what is free in them, it does not tell."""
        each = " + ".join(f"pg_total_relation_size('{name}')" for name in sorted(names))
        ((size,),) = yield Statement(f"SELECT {each}")
        return int(size), 0

    @staticmethod
    def rights() -> Program[list[str]]:
        """What this role may do to checkpoints besides reading."""
        asked = ", ".join(f"has_table_privilege('checkpoints', '{right}')" for right in _RIGHTS)
        (row,) = yield Statement(f"SELECT {asked}")
        return [right for right, may in zip(_RIGHTS, row, strict=True) if may]

    @staticmethod
    def stored_bytes(length: int) -> int:
        """What bytes of some length take: before them stands how many they are, if in the row."""
        if length > _MOST_IN_ROW:
            return length
        return length + (1 if length < _SHORT else 4)

    def matches(self, metadata: Mapping[str, Any], wanted: dict[str, Any]) -> bool:
        """Whether metadata that were decrypted hold what is wanted, as the database would say."""
        return contains(metadata, wanted)

    def read_metadata(self, column: Any) -> dict[str, Any]:
        """What the column of metadata says."""
        return read_json(column)

    def metadata_text(self, metadata: Mapping[str, Any]) -> Any:
        """What the column of metadata holds."""
        return exact_json(metadata)

    def newest_of_others(self, after: str) -> Program[str | None]:
        """The newest checkpoint that no saver of ours stored, if its id is greater."""
        yield queries.QUICKLY  # there is no index that would tell, and a start must not wait
        return (yield from super().newest_of_others(after))

    def has_own(self) -> Program[bool]:
        """Whether our tables are there."""
        return bool((yield Statement("SELECT to_regclass('once_stream_states') IS NOT NULL"))[0][0])

    def drop_own(self) -> Program[bool]:
        """Drop our tables, indexes and columns. Returns whether; not if a row of ours is left."""
        if not (yield from self.has_own()):
            return True
        if not (yield Statement(f"SELECT pg_try_advisory_xact_lock({queries.SET_UP_KEY})"))[0][0]:
            raise StorageError("cannot drop our tables: a server makes them just now", path="")
        # Not waited for: others would wait behind us, and one of them for what we have already.
        tables = ", ".join(dict(self.columns + OWN))
        yield Statement(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE NOWAIT", has_rows=False)
        if (yield from self.is_any_ours()):
            return False
        for sql in queries.DROP_OWN:
            yield Statement(sql, has_rows=False)
        return True

    def restore_metadata(self, thread_id: str) -> Program[int]:
        """Put metadata where upstream has them, if JSONB takes them. Returns of how many."""
        rows = yield Statement(queries.METADATA, [thread_id])
        found = [
            [text, thread_id, *place]
            for *place, metadata in rows
            if is_taken(text := json_text(read_json(metadata)))
        ]
        if found:
            yield Statement(queries.PUT_METADATA, found, True, False)
        return len(found)

    def inline(self, thread_id: str) -> Program[list[Inline]]:
        """Checkpoints with values beside the cells, which nothing encrypts."""
        rows = yield Statement(queries.INLINE_VALUES, [thread_id])
        if not rows:
            return []
        blobs = yield Statement(
            "SELECT checkpoint_ns, channel, version FROM checkpoint_blobs WHERE thread_id = ?",
            [thread_id],
        )
        known, found = set(blobs), []
        for checkpoint_ns, checkpoint_id, inline, versions in rows:
            values = json.loads(inline)
            at = {name: _text(version) for name, version in json.loads(versions).items()}
            has_cell = {name for name in values if (checkpoint_ns, name, at.get(name)) in known}
            marks = {name for name in has_cell if values[name] is True}
            to_cells = {name: at[name] for name in values if name in at and name not in has_cell}
            place = CheckpointRef(thread_id, checkpoint_ns, checkpoint_id)
            if marks != values.keys():
                found.append(Inline(place, values, to_cells, marks))
        return found

    def take_out(self, found: Inline, cells: Mapping[str, Cell]) -> Iterable[Statement]:
        """Make values beside the cells cells."""
        rows = [
            [*found.place[:2], name, found.to_cells[name], *cell] for name, cell in cells.items()
        ]
        if rows:
            yield queries.PUT_VALUES.of(rows)
        marks = json.dumps(dict.fromkeys(sorted(found.marks), True))
        yield Statement(queries.TAKE_OUT, [marks, *found.place], has_rows=False)

    def checkpoint_of(self, table: CellTable, thread_id: str, at: CellAt) -> Program[str | None]:
        """The first checkpoint that has a cell."""
        if table.holds != "value":
            return (yield from super().checkpoint_of(table, thread_id, at))
        checkpoint_ns, version, channel = at.key
        rows = yield Statement(queries.FIRST_OF, [thread_id, checkpoint_ns, channel, version])
        return rows[0][0] if rows else None


def _latest(place: CheckpointRef) -> tuple[str, Sequence[Any]]:
    """A page with the checkpoint at a place, and what it takes."""
    id_ = "AND checkpoint_id = ?" if place.checkpoint_id else ""
    page = queries.PAGE.format(
        where=f"WHERE {queries.HERE} {id_}", order="checkpoint_id DESC", limit=1
    )
    return page, place if place.checkpoint_id else place[:2]


def _with_sends(stored: StoredCheckpoint, sends: Sequence[StoredWrite]) -> StoredCheckpoint:
    if not sends:
        return stored
    versions = dict(stored.versions)
    versions[TASKS] = max(versions.values(), default=f"{1:032}.{0:016}")
    return stored._replace(
        checkpoint={**stored.checkpoint, "channel_versions": versions},
        values={**stored.values, TASKS: Several(write.value for write in sends)},
    )


def _is_inline_for_others(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _text(version: Any) -> str:
    return version if isinstance(version, str) else json.dumps(version)
