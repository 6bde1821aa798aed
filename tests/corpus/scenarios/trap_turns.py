"""What looks like a repetition of an earlier stream and is none."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from tests.corpus.graphs import (
    chain,
    copies,
    returns,
    says,
)
from tests.corpus.scenario import ASKED, Graph, Run, row
from tests.corpus.units import QUESTION, Unit, call, heard, said

OK = "ok then."


HELLO = "Hello from the trap."


SEARCH: Any = {"name": "search", "args": {"query": "weather in Paris"}, "id": "call_1"}


CALL = {"query": "weather in Paris"}


NEXT = heard("And what next?")


TWO_RUNS = (Run(ASKED), Run({"messages": [("user", "And what next?")]}))


def before_the_node(graph: Graph, config: RunnableConfig) -> RunnableConfig:
    """The checkpoint from which the first node runs."""
    return next(s.config for s in graph.get_state_history(config) if s.next == ("n0",))


CALLING = AIMessage("", tool_calls=[SEARCH])


def forked(graph: Graph, config: RunnableConfig) -> RunnableConfig:
    """A fork from before the first answer, with another question."""
    update = {"messages": [("user", "And what instead?")]}
    return graph.update_state(before_the_node(graph, config), update)


SCENARIOS = (
    row(
        "trap",
        "same-call-id-next-turn",
        "The same tool_call_id in a later turn.",
        lambda: chain(says(CALLING), memory=True),
        call("search", CALL, 2),
        NEXT,
        runs=TWO_RUNS,
    ),
    row(
        "trap",
        "same-answer-next-turn",
        "The same answer in a later turn.",
        lambda: chain(says(OK), memory=True),
        said(OK, 2),
        NEXT,
        runs=TWO_RUNS,
    ),
    row(
        "trap",
        "same-copy-next-turn",
        "The same answer, copied, in a later turn.",
        lambda: chain(copies(OK), memory=True),
        said(OK, 2),
        NEXT,
        runs=TWO_RUNS,
    ),
    row(
        "trap",
        "replayed",
        "The user replays a turn from its checkpoint.",
        lambda: chain(says(HELLO), memory=True),
        said(HELLO, 2, again=True),
        runs=(Run(ASKED), Run(None, at=before_the_node)),
    ),
    row(
        "trap",
        "replayed-other",
        "The user replays a turn, and the model says something else.",
        lambda: chain(says("A first version.", "A second version."), memory=True),
        Unit(piece=said("A first version.").piece, again=True),
        said("A second version."),
        runs=(Run(ASKED), Run(None, at=before_the_node)),
    ),
    row(
        "trap",
        "human-echo",
        "The state's copy of the question has an id that its sender does not know.",
        lambda: chain(returns(AIMessage(HELLO, id="m"))),
        said(HELLO),
    ),
    row(
        "trap",
        "human-repeats",
        "The human asks the same again in the next turn.",
        lambda: chain(says("First reply.", "Second reply."), memory=True),
        said("First reply."),
        said("Second reply."),
        asked=heard(QUESTION.piece.says, 2),
        runs=(Run(ASKED), Run(ASKED)),
    ),
    row(
        "trap",
        "human-like-model",
        "The human's words are those of the model.",
        lambda: chain(says(OK), memory=True),
        said(OK, stated=2),
        runs=(Run({"messages": [HumanMessage(OK)]}),),
        asked=None,
    ),
    row(
        "trap",
        "forked",
        "The user forks the thread from before the answer, with another question.",
        lambda: chain(says("A first version.", "A second version."), memory=True),
        Unit(piece=said("A first version.").piece, again=True),
        heard("And what instead?", None),
        said("A second version."),
        runs=(Run(ASKED), Run(None, at=forked)),
    ),
)
