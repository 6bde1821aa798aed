"""Real agents before readers that know nothing of this package: never worse than LangGraph alone.

Each agent is streamed plain and wrapped, also where the provider breaks off once in the midst of
each model's first answer and the node is tried again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langgraph_once.stream.part.annotation import annotation_of
from tests.agents import AGENTS, ROOMS, agent
from tests.agents.fold import folded
from tests.agents.provider import Models, Provider, WireName
from tests.agents.readers import READERS, letters, told
from tests.corpus.play import BEGUN, Event, Source, play
from tests.corpus.scenario import Scenario
from tests.corpus.state import listed
from tests.corpus.variants import Variant

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:langgraph.warnings.LangGraphDeprecatedSinceV10"),
]

WIRES: tuple[WireName, ...] = ("chat", "anthropic", "responses")

RETRYING = (*ROOMS["assistants"], *ROOMS["workflows"])
"""The agents whose nodes are tried again."""

CASES = [
    *(pytest.param(name, False, id=name) for name in AGENTS),
    *(pytest.param(name, True, id=f"{name}-retried") for name in RETRYING),
]

MODES = (("messages",), ("messages", "values"), ("messages", "updates"), ("values",))

VARIANTS = [
    Variant(api, "v1", modes, subgraphs, state="full")
    for modes in MODES
    for api in ("sync", "async")
    for subgraphs in (False, True)
]
ONE_EACH = [VARIANTS[at] for at in (0, 3, 5, 6, 8, 11, 13)]

PLAYS = 4
"""In parallel graphs chance decides what LangGraph alone drops."""


@dataclass(frozen=True)
class Wanted:
    """What a text is to the scenario that says it."""

    known: list[str]
    stated: Counter[str]
    """How often the state has it."""

    gone: set[str]
    """What is taken back in the end."""

    @classmethod
    def of(cls, scenario: Scenario) -> Wanted:
        units = [unit for unit in scenario.oracle if unit.piece.kind == "text"]
        stated = Counter({unit.piece.says: int(unit.stated or 0) for unit in units})
        gone = {unit.piece.says for unit in units if unit.fleeting}
        return cls([unit.piece.says for unit in units], stated, gone)


@dataclass(frozen=True)
class Shown:
    """What one reader showed: in the end, and the most of each text at one moment."""

    screen: list[str]
    known: Counter[str]
    rest: Counter[str]
    peak: Counter[str]


def streamed(scenario: Scenario, variant: Variant, source: Source) -> list[Event]:
    events: list[Event] = []
    play(scenario, variant, source, events.append)
    return events


def shown(events: list[Event], reader: str, known: list[str]) -> Shown | str:
    """What a reader shows, or why it fails."""
    reads = READERS[reader]()
    peak: Counter[str] = Counter()
    try:
        for event in events:
            if event == BEGUN and reader == "adds":
                reads = READERS[reader]()  # a server adds up one run
            reads.feed(event)
            peak |= told(reads.screen, known)[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return Shown(list(reads.screen), *told(reads.screen, known), peak)


def worse(ours: Shown | str, plain: Shown | str, wanted: Wanted) -> list[str]:
    """What a reader of ours misses, or has too much."""
    if isinstance(ours, str) or isinstance(plain, str):
        return [f"fails: {ours}"] if isinstance(ours, str) and not isinstance(plain, str) else []
    needed = {
        each: min(count, max(1, wanted.stated[each]))
        for each, count in plain.known.items()
        if each not in wanted.gone
    }
    allowed = plain.known | wanted.stated
    return [
        *(f"misses {each!r}" for each in Counter(needed) - ours.known),
        *(f"repeats {each!r}" for each in ours.known - allowed),
        *(f"shows {each!r} besides" for each in ours.rest - plain.rest),
        *(f"repeats {each!r} for a while" for each in ours.peak - (plain.peak | allowed)),
    ]


def worse_mixed(ours: Shown | str, plain: Shown | str, wanted: Wanted) -> list[str]:
    """`worse`, where tasks in parallel mix their tokens on the screen."""
    if isinstance(ours, str) or isinstance(plain, str):
        return worse(ours, plain, wanted)
    has, had = (letters("".join(each.screen)) for each in (ours, plain))
    stated = Counter("".join(each * count for each, count in wanted.stated.items()))
    shown_whole = (+plain.known).keys() - wanted.gone
    needed = letters("".join(shown_whole))
    pairs = ("misses", needed - has), ("repeats", has - (had | stated))
    return [f"{what} {''.join(sorted(found))!r}" for what, found in pairs if found]


def violations(scenario: Scenario, variant: Variant) -> list[str]:
    wanted = Wanted.of(scenario)
    ours = streamed(scenario, variant, "stock")
    left = [(reader, shown(ours, reader, wanted.known)) for reader in READERS]
    found: list[tuple[str, str]] = []
    for _ in range(PLAYS):
        plain = streamed(scenario, variant, "plain")
        found = []
        for reader, screen in left:
            is_mixed = not scenario.ordered and reader.startswith(("appends", "prints"))
            judge = worse_mixed if is_mixed else worse
            lines = judge(screen, shown(plain, reader, wanted.known), wanted)
            found += [(reader, line) for line in lines]
        if not found:
            break
        with_faults = {reader for reader, _ in found}
        left = [(reader, screen) for reader, screen in left if reader in with_faults]
    return [f"{variant.name}, {reader}: {line}" for reader, line in found]


def wire_of(name: str) -> WireName:
    return "anthropic" if name == "web_search" else WIRES[list(AGENTS).index(name) % 3]


def applies(scenario: Scenario, variant: Variant) -> bool:
    return scenario.only is None or scenario.only(variant)


def judged(scenario: Scenario, variants: list[Variant]) -> list[str]:
    plays = [variant for variant in variants if applies(scenario, variant)]
    return [line for variant in plays for line in violations(scenario, variant)]


every_case = pytest.mark.parametrize(("name", "fails_once"), CASES)


@every_case
def test_no_reader_is_worse_off(name: str, fails_once: bool, provider: Provider) -> None:
    scenario = agent(name, Models(provider, wire_of(name), fails_once=fails_once))
    assert judged(scenario, ONE_EACH) == []


@pytest.mark.product
@pytest.mark.parametrize("wire", WIRES)
@every_case
def test_no_reader_is_worse_off_in_any_variant(
    name: str, fails_once: bool, wire: WireName, provider: Provider
) -> None:
    scenario = agent(name, Models(provider, wire, fails_once=fails_once))
    assert judged(scenario, VARIANTS) == []


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

named_cases = pytest.mark.parametrize(
    ("name", "fails_once"), [each for each in CASES if each.values[0] not in DICTS]
)


def both_modes(subgraphs: bool) -> Variant:
    return Variant("sync", "v1", ("messages", "values"), subgraphs, state="full")


@named_cases
def test_exact_form_streams_under_no_id_but_the_state_s(
    name: str, fails_once: bool, provider: Provider
) -> None:
    scenario = agent(name, Models(provider, wire_of(name), fails_once=fails_once))
    for subgraphs in (False, True):
        assert strange(streamed(scenario, both_modes(subgraphs), "once")) == []


@every_case
def test_stock_form_streams_no_more_under_other_ids_than_plain(
    name: str, fails_once: bool, provider: Provider
) -> None:
    scenario = agent(name, Models(provider, wire_of(name), fails_once=fails_once))
    for subgraphs in (False, True):
        ours, plain = (
            Counter(str(m.text) for m in strange(streamed(scenario, both_modes(subgraphs), source)))
            for source in ("stock", "plain")
        )
        assert list(ours - plain) == []


def exact_fold(events: list[Event]) -> tuple[set[Any], set[Any]]:
    """What a reader has that folds `messages`, but for drafts, and what the state has."""
    said = [event.data for event in events if event.mode == "messages"]
    drafts = {m.id for m, meta in said if "draft" in (annotation_of(meta) or ())}
    *_, state = (messages_in(event.data) for event in events if event.mode == "values")
    has = [m for known, m in folded(m for m, _ in said).items() if known not in drafts]
    folds = {(str(m.id), str(key(m))) for m in has if m.type != "human"}
    return folds, {(str(m.id), str(key(m))) for m in state if m.type != "human"}


@pytest.mark.parametrize("api", ["sync", "async"])
@named_cases
def test_the_fold_of_the_exact_form_is_the_final_state(
    name: str, fails_once: bool, api: Any, provider: Provider
) -> None:
    scenario = agent(name, Models(provider, wire_of(name), fails_once=fails_once))
    both = Variant(api, "v1", ("messages", "values"), state="full")
    folds, state = exact_fold(streamed(scenario, both, "once"))
    assert folds == state
