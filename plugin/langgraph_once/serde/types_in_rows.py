"""Which types a stored value names, in every codec, and in which channels they stand.

They are found in the bytes. Nothing is built or imported, so any row may be asked. Extensions are
opened one after the other, never one inside of the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import EXT_DELTA_SNAPSHOT, EXT_METHOD_SINGLE_ARG
from ormsgpack import OPT_NON_STR_KEYS, OPT_PASSTHROUGH_DATACLASS, packb, unpackb

from langgraph_once.errors import SerdeError
from langgraph_once.serde.format import CHANNELS, Code, head_parts, heads_in
from langgraph_once.serde.limits import check_keys, copies_of
from langgraph_once.serde.names import MAX_NAME_CHARS, class_names
from langgraph_once.serde.opaque import shown_name

_STOCK: Final = "stock"
"""The form of objects that are read by LangGraph's rules."""
# Without the calls of methods: of these, readers make none but LangGraph's own.
_CALLS: Final = frozenset({*range(6)} - {EXT_METHOD_SINGLE_ARG})
_CONTAINERS: Final = frozenset({Code.TUPLE, Code.SET, Code.FROZENSET, Code.MAP, Code.SHARED})
_ROW: Final = -1
_OPTIONS: Final = OPT_NON_STR_KEYS | OPT_PASSTHROUGH_DATACLASS


@dataclass(frozen=True, slots=True)
class Mention:
    """A type that a value names."""

    name: str
    """As `module:Qual.Name`, with its parameters in brackets; LangGraph's rows leave out the
    classes that it is nested in."""
    codec: str
    """That names it: "once2", "msgpack" or "json"."""
    form: str | int = 0
    """How `once2` took its instances apart; else the extension of LangGraph that names it."""
    version: int = 0
    """Of its class, when the row was written."""
    head: bytes = field(default=b"", compare=False, repr=False)
    """Of one of its instances in `once2`."""

    @classmethod
    def of_head(cls, head: bytes) -> Mention:
        """Return what a head names. What an adapter wrote names no class: the name is empty.

        Raises:
            ValueError: It is damaged, or holds a name that no type can have.
        """
        form, name, version, extra = head_parts(head)
        for each in class_names(name):
            _check(each)
        if form == _STOCK:
            return cls(name, "msgpack", extra[0])
        return cls("" if name is None else shown_name(name), "once2", form, version, head)

    def names(self) -> list[str]:
        """Return the names of the classes and functions that it is made of."""
        return [*class_names(head_parts(self.head).name)] if self.head else [self.name]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """An extension that was not opened yet, or the row."""

    codec: str
    code: int
    content: bytes


def mentions_in(codec: str, data: bytes) -> dict[Mention, str]:
    """Return what a value names, each with the channel of a checkpoint in which it stands.

    The channel is empty where the value is no checkpoint, or its bytes do not tell.

    Args:
        codec: That wrote the value.
        data: Its bytes, neither compressed nor encrypted.

    Raises:
        ValueError: They are damaged, take too much, or hold a name that no type can have.
    """
    try:
        if codec == "json":
            return dict.fromkeys(_in_json(data), "")
        found = dict(_scanned(codec, data)) if codec in ("once2", "msgpack") else {}
    except (SerdeError, RecursionError, TypeError, LookupError) as error:
        raise ValueError(f"damaged ({type(error).__name__})") from error
    return {mention: channel for mention, channel in found.items() if mention.name}


def _scanned(codec: str, data: bytes) -> Iterator[tuple[Mention, str]]:
    left = copies_of(len(data))
    todo, channels = [_Part(codec, _ROW, data)], dict[_Part, str]()
    while todo:
        part = todo.pop()
        left -= len(part.content)
        if left < 0:
            raise ValueError("extensions stand in each other too deep")
        inner: list[_Part] = []
        for found in _opened(part, inner):
            if isinstance(found, Mention):
                yield found, channels.get(part, "")
            elif part.code == _ROW:
                channels = _channels(found)
        if part.code != _ROW:
            channels |= dict.fromkeys(inner, channels.get(part, ""))
        todo += inner


def _opened(part: _Part, inner: list[_Part]) -> Iterator[Any]:
    """Yield what an extension names, and what it holds; add the extensions in it to `inner`."""

    def note(code: int, content: bytes, codec: str = part.codec) -> _Part:
        inner.append(_Part(codec, code, content))
        return inner[-1]

    def unpacked(msgpack: bytes) -> Any:
        check_keys(msgpack)
        return unpackb(msgpack, ext_hook=note, option=OPT_NON_STR_KEYS)

    code, content = part.code, part.content
    if code == _ROW:
        yield unpacked(content)
    elif part.codec == "msgpack":
        yield from _opened_stock(code, content, unpacked)
    elif code == Code.OBJECT:
        head, data = unpacked(content)
        first, *others = map(Mention.of_head, heads_in(head))
        yield from (first, *others)
        if first.codec == "msgpack":
            note(int(first.form), data, "msgpack")
    elif code == Code.MANY:
        heads = chain.from_iterable(map(heads_in, unpackb(content)[0]))
        yield from map(Mention.of_head, heads)
    elif code == Code.GRAPH:
        yield from map(unpacked, unpackb(content))
    elif Code(code) in _CONTAINERS or code == Code.VALUE:
        yield unpacked(content[1:] if code == Code.VALUE else content)


def _opened_stock(code: int, content: bytes, unpacked: Callable[[bytes], Any]) -> Iterator[Any]:
    if code in _CALLS:
        module, name, *_ = unpacked(content)
        yield Mention(_check(f"{module}:{name}"), "msgpack", code)
    elif code == EXT_DELTA_SNAPSHOT:
        yield unpacked(content)


def _channels(value: Any) -> dict[_Part, str]:
    """Return in which channel of a checkpoint each of its extensions stands."""
    values = value.get(CHANNELS) if isinstance(value, dict) else None
    found: dict[_Part, str] = {}

    def note(name: str, part: _Part) -> None:
        found.setdefault(part, name)

    for name, channel in values.items() if isinstance(values, dict) else ():
        try:  # ormsgpack walks, and asks about each extension that it meets
            packb(channel, partial(note, name), _OPTIONS)
        except TypeError:  # lists are nested too deep for that
            continue
    return found


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
                        yield Mention(_check(f"{'.'.join(map(str, module))}:{name}"), "json")


def _check(name: str) -> str:
    module, _, path = name.partition(":")
    if not (module and path and name.isprintable()) or len(name) > MAX_NAME_CHARS:
        raise ValueError("a name that no type can have")
    return name
