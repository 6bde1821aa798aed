"""The messages in what a node takes or returns, found as the graph's reducers would find them.

Upstream looks at the values of the state and at the items of its lists; messages deeper down,
in an `Overwrite`, in the pairs of a `Command` or in an `entrypoint.final` never reach the
`messages` mode. Here every container is entered; strings and lists of plain values are not
walked, whatever their size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import convert_to_messages
from langgraph.func import entrypoint
from langgraph.types import Command, Overwrite, Send
from pydantic import BaseModel

ATOMS = frozenset({str, int, float, bool, bytes, bytearray, complex, type(None)})
NO_MESSAGES = (str, bytes, bytearray, memoryview, range)
OVERWRITE = "__overwrite__"
# Deeper than any state has them, and far from the end of Python's stack.
MAX_DEPTH = 32
ROOT_KEY = "__root__"
DEFAULT_KEY = "messages"

IsMessageKey = Callable[[str], bool]
"""Whether the reducer of a key makes messages of dicts, tuples and strings."""


@dataclass(slots=True)
class Found:
    """What a node returned.

    Attributes:
        messages: In order; those that the reducer would make of other values are new objects.
        nameless: The `id()` of those that the reducer will make anew, under an id of its own.
        by_key: Those of each key.
        by_id: The `id()` of those that are in a list of messages, which keeps one for each id.
        replaced: For each key whose list is replaced as a whole, the messages it is left with.
    """

    messages: list[BaseMessage] = field(default_factory=list)
    nameless: set[int] = field(default_factory=set)
    by_key: dict[str, list[BaseMessage]] = field(default_factory=dict)
    by_id: set[int] = field(default_factory=set)
    replaced: dict[str, list[BaseMessage]] = field(default_factory=dict)


def found_in_update(response: Any, is_message_key: IsMessageKey = lambda _: False) -> Found:
    """The messages in what a node returned: an update, a `Command`, or a list of them.

    Under a key of messages, values that are none yet count as those that the reducer makes of them.
    """
    found = Found()
    for key, value in _writes(response):
        inner, replaces = overwritten(value)
        messages = _as_reduced(inner, found.nameless) if is_message_key(key) else messages_in(inner)
        if is_message_key(key):
            found.by_id.update(map(id, messages))
        found.messages += messages
        found.by_key.setdefault(key, []).extend(messages)
        if replaces:
            found.replaced[key] = messages
    return found


def found_in_input(value: Any) -> Iterator[tuple[str, BaseMessage]]:
    """The messages in what a node takes, each with the key it is under."""
    for key, item in entries_of(value):
        for message in messages_in(item):
            yield key, message


def messages_in(value: Any) -> list[BaseMessage]:
    """The messages in a value, however deep; each container is walked through once."""
    found: list[BaseMessage] = []
    _enter(value, found, {}, MAX_DEPTH)
    return found


def _enter(value: Any, found: list[BaseMessage], seen: dict[int, Any], depth: int) -> None:
    if isinstance(value, BaseMessage):
        found.append(value)
    elif type(value) is list and _are_messages(value):
        found += value  # a thread: asking each takes as long as all else
    elif depth and type(value) not in ATOMS and id(value) not in seen:
        seen[id(value)] = value  # held, so that no other object gets its `id()`
        for item in _children(value):
            _enter(item, found, seen, depth - 1)


def _children(value: Any) -> Iterable[Any]:
    """What a container holds; nothing where no message can be in it."""
    if is_sequence(value):
        return () if _is_plain(value) else value
    return [item for _, item in _keyed(value) or ()]


def _as_reduced(value: Any, nameless: set[int]) -> list[BaseMessage]:
    """The messages in a value, those too that the reducer of its key makes of what is there.

    Of these, `nameless` takes the `id()` of those without an id.
    """
    items = value if isinstance(value, list) else [value]
    if _are_messages(items):
        return [*items]
    found: list[BaseMessage] = []
    seen: dict[int, Any] = {}
    for item in items:
        if not is_raw(item):
            _enter(item, found, seen, MAX_DEPTH)
        elif (message := coerced(item)) is not None:
            found.append(message)
            if not message.id:
                nameless.add(id(message))
    return found


def _writes(response: Any) -> Iterable[tuple[str, Any]]:
    """What a node returned as pairs of key and value, as upstream reads it."""
    if isinstance(response, Command):
        has_update = response.graph is None and response.update is not None
        return response._update_as_tuples() if has_update else ()  # noqa: SLF001  # as upstream does
    if isinstance(response, entrypoint.final):
        return entries_of(response.value)
    if is_sequence(response) and any(isinstance(item, Command) for item in response):
        return [write for item in response for write in _writes(item)]
    return entries_of(response)


def entries_of(value: Any) -> list[tuple[str, Any]]:
    """A state by its keys; what has none is all under one."""
    keyed = _keyed(value)
    if keyed is not None:
        return [(str(key), item) for key, item in keyed]
    # A node may return several updates at once, one for each key it writes.
    if is_sequence(value) and not _is_plain(value) and all(map(_is_update, value)):
        return [entry for item in value for entry in entries_of(item)]
    return [(ROOT_KEY, value)]


def _is_update(item: Any) -> bool:
    return isinstance(item, Mapping) and not is_message_like(item)


def _keyed(value: Any) -> Iterable[tuple[Any, Any]] | None:
    """What a mapping, a model or a dataclass holds, by its keys; None for anything else."""
    return value.items() if isinstance(value, Mapping) else fields_of(value)


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


def is_sequence(value: Any) -> bool:
    """Whether upstream, too, looks at the items of a value: of a deque, say."""
    return isinstance(value, Sequence) and not isinstance(value, NO_MESSAGES)


def _are_messages(items: Collection[Any]) -> bool:
    return all(issubclass(kind, BaseMessage) for kind in set(map(type, items)))


def only_messages(items: Collection[Any]) -> list[BaseMessage]:
    """The messages among the items of a list."""
    if _are_messages(items):  # a thread: asking each takes as long as all else
        return [*items]
    return [item for item in items if isinstance(item, BaseMessage)]


def _is_plain(items: Collection[Any]) -> bool:
    return set(map(type, items)) <= ATOMS


def is_message_like(value: Any) -> bool:
    """Whether a value that is no message stands for one, as `add_messages` reads it."""
    if isinstance(value, Mapping):
        return ("role" in value or "type" in value) and "content" in value
    is_pair = isinstance(value, tuple) and len(value) == 2
    return isinstance(value, str) or (is_pair and all(isinstance(part, str) for part in value))


def is_raw(item: Any) -> bool:
    """Whether an item of a list stands for a message: of a checkpoint, pairs are lists."""
    is_pair = type(item) is list and len(item) == 2
    return is_message_like(item) or (is_pair and set(map(type, item)) == {str})


def coerced(value: Any) -> BaseMessage | None:
    """The message that the reducer makes of a value; None if it will refuse it."""
    try:
        return convert_to_messages([value])[0]
    except Exception:  # whatever it is, it fails the reducer, which the graph tells
        return None
