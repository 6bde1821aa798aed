"""What is said to PostgreSQL, as text, and several inserts made one statement.

Statements say `?` where a value goes; the engine says it as the driver does.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from langgraph_once.checkpoint.cut import DIGEST_BYTES
from langgraph_once.checkpoint.database import Insert, Statement
from langgraph_once.checkpoint.stored import CheckpointRef

SET_UP_KEY: Final = "hashtextextended(COALESCE(current_schema(), ''), 2750093644287551393)"
"""Of the lock under which our tables are made and dropped: of each schema there is one."""
DROP_OWN: Final = (
    "DROP TABLE IF EXISTS once_pieces, once_stream_states, once_schema",
    "DROP INDEX IF EXISTS once_checkpoints_runs, once_writes_run",
    "ALTER TABLE checkpoints DROP COLUMN IF EXISTS once_run_id",
    "ALTER TABLE checkpoint_writes DROP COLUMN IF EXISTS once_run_id",
)
INLINE_VALUES: Final = """
SELECT checkpoint_ns, checkpoint_id, (checkpoint -> 'channel_values')::text,
    (checkpoint -> 'channel_versions')::text
FROM checkpoints WHERE thread_id = ? AND checkpoint -> 'channel_values' <> '{}'::jsonb
"""
TAKE_OUT: Final = """
UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{channel_values}', ?::jsonb)
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""
PUT_VALUES: Final = Insert(
    "checkpoint_blobs", ("thread_id", "checkpoint_ns", "channel", "version", "type", "blob")
)
"""Puts values into cells."""
METADATA: Final = """
SELECT checkpoint_ns, checkpoint_id, metadata::text FROM checkpoints
WHERE thread_id = ? AND jsonb_exists(metadata, '__once_json') FOR UPDATE
"""
PUT_METADATA: Final = """
UPDATE checkpoints SET metadata = ?::jsonb
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""
QUICKLY: Final = Statement("SELECT set_config('statement_timeout', '2s', true)", has_rows=False)
FIRST_OF: Final = """
SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?
AND checkpoint -> 'channel_versions' ->> ? = ? ORDER BY checkpoint_id LIMIT 1
"""

LOCKS: Final = 8_317_140_011_327_529_207
"""Seed of the numbers of our advisory locks: those of others are others."""

MOST_ROWS: Final = 8
"""Of one statement: for each number of rows there is another, which the server prepares."""
MOST_STORED: Final = 64
LOCKED: Final = f"""
SELECT thread_id, pg_advisory_xact_lock_shared(hashtextextended(thread_id, {LOCKS}))
FROM (SELECT ?::text AS thread_id) named
"""
# The statement may have begun to look before it got the lock, and pieces that it sees may have
# been swept. Such rows cannot be locked any more, and do not count. The series is of a length that
# the server knows: else it expects a thousand rows, and plans anew each time.
#
# The pieces that named pieces hold are swept only together with them. They are counted, as somebody
# may have deleted some by hand, and not locked: a lock is written to the row.
CHECKED: Final = f"""
SELECT ?::int - count(*) - (
    SELECT count(*) FROM once_pieces p
    WHERE p.thread_id = (SELECT thread_id FROM locked) AND p.digest = ANY(?::bytea[])
) AS lacking
FROM locked CROSS JOIN (SELECT ?::bytea AS names) stored
CROSS JOIN generate_series(1, {MOST_STORED * DIGEST_BYTES}, {DIGEST_BYTES}) at CROSS JOIN LATERAL (
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
        if insert is None or not 1 <= len(rows) <= (1 if insert.key else MOST_ROWS):
            return None
        inserts.append((insert, len(rows)))
        values += [value for row in rows for value in row[1:]]
    if not inserts or len(named) > MOST_STORED:
        return None
    return Statement(_sql(tuple(inserts), bool(stored)), values, has_rows=False, is_try=True)


@lru_cache(maxsize=512)
def _sql(inserts: tuple[tuple[Insert, int], ...], checks: bool) -> str:
    """All inserts in one, each of rows that are there once the lock is got and nothing lacks."""
    parts = [f"locked AS MATERIALIZED ({LOCKED})"]
    may = "SELECT thread_id FROM locked"
    if checks:
        parts.append(f"checked AS MATERIALIZED ({CHECKED})")
        may += " CROSS JOIN checked WHERE lacking = 0"
    parts.append(f"allowed AS MATERIALIZED ({may})")
    for number, (insert, count) in enumerate(inserts):
        row = f"({', '.join(insert.marks[1:])})"
        rows = f"(VALUES {', '.join([row] * count)}) news"
        select = f"SELECT allowed.thread_id, news.* FROM allowed CROSS JOIN {rows}"
        parts.append(f"stored_{number} AS ({insert.into} {select} {insert.then})")
    return f"WITH {', '.join(parts)} SELECT 1 FROM allowed"


RUN_ID: Final = "COALESCE(once_run_id, metadata ->> 'run_id')"

COLUMNS: Final = (
    "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata"
)
# A number, which orders them, as a column: `UNION ALL` promises no order. The limit stands in the
# statement: for one that is not known the server would plan anew each time.
PAGE: Final = f"""
WITH page AS MATERIALIZED (
    SELECT {COLUMNS}, row_number() OVER (ORDER BY {{order}}) AS at
    FROM checkpoints {{where}} ORDER BY {{order}} LIMIT {{limit}}
)
"""
HERE: Final = "thread_id = ? AND checkpoint_ns = ?"
# `LATERAL` with a `LIMIT` or an `OFFSET` is one look-up by primary key for each row, whatever the
# planner thinks of how many rows a thread has.
PATH: Final = f"""
WITH RECURSIVE page AS (
    SELECT {COLUMNS}, 1 AS at FROM checkpoints WHERE {HERE} AND checkpoint_id = ?
    UNION ALL
    SELECT parent.*, page.at + 1 FROM page CROSS JOIN LATERAL (
        SELECT {COLUMNS} FROM checkpoints c WHERE c.thread_id = page.thread_id
        AND c.checkpoint_ns = page.checkpoint_ns AND c.checkpoint_id = page.parent_checkpoint_id
        LIMIT 1
    ) parent WHERE page.at < ?
)
"""
# The first column tells a checkpoint ('c') from a value and a write. A value that several
# checkpoints have is sent once.
CHECKPOINTS: Final = """
SELECT 'c', thread_id, checkpoint_ns, checkpoint_id, at, parent_checkpoint_id, checkpoint::text,
    metadata::text, NULL, NULL::bytea FROM page
"""
VALUES: Final = """
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
NO_PATH: Final = "(SELECT ''::text AS task_path) no_path"
WRITES: Final = f"""
UNION ALL
SELECT 'w', page.thread_id, page.checkpoint_ns, page.checkpoint_id, written.*
FROM page CROSS JOIN {NO_PATH} CROSS JOIN LATERAL (
    SELECT idx, task_path, task_id, channel, type, blob
    FROM checkpoint_writes w WHERE w.thread_id = page.thread_id
    AND w.checkpoint_ns = page.checkpoint_ns AND w.checkpoint_id = page.checkpoint_id OFFSET 0
) written
"""
FEW: Final = 64
FEW_BYTES: Final = 128 * 1024
"""Of a thread that has so few pieces, the latest checkpoint needs most; they come with it, as to
ask for them takes as long as to send them."""
FEW_PIECES: Final = f"""
UNION ALL
SELECT 'p', NULL, NULL, NULL, 0, encode(digest, 'hex'), NULL, NULL, type, data
FROM once_pieces WHERE thread_id = ? AND (
    SELECT count(*) <= {FEW} AND sum(octet_length(data)) <= {FEW_BYTES}
    FROM (SELECT data FROM once_pieces WHERE thread_id = ? LIMIT {FEW + 1}) few
)
"""
PUT: Final = Insert(
    "checkpoints",
    (*COLUMNS.split(", "), "once_run_id"),
    CheckpointRef._fields,
    frozenset({"checkpoint", "metadata"}),
)
# Copies are of no run: a rollback of the source leaves them.
COPY_CHECKPOINTS: Final = f"""
INSERT INTO checkpoints ({COLUMNS}, type, once_run_id)
SELECT ?, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint,
    CASE WHEN metadata ->> 'thread_id' = ?
    THEN jsonb_set(metadata, '{{thread_id}}', to_jsonb(?::text)) ELSE metadata END, type, ''
FROM checkpoints WHERE thread_id = ?
"""
# A group is a row of digests. One that is compressed or encrypted only we can read: what is below
# it is asked for next. Each piece comes once, however often it is named.
LOAD_PIECES: Final = f"""
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
MOST_ALONE: Final = 32
"""Pieces: the server plans to compile a statement that asks for some 50 (`jit_above_cost`)."""
# Nothing takes so long that compiling it would pay; of what recurs the server thinks it does.
NO_JIT: Final = Statement("SELECT set_config('jit', 'off', true)", has_rows=False)
READ: Final = f"{CHECKPOINTS} {VALUES.format(data='blob.blob')} {WRITES}"
NO_SENDS: Final = 4
"""From this version on, a checkpoint of LangGraph holds what a `Send` gives to a task."""
