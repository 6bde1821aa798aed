"""L4: messages in updates of a form that upstream's handler does not read."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import CachePolicy, Command, Send

from tests.corpus.graphs import Steps, chain, node, text_of
from tests.corpus.models import answers
from tests.corpus.scenario import ASKED, Graph, Scenario, row
from tests.corpus.states import (
    ModelState,
)
from tests.corpus.units import Unit, said

HELLO = "Hello from a strange place."


MORE = "And another one."


def hello(**how: Any) -> AIMessage:
    return AIMessage(HELLO, **how)


def update(value: Any, state: Any = MessagesState) -> Graph:
    """A graph of one node that returns `value()` and streams nothing."""
    return chain(lambda _: value(), state=state)


def cached() -> Graph:
    """A node whose answer the cache knows from another thread: the node does not run."""
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        return {"messages": [AIMessage(text_of((yield model, "?")))]}

    builder = StateGraph(MessagesState)
    by_text: Any = CachePolicy(key_func=lambda state: str(state["messages"][-1].content))
    builder.add_node("n0", node(steps), cache_policy=by_text)
    builder.add_edge(START, "n0")
    graph = builder.compile(cache=InMemoryCache(), checkpointer=InMemorySaver())
    asked: Any = ASKED
    graph.invoke(asked, {"configurable": {"thread_id": "another"}})
    return graph


def sent(*messages: Any, times: int = 1) -> Graph:
    """Workers that return what they are sent, which is in no state before."""

    def route(_: Any) -> list[Send]:
        return [Send("worker", {"kept": list(messages)}) for _ in range(times)]

    builder = StateGraph(MessagesState)
    builder.add_node("worker", lambda given: {"messages": given["kept"]})
    builder.add_conditional_edges(START, route, ["worker"])
    return builder.compile()


def listing(name: str, what: str, value: Any, *units: Unit, state: Any = MessagesState) -> Scenario:
    return row("L4", name, what, lambda: update(value, state), *(units or (said(HELLO),)))


SCENARIOS = (
    listing(
        "as-dict",
        "A message as a dict with a role.",
        lambda: {"messages": [{"role": "assistant", "content": HELLO}]},
    ),
    listing(
        "as-typed-dict",
        "A message as a dict with a type.",
        lambda: {"messages": [{"type": "ai", "content": HELLO, "id": "m"}]},
    ),
    listing("as-pair", "A message as a pair (role, text).", lambda: {"messages": [("ai", HELLO)]}),
    listing("as-lone-pair", "A pair that is no list.", lambda: {"messages": ("ai", HELLO)}),
    listing("as-string", "A message as a string.", lambda: {"messages": [HELLO]}),
    listing("as-lone-string", "A string that is no list.", lambda: {"messages": HELLO}),
    listing(
        "as-lone-dict",
        "A dict that is no list.",
        lambda: {"messages": {"role": "assistant", "content": HELLO}},
    ),
    listing("as-lone-message", "A message that is no list.", lambda: {"messages": hello()}),
    listing(
        "as-mixture",
        "A message and a pair in one list.",
        lambda: {"messages": [hello(), ("ai", MORE)]},
        said(HELLO),
        said(MORE),
    ),
    listing(
        "command", "A command with an update.", lambda: Command(update={"messages": [hello()]})
    ),
    listing(
        "command-of-pairs",
        "A command whose update is a list of (key, value).",
        lambda: Command(update=[("messages", [hello()])]),
    ),
    listing(
        "command-of-tuples",
        "A command whose update is a tuple of pairs.",
        lambda: Command(update=(("messages", [("ai", HELLO)]),)),
    ),
    listing(
        "command-of-model",
        "A command whose update is a pydantic model.",
        lambda: Command(update=ModelState(messages=[hello()])),
        state=ModelState,
    ),
    listing(
        "commands",
        "A list of commands and updates.",
        lambda: [Command(update={"messages": [hello()]}), {"messages": [AIMessage(MORE)]}],
        said(HELLO),
        said(MORE),
    ),
    row(
        "L4",
        "sent-message",
        "A worker returns a message that only its `Send` holds.",
        lambda: sent(hello(id="sent")),
        said(HELLO),
    ),
    row(
        "L4",
        "sent-to-workers",
        "Three workers are sent one message; each returns it.",
        lambda: sent(hello(id="sent"), times=3),
        said(HELLO),
    ),
    row(
        "L4",
        "sent-in-child",
        "The same in a graph that a node runs.",
        lambda: chain(sent(hello(id="sent"))),
        said(HELLO),
    ),
    row(
        "L4",
        "cached-node",
        "The cache knows the answer of a node, which does not run.",
        cached,
        said(HELLO),
    ),
)
