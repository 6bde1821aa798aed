"""What `HintsHandler` heard of a run beside its states, for those that decide on states."""

from __future__ import annotations

from collections import OrderedDict, deque

from langgraph_once.stream.ledger.ledger import MAX_MESSAGES
from langgraph_once.stream.part.content import Space
from langgraph_once.stream.part.namespace import NS_SEP, Place, names

__all__ = ["Hints"]


class Hints:
    """What is known of a run beside its states.

    Args:
        space: What white space a copy may differ in from what it is a copy of.
        max_messages: The most messages to know. The oldest are forgotten, as by the ledger: a
            copy of one of them is taken for a new message.

    Attributes:
        origins: For the id of each message the graph and the task that returned it first.
        rerun: The tasks that ran again, each when it did.
        void: The ids of what nodes inside them had returned: the states that hold it may be
            read only later.
    """

    __slots__ = ("_max_messages", "origins", "rerun", "space", "void")

    def __init__(self, space: Space = "any", *, max_messages: int = MAX_MESSAGES) -> None:
        self.space: Space = space
        self._max_messages = max_messages
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
        if len(self.origins) > self._max_messages:
            oldest, _ = self.origins.popitem(last=False)
            self.void.discard(oldest)

    def place(self, message_id: str, ns: Place) -> Place:
        """What runs the task whose message comes in a payload of `ns`: that graph, or a caller."""
        graph, task = self.origins.get(message_id, ((), ""))
        return tuple(task.split(NS_SEP)[:-1]) if task and graph == ns else ns
