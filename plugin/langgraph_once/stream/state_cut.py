"""State payloads without the messages that the consumer already has.

`updates` and `values` repeat every message that `messages` delivered, once per level of
nesting and once per step. Here a list of messages is cut down to what is new, in the
language of `add_messages`: a message that is new or says something else stays, one that the
consumer has is left out, and one that left a state is said as `RemoveMessage`. Folding what
remains by id gives the state.

Only lists of messages are cut; a message that stands alone under a key is that key's value
and stays. Keys that begin with two underscores (`__interrupt__`, `__metadata__`) are the
platform's and stay as they are.
"""

from __future__ import annotations

import dataclasses
import operator
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from pydantic import BaseModel

from langgraph_once.stream.content import Content, Space, content_of
from langgraph_once.stream.entries import Entry, State, saying, says
from langgraph_once.stream.identity import Guess
from langgraph_once.stream.ledger import MAX_MESSAGES, Ledger
from langgraph_once.stream.messages_within import (
    DEFAULT_KEY,
    coerced,
    fields_of,
    found_in_input,
    is_message_like,
    only_messages,
    overwritten,
)
from langgraph_once.stream.places import NS_SEP, Place, is_reserved, names
from langgraph_once.stream.shapes import Part


class Hints:
    """What `HintsHandler` heard of a run beside its states.

    Past `MAX_MESSAGES` the oldest are forgotten, as by the ledger: a copy of one of them is taken
    for a new message.

    Args:
        space: What white space a copy may differ in from what it is a copy of.

    Attributes:
        origins: For the id of each message the graph and the task that returned it first.
        rerun: The tasks that ran again, each when it did.
        void: The ids of what nodes inside them had returned: the states that hold it may be
            read only later.
    """

    __slots__ = ("origins", "rerun", "space", "void")

    def __init__(self, space: Space = "any") -> None:
        self.space: Space = space
        self.origins: OrderedDict[str, tuple[Place, str]] = OrderedDict()
        self.rerun: deque[str] = deque()
        self.void: set[str] = set()

    def note_rerun(self, task: str) -> None:
        """Note that a task begins anew."""
        self.rerun.append(task)
        inside = tuple(name + NS_SEP for name in names(task))
        origins = list(self.origins.items())  # tasks beside it may return in other threads
        self.void.update(known for known, (_, by) in origins if (by + NS_SEP).startswith(inside))

    def note_returned(self, message_id: str, graph: Place, task: str) -> None:
        """Note that a task of a graph returned a message."""
        self.void.discard(message_id)
        self.origins.setdefault(message_id, (graph, task))
        if len(self.origins) > MAX_MESSAGES:
            oldest, _ = self.origins.popitem(last=False)
            self.void.discard(oldest)

    def place(self, message_id: str, ns: Place) -> Place:
        """What runs the task whose message comes in a payload of `ns`: that graph, or a caller."""
        graph, task = self.origins.get(message_id, ((), ""))
        return tuple(task.split(NS_SEP)[:-1]) if task and graph == ns else ns


LISTS = frozenset({list, tuple})


IsMessageKeyIn: TypeAlias = Callable[[Place, str], bool]
"""Whether a key of a graph holds messages, for values that are none yet."""


def is_default_key(_ns: Place, key: str) -> bool:
    """Whether a key is the one that holds messages in most graphs."""
    return key == DEFAULT_KEY


