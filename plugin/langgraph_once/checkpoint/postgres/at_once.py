"""What one operation stores, as one statement: a transaction of its own, in one round trip."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from langgraph_once.checkpoint.database import Insert, Statement
from langgraph_once.checkpoint.pieces.cut import DIGEST_BYTES

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
