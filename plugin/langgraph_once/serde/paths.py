"""Where in a value something is, as in `[key 0][3].owner`.

Keys of dictionaries belong to the value, as phone numbers may: the path counts them instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from langgraph_once.serde.plans.records import take

_MAX_OBJECTS: Final = 100_000
"""Bounds the time that an error takes."""
# A key may be a text of any length, and a path is part of a line, as is one of many steps.
_MAX_KEY_CHARS: Final = 40
_MAX_STEPS: Final = 24


def path_of(wanted: Any, value: Any) -> str | None:
    """Return the shortest path to an object in a value; empty for the value, None if not found."""
    if wanted is None:
        return None
    if wanted is value:
        return ""
    todo: deque[tuple[tuple[str, ...], Any]] = deque([((), value)])
    seen = {id(value)}
    while todo and len(seen) < _MAX_OBJECTS:
        steps, holder = todo.popleft()
        for step, part in _parts(holder):
            if part is wanted:
                return joined_path((*steps, step))
            if id(part) not in seen:
                seen.add(id(part))
                todo.append(((*steps, step), part))
    return None


def joined_path(steps: Sequence[str]) -> str:
    """Return a path of these steps, without those in its middle if they are many."""
    if len(steps) > _MAX_STEPS:
        half = _MAX_STEPS // 2
        steps = [*steps[:half], "...", *steps[-half:]]
    return "".join(steps)


def step_to(key: Any) -> str:
    """Return the step to an item: its key is cut short, and only shown if it is a simple one."""
    if not isinstance(key, (str, int, float, bool)):
        return "[...]"
    shown = repr(key)
    if isinstance(key, str):
        shown = '"' + ascii(key)[1:-1].replace('"', '\\"') + '"'
    return f"[{shown}]" if len(shown) <= _MAX_KEY_CHARS else f"[{shown[:_MAX_KEY_CHARS]}...]"


def _parts(holder: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds, and the step to it."""
    if isinstance(holder, dict):
        for at, key in enumerate(dict.__iter__(holder)):
            yield f"{{key {at}}}", key
            yield f"[key {at}]", dict.__getitem__(holder, key)
    elif isinstance(holder, (list, tuple)):
        yield from ((f"[{at}]", item) for at, item in enumerate(holder))
    elif isinstance(holder, (set, frozenset)):
        yield from (("{...}", item) for item in holder)
    elif hasattr(type(holder), "__dictoffset__") and not isinstance(holder, (type, str, int)):
        try:
            attributes = take(holder)
        except Exception:  # of a class that hides its attributes
            return
        for at, (name, item) in enumerate(attributes.items()):
            yield f".{name}" if name.isidentifier() else f"[key {at}]", item
