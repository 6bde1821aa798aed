"""Graphs that are run here and served there, to be compared: each in an everyday shape."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import Annotated, Any, cast

from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage, ToolMessage
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

from graphs.models import ScriptedChatModel
from langgraph_once import OnceRemoteGraph
from langgraph_once.config import READER_KEY
from tests.corpus.graphs import Steps, node
from tests.corpus.models import BrokenConnectionError, answers
from tests.integration_tests import served

CALL = {"name": "look_up", "args": {"word": "once"}, "id": "call-1"}
CITIES = ("Oslo", "Lima", "Suva")


def hush_builder() -> StateGraph[Any, Any, Any, Any]:
    """An answer after a message that is not to stream, and the copy of one that is tagged."""
    quiet = says("A plan.").with_config(tags=["nostream"])
    drafts = says("A draft.").with_config(tags=["draft"])

    async def plan(_: MessagesState) -> dict[str, Any]:
        return {"messages": [await quiet.ainvoke("?")]}

    async def draft(_: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(str((await drafts.ainvoke("?")).text))]}

    async def talk(_: MessagesState) -> dict[str, Any]:
        return {"messages": [await says("An answer.").ainvoke("?")]}

    builder: Any = StateGraph(MessagesState)
    made: StateGraph[Any, Any, Any, Any] = builder.add_sequence([plan, draft, talk])
    return made.add_edge(START, "plan")


class Topics(TypedDict):
    """A state with more than messages."""

    messages: Annotated[list[AnyMessage], add_messages]
    topic: str
    cities: list[str]


def says(*answers: str | AIMessage) -> Any:
    """A model that gives its answers in turn, by how much was said before."""
    made = [AIMessage(answer) if isinstance(answer, str) else answer for answer in answers]
    return ScriptedChatModel(script=lambda said: made[min(len(said) // 2, len(made) - 1)])


agent_model = says(AIMessage("I look it up.", tool_calls=[CALL]), "Once means one time.")


@node
def agent(state: Topics) -> Steps:
    get_stream_writer()({"thinking about": state.get("topic", "nothing")})
    return {"messages": [(yield agent_model, state["messages"])]}


def tools(state: Topics) -> dict[str, Any]:
    return {"messages": [ToolMessage("one time", tool_call_id="call-1", artifact={"page": 7})]}


def after_agent(state: Topics) -> str:
    return "tools" if getattr(state["messages"][-1], "tool_calls", ()) else END


def chat_builder() -> StateGraph[Any, Any, Any, Any]:
    """An agent with a tool."""
    builder = StateGraph(Topics)
    builder.add_node("agent", agent)
    builder.add_node("tools", tools)
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", after_agent, ["tools", END])
    builder.add_edge("tools", "agent")
    return builder


async def visit(state: Any) -> dict[str, Any]:
    model = says(f"{state['city']} is worth a visit.")
    return {"messages": [await model.ainvoke("?")]}


class Visit(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    city: str


visitor = StateGraph(Visit).add_node("visit", visit).add_edge(START, "visit").compile()


async def travel(state: Any) -> dict[str, Any]:
    result = await visitor.ainvoke({"messages": [], "city": state["city"]})
    return {"messages": result["messages"]}


@node
def sum_up(state: Topics) -> Steps:
    """The last word, in sync graphs and in async ones."""
    return {"messages": [(yield says("All three, then."), "?")]}


def team_builder() -> StateGraph[Any, Any, Any, Any]:
    """Three visitors side by side, each a graph in a node, and a last word."""
    builder = StateGraph(Topics)
    builder.add_node("travel", travel)
    builder.add_node("sum_up", sum_up)
    builder.add_conditional_edges(
        START, lambda _: [Send("travel", {"city": city}) for city in CITIES], ["travel"]
    )
    builder.add_edge("travel", "sum_up")
    return builder


def ask(state: Topics) -> dict[str, Any]:
    first = interrupt({"question": "May I?", "options": ["yes", "no"]})
    second = interrupt("Really?")
    return {"messages": [AIMessage(f"You said {first} and {second}.")]}


def ask_builder() -> StateGraph[Any, Any, Any, Any]:
    """A text, and a node inside a graph that asks twice."""
    inner = StateGraph(Topics).add_node("ask", ask).add_edge(START, "ask").compile()
    builder = StateGraph(Topics)
    builder.add_node("greet", sum_up)
    builder.add_node("inner", inner)
    builder.add_edge(START, "greet")
    builder.add_edge("greet", "inner")
    return builder


def forget(state: Topics) -> dict[str, Any]:
    first = state["messages"][0]
    return {"messages": [RemoveMessage(id=str(first.id))], "topic": "forgotten"}


def forget_builder() -> StateGraph[Any, Any, Any, Any]:
    """A message that is removed, and a node that says nothing."""
    builder = StateGraph(Topics)
    builder.add_node("sum_up", sum_up)
    builder.add_node("forget", forget)
    builder.add_node("idle", lambda _: None)
    builder.add_edge(START, "sum_up")
    builder.add_edge("sum_up", "forget")
    builder.add_edge("forget", "idle")
    return builder


def fail(state: Topics) -> dict[str, Any]:
    raise ValueError("That is too much.")


def fail_builder() -> StateGraph[Any, Any, Any, Any]:
    """A text, and a node that fails."""
    builder = StateGraph(Topics)
    builder.add_node("sum_up", sum_up)
    builder.add_node("fail", fail)
    builder.add_edge(START, "sum_up")
    builder.add_edge("sum_up", "fail")
    return builder


def hand_over(state: Topics) -> Any:
    update = {"messages": [AIMessage("Over to you.", id="over")], "topic": "handed"}
    return Command(graph=Command.PARENT, update=update, goto="colleague")


def hand_over_builder() -> StateGraph[Any, Any, Any, Any]:
    """A text, and a node that hands over to the graph around."""
    builder = StateGraph(Topics)
    builder.add_node("sum_up", sum_up)
    builder.add_node("hand_over", hand_over)
    builder.add_edge(START, "sum_up")
    builder.add_edge("sum_up", "hand_over")
    return builder


@dataclass
class Connected:
    """A context of which there is no JSON schema, so that the server passes on all it is sent."""

    user: str = "nobody"
    connection: socket.socket | None = None


def overhear(_: MessagesState, runtime: Runtime[Connected]) -> None:
    """Say whether the reader of the run has announced itself."""
    config = get_config()
    heard = config["configurable"].get(READER_KEY)
    told = [*config["metadata"], *vars(runtime.context)]
    get_stream_writer()({"heard": heard, "user": runtime.context.user, "told": READER_KEY in told})


def overhear_builder() -> StateGraph[Any, Any, Any, Any]:
    """A node that says who reads it."""
    builder: Any = StateGraph(MessagesState, Connected)
    builder.add_node("overhear", overhear)
    builder.add_edge(START, "overhear")
    return cast("StateGraph[Any, Any, Any, Any]", builder)


async def breaks_off(state: Topics, runtime: Runtime[None]) -> dict[str, Any]:
    """Say half of an answer in the first attempt, and another one in the second."""
    is_first = runtime.execution_info is None or runtime.execution_info.node_attempt == 1
    model = answers("One two three four.", breaks={0: 3}) if is_first else says("Another answer.")
    return {"messages": [await model.ainvoke("?")]}


def breaks_builder() -> StateGraph[Any, Any, Any, Any]:
    """A node whose model breaks off, and that is run again."""
    builder = StateGraph(Topics)
    retry = RetryPolicy(initial_interval=0.01, retry_on=BrokenConnectionError)
    builder.add_node("breaks_off", breaks_off, retry_policy=retry)
    builder.add_edge(START, "breaks_off")
    return builder


def around(child: Any) -> StateGraph[Any, Any, Any, Any]:
    """`child` as a node of a graph that says something before and after it."""
    builder = StateGraph(Topics)
    builder.add_node("before", lambda _: {"messages": [AIMessage("Before.", id="before")]})
    builder.add_node("child", child)
    builder.add_node("after", sum_up)
    builder.add_node("colleague", lambda _: {"messages": [AIMessage("At work.", id="work")]})
    builder.add_edge(START, "before")
    builder.add_edge("before", "child")
    builder.add_conditional_edges(
        "child", lambda state: [] if state["topic"] == "handed" else ["after"], ["after"]
    )
    return builder


def around_remote(name: str) -> StateGraph[Any, Any, Any, Any]:
    """`around` a graph on the server that `REMOTE_TEST_URL` names."""
    return around(OnceRemoteGraph(name, url=os.environ["REMOTE_TEST_URL"]))


def around_team() -> StateGraph[Any, Any, Any, Any]:
    return around_remote("team")


def around_asks() -> StateGraph[Any, Any, Any, Any]:
    return around_remote("asks")


chat = chat_builder()
team = team_builder()
asks = ask_builder()
forgets = forget_builder()
fails = fail_builder()
hands_over = hand_over_builder()
overhears = overhear_builder()
breaks = breaks_builder()
copying = served.builder
hushes = hush_builder()
