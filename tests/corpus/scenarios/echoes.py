"""D6: what the consumer put in comes again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send
from typing_extensions import TypedDict

from tests.corpus.graphs import Steps, chain, node, returns, says
from tests.corpus.models import answers
from tests.corpus.scenario import ASKED, Graph, Run, row
from tests.corpus.units import QUESTION, heard, said

HELLO = "Hello once more."


BY_ID = (Run({"messages": [HumanMessage(QUESTION.piece.says, id="q1")]}),)


class Nested(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    context: dict[str, Any]


class WithHistory(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    history: list[AnyMessage]


def echoes(model_says: str = HELLO) -> Any:
    """A node that returns all the messages it was given, and a new one."""
    model = answers(model_says)

    def steps(state: Any) -> Steps:
        return {"messages": [*state["messages"], (yield model, "?")]}

    return node(steps)


def echoes_list() -> Graph:
    """A graph whose whole state is a list, and a node that returns all of it."""
    model = answers(HELLO)

    def steps(messages: Any) -> Steps:
        return [*messages, (yield model, "?")]

    schema: Any = Annotated[list[AnyMessage], add_messages]
    builder: Any = StateGraph(schema)
    builder.add_node("n0", node(steps))
    builder.add_edge(START, "n0")
    made: Graph = builder.compile()
    return made


def echoes_payload(payload: Callable[[Any], Any]) -> Graph:
    """A worker that returns what it was sent of the state, and a new message."""
    model = answers(HELLO)

    def steps(sent: Any) -> Steps:
        messages = sent["messages"] if isinstance(sent, dict) else sent
        listed = messages if isinstance(messages, list) else [messages]
        return {"messages": [*listed, (yield model, "?")]}

    builder = StateGraph(MessagesState)
    builder.add_node("worker", node(steps))
    builder.add_conditional_edges(START, lambda state: [Send("worker", payload(state))], ["worker"])
    return builder.compile()


def echoes_context() -> Graph:
    """A node that moves messages from a nested state to the list."""
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        return {"messages": [*state["context"]["history"], (yield model, "?")]}

    return chain(node(steps), state=Nested)


def echoes_in_child() -> Graph:
    """A node that gives a graph the history under another key, and returns what it returns."""

    def recall(state: Any) -> Any:
        return {"messages": state["history"]}

    child = chain(recall, says(HELLO), state=WithHistory)

    def steps(state: Any) -> Steps:
        done = yield child, {"messages": [], "history": state["messages"]}
        return {"messages": done["messages"]}

    return chain(node(steps))


FEW_SHOT = [HumanMessage(QUESTION.piece.says), AIMessage("An example answer.")]


SCENARIOS = (
    row(
        "D6",
        "echoed-input",
        "A node returns its input and a new message.",
        lambda: chain(echoes()),
        said(HELLO),
    ),
    row(
        "D6",
        "echoed-each-step",
        "Every node returns all the messages so far.",
        lambda: chain(echoes("One step."), echoes("Two steps.")),
        said("One step."),
        said("Two steps."),
    ),
    row(
        "D6",
        "echoed-few-shot",
        "The input holds examples, which the node returns.",
        lambda: chain(echoes()),
        heard("An example answer."),
        said(HELLO),
        runs=(Run({"messages": FEW_SHOT}),),
    ),
    row(
        "D6",
        "echoed-list-state",
        "The state is a list, and a node returns all of it.",
        echoes_list,
        said(HELLO),
        runs=(Run([HumanMessage(QUESTION.piece.says)]),),
    ),
    row(
        "D6",
        "echoed-payload-list",
        "A worker returns the list of messages it was sent.",
        lambda: echoes_payload(lambda state: list(state["messages"])),
        said(HELLO),
        runs=BY_ID,
    ),
    row(
        "D6",
        "echoed-payload-message",
        "A worker returns the message it was sent.",
        lambda: echoes_payload(lambda state: state["messages"][0]),
        said(HELLO),
        runs=BY_ID,
    ),
    row(
        "D6",
        "echoed-payload-state",
        "A worker returns the state it was sent.",
        lambda: echoes_payload(lambda state: {"messages": state["messages"]}),
        said(HELLO),
        runs=BY_ID,
    ),
    row(
        "D6",
        "echoed-nested-input",
        "A node moves messages from a nested state to the list.",
        echoes_context,
        heard("From long ago."),
        said(HELLO),
        runs=(Run({**ASKED, "context": {"history": [HumanMessage("From long ago.", id="old")]}}),),
    ),
    row(
        "D6",
        "echoed-in-child",
        "A graph is given the history under another key, and returns it.",
        echoes_in_child,
        said(HELLO),
    ),
    row(
        "D6",
        "echoed-by-subgraph",
        "A graph that is a node returns its whole state.",
        lambda: chain(chain(says(HELLO)), returns(AIMessage("Another node.", id="other"))),
        said(HELLO),
        said("Another node."),
    ),
)
