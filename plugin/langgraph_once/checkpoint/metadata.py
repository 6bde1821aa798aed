"""Metadata as rows have them: with keys, all but what servers filter by is encrypted.

What is encrypted stands as one value under a key of ours, bound to its row. So the columns, and the
SQL of others that reads what is readable, stay as they are. JSONB does not return every JSON as it
was; what it would change stands beside it as text.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from langgraph_once.checkpoint.pieces import Cell
from langgraph_once.checkpoint.stored import CheckpointRef, Naming, bound
from langgraph_once.checkpoint.values import Values
from langgraph_once.errors import EncryptionError, PayloadError
from langgraph_once.serde import BoundTo

COUNTERS: Final = "counters_since_delta_snapshot"
"""Where LangGraph counts, by channel, updates and steps since a delta channel was stored whole."""
SEALED: Final = "__once_sealed"
"""The key of what is encrypted: its tag, and its bytes in base64."""
_EXACT: Final = "__once_json"
"""In metadata: all of them as text, where JSONB would not keep them as they are."""

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def is_kept(value: Any) -> bool:
    """Whether every database returns JSON as it was: JSONB makes integers of large floats."""
    match value:
        case str():
            return "\0" not in value and not _SURROGATES.search(value)
        case float():
            return math.isfinite(value) and "e" not in repr(value) and repr(value) != "-0.0"
        case int():
            return -(2**63) <= value < 2**63
        case dict():
            return all(map(is_kept, value)) and all(map(is_kept, value.values()))
        case list() | tuple():
            return all(map(is_kept, value))
        case _:
            return True


def sealed(values: Values, place: CheckpointRef, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the row of a checkpoint has of its metadata."""
    if values.readable_metadata is None:
        return metadata
    plain: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in metadata.items():
        (plain if _is_plain(values, name, value) else rest)[name] = value
    return _with(plain, values.sealed(json.dumps(rest).encode(), _bound_to(place)))


def opened_metadata(
    values: Values, place: CheckpointRef, found: Mapping[str, Any]
) -> dict[str, Any]:
    """The metadata of which a row has this.

    Raises:
        SerdeError: They cannot be opened, or are not encrypted, and must be.
    """
    with Naming(place, "the metadata"):
        cell = sealed_in(found)
        if cell is None:
            if values.requires_sealed_metadata:
                raise EncryptionError("the metadata are not encrypted, and must be")
            return dict(found)
        rest: dict[str, Any] = json.loads(values.opened(cell, _bound_to(place)))
        return {name: value for name, value in found.items() if name != SEALED} | rest


def moved(
    values: Values, source: CheckpointRef, target: CheckpointRef, found: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """What the row of a copy has; None if it is the same. Nothing is decoded.

    Raises:
        SerdeError: They cannot be opened.
    """
    with Naming(source, "the metadata"):
        cell = sealed_in(found)
        if cell is None:
            return None
        new = values.moved(cell, _bound_to(source), _bound_to(target))
        return None if new is None else _with(found, new)


def resealed(
    source: Values, target: Values, place: CheckpointRef, found: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """What a row has when it is written anew; None if it is as it should be.

    Raises:
        SerdeError: They cannot be opened.
    """
    metadata = opened_metadata(source, place, found)
    with Naming(place, "the metadata"):
        cell = sealed_in(found)
        if target.readable_metadata is None:
            return None if cell is None else metadata
        plain = {name for name, value in metadata.items() if _is_plain(target, name, value)}
        if cell is not None and target.is_sealed_as_now(cell) and found.keys() - {SEALED} == plain:
            return None
    return sealed(target, place, metadata)


def _is_plain(values: Values, name: str, value: Any) -> bool:
    return name in (values.readable_metadata or ()) and is_kept([name, value])


def _with(plain: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    return {**plain, SEALED: [cell.tag, base64.b64encode(cell.data).decode()]}


def sealed_in(found: Mapping[str, Any]) -> Cell | None:
    """What is encrypted of metadata, if something is.

    Raises:
        PayloadError: It is damaged.
    """
    if SEALED not in found:
        return None
    try:
        tag, text = found[SEALED]
        return Cell(tag, base64.b64decode(text, validate=True))
    except (ValueError, TypeError) as error:
        raise PayloadError("what is encrypted of the metadata is damaged") from error


def _bound_to(place: CheckpointRef) -> BoundTo:
    return bound("metadata", place.thread_id, place[1:])


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


def exact_json(metadata: Mapping[str, Any]) -> str:
    """Metadata as JSON, beside them all as text if JSONB would not keep them.

    A number that it changes, as 1e16, stands there too: `list` finds rows by what JSONB made of it.
    """
    if all(is_kept([name, value]) for name, value in metadata.items()):
        return json_text(metadata)
    taken = {name: value for name, value in metadata.items() if is_taken(json_text({name: value}))}
    return json_text({**taken, _EXACT: json.dumps(metadata)})


def read_json(text: str) -> dict[str, Any]:
    """What `exact_json` wrote, or another saver."""
    metadata: dict[str, Any] = json.loads(text)
    if (exact := metadata.get(_EXACT)) is not None:
        metadata = json.loads(exact)
    return metadata
