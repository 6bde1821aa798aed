"""The law where a cache answers: what comes in `updates` and `messages` is what the state has.

Random loops of cached nodes, nodes that ask a human and nodes that die, alone and inside another
graph. In each round a cached node answers with the same update, which is news; what was done when
a stream stopped amid a step comes again, which is none.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, strategies as st
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import CachePolicy, interrupt

from langgraph_once import Ledger, dedup
from tests.exact import exactly
from tests.examples import examples
from tests.unit_tests.stream.scenes import ASKED, folded
from tests.unit_tests.stream.test_law_graphs import THREAD, answer_to, said_at_last

ALWAYS: Any = CachePolicy(key_func=lambda _: "always")
STEPS = st.lists(
    st.lists(st.sampled_from(["cached", "cached", "asks"]), min_size=1, max_size=3)
    | st.just(["dies"]),  # beside another, it may stop that at any point
    min_size=1,
    max_size=3,
)
UPDATES: Any = {"modes": ["updates"], "is_inside": False}
MODES = st.sampled_from([["updates"], ["messages"], ["messages", "updates"]])


class Rounds:
    """A graph that goes through its steps several times; each node says its name."""

    def __init__(self, steps: list[list[str]], rounds: int) -> None:
        self._names = [[f"{kind}{at}{n}" for n, kind in enumerate(s)] for at, s in enumerate(steps)]
        self._length = rounds * sum(map(len, steps)) + 1
        self._died: set[int] = set()

    def graph(self, breaks: int, **options: Any) -> Any:
        """The graph, which stops before its first nodes, as many as `breaks` says."""
        builder: Any = StateGraph(MessagesState)
        for name in ("first", "last"):
            builder.add_node(name, lambda _: {"messages": []})
        before: Any = builder.add_edge(START, "first") and "first"
        for names in self._names:
            for name in names:
                policy = ALWAYS if name.startswith("cached") else None
                builder.add_node(name, self._node(name), cache_policy=policy)
                builder.add_edge(before, name)
            before = names
        builder.add_edge(before, "last").add_conditional_edges("last", self._goes_on)
        return builder.compile(
            cache=InMemoryCache(), interrupt_before=self._names[0][:breaks], **options
        )

    def _goes_on(self, state: Any) -> Any:
        return self._names[0] if len(state["messages"]) < self._length else END

    def _node(self, name: str) -> Any:
        def node(state: Any) -> Any:
            if name.startswith("asks"):
                interrupt("Go on?")
            if name.startswith("dies") and len(state["messages"]) not in self._died:
                self._died.add(len(state["messages"]))
                raise RuntimeError
            return {"messages": [("ai", name)]}

        return node


@examples(30, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=STEPS,
    rounds=st.integers(1, 3),
    breaks=st.integers(0, 1),
    is_inside=st.booleans(),
    modes=MODES,
    is_wrapped=st.booleans(),
)
@example(steps=[["cached"], ["asks"]], rounds=2, breaks=0, is_wrapped=True, **UPDATES)
@example(steps=[["cached"]], rounds=3, breaks=1, is_wrapped=True, **UPDATES)
@example(steps=[["asks", "cached"]], rounds=3, breaks=1, is_wrapped=False, **UPDATES)
def test_each_answer_comes_once(
    steps: Any, rounds: int, breaks: int, is_inside: bool, modes: list[str], is_wrapped: bool
) -> None:
    modes = modes if is_wrapped else ["updates"]  # no filter hears what no node says
    saver: Any = {"checkpointer": InMemorySaver()}
    graph = Rounds(steps, rounds).graph(breaks, **({} if is_inside else saver))
    if is_inside:
        outer: Any = StateGraph(MessagesState)
        outer.add_node("inner", graph).add_edge(START, "inner")
        graph = outer.compile(cache=InMemoryCache(), **saver)
    chunks = list(_chunks(graph, modes, Ledger() if not is_wrapped else None))
    said = said_at_last(graph.get_state(THREAD))
    if "messages" in modes:
        told = folded(data for _, mode, data in chunks if mode == "messages")
        assert Counter(told.values()) == said
    if "updates" in modes:
        updates = [data for ns, mode, data in chunks if mode == "updates" and is_inside == bool(ns)]
        assert Counter(_texts(updates)) == said


def _chunks(plain: Any, modes: list[str], ledger: Ledger | None) -> Iterator[Any]:
    """What a consumer gets until the graph has come to its end."""
    options: Any = {"stream_mode": modes, "subgraphs": True}
    graph = exactly(plain) if ledger is None else plain
    asked: Any = ASKED
    while True:
        stream = graph.stream(asked, THREAD, **options)
        with contextlib.suppress(RuntimeError):
            yield from stream if ledger is None else dedup(stream, ledger=ledger, **options)
        state = graph.get_state(THREAD)
        if not state.next:
            return
        asked = answer_to(state)


def _texts(updates: Iterable[Any]) -> Iterator[str]:
    """What the pairs in updates say; from a cache they come as lists."""
    for update in updates:
        for node, wrote in update.items():
            if not node.startswith("__"):
                yield from (text for _, text in wrote["messages"])


@pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)
def test_in_v3_each_round_says_it() -> None:
    graph = exactly(Rounds([["cached"]], 3).graph(1, checkpointer=InMemorySaver()))
    said: list[str] = []
    for asked in (ASKED, None, None, None):
        run: Any = graph.stream_events(asked, THREAD, version="v3")
        said += [str(message.text) for message in run.messages]
    assert said == ["cached00"] * 3
