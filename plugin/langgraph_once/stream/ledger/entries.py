"""The messages that one consumer has, found by their ids, by who said them and by what they say.

How two texts compare is `Content`'s. A copy is looked for among all that its task has said. A list
of that made the time for each message grow with their number: 1,000 cost 0.6 s at first, and 11.7 s
after 7,000. So `Texts` is an index of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Protocol, TypeVar

from langchain_core.messages import BaseMessage

from langgraph_once.stream.ledger.entry import Entry, State
from langgraph_once.stream.part.content import (
    NO_DETAILS,
    SPEAKERS,
    Content,
    Details,
    Space,
    content_of,
    details_of,
    mere_text,
)
from langgraph_once.stream.part.places import NS_SEP, Place, bare, is_inside, lineage, names

__all__ = [
    "Entries",
    "Seeds",
    "Texts",
    "copied",
    "cut_short",
    "is_original",
    "original_of",
    "saying",
    "says",
]


class Seeds:
    """Messages that stood in a thread before its stream, as they were then.

    Read at once: a run has these very objects, and may change them in place. They stand in columns:
    an object for each message of a long thread is work for the garbage collector, which takes
    longer than all the rest.

    Args:
        messages: The messages.
    """

    def __init__(self, messages: Iterable[BaseMessage] = ()) -> None:
        self._messages = {own: message for message in messages if (own := message.id)}
        self._texts: dict[str, str] = {}
        self._others: dict[str, Content] = {}
        self._details: dict[str, Details] = {}
        for message_id, message in self._messages.items():
            if (text := mere_text(message)) is not None:
                self._texts[message_id] = text
            else:
                self._others[message_id] = content_of(message)
            if (details := details_of(message)) is not NO_DETAILS:
                self._details[message_id] = details

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._messages

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def content(self, message_id: str) -> Content:
        """What the message of an id said."""
        return self._content(message_id, self._messages[message_id])

    def _content(self, message_id: str, message: BaseMessage) -> Content:
        if (other := self._others.get(message_id)) is not None:
            return other
        return Content(SPEAKERS[type(message)], self._texts[message_id])

    def has(self, message: BaseMessage) -> bool:
        """Whether a message is one of them, and says and carries what it did then."""
        message_id = str(message.id)
        known = self._messages.get(message_id)  # a node asks, in another thread perhaps
        if known is None or self._content(message_id, known) != content_of(message):
            return False
        before = self._details.get(message_id, NO_DETAILS)
        return before.gained_by(details_of(message)) == NO_DETAILS

    def pop(self, message_id: str) -> tuple[Content, Details]:
        """What the message of an id said, and carried besides; it is no seed any more."""
        content = self.content(message_id)
        del self._messages[message_id]
        return content, self._details.get(message_id, NO_DETAILS)


class Entries:
    """The messages of a ledger. Past a limit the oldest finished ones are forgotten.

    Args:
        max_messages: The most messages to know.
        max_bytes: The most text of finished messages to keep.

    Attributes:
        epoch: The number of the stream that writes, from 0.
        added: How many messages it has got.
    """

    def __init__(self, *, max_messages: int, max_bytes: int) -> None:
        self.epoch: int = 0
        self.added: int = 0
        self.max_messages: int = max_messages
        self.max_bytes: int = max_bytes
        self._by_id: dict[str, list[Entry]] = {}
        self._by_task: dict[str, dict[Entry, None]] = {}
        self._by_node: dict[str, dict[str, None]] = {}
        self._texts: dict[str, Texts] = {}
        self._texts_of_nodes: dict[str, Texts] = {}
        self._open: dict[tuple[str, str], Entry] = {}
        self._stale: dict[Entry, None] = {}
        self._settled: deque[Entry] = deque()
        self._seeds = Seeds()
        self._count = 0
        self._bytes = 0

    def begin(self) -> None:
        """Start a new epoch: no message is open, and no task has emitted in it."""
        self.epoch += 1
        self._by_node.clear()
        self._texts_of_nodes.clear()
        for entry in list(self._open.values()):
            self.settle(entry)
        for entry in self.stale():
            entry.stand()

    def __len__(self) -> int:
        """How many messages are known."""
        return self._count

    @property
    def open_entries(self) -> Callable[[tuple[str, str]], Entry | None]:
        """The function that finds the message that a task is streaming under an id."""
        return self._open.get

    def add(self, entry: Entry) -> None:
        """Note a message that the consumer gets, whole or its first chunk."""
        entry.epoch = entry.began_in = self.epoch
        self.added = entry.number = self.added + 1
        entry.stand()
        self._by_id.setdefault(entry.id, []).append(entry)
        self._put(entry)
        self._count += 1
        if entry.is_open:
            self._open[entry.task, entry.id] = entry
            self._evict()
        else:
            self._keep(entry)

    def settle(self, entry: Entry) -> None:
        """Note that a message is complete, unless that is known."""
        if entry.is_open:
            # Another run of the task may have begun under this id since.
            if self._open.get((entry.task, entry.id)) is entry:
                del self._open[entry.task, entry.id]
            for _, texts in self._indexes(entry):
                texts.settle(entry)
            self._keep(entry)

    def _keep(self, entry: Entry) -> None:
        """Note a complete message; only such are ever forgotten."""
        entry.settle()
        self._bytes += entry.weight
        self._settled.append(entry)
        self._evict()

    def outdate(self, entry: Entry) -> None:
        """Note that the attempt that said it has failed."""
        entry.state = State.STALE
        self._stale[entry] = None

    def stale(self) -> list[Entry]:
        """What attempts said that failed, but for what counts again and what is gone."""
        self._stale = {entry: None for entry in self._stale if entry.state is State.STALE}
        return list(self._stale)

    def _evict(self) -> None:
        while self._count > self.max_messages or self._bytes > self.max_bytes:
            if self._settled:
                self.drop(self._settled.popleft())
            elif self._count > self.max_messages and self._open:
                self.drop(next(iter(self._open.values())))  # chunks that never came to an end
            else:
                return

    def take_up(self, entry: Entry, ns: Place) -> None:
        """Note that the graph `ns` has a message now that came in a state of a graph inside it.

        What another graph inside it does with the message concerns this one, then.
        """
        home = NS_SEP.join(ns)
        if entry.within and (not home or is_inside(entry.within, home)):
            self._take_out(entry)
            entry.within = home
            self._put(entry)

    def listed(self, ns: Place) -> list[str]:
        """The messages that the consumer has of the states of the graph `ns`."""
        return [entry.id for entry in self.known() if entry.within == NS_SEP.join(ns)]

    def entries(self, message_id: str) -> tuple[Entry, ...]:
        """What the consumer has under this id, or as another id that this one is a copy of."""
        if message_id not in self._by_id and message_id in self._seeds:
            content, details = self._seeds.pop(message_id)
            entry = Entry("", message_id, content)
            entry.details = details
            self.add(entry)
            # It was said before this stream, so its task may say it again.
            entry.epoch = self.epoch - 1
        return tuple(self._by_id.get(message_id, ()))

    def stood(self, message: BaseMessage) -> bool:
        """Whether a message stood in the thread before, as it is now, and did not come since."""
        return self._seeds.has(message)

    def is_news(self, task: str, message_id: str) -> bool:
        """Whether nothing is known under this id, and this task has said nothing."""
        known = message_id in self._by_id or message_id in self._seeds or task in self._by_task
        return not (known or self._stale)

    def known(self) -> Iterator[Entry]:
        """Every message, in the order of their first ids."""
        for message_id, entries in self._by_id.items():
            yield from (entry for entry in entries if entry.ids[0] == message_id)

    def alias(self, entry: Entry, message_id: str) -> None:
        """Note another id of a message."""
        if message_id not in entry.ids:
            entry.ids.append(message_id)
            self._by_id.setdefault(message_id, []).append(entry)

    def rewrite(self, entry: Entry, said: Content) -> None:
        """Note that the consumer has this of a message now, which is complete."""
        indexes = [texts for _, texts in self._indexes(entry)]
        for texts in indexes:
            texts.discard(entry)
        entry.said = said
        for name, texts in self._indexes(entry):
            texts.add(entry, name)

    def said_in(self, task: str) -> list[Entry]:
        """What a task has said, and the tasks inside it, in order."""
        return [entry for name in names(task) for entry in self._by_task.get(name, ())]

    def said_before(self, task: str) -> list[Entry]:
        """What this very task said in earlier streams and has not said again since."""
        said = takewhile(lambda known: known.began_in < self.epoch, self._by_task.get(task, ()))
        return [entry for entry in said if entry.task == task and entry.epoch < self.epoch]

    def open_in(self, task: str) -> Iterator[Entry]:
        """What this very task is streaming, the last first."""
        known = self._texts.get(task)
        return (e for e in (known.open_last_first() if known else ()) if e.task == task)

    def claim(self, entry: Entry, task: str) -> None:
        """Note that a message of `task` was found to be this one: it stands for no other there."""
        entry.claimed.add(task)
        entry.stand()
        for texts in (self._texts.get(task), *map(self._texts_of_nodes.get, (task, bare(task)))):
            if texts is not None:
                texts.discard(entry)

    def drop(self, entry: Entry) -> None:
        """Know a message no longer."""
        # `_settled` still holds what was dropped in another way.
        if entry.state is State.GONE:
            return
        entry.state = State.GONE
        self._count -= 1
        self._bytes -= entry.weight
        self._open.pop((entry.task, entry.id), None)
        for known_id in entry.ids:
            if entry in (known := self._by_id.get(known_id, [])):
                known.remove(entry)
                if not known:
                    del self._by_id[known_id]
        self._take_out(entry)

    def _put(self, entry: Entry) -> None:
        for task in lineage(entry.place):
            node = bare(task)
            self._by_task.setdefault(task, {})[entry] = None
            self._by_node.setdefault(node, {})[task] = None
            self._texts.setdefault(task, Texts()).add(entry, task)
            self._texts_of_nodes.setdefault(node, Texts()).add(entry, node)

    def _indexes(self, entry: Entry) -> Iterator[tuple[str, Texts]]:
        """The indexes that an entry is in, by their names."""
        for task in lineage(entry.place):
            if (texts := self._texts.get(task)) is not None:
                yield task, texts
            if task in self._by_node.get(node := bare(task), ()):
                yield node, self._texts_of_nodes[node]

    def _take_out(self, entry: Entry) -> None:
        for _, texts in self._indexes(entry):
            texts.discard(entry)
        for task in lineage(entry.place):
            if (said := self._by_task.get(task)) is not None:
                said.pop(entry, None)
                if not said:
                    del self._by_task[task], self._texts[task]
                    self._by_node.get(bare(task), {}).pop(task, None)


T = TypeVar("T")


class _Known(Protocol):
    @property
    def content(self) -> Content: ...


K = TypeVar("K", bound=_Known)


def saying(content: Content, among: Iterable[K]) -> K | None:
    """The first message that says just this."""
    return next((known for known in among if known.content == content), None)


def copied(content: Content, among: Iterable[K], space: Space = "same") -> K | None:
    """The first message that this may be a copy of, whoever says it."""
    for known in among:
        if content.is_copy_of(known.content, in_any_role=True, space=space):
            return known
    return None


def cut_short(content: Content, among: Iterable[K]) -> K | None:
    """The first message that says this, or its beginning."""
    for known in among:
        if content.is_copy_of(known.content) or content.begins_with(known.content):
            return known
    return None


def says(entry: Entry, message_id: str, content: Content) -> bool:
    """Whether a message under one of the ids of `entry` says no more than the consumer has.

    What bears the id of a copy may lack thoughts and have another role, as copies do.
    """
    if entry.content == content:
        return True
    return message_id != entry.id and copied(content, [entry]) is not None


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
    """The first of some messages that another repeats; None if it repeats none.

    Args:
        content: What the other says.
        originals: The messages, each with what it says.
        space: What white space may differ, where none says just the same.
        may_lack_thoughts: Whether the other may have left out blocks that are no text.
    """
    known = list(originals)
    for allowed in dict.fromkeys(("same", space)):
        for original, said in known:
            is_whole = may_lack_thoughts or content.rest == said.rest
            if is_whole and content.is_copy_of(said, space=allowed):
                return original
    return None


class Texts:
    """Which messages may say the same as another.

    What still streams may say anything in the end, and its text is not looked at before.
    """

    __slots__ = ("_by_text", "_complete", "_keys", "_open")

    def __init__(self) -> None:
        self._open: dict[Entry, None] = {}
        self._complete: dict[Entry, None] = {}
        self._by_text: dict[int, list[Entry]] = {}
        self._keys: dict[Entry, int] = {}

    def add(self, entry: Entry, name: str) -> None:
        """Note a message, unless one of the task or node of this name was found to be it."""
        if name not in entry.claimed:
            (self._open if entry.is_open else self._complete)[entry] = None

    def settle(self, entry: Entry) -> None:
        """Note that a message is complete now."""
        if self._open.pop(entry, self) is None:
            self._complete[entry] = None

    def discard(self, entry: Entry) -> None:
        """Know a message no longer, if it is known."""
        self._open.pop(entry, None)
        self._complete.pop(entry, None)
        key = self._keys.pop(entry, None)
        if key is None:
            return
        self._by_text[key].remove(entry)
        if not self._by_text[key]:
            del self._by_text[key]

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
    """What all messages have in common of which one may be a copy of the other."""
    # A hash, not the text: the index of a long thread would hold each text a second time.
    return hash("".join(content.text.split()))