@dataclasses.dataclass(eq=False)
class StateCut:
    """One pass over one part of mode `updates` or `values`.

    A state is complete: of a message that the one before held and this one does not, a
    `RemoveMessage` says that it has been removed.

    Args:
        part: The part. Not changed: what must change is rebuilt.
        ledger: What the consumer has; notes what stays as delivered.
        stale: What was sent in attempts that failed, to be taken back by this part or a later.
        hints: What is known of the run; None where copies must be guessed.
        is_message_key: Which keys hold messages.
        guess: Guesses them.
    """

    part: Part
    _: dataclasses.KW_ONLY
    ledger: Ledger
    stale: list[Entry]
    hints: Hints | None
    is_message_key: IsMessageKeyIn
    guess: Guess

    def __post_init__(self) -> None:
        self._ns = self.part.ns
        self._home = NS_SEP.join(self._ns)
        self._listed = listed_ids(self.part.data)
        self._is_snapshot = self.part.mode == "values"
        self._gone = self.ledger.snapshot(self._ns, self._listed) if self._is_snapshot else {}
        self._copies: dict[Entry, str] = {}
        self._had_no_id: Counter[Content] = Counter()
        self._node = ""
        # By `id()`: what was cut, and what became of it. Until that is known it stays as it is.
        self._made: dict[int, tuple[Any, Any]] = {}
        while self.hints is not None and self.hints.rerun:
            said = self.ledger.said_in(self.hints.rerun.popleft())
            self.stale += [entry for entry in said if entry not in self.stale]

    def cut(self) -> Any:
        """The payload without what the consumer has; itself where it has nothing of it."""
        data = self.part.data
        if self._is_snapshot or type(data) is not dict:
            return self._cut(data, ())
        cut = {key: self._cut_node(key, update) for key, update in data.items()}
        return cut if any(cut[key] is not data[key] for key in cut) else data

    def _cut_node(self, node: Any, update: Any) -> Any:
        if is_reserved(node):
            return update
        self._node = NS_SEP.join((*self._ns, str(node)))
        cut = self._cut(update, (str(node),))
        self.ledger.note_update_of(self._node)
        return cut

    def _cut(self, data: Any, place: Place) -> Any:
        inner, replaces = overwritten(data)
        if replaces:
            return self._cut_replaced(data, inner, place)
        if isinstance(data, BaseMessage):
            return self._lone(data)
        if self._is_raw(data, place):
            self._is_known_raw(data)
            return data
        if type(data) in LISTS and self._is_message_list(data, place):
            items = [*self._removals(place), *self._new_messages(data, place)]
            return _unless_same(data, items)
        if id(data) not in self._made:
            self._made[id(data)] = data, data
            self._made[id(data)] = data, self._cut_inner(data, place)
        return self._made[id(data)][1]

    def _cut_inner(self, data: Any, place: Place) -> Any:
        if type(data) is dict:
            cut = {
                key: value if is_reserved(key) else self._cut(value, (*place, str(key)))
                for key, value in data.items()
            }
            return cut if any(cut[key] is not data[key] for key in data) else data
        if type(data) in LISTS:
            items = [self._cut(item, (*place, str(at))) for at, item in enumerate(data)]
            return _unless_same(data, items)
        return self._cut_fields(data, place)

    def _cut_replaced(self, data: Any, inner: Any, place: Place) -> Any:
        """A list that takes the place of another, in the language of `add_messages`."""
        if type(inner) not in LISTS or not self._is_message_list(inner, place):
            return data
        kept = {item.id for item in inner if isinstance(item, BaseMessage)}
        gone = [known for known in self.ledger.listed(self._ns) if known not in kept]
        removals = [removal for known in gone for removal in self._remove(known)]
        return [*removals, *self._new_messages(inner, place)]

    def _cut_fields(self, data: Any, place: Place) -> Any:
        """A model or dataclass with its lists cut, built anew where something goes."""
        before = dict(fields_of(data) or ())
        # `dataclasses.replace` refuses fields that `__init__` does not take.
        if before and dataclasses.is_dataclass(data):
            computed = [field.name for field in dataclasses.fields(data) if not field.init]
            before = {name: value for name, value in before.items() if name not in computed}
        cut = {name: self._cut(value, (*place, name)) for name, value in before.items()}
        changed = {name: value for name, value in cut.items() if value is not before[name]}
        if not changed:
            return data
        # `model_copy` runs no validator, which may change or refuse a list that was cut.
        if isinstance(data, BaseModel):
            return data.model_copy(update=changed)
        return dataclasses.replace(data, **changed)

    def _lone(self, message: BaseMessage) -> BaseMessage:
        """A message alone under a key: that key's value, which stays; a list may repeat it."""
        if not message.id:
            self._is_known_raw(message)
        elif not self._is_snapshot and not isinstance(message, RemoveMessage):
            for _ in self._new_message(message, message.id):
                pass
        return message

    def _is_raw(self, value: Any, place: Place) -> bool:
        """Whether a value of an update stands for a message that the reducer is to make."""
        if self._is_snapshot or not is_message_like(value):
            return False
        key = next((key for key in reversed(place) if not key.isdecimal()), "")
        return len(place) > 1 and self.is_message_key(self._ns, key)

    def _is_message_list(self, items: Any, place: Place) -> bool:
        if any(isinstance(item, BaseMessage) for item in items):
            return True
        if place in self._gone.values() or (self.stale and place[-1:] == ("messages",)):
            return True
        return bool(items) and all(self._is_raw(item, (*place, "0")) for item in items)

    def _removals(self, place: Place) -> Iterator[RemoveMessage]:
        for message_id, was_at in self._gone.items():
            if was_at == place:
                yield from self._remove(message_id)
        while self.stale:
            entry = self.stale.pop()
            if entry.state is not State.GONE:
                self.ledger.drop(entry)
                yield RemoveMessage(id=entry.id)

    def _remove(self, message_id: str) -> Iterator[RemoveMessage]:
        for known_id in self.ledger.forget(message_id, home=self._home):
            yield RemoveMessage(id=known_id)

    def _new_messages(self, items: Any, place: Place) -> Iterator[Any]:
        has = self._has_unnamed(items, place) if self._is_snapshot else None
        for item in items:
            if not isinstance(item, BaseMessage):
                if not (self._is_raw(item, (*place, "0")) and self._is_known_raw(item)):
                    yield item
            elif not item.id:
                if not (self._is_known_raw(item) if has is None else next(has)):
                    yield item
            elif not isinstance(item, RemoveMessage):
                yield from self._new_message(item, item.id)
            elif item.id == REMOVE_ALL_MESSAGES:
                self.ledger.forget_all()
                yield item
            else:
                yield from self._remove(item.id)

    def _has_unnamed(self, items: Any, place: Place) -> Iterator[bool]:
        """Whether the consumer has each message of a state that bears no id."""
        said = [content_of(item) for item in items if isinstance(item, BaseMessage) and not item.id]
        known, self._had_no_id = self.ledger.pending_ids.state(self._ns, place, said)
        return iter(known)

    def _is_known_raw(self, value: Any) -> bool:
        """Whether the consumer has what an update carries without an id; if not, it has now."""
        message = value if isinstance(value, BaseMessage) else coerced(value)
        if message is None:
            return False
        if message.id:
            return not list(self._new_message(message, message.id))
        content, pending = content_of(message), self.ledger.pending_ids
        if pending.comes_in_update(self._ns, content):
            return True
        original = self._original(content)
        guesses = self.hints is None and original is None
        if guesses and self.guess.told_inside(self._ns, self._node, content):
            return True
        self.ledger.await_id(self._ns, content, entry=original, in_update=True)
        return original is not None

    def _original(self, content: Content, message_id: str = "") -> Entry | None:
        """What this is a copy of: by its task, where that is known, else by its node alone."""
        if self.hints is None and self._is_snapshot:
            return None
        if self.hints is None:
            task = self._node
            copy = self.guess.copy_in_update(task, content, self._listed)
        else:
            _, task = self.hints.origins.get(message_id, ((), ""))
            space = self.hints.space
            copy = self.ledger.match_copy(task, content, space=space) if task else None
            if copy is not None and any(known in self._listed for known in copy.ids):
                copy = None
        if copy is not None:
            self.ledger.claim(copy, task)
        return copy

    def _new_message(self, message: BaseMessage, message_id: str) -> Iterator[BaseMessage]:
        """`message`, if the consumer lacks it; from now on it has it."""
        content = content_of(message)
        known = self.ledger.entries(message_id)
        same = [e for e in known if says(e, message_id, content) and self._is(message_id, e)]
        if same:
            if not self._is_snapshot:
                self.ledger.claim(same[-1], self._node)
                self.ledger.take_up(same[-1], self._ns)
            return
        if not known and self._is_named_now(message_id, content):
            return
        if not known and (original := self._original(content, message_id)) is not None:
            yield from self._copy(original, message_id, message, content)
            return
        if any(entry.content != content for entry in known):
            had = self.ledger.forget(message_id, home=self._home)
            yield from (RemoveMessage(id=known_id) for known_id in had if known_id != message_id)
        place = self._ns if self.hints is None else self.hints.place(message_id, self._ns)
        entry = self.ledger.deliver_in_state(message_id, content, place)
        yield message
        if self.hints is not None and message_id in self.hints.void:
            self.stale.append(entry)  # told before, read only now

    def _is_named_now(self, message_id: str, content: Content) -> bool:
        """Whether the consumer has it from before it had an id."""
        if self._had_no_id[content] > 0:
            self._had_no_id[content] -= 1
            self.ledger.deliver_in_state(message_id, content, self._ns)
            return True
        return self.ledger.name(message_id, content, ns=self._ns, snapshot=self._is_snapshot)

    def _copy(
        self, original: Entry, message_id: str, message: BaseMessage, content: Content
    ) -> Iterator[BaseMessage]:
        """What the consumer lacks of a copy: all of it if its white space is another."""
        if content.is_copy_of(original.content, in_any_role=True):
            self.ledger.alias(original, message_id)
            self._copies[original] = message_id
        else:
            self.ledger.drop(original)
            self.ledger.deliver_in_state(message_id, content, self._ns)
            yield RemoveMessage(id=original.id)
            yield message

    def _is(self, message_id: str, entry: Entry) -> bool:
        """Whether this id means that message: as its own id, or as that of its only copy here.

        A node may return a text twice, what it streamed and the same again on purpose: where
        both are in the payload, the second is no copy.
        """
        if message_id == entry.id:
            return True
        return (
            entry.id not in self._listed
            and self._copies.setdefault(entry, message_id) == message_id
        )


