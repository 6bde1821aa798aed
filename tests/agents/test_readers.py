"""Real agents before readers that know nothing of this package: never worse than LangGraph alone.

Each agent is streamed plain and wrapped, also where the provider breaks off once in the midst of
each model's first answer and the node is tried again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langgraph_once.stream.annotation import annotation_of
from tests.agents import AGENTS, ROOMS, WIRES, agent, wire_of
from tests.agents.fold import folded
from tests.agents.judge import SOME, VARIANTS, judged, streamed
from tests.agents.provider import Models, Provider, WireName
from tests.corpus.play import Event
from tests.corpus.states import listed
from tests.corpus.variants import Variant

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:langgraph.warnings.LangGraphDeprecatedSinceV10"),
]

RETRYING = (*ROOMS["assistants"], *ROOMS["workflows"])
"""The agents whose nodes are tried again."""

CASES = [
    *(pytest.param(name, False, id=name) for name in AGENTS),
    *(pytest.param(name, True, id=f"{name}-retried") for name in RETRYING),
]


every_case = pytest.mark.parametrize(("name", "fails_once"), CASES)


def key(message: BaseMessage) -> tuple[str, str, Any]:
    calls = [(call["name"], str(call["args"])) for call in getattr(message, "tool_calls", ())]
    return message.type.removesuffix("MessageChunk").lower(), str(message.text), calls


def messages_in(state: Any) -> list[BaseMessage]:
    """The messages of a state that have an id, under any of its keys."""
    return [found.message for found in listed(state) if found.message.id]


def strange(events: list[Event]) -> list[BaseMessage]:
    """What was streamed under an id that is not the state's, although the state has it."""
    states = [m for event in events if event.mode == "values" for m in messages_in(event.data)]
    ids = {str(message.id) for message in states}
    kept = {str(key(message)) for message in states if message.text}
    has = folded(event.data[0] for event in events if event.mode == "messages")
    return [m for known, m in has.items() if known not in ids and str(key(m)) in kept]


DICTS = {"dict_answers", "email_triage"}
"""Their nodes return as a dict or a pair what their model streamed. The streamed message keeps the
id of its model run; only the reducer knows that of the other."""

BOTH = Variant("sync", "v1", ("messages", "values"), state="full")
INSIDE = replace(BOTH, subgraphs=True)
EXACT = (BOTH, INSIDE, replace(BOTH, api="async"))

NAMED = [each for each in CASES if each.values[0] not in DICTS]
EXACT_CASES = [
    pytest.param(
        *case.values,
        variant,
        id=f"{variant.name}-{case.id}",
        marks=[] if at % len(EXACT) == number else [pytest.mark.slow],
    )
    for at, case in enumerate(NAMED)
    for number, variant in enumerate(EXACT)
]
"""Each agent in one variant, in turn; in the others they are slow proofs."""


def renamed(ours: list[Event], plain: list[Event]) -> list[str]:
    """What ours streams under other ids than the state's, and plain LangGraph does not."""
    texts, known = (Counter(str(m.text) for m in strange(events)) for events in (ours, plain))
    return [f"{text!r} is not under the id of the state" for text in texts - known]


IDS = {"ids": renamed}


@every_case
def test_no_reader_of_an_agent_is_worse_off(
    name: str, fails_once: bool, provider: Provider
) -> None:
    """In two variants each: seven agents in turn meet all of them twice."""
    at = list(AGENTS).index(name) + len(AGENTS) * fails_once
    two = [SOME[(2 * at + more) % len(SOME)] for more in range(2)]
    scenario = agent(name, Models(provider, wire_of(name), fails_once=fails_once))
    assert judged(scenario, two, IDS) == []


@pytest.mark.slow
@every_case
def test_no_reader_of_an_agent_is_worse_off_in_some_variants(
    name: str, fails_once: bool, provider: Provider
) -> None:
    scenario = agent(name, Models(provider, wire_of(name), fails_once=fails_once))
    assert judged(scenario, SOME, IDS) == []


@pytest.mark.product
@pytest.mark.parametrize("wire", WIRES)
@every_case
def test_no_reader_of_an_agent_is_worse_off_in_any_variant(
    name: str, fails_once: bool, wire: WireName, provider: Provider
) -> None:
    scenario = agent(name, Models(provider, wire, fails_once=fails_once))
    assert judged(scenario, VARIANTS, IDS) == []


def exact_fold(events: list[Event]) -> tuple[set[Any], set[Any]]:
    """What a reader has that folds `messages`, but for drafts, and what the state has."""
    said = [event.data for event in events if event.mode == "messages"]
    drafts = {m.id for m, meta in said if "draft" in (annotation_of(meta) or ())}
    *_, state = (messages_in(event.data) for event in events if event.mode == "values")
    has = [m for known, m in folded(m for m, _ in said).items() if known not in drafts]
    folds = {(str(m.id), str(key(m))) for m in has if m.type != "human"}
    return folds, {(str(m.id), str(key(m))) for m in state if m.type != "human"}


@pytest.mark.parametrize(("name", "fails_once", "variant"), EXACT_CASES)
def test_the_exact_form_has_the_ids_of_the_state_and_folds_to_it(
    name: str, fails_once: bool, variant: Variant, provider: Provider
) -> None:
    scenario = agent(name, Models(provider, wire_of(name), fails_once=fails_once))
    events = streamed(scenario, variant, "once")
    assert strange(events) == []
    if not variant.subgraphs:
        folds, state = exact_fold(events)
        assert folds == state
