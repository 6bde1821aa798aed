"""What a consumer has, against the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from tests.corpus.consumer import Consumer
from tests.corpus.play import Event, Source, play, play_two
from tests.corpus.scenario import Scenario
from tests.corpus.units import Unit
from tests.corpus.variants import Variant

ANY = 99
"""A bound that bounds nothing."""


class Outcome(IntEnum):
    """How a unit arrived; the worse, the greater."""

    RIGHT = 0
    REPEATED = 1
    LOST = 2
    """Also a removal or replacement that did not arrive, so that the consumer keeps what is
    gone, and what arrived out of order."""


@dataclass(frozen=True)
class Verdict:
    """One unit in one play."""

    unit: Unit
    outcome: Outcome
    why: str = ""

    def __str__(self) -> str:
        return f"{self.unit.piece.kind} {self.unit.piece.says!r}: {self.why}"


def score(
    scenario: Scenario, variant: Variant, source: Source, log: Callable[[Event], Any] | None = None
) -> list[Verdict]:
    """Play it and judge every unit of the oracle.

    Args:
        scenario: What to play.
        variant: How to stream it.
        source: Where the chunks come from.
        log: Called with each event as it arrives, for a reader.

    Raises:
        AssertionError: A stream ended in another way than it should.
    """
    audience = Audience(scenario, variant, source)

    def watch(event: Event) -> None:
        if log is not None:
            log(event)
        audience.feed(event)

    play(scenario, variant, source, watch)
    return audience.verdicts()


def verdicts(
    scenario: Scenario, variant: Variant, source: Source, events: Iterable[Event]
) -> list[Verdict]:
    """Judge every unit of the oracle after a play whose events are known."""
    audience = Audience(scenario, variant, source)
    for event in events:
        audience.feed(event)
    return audience.verdicts()


def score_two(scenario: Scenario, variant: Variant, source: Source) -> list[Verdict]:
    """Play it in two streams of one graph at once and judge both, each with its own readers."""
    one, two = (Audience(scenario, variant, source) for _ in range(2))
    play_two(scenario, variant, source, (one.feed, two.feed))
    return one.verdicts() + two.verdicts()


class Audience:
    """All who read one play: one view of everything, or one for each mode."""

    def __init__(self, scenario: Scenario, variant: Variant, source: Source) -> None:
        self._oracle = scenario.oracle
        whole = source in ("plain", "stock") or variant.state == "full"
        seen = [variant]
        if variant.state == "full" and not variant.is_v3:
            modes = [mode for mode in variant.modes if mode in ("messages", "updates", "values")]
            seen = [replace(variant, modes=(mode,)) for mode in modes]
        self._ordered = scenario.ordered
        self._views = [_View(self._oracle, each, source, whole_states=whole) for each in seen]

    def feed(self, event: Event) -> None:
        for view in self._views:
            view.feed(event)

    def verdicts(self) -> list[Verdict]:
        """For each unit the worst of what its readers have."""
        lists = [view.verdicts(self._oracle, ordered=self._ordered) for view in self._views]
        by_unit = zip(*lists, strict=True)
        return [max(verdicts, key=lambda verdict: verdict.outcome) for verdicts in by_unit]


class _View:
    """A consumer of some of a variant's modes."""

    def __init__(
        self, oracle: Iterable[Unit], variant: Variant, source: Source, *, whole_states: bool
    ) -> None:
        self._variant = variant
        self._knows_drafts = source == "once" and "messages" in variant.modes and not variant.is_v3
        self._consumer = Consumer(
            oracle, whole_states=whole_states, own_modes=variant.state == "full"
        )

    def feed(self, event: Event) -> None:
        if event.mode == "chat":
            self._consumer.chat(event.data)
        elif event.mode in self._variant.modes and not self._is_of_another(event):
            self._consumer.feed(*event)

    def verdicts(self, oracle: Iterable[Unit], *, ordered: bool) -> list[Verdict]:
        found = [self._verdict(unit) for unit in oracle]
        if ordered:
            found = list(self._order(found))
        for message_id, rest in self._consumer.strays:
            at = _owner(rest, found)
            if found[at].outcome is Outcome.RIGHT:
                what = f"also {rest!r}" if rest else "also an empty message"
                why = f"{what} under id {message_id}"
                found[at] = Verdict(found[at].unit, Outcome.REPEATED, why)
        return found

    def _order(self, verdicts: list[Verdict]) -> Iterator[Verdict]:
        """The verdicts, with those corrected whose unit came before one that it should follow."""
        came = self._consumer.order
        latest = -1
        for verdict in verdicts:
            piece, right = verdict.unit.piece, verdict.outcome is Outcome.RIGHT
            if not (right and verdict.unit.has_place and piece in came):
                yield verdict
                continue
            at = came.index(piece)
            yield verdict if at > latest else Verdict(verdict.unit, Outcome.LOST, "out of order")
            latest = max(at, latest)

    def _is_of_another(self, event: Event) -> bool:
        """Under "full" each graph's state is for whoever reads that graph; here the root's."""
        return self._variant.state == "full" and event.mode != "messages" and event.ns != ()

    def _verdict(self, unit: Unit) -> Verdict:
        least, most = _wanted(unit, self._variant)
        consumer, piece = self._consumer, unit.piece
        has = consumer.arrived[piece] if unit.again else consumer.live[piece]
        peak, allowed = consumer.peak[piece], max(most, int(unit.fleeting))
        if has < least:
            return Verdict(unit, Outcome.LOST, f"wanted {least}, has {has}")
        if has > most and unit.fleeting:
            return Verdict(unit, Outcome.LOST, f"is gone, but the consumer keeps {has}")
        if has > most:
            return Verdict(unit, Outcome.REPEATED, f"wanted {most}, has {has}")
        if peak > allowed and not unit.again:
            return Verdict(unit, Outcome.REPEATED, f"wanted {most}, had {peak} at a time")
        judges = self._knows_drafts and piece.kind == "text" and consumer.live[piece]
        if judges and unit.is_draft != (piece in consumer.drafts):
            wrong = "a draft, not marked" if unit.is_draft else "marked as a draft"
            return Verdict(unit, Outcome.LOST, wrong)
        return Verdict(unit, Outcome.RIGHT)


