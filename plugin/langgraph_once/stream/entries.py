"""The messages that a ledger knows, and what each is found by.

An `Entry` is one of them. It is looked for among what stood in the thread before (`Seeds`), and
among what was said since: how two texts compare is `Content`'s. A copy is looked for among all that
its task has said. A list of that made the time for each message grow with their number: 1,000 cost
0.6 s at first, and 11.7 s after 7,000. So `Texts` is an index of it.

A node may also write a message without an id, in a dict, a pair or a string. No mode tells its id
before the next state does: `PendingIds` has it until a state shows the id that the reducer gave.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from langchain_core.messages import AIMessageChunk, BaseMessage, BaseMessageChunk

from langgraph_once.stream.annotation import Annotation, annotated, annotation_of
from langgraph_once.stream.content import (
    NO_DETAILS,
    SPEAKERS,
    Content,
    Details,
    Space,
    StreamedContent,
    content_of,
    details_of,
    mere_text,
)
from langgraph_once.stream.places import NS_SEP, TASK_NS_KEY, PerGraph, Place, akin, bare, runner_of
from langgraph_once.stream.shapes import Part


class State(StrEnum):
    """How a message stands; `docs/repetitions.md` tells what leads to which."""

    OPEN = "open"
    """A model is saying it."""

    COMPLETE = "complete"
    """A model has said it, and no task has returned it yet."""

    COMMITTED = "committed"
    """A task returned it, or it came in a state."""

    STALE = "stale"
    """An attempt that failed said it. What the next one says is held against it."""

    GONE = "gone"
    """The consumer was told to drop it, or the ledger knows it no longer."""


@dataclass(slots=True, eq=False)
class Entry:
    """One message that the consumer has, in whole or in part.

    Attributes:
        task: The task that sent it: its `langgraph_checkpoint_ns`; `""` where the message
            came inside a state, which does not tell.
        id: The id under which the consumer has it.
        said: What the consumer has of it.
        ids: The id of the message, and then the ids of its copies.
        within: The task that runs the graph in whose state it came, where it came in one.
        run: The model run that made it, where that is known.
        steps: The steps in which its task and the tasks around it run, outermost first; empty
            where that is not known.
        epoch: The number of the stream that delivered it.
        began_in: The number of the stream that delivered it first.
        number: How many messages the ledger had got with it.
        is_model: A model said it, so a message of the same task may be its copy.
        state: How it stands.
        has_usage: The consumer has its usage; of a whole message that is taken for granted.
        claimed: The tasks in which a later message has been found to be this one. For each it
            stands for one copy, so that a node may say the same thing twice.
        details: What else the consumer has of it, beside what it says; None if that is not known.
        metadata: Those of its first chunk, while it is open and in want of an annotation.
    """

    task: str
    id: str
    said: Content | StreamedContent
    ids: list[str] = field(default_factory=list)
    within: str = ""
    run: str | None = None
    steps: list[int] = field(default_factory=list)
    epoch: int = 0
    began_in: int = 0
    number: int = 0
    is_model: bool = False
    state: State = State.COMMITTED
    has_usage: bool = True
    claimed: set[str] = field(default_factory=set)
    details: Details | None = None
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self.ids = self.ids or [self.id]
        if self.is_open:
            self.is_model, self.has_usage = True, False

    @property
    def is_open(self) -> bool:
        """Whether more chunks of it may come."""
        return isinstance(self.said, StreamedContent)

    @property
    def content(self) -> Content:
        """What the consumer has of it."""
        return self.said.content() if isinstance(self.said, StreamedContent) else self.said

    @property
    def size(self) -> int:
        """How many characters of it the consumer has."""
        return self.said.size if isinstance(self.said, StreamedContent) else len(self.said.text)

    @property
    def place(self) -> str:
        """The task that sent it, or that runs the graph in whose state it came."""
        return self.task or self.within

    def stand(self) -> None:
        """It counts as what was said, whatever it was before."""
        if self.claimed or not self.is_model:
            self.state = State.COMMITTED
        else:
            self.state = State.OPEN if self.is_open else State.COMPLETE

    def note(self, annotation: Annotation | None, steps: list[int]) -> None:
        """Keep what is known about where it comes from."""
        self.steps = steps
        self.run = None if annotation is None else annotation.get("run")

    def extend(self, chunk: BaseMessageChunk) -> None:
        """Add the next chunk of a message that is open."""
        self.said.extend(chunk)  # type: ignore[union-attr]  # it is open

    def accumulates(self, chunk: AIMessageChunk) -> bool:
        """Whether a last chunk says all of this open message over again (D8)."""
        return self.said.accumulates(chunk)  # type: ignore[union-attr]  # it is open

    def extended(self, chunk: BaseMessageChunk) -> Content:
        """What it says with a chunk that comes after the last one."""
        said = self.content
        return said._replace(text=said.text + StreamedContent(chunk).content().text)

    def settle(self) -> None:
        """Keep the text as one, now that no more of it is expected."""
        self.metadata = None
        if isinstance(self.said, StreamedContent):
            self.has_usage = self.said.has_usage
            self.details = self.said.details
            self.said = self.said.content()
        if self.state is State.OPEN:
            self.state = State.COMPLETE

    def is_of(self, annotation: Annotation | None) -> bool:
        """Whether a chunk with this annotation is the next of the same model run.

        One that brings another id is not simply the next.
        """
        if annotation is None:
            return self.run is None
        return self.run == annotation.get("run") and "named" not in annotation

    def is_beside(self, runner: str) -> bool:
        """Whether it is of a graph beside the one that task `runner` runs: neither in the other."""
        graph = runner_of(self.task) if self.task else self.within
        return bool(graph) and not akin(runner, graph)

    def akin(self, task: str) -> bool:
        """Whether `task` may be speaking of this message: the same task, or parent and child.

        Parallel tasks may send equal messages under one id; none of them is a duplicate.
        """
        return akin(self.task, task)


class Seeds(dict[str, BaseMessage]):
    """Messages that stood in a thread before its stream, as they were then.

    Read at once: a run has these very objects, and may change them in place. They stand in columns:
    an object for each message of a long thread is work for the garbage collector, which takes
    longer than all the rest.
    """

    def __init__(self, messages: Iterable[BaseMessage] = ()) -> None:
        super().__init__({own: message for message in messages if (own := message.id)})
        self._said: dict[str, str | Content] = {}
        self._details: dict[str, Details] = {}
        for message_id, message in self.items():
            text = mere_text(message)
            self._said[message_id] = content_of(message) if text is None else text
            if (details := details_of(message)) is not NO_DETAILS:
                self._details[message_id] = details

    def _content(self, message_id: str, message: BaseMessage) -> Content:
        said = self._said[message_id]
        return Content(SPEAKERS[type(message)], said) if isinstance(said, str) else said

    def has(self, message: BaseMessage) -> bool:
        """Whether a message is one of them, and says and carries what it did then."""
        message_id = str(message.id)
        known = self.get(message_id)  # a node asks, in another thread perhaps
        if known is None or self._content(message_id, known) != content_of(message):
            return False
        before = self._details.get(message_id, NO_DETAILS)
        return before.gained_by(details_of(message)) == NO_DETAILS

    def take(self, message_id: str) -> tuple[Content, Details]:
        """What the message of an id said, and carried besides; it is no seed any more."""
        said = self._content(message_id, self.pop(message_id))
        return said, self._details.get(message_id, NO_DETAILS)


class Texts:
    """What one task has said, or one node in this stream: its messages, found by their texts.

    What still streams may say anything in the end, and its text is not looked at before.

    Attributes:
        entries: All of them, in order; also those that stand for a copy already.
    """

    __slots__ = ("_by_text", "_complete", "_keys", "_open", "entries")

    def __init__(self) -> None:
        self.entries: dict[Entry, None] = {}
        self._open: dict[Entry, None] = {}
        self._complete: dict[Entry, None] = {}
        self._by_text: dict[int, list[Entry]] = {}
        self._keys: dict[Entry, int] = {}

    def add(self, entry: Entry) -> None:
        """Note a message."""
        self.entries[entry] = None
        (self._open if entry.is_open else self._complete)[entry] = None

    def settle(self, entry: Entry) -> None:
        """Note that a message is complete now."""
        if self._open.pop(entry, self) is None:
            self._complete[entry] = None

    def discard(self, entry: Entry) -> bool:
        """Find a message by its text no longer; whether it was found by it."""
        for unread in (self._open, self._complete):
            if entry in unread:
                del unread[entry]
                return True
        key = self._keys.pop(entry, None)
        if key is None:
            return False
        self._by_text[key].remove(entry)
        if not self._by_text[key]:
            del self._by_text[key]
        return True

    def like(self, content: Content) -> list[Entry]:
        """The messages that may say this, with any white space, in the order in which they came."""
        # Not before somebody asks: most messages are found by their ids, and texts may be long.
        for entry in self._complete:
            self._keys[entry] = key = _key(entry.content)
            self._by_text.setdefault(key, []).append(entry)
        self._complete.clear()
        return [*self._by_text.get(_key(content), ()), *self._open]

    def open_last_first(self) -> Iterator[Entry]:
        """What still streams."""
        return reversed(self._open)


def _key(content: Content) -> int:
    """A number that a message and its copies share: they differ in white space at most."""
    # A hash, not the text: the index of a long thread would hold each text a second time.
    return hash("".join(content.text.split()))


T = TypeVar("T")


class _Known(Protocol):
    @property
    def content(self) -> Content: ...


K = TypeVar("K", bound=_Known)


def saying(content: Content, among: Iterable[K]) -> K | None:
    """The first message that says just this."""
    return next((known for known in among if known.content == content), None)


def says(entry: Entry, message_id: str, content: Content) -> bool:
    """Whether a message under one of the ids of `entry` says no more than the consumer has.

    What bears the id of a copy may lack thoughts and have another role, as copies do.
    """
    if entry.content == content:
        return True
    return message_id != entry.id and content.is_copy_of(entry.content, in_any_role=True)


def is_original(entry: Entry, content: Content, task: str, space: Space = "same") -> bool:
    """Whether a message of `task` may repeat this: one of a model, or of a task inside."""
    is_inner = entry.task != task
    return (is_inner or entry.is_model) and content.is_copy_of(
        entry.content, in_any_role=is_inner, space=space
    )


def original_of(
    content: Content,
    originals: Iterable[tuple[T, Content]],
    *,
    space: Space = "same",
    may_lack_thoughts: bool = False,
) -> T | None:
    """The first message that a copy repeats; None if it repeats none.

    Args:
        content: What the copy says.
        originals: The messages, each with what it says.
        space: What white space may differ, where none says just the same.
        may_lack_thoughts: Whether the copy may have left out blocks that are no text.
    """
    known = list(originals)
    for allowed in dict.fromkeys(("same", space)):
        for original, said in known:
            is_whole = may_lack_thoughts or content.rest == said.rest
            if is_whole and content.is_copy_of(said, space=allowed):
                return original
    return None


# Each is compared with what a state shows: that time, more than their memory, is what is bounded.
MAX_PENDING = 1024


@dataclass(slots=True, eq=False, kw_only=True)
class PendingId:
    """A message delivered before the reducer gave it its id.

    Attributes:
        ns: The graph that sent it.
        content: What it says.
        entry: The streamed message that it repeats, which the consumer has under another id.
        part: The part of mode `messages` that waits for the id. Where both are None, the message
            came in an update, without an id.
        in_update: An update has carried it.
        epoch: The number of the stream that delivered it.
    """

    ns: Place
    content: Content
    entry: Entry | None = None
    part: Part | None = None
    in_update: bool
    epoch: int

    @property
    def in_messages(self) -> bool:
        """Whether mode `messages` has it, or is going to have it."""
        return bool(self.entry or self.part)


def with_id(part: Part, message_id: str) -> Part:
    """A message that waited for its id, under that id; its annotation keeps the one it had."""
    note: Any = {**(annotation_of(part.meta) or {}), "id": part.data.id}
    if note.pop("unnamed", False):
        note["made"] = True
    named = part.data.model_copy(update={"id": message_id})
    return part._replace(data=named, meta=annotated(part.meta, note))


class PendingIds(deque[PendingId]):
    """Those that the state has not named yet; `MAX_PENDING` at most.

    Attributes:
        states: For each graph what its last state held without an id, by place.
    """

    def __init__(self) -> None:
        super().__init__()
        self.states: PerGraph[dict[Place, Counter[Content]]] = PerGraph()

    def note(self, pending: PendingId) -> None:
        """Note one more; if there are too many, in place of the oldest that the consumer has."""
        if len(self) >= MAX_PENDING:
            had = next((known for known in self if known.part is None), None)
            if had is None:
                return
            self.remove(had)
        self.append(pending)

    def overdue(self) -> Part | None:
        """The oldest part that waits, if as many wait as may: it is to go out as it is."""
        if len(self) < MAX_PENDING or any(known.part is None for known in self):
            return None
        return self.popleft().part

    def comes_in_update(self, ns: Place, content: Content) -> bool:
        """Whether an update of `ns` carries what mode `messages` has, or is going to have."""
        missing = (k for k in self if k.in_messages and not k.in_update and k.ns == ns)
        if (known := saying(content, missing)) is not None:
            known.in_update = True
        return known is not None

    def leaves_graph(self, ns: Place, node: str, content: Content) -> bool:
        """Whether an update of a graph inside a node carried this; from now on `ns` is to name it.

        Args:
            ns: The graph of the node.
            node: The node, named as by `bare`.
            content: What an update of the node says without an id.
        """
        depth = len(ns)
        inside = (
            known
            for known in self
            if known.in_update
            and known.ns[:depth] == ns
            and len(known.ns) > depth
            and bare(NS_SEP.join(known.ns[: depth + 1])) == node
        )
        if (known := saying(content, inside)) is not None:
            known.ns = ns
        return known is not None

    def drop_parts(self, message_id: str | None = None) -> None:
        """Know no longer what waits for an id: all of it, or what we called `message_id`."""
        for known in list(self):
            if known.part is not None and message_id in (None, known.part.data.id):
                self.remove(known)

    def drop_repeated(self, part: Part, content: Content, epoch: int) -> bool:
        """Know no longer what waits since a stream before `epoch`, if a part says it again.

        Its task runs again, or an update repeats what the task wrote. Such an update names the
        node alone, so it stands for one task of the node.

        Returns:
            Whether the same message waited.
        """
        task = part.meta.get(TASK_NS_KEY)
        old = {k: str(k.part.meta.get(TASK_NS_KEY)) for k in self if k.part and k.epoch != epoch}
        same = saying(content, (k for k, by in old.items() if task in (by, bare(by))))
        for known, by in old.items():
            if known is same or by == task:
                self.remove(known)
        return same is not None

    def take(
        self, content: Content, ns: Place, *, snapshot: bool, waits: bool = False
    ) -> PendingId | None:
        """The one that a message with an id is, in a state or an update of the graph `ns`.

        That may show in a state of the graph that sent it, or in what its parents send; an
        update of the same graph with an id of its own is another message.

        Args:
            content: What the message says.
            ns: The graph.
            snapshot: Whether it is in a state.
            waits: Take only one of mode `messages`.
        """
        shown = (
            known
            for known in self
            if known.ns[: len(ns)] == ns
            and (snapshot or len(known.ns) > len(ns) or not known.in_update)
            and (known.in_messages or not waits)
        )
        if (known := saying(content, shown)) is not None:
            self.remove(known)
        return known

    def state(
        self, ns: Place, place: Place, said: list[Content]
    ) -> tuple[list[bool], Counter[Content]]:
        """Note the messages without an id that a list of a state holds.

        Returns:
            For each whether the consumer has it: from the state before, or from an update; and
            what the list held without an id before and no longer does: it may bear one now.
        """
        of_graph = self.states.get(ns, {})
        before = of_graph.get(place, Counter())
        if not (said or before):
            return [], before
        now: Counter[Content] = Counter()
        known = []
        for content in said:
            now[content] += 1
            known.append(
                now[content] <= before[content] or self.take(content, ns, snapshot=True) is not None
            )
        self.states.note(ns, {**of_graph, place: now})
        return known, before - now
