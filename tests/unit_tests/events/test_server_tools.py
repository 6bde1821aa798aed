"""What providers' integrations stream of tools that the provider runs itself, and of refusals.

The chunks are those of langchain-anthropic 1.7.10, langchain-openai 1.7.4 and
langchain-google-genai 4.4.2.
"""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_once import once
from langgraph_once.events import (
    ChannelConfig,
    ChannelStreamingProcessor,
    TokenStreamEvent,
    TokenStreamingConfig,
    Transcript,
)
from langgraph_once.events.render import AgUiRenderer, to_console
from tests.corpus.graphs import node
from tests.corpus.models import answers

CALL = {"name": "lookup", "args": {"city": "Oslo"}, "id": "call_1", "type": "tool_call"}


def delta(text: str, index: int) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": text, "index": index}


def anthropic(kind: str, result: str) -> list[list[dict[str, Any]]]:
    opened = {"type": kind, "id": "srvtoolu_1", "name": "web_search", "input": {}, "index": 0}
    found = {"type": result, "tool_use_id": "srvtoolu_1", "content": [], "index": 1}
    text = {"type": "text", "text": "It is sunny.", "index": 2}
    return [
        [opened],
        [delta("", 0)],
        [delta('{"query": "Os', 0)],
        [delta('lo"}', 0)],
        [found],
        [text],
    ]


def openai(kind: str, **more: Any) -> list[list[dict[str, Any]]]:
    item = {"type": kind, "id": "item_1", "status": "completed", "index": 0, **more}
    return [[item], [{"type": "text", "text": "It is sunny.", "index": 1}]]


STREAMS: dict[str, tuple[str, list[list[dict[str, Any]]]]] = {
    "web search of Anthropic": (
        "anthropic",
        anthropic("server_tool_use", "web_search_tool_result"),
    ),
    "code of Anthropic": (
        "anthropic",
        anthropic("server_tool_use", "bash_code_execution_tool_result"),
    ),
    "MCP of Anthropic": ("anthropic", anthropic("mcp_tool_use", "mcp_tool_result")),
    "web search of OpenAI": ("openai", openai("web_search_call", action={"query": "Oslo"})),
    "code of OpenAI": ("openai", openai("code_interpreter_call", code="1 + 1")),
    "file search of OpenAI": ("openai", openai("file_search_call", queries=["Oslo"])),
    "MCP of OpenAI": ("openai", openai("mcp_call", name="lookup", arguments="{}")),
    "image of OpenAI": ("openai", openai("image_generation_call", result="aGk=")),
    "code of Google": (
        "google_genai",
        [
            [{"type": "executable_code", "executable_code": "1 + 1", "language": "PYTHON"}],
            [{"type": "code_execution_result", "code_execution_result": "2", "outcome": 1}],
            [{"type": "text", "text": "It is sunny."}],
        ],
    ),
    "standard blocks": (
        "anthropic",
        [
            [{"type": "server_tool_call_chunk", "id": "s", "name": "web_search", "index": 0}],
            [{"type": "server_tool_call_chunk", "args": '{"query": "Oslo"}', "index": 0}],
            [{"type": "server_tool_result", "tool_call_id": "s", "status": "success", "index": 1}],
            [{"type": "text", "text": "It is sunny.", "index": 2}],
        ],
    ),
}


def streamed(provider: str, contents: list[list[dict[str, Any]]], *, calls: bool) -> Any:
    """A model whose answer is these blocks, one chunk each; and a call of the graph's own tool."""

    def wire(answer: AIMessage) -> list[AIMessageChunk]:
        blocks: list[Any] = [[dict(block) for block in content] for content in contents]
        chunks = [AIMessageChunk(content=content) for content in blocks]
        if calls:
            opening = {
                "type": "tool_use",
                "id": "call_1",
                "name": "lookup",
                "input": {},
                "index": 7,
            }
            first = tool_call_chunk(name="lookup", args="", id="call_1", index=7)
            chunks.append(AIMessageChunk(content=[opening], tool_call_chunks=[first]))
            args = '{"city": "Oslo"}'
            rest = tool_call_chunk(args=args, index=7)
            chunks.append(AIMessageChunk(content=[delta(args, 7)], tool_call_chunks=[rest]))
        chunks.append(AIMessageChunk(content=[], chunk_position="last"))
        for chunk in chunks:
            chunk.id = "lc_run--1"
            chunk.response_metadata = {"model_provider": provider}
        return chunks

    return answers(AIMessage(""), wire=wire)


