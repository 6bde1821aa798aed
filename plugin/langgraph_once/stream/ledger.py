"""The ledger: what one consumer has received."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.messages import BaseMessageChunk

from langgraph_once.stream.content import Content, StreamedContent

__all__ = ["NS_SEP", "Entry", "Ledger", "Place"]

NS_SEP = "|"

Place = tuple[str, ...]
"""Where in the stream a list of messages is: mode, namespace, keys."""


class Entry:
    """One message that the consumer has, in whole or in part.

    Attributes:
        id: The id under which the consumer has it.
        ids: That one and those of its copies.
        task: The task that sent it: its `langgraph_checkpoint_ns`; `""` where the message
            came inside a state, which does not tell.
        copied: A later copy in the same task has been matched with it. A streamed message
            stands for one copy, so that a node may say the same thing twice.
    """

    __slots__ = ("_said", "copied", "id", "ids", "task")

    def __init__(self, task: str, message_id: str, said: Content | StreamedContent) -> None:
        self.task = task
        self.id = message_id
        self.ids = [message_id]
        self.copied = False
        self._said = said

    @property
    def content(self) -> Content:
        """What the consumer has of it."""
        return self._said.content() if isinstance(self._said, StreamedContent) else self._said

    def extend(self, chunk: BaseMessageChunk) -> None:
        """Note a delivered chunk."""
        if isinstance(self._said, StreamedContent):
            self._said.extend(chunk)
        else:
            self._said = StreamedContent(chunk)

    def replace(self, message_id: str, content: Content) -> None:
        """Note that the consumer now has `content` instead, under `message_id`."""
        self.id = message_id
        self._said = content

    def akin(self, task: str) -> bool:
        """Whether `task` may be speaking of this message: the same task, or parent and child.

        Parallel tasks may send equal messages under equal ids; those are all real.
        """
        mine = self.task
        return (
            not mine
            or mine == task
            or mine.startswith(task + NS_SEP)
            or task.startswith(mine + NS_SEP)
        )


class Ledger:
    """What one consumer has received, over one stream or several.

    Give the ledger of an earlier stream to a later one (a resume, a reconnect) and what the
    consumer has is not sent again. One stream at a time; not thread-safe.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, list[Entry]] = {}
        self._streamed_by_task: dict[str, list[Entry]] = {}
        self._snapshots: dict[Place, Mapping[str, Place]] = {}
        self._nameless: list[tuple[Place, Content]] = []

    def __len__(self) -> int:
        """How many message ids are known."""
        return len(self._by_id)

    def stream(self, task: str, chunk: BaseMessageChunk) -> None:
        """Note a delivered chunk of a message that `task` is streaming."""
        message_id = str(chunk.id)
        for entry in self._by_id.get(message_id, ()):
            if entry.task == task:
                entry.extend(chunk)
                return
        entry = Entry(task, message_id, StreamedContent(chunk))
        self._by_id.setdefault(message_id, []).append(entry)
        self._streamed_by_task.setdefault(task, []).append(entry)

    def deliver(self, message_id: str, content: Content, *, task: str = "") -> None:
        """Note a delivered whole message."""
        self._by_id.setdefault(message_id, []).append(Entry(task, message_id, content))

    def entries(self, message_id: str) -> tuple[Entry, ...]:
        """What the consumer has under this id, or as another id that this one is a copy of."""
        return tuple(self._by_id.get(message_id, ()))

    def match_copy(self, task: str, message_id: str, content: Content) -> bool:
        """Whether a new id repeats a streamed message of `task` that has no copy yet.

        If so, the new id is from now on another name of that message.
        """
        for entry in self._streamed_by_task.get(task, ()):
            if not entry.copied and entry.content == content:
                entry.copied = True
                entry.ids.append(message_id)
                self._by_id.setdefault(message_id, []).append(entry)
                return True
        return False

    def deliver_nameless(self, ns: Place, content: Content) -> None:
        """Note a message that an update of the graph `ns` carried before it had an id.

        Ids are given by the reducer, after the update went out.
        """
        self._nameless.append((ns, content))

    def name(self, message_id: str, content: Content, *, ns: Place, snapshot: bool) -> bool:
        """Whether an id that is not known yet is the name of a message delivered without one.

        That may show in a state of the graph that sent it, or in what its parents send; an
        update of the same graph with an id of its own is another message.
        """
        for i, (sent_ns, sent) in enumerate(self._nameless):
            inside = sent_ns[: len(ns)] == ns and (snapshot or len(sent_ns) > len(ns))
            if inside and sent == content:
                del self._nameless[i]
                self.deliver(message_id, content)
                return True
        return False

    def forget(self, message_id: str) -> list[str]:
        """The consumer drops this message: what comes under its id is new.

        Returns:
            The ids under which the consumer has it, which a `RemoveMessage` must name.
        """
        dropped = self.entries(message_id)
        for entry in dropped:
            for known_id in entry.ids:
                self._by_id[known_id].remove(entry)
            streamed = self._streamed_by_task.get(entry.task, [])
            if entry in streamed:
                streamed.remove(entry)
        return list(dict.fromkeys(entry.id for entry in dropped)) or [message_id]

    def forget_all(self) -> None:
        """The consumer drops every message."""
        self._by_id.clear()
        self._streamed_by_task.clear()

    def snapshot(self, root: Place, listed: Mapping[str, Place]) -> Mapping[str, Place]:
        """Note which messages a state holds now, each with the place of its list.

        Returns:
            Those that the state at `root` held before and no longer does.
        """
        before = self._snapshots.get(root, {})
        self._snapshots[root] = listed
        return {known: place for known, place in before.items() if known not in listed}
