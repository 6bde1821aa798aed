"""The messages in what a node takes or returns, found as the graph's reducers would find them.

Upstream looks at the values of the state and at the items of its lists; messages deeper down,
in an `Overwrite`, in the pairs of a `Command` or in an `entrypoint.final` never reach the
`messages` mode. Here every container is entered; strings and lists of plain values are not
walked, whatever their size.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import convert_to_messages
from langgraph.func import entrypoint
from langgraph.types import Command, Overwrite, Send
from pydantic import BaseModel

__all__ = [
    "DEFAULT_KEY",
    "Found",
    "coerced",
    "copied",
    "entries_of",
    "fields_of",
    "found_in_input",
    "found_in_update",
    "is_as_copied",
    "is_message_like",
    "messages_given",
    "overwritten",
]

ATOMS = frozenset({str, int, float, bool, bytes, bytearray, complex, type(None)})
NO_MESSAGES = (str, bytes, bytearray, memoryview, range)
OVERWRITE = "__overwrite__"
MAX_DEPTH = 32
ROOT_KEY = "__root__"
DEFAULT_KEY = "messages"

IsMessageKey = Callable[[str], bool]
"""Whether the reducer of a key makes messages of dicts, tuples and strings."""


@dataclass(slots=True)
class Found:
    """What one walk found.

    Attributes:
        messages: In order; those that the reducer would make of other values are new objects.
        nameless: Those of them that the reducer will make anew, under an id of its own.
        by_key: Those of each key.
        by_id: The `id()` of those that are in a list of messages, which keeps one for each id.
        replaced: For each key whose list is replaced as a whole, the messages it is left with.
    """

    messages: list[BaseMessage] = field(default_factory=list)
    nameless: list[BaseMessage] = field(default_factory=list)
    by_key: dict[str, list[BaseMessage]] = field(default_factory=dict)
    by_id: set[int] = field(default_factory=set)
    replaced: dict[str, list[BaseMessage]] = field(default_factory=dict)


def found_in_update(response: Any, is_message_key: IsMessageKey = lambda _: False) -> Found:
    """The messages in what a node returned.

    Args:
        response: The return value: an update, a `Command`, or a list of them.
        is_message_key: Which keys hold messages, for values that are none yet; by default none.
    """
    found = Found()
    for key, value in _writes(response):
        before = len(found.messages)
        inner, replaces = overwritten(value)
        is_list = is_message_key(key)
        _Walk(found, is_list and _has_other_than_messages(inner)).enter(inner)
        messages = found.messages[before:]
        found.by_key.setdefault(key, []).extend(messages)
        if is_list:
            found.by_id.update(map(id, messages))
        if replaces:
            found.replaced[key] = messages
    return found


def found_in_input(value: Any) -> Iterator[tuple[str, BaseMessage]]:
    """The messages in what a node takes, each with the key it is under."""
    for key, item in entries_of(value):
        found = Found()
        _Walk(found, coerce=False).enter(item)
        for message in found.messages:
            yield key, message


def messages_given(value: Any, is_message_key: IsMessageKey) -> list[BaseMessage]:
    """The messages in what a graph is given, those too that its reducers will make."""
    found = Found()
    for key, item in entries_of(value):
        _Walk(found, coerce=is_message_key(key)).enter(overwritten(item)[0])
    return found.messages


def copied(value: Any) -> Any:
    """A value with containers of its own, so that what is put into its lists is not in here.

    Messages stay the same objects. Models and dataclasses become what holds their fields. What
    refers to itself, or is referred to often, is copied once.
    """
    return _Copy().of(value)


class _Copy:
    """One copy of a value."""

    def __init__(self) -> None:
        # By `id()`, with the value: no other object has that `id()` while this one is held.
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any, depth: int = MAX_DEPTH) -> Any:
        """The copy of a part of it."""
        if isinstance(value, BaseMessage) or type(value) in ATOMS or not depth:
            return value
        if (known := self._made.get(id(value))) is not None:
            return known[1]
        if _is_sequence(value) and not isinstance(value, tuple):
            items: list[Any] = []
            self._made[id(value)] = value, items
            is_flat = not _has_other_than_messages(value) or _is_plain(value)
            items += value if is_flat else (self.of(item, depth - 1) for item in value)
            return items
        inner = value.items() if isinstance(value, Mapping) else fields_of(value)
        if inner is None:
            return value
        entries: dict[Any, Any] = {}
        self._made[id(value)] = value, entries
        entries.update((key, self.of(item, depth - 1)) for key, item in inner)
        return entries


def is_as_copied(value: Any, copy: Any, seen: dict[tuple[int, int], Any] | None = None) -> bool:
    """Whether a value holds the same objects, at the same places, as when `copied` made the copy.

    True is certain. It is quick where nothing has changed, as after nearly every task.

    Args:
        value: The value.
        copy: The copy.
        seen: The pairs that were compared before, by `id()`: each is compared once.
    """
    if value is copy:
        return True
    seen = {} if seen is None else seen
    pair = id(value), id(copy)
    if pair in seen:
        return True
    seen[pair] = value
    if isinstance(copy, list) and _is_sequence(value):
        if len(value) != len(copy):
            return False
        return all(map(operator.is_, value, copy)) or all(
            is_as_copied(item, known, seen) for item, known in zip(value, copy, strict=True)
        )
    if isinstance(copy, dict):
        inner = value if isinstance(value, Mapping) else dict(fields_of(value) or ())
        return inner.keys() == copy.keys() and all(
            is_as_copied(item, copy[key], seen) for key, item in inner.items()
        )
    return False


def _writes(response: Any) -> Iterator[tuple[str, Any]]:
    """What a node returned as pairs of key and value, as upstream reads it."""
    if isinstance(response, Command):
        if response.graph is None and response.update is not None:
            yield from response._update_as_tuples()  # noqa: SLF001  # upstream reads it so
    elif isinstance(response, entrypoint.final):
        yield from entries_of(response.value)
    elif _is_sequence(response) and _has_commands(response):
        for item in response:
            yield from _writes(item)
    else:
        yield from entries_of(response)


def _has_commands(items: Iterable[Any]) -> bool:
    return any(isinstance(item, Command) for item in items)


def entries_of(value: Any) -> Iterable[tuple[str, Any]]:
    """A state by its keys; what has none is all under one."""
    if isinstance(value, Mapping) and not isinstance(value, BaseMessage):
        return [(str(key), item) for key, item in value.items()]
    if _is_sequence(value) and not _is_plain(value):
        # A node may return several updates at once, one for each key it writes.
        if all(isinstance(item, Mapping) and not _is_message_mapping(item) for item in value):
            return [entry for item in value for entry in entries_of(item)]
        return [(ROOT_KEY, value)]
    inner = fields_of(value)
    return [(ROOT_KEY, value)] if inner is None else list(inner)


def fields_of(value: Any) -> Iterator[tuple[str, Any]] | None:
    """The fields of a model or dataclass that may hold messages; None for anything else."""
    if isinstance(value, BaseMessage | Send | Command | Overwrite):
        return None
    if isinstance(value, BaseModel):
        return ((name, getattr(value, name, None)) for name in type(value).model_fields)
    if is_dataclass(value) and not isinstance(value, type):
        return ((each.name, getattr(value, each.name, None)) for each in fields(value))
    return None


def overwritten(value: Any) -> tuple[Any, bool]:
    """A value, or what it says to overwrite the state with; and whether it does."""
    if isinstance(value, Overwrite):
        return value.value, True
    if type(value) is dict:  # what becomes of one on its way through JSON
        if value.keys() == {OVERWRITE}:
            return value[OVERWRITE], True
        if value.get("type") == OVERWRITE and "value" in value:
            return value["value"], True
    return value, False


def _has_other_than_messages(value: Any) -> bool:
    items = value if isinstance(value, list) else (value,)
    return not all(issubclass(kind, BaseMessage) for kind in set(map(type, items)))


class _Walk:
    """One walk through a value.

    Args:
        found: Takes what is found.
        coerce: Whether the reducer makes messages of dicts, pairs and strings.
    """

    def __init__(self, found: Found, coerce: bool) -> None:
        self._found = found
        self._coerce = coerce
        # By `id()`: what refers to itself, or is referred to often, is walked through once. Each
        # is held, so that no other object gets its `id()`.
        self._seen: dict[int, Any] = {}

    def enter(self, value: Any) -> None:
        """Walk through the value of a key, of which the reducer makes messages, if it does."""
        if self._coerce and (is_message_like(value) or isinstance(value, list)):
            for item in value if isinstance(value, list) else [value]:
                if is_message_like(item) or _is_stored_pair(item):
                    self._make(item)
                else:
                    self._enter(item)
        else:
            self._enter(value)

    def _enter(self, value: Any, depth: int = MAX_DEPTH) -> None:
        if isinstance(value, BaseMessage):
            self._found.messages.append(value)
        elif type(value) is list and not _has_other_than_messages(value):
            self._found.messages += value  # a thread: asking each takes as long as all else
        elif depth and type(value) not in ATOMS and id(value) not in self._seen:
            self._seen[id(value)] = value
            for item in _children(value) or ():
                self._enter(item, depth - 1)

    def _make(self, value: Any) -> None:
        message = coerced(value)
        if message is not None:
            self._found.messages.append(message)
            if not message.id:
                self._found.nameless.append(message)


def _children(value: Any) -> Iterable[Any] | None:
    """What a container holds; None where no message can be in it."""
    if isinstance(value, Mapping):
        return value.values()
    if _is_sequence(value):
        return None if _is_plain(value) else cast("Iterable[Any]", value)
    if isinstance(value, set | frozenset):
        return None
    inner = fields_of(value)
    return None if inner is None else [item for _, item in inner]


def _is_sequence(value: Any) -> bool:
    """Whether upstream, too, looks at the items of a value: of a deque, say."""
    return isinstance(value, Sequence) and not isinstance(value, NO_MESSAGES)


def _is_plain(items: Collection[Any]) -> bool:
    return set(map(type, items)) <= ATOMS


def _is_message_mapping(value: Mapping[Any, Any]) -> bool:
    return ("role" in value or "type" in value) and "content" in value


def is_message_like(value: Any) -> bool:
    """Whether a value that is no message stands for one, as `add_messages` reads it."""
    if isinstance(value, str):
        return True
    if isinstance(value, Mapping):
        return _is_message_mapping(value)
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(isinstance(part, str) for part in value)
    )


def _is_stored_pair(value: Any) -> bool:
    """Whether an item of a list is a pair (role, text) that a checkpoint made a list."""
    return type(value) is list and len(value) == 2 and set(map(type, value)) == {str}


def coerced(value: Any) -> BaseMessage | None:
    """The message that the reducer makes of a value; None if it will refuse it."""
    try:
        return convert_to_messages([value])[0]
    except Exception:  # whatever it is, it fails the reducer, which the graph tells
        return None
