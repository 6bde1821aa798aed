"""In v3 the channel carries what the graph's other transformers let through, and no more."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import PIIMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.stream import StreamTransformer

from graphs.models import ScriptedChatModel
from langgraph_once import ChannelStreamingProcessor, TokenStreamingConfig, once
from langgraph_once.events import TokenStreamEvent

ASKED: Any = {"messages": [HumanMessage("Go on.", id="asked")]}
SECRET = "Write to ada@example.com, or to nobody at all, if you like that better."

pytestmark = pytest.mark.filterwarnings("ignore:The v3 streaming protocol")


def model(*answers: Any, streams: bool = True) -> ScriptedChatModel:
    def script(messages: Sequence[BaseMessage]) -> AIMessage:
        turn = sum(isinstance(message, AIMessage) for message in messages)
        answer = answers[min(turn, len(answers) - 1)]
        return answer if isinstance(answer, AIMessage) else AIMessage(answer)

    return ScriptedChatModel(script=script, disable_streaming=not streams)


def heard(graph: Any, asked: Any = ASKED) -> tuple[str, list[str], str]:
    """What the channel carries: its text, then `run.messages`, and all of the channel as text."""
    run = graph.stream_events(asked, version="v3")
    parts, texts = [], []
    for name, item in run.interleave("once", "messages"):
        if name == "once":
            parts.append(item)
        else:
            texts.append(str(item.text))
    said = [part["data"][0] for part in parts if part["type"] == "messages"]
    shown = "".join(str(message.text) for message in said)
    return shown, texts, repr(parts)


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("strategy", ["redact", "mask", "hash"])
def test_what_is_redacted_is_redacted(strategy: Any, streams: bool) -> None:
    pii = PIIMiddleware("email", strategy=strategy, apply_to_output=True)
    agent = once(create_agent(model(SECRET, streams=streams), middleware=[pii]))
    shown, texts, everything = heard(agent)
    assert "ada@example" not in everything
    assert [shown] == texts
    assert shown.startswith("Write to ")
    assert shown.endswith("better.")


def test_arguments_of_tools_are_redacted() -> None:
    @tool
    def write(to: str) -> str:
        """Write a letter."""
        return f"written, {len(to)}"

    call = {"name": "write", "args": {"to": "ada@example.com"}, "id": "c1"}
    pii = PIIMiddleware("email", strategy="redact", apply_to_output=True)
    answers = model(AIMessage("", tool_calls=[call]), "Done.")
    _, _, everything = heard(once(create_agent(answers, tools=[write], middleware=[pii])))
    messages = everything.split("'values'", maxsplit=1)[0]
    assert "ada@example" not in messages
    assert "REDACTED_EMAIL" in json.dumps(everything)


@pytest.mark.parametrize("streams", [True, False])
def test_calls_that_middleware_hides_are_hidden(streams: bool) -> None:
    hidden = SummarizationMiddleware(
        model("A summary that nobody is shown.", streams=streams), trigger=("messages", 2)
    )
    history = [HumanMessage(f"question {i}", id=f"q{i}") for i in range(30)]
    agent = once(create_agent(model("The answer.", streams=streams), middleware=[hidden]))
    shown, texts, _ = heard(agent, {"messages": history})
    assert shown.count("nobody is shown") == "".join(texts).count("nobody is shown")
    assert "The answer." in shown


def test_transformers_of_others_are_hidden_in_a_graph_inside_too() -> None:
    summaries = model("A summary that nobody is shown.")
    hidden = SummarizationMiddleware(summaries, trigger=("messages", 2))
    agent = create_agent(model("The answer."), middleware=[hidden])
    builder = StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent")
    outer = builder.compile(transformers=agent.stream_transformers[-1:])
    history = [HumanMessage(f"question {i}", id=f"q{i}") for i in range(30)]
    shown, _, _ = heard(once(outer), {"messages": history})
    assert "The answer." in shown


class Drops(StreamTransformer):
    """Leaves out every event that names a word, as anybody may."""

    before_builtins: ClassVar[bool] = False

    def init(self) -> dict[str, Any]:
        return {}

    def process(self, event: Any) -> bool:
        return "secret" not in repr(event)


class Empties(Drops):
    """Leaves nothing of a message, as LangChain does."""

    def process(self, event: Any) -> bool:
        if event["method"] == "messages":
            event["params"]["data"] = (None, event["params"]["data"][1])
        return True


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("transformer", [Drops, Empties])
def test_what_another_leaves_out_is_left_out_whatever_their_order(
    transformer: type[Drops], place: str
) -> None:
    def says(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model("a secret").invoke(state["messages"])]}

    builder = StateGraph(MessagesState).add_node("says", says).add_edge(START, "says")
    if place == "before":
        shown, _, _ = heard(once(builder.compile(transformers=[transformer])))
    else:
        run = once(builder.compile()).stream_events(ASKED, version="v3", transformers=[transformer])
        parts = [
            part["data"][0].text for part in run.extensions["once"] if part["type"] == "messages"
        ]
        shown = "".join(map(str, parts))
    assert "secret" not in shown


async def test_the_processor_reads_the_channel_of_an_agent_with_middleware() -> None:
    pii = PIIMiddleware("email", strategy="redact", apply_to_output=True)
    agent = once(create_agent(model(SECRET), middleware=[pii]))
    run = await agent.astream_events(ASKED, version="v3")
    watching = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    events = [event async for event in watching.stream(run)]
    text = "".join(event.content_delta for event in events if isinstance(event, TokenStreamEvent))
    assert "ada@example" not in text
    assert text.endswith("better.")
