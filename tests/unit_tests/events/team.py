"""The graph of the original request: two agents with tools, a thinking supervisor, an answer."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode

from langgraph_once.events import (
    ChannelConfig,
    ChannelMode,
    ChannelStreamingProcessor,
    Event,
    TokenStreamingConfig,
)
from tests.corpus.graphs import Steps, node
from tests.corpus.models import answers
from tests.corpus.scenario import Graph

QUESTION: Any = {"messages": [("human", "Which is warmer, Paris or Oslo?")]}


class State(TypedDict):
    """What the team shares."""

    messages: Annotated[list[AnyMessage], add_messages]
    supervisor_messages: Annotated[list[AnyMessage], add_messages]
    notes: Annotated[list[dict[str, str]], operator.add]


@tool
def search(city: str) -> str:
    """Look the weather up."""
    return f"It is mild in {city}."


@tool
def think(thought: str) -> str:
    """Think aloud."""
    return "Go on."


def team() -> Graph:
    """The graph, with models that speak as OpenAI does."""
    builder = StateGraph(State)
    builder.add_node("clarify", clarify())
    builder.add_node("agent_a", agent("a", "Paris"))
    builder.add_node("agent_b", agent("b", "Oslo"))
    builder.add_node("supervisor", supervisor())
    builder.add_node("tools", ToolNode([think], messages_key="supervisor_messages"))
    builder.add_node("answer", says("Paris it is.", "answer-1", tags=["public"]))
    order = [START, "clarify", "agent_a", "agent_b", "supervisor", "tools", "answer", END]
    for before, after in itertools.pairwise(order):
        builder.add_edge(before, after)
    return builder.compile()


def clarify() -> Graph:
    """A graph whose one node is heard, and whose other is not."""
    builder = StateGraph(State)
    builder.add_node("check", says("internal", "check-1"))
    builder.add_node("ask", says("I compare both.", "ask-1", tags=["public"]))
    builder.add_edge(START, "check")
    builder.add_edge("check", "ask")
    return builder.compile()


def agent(name: str, city: str) -> Graph:
    """An agent that searches, notes what it found and reports."""
    call: Any = {"name": "search", "args": {"city": city}, "id": f"call_{name}"}
    model = answers(
        AIMessage("", tool_calls=[call], id=f"{name}-1"), AIMessage("Found it.", id=f"{name}-2")
    )

    def ask(state: Any) -> Steps:
        return {"messages": [(yield model, "?")]}

    def report(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [answer], "notes": [{"id": f"note-{name}", "text": city}]}

    builder = StateGraph(State)
    builder.add_node("model", node(ask))
    builder.add_node("tools", ToolNode([search]))
    builder.add_node("report", node(report))
    for before, after in [(START, "model"), ("model", "tools"), ("tools", "report")]:
        builder.add_edge(before, after)
    return builder.compile()


def supervisor() -> Any:
    """A node that calls the think tool."""
    call: Any = {"name": "think", "args": {"thought": "Compare."}, "id": "call_think"}
    model = answers(AIMessage("", tool_calls=[call], id="think-1")).with_config(tags=["public"])

    def steps(state: Any) -> Steps:
        return {"supervisor_messages": [(yield model, "?")]}

    return node(steps)


def says(text: str, message_id: str, **config: Any) -> Any:
    """A node that says something."""
    model = answers(AIMessage(text, id=message_id)).with_config(**config)

    def steps(state: Any) -> Steps:
        return {"messages": [(yield model, "?")]}

    return node(steps)


def processor(**how: Any) -> ChannelStreamingProcessor:
    """Watches what the request asks for."""
    return ChannelStreamingProcessor(
        channels=[
            ChannelConfig(key="messages", namespaces={"main"}),
            ChannelConfig(key="supervisor_messages", stream_mode=ChannelMode.UPDATES_ONLY),
            ChannelConfig(key="notes", artifact_type="Document", namespaces={"main"}),
        ],
        token_streaming=TokenStreamingConfig(
            enabled_namespaces={"main", "clarify"}, message_tags={"public"}
        ),
        **how,
    )


def brief(events: Iterable[Event]) -> list[str]:
    """The events, each in a line that is the same in every run."""
    return [_line(event) for event in events]


def _line(event: Event) -> str:
    place = "/".join((*event.path, event.node or "")).strip("/") or "main"
    return re.sub(r"\s+$", "", f"{event.type} @{place} {_said(event)}")


def _said(event: Event) -> str:  # noqa: C901  # one match
    match event.type:
        case "token":
            return f"{event.message_id} {event.content_delta!r} -> {event.accumulated_content!r}"
        case "message_completed":
            usage = event.usage and event.usage["total_tokens"]
            name = event.message_id if "-1" in str(event.message_id)[-2:] else "(any id)"
            return f"{name} {event.message.type} {event.message.text!r} usage={usage}"
        case "usage":
            return f"{event.usage['total_tokens']} of {event.total['total_tokens']}"
        case "channel_value":
            last = str(event.value[-1].text)
            return f"{event.key}: {len(event.value)}, {last!r} known={event.previous_known}"
        case "channel_update":
            written = event.update if isinstance(event.update, list) else [event.update]
            return f"{event.key} {[message.type for message in written]}"
        case "artifact":
            return f"{event.artifact_type} {event.artifact_id} {event.artifact_data['text']}"
        case "tool_call_started":
            return f"{event.tool_call_id} {event.name}"
        case "tool_call_progress":
            return f"{event.tool_call_id} {event.args_delta!r} {event.partial_args}"
        case "tool_call_completed":
            return f"{event.tool_call_id} {event.parsed_args}"
        case "tool_result":
            return f"{event.tool_call_id} {event.message_id} {event.status} {event.content!r}"
        case "stream_ended":
            return event.status
        case _:
            return ""
