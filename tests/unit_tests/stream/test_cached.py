"""What nodes answer that do not run reaches `messages` all the same."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import CachePolicy

from langgraph_once import once
from tests.unit_tests.stream.scenes import ASKED, chain, folded, model, says

THREAD: Any = {"configurable": {"thread_id": "1"}}


def cached_graph() -> Any:
    """A graph whose only node has answered already."""
    builder: Any = StateGraph(MessagesState)
    by_text: Any = CachePolicy(key_func=lambda state: str(state["messages"][-1].content))
    builder.add_node(
        "answers",
        lambda s: {"messages": [AIMessage(str(model("Hello.").invoke(s["messages"]).text))]},
        cache_policy=by_text,
    )
    builder.add_edge(START, "answers")
    graph = builder.compile(cache=InMemoryCache())
    graph.invoke(ASKED)
    return graph


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("modes", ["messages", ["messages"], ["messages", "values"]])
def test_a_cached_answer_comes_in_the_shape_asked_for(
    version: Any, subgraphs: bool, modes: Any
) -> None:
    asked: Any = {"stream_mode": modes, "subgraphs": subgraphs, "version": version}
    cold = once(chain(says("Hello.")))
    shapes = {_shape(chunk) for chunk in cold.stream(ASKED, **asked)}
    chunks = list(once(cached_graph()).stream(ASKED, **asked))
    assert "Hello." in str(chunks)
    assert {_shape(chunk) for chunk in chunks} <= shapes


def test_it_comes_once_where_updates_are_asked_for_too() -> None:
    chunks = list(once(cached_graph()).stream(ASKED, stream_mode=["updates", "messages"]))
    assert [mode for mode, _ in chunks] == ["messages", "updates"]


def test_what_was_done_when_the_consumer_left_comes_with_the_resume() -> None:
    plain = chain(says("Hello there, all."), says("Bye."))
    graph = once(plain.copy({"checkpointer": InMemorySaver()}))
    stream: Any = graph.stream(ASKED, THREAD, stream_mode="messages")
    before = list(itertools.islice(stream, 2))
    stream.close()
    later = list(graph.stream(None, THREAD, stream_mode="messages"))
    assert list(folded([*before, *later]).values()) == ["Hello there, all.", "Bye."]


def _shape(chunk: Any) -> Any:
    if isinstance(chunk, dict):
        return chunk["type"]
    return tuple(part if isinstance(part, str) else type(part) for part in chunk if _plain(part))


def _plain(part: Any) -> bool:
    return isinstance(part, str | tuple)
