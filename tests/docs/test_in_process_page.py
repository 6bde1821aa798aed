"""The apps of the page on readers in one's own process say a retried answer once."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from tests.docs.problem import ANSWER, retried
from tests.docs.snippets import run

Ask = Callable[[httpx.AsyncClient], Awaitable[str]]

# LangServe and `LangGraphAgent` read schemas by methods that LangGraph 1.0 has renamed.
pytestmark = pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphDeprecatedSinceV10")


async def by_hand(client: httpx.AsyncClient) -> str:
    asked = {"question": "Where?", "thread_id": "1"}
    return (await client.get("/answer", params=asked)).text


async def over_langserve(client: httpx.AsyncClient) -> str:
    asked = {"input": {"messages": [{"type": "human", "content": "Where?"}]}}
    response = await client.post("/agent/stream_events", json=asked, headers={"x-thread": "1"})
    told = [event for event in events(response.text) if event.get("event", "").endswith("_stream")]
    of_models = [event for event in told if event["event"] == "on_chat_model_stream"]
    return "".join(event["data"]["chunk"]["content"] for event in of_models)


async def over_ag_ui(client: httpx.AsyncClient) -> str:
    said = {"id": str(uuid4()), "role": "user", "content": "Where?"}
    nothing: dict[str, Any] = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    asked = {"threadId": "1", "runId": str(uuid4()), "messages": [said], **nothing}
    response = await client.post("/ag-ui", json=asked)
    told = [e for e in events(response.text) if e["type"] == "TEXT_MESSAGE_CONTENT"]
    return "".join(event["delta"] for event in told)


def events(body: str) -> list[dict[str, Any]]:
    lines = (line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: "))
    return [json.loads(line) for line in lines if line.strip()]


@pytest.mark.parametrize("ask", [by_hand, over_langserve, over_ag_ui])
async def test_a_retried_answer_is_said_once(ask: Ask) -> None:
    graph = retried().copy(update={"checkpointer": InMemorySaver()})
    names = await run("docs/in-process.md", {"graph": graph})
    over = httpx.ASGITransport(names["app"])
    async with httpx.AsyncClient(transport=over, base_url="http://test") as client:
        assert await ask(client) == ANSWER


def asking() -> Any:
    """A graph that speaks, asks a person, and speaks again, all in one node."""

    def node(_: Any) -> Any:
        said = [GenericFakeChatModel(messages=iter([AIMessage(ANSWER)])).invoke("Where?")]
        said.append(GenericFakeChatModel(messages=iter([AIMessage(interrupt("More?"))])).invoke(""))
        return {"messages": said}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("node", node).add_edge(START, "node")
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize(("name", "times"), [("agent", 2), ("agent_that_asks", 1)])
async def test_a_resume_repeats_what_was_said_unless_the_graph_remembers(
    name: str, times: int
) -> None:
    names = await run("docs/in-process.md", {"graph": asking()})
    config, words = {"configurable": {"thread_id": "1"}}, list[str]()
    turns: list[Any] = [{"messages": [("user", "Where?")]}, Command(resume="And more.")]
    for asked in turns:
        async for message, _ in names[name].astream(asked, config, stream_mode="messages"):
            if isinstance(message, AIMessage):
                words.append(str(message.text))
    assert "".join(words) == ANSWER * times + "And more."


@pytest.mark.parametrize("ask", [by_hand, over_langserve, over_ag_ui])
async def test_without_us_it_is_said_more_often(ask: Ask) -> None:
    graph = retried().copy(update={"checkpointer": InMemorySaver()})
    names = await run("docs/in-process.md", {"graph": graph}, replaced={"once(graph)": "graph"})
    over = httpx.ASGITransport(names["app"])
    async with httpx.AsyncClient(transport=over, base_url="http://test") as client:
        assert (await ask(client)).count(ANSWER) > 1
