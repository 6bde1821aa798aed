"""L4: nodes return dicts, pairs and strings, whose ids only the reducer makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from tests.corpus.graphs import Steps, chain, nested, node, text_of
from tests.corpus.models import answers
from tests.corpus.scenario import ASKED, Graph, Run, Scenario, row
from tests.corpus.units import Unit, gone, heard, said

HELLO = "Hello without an id."

EDITED = "Edited after it got its id."

CONSTANT: dict[str, Any] = {"messages": [{"role": "assistant", "content": HELLO}]}
"""One object, which the node returns each time."""


def as_dict(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def writes(_: Any) -> dict[str, Any]:
    return {"messages": [as_dict(HELLO)]}


def edits(state: Any) -> dict[str, Any]:
    return {"messages": [AIMessage(EDITED, id=state["messages"][-1].id)]}


def removes(state: Any) -> dict[str, Any]:
    return {"messages": [RemoveMessage(id=state["messages"][-1].id)]}


def copies_as_dict(made: Callable[[str], Any] = as_dict) -> Any:
    """A node that streams an answer and returns it as a dict, or as what else stands for it."""
    model = answers(HELLO)

    def steps(_: Any) -> Steps:
        return {"messages": [made(text_of((yield model, "?")))]}

    return node(steps)


def around_fails_once() -> Graph:
    """The graph around one that returns a dict fails after it, and runs it again."""
    inner, failed = chain(writes), list[bool]()

    def outer(state: Any) -> Any:
        out = inner.invoke(state)
        if not failed:
            failed.append(True)
            raise ValueError("once")
        return {"messages": out["messages"][-1:]}

    retry = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)
    return chain(outer, retry_policy=retry)


def beside_a_question() -> Graph:
    """One node returns a dict, another asks; the step ends only with the answer."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("writes", writes).add_edge(START, "writes")
    builder.add_node("asks", lambda _: interrupt("Go on?") and {}).add_edge(START, "asks")
    return chain(builder.compile(), memory=True)


def written(name: str, what: str, graph: Callable[[], Graph], *units: Unit, **how: Any) -> Scenario:
    """A scenario whose consumer reads no `updates`, which never tell the id of a dict."""
    return row("L4", name, what, graph, *units, only=lambda v: "updates" not in v.modes, **how)


SCENARIOS = (
    written("dict-in-a-graph", "A graph inside has it.", lambda: nested(writes, 2), said(HELLO)),
    written("dict-in-two-graphs", "One level deeper.", lambda: nested(writes, 3), said(HELLO)),
    written("dict-edited", "The next node edits it.", lambda: chain(writes, edits), said(EDITED)),
    written("dict-removed", "The next node removes it.", lambda: chain(writes, removes)),
    written(
        "dict-constant",
        "Two nodes return one and the same dict.",
        lambda: chain(lambda _: CONSTANT, lambda _: CONSTANT),
        said(HELLO, 2),
    ),
    written(
        "dict-constant-in-two-turns",
        "A node returns one and the same dict in two turns.",
        lambda: chain(lambda _: CONSTANT, memory=True),
        said(HELLO, 2),
        heard("Once more."),
        runs=(Run(ASKED), Run({"messages": [("user", "Once more.")]})),
    ),
    written(
        "dict-copied",
        "A node streams an answer and returns it as a dict.",
        lambda: chain(copies_as_dict()),
        said(HELLO),
    ),
    written(
        "dict-copied-edited",
        "The next node edits what was streamed and returned as a dict.",
        lambda: chain(copies_as_dict(), edits),
        gone(HELLO),
        said(EDITED),
    ),
    written(
        "dict-copied-removed",
        "The next node removes what was streamed and returned as a dict.",
        lambda: chain(copies_as_dict(), removes),
        gone(HELLO),
    ),
    written(
        "pair-copied-edited",
        "The next node edits what was streamed and returned as a pair.",
        lambda: chain(copies_as_dict(lambda text: ("ai", text)), edits),
        gone(HELLO),
        said(EDITED),
    ),
    written(
        "dict-copied-edited-in-a-graph",
        "A graph inside returns a dict of what it streamed, the one around it edits that.",
        lambda: chain(chain(copies_as_dict()), edits),
        gone(HELLO),
        said(EDITED),
    ),
    written("dict-retried", "Its graph runs again.", around_fails_once, said(HELLO)),
    written(
        "dict-beside-a-question",
        "Its step waits for an answer.",
        beside_a_question,
        said(HELLO),
        runs=(Run(ASKED), Run(Command(resume="Yes."))),
    ),
)
