"""What looks like a repetition within a stream and is none: it must arrive each time."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.graph.message import add_messages
from langgraph.types import RetryPolicy
from typing_extensions import TypedDict

from tests.corpus.graphs import (
    Steps,
    chain,
    copies,
    fan_out,
    node,
    returns,
    says,
    text_of,
    without_id,
)
from tests.corpus.models import answers
from tests.corpus.scenario import Graph, row
from tests.corpus.units import call, draft, said

OK = "ok then."


HELLO = "Hello from the trap."


SEARCH: Any = {"name": "search", "args": {"query": "weather in Paris"}, "id": "call_1"}


CALL = {"query": "weather in Paris"}


class Added(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    answers: Annotated[list[AnyMessage], operator.add]


def asks_twice(*, copied: bool = False, replies: tuple[str, ...] = (OK,)) -> Any:
    """A node that asks one model twice."""
    model = answers(*replies)

    def steps(state: Any) -> Steps:
        found = [(yield model, "?"), (yield model, "?")]
        return {"messages": [without_id(each) for each in found] if copied else found}

    return node(steps)


def says_other(copy_of: str = "") -> Any:
    """A node that streams one thing and returns another."""
    model = answers("Thinking aloud here.")

    def steps(state: Any) -> Steps:
        yield model, "?"
        return {"messages": [AIMessage(copy_of or HELLO)]}

    return node(steps)


def prefixed() -> Graph:
    """A node that returns its graph's text with a name before it."""
    child = chain(says("found nothing at all."))

    def steps(state: Any) -> Steps:
        done = yield child, {"messages": state["messages"]}
        return {"messages": [AIMessage(f"Researcher {text_of(done['messages'][-1])}")]}

    return chain(node(steps))


def child_twice(*replies: str) -> Graph:
    """A node that runs one graph twice and keeps both answers."""
    child = chain(says(*replies))

    def steps(state: Any) -> Steps:
        first = yield child, {"messages": state["messages"]}
        second = yield child, {"messages": state["messages"]}
        return {"messages": [first["messages"][-1], second["messages"][-1]]}

    return chain(node(steps))


def tool_says_it() -> Graph:
    """A tool that asks a model, and returns its words as the result."""
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [ToolMessage(text_of(answer), tool_call_id="call_1")]}

    return chain(returns(AIMessage("", tool_calls=[SEARCH])), node(steps))


def silent_once() -> Any:
    """A node that breaks before it says anything, and then asks twice."""
    model, runs = answers(OK), []

    def steps(state: Any) -> Steps:
        runs.append(1)
        if len(runs) == 1:
            raise ValueError("nothing was said yet")
        return {"messages": [(yield model, "?"), (yield model, "?")]}

    return node(steps)


RETRY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=Exception)


def workers(*, copied: bool = False) -> Graph:
    model = answers(OK)

    def steps(sent: Any) -> Steps:
        answer = yield model, "?"
        return {"answers": [without_id(answer) if copied else answer]}

    return fan_out(node(steps), [{}, {}, {}], state=Added)


TWO_CALLS = AIMessage("", tool_calls=[SEARCH, {**SEARCH, "id": "call_2"}])


CALLING = AIMessage("", tool_calls=[SEARCH])


SCENARIOS = (
    row(
        "trap",
        "parallel-equal-answers",
        "Three parallel tasks answer alike.",
        workers,
        said(OK, 3),
        ordered=False,
    ),
    row(
        "trap",
        "parallel-equal-copies",
        "Three parallel tasks answer alike and return copies.",
        lambda: workers(copied=True),
        said(OK, 3),
        ordered=False,
    ),
    row(
        "trap",
        "asked-twice",
        "A node asks twice and gets the same answer.",
        lambda: chain(asks_twice()),
        said(OK, 2),
    ),
    row(
        "trap",
        "asked-twice-copied",
        "A node asks twice, gets the same answer and returns copies.",
        lambda: chain(asks_twice(copied=True)),
        said(OK, 2),
    ),
    row(
        "trap",
        "equal-steps",
        "An agent says the same in three steps.",
        lambda: chain(says(OK), copies(OK), says(OK)),
        said(OK, 3),
    ),
    row(
        "trap",
        "copied-twice",
        "A node returns what it streamed twice, on purpose.",
        lambda: chain(copies(HELLO, times=2)),
        said(HELLO, 2),
    ),
    row(
        "trap",
        "returned-twice",
        "A node returns a text twice and streams nothing.",
        lambda: chain(returns(AIMessage(HELLO), AIMessage(HELLO))),
        said(HELLO, 2),
    ),
    row(
        "trap",
        "ha-ha-ha",
        "A text of three equal chunks.",
        lambda: chain(says("ha ha ha")),
        said("ha ha ha"),
    ),
    row(
        "trap",
        "ha-ha-ha-copied",
        "A text of three equal chunks, and its copy.",
        lambda: chain(copies("ha ha ha")),
        said("ha ha ha"),
    ),
    row(
        "trap",
        "equal-calls",
        "Two equal tool calls in one message.",
        lambda: chain(says(TWO_CALLS)),
        call("search", CALL, 2),
    ),
    row(
        "trap",
        "equal-calls-copied",
        "Two equal tool calls in one message, and its copy.",
        lambda: chain(copies(TWO_CALLS)),
        call("search", CALL, 2),
    ),
    row(
        "trap",
        "same-call-id-later",
        "The same tool_call_id in a later step.",
        lambda: chain(says(CALLING), says(CALLING)),
        call("search", CALL, 2),
    ),
    row(
        "trap",
        "says-other",
        "A node streams one thing and returns another.",
        lambda: chain(says_other()),
        draft("Thinking aloud here."),
        said(HELLO),
    ),
    row(
        "trap",
        "says-prefix",
        "What is returned begins like what another node streamed.",
        lambda: chain(says("Well then"), returns(AIMessage("Well then, goodbye."))),
        said("Well then"),
        said("Well then, goodbye."),
    ),
    row(
        "trap",
        "prefixed-child",
        "A node says its graph's text with a name before it.",
        prefixed,
        said("Researcher found nothing at all."),
        said("found nothing at all.", inner=True),
    ),
    row(
        "trap",
        "graph-run-twice",
        "A node runs one graph twice; it says another thing each time.",
        lambda: child_twice("One finding.", "Two findings."),
        said("One finding."),
        said("Two findings."),
    ),
    row(
        "trap",
        "graph-run-twice-equal",
        "A node runs one graph twice; it says the same.",
        lambda: child_twice(OK),
        said(OK, 2),
    ),
    row(
        "trap",
        "tool-repeats-model",
        "A tool returns what its model streamed: a result is state.",
        tool_says_it,
        call("search", CALL),
        said(HELLO, streamed=2),
        only=lambda variant: not variant.is_v3,
    ),
    row(
        "trap",
        "retried-and-equal",
        "After a retry that said nothing, a node asks twice and hears the same.",
        lambda: chain(silent_once(), retry_policy=RETRY),
        said(OK, 2),
    ),
    row(
        "trap",
        "empty-answer",
        "A model says nothing; its empty message is in the state.",
        lambda: chain(says("")),
        said("", streamed=1, updated=1),
    ),
)
