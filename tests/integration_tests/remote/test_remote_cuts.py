"""A remote graph over a connection that is cut: nobody notices."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from demo.dev_server import DevServer
from langgraph_once import Ledger
from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamInterrupted
from tests.integration_tests.remote import graphs
from tests.integration_tests.remote.compare import differences, normal
from tests.integration_tests.remote.conftest import Remote, remotes
from tests.integration_tests.sse_proxy import Cut, CuttingProxy

ASKED: Any = {"messages": [HumanMessage("What is once?", id="question")], "topic": "", "cities": []}
CUTS = [Cut(5, "middle"), Cut(2), Cut(3, "character")]
EARLY = [Cut(1, "middle"), Cut(1)]
MODES = ["messages", "updates", "values"]
ASKED_FOR: Any = {"stream_mode": MODES, "subgraphs": True}


def thread() -> Any:
    return {"configurable": {"thread_id": str(uuid4())}}


@pytest.mark.parametrize("name", ["chat", "chat_plain"])
async def test_a_stream_goes_on_behind_a_cut(
    graph_server: DevServer, remote: Remote, name: str
) -> None:
    whole = list(remote(name).stream(ASKED, thread(), **ASKED_FOR))
    with CuttingProxy(graph_server.port, cuts=CUTS) as proxy:
        async with remotes(proxy.url) as cut_off:
            cut = list(cut_off(name).stream(ASKED, thread(), **ASKED_FOR))
        assert len(proxy.bodies) > len(CUTS)
    assert list(differences(normal(whole), normal(cut))) == []


async def test_invoke_goes_on_behind_a_cut(graph_server: DevServer) -> None:
    with CuttingProxy(graph_server.port, cuts=EARLY) as proxy:
        async with remotes(proxy.url) as cut_off:
            graph, config = cut_off("chat"), thread()
            state = await graph.ainvoke(ASKED, config)
            assert state == graph.get_state(config).values
        assert len(proxy.bodies) > len(EARLY)


@pytest.mark.parametrize("subgraphs", [False, True])
async def test_a_remote_node_goes_on_behind_a_cut(graph_server: DevServer, subgraphs: bool) -> None:
    asked: Any = {"stream_mode": MODES, "subgraphs": subgraphs}
    told: list[Any] = []
    with CuttingProxy(graph_server.port, cuts=EARLY) as proxy:
        async with remotes(proxy.url) as cut_off:
            for child in (graphs.chat.compile(), cut_off("chat")):
                parent = graphs.around(child).compile(checkpointer=InMemorySaver())
                told.append([c async for c in parent.astream(ASKED, thread(), **asked)])
        assert len(proxy.bodies) > len(EARLY)
    assert list(differences(*map(normal, told))) == []


async def test_a_reader_that_gives_up_tells_what_the_consumer_has(graph_server: DevServer) -> None:
    ledger = Ledger()
    seen: list[Any] = []
    with CuttingProxy(graph_server.port, cuts=[Cut(5), *[0] * 20]) as proxy:
        async with remotes(proxy.url) as cut_off:
            graph = cut_off("chat", remote=RemoteConfig(max_retries=0))
            stream = graph.stream(ASKED, thread(), ledger=ledger, **ASKED_FOR)
            with pytest.raises(StreamInterrupted) as raised:
                seen.extend(stream)
    assert len(seen) > 1
    assert raised.value.ledger is ledger
    assert raised.value.run_id
