"""JSON in columns of type JSONB, which is not always what it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from langgraph_once.checkpoint.metadata import is_kept

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
