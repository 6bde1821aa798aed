"""D3: a node runs again in a later stream, after an interrupt or a crash."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.types import Command, interrupt

from tests.corpus.graphs import Steps, chain, copies, node, says, without_id
from tests.corpus.models import BrokenConnectionError, WireModel, answers
from tests.corpus.scenario import ASKED, Graph, Run, Scenario
from tests.corpus.units import call, draft, gone, said, thought, usage
from tests.corpus.wires import Wire, anthropic, deepseek, numbered, openai

HELLO = "Hello before the question."
SEARCH: Any = {"name": "search", "args": {"query": "hotels in Rome"}, "id": "call_1"}
ANSWERED = (Run(ASKED), Run(Command(resume="Yes, go on.")))
AGAIN = (Run(ASKED, raises=RuntimeError), Run(None))


def asks(model: WireModel, *, copied: bool = False, questions: int = 1) -> Any:
    """A node that streams, asks the human, and only then returns."""

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        for number in range(questions):
            interrupt(f"Question {number}?")
        return {"messages": [without_id(answer) if copied else answer]}

    return node(steps)


def fails_once(model: WireModel) -> Any:
    """A node that streams and then breaks, when it runs for the first time."""
    runs: list[int] = []

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        runs.append(1)
        if len(runs) == 1:
            raise RuntimeError("the process died")
        return {"messages": [answer]}

    return node(steps)


def asks_in_child() -> Graph:
    """A node streams, then runs a graph that asks: both run again, but not what they did."""
    child = chain(says("The child prepares."), asks(answers("The child concludes.")), memory=False)
    own = answers("The parent begins.")

    def steps(state: Any) -> Steps:
        begun = yield own, "?"
        done = yield child, {"messages": state["messages"]}
        return {"messages": [begun, *done["messages"][-2:]]}

    return chain(node(steps), memory=True)


def functional() -> Graph:
    body, inside = answers("Said in the body."), answers("Said in the task.")

    @task
    def prepare(question: Any) -> Any:
        return inside.invoke(question)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(asked: Any) -> Any:
        prepared = prepare("?").result()
        answer = body.invoke("?")
        interrupt("Go on?")
        return {"messages": [prepared, answer]}

    return flow


def interrupted(name: str, reply: str | AIMessage, wire: Wire, *units: Any) -> Scenario:
    return Scenario(
        kind="D3",
        name=f"interrupted-{name}",
        what="A node streams, asks the human, runs again on resume and streams the same.",
        graph=lambda: chain(asks(answers(reply, wire=wire)), memory=True),
        units=units,
        runs=ANSWERED,
    )


REASONED = AIMessage(HELLO, additional_kwargs={"reasoning_content": "Let me think."})

SCENARIOS = (
    interrupted("text", HELLO, openai, said(HELLO), usage()),
    interrupted("text-id-first", HELLO, numbered("first"), said(HELLO)),
    interrupted("blocks", REASONED, anthropic, said(HELLO), thought("Let me think.")),
    interrupted("reasoning", REASONED, deepseek, said(HELLO), thought("Let me think.")),
    interrupted(
        "call",
        AIMessage("", tool_calls=[SEARCH]),
        openai,
        call("search", {"query": "hotels in Rome"}),
    ),
    Scenario(
        kind="D3",
        name="interrupted-copy",
        what="The node that runs again returns a copy.",
        graph=lambda: chain(asks(answers(HELLO), copied=True), memory=True),
        units=(said(HELLO),),
        runs=ANSWERED,
    ),
    Scenario(
        kind="D3",
        name="interrupted-other-text",
        what="When the node runs again, the model says something else.",
        graph=lambda: chain(asks(answers("A first try.", "Something else.")), memory=True),
        units=(gone("A first try."), said("Something else.")),
        runs=ANSWERED,
    ),
    Scenario(
        kind="D3",
        name="interrupted-twice",
        what="A node asks two questions and runs three times.",
        graph=lambda: chain(asks(answers(HELLO), questions=2), memory=True),
        units=(said(HELLO),),
        runs=(*ANSWERED, Run(Command(resume="And again."))),
    ),
    Scenario(
        kind="D3",
        name="interrupted-not-resumed",
        what="A node streams and asks; nobody answers.",
        graph=lambda: chain(asks(answers(HELLO)), memory=True),
        units=(draft(HELLO, open=True),),
    ),
    Scenario(
        kind="D3",
        name="interrupted-in-child",
        what="A node streams and runs a graph that asks; on resume both run again.",
        graph=asks_in_child,
        units=(
            said("The parent begins."),
            said("The child prepares."),
            said("The child concludes."),
        ),
        ordered=False,  # what is taken back and said again comes after what is not
        runs=ANSWERED,
    ),
    Scenario(
        kind="D3",
        name="interrupted-in-subgraph",
        what="The node that asks is in a graph that is a node.",
        graph=lambda: chain(chain(says("Before it."), asks(answers(HELLO))), memory=True),
        units=(said("Before it."), said(HELLO)),
        runs=ANSWERED,
    ),
    Scenario(
        kind="D3",
        name="interrupted-entrypoint",
        what="The body of an entrypoint runs again; its task does not.",
        graph=functional,
        units=(
            said("Said in the task."),
            said("Said in the body."),
        ),
        asked=None,
        runs=ANSWERED,
    ),
    Scenario(
        kind="D3",
        name="crashed-after-text",
        what="A node streams a text and dies; it runs again when the thread goes on.",
        graph=lambda: chain(copies("A step before."), fails_once(answers(HELLO)), memory=True),
        units=(said("A step before."), said(HELLO)),
        runs=AGAIN,
    ),
    Scenario(
        kind="D3",
        name="crashed-in-text",
        what="The connection breaks in the middle of a text; later the node runs again.",
        graph=lambda: chain(says(HELLO, breaks={0: 3}), memory=True),
        units=(said(HELLO),),
        runs=(Run(ASKED, raises=BrokenConnectionError), Run(None)),
    ),
    Scenario(
        kind="D3",
        name="crashed-other-text",
        what="A node dies after a text and says another when it runs again.",
        graph=lambda: chain(fails_once(answers("A lost try.", "A new text.")), memory=True),
        units=(gone("A lost try."), said("A new text.")),
        runs=AGAIN,
    ),
)