def _unless_same(data: Any, items: list[Any]) -> Any:
    """A list of these items: the list itself where it holds them."""
    is_same = len(items) == len(data) and all(map(operator.is_, items, data))
    return data if is_same else type(data)(items)


def listed_ids(data: Any) -> dict[str, Place]:
    """The ids in a payload, each with the place of the list that it is in."""
    return {str(message.id): place for message, place in listed(data) if message.id}


def in_lists(data: Any) -> dict[str, BaseMessage]:
    """The messages in the lists of a payload, by their ids."""
    return {str(message.id): message for message, _ in listed(data) if message.id}


def named_and_not(data: Any) -> tuple[dict[str, Place], dict[Place, list[Content]]]:
    """`listed_ids`; and what those messages say that have no id, by the places of their lists."""
    named: dict[str, Place] = {}
    unnamed: dict[Place, list[Content]] = {}
    for messages, place in _lists(data, (), {}):
        for message in messages:
            if message_id := message.id:
                named[str(message_id)] = place
            else:
                unnamed.setdefault(place, []).append(content_of(message))
    return named, unnamed


def listed(data: Any) -> Iterator[tuple[BaseMessage, Place]]:
    """Every message in a list of messages, with the place of the list.

    What refers to itself, or is referred to often, is looked into once: at the first place.
    """
    for messages, place in _lists(data, (), {}):
        for message in messages:
            yield message, place


