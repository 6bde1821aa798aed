"""What a server sends as states arrives whole, where nobody asks for less."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.schema import StreamPart

from langgraph_once import (
    ChannelConfig,
    ChannelStreamingProcessor,
    DedupConfig,
    OnceRemoteGraph,
    TokenStreamingConfig,
    stream_run,
)
from tests.unit_tests.remote.clients import BEGUN
from tests.unit_tests.remote.raw_server import THREAD

NOWHERE = "http://127.0.0.1:1"
META = {"langgraph_checkpoint_ns": "n:1", "langgraph_node": "n", "ls_model_type": "chat"}
ASKED: Any = {"stream_mode": ["messages", "updates", "values"]}


def token(text: str, **fields: Any) -> StreamPart:
    chunk = AIMessageChunk(content=text, id="a", **fields).model_dump()
    return StreamPart("messages", [chunk, META])  # type: ignore[arg-type]  # as servers send it


HUMAN = HumanMessage("Well?", id="h").model_dump()
ANSWER = AIMessage("Ha ha.", id="a").model_dump()
SENT = [
    StreamPart(*BEGUN),
    StreamPart("values", {"messages": [HUMAN]}),
    token("Ha "),
    token("ha.", chunk_position="last"),
    StreamPart("updates", {"n": {"messages": [ANSWER]}}),
    StreamPart("values", {"messages": [HUMAN, ANSWER]}),
    StreamPart("end", None),  # type: ignore[arg-type]  # as servers send it
]
STATES = [["Well?"], ["Well?", "Ha ha."]]


def sent(*_: Any, **__: Any) -> Iterator[StreamPart]:
    return iter(SENT)


async def asent(*_: Any, **__: Any) -> AsyncIterator[StreamPart]:
    for part in SENT:
        yield part


def texts(data: Any) -> list[str]:
    assert all(type(each) is not dict for each in data["messages"])
    return [str(each.text) for each in data["messages"]]


async def test_states_are_whole_for_each_of_our_clients() -> None:
    with get_sync_client(url=NOWHERE) as client:
        vars(client.runs)["stream"] = sent
        graph = OnceRemoteGraph("g", sync_client=client)
        chunks = list(graph.stream({}, **ASKED))
        assert [texts(data) for mode, data in chunks if mode == "values"] == STATES
        assert [texts(data["n"]) for mode, data in chunks if mode == "updates"] == [["Ha ha."]]
        assert "".join(data[0].text for mode, data in chunks if mode == "messages") == "Ha ha."
        parts = list(stream_run(client, THREAD, "g", **ASKED))
        assert [texts(part.data) for part in parts if part.mode == "values"] == STATES
    async with get_client(url=NOWHERE) as aclient:
        vars(aclient.runs)["stream"] = asent
        agraph = OnceRemoteGraph("g", client=aclient)
        chunks = [chunk async for chunk in agraph.astream({}, **ASKED)]
        assert [texts(data) for mode, data in chunks if mode == "values"] == STATES


def test_states_are_cut_for_a_client_that_asks() -> None:
    with get_sync_client(url=NOWHERE) as client:
        vars(client.runs)["stream"] = sent
        config = DedupConfig(state="auto")
        graph = OnceRemoteGraph("g", sync_client=client, dedup=config)
        states = [texts(data) for mode, data in graph.stream({}, **ASKED) if mode == "values"]
        parts = list(stream_run(client, THREAD, "g", dedup=config, **ASKED))
        assert states == [texts(part.data) for part in parts if part.mode == "values"]
        assert states == [["Well?"], []]


def watching() -> ChannelStreamingProcessor:
    return ChannelStreamingProcessor([ChannelConfig(key="messages")], TokenStreamingConfig())


def test_typed_events_tell_each_text_once() -> None:
    with get_sync_client(url=NOWHERE) as client:
        vars(client.runs)["stream"] = sent
        graph = OnceRemoteGraph("g", sync_client=client)
        shape: Any = {**ASKED, "subgraphs": True, "version": "v2"}
        for events in (
            watching().stream_sync(graph, {}),
            watching().stream_sync(graph.stream({}, **shape)),
            watching().stream_sync(stream_run(client, THREAD, "g", **ASKED)),
            stream_run(client, THREAD, "g", **ASKED).events(watching()),
        ):
            told = events.collect()
            assert "".join(e.content_delta for e in told if e.type == "token") == "Ha ha."
            values = [texts({"messages": e.value}) for e in told if e.type == "channel_value"]
            assert values == STATES
