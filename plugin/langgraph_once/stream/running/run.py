"""What the handler of a running graph must know, handed over in a context variable.

`Pregel.stream` makes its handler when it is first advanced. The variable is set around that
first step alone, and the handler made in it takes it. So a graph that a node streams finds the
variable empty, and so does another run at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from langgraph_once.stream.dedup.forms import Form
from langgraph_once.stream.part.places import node_path
from langgraph_once.stream.running.inputs import GivenToGraph

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
