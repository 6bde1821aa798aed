"""The law of prefixes: whenever a stream dies, what its consumer has is a beginning of the state.

It is asked at each chunk, so between any two operations, and again as the thread goes on after.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final

from hypothesis import given, strategies as st
from langchain_core.messages import AIMessage
from langgraph.types import RetryPolicy

from langgraph_once import once
from tests.corpus.graphs import Node, Steps, chain, copies, node, says, without_id
from tests.corpus.models import BrokenConnectionError, answers
from tests.exact import exactly
from tests.examples import examples
from tests.unit_tests.stream.scenes import ASKED, folded

TEXTS: Final = ("Yes.", "Yes, of course.", "Not at all.")
THREAD: Any = {"configurable": {"thread_id": "1"}}
AGAIN: Final = RetryPolicy(
    initial_interval=0.001, jitter=False, retry_on=(BrokenConnectionError, TimeoutError)
)


def fails_after(text: str) -> Node:
    """A node that fails once, after its answer."""
    model, failures = answers(text), iter([True])

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        if next(failures, False):
            raise TimeoutError
        return {"messages": [answer]}

    return node(steps)


def wraps(text: str) -> Node:
    """A node that runs a graph and returns a copy of what that said."""
    graph = chain(says(text))

    def steps(state: Any) -> Steps:
        inner = yield graph, state
        return {"messages": [without_id(inner["messages"][-1])]}

    return node(steps)


UNTOLD: Final = "returns a pair"
"""Plain LangGraph does not tell it in `messages`, so neither is a stock client told."""

KINDS: Final[dict[str, Callable[[str], Node]]] = {
    "says": says,
    "copies": copies,
    "returns": lambda text: lambda _: {"messages": [AIMessage(text)]},
    UNTOLD: lambda text: lambda _: {"messages": [("ai", text)]},
    "breaks off": lambda text: says(text, breaks={0: 2}),
    "breaks off, and copies": lambda text: copies(text, breaks={0: 1, 1: 2}),
    "fails after its answer": fails_after,
    "is a graph": lambda text: chain(says(text)),
    "wraps a graph": wraps,
    "echoes": lambda _: lambda state: {"messages": state["messages"]},
}

MESSAGES: Final[Any] = {"stream_mode": "messages"}


def nodes_of(kinds: Iterable[str]) -> Any:
    node = st.tuples(st.sampled_from([*kinds]), st.sampled_from(TEXTS))
    return st.lists(node, min_size=1, max_size=4)


def graph_of(nodes: list[tuple[str, str]]) -> Any:
    actions = [KINDS[kind](text) for kind, text in nodes]
    return chain(*actions, memory=True, retry_policy=AGAIN)


def check(chunks: list[Any], graph: Any) -> None:
    """A consumer has a beginning of the answers after each chunk, and all of them at the end."""
    state = graph.get_state(THREAD).values["messages"]
    final = [message.text for message in state if isinstance(message, AIMessage)]
    for at in range(len(chunks) + 1):
        texts = list(folded(chunks[:at]).values())
        assert texts[:-1] == final[: len(texts)][:-1]
        assert not texts or final[len(texts) - 1].startswith(texts[-1])
    assert list(folded(chunks).values()) == final


@examples(30)
@given(nodes=nodes_of(KINDS))
def test_an_exact_stream_shows_a_beginning_of_the_state_after_each_chunk(
    nodes: list[tuple[str, str]],
) -> None:
    graph = exactly(graph_of(nodes))
    check(list(graph.stream(ASKED, THREAD, **MESSAGES)), graph)


@examples(30)
@given(nodes=nodes_of(kind for kind in KINDS if kind != UNTOLD))
def test_a_stock_stream_shows_a_beginning_of_the_state_after_each_chunk(
    nodes: list[tuple[str, str]],
) -> None:
    graph = once(graph_of(nodes))
    check(list(graph.stream(ASKED, THREAD, **MESSAGES)), graph)


@examples(30)
@given(nodes=nodes_of(KINDS), dies_after=st.integers(1, 12))
def test_a_stream_that_died_and_the_next_show_a_beginning_of_the_state_after_each_chunk(
    nodes: list[tuple[str, str]], dies_after: int
) -> None:
    """A stock client is not among them: it is taken for a new one when it comes again."""
    graph = exactly(graph_of(nodes))
    with contextlib.closing(graph.stream(ASKED, THREAD, **MESSAGES)) as stream:
        chunks = list(itertools.islice(stream, dies_after))
    check([*chunks, *graph.stream(None, THREAD, **MESSAGES)], graph)
