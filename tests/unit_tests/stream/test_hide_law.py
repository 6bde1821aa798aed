"""The law where nodes are hidden: what is heard folds to the state without what they said first.

Random graphs as in `test_law_graphs`, with runs that die and are resumed, where random nodes
are hidden, with all that is inside them.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, strategies as st
from langchain_core.messages import AIMessageChunk, BaseMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_once import DedupConfig
from langgraph_once.stream import v2_part
from tests.exact import exactly
from tests.examples import examples
from tests.unit_tests.stream.scenes import ASKED, messages_in
from tests.unit_tests.stream.test_law_graphs import (
    RETRY,
    TEXTS,
    THREAD,
    Consumer,
    Script,
    answer_to,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

# No pairs (role, text): nobody but the reducer knows which message one has become.
KINDS = ["streams", "copies", "writes", "edits", "removes", "streams_and_edits", "asks"]
LEAVES = st.tuples(st.sampled_from([*KINDS, "fails_once", "dies_once", "asks_twice"]), TEXTS)
KINDS_ASKING = ["streams", "streams", "asks"]
NODES = st.recursive(
    # A graph inside that edits and then removes: `test_law_graphs` says why not.
    LEAVES.filter(lambda node: node[0] != "removes"),
    lambda inner: st.tuples(st.just("graph"), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=4,
)
QUIET = LEAVES.filter(lambda node: node[0] in KINDS and node[0] != "asks")
GRAPHS = st.lists(LEAVES | NODES, min_size=1, max_size=4)
HIDDEN = st.sets(st.sampled_from(["first", "second", "third"]), min_size=1, max_size=2)
NAMES = ["first", "second", "third", "fourth"]


class Watched(Script):
    """Knows which messages were said first by a node that is hidden, or inside one."""

    def __init__(self, hidden: Iterable[str]) -> None:
        self.hidden = frozenset(hidden)
        self.said_hidden: dict[str, bool] = {}
        self._is_hidden = False
        self._returned: list[tuple[BaseMessage, bool]] = []

    def graph(self, nodes: Iterable[Any], **options: Any) -> Any:
        builder: Any = StateGraph(MessagesState)
        before, around = START, self._is_hidden
        for name, (kind, said) in zip(NAMES, nodes, strict=False):
            self._is_hidden = around or name in self.hidden
            node = self.node(kind, said)
            watched = node if kind == "graph" else self._watched(node, self._is_hidden)
            builder.add_node(name, watched, retry_policy=RETRY)
            builder.add_edge(before, name)
            before = name
        self._is_hidden = around
        return builder.compile(**options)

    def _watched(self, node: Any, is_hidden: bool) -> Any:
        def watched(state: Any) -> Any:
            self._note()
            self._returned = [(message, False) for message in state["messages"]]
            self._note()
            found = node(state)
            self._returned = [(message, is_hidden) for message in found["messages"]]
            return found

        return watched

    def _note(self) -> None:
        """Note what was returned last; only now has it its ids."""
        for message, is_hidden in self._returned:
            self.said_hidden.setdefault(str(message.id), is_hidden)

    def heard(self, state: Any) -> Counter[str]:
        """The texts of a final state, without what is hidden and the question as it was."""
        self._note()
        said = Counter(
            str(message.text)
            for message in state.values["messages"]
            if not self.said_hidden[str(message.id)]
        )
        said.pop("Please begin.", None)
        return said


def play(nodes: Any, hidden: Iterable[str], stream: Any, **options: Any) -> None:
    """Run a graph to its end, with all its deaths and questions, and hold it to the law."""
    script, consumer = Watched(hidden), Consumer()
    plain = script.graph(nodes, checkpointer=InMemorySaver())
    graph = exactly(plain, DedupConfig(hide={"nodes": sorted(hidden)}, **options))
    asked: Any = ASKED
    for _ in range(20):
        with contextlib.suppress(RuntimeError):
            for message in stream(graph, asked):
                consumer.take("messages", (message, {}))
        state = graph.get_state(THREAD)
        if not state.next:
            break
        asked = answer_to(state)
    assert Counter(consumer.texts.values()) == script.heard(state)


def in_v2(subgraphs: bool) -> Any:
    def stream(graph: Any, asked: Any) -> Iterator[BaseMessage]:
        options = {"stream_mode": "messages", "subgraphs": subgraphs, "version": "v2"}
        for chunk in graph.stream(asked, THREAD, **options):
            yield chunk["data"][0]

    return stream


def on_channel(graph: Any, asked: Any) -> Iterator[BaseMessage]:
    run: Any = graph.stream_events(asked, THREAD, version="v3")
    for part in map(v2_part, run.extensions["once"]):
        if part.mode == "messages":
            yield part.data


@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(nodes=GRAPHS, hidden=HIDDEN, subgraphs=st.booleans())
@example(  # a graph inside says in a run before this what was hidden in it, too
    nodes=[("writes", "ok"), ("writes", "ok"), ("graph", [(kind, "ok") for kind in KINDS_ASKING])],
    hidden={"second"},
    subgraphs=False,
)
def test_what_is_heard_folds_to_the_state_without_what_is_hidden(
    nodes: Any, hidden: set[str], subgraphs: bool
) -> None:
    play(nodes, hidden, in_v2(subgraphs))


@examples(15, suppress_health_check=[HealthCheck.too_slow])
@given(nodes=GRAPHS, hidden=HIDDEN)
def test_and_on_the_channel_of_v3(nodes: Any, hidden: set[str]) -> None:
    play(nodes, hidden, on_channel)


@examples(20, suppress_health_check=[HealthCheck.too_slow])
@given(nodes=st.lists(QUIET, min_size=1, max_size=4), hidden=HIDDEN)
def test_with_states_it_folds_to_all_of_the_state(nodes: Any, hidden: set[str]) -> None:
    """Of states only what was not heard, which is what is hidden."""
    config = DedupConfig(state="new_messages", hide={"nodes": sorted(hidden)})
    graph = exactly(Watched(hidden).graph(nodes, checkpointer=InMemorySaver()), config)
    had: dict[str, str] = {}
    for mode, data in graph.stream(ASKED, THREAD, stream_mode=["messages", "updates"]):
        for message in messages_in(data):
            message_id, text = str(message.id), str(message.text)
            if isinstance(message, RemoveMessage):
                had.pop(message_id, None)
            elif isinstance(message, AIMessageChunk):
                assert mode == "messages"
                had[message_id] = had.get(message_id, "") + text
            else:
                had[message_id] = text
    said = {str(m.id): str(m.text) for m in graph.get_state(THREAD).values["messages"]}
    question = str(next(iter(said)))
    assert {**had, question: ""} == {**said, question: ""}
