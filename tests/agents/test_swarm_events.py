"""Who watches the outermost graph of a swarm has all that its agents say, from any source."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_once import ChannelStreamingProcessor, TokenStreamingConfig, once
from langgraph_once.events import Transcript
from tests.agents import agent
from tests.agents.provider import Models, Provider, WireName

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)


@pytest.mark.parametrize("wire", ["chat", "anthropic", "responses"])
def test_a_v3_run_tells_what_a_graph_tells(wire: WireName, provider: Provider) -> None:
    scenario = agent("swarm", Models(provider, wire))
    watching = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    begins: Any = scenario.runs[0].input, {"configurable": {"thread_id": "1"}}

    def texts(source: Any, *start: Any) -> list[str]:
        events = watching.stream_sync(source, *start)
        return [str(message.text) for message in Transcript(events).messages()]

    graph = once(scenario.graph())
    told = texts(graph, *begins)
    kept = graph.get_state(begins[1]).values["messages"][1:]
    assert told == [str(message.text) for message in kept]
    assert texts(once(scenario.graph()).stream_events(*begins, version="v3")) == told
    assert texts(scenario.graph().stream_events(*begins, version="v3")) == told
