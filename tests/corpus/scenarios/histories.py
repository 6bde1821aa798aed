"""D6: what a run was given comes again where no `add_messages` has named it, or no node was."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from tests.corpus.graphs import Node, Steps, chain, node, says
from tests.corpus.models import answers
from tests.corpus.scenario import Graph, Run, Scenario, row
from tests.corpus.units import QUESTION, Unit, heard, said
from tests.corpus.variants import Variant

ASK = QUESTION.piece.says
HELLO = "Hello after all that."
OLD = "It was said long ago."
PAST = (HumanMessage(ASK, id="h1"), AIMessage(OLD, id="h2"))


class Replaced(TypedDict):
    messages: list[Any]


class Added(TypedDict):
    messages: Annotated[list[Any], operator.add]


class Topic(TypedDict):
    topic: str


class Talk(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    topic: str


def whole(make: Callable[[list[Any]], list[Any]] = list) -> Node:
    """A node that returns the list it was given, as `make` makes it anew, and an answer."""
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        return {"messages": [*make(state["messages"]), (yield model, "?")]}

    return node(steps)


def anew(messages: list[Any]) -> list[Any]:
    """Copies, as a round trip through JSON or a database makes them."""
    return [message.model_copy() for message in messages]


def from_elsewhere(*past: Any) -> Node:
    """A node that is not given the conversation and returns it, as it keeps it itself."""
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        return {"messages": [*anew(list(past)), (yield model, "?")]}

    return node(steps)


def blind(*nodes: Node, state: Any = Talk, memory: bool = False) -> Graph:
    """A chain whose first node is given the topic alone."""
    builder = StateGraph(state)
    builder.add_node("n0", nodes[0], input_schema=Topic)
    for at, action in enumerate(nodes[1:], 1):
        builder.add_node(f"n{at}", action)
        builder.add_edge(f"n{at - 1}", f"n{at}")
    builder.add_edge(START, "n0")
    return builder.compile()


def in_a_function(inner: Graph) -> Node:
    """A node that runs a graph on its list and returns what that says last."""

    def steps(state: Any) -> Steps:
        done = yield inner, {"messages": state["messages"]}
        return {"messages": done["messages"]}

    return node(steps)


RAW: dict[str, Any] = {
    "string": ASK,
    "pair": ("user", ASK),
    "dict": {"role": "user", "content": ASK},
}


def raw(name: str, what: str, graph: Callable[[], Graph], **how: Any) -> list[Scenario]:
    """The question as each value that stands for a message."""
    return [
        row(
            "D6",
            f"{name}-{form}",
            f"{what}; the question is a {form}.",
            graph,
            said(HELLO),
            runs=(Run({"messages": [value]}),),
            asked=heard(ASK, None),  # the first state has the value, the last the message
            **how,
        )
        for form, value in RAW.items()
    ]


def tells_lists(variant: Variant) -> bool:
    """Not where the state goes before an update that says it again under new ids.

    An update does not tell whether its list takes the place of the other.
    """
    return variant.state == "full" or not {"updates", "values"} <= set(variant.modes)


def nameless(name: str, what: str, graph: Callable[[], Graph], *units: Unit) -> Scenario:
    """A history without ids."""
    given = [HumanMessage(ASK), AIMessage(OLD)]
    return row(
        "D6",
        name,
        what,
        graph,
        *units,
        runs=(Run({"messages": given}),),
        only=tells_lists,
        asked=heard(ASK, None),
    )


SCENARIOS = (
    *raw(
        "raw-in-subgraph",
        "A graph that is a node, in one with a plain list",
        lambda: chain(chain(says(HELLO)), state=Replaced),
    ),
    *raw(
        "raw-in-function",
        "A node runs a graph, in one with a plain list",
        lambda: chain(in_a_function(chain(says(HELLO))), state=Replaced),
    ),
    nameless(
        "nameless-list",
        "A plain list without ids: a node returns all of it and one more.",
        lambda: chain(whole(), state=Replaced),
        heard(OLD),
        said(HELLO),
    ),
    nameless(
        "nameless-copied",
        "A plain list without ids: a node returns copies and one more.",
        lambda: chain(whole(anew), state=Replaced),
        heard(OLD),
        said(HELLO),
    ),
    nameless(
        "nameless-trimmed",
        "A plain list without ids: a node returns the last and one more.",
        lambda: chain(whole(lambda given: given[-1:]), state=Replaced),
        heard(OLD),
        said(HELLO),
    ),
    row(
        "D6",
        "unseen-history",
        "A node that is not given the history returns it.",
        lambda: blind(from_elsewhere(*PAST)),
        heard(OLD),
        said(HELLO),
        runs=(Run({"messages": list(PAST), "topic": "?"}),),
    ),
    row(
        "D6",
        "unseen-history-in-child",
        "A graph inside is given the topic alone and returns it.",
        lambda: chain(blind(from_elsewhere(*PAST)), state=Talk),
        heard(OLD),
        said(HELLO),
        runs=(Run({"messages": list(PAST), "topic": "?"}),),
    ),
)
