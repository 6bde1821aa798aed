"""L3: messages are removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from tests.corpus.graphs import Steps, chain, copies, node, returns, says
from tests.corpus.models import answers
from tests.corpus.scenario import ASKED, Run, row
from tests.corpus.units import QUESTION, gone, heard, said

BAD, GOOD = "A careless phrase.", "A considerate phrase."


NEXT = heard("And what next?")


TWO_RUNS = (Run(ASKED), Run({"messages": [("user", "And what next?")]}))


SUMMARY = "A summary of it all."


def in_turns(*nodes: Callable[[Any], Any]) -> Any:
    """A node that does another thing in each turn."""
    left = list(nodes)
    return lambda state: left.pop(0)(state)


def removes(at: int) -> Any:
    return lambda state: {"messages": [RemoveMessage(id=state["messages"][at].id)]}


def restarts(*kept: str) -> Any:
    """A node that removes everything and leaves what it says."""
    return lambda _: {
        "messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *(AIMessage(text) for text in kept)]
    }


def summarizes() -> Any:
    """A node that streams a summary and removes what it stands for."""
    model = answers(SUMMARY)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [*(RemoveMessage(id=m.id) for m in state["messages"]), answer]}

    return node(steps)


def keeps(state: Any) -> Any:
    """A summary in place of all but the last two, as LangChain's middleware leaves it."""
    removed, summary = RemoveMessage(id=REMOVE_ALL_MESSAGES), AIMessage(SUMMARY)
    return {"messages": [removed, summary, *state["messages"][-2:]]}


ASKED_GONE = gone(QUESTION.piece.says)


SCENARIOS = (
    row(
        "L3",
        "removed-answer",
        "A node removes the message that was streamed before.",
        lambda: chain(says(BAD), removes(-1), says(GOOD)),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L3",
        "removed-unstreamed",
        "A node removes a message that was not streamed.",
        lambda: chain(returns(AIMessage(BAD)), removes(-1), says(GOOD)),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L3",
        "removed-copy",
        "A node removes the copy of a streamed message.",
        lambda: chain(copies(BAD), removes(-1), says(GOOD)),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L3",
        "removed-question",
        "A node removes the question and keeps the answer.",
        lambda: chain(says(GOOD), removes(0)),
        said(GOOD),
        asked=ASKED_GONE,
    ),
    row(
        "L3",
        "removed-all",
        "A node removes everything and leaves a summary.",
        lambda: chain(says(BAD), restarts(SUMMARY)),
        gone(BAD),
        said(SUMMARY),
        asked=ASKED_GONE,
    ),
    row(
        "L3",
        "summarized",
        "A node streams a summary and removes what it stands for.",
        lambda: chain(says(BAD), summarizes()),
        gone(BAD),
        said(SUMMARY),
        asked=ASKED_GONE,
    ),
    row(
        "L3",
        "summarized-and-kept",
        "The second turn puts a summary in place of all but the last answer and the question.",
        lambda: chain(in_turns(lambda _: {}, keeps), says(GOOD, "Then this."), memory=True),
        said(GOOD),
        NEXT,
        said(SUMMARY),
        said("Then this."),
        asked=ASKED_GONE,
        runs=TWO_RUNS,
        ordered=False,
    ),
    row(
        "L3",
        "removed-in-later-turn",
        "The second turn removes the answer of the first.",
        lambda: chain(in_turns(lambda _: {"messages": [AIMessage(BAD)]}, removes(1)), memory=True),
        gone(BAD),
        NEXT,
        runs=TWO_RUNS,
    ),
    row(
        "L3",
        "removed-in-child",
        "A graph removes a message that its own node streamed.",
        lambda: chain(chain(says(BAD), removes(-1), says(GOOD))),
        gone(BAD),
        said(GOOD),
    ),
    row(
        "L3",
        "removed-and-said-again",
        "A message is removed, and its text said again.",
        lambda: chain(says(GOOD), removes(-1), says(GOOD)),
        said(GOOD),
    ),
)
