"""The setting that lets types be loaded, ready to paste."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
from pydantic import TypeAdapter, ValidationError

from langgraph_once.config import TypeName

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["environment_line", "is_yours", "manifest_line", "proposed"]

_NOT_YOURS: Final = frozenset({"builtins", "langgraph_once"})

_TYPE_NAME: Final = TypeAdapter(TypeName)


def proposed(met: Iterable[str], allowed_types: Iterable[str] = ()) -> list[str]:
    """Return what the setting should hold: all that it holds, then what was met and is yours."""
    known = dict.fromkeys(allowed_types)
    return [*known, *(name for name in dict.fromkeys(met) if name not in known and is_yours(name))]


def manifest_line(names: Iterable[str]) -> str:
    """Return the setting for `langgraph.json`, below `checkpointer.once.serde`."""
    return f'"allowed_types": {json.dumps([*names])}'


def environment_line(names: Iterable[str]) -> str:
    """Return the setting for `.env`, or a shell."""
    return f"ONCE_SERDE__ALLOWED_TYPES='{json.dumps([*names])}'"


def is_yours(name: str) -> bool:
    """Whether the setting takes it, and it is neither ours nor upstream's to allow."""
    try:
        _TYPE_NAME.validate_python(name)
    except ValidationError:
        return False
    module, _, path = name.partition(":")
    is_safe = (module, path.rpartition(".")[2]) in SAFE_MSGPACK_TYPES
    return not is_safe and module.partition(".")[0] not in _NOT_YOURS
