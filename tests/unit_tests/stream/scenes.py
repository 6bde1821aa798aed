"""Small graphs that say things more than once, and a consumer that folds what it receives."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
)
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import RetryPolicy, Send
from typing_extensions import TypedDict

from graphs.models import ScriptedChatModel

Graph = CompiledStateGraph[Any, Any, Any, Any]
Node = Any  # a function of the state, or a graph

ASKED = {"messages": [("user", "Please begin.")]}
ALL_MODES: list[Any] = ["messages", "updates", "values"]


def model(text: str) -> ScriptedChatModel:
    """A model that always answers `text`."""
    return ScriptedChatModel(script=lambda _: AIMessage(text))


def says(text: str) -> Node:
    """A node that streams `text` and returns the message it streamed."""
    return lambda state: {"messages": [model(text).invoke(state["messages"])]}


def says_copy(text: str) -> Node:
    """A node that streams `text` and returns a copy of it without the id (D1)."""

    def node(state: Any) -> Any:
        return {"messages": [AIMessage(str(model(text).invoke(state["messages"]).text))]}

    return node


def says_under_another_id(text: str) -> Node:
    """A node that streams `text` and returns it under an id of its own; a ledger knows both."""

    def node(state: Any) -> Any:
        streamed = model(text).invoke(state["messages"])
        return {"messages": [AIMessage(str(streamed.text), id=f"own-{streamed.id}")]}

    return node


def chain(*nodes: Node) -> Graph:
    """A graph that runs `nodes` one after the other."""
    builder = StateGraph(MessagesState)
    names = [f"n{i}" for i in range(len(nodes))]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile()


def nested(node: Node, levels: int) -> Graph:
    """`node` inside `levels` graphs, one in the other."""
    graph = chain(node)
    for _ in range(levels - 1):
        graph = chain(graph)
    return graph


class FanState(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    answers: Annotated[list[AnyMessage], operator.add]


def fan_out(node: Node, times: int) -> Graph:
    """`node` in `times` parallel tasks."""
    builder = StateGraph(FanState)
    builder.add_node("worker", node)
    builder.add_conditional_edges(
        START, lambda state: [Send("worker", state) for _ in range(times)], ["worker"]
    )
    return builder.compile()


def texts_delivered(chunks: Iterable[dict[str, Any]]) -> Counter[str]:
    """How often each text was delivered in v2 chunks, as tokens or whole, in any mode."""
    streamed: dict[tuple[Any, ...], list[str]] = {}
    whole: Counter[str] = Counter()
    for chunk in chunks:
        for message in messages_in(chunk["data"]):
            if isinstance(message, BaseMessageChunk):
                key = (chunk["data"][1]["langgraph_checkpoint_ns"], message.id)
                streamed.setdefault(key, []).append(str(message.text))
            elif message.text:
                whole[str(message.text)] += 1
    return whole + Counter(map("".join, streamed.values()))


def messages_in(value: Any) -> list[BaseMessage]:
    """Every message in a payload, in order."""
    if isinstance(value, BaseMessage):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [message for item in value for message in messages_in(item)]
    return []


def folded(chunks: Iterable[Any]) -> dict[str, str]:
    """Text by id, as a stock client folds the `messages` mode: append, and remove."""
    texts: dict[str, str] = {}
    for message, _ in chunks:
        if isinstance(message, RemoveMessage):
            texts.pop(str(message.id), None)
        else:
            texts[str(message.id)] = texts.get(str(message.id), "") + str(message.text)
    return texts


def fails_after(runnable: Any, times: int = 1) -> Any:
    """A node that fails when its model has finished, the first times."""
    left = [ValueError()] * times

    def node(state: Any) -> Any:
        answer = runnable.invoke(state["messages"])
        if left:
            raise left.pop()
        return {"messages": [answer]}

    return node


RETRY = RetryPolicy(initial_interval=0.0001, jitter=False, retry_on=ValueError)

PLAN, DRAFT, JOINED, VERDICT, CHEAP = "A plan.", "A draft.", "Joined.", "A verdict.", "Cheap."
FOUND, NOTE, BYE = "Found it.", "A note.", "Bye."
ALL = {PLAN, DRAFT, JOINED, VERDICT, CHEAP, FOUND, NOTE, BYE}


def tagged(text: str, *tags: str) -> Any:
    return model(text).with_config(tags=list(tags))


def joins(state: Any) -> Any:
    chunks = tagged(JOINED, "draft").stream(state["messages"])
    return {"messages": [AIMessage("".join(str(chunk.text) for chunk in chunks))]}


def copies(state: Any) -> Any:
    answer = tagged(DRAFT, "draft").invoke(state["messages"])
    return {"messages": [AIMessage(str(answer.text))]}


def asks(made: Any) -> Any:
    return lambda state: {"messages": [made.invoke(state["messages"])]}


def writes(text: str) -> Any:
    return lambda _: {"messages": [AIMessage(text)]}


def graph_of(**nodes: Any) -> StateGraph[Any]:
    """Nodes one after the other, under their names."""
    builder: Any = StateGraph(MessagesState)
    before: str = START
    for name, node in nodes.items():
        builder.add_node(name, node, retry_policy=RETRY)
        builder.add_edge(before, name)
        before = name
    made: StateGraph[Any] = builder
    return made


def team() -> Any:
    research = graph_of(search=says(FOUND), note=writes(NOTE))
    return graph_of(
        plan=asks(tagged(PLAN, "nostream")),
        draft=copies,
        joined=joins,
        judge=asks(model(VERDICT).with_config(run_name="judge")),
        cheap=asks(model(CHEAP).with_config(metadata={"ls_model_name": "tiny-1"})),
        research=research.compile(),
        talk=says(BYE),
    ).compile()
