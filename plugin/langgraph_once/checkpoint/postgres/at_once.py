"""What one operation stores, as one statement: a transaction of its own, in one round trip."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from langgraph_once.checkpoint.database import Ask

__all__ = ["LOCKS", "at_once"]

LOCKS: Final = 8_317_140_011_327_529_207
"""Seed of the numbers of our advisory locks: those of others are others."""

_MOST_ROWS: Final = 8
"""Of one statement: for each number of rows there is another, which the server prepares."""
_LOCKED: Final = (
    f"SELECT thread_id, pg_advisory_xact_lock_shared(hashtextextended(thread_id, {LOCKS})) "
    "FROM (SELECT ?::text AS thread_id) named"
)
_INSERT: Final = re.compile(r"(.*\sVALUES) \((.*?)\)(.*)", re.DOTALL)
_THREAD: Final = "(SELECT thread_id FROM locked)"


def at_once(thread_id: str, asks: Iterable[Ask]) -> Ask | None:
    """The statements as one; none where they cannot be.

    Args:
        thread_id: The thread, which is locked.
        asks: Insert rows, each of which begins with the id of the thread.
    """
    sizes = []
    values: list[Any] = [thread_id]
    for ask in asks:
        rows = ask.values if ask.is_many else [ask.values]
        # Of two rows with one key the last must win, which one statement refuses to say.
        most = 1 if "DO UPDATE" in ask.sql else _MOST_ROWS
        if not 1 <= len(rows) <= most:
            return None
        sizes.append((ask.sql, len(rows)))
        values += [value for row in rows for value in row[1:]]
    return Ask(_sql(tuple(sizes)), values, has_rows=False, is_alone=True)


@lru_cache(maxsize=512)
def _sql(sizes: tuple[tuple[str, int], ...]) -> str:
    """All inserts in one, each after the lock is got: it is what gives the id of the thread."""
    inserts = []
    for sql, count in sizes:
        match: Any = _INSERT.fullmatch(sql.strip())
        insert, row, then = match.groups()
        row = row.replace("?", _THREAD, 1)
        inserts.append(f"{insert} {', '.join([f'({row})'] * count)}{then}")
    *others, last = inserts
    parts = [f"locked AS MATERIALIZED ({_LOCKED})"]
    parts += [f"stored_{number} AS ({each})" for number, each in enumerate(others)]
    return f"WITH {', '.join(parts)} {last}"
