"""What readers that know nothing of this package have of a wrapped graph, beside a plain one."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
    message_chunk_to_message,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from tests.corpus.play import BEGUN, Event, Source, play
from tests.corpus.scenario import Scenario
from tests.corpus.states import listed
from tests.corpus.variants import Variant

__all__ = [
    "PLAYS",
    "READERS",
    "SOME",
    "VARIANTS",
    "Check",
    "Reader",
    "judged",
    "letters",
    "streamed",
    "told",
    "violations",
]


class Reader(ABC):
    """Takes the events of a stream as they come."""

    @abstractmethod
    def feed(self, event: Event) -> None:
        """Take one event."""

    @property
    @abstractmethod
    def screen(self) -> Iterable[str]:
        """The texts that a person sees now."""


class Appends(Reader):
    """Appends the text of what comes in `messages`, as most tutorials do.

    Args:
        takes: Which messages it takes.
        by_node: Whether each node has a place of its own on the screen.
    """

    def __init__(self, takes: Callable[[BaseMessage], Any], *, by_node: bool = False) -> None:
        self._takes = takes
        self._by_node = by_node
        self._texts: dict[str, str] = {}

    def feed(self, event: Event) -> None:
        if event.mode == "messages":
            message, metadata = event.data
            if message.content and self._takes(message):
                place = metadata["langgraph_node"] if self._by_node else ""
                self._texts[place] = self._texts.get(place, "") + str(message.text)

    @property
    def screen(self) -> Iterable[str]:
        return self._texts.values()


class Adds(Reader):
    """Adds with `+` what comes under one id, as servers do for `stream_mode="messages"`."""

    def __init__(self) -> None:
        self._sums: dict[str | None, Any] = {}

    def feed(self, event: Event) -> None:
        if event.mode != "messages":
            return
        message = event.data[0]
        known = self._sums.get(message.id)
        self._sums[message.id] = so_far = message if known is None else known + message
        assert isinstance(so_far, BaseMessage), f"{type(so_far).__name__} is no message"
        if isinstance(so_far, BaseMessageChunk):
            message_chunk_to_message(so_far)

    @property
    def screen(self) -> Iterable[str]:
        return [str(message.text) for message in self._sums.values()]


class Merges(Reader):
    """Keeps messages by id: chunks are joined, whole messages take the place of what was there.

    Args:
        replaces: Whether a state takes the place of everything.
    """

    def __init__(self, *, replaces: bool = False) -> None:
        self._replaces = replaces
        self._by_id: dict[str, Any] = {}

    def feed(self, event: Event) -> None:
        if event.mode == "messages":
            self._take(event.data[0])
        elif event.mode == "updates":
            for found in listed(event.data):
                self._take(found.message)
        elif event.mode == "values" and (event.ns == () or not self._replaces):
            if self._replaces:
                self._by_id = {}
            for message in event.data.get("messages") or ():
                self._take(message)

    def _take(self, message: BaseMessage) -> None:
        known = str(message.id)
        if isinstance(message, RemoveMessage):
            self._by_id.pop(known, None)
            self._by_id = {} if known == REMOVE_ALL_MESSAGES else self._by_id
        elif isinstance(message, AIMessageChunk) and known in self._by_id:
            self._by_id[known] += message
        elif message.id is not None:
            self._by_id[known] = message

    @property
    def screen(self) -> Iterable[str]:
        return [str(message.text) for message in self._by_id.values()]


class Prints(Reader):
    """Prints tokens, and of `updates` and `values` the messages whose ids it has not printed."""

    def __init__(self) -> None:
        self._printed: set[Any] = set()
        self._text = ""

    def feed(self, event: Event) -> None:
        if event.mode == "messages":
            message, _ = event.data
            self._printed.add(message.id)
            self._text += str(message.text)
            return
        for found in listed(event.data):
            if found.message.id is not None and found.message.id not in self._printed:
                self._printed.add(found.message.id)
                self._text += str(found.message.text)

    @property
    def screen(self) -> Iterable[str]:
        return [self._text]


READERS: Final[Mapping[str, Callable[[], Reader]]] = {
    "appends all": lambda: Appends(lambda message: True),
    "appends chunks": lambda: Appends(lambda message: isinstance(message, AIMessageChunk)),
    "appends answers": lambda: Appends(lambda message: isinstance(message, AIMessage)),
    "appends text alone": lambda: Appends(lambda m: not getattr(m, "tool_call_chunks", None)),
    "appends by node": lambda: Appends(lambda message: True, by_node=True),
    "adds": Adds,
    "merges by id": Merges,
    "replaces by values": lambda: Merges(replaces=True),
    "prints": Prints,
}
"""Readers by what they do."""


def letters(text: str) -> Counter[str]:
    """What a text is made of: all that one can say of texts that were mixed token by token."""
    return Counter("".join(text.split()))


def told(screen: Iterable[str], known: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """How often a screen shows each known text, and the words besides."""
    counts: Counter[str] = Counter()
    rest: Counter[str] = Counter()
    for text in screen:
        for each in sorted(known, key=len, reverse=True):
            counts[each] += text.count(each)
            text = text.replace(each, "\n")
        rest.update(re.findall(r"\S+", text))
    return counts, rest


MODES = (("messages",), ("messages", "values"), ("messages", "updates"), ("values",))

VARIANTS = [
    Variant(api, "v1", modes, subgraphs, state="full")
    for modes in MODES
    for api in ("sync", "async")
    for subgraphs in (False, True)
]
SOME = [VARIANTS[at] for at in (3, 4, 11, 0, 5, 8, 13)]
"""Of those with messages two of each set of modes; of the states alone one."""

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
    screen: list[str] = []
    try:
        for event in events:
            if event == BEGUN and reader == "adds":
                reads = READERS[reader]()  # a server adds up one run
            reads.feed(event)
            before, screen = screen, list(reads.screen)
            if screen != before:
                peak |= told(screen, known)[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return Shown(screen, *told(screen, known), peak)


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
