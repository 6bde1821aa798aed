"""What is hidden, by the server for everybody, or by a client for itself."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from langgraph.pregel.remote import RemoteGraph

from langgraph_once import ChannelStreamingProcessor, DedupConfig, TokenStreamingConfig, stream_run
from langgraph_once.events import MessageCompletedEvent
from tests.integration_tests.remote.conftest import HIDE, Remote

pytestmark = pytest.mark.filterwarnings("ignore:.*v3.*:langchain_core._api.LangChainBetaWarning")

ASKED: Any = {"messages": [{"role": "user", "content": "Well?"}]}
MODES: Any = ["messages", "values"]
STATE = ["Well?", "A plan.", "A draft.", "An answer."]
CLIENT = DedupConfig(hide=HIDE, state="full")

Case = tuple[str, DedupConfig | None, set[str]]
WRAPPED: dict[str, Case] = {
    "server": ("discreet", None, {"An answer."}),
    "client": ("hushes", CLIENT, {"An answer."}),
    "nobody": ("hushes", None, {"A plan.", "A draft.", "An answer."}),
}
PLAIN: dict[str, Case] = {  # which does not tell of a `nostream`; and on the wire of v3 of no tag
    "client-of-plain": ("hushes_plain", CLIENT, {"A plan.", "An answer."})
}


def cases(served: dict[str, Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("name", "dedup", "heard"), served.values(), ids=served)


def thread() -> Any:
    return {"configurable": {"thread_id": str(uuid4())}}


class Heard:
    """Folds the messages; of the states the last remains."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.state: list[str] = []

    def take(self, mode: str, data: Any) -> None:
        if mode == "messages":
            known, text = said(data[0])
            self.texts[known] = self.texts.get(known, "") + text
        elif mode == "values":
            self.state = [text for _, text in map(said, data["messages"])]


def said(message: Any) -> tuple[str, str]:
    """The id and the text of a message, which stock clients have as a dictionary."""
    if isinstance(message, dict):
        return message["id"], message["content"]
    return str(message.id), str(message.text)


@cases(WRAPPED | PLAIN)
async def test_a_remote_graph_does_not_tell_what_is_hidden(
    remote: Remote, name: str, dedup: Any, heard: set[str]
) -> None:
    graph, folds = remote(name, dedup=dedup), Heard()
    async for mode, data in graph.astream(ASKED, thread(), stream_mode=MODES):
        folds.take(mode, data)
    assert set(folds.texts.values()) == heard
    assert folds.state == STATE or dedup is None

    folds = Heard()
    for mode, data in graph.stream(ASKED, thread(), stream_mode=MODES):
        folds.take(mode, data)
    assert set(folds.texts.values()) == heard


@cases(WRAPPED | PLAIN)
async def test_a_client_of_the_sdk(remote: Remote, name: str, dedup: Any, heard: set[str]) -> None:
    client, folds = remote(name).client, Heard()
    assert client is not None
    config = dedup or DedupConfig()
    async for part in stream_run(client, None, name, input=ASKED, stream_mode=MODES, dedup=config):
        folds.take(part.mode, (part.data, part.meta) if part.mode == "messages" else part.data)
    assert set(folds.texts.values()) == heard
    assert folds.state == STATE


@cases(WRAPPED)
async def test_the_channel_of_v3(remote: Remote, name: str, dedup: Any, heard: set[str]) -> None:
    folds = Heard()
    run = await remote(name, dedup=dedup).astream_events(ASKED, thread(), version="v3")
    async with run, asyncio.timeout(20):
        async for chunk in run.extensions["once"]:
            folds.take(chunk["type"], chunk["data"])
    assert set(folds.texts.values()) == heard
    assert folds.state == STATE


@cases(WRAPPED | PLAIN)
async def test_typed_events_do_not_tell_what_is_hidden(
    remote: Remote, name: str, dedup: Any, heard: set[str]
) -> None:
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    told = await processor.stream(remote(name, dedup=dedup), ASKED, thread()).collect()
    said = [event.message for event in told if isinstance(event, MessageCompletedEvent)]
    assert {str(message.text) for message in said} == heard


async def test_a_stock_client_of_a_discreet_graph(remote: Remote) -> None:
    graph = remote("discreet")
    stock, folds = RemoteGraph("discreet", client=graph.client), Heard()
    async for mode, data, *_ in stock.astream(ASKED, thread(), stream_mode=MODES):
        folds.take(mode, data)
    assert set(folds.texts.values()) == {"An answer."}
    assert folds.state == STATE
