"""Which types a stored value names, in every codec, found in its bytes.

Nothing is built or imported, so that any row may be asked. It takes time in proportion to the
bytes, and hardly any memory.

`channel_at` tells by its place in the bytes in which channel of a checkpoint something stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_DELTA_SNAPSHOT,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
)

from langgraph_once.serde.bounds.msgpack_headers import Kind, after_value, read_token, text_at
from langgraph_once.serde.codecs.once1.format.layout import Ext
from langgraph_once.serde.codecs.once1.format.scan import (
    VALUES_BEFORE,
    next_opening,
    ref_positions,
    split,
)
from langgraph_once.serde.codecs.once1.read import type_names as once1
from langgraph_once.serde.layers.tag import Codec

__all__ = ["MAX_NAME_CHARS", "Mention", "channel_at", "mentions_in"]

MAX_NAME_CHARS: Final = 500
"""Readers look up nothing that is longer."""

# Not the calls of methods: of these, readers make none but upstream's own.
_NAMED: Final = frozenset(
    {EXT_CONSTRUCTOR_SINGLE_ARG, EXT_CONSTRUCTOR_POS_ARGS, EXT_CONSTRUCTOR_KW_ARGS}
    | {EXT_PYDANTIC_V1, EXT_PYDANTIC_V2}
)
_OPENED: Final = _NAMED | {EXT_DELTA_SNAPSHOT}


class Mention(NamedTuple):
    """A type that a value names."""

    name: str
    """As `module:Qual.Name`; upstream's rows leave out the classes that it is nested in."""
    codec: Codec
    """What names it."""
    kind: str | int
    """The family of its instances in `once1`; else the extension that names it."""


def mentions_in(codec: Codec, data: bytes) -> dict[Mention, tuple[int, int]]:
    """Return what a value names, and where first: the entry of its table, and where in that.

    Args:
        codec: What wrote it.
        data: Its bytes, neither compressed nor encrypted.

    Raises:
        ValueError: They are damaged, or hold a name that no type can have.
    """
    found: dict[Mention, tuple[int, int]] = {}
    try:
        for mention, place in _mentions(codec, data):
            if mention not in found:
                _check(mention.name)
                found[mention] = place
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return found


def _check(name: str) -> None:
    module, _, path = name.partition(":")
    if not (module and path and name.isprintable()) or len(name) > MAX_NAME_CHARS:
        raise ValueError("a name that no type can have")


def _mentions(codec: Codec, data: bytes) -> Iterator[tuple[Mention, tuple[int, int]]]:
    if codec == "json":
        yield from ((mention, (0, -1)) for mention in _in_json(data))
    elif codec == "msgpack":
        yield from ((mention, (0, at)) for mention, at in _in_msgpack(data))
    elif codec == "once1":
        for index, part in enumerate(split(data)):
            entry = bytes(part)
            for (name, kind), at in once1.mentions(entry):
                yield Mention(name, "once1", kind), (index, at)
            for code, content, at in once1.upstream_parts(entry):
                if code in _NAMED:
                    yield _named(content, 0, code), (index, at)
                for mention, _ in _in_msgpack(content):
                    yield mention, (index, at)


def _in_msgpack(data: bytes) -> Iterator[tuple[Mention, int]]:
    at = 0
    while (at := next_opening(data, at)) < len(data):
        token = read_token(data, at)
        at = token.body if token.code in _OPENED else token.end
        if token.code in _NAMED:
            yield _named(data, token.body, token.code), token.body


def _named(data: bytes, at: int, code: int) -> Mention:
    module, at = text_at(data, read_token(data, at).body)
    name, _ = text_at(data, at)
    return Mention(f"{module}:{name}", "msgpack", code)


def _in_json(data: bytes) -> Iterator[Mention]:
    todo: list[Any] = [json.loads(data)]
    for value in todo:
        if isinstance(value, list):
            todo += value
        elif isinstance(value, dict):
            todo += value.values()
            match value:
                # What stands in "lc" 1 is LangChain's own.
                case {"lc": 2, "type": "constructor", "id": [*module, str(name)], **more}:
                    if more.get("method") is None or isinstance(more["method"], list):
                        yield Mention(f"{'.'.join(map(str, module))}:{name}", "json", 0)


_VALUES: Final = "channel_values"
_REF_BYTES: Final = 4


def channel_at(codec: Codec, data: bytes, place: tuple[int, int]) -> str:
    """Return the name of the channel that holds what stands at `place`; empty if that is not told.

    Args:
        codec: What wrote the checkpoint.
        data: Its bytes.
        place: The entry of its table, and where in that.

    Raises:
        ValueError: The bytes are damaged.
    """
    index, at = place
    if codec == "msgpack":
        return _channel_in(data, at)
    if codec != "once1":
        return ""
    entries = [bytes(part) for part in split(data)]
    for later in range(index + 1, len(entries)):
        # An entry stands behind those that it refers to, and the checkpoint is the last one.
        for position in ref_positions(entries[later]):
            if int.from_bytes(entries[later][position : position + _REF_BYTES], "big") == index:
                index, at = later, position
                break
    return _channel_in(entries[-1], at) if index == len(entries) - 1 else ""


def _channel_in(data: bytes, at: int) -> str:
    outer, inside = _key_around(data, _start(data), at)
    return _key_around(data, inside, at)[0] if outer == _VALUES else ""


def _start(data: bytes) -> int:
    """Return where the map begins that a checkpoint is, which objects in it may have around it."""
    top = read_token(data, 0)
    if top.code != Ext.TREE:
        return 0
    at = read_token(data, top.body).body
    for _ in range(VALUES_BEFORE):
        at = after_value(data, at)
    return at


def _key_around(data: bytes, at: int, wanted: int) -> tuple[str, int]:
    """Return the key whose value holds `wanted`, in the map at `at`, and where the value begins."""
    top = read_token(data, at)
    at = top.body
    for _ in range(top.size if top.kind is Kind.MAP else 0):
        key, start = text_at(data, at)
        at = after_value(data, start)
        if wanted < at:
            return key, start
    return "", 0
