"""D8 and D9: one run of a model says something twice, or under several ids."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from tests.corpus.graphs import Steps, chain, copies, node, says
from tests.corpus.models import answers
from tests.corpus.scenario import Graph, Scenario
from tests.corpus.units import Unit, call, said, usage
from tests.corpus.variants import Variant
from tests.corpus.wires import (
    Wire,
    accumulated,
    accumulated_each,
    accumulated_unnamed,
    numbered,
)

HELLO = "Hello from one run."
SEARCH: Any = {"name": "search", "args": {"query": "museums in Bern"}, "id": "call_1"}
CALLED = call("search", {"query": "museums in Bern"})


def cleaned(reply: AIMessage, wire: Wire) -> Graph:
    """A node that knows its provider: it returns what was said, once, under the id it had."""
    model = answers(reply, wire=wire)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [reply.model_copy(update={"id": answer.id})]}

    return chain(node(steps))


def is_chunked(variant: Variant) -> bool:
    """Not v3, whose events tell no last chunk from the others.

    There LangChain's own bridge adds the repetition to the message that the model returns, so
    that an ordinary node has it in the state too.
    """
    return not variant.is_v3


def repeated(
    name: str, what: str, reply: AIMessage, wire: Wire, *units: Unit, **how: Any
) -> Scenario:
    return Scenario(
        kind="D8",
        name=name,
        what=what,
        graph=lambda: cleaned(reply, wire),
        units=units,
        **how,
    )


def under_ids(where: str, last: bool) -> Scenario:
    end = "" if last else "-no-last"
    return Scenario(
        kind="D9",
        name=f"id-{where}{end}",
        what=f"The provider's id is on {where} of the chunks"
        + ("." if last else ", and none says it is the last: LangChain adds an empty one."),
        graph=lambda: chain(says(HELLO, wire=numbered(where, last=last))),
        units=(said(HELLO), usage()) if last else (said(HELLO),),
    )


def calls_under_ids(where: str) -> Scenario:
    return Scenario(
        kind="D9",
        name=f"id-{where}-call",
        what=f"A text and a call, with the provider's id on {where} of the chunks.",
        graph=lambda: chain(says(AIMessage(HELLO, tool_calls=[SEARCH]), wire=numbered(where))),
        units=(said(HELLO), CALLED),
    )


TWO = ("The first text.", "The second one.")

SCENARIOS = (
    repeated(
        "final-text",
        "The last chunk says the whole text again.",
        AIMessage(HELLO),
        accumulated,
        said(HELLO),
        only=is_chunked,
    ),
    repeated(
        "final-call",
        "The last chunk holds the whole tool call again.",
        AIMessage("", tool_calls=[SEARCH]),
        accumulated,
        CALLED,
        only=is_chunked,
    ),
    repeated(
        "final-text-and-call",
        "The last chunk says the text and the call again.",
        AIMessage(HELLO, tool_calls=[SEARCH]),
        accumulated,
        said(HELLO),
        CALLED,
        only=is_chunked,
    ),
    repeated(
        "final-unnamed",
        "The last chunk says the text again, without the provider's id.",
        AIMessage(HELLO),
        accumulated_unnamed,
        said(HELLO),
        only=is_chunked,
    ),
    repeated(
        "each-accumulated",
        "Every chunk says the text so far.",
        AIMessage(HELLO),
        accumulated_each,
        said(HELLO),
    ),
    *(
        under_ids(where, last)
        for where in ("first", "some", "last", "none")
        for last in (True, False)
    ),
    under_ids("all", False),
    under_ids("empty", True),
    *(calls_under_ids(where) for where in ("first", "some", "last", "empty")),
    Scenario(
        kind="D9",
        name="id-last-copied",
        what="The provider's id comes last, and the node returns a copy.",
        graph=lambda: chain(copies(HELLO, wire=numbered("last"))),
        units=(said(HELLO),),
    ),
    Scenario(
        kind="D9",
        name="id-last-twice-in-graph",
        what="A graph that is a node says two texts in turn; the provider's id comes last.",
        graph=lambda: chain(chain(*(says(text, wire=numbered("last")) for text in TWO))),
        units=tuple(map(said, TWO)),
    ),
    Scenario(
        kind="D9",
        name="id-first-two-models",
        what="Two runs in one node, each with its id on the first chunk only.",
        graph=lambda: chain(_two_models()),
        units=(said("One model speaks."), said("Another one answers.")),
    ),
)


def _two_models() -> Any:
    wire = numbered("first")
    one, other = answers("One model speaks.", wire=wire), answers("Another one answers.", wire=wire)

    def steps(state: Any) -> Steps:
        return {"messages": [(yield one, "?"), (yield other, "?")]}

    return node(steps)
