"""D2: the node that runs a graph says again what that graph said."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph

from tests.corpus.graphs import Steps, chain, copies, node, says, text_of, without_id
from tests.corpus.models import answers
from tests.corpus.scenario import Graph, Scenario
from tests.corpus.units import call, said

HELLO = "Hello from the child."
SEARCH: Any = {"name": "search", "args": {"query": "trains to Lyon"}, "id": "call_1"}


def wraps(child: Graph, *, as_type: Any = AIMessage) -> Any:
    """A node that runs `child` and returns its last text as a message of its own."""

    def steps(state: Any) -> Steps:
        done = yield child, {"messages": state["messages"]}
        return {"messages": [as_type(text_of(done["messages"][-1]))]}

    return node(steps)


def copies_child(child: Graph) -> Any:
    """A node that runs `child` and returns a copy of its last message, calls too."""

    def steps(state: Any) -> Steps:
        done = yield child, {"messages": state["messages"]}
        return {"messages": [without_id(done["messages"][-1])]}

    return node(steps)


def in_parallel() -> Graph:
    builder = StateGraph(MessagesState)
    for name, text in (("left", "From the left."), ("right", "From the right.")):
        builder.add_node(name, wraps(chain(says(text))))
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile()


def both_texts() -> Graph:
    child = chain(says("A first finding."), says("A second finding."))

    def steps(state: Any) -> Steps:
        done = yield child, {"messages": state["messages"]}
        return {"messages": [AIMessage(text_of(m)) for m in done["messages"][-2:]]}

    return chain(node(steps))


def functional() -> Graph:
    model = answers(HELLO)

    @task
    def answer(question: Any) -> Any:
        return model.invoke(question)

    @entrypoint()
    def flow(asked: Any) -> Any:
        return {"messages": [AIMessage(text_of(answer("?").result()))]}

    return flow


SCENARIOS = (
    Scenario(
        kind="D2",
        name="wrapped-copied",
        what="A node runs a graph that itself copies, and returns its text as a new message.",
        graph=lambda: chain(wraps(chain(copies(HELLO)))),
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D2",
        name="wrapped-said",
        what="A node runs a graph and returns its text as a new message.",
        graph=lambda: chain(wraps(chain(says(HELLO)))),
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D2",
        name="wrapped-twice",
        what="A node wraps a graph whose node wraps a graph.",
        graph=lambda: chain(wraps(chain(wraps(chain(says(HELLO)))))),
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D2",
        name="wrapped-under-a-graph",
        what="The node that wraps is itself inside a graph that is a node.",
        graph=lambda: chain(chain(wraps(chain(says(HELLO))))),
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D2",
        name="wrapped-call",
        what="What is wrapped has a text and a tool call.",
        graph=lambda: chain(copies_child(chain(says(AIMessage(HELLO, tool_calls=[SEARCH]))))),
        units=(said(HELLO), call("search", {"query": "trains to Lyon"})),
    ),
    Scenario(
        kind="D2",
        name="wrapped-as-human",
        what="A supervisor keeps what an agent said as a message with the role of a human.",
        graph=lambda: chain(wraps(chain(says(HELLO)), as_type=HumanMessage)),
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D2",
        name="wrapped-in-parallel",
        what="Two nodes in parallel wrap a graph each.",
        graph=in_parallel,
        ordered=False,
        units=(said("From the left."), said("From the right.")),
    ),
    Scenario(
        kind="D2",
        name="wrapped-both-texts",
        what="A node wraps both texts of its graph.",
        graph=both_texts,
        units=(said("A first finding."), said("A second finding.")),
    ),
    Scenario(
        kind="D2",
        name="wrapped-task",
        what="An entrypoint wraps what its task streamed.",
        graph=functional,
        units=(said(HELLO),),
        asked=None,
        only=lambda variant: variant.state != "full",  # the task's update is one of its own
    ),
)
