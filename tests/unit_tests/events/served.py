"""Graphs that a server serves to test typed events: the team, and a part of the corpus."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from graphs.models import ScriptedChatModel
from tests.corpus.scenario import Graph, Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.unit_tests.events.team import team

PER_CLASS = 2
WRAPPED = "langgraph_once.platform.graphs"


def without_saver(make: Callable[[], Graph]) -> Graph:
    """A graph of a scenario; the server has a saver of its own."""
    graph = make()
    graph.checkpointer = None
    return graph


def chosen() -> list[Scenario]:
    """Scenarios of each class that are one run, since the server makes the graph anew for each."""
    single = [s for s in SCENARIOS if len(s.runs) == 1 and not s.runs[0].raises and not s.only]
    single.sort(key=lambda s: s.kind)
    return [s for _, of_class in groupby(single, lambda s: s.kind) for s in [*of_class][:PER_CLASS]]


def name_of(scenario: Scenario) -> str:
    """The name of the plain graph of a scenario on the server."""
    return f"{scenario.kind}_{scenario.name}".replace("-", "_")


SERVED = chosen()

for served in SERVED:  # the server looks names up in the module's dictionary
    globals()[name_of(served)] = partial(without_saver, served.graph)


def served_as(name: str) -> dict[str, Any]:
    """The entries of a graph in a `langgraph.json`: as it is, and wrapped."""
    path = f"{__name__}:{name}"
    return {
        name: path,
        f"{name}_once": {"path": f"{WRAPPED}:{name}_once", "once": {"target": path}},
    }


team_graph = team


class Minutes(MessagesState):
    """What is said, and what is noted."""

    notes: Annotated[list[dict[str, str]], operator.add]


def note(state: Minutes) -> dict[str, Any]:
    """Say something, ask, and note the answer under the number it has."""
    said = ScriptedChatModel(script=lambda _: AIMessage("Let me ask.")).invoke("?")
    answer = interrupt("What is to be noted?")
    if answer == "nothing":
        raise ValueError(answer)
    number = len(state["notes"])
    get_stream_writer()({"noted": number})
    return {"messages": [said], "notes": [{"id": f"note-{number}", "text": answer}]}


minutes = StateGraph(Minutes).add_node(note).add_edge(START, "note")

MANIFEST: dict[str, Any] = {
    "dependencies": ["."],
    "graphs": {
        key: entry
        for name in ("team_graph", "minutes", *map(name_of, SERVED))
        for key, entry in served_as(name).items()
    },
    "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
}
