"""Which key each thing that is encrypted needs: the heads of rows tell it, nothing is decrypted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from langgraph_once.checkpoint import (
    OnceSaver,
    Program,
    Progress,
    Source,
    Statement,
    batches,
    sealed_in,
)
from langgraph_once.errors import SerdeError
from langgraph_once.serde import DAMAGED, HEAD_BYTES, NO_KEY, needed_key

KeyUse: TypeAlias = Counter[tuple[str, str]]
"""The number of stored things, by the id of the key they need (`needed_key`) and by their kind."""

_NAMES: Final = {"checkpoint": "values", "value": "values", "write": "writes"}


def key_use(saver: OnceSaver, *, progress: Progress | None = None) -> KeyUse:
    """Count what is stored in a database of threads by the key that it needs.

    Args:
        saver: The database, as `Backend.open_to_read` opens it.
        progress: Is told how far it is.

    Raises:
        StorageError: It cannot be read.
    """
    source, found = Source(saver), KeyUse()
    for thread_id in source.each_thread(progress):
        found.update(source.run(_of_thread(source, thread_id)))
    return found


def _of_thread(source: Source, thread_id: str) -> Program[KeyUse]:
    tables, found = source.tables, KeyUse()
    read = [(each.name, each.data, _NAMES[each.holds]) for each in tables.cell_tables[:-1]]
    if source.has_own:
        read += [("once_stream_states", "data", "streams"), ("once_pieces", "data", "pieces")]
    for table, data, name in read:
        rows = yield Statement(
            f"SELECT type, substr({data}, 1, {HEAD_BYTES}) FROM {table} "
            "WHERE thread_id = ? AND type <> 'empty'",
            [thread_id],
        )
        found.update((needed_key(tag, bytes(head or b"")), name) for tag, head in rows)
    for places in batches((yield from tables.places(thread_id))):
        rows = yield from tables.metadata(places)
        found.update((_key_of_metadata(known), "metadata") for _, known in rows)
    return found


def _key_of_metadata(known: Mapping[str, Any]) -> str:
    try:
        cell = sealed_in(known)
    except SerdeError:
        return DAMAGED
    return NO_KEY if cell is None else needed_key(*cell)
