"""D1: a node streams an answer and returns it as a new message."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage

from tests.corpus.graphs import Steps, chain, copies, node, says, text_of, without_id
from tests.corpus.models import answers
from tests.corpus.scenario import Scenario
from tests.corpus.units import call, said, thought, usage
from tests.corpus.wires import Wire, anthropic, deepseek, gemini, numbered, openai

HELLO = "Hello from the model."
SEARCH: Any = {"name": "search", "args": {"query": "weather in Paris"}, "id": "call_1"}
CALLED = call("search", {"query": "weather in Paris"})

WIRES: dict[str, Wire] = {
    "openai": openai,
    "anthropic": anthropic,
    "gemini": gemini,
    "deepseek": deepseek,
    "id-first": numbered("first"),
    "id-none": numbered("none", last=False),
}


def under_own_id() -> Any:
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [answer.model_copy(update={"id": "chosen-by-the-app"})]}

    return chain(node(steps))


PADDED = f"\n {HELLO}\n"
JSON = '{"answer": ["one",  "two"]}'


def made_anew(reply: str, make: Callable[[str], Any]) -> Any:
    """A node that makes a new message of the text that it streamed."""
    model = answers(reply)

    def steps(state: Any) -> Steps:
        return {"messages": [make(text_of((yield model, "?")))]}

    return node(steps)


def stripped(make: Callable[[str], Any]) -> Any:
    return chain(made_anew(PADDED, make))


def both_said() -> Any:
    """A node that returns what it streamed, and the same again, stripped, on purpose."""
    model = answers(PADDED)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [answer, AIMessage(HELLO)]}

    return node(steps)


def stripped_by_parent() -> Any:
    child = chain(says(PADDED))

    def steps(state: Any) -> Steps:
        done = yield child, state
        return {"messages": [AIMessage(text_of(done["messages"][-1]).strip())]}

    return chain(node(steps))


def of_two_models() -> Any:
    plan, prose = answers("First a plan."), answers("Then some prose.")

    def steps(state: Any) -> Steps:
        planned = yield plan, "?"
        written = yield prose, "?"
        return {"messages": [without_id(planned), without_id(written)]}

    return chain(node(steps))


def in_other_order() -> Any:
    plan, prose = answers("First a plan."), answers("Then some prose.")

    def steps(state: Any) -> Steps:
        planned = yield plan, "?"
        written = yield prose, "?"
        return {"messages": [without_id(written), without_id(planned)]}

    return chain(node(steps))


def copied(wire_name: str, wire: Wire) -> Scenario:
    return Scenario(
        kind="D1",
        name=f"copied-{wire_name}",
        what=f"A node streams a text as {wire_name} does and returns a copy without the id.",
        graph=lambda: chain(copies(HELLO, wire=wire)),
        units=(said(HELLO),),
    )


def copied_call(wire_name: str, wire: Wire) -> Scenario:
    return Scenario(
        kind="D1",
        name=f"copied-call-{wire_name}",
        what=f"A node streams a tool call as {wire_name} does and returns a copy.",
        graph=lambda: chain(copies(AIMessage("", tool_calls=[SEARCH]), wire=wire)),
        units=(CALLED,),
    )


STRIPPED: dict[str, Callable[[str], Any]] = {
    "stripped": lambda text: AIMessage(text.strip()),
    "stripped-under-own-id": lambda text: AIMessage(text.strip(), id="chosen-by-the-app"),
    "stripped-as-pair": lambda text: ("ai", text.strip()),
    "lengthened": lambda text: AIMessage(f"{text} \n"),
}

SCENARIOS = (
    *(
        Scenario(
            kind="D1",
            name=f"copied-{name}",
            what="The copy of a streamed text has other white space at its ends.",
            graph=partial(stripped, make),
            units=(said(HELLO),),
        )
        for name, make in STRIPPED.items()
    ),
    Scenario(
        kind="D1",
        name="copied-rewrapped",
        what="A node parses the JSON that it streamed, and returns it written anew.",
        graph=lambda: chain(made_anew(JSON, lambda text: AIMessage(json.dumps(json.loads(text))))),
        units=(said(json.dumps(json.loads(JSON))),),
        only=lambda variant: not variant.is_v3,  # which cannot take back what was streamed
    ),
    Scenario(
        kind="D1",
        name="copied-stripped-by-parent",
        what="A node runs a graph and returns its answer, stripped.",
        graph=stripped_by_parent,
        units=(said(HELLO),),
    ),
    Scenario(
        kind="trap",
        name="said-padded-and-stripped",
        what="A node returns what it streamed, and the same again without the white space.",
        graph=lambda: chain(both_said()),
        units=(said(HELLO, 2),),
    ),
    Scenario(
        kind="D1",
        name="copied-usage",
        what="The copy of a streamed text leaves out the usage, which the stream had.",
        graph=lambda: chain(copies(HELLO)),
        units=(said(HELLO), usage(updated=0, stated=0)),
    ),
    *(copied(name, wire) for name, wire in WIRES.items()),
    *(copied_call(name, WIRES[name]) for name in ("openai", "anthropic", "gemini")),
    Scenario(
        kind="D1",
        name="copied-text-and-call",
        what="The copied answer has a text and a call.",
        graph=lambda: chain(copies(AIMessage(HELLO, tool_calls=[SEARCH]))),
        units=(said(HELLO), CALLED),
    ),
    Scenario(
        kind="D1",
        name="copied-whole",
        what="The model cannot stream; its whole answer is sent at its end, and then the copy.",
        graph=lambda: chain(copies(HELLO, disable_streaming=True)),
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D1",
        name="copied-as-pair",
        what="The copy is a pair (role, text), which the reducer makes a message.",
        graph=lambda: chain(made_anew(HELLO, lambda text: ("ai", text))),
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D1",
        name="copied-under-own-id",
        what="The app gives the streamed message an id of its own.",
        graph=under_own_id,
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D1",
        name="copied-without-thought",
        what="The copy leaves out the reasoning that was streamed.",
        graph=lambda: chain(
            copies(
                AIMessage(HELLO, additional_kwargs={"reasoning_content": "Let me think."}),
                wire=deepseek,
            )
        ),
        units=(said(HELLO), thought("Let me think.", updated=0, stated=0)),
    ),
    Scenario(
        kind="D1",
        name="copied-of-two-models",
        what="A node asks two models and returns copies of both answers.",
        graph=of_two_models,
        units=(said("First a plan."), said("Then some prose.")),
    ),
    Scenario(
        kind="D1",
        name="copied-in-other-order",
        what="A node asks two models and returns copies of both answers, the second first.",
        graph=in_other_order,
        units=(said("Then some prose."), said("First a plan.")),
        ordered=False,
    ),
    Scenario(
        kind="D1",
        name="copied-in-each-step",
        what="Three nodes stream and copy, each its own text.",
        graph=lambda: chain(copies("One for all."), copies("Two of a kind."), copies("Three.")),
        units=(said("One for all."), said("Two of a kind."), said("Three.")),
    ),
)
