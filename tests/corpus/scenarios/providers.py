"""Answers as providers send them, with tools, tags and blocks."""

from __future__ import annotations

import warnings
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition

from tests.corpus.graphs import Steps, chain, node, returns, says
from tests.corpus.models import WireModel, answers
from tests.corpus.scenario import Graph, Scenario, row
from tests.corpus.units import Unit, block, call, said, thought
from tests.corpus.wires import (
    Wire,
    anthropic,
    deepseek,
    gemini,
    interleaved,
    openai,
    responses,
)

HELLO = "Hello on an ordinary day."


FOUND = "It is sunny there."


SEARCH: Any = {"name": "search", "args": {"query": "weather in Paris"}, "id": "call_1"}


OTHER: Any = {"name": "search", "args": {"query": "weather in Oslo"}, "id": "call_2"}


CALLED = call("search", {"query": "weather in Paris"})


REASONED = AIMessage(
    HELLO, tool_calls=[SEARCH], additional_kwargs={"reasoning_content": "Let me think."}
)


@tool
def search(query: str) -> str:
    """Look it up."""
    return f"It is sunny in {query.removeprefix('weather in ')}."


def agent(model: WireModel) -> Graph:
    """A model and its tools, by hand."""

    def steps(state: Any) -> Steps:
        return {"messages": [(yield model, "?")]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", node(steps))
    builder.add_node("tools", ToolNode([search]))
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", tools_condition)
    builder.add_edge("tools", "agent")
    return builder.compile()


def prebuilt(model: WireModel) -> Graph:
    """LangGraph's own agent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it moved to a package that is not needed here
        made: Graph = create_react_agent(model, [search])
    return made


def calling(wire: Wire = openai, *calls: Any) -> WireModel:
    return answers(AIMessage("", tool_calls=list(calls or [SEARCH])), HELLO, wire=wire)


def wire_row(name: str, wire: Wire, reply: AIMessage, *units: Unit) -> Scenario:
    return row(
        "plain",
        f"wire-{name}",
        f"A text, reasoning and a call as {name} sends them.",
        lambda: chain(says(reply, wire=wire)),
        *units,
    )


IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


RESULT = said("It is sunny in Paris.", chat=False)


RESULT_2 = said("It is sunny in Oslo.", chat=False)


SCENARIOS = (
    row(
        "plain",
        "agent",
        "An agent calls a tool and answers.",
        lambda: agent(calling()),
        CALLED,
        RESULT,
        said(HELLO),
    ),
    row(
        "plain",
        "agent-two-calls",
        "An agent calls two tools at once, whose fragments come in turn.",
        lambda: agent(calling(interleaved, SEARCH, OTHER)),
        CALLED,
        call("search", {"query": "weather in Oslo"}),
        RESULT,
        RESULT_2,
        said(HELLO),
    ),
    row(
        "plain",
        "prebuilt-agent",
        "LangGraph's own agent calls a tool and answers.",
        lambda: prebuilt(calling()),
        CALLED,
        RESULT,
        said(HELLO),
    ),
    row(
        "plain",
        "prebuilt-agent-as-node",
        "The same agent, as a node.",
        lambda: chain(prebuilt(calling())),
        CALLED,
        RESULT,
        said(HELLO),
    ),
    row(
        "plain",
        "tool-message",
        "A node returns a tool result of its own making.",
        lambda: chain(
            says(AIMessage("", tool_calls=[SEARCH])),
            returns(ToolMessage(FOUND, tool_call_id="call_1")),
        ),
        CALLED,
        said(FOUND, chat=False),
    ),
    wire_row(
        "openai",
        openai,
        AIMessage(HELLO, tool_calls=[SEARCH, OTHER]),
        said(HELLO),
        CALLED,
        call("search", {"query": "weather in Oslo"}),
    ),
    wire_row("anthropic", anthropic, REASONED, said(HELLO), CALLED, thought("Let me think.")),
    wire_row("responses", responses, REASONED, said(HELLO), CALLED, thought("Let me think.")),
    wire_row("deepseek", deepseek, REASONED, said(HELLO), CALLED, thought("Let me think.")),
    wire_row("gemini", gemini, AIMessage(HELLO, tool_calls=[SEARCH]), said(HELLO), CALLED),
    row(
        "plain",
        "wire-gemini-two-calls",
        "Two whole calls without an index, which v3 itself mixes up.",
        lambda: chain(says(AIMessage(HELLO, tool_calls=[SEARCH, OTHER]), wire=gemini)),
        said(HELLO),
        CALLED,
        call("search", {"query": "weather in Oslo"}),
        only=lambda variant: not variant.is_v3,
    ),
    row(
        "plain",
        "image",
        "A message with a text and an image.",
        lambda: chain(returns(AIMessage([{"type": "text", "text": HELLO}, IMAGE]))),
        said(HELLO),
        block(IMAGE),
    ),
)
