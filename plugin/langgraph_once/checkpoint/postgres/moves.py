"""What is asked of PostgreSQL to rewrite all of its rows, and to leave it as upstream made it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from langgraph_once.checkpoint.all_rows import OWN, Inline
from langgraph_once.checkpoint.database import Insert, Program, Statement
from langgraph_once.checkpoint.metadata import SEALED
from langgraph_once.checkpoint.pieces.collect import Cell
from langgraph_once.checkpoint.postgres.metadata import (
    contains,
    is_taken,
    json_text,
    metadata_text,
    read_metadata,
)
from langgraph_once.checkpoint.stored import CellAt, CellTable, CheckpointRef
from langgraph_once.checkpoint.tables import Tables
from langgraph_once.errors import StorageError

SET_UP_KEY: Final = "hashtextextended(COALESCE(current_schema(), ''), 2750093644287551393)"
"""Of the lock under which our tables are made and dropped: of each schema there is one."""
_DROP_OWN: Final = (
    "DROP TABLE IF EXISTS once_pieces, once_stream_states, once_schema",
    "DROP INDEX IF EXISTS once_checkpoints_runs, once_writes_run",
    "ALTER TABLE checkpoints DROP COLUMN IF EXISTS once_run_id",
    "ALTER TABLE checkpoint_writes DROP COLUMN IF EXISTS once_run_id",
)
_INLINE: Final = """
SELECT checkpoint_ns, checkpoint_id, (checkpoint -> 'channel_values')::text,
    (checkpoint -> 'channel_versions')::text
FROM checkpoints WHERE thread_id = ? AND checkpoint -> 'channel_values' <> '{}'::jsonb
"""
_TAKE_OUT: Final = """
UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{channel_values}', ?::jsonb)
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""
PUT_VALUES: Final = Insert(
    "checkpoint_blobs", ("thread_id", "checkpoint_ns", "channel", "version", "type", "blob")
)
"""Puts values into cells."""
_METADATA: Final = """
SELECT checkpoint_ns, checkpoint_id, metadata::text FROM checkpoints
WHERE thread_id = ? AND jsonb_exists(metadata, '__once_json') FOR UPDATE
"""
_PUT_METADATA: Final = """
UPDATE checkpoints SET metadata = ?::jsonb
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""
_RIGHTS: Final = ("INSERT", "UPDATE", "DELETE")
_SHORT: Final = 127
"""From so many bytes on it takes four, not one, to say how many."""
_MOST_IN_ROW: Final = 2000
"""About: a row of more than 2,032 bytes has its longest values outside."""
_QUICKLY: Final = Statement("SELECT set_config('statement_timeout', '2s', true)", has_rows=False)
_FIRST_OF: Final = """
SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?
AND checkpoint -> 'channel_versions' ->> ? = ? ORDER BY checkpoint_id LIMIT 1
"""


class PostgresMoves(Tables):
    """Statements on all rows of a thread, and on our tables as such."""

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
        return read_metadata(column)

    def metadata_text(self, metadata: Mapping[str, Any]) -> Any:
        """What the column of metadata holds."""
        return metadata_text(metadata)

    def newest_of_others(self, after: str) -> Program[str | None]:
        """The newest checkpoint that no saver of ours stored, if its id is greater."""
        yield _QUICKLY  # there is no index that would tell, and a start must not wait
        return (yield from super().newest_of_others(after))

    def has_own(self) -> Program[bool]:
        """Whether our tables are there."""
        return bool((yield Statement("SELECT to_regclass('once_stream_states') IS NOT NULL"))[0][0])

    def drop_own(self) -> Program[bool]:
        """Drop our tables, indexes and columns. Returns whether; not if a row of ours is left."""
        if not (yield from self.has_own()):
            return True
        if not (yield Statement(f"SELECT pg_try_advisory_xact_lock({SET_UP_KEY})"))[0][0]:
            raise StorageError("cannot drop our tables: a server makes them just now", path="")
        # Not waited for: others would wait behind us, and one of them for what we have already.
        tables = ", ".join(dict(self.columns + OWN))
        yield Statement(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE NOWAIT", has_rows=False)
        if (yield from self.is_any_ours()):
            return False
        for sql in _DROP_OWN:
            yield Statement(sql, has_rows=False)
        return True

    def restore_metadata(self, thread_id: str) -> Program[int]:
        """Put metadata where upstream has them, if JSONB takes them. Returns of how many."""
        rows = yield Statement(_METADATA, [thread_id])
        found = [
            [text, thread_id, *place]
            for *place, metadata in rows
            if is_taken(text := json_text(read_metadata(metadata)))
        ]
        if found:
            yield Statement(_PUT_METADATA, found, True, False)
        return len(found)

    def inline(self, thread_id: str) -> Program[list[Inline]]:
        """Checkpoints with values beside the cells, which nothing encrypts."""
        rows = yield Statement(_INLINE, [thread_id])
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
            yield PUT_VALUES.of(rows)
        marks = json.dumps(dict.fromkeys(sorted(found.marks), True))
        yield Statement(_TAKE_OUT, [marks, *found.place], has_rows=False)

    def checkpoint_of(self, table: CellTable, thread_id: str, at: CellAt) -> Program[str | None]:
        """The first checkpoint that has a cell."""
        if table.holds != "value":
            return (yield from super().checkpoint_of(table, thread_id, at))
        checkpoint_ns, version, channel = at.key
        rows = yield Statement(_FIRST_OF, [thread_id, checkpoint_ns, channel, version])
        return rows[0][0] if rows else None


def _text(version: Any) -> str:
    return version if isinstance(version, str) else json.dumps(version)
