"""Each case and each reason that the tables name is one that a real graph leads to.

A row that no graph leads to is a condition that nothing tests: it gets a scenario, or goes.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable
from typing import Any, Final
from unittest import mock

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langgraph_once import dedup
from langgraph_once.stream.forms import Because, DedupStats, Operation
from langgraph_once.stream.lifecycle import Case, Lifecycle
from tests.corpus.graphs import chain
from tests.corpus.models import answers
from tests.corpus.play import Source, play
from tests.corpus.scenarios import BY_NAME
from tests.corpus.variants import VARIANTS
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED

THREAD: Any = {"configurable": {"thread_id": "1"}}
MESSAGES: Any = {"stream_mode": "messages"}


def written_side_by_side() -> None:
    """Tasks of one step write under one id, the second when the first is told."""
    is_told = threading.Event()

    def writes(name: str) -> Any:
        def write(_: Any) -> Any:
            assert name == "a" or is_told.wait(5)
            return {"messages": [AIMessage(f"From {name}.", id="one")]}

        return write

    builder: Any = StateGraph(MessagesState)
    builder.add_node("begin", lambda _: {"messages": [AIMessage("First.", id="one")]})
    builder.add_edge(START, "begin")
    for name in ("a", "b"):
        builder.add_node(name, writes(name)).add_edge("begin", name)
    for message, _ in exactly(builder.compile()).stream(ASKED, **MESSAGES):
        if message.text.startswith("From"):
            is_told.set()


def two_models_one_behind() -> None:
    """Two models of one task say the same, one a little behind the other; no annotation tells."""
    models = [answers("To be, or not to be.") for _ in range(2)]

    def both(_: Any) -> Any:
        one, other = (model.stream("?") for model in models)
        for each in (*itertools.islice(one, 3), *other, *one):
            assert each
        return {"messages": []}

    list(dedup(chain(both).stream(ASKED, **MESSAGES), **MESSAGES))


def goes_on_after_an_interrupt() -> None:
    """A node beside the one that asked is done: its update comes again."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("ask", lambda _: {"messages": [AIMessage(interrupt("?"))]})
    builder.add_node("beside", lambda _: {"messages": [AIMessage("Beside.")]})
    builder.add_edge(START, "beside").add_edge(START, "ask")
    graph = exactly(builder.compile(checkpointer=InMemorySaver()))
    runs: tuple[Any, ...] = (ASKED, Command(resume="Yes."))
    for asked in runs:
        list(graph.stream(asked, THREAD, stream_mode="updates"))


def says_the_same_twice() -> None:
    """The second node writes what is there, so the state after it is the one before it."""
    builder: Any = StateGraph(MessagesState)
    for name in ("a", "b"):
        builder.add_node(name, lambda _: {"messages": [AIMessage("Same.", id="one")]})
    graph = exactly(builder.add_edge(START, "a").add_edge("a", "b").compile())
    list(graph.stream(ASKED, stream_mode="values"))


def renames_twice() -> None:
    """A name in place of another: no chunk that is added to the message says so."""
    builder: Any = StateGraph(MessagesState)
    for name in ("a", "b"):
        said = AIMessage("Same.", id="one", name=name)
        builder.add_node(name, functools.partial(lambda said, _: {"messages": [said]}, said))
    graph = exactly(builder.add_edge(START, "a").add_edge("a", "b").compile())
    list(graph.stream(ASKED, **MESSAGES))


Scene = str | Callable[[], None]
"""A scenario of the corpus, or what plays a graph of its own."""

CASES: Final[dict[Case, tuple[Scene, Source]]] = {
    Case.FIRST: ("agent", "once"),
    Case.ANOTHER: ("asked-twice", "once"),
    Case.NEXT: ("agent", "once"),
    Case.AFTER_END: ("retried-under-fixed-id", "dedup"),
    Case.HELD: ("retried-text", "stock"),
    Case.GOES_ON: (two_models_one_behind, "dedup"),
    Case.NOT_KEPT: ("says-other", "once"),
    Case.KEPT_BY_NOW: ("copied-under-own-id", "once"),
    Case.NEW: ("alone", "once"),
    Case.SAME: ("agent", "once"),
    Case.LONGER: ("copied-lengthened", "once"),
    Case.EDITED: ("edited-twice", "once"),
    Case.COPY: ("copied-openai", "dedup"),
    Case.RESPACED_COPY: ("copied-stripped-under-own-id", "once"),
    Case.NO_ID_YET: ("as-dict", "once"),
    Case.OVERRIDES: (written_side_by_side, "once"),
    Case.RUNS_AGAIN: ("retried-text", "once"),
    Case.CUT_SHORT: ("resumed-beside", "once"),
    Case.REMOVED: ("removed-answer", "once"),
    Case.OF_OUTER_GRAPH: ("edited-from-child", "chain"),
    Case.ALL_REMOVED: ("summarized-and-kept", "dedup"),
}

REASONS: Final[dict[Because, tuple[Scene, Source]]] = {
    Because.NEW: ("agent", "once"),
    Because.NEXT: ("agent", "once"),
    Because.COPY_IN_TASK: ("copied-openai", "dedup"),
    Because.COPY_OF_INNER_TASK: ("wrapped-task", "dedup"),
    Because.EARLIER_STREAM: ("crashed-in-text", "once"),
    Because.EARLIER_ATTEMPT: ("retried-text", "stock"),
    Because.SAME_ID: ("agent", "once"),
    Because.ACCUMULATED: ("final-text", "once"),
    Because.OTHER_ID_OF_RUN: ("id-first", "dedup"),
    Because.SAME_UPDATE: (goes_on_after_an_interrupt, "once"),
    Because.SAME_STATE: (says_the_same_twice, "once"),
    Because.EDITED: ("edited-twice", "once"),
    Because.DETAILS: (renames_twice, "once"),
    Because.REMOVED: ("removed-answer", "once"),
    Because.REST: ("copied-lengthened", "once"),
    Because.WHITE_SPACE: ("copied-stripped", "once"),
    Because.CONCURRENT_WRITE: (written_side_by_side, "once"),
    Because.NO_ID_YET: ("as-dict", "once"),
    Because.NOT_KEPT: ("says-other", "once"),
}


Seen = tuple[set[Case], set[Because]]


@functools.cache
def seen(scene: Scene, source: Source) -> Seen:
    """The cases and the reasons that playing it leads to."""
    cases: set[Case] = set()
    reasons: set[Because] = set()
    case_of, count = Lifecycle.case_of, DedupStats.count

    def noted(self: Lifecycle, fact: Any) -> Any:
        case, match = case_of(self, fact)
        cases.add(case)
        return case, match

    def counted(self: DedupStats, operation: Operation) -> None:
        reasons.add(operation.because)
        count(self, operation)

    with (
        mock.patch.object(Lifecycle, "case_of", noted),
        mock.patch.object(DedupStats, "count", counted),
    ):
        if not isinstance(scene, str):
            scene()
            return cases, reasons
        for variant in (VARIANTS[0], VARIANTS[1], VARIANTS[9]):
            play(BY_NAME[scene], variant, source, lambda _: None)
        return cases, reasons


@pytest.mark.parametrize("case", Case, ids=str)
def test_a_real_graph_leads_to_each_case(case: Case) -> None:
    assert case in seen(*CASES[case])[0]


@pytest.mark.parametrize(
    "because", [each for each in Because if each is not Because.OTHER], ids=str
)
def test_a_real_graph_leads_to_each_reason(because: Because) -> None:
    assert because in seen(*REASONS[because])[1]