def _wanted(unit: Unit, variant: Variant) -> tuple[int, int]:
    """How often, at least and at most, the modes of `variant` must deliver the unit."""
    root_only = not variant.subgraphs or (
        variant.state == "full" and variant.modes != ("messages",)
    )
    if unit.inner and root_only:
        return 0, 0
    if unit.inside and not root_only:
        root, inside = replace(unit, inside=0), replace(unit, chat=True, inside=0)
        (least, most), (one, _) = _wanted(root, variant), _wanted(inside, variant)
        return least + one * unit.inside, most + one * unit.inside
    if variant.is_v3:
        return (unit.streamed, unit.streamed) if unit.chat else (0, 0)
    carried = {
        "messages": (unit.streamed, unit.streamed),
        "updates": (unit.updated, unit.updated),
        "values": (0, ANY) if unit.stated is None else (unit.stated, unit.stated),
    }
    if unit.is_heard:  # a node's whole update may well hold its input
        carried["updates"] = (0, unit.stated or ANY)
    counts = [carried[mode] for mode in variant.modes if mode in carried]
    return max(least for least, _ in counts), max(most for _, most in counts)


def _owner(rest: str, verdicts: list[Verdict]) -> int:
    """The unit that a stray text is most likely a part of."""
    for at, verdict in enumerate(verdicts):
        if rest and (rest.strip() in verdict.unit.piece.says or verdict.unit.piece.says in rest):
            return at
    streamed = [at for at, v in enumerate(verdicts) if v.unit.streamed]
    return streamed[0] if streamed else len(verdicts) - 1
