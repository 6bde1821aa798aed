"""L2: a message gets new content under its id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.types import Command, RetryPolicy, interrupt

from tests.corpus.graphs import Steps, chain, copies, node, returns, says
from tests.corpus.models import answers
from tests.corpus.scenario import ASKED, Run, row
from tests.corpus.units import Unit, call, call_piece, gone, heard, said

BAD, GOOD = "A careless phrase.", "A considerate phrase."


NEXT = heard("And what next?")


TWO_RUNS = (Run(ASKED), Run({"messages": [("user", "And what next?")]}))


def edits(text: str, at: int = -1) -> Any:
    """A node that gives the message at a place a new text."""
    return lambda state: {"messages": [AIMessage(text, id=state["messages"][at].id)]}


def edits_own() -> Any:
    """A node that streams and returns its message with another text."""
    model = answers(BAD)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [AIMessage(GOOD, id=answer.id)]}

    return node(steps)


def edits_arguments(state: Any) -> Any:
    last = state["messages"][-1]
    paid = {"name": "pay", "args": {"euros": 3}, "id": "call_1"}
    return {"messages": [AIMessage("", id=last.id, tool_calls=[paid])]}


def human_edits(state: Any) -> Any:
    return {"messages": [AIMessage(interrupt("Better?"), id=state["messages"][-1].id)]}


def in_turns(*nodes: Callable[[Any], Any]) -> Any:
    """A node that does another thing in each turn."""
    left = list(nodes)
    return lambda state: left.pop(0)(state)


CALLING = AIMessage("", tool_calls=[{"name": "pay", "args": {"euros": 5}, "id": "call_1"}])


ASKED_5 = Unit(
    piece=call_piece("pay", {"euros": 5}), streamed=0, updated=0, stated=0, fleeting=True
)


RETRY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=Exception)


FIXED = AIMessage(GOOD, id="fixed")


def fixed_and_fails() -> Any:
    """A node that streams under a fixed id and breaks, and then says something else."""
    model, runs = answers(AIMessage(BAD, id="fixed"), FIXED), []

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        runs.append(1)
        if len(runs) == 1:
            raise ValueError("the answer did not please")
        return {"messages": [answer]}

    return node(steps)


SCENARIOS = (
    row(
        "L2",
        "edited-by-next-node",
        "A guardrail gives a streamed message another text.",
        lambda: chain(says(BAD), edits(GOOD)),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L2",
        "edited-by-itself",
        "A node streams a text and returns another under its id.",
        lambda: chain(edits_own()),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L2",
        "edited-unstreamed",
        "The message that is edited was never streamed.",
        lambda: chain(returns(AIMessage(BAD)), edits(GOOD)),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L2",
        "edited-copy",
        "What is edited is the copy of a streamed message.",
        lambda: chain(copies(BAD), edits(GOOD)),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L2",
        "edited-twice",
        "A message is edited by two nodes.",
        lambda: chain(says(BAD), edits("A second thought."), edits(GOOD)),
        gone(BAD),
        gone("A second thought."),
        said(GOOD),
    ),
    row(
        "L2",
        "edited-and-back",
        "A message is edited, and then gets its first text again.",
        lambda: chain(says(GOOD), edits(BAD), edits(GOOD)),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L2",
        "edited-arguments",
        "The arguments of a streamed call are edited.",
        lambda: chain(says(CALLING), edits_arguments),
        ASKED_5,
        call("pay", {"euros": 3}),
    ),
    row(
        "L2",
        "edited-by-human",
        "A human edits a message on resume, in a later stream.",
        lambda: chain(says(BAD), human_edits, memory=True),
        gone(BAD),
        said(GOOD),
        runs=(Run(ASKED), Run(Command(resume=GOOD))),
    ),
    row(
        "L2",
        "edited-in-later-turn",
        "The second turn edits the answer of the first.",
        lambda: chain(
            in_turns(lambda _: {"messages": [AIMessage(BAD)]}, edits(GOOD, 1)), memory=True
        ),
        gone(BAD),
        NEXT,
        said(GOOD),
        runs=TWO_RUNS,
    ),
    row(
        "L2",
        "edited-from-child",
        "A graph edits a message that its parent streamed.",
        lambda: chain(says(BAD), chain(edits(GOOD))),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L2",
        "edited-from-parent",
        "A node edits a message that a graph streamed.",
        lambda: chain(chain(says(BAD)), edits(GOOD)),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L2",
        "retried-under-fixed-id",
        "The second attempt says something else under one id.",
        lambda: chain(fixed_and_fails(), retry_policy=RETRY),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L2",
        "streamed-under-fixed-id",
        "The second turn streams another text under one id.",
        lambda: chain(says(AIMessage(BAD, id="fixed"), FIXED), memory=True),
        gone(BAD),
        NEXT,
        said(GOOD),
        runs=TWO_RUNS,
        only=lambda variant: not variant.is_v3,
    ),
    row(
        "L2",
        "streamed-under-fixed-id-v3",
        "The same in v3, which makes ids of its own: the state has both messages.",
        lambda: chain(says(AIMessage(BAD, id="fixed"), FIXED), memory=True),
        said(BAD),
        NEXT,
        said(GOOD),
        runs=TWO_RUNS,
        only=lambda variant: variant.is_v3,
    ),
)
