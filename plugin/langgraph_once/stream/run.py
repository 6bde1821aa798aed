"""What is known of a run: who reads it, and what its graphs and tasks were given.

A node that returns what it was given says nothing new. It may change the lists of its state in
place, and those of the caller's input with them: what it adds is then given to later tasks, though
nobody was told it. So inputs are noted as they were, and what a task is given counts only if it
stood in the thread before the run, or was told.

The handler gets its `Run` from a context variable. `Pregel.stream` makes its handler when it is
first advanced. The variable is set around that first step alone, and the handler made in it takes
it. So a graph that a node streams finds the variable empty, and so does another run at the same
time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

from langchain_core.messages import BaseMessage
from langgraph.channels import BinaryOperatorAggregate, DeltaChannel, LastValue
from langgraph.graph.message import add_messages
from langgraph.pregel import Pregel
from langgraph.types import Command

from langgraph_once.config import DedupConfig
from langgraph_once.stream.content import NO_DETAILS, Content, Details, content_of, details_of
from langgraph_once.stream.forms import Form
from langgraph_once.stream.messages_within import (
    Found,
    IsMessageKey,
    coerced,
    entries_of,
    found_in_input,
    is_message_like,
    is_raw,
    is_sequence,
    messages_in,
    overwritten,
)
from langgraph_once.stream.places import node_path

Messages: TypeAlias = Sequence[tuple[str, BaseMessage]]
"""The messages in an input, each with the key it is under: as `found_in_input` yields them."""


class GivenToGraph:
    """The input of a graph.

    Args:
        value: The input; what has no id there gets one by the graph's reducers.
    """

    def __init__(self, value: Any) -> None:
        given = [(key, overwritten(item)[0]) for key, item in entries_of(value)]
        self._given = [(key, messages_in(item), _items(item)) for key, item in given]
        self._messages: list[BaseMessage] | None = None

    def unnamed(self) -> list[Content]:
        """What messages in it say that have no id; one that is there twice, twice."""
        return [
            said
            for _, messages, items in self._given
            for each in (*messages, *filter(is_raw, items))
            if getattr(each, "id", None) is None and (said := _content(each)) is not None
        ]

    def has(
        self, content: Content, is_message_key: IsMessageKey, *, under: str | None = None
    ) -> bool:
        """Whether a message in it says this, under this id where one is given."""
        if self._messages is None:
            self._messages = [known for _, messages, _ in self._given for known in messages]
            raw = (item for key, _, items in self._given if is_message_key(key) for item in items)
            made = (coerced(item) for item in raw if is_raw(item))
            self._messages += [message for message in made if message is not None]
        return any(
            under in (None, known.id) and content_of(known) == content for known in self._messages
        )


class GivenToTask:
    """The input of one attempt of a task.

    Attributes:
        named: The message of each id.
        keys: The key that it was under.
        inside: The ids of what the tasks inside it were given.
    """

    def __init__(self) -> None:
        # In columns: an object for each message of a long thread is work for the garbage collector,
        # which takes longer than all the rest.
        self.named: dict[str, BaseMessage] = {}
        self.keys: dict[str, str] = {}
        self._contents: dict[str, object] = {}
        self._details: dict[str, Details] = {}
        self.inside: set[str] = set()
        self._live: Any = None
        self._found: list[BaseMessage] = []
        self._items: list[tuple[str, list[Any]]] = []
        # By `id()`, with the message: no other object has that `id()` while this one is held.
        self._unnamed: dict[int, tuple[BaseMessage, object]] = {}
        self._unproven: dict[int, BaseMessage] = {}
        self._unclaimed: list[Content] | None = None

    def add(
        self,
        value: Any,
        found: Messages,
        unproven: Collection[int] = (),
        *,
        with_details: bool = True,
    ) -> None:
        """Note the input, and what its messages say, which a node may change.

        Args:
            value: The input.
            found: The messages in it.
            unproven: The `id()` of those that count as not given.
            with_details: Whether to note what they carry, too.
        """
        self._live, self._found = value, [message for _, message in found]
        self._items = [(key, _items(item)) for key, item in entries_of(value)]
        named, keys, contents, details = self.named, self.keys, self._contents, self._details
        for key, message in found:
            if unproven and id(message) in unproven:
                self._unproven[id(message)] = message
            elif (own := message.id) is None:
                self._unnamed[id(message)] = message, message.content
            else:
                message_id = str(own)
                named[message_id], keys[message_id] = message, key
                contents[message_id] = message.content
                if with_details and (carried := details_of(message)) is not NO_DETAILS:
                    details[message_id] = carried

    def still_unproven(self, found: Messages) -> Iterator[int]:
        """Which messages that a task inside is given count as not given here: by `id()`."""
        if self._unproven:
            yield from (id(each) for _, each in found if self._unproven.get(id(each)) is each)

    def added_in_place(self) -> list[str]:
        """The ids of messages that its input holds by now, and did not hold when it was given."""
        found = [message for _, message in found_in_input(self._live)]
        if len(found) == len(self._found) and all(map(operator.is_, found, self._found)):
            return []  # as after nearly every task
        # What had no id may have got one by now.
        unnamed = self._unnamed.keys() | self._unproven.keys()
        named = [each for each in found if each.id is not None and id(each) not in unnamed]
        return [str(each.id) for each in named if str(each.id) not in self.named]

    def has(self, message: BaseMessage, *, with_details: bool) -> bool:
        """Whether it was given this message, and that says what it said then.

        Args:
            message: The message.
            with_details: Whether it must also carry what it carried then.
        """
        message_id = str(message.id)
        known, details = self.named[message_id], self._details.get(message_id, NO_DETAILS)
        if with_details and details.gained_by(details_of(message)) != NO_DETAILS:
            return False
        if known is message:
            return message.content is self._contents[message_id]
        return content_of(known) == content_of(message)

    def repeated(self, found: Found, replaces: Callable[[str], bool]) -> set[int]:
        """Which messages of an update repeat what has no id here: by `id()`.

        Those are, in a list that takes the place of the one that was given, the same objects,
        and from its beginning on copies at the same place. A list that is added to another says
        them once more.
        """
        again: set[int] = set()
        for key, items in self._items:
            messages = found.by_key.get(key)
            if messages and replaces(key) and self._are_in_part_unnamed(items):
                again.update(id(message) for message in messages if self._is_unnamed(message))
                for message, item in zip(messages, items, strict=False):
                    if message is item or id(item) in self._unproven:
                        continue
                    if content_of(message) != _content(item):
                        break
                    again.add(id(message))
        return again

    def claims(self, content: Content) -> bool:
        """Whether it says this without an id: each time for one message that a graph made of it."""
        if self._unclaimed is None:
            self._unclaimed = [
                said
                for _, items in self._items
                if self._are_in_part_unnamed(items)
                for item in items
                if id(item) not in self._unproven and (said := _content(item)) is not None
            ]
        if content not in self._unclaimed:
            return False
        self._unclaimed.remove(content)
        return True

    def _is_unnamed(self, message: BaseMessage) -> bool:
        known, content = self._unnamed.get(id(message), (None, None))
        return known is message and content is message.content

    def _are_in_part_unnamed(self, items: list[Any]) -> bool:
        return any(
            id(item) in self._unnamed if isinstance(item, BaseMessage) else is_message_like(item)
            for item in items
        )


class Standing:
    """Which messages of inputs stood in the thread before the run, or were told in it.

    Those without an id are known by the object or, of copies, by content: as often as they stood
    there. Those with an id are known, but for what a task has added to its input in place.

    Attributes:
        added: The ids of these, until they are told.
    """

    def __init__(self) -> None:
        self._graphs: dict[str, tuple[int, set[str], list[tuple[BaseMessage, Content]]]] = {}
        self.added: set[str] = set()
        self._told: set[str] = set()

    def unproven(
        self,
        graph: str,
        step: int | None,
        value: Any,
        found: Messages,
        came_in: Callable[[], Sequence[Content]] | None = None,
    ) -> set[int]:
        """The messages in the input of a task that nobody may have been told of, by `id()`.

        Args:
            graph: The namespace of its graph.
            step: Its step: what the tasks of the first are given stood there before. None for a
                task of a `Send`, which gives what need not stand anywhere.
            value: The input.
            found: The messages in it.
            came_in: Tells what was given to its graph without an id, if that is inside another. One
                that was left goes on from a checkpoint of its own, which may hold what a node
                around it had added in place and nobody was told of.
        """
        added = self.added
        new = {id(message) for _, message in found if added and str(message.id) in added}
        if step is None:
            return new
        first, keys, known = self._graphs.get(graph, (step, set(), []))
        if step < first:  # the graph is run anew
            first, keys, known = step, set(), []
        unnamed = [(key, message) for key, message in found if message.id is None]
        if step == first:
            stood = [(m, content_of(m)) for key, m in unnamed if key not in keys]
            known += stood if came_in is None or not stood else _of_those(stood, came_in())
            keys |= {key for key, _ in entries_of(value)}
        self._graphs[graph] = first, keys, known
        if not unnamed:
            return new
        here = {id(message) for _, message in found}
        return new | _unknown([message for _, message in unnamed], here, known)

    def tell(self, message_id: str) -> None:
        """Note that the message of an id was told."""
        self._told.add(message_id)
        self.added.discard(message_id)

    def tell_unnamed(self, graph: str, message: BaseMessage) -> None:
        """Note that a message without an id was told, whose copies may be given to others."""
        if graph in self._graphs:
            self._graphs[graph][2].append((message, content_of(message)))

    def end(self, given: GivenToTask) -> None:
        """Note what a task that ends has added to its input in place, and did not return."""
        self.added.update(id_ for id_ in given.added_in_place() if id_ not in self._told)


def _of_those(
    messages: list[tuple[BaseMessage, Content]], contents: Sequence[Content]
) -> Iterator[tuple[BaseMessage, Content]]:
    """The messages that say one of these, each as often as it is there."""
    left = [*contents]
    for message, content in messages:
        if content in left:
            left.remove(content)
            yield message, content


def _unknown(
    messages: list[BaseMessage], here: set[int], known: list[tuple[BaseMessage, Content]]
) -> set[int]:
    """Those that are not known, or are there more often than known: by `id()`.

    Args:
        messages: The messages of an input that have no id.
        here: All messages of the input, by `id()`.
        known: What is known.
    """
    objects = {id(message) for message, _ in known}
    others = [message for message in messages if id(message) not in objects]
    contents = [content for message, content in known if id(message) not in here]
    unknown = set()
    for message in others:
        content = content_of(message)
        if content in contents:
            contents.remove(content)
        else:
            unknown.add(id(message))
    return unknown


def _items(value: Any) -> list[Any]:
    """The items of a list as they are now, or the value alone, as a pair is."""
    return [*value] if is_sequence(value) and not isinstance(value, tuple) else [value]


def _content(item: Any) -> Content | None:
    """What an item of a list says, as a graph reads it that makes messages of strings."""
    if not isinstance(item, BaseMessage):
        item = coerced(item) if is_message_like(item) else None
    return None if item is None else content_of(item)


PENDING: ContextVar[Run | None] = ContextVar("langgraph_once_run", default=None)

# In langgraph 1.2.24 `add_messages` is a wrapper whose own name is `_add_messages`.
REDUCER_NAMES = frozenset({"add_messages", "_add_messages", "_messages_delta_reducer"})

Graph = Pregel[Any, Any, Any, Any]


KeyKind: TypeAlias = Literal["messages", "replaced"]
"""Of a key of a state: `add_messages` reduces it, or it keeps what was written last."""


class Run:
    """One stream of a graph that is wrapped by `once`.

    Args:
        graph: The graph.
        config: What counts as a repetition.
        form: What its reader needs.
        given: What the graph is run with.

    Attributes:
        put: Takes what the handler sends.
        is_recorded: Whether a second consumer is to get what upstream's handler would send.
        was_hidden: Whether an earlier stream of the thread has hidden the message of an id.
        stood: Whether a message stood in the thread before, as it is now, and its reader has it.
    """

    def __init__(self, graph: Graph, config: DedupConfig, form: Form, given: Any = None) -> None:
        self._graph = graph
        self.config: DedupConfig = config
        self.given = GivenToGraph(given.update if isinstance(given, Command) else given)
        self.form: Form = form
        self.put: Callable[[Any], Any] | None = None
        self.is_recorded = False
        self.was_hidden: Callable[[str], bool] = lambda _: False
        self.stood: Callable[[BaseMessage], bool] = lambda _: False

    @contextmanager
    def pending(self) -> Iterator[None]:
        """Hand this run to the handler that is made inside."""
        token = PENDING.set(self)
        try:
            yield
        finally:
            PENDING.reset(token)

    @staticmethod
    def take() -> Run:
        """The run that the handler being made belongs to; no other handler gets it."""
        run = cast("Run", PENDING.get())  # else `install` would have made upstream's handler
        PENDING.set(None)
        return run

    def is_message_key(self, ns: tuple[str, ...], key: str) -> bool:
        """Whether the graph at `ns` reduces this key by `add_messages`.

        Of a graph that is not to be seen from outside, called in a function say, nobody knows:
        what looks like a message there may be none, and is left alone.
        """
        return self._kinds.get((node_path(ns), key)) == "messages"

    def replaces(self, ns: tuple[str, ...], key: str) -> bool:
        """Whether the graph at `ns` keeps of this key what was written last, and nothing else."""
        return self._kinds.get((node_path(ns), key)) == "replaced"

    @cached_property
    def _kinds(self) -> Mapping[tuple[str, str], KeyKind]:
        """The kinds of keys, by the names of the nodes that lead to their graph, and their own."""
        try:
            inner = dict(self._graph.get_subgraphs(recurse=True))
        except Exception:  # a graph in a node that cannot be looked into; the usual key is assumed
            inner = {}
        graphs: dict[str, Any] = {"": self._graph, **inner}
        return {
            (path, key): kind
            for path, each in graphs.items()
            if isinstance(each, Pregel)  # a remote graph has no channels; the usual key is assumed
            for key, channel in each.channels.items()
            if (kind := _kind_of(channel)) is not None
        }


def _kind_of(channel: object) -> KeyKind | None:
    if isinstance(channel, BinaryOperatorAggregate | DeltaChannel):
        reducer: Any = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
        # `add_messages(format=…)` is a `partial` (langgraph 1.2.24, graph/message.py).
        reducer = getattr(reducer, "func", reducer)
        is_known = getattr(reducer, "__name__", "") in REDUCER_NAMES
        return "messages" if reducer is add_messages or is_known else None
    return "replaced" if isinstance(channel, LastValue) else None
