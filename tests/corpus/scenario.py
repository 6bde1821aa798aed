"""A scenario: a graph, what is run on it, and what its consumer must have in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel

from tests.corpus.units import QUESTION, Unit
from tests.corpus.variants import Variant

Graph: TypeAlias = Pregel[Any, Any, Any, Any]

ASKED: dict[str, Any] = {"messages": [("user", QUESTION.piece.says)]}

CLASSES = {
    "D1": "a node returns a copy of what it streamed",
    "D2": "a parent wraps its child's text again",
    "D3": "a node runs again in a later stream",
    "D4": "a node runs again in the same stream",
    "D5": "a node that runs a subgraph is retried",
    "D6": "input or history is echoed",
    "D7": "the same id again in a later stream",
    "D8": "a model run repeats itself",
    "D9": "the ids of one model run differ",
    "D10": "several modes carry the same text",
    "D11": "updates are repeated on resume",
    "L1": "messages of a hand-off to the parent",
    "L2": "new content under an old id",
    "L3": "removals",
    "L4": "messages in states that the handler does not walk",
    "L5": "equal ids in parallel tasks",
    "trap": "looks like a repetition and is none",
    "plain": "nothing special: it must stay as it is",
}


def same_config(graph: Graph, config: RunnableConfig) -> RunnableConfig:
    """The thread as it stands."""
    return config


@dataclass(frozen=True)
class Run:
    """One stream of a scenario; its events reach the same consumer as those before."""

    input: Any = None
    """What the graph is run with; None continues after a crash."""

    at: Callable[[Graph, RunnableConfig], RunnableConfig] = same_config
    """The config to run with, made from the thread's: a fork picks an old checkpoint."""

    thread: str = "1"
    """The thread, where the graph has a checkpointer."""

    raises: type[BaseException] | None = None
    """The error that ends the stream."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scenario:
    """One row of the corpus."""

    kind: str
    """Its class: a key of `CLASSES`."""

    name: str
    what: str
    """What happens, in one line."""

    graph: Callable[[], Graph]
    """Makes the graph anew for each play, with its models and its checkpointer."""

    units: tuple[Unit, ...]
    """The oracle, without the question."""

    asked: Unit | None = QUESTION
    """The question as a unit, where the state keeps it."""

    runs: tuple[Run, ...] = (Run(ASKED),)
    only: Callable[[Variant], bool] | None = None
    """The variants in which it means something; by default all."""

    ordered: bool = True
    """Whether the units arrive in this order; what is said in parallel does not."""

    @property
    def oracle(self) -> tuple[Unit, ...]:
        """All units."""
        return self.units if self.asked is None else (self.asked, *self.units)


def row(
    kind: str, name: str, what: str, graph: Callable[[], Graph], *units: Unit, **how: Any
) -> Scenario:
    """A scenario in short: `how` are its other fields."""
    return Scenario(kind=kind, name=name, what=what, graph=graph, units=units, **how)
