"""Where in a value something is, as its owner would write it: `["docs"][3].owner`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from langgraph_once.serde.codecs.once1.format.layout import Ext

__all__ = ["Step", "show_path"]

_MAX_KEY_CHARS: Final = 40
_MAX_STEPS: Final = 24

_OBJECTS: Final = frozenset({Ext.ADAPTER, Ext.FAMILY, Ext.VERSIONED, Ext.UNKNOWN, Ext.RECORD})


class Step(NamedTuple):
    """From a container or an object to something in it."""

    form: int
    """The extension that it is; below zero for what is native."""
    key: Any
    """The index or key; None where it is the key itself, or cannot be said."""


def show_path(steps: Iterable[Step]) -> str:
    """Return the path that `steps` take; empty for the value itself."""
    shown: list[str] = []
    skipped: list[str] | None = None  # what an object wraps its attributes in, until one comes
    for step in steps:
        if step.form in _OBJECTS:
            shown += skipped or ()
            skipped = []
        elif skipped is None:
            shown.append(_item(step))
        elif isinstance(step.key, str):
            shown.append(f".{step.key}" if step.key.isidentifier() else _item(step))
            skipped = None
        else:
            skipped.append(_item(step))
    shown += skipped or ()
    if len(shown) > _MAX_STEPS:
        half = _MAX_STEPS // 2
        shown = [*shown[:half], "...", *shown[-half:]]
    return "".join(shown)


def _item(step: Step) -> str:
    if step.form in (Ext.SET, Ext.FROZENSET):
        return "{...}"
    if step.key is None or not isinstance(step.key, (str, int, float, bool)):
        return "[...]"
    shown = ascii(step.key) if isinstance(step.key, str) else repr(step.key)
    if isinstance(step.key, str):
        shown = '"' + shown[1:-1].replace('"', '\\"') + '"'
    return f"[{shown}]" if len(shown) <= _MAX_KEY_CHARS else f"[{shown[:_MAX_KEY_CHARS]}...]"
