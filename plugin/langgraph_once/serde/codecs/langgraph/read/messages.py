"""LangChain messages, rebuilt without validation where validation would change nothing.

Validating a message takes several times as long as unpacking it. If a dump has all the fields in
order, each of the very type that is declared, validation would make an equal message. So the
message is made around the dump itself. This is known of the classes whose fingerprints are listed
here, and of no others: when langchain-core changes how its messages are validated, the
fingerprint no longer matches, and they are validated. The fingerprint of a class is one of its
schema and of the code that its validation runs.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import langchain_core.messages as lc
from langchain_core.messages import tool
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
from ormsgpack import packb, unpackb
from pydantic import BaseModel

from langgraph_once.serde.codecs.once1.types.models.pydantic_models import Blank, becomes
from langgraph_once.serde.trust.off_loop import off_loop

__all__ = ["fingerprint", "rebuild_message"]

_SAYS_NOTHING: Final = frozenset({"metadata", "ref", "title", "model_name"})
_ADDRESS: Final = re.compile(r":\d{6,}")


def fingerprint(cls: type[BaseModel]) -> str:
    """Return a digest of the schema and the source of what runs when `cls` is validated.

    It does not depend on the version of Python. Without source, it is empty.
    """
    try:
        parts = [_normal(cls.__pydantic_core_schema__), *map(inspect.getsource, _code(cls))]
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _code(cls: type[BaseModel]) -> Iterator[Callable[..., Any]]:
    """Return the functions that run: constructors, validators, and what these call."""
    for base in cls.__mro__:
        if base is BaseModel:
            break
        own = vars(base)
        yield from (own[name] for name in ("__init__", "__new__", "model_post_init") if name in own)
    decorators = cls.__pydantic_decorators__
    for kind in ("model_validators", "field_validators", "root_validators", "validators"):
        for validator in getattr(decorators, kind).values():
            yield inspect.unwrap(validator.func)
    yield tool.tool_call


def _normal(node: Any) -> Any:
    """Return a core schema as JSON, without addresses, documentation and what is empty."""
    if isinstance(node, dict):
        return {
            str(key): _normal(value)
            for key, value in sorted(node.items())
            if key not in _SAYS_NOTHING and value not in ([], {}) and value is not None
        }
    if isinstance(node, (list, tuple)):
        return [_normal(part) for part in node]
    if isinstance(node, str):
        return _ADDRESS.sub("", node)
    if callable(node):
        return f"{node.__module__}.{node.__qualname__}"
    return repr(node)


_Check = Callable[[dict[str, Any], list[Any]], bool]
"""Whether validation would leave a dump as it is, what all messages have in common aside.

