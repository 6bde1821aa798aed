"""Which ancestors a checkpoint needs to be read.

Most checkpoints stand alone. A `DeltaChannel` does not: its value is rebuilt from the writes
of the checkpoint's ancestors, back to the nearest one that stores it (a snapshot, or a plain
value from before the channel became a delta channel). Without that ancestor the channel reads
as empty and nothing says so.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiosqlite
    from langgraph.checkpoint.serde.base import SerializerProtocol

# `UNION` and not `UNION ALL`: re-putting an id under its own descendant makes the chain a loop.
# `CROSS JOIN` keeps `chain` as the outer loop, so that each step is one look-up by primary key.
# SQLite yields recursive rows first in, first out: the checkpoint, its parent, and so on.
_CHAIN = """
WITH RECURSIVE chain(id, parent) AS (
    SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints
    WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = :head
    UNION
    SELECT c.checkpoint_id, c.parent_checkpoint_id
    FROM chain CROSS JOIN checkpoints c ON c.checkpoint_id = chain.parent
    WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns
)
SELECT c.checkpoint_id, CASE WHEN json_valid(CAST(c.metadata AS TEXT)) THEN
    json_extract(CAST(c.metadata AS TEXT), '$.counters_since_delta_snapshot') END,
    CASE WHEN NOT json_valid(CAST(c.metadata AS TEXT)) THEN c.metadata END
FROM chain CROSS JOIN checkpoints c
ON c.thread_id = :thread AND c.checkpoint_ns = :ns AND c.checkpoint_id = chain.id
"""

_COUNTERS = "counters_since_delta_snapshot"

_CHECKPOINT = """
SELECT type, checkpoint FROM checkpoints
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""


async def needed_to_read(
    conn: aiosqlite.Connection,
    serde: SerializerProtocol,
    *,
    thread_id: str,
    checkpoint_ns: str,
    checkpoint_id: str,
) -> list[str]:
    """List the checkpoints that reading `checkpoint_id` depends on, itself first.

    Args:
        conn: The database.
        serde: Reads the stored checkpoints of threads with delta channels; no other thread's
            checkpoint is deserialised.
        thread_id: The thread.
        checkpoint_ns: The namespace.
        checkpoint_id: The checkpoint that will be read.

    Returns:
        Ids, nearest first: the checkpoint, and as many ancestors as its delta channels need.
    """
    head = {"thread": thread_id, "ns": checkpoint_ns, "head": checkpoint_id}
    async with conn.execute(_CHAIN, head) as cursor:
        chain = [(id_, _counters(*found)) async for id_, *found in cursor]
    # The names of the whole chain, not of its head alone: a graph without the channel may have
    # run last, and the one that has it may run next.
    delta_channels = {name for _, counters in chain for name in counters}
    ids = [id_ for id_, _ in chain]
    missing: set[str] | None = None
    for depth, id_ in enumerate(ids if delta_channels else ()):
        async with conn.execute(_CHECKPOINT, (thread_id, checkpoint_ns, id_)) as cursor:
            async for type_, blob in cursor:
                checkpoint = serde.loads_typed((type_, blob))
                if missing is None:
                    # A channel without a version was never written: it is empty by right.
                    missing = delta_channels & checkpoint["channel_versions"].keys()
                missing -= checkpoint["channel_values"].keys()
        if not missing:
            return ids[: depth + 1]
    return ids if delta_channels else ids[:1]


def _counters(counters: str | None, metadata: bytes | None) -> dict[str, Any]:
    found: Any = json.loads(counters or "{}")
    if metadata is not None:
        # Python writes NaN, which SQLite does not take for JSON.
        with contextlib.suppress(ValueError, AttributeError):
            found = json.loads(metadata).get(_COUNTERS, {})
    return found if isinstance(found, dict) else {}