def told_of(model: Any, *, wrapped: bool) -> tuple[list[Any], AIMessage]:
    """The events of a graph whose one node asks the model; and its answer in the state."""

    def ask(state: Any) -> Any:
        return {"messages": [(yield model, "?")]}

    builder = StateGraph(MessagesState)
    builder.add_node("ask", node(ask))
    builder.add_edge(START, "ask")
    plain: Any = builder.compile(checkpointer=InMemorySaver())
    graph = once(plain) if wrapped else plain
    asked: Any = {"messages": [("user", "?")]}
    config: Any = {"configurable": {"thread_id": "1"}}
    watching = ChannelStreamingProcessor([ChannelConfig(key="messages")], TokenStreamingConfig())
    told = watching.stream_sync(graph, asked, config).collect()
    return told, plain.get_state(config).values["messages"][-1]


@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "wrapped"])
@pytest.mark.parametrize("name", STREAMS)
def test_a_tool_that_the_provider_runs_is_no_tool_call(name: str, wrapped: bool) -> None:
    provider, contents = STREAMS[name]
    told, answer = told_of(streamed(provider, contents, calls=False), wrapped=wrapped)
    transcript = Transcript(told)
    assert transcript.tool_calls() == []
    assert transcript.messages()[-1] == answer
    assert "".join(e.content_delta for e in told if e.type == "token") == "It is sunny."


@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "wrapped"])
@pytest.mark.parametrize("name", [name for name in STREAMS if "Anthropic" in name])
def test_the_call_of_a_graph_tool_stands_beside_that_of_a_server_tool(
    name: str, wrapped: bool
) -> None:
    told, answer = told_of(streamed("anthropic", STREAMS[name][1], calls=True), wrapped=wrapped)
    transcript = Transcript(told)
    assert answer.tool_calls == [CALL]
    (call,) = transcript.tool_calls()
    assert (call.name, call.parsed_args) == ("lookup", {"city": "Oslo"})
    assert transcript.messages()[-1] == answer


def refused(*chunks: AIMessageChunk) -> Any:
    def wire(answer: AIMessage) -> list[AIMessageChunk]:
        made = [chunk.model_copy() for chunk in chunks]
        made[-1].chunk_position = "last"
        for chunk in made:
            chunk.id = "resp_1"
        return made

    return answers(AIMessage(""), wire=wire)


REFUSALS = {
    "Responses": refused(
        AIMessageChunk(content=[{"type": "refusal", "refusal": "I cannot help."}]),
        AIMessageChunk(content=[]),
    ),
    "standard blocks": refused(
        AIMessageChunk(content=[{"type": "refusal", "refusal": "I cannot", "index": 0}]),
        AIMessageChunk(content=[{"type": "refusal", "refusal": " help.", "index": 0}]),
    ),
    "Chat Completions": refused(
        AIMessageChunk(content="", additional_kwargs={"refusal": "I cannot"}),
        AIMessageChunk(content="", additional_kwargs={"refusal": " help."}),
        AIMessageChunk(content=""),
    ),
}


@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "wrapped"])
@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_of_a_model_comes_as_tokens_of_kind_refusal(name: str, wrapped: bool) -> None:
    told, answer = told_of(REFUSALS[name], wrapped=wrapped)
    tokens = [event for event in told if isinstance(event, TokenStreamEvent)]
    assert {event.kind for event in tokens} == {"refusal"}
    assert tokens[-1].accumulated_content == "I cannot help."
    assert Transcript(told).messages()[-1] == answer
    shown = Transcript([e for e in told if e.type == "token"]).messages()
    assert shown[0].content[-1] == {"type": "refusal", "refusal": "I cannot help."}
    assert "I cannot help." in "".join(map(to_console, told))


def test_ag_ui_is_told_a_refusal_as_text() -> None:
    told, _ = told_of(REFUSALS["Responses"], wrapped=False)
    renderer = AgUiRenderer(thread_id="1", run_id="1")
    sent = [sent for event in told for sent in renderer.render(event)]
    said = [e.type.value for e in sent if "TEXT_MESSAGE" in e.type.value]
    assert said == ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]


def test_a_whole_message_of_chat_completions_tells_its_refusal() -> None:
    def ask(state: Any) -> Any:
        return {"messages": [AIMessage("", additional_kwargs={"refusal": "No."}, id="1")]}

    builder = StateGraph(MessagesState)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    watching = ChannelStreamingProcessor([ChannelConfig(key="messages")], TokenStreamingConfig())
    asked: Any = {"messages": [("user", "?")]}
    told = watching.stream_sync(builder.compile(), asked).collect()
    (token,) = [event for event in told if isinstance(event, TokenStreamEvent)]
    assert (token.kind, token.content_delta) == ("refusal", "No.")
