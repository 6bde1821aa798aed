"""Real agents on real wires: what a consumer folds is the state, and each text comes once."""

from __future__ import annotations

import importlib

import pytest
from langchain_core.messages import BaseMessage

from tests.agents import AGENTS, ROOMS, WIRES, agent, wire_of
from tests.agents.fold import folded, is_same
from tests.agents.provider import Models, Provider, WireName
from tests.corpus.play import Event
from tests.corpus.score import Outcome, score
from tests.corpus.variants import VARIANTS, Variant

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
    ),
    pytest.mark.filterwarnings("ignore:.*:langgraph.warnings.LangGraphDeprecatedSinceV10"),
]

PLAIN = Variant("sync", "v1", ("values",), state="full")


every_agent = pytest.mark.parametrize("name", AGENTS)
every_wire = pytest.mark.parametrize("wire", WIRES)


DICTS = ("dict_answers", "email_triage")
NAMED_ANEW = pytest.mark.xfail(
    strict=True,
    reason="A node returns what its model streamed as a dict or a pair: the stream has it under "
    "the id of the model's run, the state under a new one.",
)


but_for_dicts = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[NAMED_ANEW] if name in DICTS else []) for name in AGENTS],
)


def some(name: str) -> list[Variant]:
    """A third of the variants, so that three agents meet all of them, and v3 and a whole state."""
    at = list(AGENTS).index(name)
    v3 = [variant for variant in VARIANTS if variant.is_v3]
    whole = [variant for variant in VARIANTS if variant.state == "full"]
    others = [variant for variant in VARIANTS if variant not in (*v3, *whole)]
    return [*others[at % 3 :: 3], v3[at % 2], whole[at % 2]]


def wrong(provider: Provider, name: str, wire: WireName, variants: list[Variant]) -> list[str]:
    """What is not right, each in a line."""
    told = []
    for variant in variants:
        scenario = agent(name, Models(provider, wire))
        if scenario.only is not None and not scenario.only(variant):
            continue
        events: list[Event] = []
        verdicts = score(scenario, variant, "once", log=events.append)
        told += [f"{variant.name}: {v}" for v in verdicts if v.outcome is not Outcome.RIGHT]
        if variant.state == "full":
            told += [f"{variant.name}: {message!r} is not streamed" for message in lacking(events)]
    return told


def lacking(events: list[Event]) -> list[BaseMessage]:
    """The messages of the state that the stream has not, under their ids and as they are."""
    has = folded(event.data[0] for event in events if event.mode == "messages")
    *_, state = (e.data["messages"] for e in events if e.mode == "values" and e.ns == ())
    return [m for m in state if m.type != "human" and not is_same(has.get(str(m.id)), m)]


@pytest.mark.parametrize("room", ROOMS)
def test_each_agent_is_listed(room: str) -> None:
    assert ROOMS[room] == tuple(importlib.import_module(f"tests.agents.{room}").__all__)


@but_for_dicts
def test_the_fold_is_the_state_and_each_text_comes_once(name: str, provider: Provider) -> None:
    assert wrong(provider, name, wire_of(name), some(name)) == []


@pytest.mark.product
@every_wire
@but_for_dicts
def test_the_full_product(name: str, wire: WireName, provider: Provider) -> None:
    assert wrong(provider, name, wire, list(VARIANTS)) == []


@every_agent
def test_the_oracle_is_what_the_final_state_holds(name: str, provider: Provider) -> None:
    """LangGraph itself is the judge."""
    scenario = agent(name, Models(provider, wire_of(name)))
    told = [str(v) for v in score(scenario, PLAIN, "plain") if v.outcome is not Outcome.RIGHT]
    assert told == []