It takes the dump, and the values of those fields that not all messages have.
"""

_Known = tuple[str, type[BaseModel], str, list[str], set[str], _Check | None]
"""Module, class, `type`, fields in order and as a set, and the check; a tuple unpacks soonest."""

_METHOD: Final = "model_validate_json"
"""What upstream writes behind the dump of a model; it is never called."""


def _as_read(*names: str) -> list[str]:
    """Return `names` as the very strings that ormsgpack hands out: these are compared sooner."""
    return [*unpackb(packb(dict.fromkeys(names)))]


# In the order of the fields of each class.
_COMMON: Final = ("content", "additional_kwargs", "response_metadata", "type", "name", "id")
_CALL: Final = _as_read("name", "args", "id", "type")
_USAGE: Final = _as_read("input_tokens", "output_tokens", "total_tokens")

_new: Final = object.__new__


def rebuild_message(content: Any) -> Any:
    """Return the message that an extension `[module, name, dump, method]` stands for.

    None where it is not one that is known to need no validation.
    """
    if type(content) is not list or len(content) != 4:
        return None
    module, name, dump, method = content
    known = _known().get(name)
    if known is None or type(dump) is not dict or method != _METHOD:
        return None
    its_module, cls, kind, fields, fields_set, check = known
    if [*dump] != fields or module != its_module:
        return None
    text, additional, metadata, type_, name, id_, *own = dump.values()
    if (
        (type(text) is not str and not _blocks(text))
        or type(additional) is not dict
        or type(metadata) is not dict
        or type(type_) is not str
        or type_ != kind
        or (name is not None and type(name) is not str)
        or (type(id_) is not str and id_ is not None)
        or (check is not None and not check(dump, own))
    ):
        return None
    made: Any = _new(Blank)
    made.__dict__ = dump
    made.__pydantic_fields_set__ = fields_set.copy()
    made.__pydantic_extra__ = {}
    made.__pydantic_private__ = None
    made.__class__ = cls
    return made


@functools.cache
def _known() -> Mapping[str, _Known]:
    """Return, by name, the classes that are as this file knows them."""
    return {
        cls.__name__: (
            cls.__module__,
            cls,
            cls.model_fields["type"].default,
            _as_read(*_COMMON, *more),
            {*_COMMON, *more},
            check,
        )
        for cls, more, check in _CLASSES
        if (cls.__module__, cls.__name__) in SAFE_MSGPACK_TYPES
        and off_loop(fingerprint, cls) in _FINGERPRINTS  # it reads source
        and becomes(cls)
    }


def _ai(dump: dict[str, Any], own: list[Any]) -> bool:
    calls, invalid, usage = own
    return (
        type(calls) is list
        # Without tool calls, validation looks for those of old messages.
        and (_calls(calls) if calls else "tool_calls" not in dump["additional_kwargs"])
        and type(invalid) is list
        and not invalid
        and (usage is None or _usage(usage))
    )


def _ai_chunk(dump: dict[str, Any], own: list[Any]) -> bool:
    # Validation derives the calls of a chunk from its pieces, and the pieces from its calls.
    calls, invalid, usage, pieces, position = own
    return (
        _ai(dump, [calls, invalid, usage])
        and not calls
        and type(pieces) is list
        and not pieces
        and position is None
    )


def _tool(_dump: dict[str, Any], own: list[Any]) -> bool:
    call_id, _artifact, status = own
    return (
        type(call_id) is str and type(status) is str and (status == "success" or status == "error")
    )


def _chat(_dump: dict[str, Any], own: list[Any]) -> bool:
    return type(own[0]) is str


def _function(dump: dict[str, Any], _own: list[Any]) -> bool:
    return dump["name"] is not None


def _remove(dump: dict[str, Any], _own: list[Any]) -> bool:
    return bool(dump["content"] == "")


def _blocks(content: Any) -> bool:
    return type(content) is list and all(type(block) in (dict, str) for block in content)


def _calls(calls: list[Any]) -> bool:
    for call in calls:
        if type(call) is not dict or [*call] != _CALL:
            return False
        name, args, id_, type_ = call.values()
        if (
            type(name) is not str
            or type(args) is not dict
            or not (id_ is None or type(id_) is str)
            or type(type_) is not str
            or type_ != "tool_call"
        ):
            return False
        for key in args:
            if type(key) is not str:
                return False
    return True


def _usage(usage: Any) -> bool:
    if type(usage) is not dict:
        return False
    if [*usage] == _USAGE:
        read, written, total = usage.values()
        return type(read) is int and type(written) is int and type(total) is int
    keys = [*usage]
    return (
        keys[:3] == _USAGE
        and keys[3:] in _DETAILS_ORDERS
        and all(type(usage[key]) is int for key in _USAGE)
        and all(_counts(usage[key], _DETAILS[key]) for key in keys[3:])
    )


def _counts(details: Any, keys: tuple[str, ...]) -> bool:
    """Whether `details` holds nothing but numbers under these keys, in this order."""
    return (
        type(details) is dict
        and all(type(value) is int for value in details.values())
        and tuple(details) == tuple(key for key in keys if key in details)
    )


_DETAILS: Final = {
    "input_token_details": ("audio", "cache_creation", "cache_read"),
    "output_token_details": ("audio", "reasoning"),
}
_DETAILS_ORDERS: Final = ([*_DETAILS], *([key] for key in _DETAILS))

_TOOL: Final = ("tool_call_id", "artifact", "status")
_AI: Final = ("tool_calls", "invalid_tool_calls", "usage_metadata")
_CLASSES: Final[tuple[tuple[type[BaseModel], tuple[str, ...], _Check | None], ...]] = (
    (lc.HumanMessage, (), None),
    (lc.HumanMessageChunk, (), None),
    (lc.SystemMessage, (), None),
    (lc.SystemMessageChunk, (), None),
    (lc.FunctionMessage, (), _function),
    (lc.FunctionMessageChunk, (), _function),
    (lc.RemoveMessage, (), _remove),
    (lc.ChatMessage, ("role",), _chat),
    (lc.ChatMessageChunk, ("role",), _chat),
    (lc.ToolMessage, _TOOL, _tool),
    (lc.ToolMessageChunk, _TOOL, _tool),
    (lc.AIMessage, _AI, _ai),
    (lc.AIMessageChunk, (*_AI, "tool_call_chunks", "chunk_position"), _ai_chunk),
)

_FINGERPRINTS: Final = frozenset(
    {
        "4ffdc91448d0a060",  # HumanMessage
        "623b3734ae349965",  # HumanMessageChunk
        "0b7da0fb18a9299c",  # SystemMessage
        "e2c03ae9369ee91d",  # SystemMessageChunk
        "cfced7dfdc80ddd9",  # FunctionMessage
        "8c83635465c80e34",  # FunctionMessageChunk
        "16bb2f14344652fe",  # RemoveMessage
        "703871cc47ebb936",  # ChatMessage
        "730de068db42f4ab",  # ChatMessageChunk
        "b268efc16c97805d",  # ToolMessage
        "f81cd2c73d7e4536",  # ToolMessageChunk
        "11cdbc8b02967aae",  # AIMessage
        "bb17b9720edfc57f",  # AIMessageChunk
    }
)
"""Of the classes in langchain-core 1.7; the same under pydantic 2.12 and 2.14."""
