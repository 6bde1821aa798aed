"""Metadata as columns of type JSONB have them, and which checkpoints `list` lists by them.

JSONB does not return every JSON as it was; what it would change stands beside it as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from langgraph.checkpoint.base import get_checkpoint_id

from langgraph_once.checkpoint.metadata import SEALED, is_kept
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


_EXACT: Final = "__once_json"
"""In metadata: all of them as text, where JSONB would not keep them as they are."""


def is_taken(text: str) -> bool:
    """Whether JSONB takes a JSON text at all, as it was or not."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
        text.encode()
    except ValueError:  # NaN, or half of a surrogate pair
        return False
    return "\\u0000" not in text


def json_text(value: Mapping[str, Any]) -> str:
    """A value as JSON."""
    return json.dumps(value, ensure_ascii=False)


def metadata_text(metadata: Mapping[str, Any]) -> str:
    """Metadata as JSON, beside them all as text if JSONB would not keep them.

    A number that it changes, as 1e16, stands there too: `list` finds rows by what JSONB made of it.
    """
    if all(is_kept([name, value]) for name, value in metadata.items()):
        return json_text(metadata)
    taken = {name: value for name, value in metadata.items() if is_taken(json_text({name: value}))}
    return json_text({**taken, _EXACT: json.dumps(metadata)})


def read_metadata(text: str) -> dict[str, Any]:
    """What `metadata_text` wrote, or another saver."""
    metadata: dict[str, Any] = json.loads(text)
    if (exact := metadata.get(_EXACT)) is not None:
        metadata = json.loads(exact)
    return metadata
