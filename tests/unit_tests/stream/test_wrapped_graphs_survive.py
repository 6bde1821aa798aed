"""What a wrapped graph and its configs survive, and what it leaves unseen as upstream does."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.constants import TAG_HIDDEN

from langgraph_once import DedupConfig, once
from tests.unit_tests.stream.scenes import ASKED, chain, folded, model, says

CONFIG = DedupConfig(state="new_messages", reexecution="hold")


def hidden_and_seen() -> Any:
    """A node hidden by its tag, which streams and returns, and one that is not."""

    def hidden(state: Any) -> Any:
        return {"messages": [AIMessage("Hidden.", id="h"), model("Seen too.").invoke("?")]}

    graph = chain(hidden, says("Seen."))
    graph.nodes["n0"].tags = [TAG_HIDDEN]
    return graph


def test_what_a_hidden_node_returns_stays_unsaid_as_upstream() -> None:
    """Its model is not hidden, which upstream streams, too."""
    graph = hidden_and_seen()
    plain = folded(graph.stream(ASKED, stream_mode="messages"))
    ours = folded(once(graph).stream(ASKED, stream_mode="messages"))
    assert list(ours.values()) == list(plain.values())
    assert "Hidden." not in ours.values()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_the_config_of_a_wrapped_graph_can_be_pickled(protocol: int) -> None:
    wrapped = once(chain(says("Hello.")), CONFIG).with_config(tags=["a"], recursion_limit=9)
    assert pickle.loads(pickle.dumps(CONFIG, protocol)) == CONFIG
    assert pickle.loads(pickle.dumps(wrapped.config, protocol)) == wrapped.config


def test_the_config_that_a_node_sees_is_the_plain_ones() -> None:
    """Nothing of ours is in what a node may send to a worker process."""
    seen: list[Any] = []

    def node(_: Any, config: RunnableConfig) -> Any:
        seen.append(config)
        return {}

    graph = chain(node)
    for each in (graph, once(graph, CONFIG)):
        list(each.stream(ASKED, {"configurable": {"a": 1}}, stream_mode="custom"))
    plain, ours = seen
    assert ours.keys() == plain.keys()
    assert ours["configurable"].keys() == plain["configurable"].keys()
    assert ours["metadata"].keys() == plain["metadata"].keys()
    assert type(ours["callbacks"].handlers) is type(plain["callbacks"].handlers)
    assert ours["callbacks"].handlers == plain["callbacks"].handlers


TRACED: Any = {
    "stream": lambda graph: list(graph.stream(ASKED)),
    "invoke": lambda graph: graph.invoke(ASKED),
    "astream": lambda graph: _all_of(graph.astream(ASKED)),
    "ainvoke": lambda graph: asyncio.run(graph.ainvoke(ASKED)),
    "astream_events": lambda graph: _all_of(graph.astream_events(ASKED, version="v2")),
}


async def _listed(chunks: Any) -> list[Any]:
    return [chunk async for chunk in chunks]


def _all_of(chunks: Any) -> list[Any]:
    return asyncio.run(_listed(chunks))


@pytest.mark.parametrize("read", TRACED)
def test_what_traces_its_methods_calls_them_once(read: str) -> None:
    """Somebody puts a function in place of each, which calls the one that was there."""
    graph, calls = once(chain(says("Hello."))), []

    def trace(name: str) -> Any:
        method = getattr(graph, name)

        def traced(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            return method(*args, **kwargs)

        return traced

    for name in TRACED:
        vars(graph)[name] = trace(name)
    assert "Hello." in str(TRACED[read](graph))
    assert calls.count(read) == 1
