"""Which checkpoints `list` lists: by their rows, and by metadata that were decrypted."""

from __future__ import annotations

import json
from typing import Any

from langgraph.checkpoint.base import get_checkpoint_id

from langgraph_once.checkpoint.metadata import SEALED
from langgraph_once.checkpoint.stored import CheckpointRef
from langgraph_once.checkpoint.tables import Query


def conditions(query: Query, *, may_be_sealed: bool) -> tuple[list[str], list[Any]]:
    """Conditions on rows, and what they take.

    Args:
        query: Which checkpoints.
        may_be_sealed: Whether rows count that may match once their metadata are decrypted.
    """
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
        if may_be_sealed:
            where[-1] += " OR (NOT jsonb_exists(metadata, ?) AND jsonb_exists(metadata, ?))"
            values += [name, SEALED]
    if query.before is not None:
        where.append("checkpoint_id < ?")
        values.append(get_checkpoint_id(query.before))
    return where, values


def contains(value: Any, wanted: Any) -> bool:
    """Whether JSON contains other JSON, as `@>` says."""
    match value, wanted:
        case dict(), dict():
            return all(name in value and contains(value[name], wanted[name]) for name in wanted)
        case list(), list():
            return all(any(contains(each, item) for each in value) for item in wanted)
        case bool(), _:
            return value is wanted
        case (int() | float(), bool()):
            return False
        case _:
            return bool(value == wanted)
