"""Messages that a node wrote without an id, until a state shows the id that the reducer gave them.

A node may return a dict, a pair or a string. No mode tells its id before the next state does.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

from langgraph_once.stream.ledger.entries import saying
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.annotation import annotated, annotation_of
from langgraph_once.stream.part.content import Content
from langgraph_once.stream.part.places import NS_SEP, TASK_NS_KEY, PerGraph, Place, bare
from langgraph_once.stream.part.shapes import Part

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
    note.pop("unnamed", None)
    named = part.data.model_copy(update={"id": message_id})
    return part._replace(data=named, meta=annotated(part.meta, note))


class PendingIds(deque[PendingId]):
    """Those that the state has not named yet; the last ones only, so that they are bounded.

    Attributes:
        states: For each graph what its last state held without an id, by place.
    """

    def __init__(self) -> None:
        super().__init__(maxlen=MAX_PENDING)
        self.states: PerGraph[dict[Place, Counter[Content]]] = PerGraph()

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
