"""What long-term memory takes: its items by namespace, and what of them has expired."""

from __future__ import annotations

from typing import Final, NamedTuple

from langgraph_once.checkpoint import Statement
from langgraph_once_ops.survey.snapshot import Snapshot

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
