"""Messages that went out before the reducer gave them the id that the state knows them by."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.content import Content
from langgraph_once.stream.part.namespace import NS_SEP, Place, bare, lineage
from langgraph_once.stream.part.per_graph import PerGraph

__all__ = ["Nameless", "NamelessMessages"]

MAX_NAMELESS = 1024


class Nameless:
    """One such message.

    Attributes:
        ns: The graph that sent it.
        content: What it says.
        entry: What the consumer has of it in mode `messages`, where it has an id that we made
            up; None where it came in an update, without one.
        in_update: An update has carried it.
        epoch: The number of the stream that delivered it.
        claimed: The nodes around its graph in whose updates it stands for no copy any more.
    """

    __slots__ = ("claimed", "content", "entry", "epoch", "in_update", "ns")

    def __init__(
        self, ns: Place, content: Content, entry: Entry | None, *, in_update: bool, epoch: int
    ) -> None:
        self.ns: Place = ns
        self.content: Content = content
        self.entry: Entry | None = entry
        self.in_update: bool = in_update
        self.epoch: int = epoch
        self.claimed: set[str] = set()

    def is_inside(self, node: str) -> bool:
        """Whether its graph runs inside a node, named as by `bare`."""
        return node in map(bare, lineage(NS_SEP.join(self.ns)))


class NamelessMessages:
    """Those that the state has not named yet; the last ones only, so that they are bounded.

    Attributes:
        states: For each graph what its last state held without an id, by place.
    """

    def __init__(self) -> None:
        self._waiting: deque[Nameless] = deque(maxlen=MAX_NAMELESS)
        self.states: PerGraph[dict[Place, Counter[Content]]] = PerGraph()

    def __iter__(self) -> Iterator[Nameless]:
        return iter(self._waiting)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._waiting)

    def add(self, nameless: Nameless) -> None:
        """Note one that goes out."""
        self._waiting.append(nameless)

    def comes_in_update(self, ns: Place, content: Content) -> bool:
        """Whether an update of `ns` carries what came in `messages` under a made-up id."""
        for known in self._waiting:
            if known.entry and not known.in_update and (known.ns, known.content) == (ns, content):
                known.in_update = True
                return True
        return False

    def take(self, content: Content, ns: Place, *, snapshot: bool) -> Nameless | None:
        """The one that a message with an id is, in a state or an update of the graph `ns`.

        That may show in a state of the graph that sent it, or in what its parents send; an
        update of the same graph with an id of its own is another message.
        """
        for i, known in enumerate(self._waiting):
            inside = known.ns[: len(ns)] == ns and (
                snapshot or len(known.ns) > len(ns) or not known.in_update
            )
            if inside and known.content == content:
                del self._waiting[i]
                return known
        return None

    def claim_copied(self, node: str, content: Content, epoch: int) -> bool:
        """Whether an update of `node` copies one that a graph inside it sent in an update.

        Each stands for one copy.
        """
        for known in self._waiting:
            is_free = known.entry is None and known.epoch == epoch and node not in known.claimed
            if (
                is_free
                and known.is_inside(node)
                and content.is_copy_of(known.content, in_any_role=True)
            ):
                known.claimed.add(node)
                return True
        return False

    def end_of(self, node: str) -> None:
        """Note that `node` has sent its update, so that what it says later is no copy."""
        for known in self._waiting:
            if known.is_inside(node):
                known.claimed.add(node)

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
