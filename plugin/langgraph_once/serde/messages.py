"""Messages of LangGraph's rows, made without validation where that would change nothing.

Validating a message takes several times as long as unpacking it. A dump that has all the fields of
its class in order, each of the very type that is declared, is the state of the message. That was
seen of the classes in `_CLASSES`; each is tried once in a process, with a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

import langchain_core.messages as lc
from ormsgpack import packb, unpackb
from pydantic import BaseModel

from langgraph_once.serde.plans.models import Blank

_COMMON: Final = ("content", "additional_kwargs", "response_metadata", "type", "name", "id")


def rebuild_message(parts: Any) -> Any:
    """Return the message of `[module, name, dump, method]` where validation would change nothing.

    None where it may change something, or nothing is known of the class.

    Args:
        parts: What an extension holds, or nearly anything else.
    """
    if type(parts) is not list or len(parts) != 4 or type(parts[1]) is not str:
        return None
    found = _messages().get(parts[1])
    dump = parts[2]
    if found is None or type(dump) is not dict:
        return None
    cls, fields, fields_set, its_kind, differs = found
    if [*dump] != fields or parts[0] != cls.__module__:
        return None
    content, more, metadata, kind, name, id_, *own = dump.values()
    if (
        (type(content) is not str and not _are_blocks(content))
        or type(more) is not dict
        or type(metadata) is not dict
        or type(kind) is not str
        or kind != its_kind
        or not (name is None or type(name) is str)
        or not (id_ is None or type(id_) is str)
        or (differs is not None and differs(dump, *own))
    ):
        return None
    return _around(cls, dump, fields_set)


def _around(cls: type, dump: dict[str, Any], fields_set: set[str]) -> Any:
    made: Any = object.__new__(Blank)
    made.__dict__ = dump
    made.__pydantic_fields_set__ = fields_set.copy()
    made.__pydantic_extra__ = {}
    made.__pydantic_private__ = None
    made.__class__ = cls
    return made


def _as_read(names: Iterable[str]) -> list[str]:
    """Return names as the very strings that ormsgpack hands out: these are compared sooner."""
    return [*unpackb(packb(dict.fromkeys(names)))]


_USAGE: Final = _as_read(("input_tokens", "output_tokens", "total_tokens"))
_CALL: Final = _as_read(("name", "args", "id", "type"))
_DETAILS: Final = {
    "input_token_details": ("audio", "cache_creation", "cache_read"),
    "output_token_details": ("audio", "reasoning"),
}


def _are_blocks(content: Any) -> bool:
    return type(content) is list and all(type(block) in (dict, str) for block in content)


def _ai_differs(dump: dict[str, Any], calls: Any, invalid: Any, usage: Any) -> bool:
    # Without tool calls, validation looks for those of old messages.
    return (
        type(calls) is not list
        or not (
            all(map(_is_call, calls)) if calls else "tool_calls" not in dump["additional_kwargs"]
        )
        or invalid != []
        or not (usage is None or _is_usage(usage))
    )


def _is_call(call: Any) -> bool:
    if type(call) is not dict or [*call] != _CALL:
        return False
    name, args, id_, kind = call.values()
    return (
        type(name) is str
        and type(args) is dict
        and {*map(type, args)} <= {str}
        and (id_ is None or type(id_) is str)
        and type(kind) is str
        and kind == "tool_call"
    )


def _is_usage(usage: Any) -> bool:
    if type(usage) is not dict or [*usage][:3] != _USAGE:
        return False
    counts = [*usage.values()]
    names = [*usage][3:]
    return (
        {*map(type, counts[:3])} == {int}
        and names in ([*_DETAILS], [*_DETAILS][:1], [*_DETAILS][1:], [])
        and all(_are_counts(usage[name], _DETAILS[name]) for name in names)
    )


def _are_counts(details: Any, names: tuple[str, ...]) -> bool:
    """Whether these are nothing but numbers under these names, in this order."""
    return (
        type(details) is dict
        and {*map(type, details.values())} <= {int}
        and [*details] == [name for name in names if name in details]
    )


def _chunk_differs(dump: Any, calls: Any, invalid: Any, usage: Any, pieces: Any, at: Any) -> bool:
    # Validation derives the calls of a chunk from its pieces, and the pieces from its calls.
    return calls != [] or pieces != [] or at is not None or _ai_differs(dump, calls, invalid, usage)


def _tool_differs(_dump: Any, call_id: Any, _artifact: Any, status: Any) -> bool:
    is_text = type(call_id) is type(status) is str
    return not is_text or status not in ("success", "error")


_Message = tuple[type[BaseModel], list[str], set[str], str, Callable[..., bool] | None]
_CLASSES: Final[tuple[tuple[Any, dict[str, Any], Callable[..., bool] | None], ...]] = (
    (lc.HumanMessage, {}, None),
    (lc.SystemMessage, {}, None),
    (lc.AIMessage, {}, _ai_differs),
    (lc.AIMessageChunk, {}, _chunk_differs),
    (lc.ToolMessage, {"tool_call_id": "x"}, _tool_differs),
)
"""Classes, what a sample needs, and whether validation changes the fields that are not common."""


@cache
def _messages() -> dict[str, _Message]:
    """Return, by name, the classes whose validation leaves a sample as it is."""
    found: dict[str, _Message] = {}
    for cls, needed, differs in _CLASSES:
        sample = cls(content="x", id="1", **needed).model_dump()
        fields = _as_read(cls.model_fields)
        made = _around(cls, sample, {*fields})
        validated = cls(**sample)
        is_same = made == validated and [*vars(validated)] == [*sample] == fields
        if is_same and tuple(fields[:6]) == _COMMON:
            kind = cls.model_fields["type"].default
            found[cls.__name__] = cls, fields, {*fields}, kind, differs
    return found
