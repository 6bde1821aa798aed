"""What readers that know nothing of this package have of a wrapped graph, beside a plain one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from tests.agents.readers import READERS, letters, told
from tests.corpus.play import BEGUN, Event, Source, play
from tests.corpus.scenario import Scenario
from tests.corpus.variants import Variant

__all__ = ["FEW", "OTHERS", "VARIANTS", "judged", "streamed"]

MODES = (("messages",), ("messages", "values"), ("messages", "updates"), ("values",))

VARIANTS = [
    Variant(api, "v1", modes, subgraphs, state="full")
    for modes in MODES
    for api in ("sync", "async")
    for subgraphs in (False, True)
]
FEW, OTHERS = ([VARIANTS[at] for at in some] for some in ((3, 4, 11), (0, 5, 8, 13)))
"""One of each set of modes, but for the states alone in the first, where they are the same."""

SOURCES: tuple[Source, ...] = ("stock", "plain")

PLAYS = 30
"""Of parallel tasks with one id LangGraph shows one of three by chance, and mixes their tokens.
Thirty plays of both find the same one, but for once in 100,000."""


@dataclass(frozen=True)
class Wanted:
    """What a text is to the scenario that says it."""

    known: list[str]
    stated: Counter[str]
    """How often the state has it."""

    gone: set[str]
    """What is taken back in the end, or was there before: the reader need not see it."""

    @classmethod
    def of(cls, scenario: Scenario) -> Wanted:
        units = [unit for unit in scenario.oracle if unit.piece.kind == "text"]
        stated = Counter({unit.piece.says: int(unit.stated or 0) for unit in units})
        gone = {unit.piece.says for unit in units if unit.fleeting or unit.is_heard}
        return cls([unit.piece.says for unit in units], stated, gone)

    def once(self) -> Wanted:
        """The same, of which the last run says each text once at the most."""
        return replace(self, stated=Counter(self.stated.keys()))


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


Check = Callable[[list[Event], list[Event]], list[str]]
"""What is wrong with a play of ours, beside one of plain LangGraph."""


def violations(scenario: Scenario, variant: Variant, also: Mapping[str, Check]) -> list[str]:
    """What every play has against our stream; one play tells all unless chance has a part."""
    checks: dict[str, Check] = {each: partial(faults, scenario, each) for each in READERS}
    checks |= also
    left = list(checks)
    found: list[tuple[str, str]] = []
    for _ in range(1 if scenario.ordered else PLAYS):
        ours, plain = (streamed(scenario, variant, source) for source in SOURCES)
        found = [(each, line) for each in left for line in checks[each](ours, plain)]
        left = list(dict(found))
        if not left:
            break
    return [f"{variant.name}, {each}: {line}" for each, line in found]


def faults(scenario: Scenario, reader: str, ours: list[Event], plain: list[Event]) -> list[str]:
    """What one reader has against one play of ours, beside one of plain LangGraph."""
    wanted = Wanted.of(scenario)
    by_id = reader.startswith(("adds", "merges", "replaces"))
    is_mixed = not scenario.ordered and (not by_id or scenario.kind == "L5")
    judge = worse_mixed if is_mixed else worse
    asked = wanted.once() if reader == "adds" else wanted  # it begins anew with each run
    return judge(shown(ours, reader, wanted.known), shown(plain, reader, wanted.known), asked)


def applies(scenario: Scenario, variant: Variant) -> bool:
    return scenario.only is None or scenario.only(variant)


def judged(
    scenario: Scenario, variants: list[Variant], also: Mapping[str, Check] | None = None
) -> list[str]:
    """What any reader, and any check in `also`, has against our streams, a line each."""
    plays = [variant for variant in variants if applies(scenario, variant)]
    return [line for variant in plays for line in violations(scenario, variant, also or {})]