def _lists(
    data: Any, place: Place, seen: dict[int, Any]
) -> Iterator[tuple[list[BaseMessage], Place]]:
    """The messages of each list of messages, and its place."""
    if type(data) in LISTS and (messages := only_messages(data)):
        yield messages, place
    elif id(data) not in seen and (inner := _inner(data)):
        seen[id(data)] = data  # held, so that no other object gets its `id()`
        for key, value in inner:
            yield from _lists(value, (*place, key), seen)


def _inner(data: Any) -> Iterable[tuple[str, Any]]:
    """What a state, or a part of one, holds, each with where it is there."""
    if type(data) is dict:
        return [(str(key), value) for key, value in data.items() if not is_reserved(key)]
    if type(data) in LISTS:
        return [(str(at), item) for at, item in enumerate(data)]
    return fields_of(data) or ()


def alias_messages_after_gap(ledger: Ledger, state: Any) -> None:
    """Note which messages of a state the consumer has from an attempt that left no trace.

    If a server ends before it keeps a checkpoint, a node runs anew. What the node says then may
    be lost with the events in the gap, and the state names it by an id that nobody has seen. Its
    twin is a message of a model that says the same, and is in no place of the state itself.

    Args:
        ledger: What the consumer has.
        state: The whole state of a graph, not an update.
    """
    listed = listed_ids(state)
    vain = [
        entry
        for entry in ledger.known()
        if entry.state is State.COMPLETE and not listed.keys() & entry.ids
    ]
    for _, message in found_in_input(state) if vain else ():
        if not message.id or ledger.entries(message.id):
            continue
        if (twin := saying(content_of(message), vain)) is not None:
            vain.remove(twin)
            ledger.alias(twin, message.id)
