"""What one operation stores, as one statement: a transaction of its own, in one round trip."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from langgraph_once.checkpoint.database import Statement
from langgraph_once.checkpoint.pieces.cut import DIGEST_BYTES

__all__ = ["LOCKS", "at_once"]

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
_THREAD: Final = "(SELECT thread_id FROM locked)"
_THREAD_IF: Final = """
(SELECT CASE lacking WHEN 0 THEN thread_id ELSE (1 / (lacking - lacking))::text END
FROM locked CROSS JOIN checked)
"""
_INSERT: Final = re.compile(r"(.*\sVALUES) \((.*?)\)(.*)", re.DOTALL)


def at_once(
    thread_id: str, statements: Iterable[Statement], named: set[bytes], stored: set[bytes]
) -> Statement | None:
    """Statements as one; none where they cannot be.

    Args:
        thread_id: The thread, which it locks.
        statements: Those that insert rows begin with the id of the thread.
        named: Pieces that the rows name.
        stored: These, and what is below them. If one of all of them is not stored, it fails: it
            divides by zero.
    """
    values: list[Any] = [thread_id]
    if stored:
        values += len(stored), [*(stored - named)], b"".join(named)
    sizes = []
    for statement in statements:
        rows = statement.values if statement.is_many else [statement.values]
        # Of two rows with one key the last must win, which one statement refuses to say.
        most = 1 if "DO UPDATE" in statement.sql else _MOST_ROWS
        if not (statement.sql.lstrip().startswith("INSERT") and 1 <= len(rows) <= most):
            return None
        sizes.append((statement.sql, len(rows)))
        values += [value for row in rows for value in row[1:]]
    if not sizes or len(named) > _MOST_STORED:
        return None
    return Statement(_sql(tuple(sizes), bool(stored)), values, has_rows=False, is_try=True)


@lru_cache(maxsize=512)
def _sql(sizes: tuple[tuple[str, int], ...], checks: bool) -> str:
    """All inserts in one, each after the lock is got: it is what gives the id of the thread."""
    parts = [f"locked AS MATERIALIZED ({_LOCKED})"]
    if checks:
        parts.append(f"checked AS MATERIALIZED ({_CHECKED})")
    inserts = []
    for sql, count in sizes:
        match: Any = _INSERT.fullmatch(sql.strip())
        insert, row, then = match.groups()
        row = row.replace("?", _THREAD_IF if checks else _THREAD, 1)
        inserts.append(f"{insert} {', '.join([f'({row})'] * count)}{then}")
    *others, last = inserts
    parts += [f"stored_{number} AS ({each})" for number, each in enumerate(others)]
    return f"WITH {', '.join(parts)} {last}"
