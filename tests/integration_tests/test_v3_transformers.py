"""What a graph's module exports for v3 works for the wrapped graph as for the plain one."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from langgraph_once import OnceRemoteGraph
from tests.integration_tests.conftest import RemoteFactory

pytestmark = [
    pytest.mark.filterwarnings("ignore:The v3 streaming protocol"),
    pytest.mark.filterwarnings("ignore:.*v3.*:langchain_core._api.LangChainBetaWarning"),
]


@pytest.mark.parametrize("name", ["transformed", "transformed_plain"])
async def test_the_channel_of_a_transformer_comes(remote: RemoteFactory, name: str) -> None:
    graph = remote(OnceRemoteGraph, name)
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    asked: Any = {"messages": [{"role": "user", "content": "hi"}]}
    run = await graph.astream_events(asked, config, version="v3")
    async with run, asyncio.timeout(20):
        told = [event["payload"] async for event in run.extensions["counts"]]
    assert told == [1, 2]
