"""The law for v3 over a network: what a stock client shows in the end is what the state says."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_once import once
from tests.corpus.screen import SERVED, Screen
from tests.examples import examples
from tests.unit_tests.stream.scenes import ASKED
from tests.unit_tests.stream.test_law_graphs import (
    NODES,
    THREAD,
    Script,
    answer_to,
    said_at_last,
)


def leaves(nodes: Iterable[Any]) -> Iterator[Any]:
    """The nodes that run no graph, at any depth."""
    for kind, said in nodes:
        yield from leaves(said) if isinstance(said, list) else [(kind, said)]


@pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)
@examples(
    30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(nodes=st.lists(NODES, min_size=1, max_size=4))
@example(nodes=[("graph", [("streams_and_edits", "ok"), ("dies_once", "ok")])])
@example(nodes=[("graph", [("respaces", "ok"), ("dies_once", "ok")])])
@example(nodes=[("graph", [("copies", "ok"), ("asks", "ok")])])
@example(nodes=[("graph", [("copies", "ok"), ("edits", "ha ha ha")])])
@example(nodes=[("graph", [("copies_as_pair", "ok"), ("edits", "ha ha ha")])])
def test_what_a_client_shows_is_the_state(nodes: Any) -> None:
    """But for a draft of a graph inside that is resumed: the run that goes on knows of none.

    To a client that takes nothing back, what streamed is a draft where the state has it with
    other white space between its words.
    """
    inside = [node for kind, inner in nodes if kind == "graph" for node in inner]
    assume(not any(kind == "respaces" and " " in text for kind, text in leaves(inside)))
    graph = once(Script().graph(nodes, checkpointer=InMemorySaver()))
    screen = Screen()
    asked: Any = ASKED
    for _ in range(20):
        with contextlib.suppress(RuntimeError):
            for event in graph.stream_events(asked, {**SERVED, **THREAD}, version="v3"):
                screen.show(event)
        state = graph.get_state(THREAD)
        if not state.next:
            break
        asked = answer_to(state)
    texts = (text.strip() for text in screen.said)  # white space at the ends is not taken back
    assert Counter(texts) == said_at_last(state)
