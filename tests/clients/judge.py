"""What a person saw, judged against the states of the thread.

Faults count things (a text, an id, a pair of texts), not moments: how often a client looks is
chance, and what was ever to be seen twice is not. So a wrapped graph and a plain one can be
compared, fault by fault. Where chance decides on the things as well (which texts are mixed, which
neighbours change places for a moment), a fault is counted once in a turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import TypeAlias

from tests.clients.history import CALL, History, Unit, count, units
from tests.clients.recording import Recording, Snapshot

FAULTS = {
    "run failed": "the run fails, and by design it does not",
    "id twice": "an id is on the screen twice",
    "text twice": "a text, or its beginning, is on the screen more often than in any state",
    "garbled": "a text that nobody said",
    "stale": "what no state keeps is still there when the next one speaks",
    "order": "two texts stand the other way round than in the state",
    "vanished": "a text of the state was there, and then is gone or shorter",
    "flicker": "a text is gone and comes back",
    "missing": "a text of the state is not there at the end",
    "extra": "a text is there at the end that is not in the state",
    "order at end": "two texts stand the other way round at the end",
}
"""What can be wrong in a turn."""

Fault: TypeAlias = tuple[str, str]
"""A key of `FAULTS`, and the thing that it happened to."""


@dataclass(frozen=True)
class Verdict:
    """What was wrong with a recording."""

    faults: Counter[str] = field(default_factory=Counter)
    """How many things were wrong, by fault."""

    what: tuple[str, ...] = ()
    """Each of them in words."""

    moments: int = 0
    """How many moments were judged."""


INSTEAD_OF = {
    "text twice": ("garbled",),
    "stale": ("garbled",),
    "order": ("garbled", "text twice"),
    "order at end": ("garbled", "text twice"),
}
"""What may be seen only because something else is not: who mixes two texts shows neither of
them, and of a text that stands there twice, one always stands in its place."""


BY_CHANCE = {
    "order": "order",
    "garbled": "garbled",
    "vanished": "garbled",
    "flicker": "garbled",
}
"""What chance decides on, by the fault of the plain graph that lets chance in.

In which turns neighbours get in each other's way is chance; that they ever do is not. Nor is it
more than chance whether a text stood there whole before a client mixed its neighbour into it: of
the plain `three_ok`, AG-UI shows none, one or two such texts.
"""


def worse(wrapped: Verdict, plain: Verdict) -> list[str]:
    """The faults that a wrapped graph has more of than a plain one, and not instead of others."""

    def more(fault: str) -> bool:
        is_chance = plain.faults[BY_CHANCE.get(fault, "")] > 0
        return wrapped.faults[fault] > plain.faults[fault] and not is_chance

    def is_instead(fault: str) -> bool:
        others = INSTEAD_OF.get(fault, ())
        return any(wrapped.faults[other] < plain.faults[other] for other in others)

    return [fault for fault in FAULTS if more(fault) and not is_instead(fault)]


def judge(recording: Recording, history: History, fails: Collection[int] = ()) -> Verdict:
    """Judge every moment of a recording.

    Args:
        recording: What a client showed.
        history: What the states of its thread say.
        fails: The turns whose run fails by design, from 0.
    """
    found: dict[tuple[int, str, str], None] = {}
    eyes = _Eyes(history)
    for number, turn in enumerate(recording["turns"]):
        final = history.finals[min(number, len(history.finals) - 1)]
        faults = [*eyes.watch(turn["snapshots"], final)]
        if turn["error"] and number not in fails:
            faults = [("run failed", turn["error"])]  # its state is no measure of what was said
        found |= dict.fromkeys((number, *fault) for fault in faults)
    return Verdict(
        Counter(fault for _, fault, _ in found),
        tuple(f"turn {number + 1}, {fault}: {thing}" for number, fault, thing in found),
        sum(len(turn["snapshots"]) for turn in recording["turns"]),
    )


class _Eyes:
    """Looks at one moment after the other, and remembers what was there."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._shared = {unit: _shared_length(unit, history.most) for unit in history.most}
        self._longest: Counter[Unit] = Counter()
        self._gone: set[Unit] = set()
        self._last: Snapshot = []

    def watch(self, snapshots: list[Snapshot], final: Snapshot) -> Iterator[Fault]:
        """The faults of one turn, the same perhaps several times."""
        kept = count(final)
        for snapshot in snapshots:
            yield from _ids_twice(snapshot)
            yield from self._too_many(snapshot)
            yield from self._stale(snapshot)
            if any(self._inversions(snapshot, kept, final)):
                yield "order", "at some moment"
            yield from self._disappearing(snapshot, kept)
        self._last = snapshots[-1] if snapshots else self._last
        yield from _at_end(self._last, kept)
        yield from (("order at end", pair) for pair in self._inversions(self._last, kept, final))

    def _too_many(self, snapshot: Snapshot) -> Iterator[Fault]:
        """What is left when each thing that may be shown has taken what fits it.

        The longest texts choose first, so that a beginning gets what nothing longer needs.
        """
        left = Counter(self._history.most)
        said = [unit for message in snapshot for unit in units(message) if unit[1]]
        for unit in sorted(said, key=lambda unit: -len(unit[1])):
            fits = [known for known in left if _begins(known, unit)]
            free = [known for known in fits if left[known]]
            if free:
                left[min(free, key=lambda known: len(known[1]))] -= 1
            elif fits:
                yield "text twice", max(fits)[1]
            elif unit[0] != CALL:  # attempts that died made calls of their own
                yield "garbled", "at some moment"

    def _stale(self, snapshot: Snapshot) -> Iterator[Fault]:
        meant = [(at, self._meant(unit)) for at, unit in _said(snapshot)]
        speakers = [at for at, message in enumerate(snapshot) if message["type"] == "ai"]
        for at, unit in meant:
            if unit in self._history.unkept and speakers and speakers[-1] > at:
                yield "stale", unit[1]

    def _inversions(
        self, snapshot: Snapshot, kept: Counter[Unit], final: Snapshot
    ) -> Iterator[str]:
        places = {unit: at for at, unit in _said(final) if kept[unit] == 1}
        meant = [self._meant(unit) for _, unit in _said(snapshot)]
        shown = [unit for unit in meant if unit in places]
        for first, second in pairwise(shown):
            if places[first] > places[second]:
                yield f"{first[1]} | {second[1]}"

    def _disappearing(self, snapshot: Snapshot, kept: Counter[Unit]) -> Iterator[Fault]:
        for unit in self._history.most:
            length = self._length(snapshot, unit)
            if length < self._longest[unit] and unit in kept:
                yield "vanished", unit[1]
            if length and unit in self._gone:
                self._gone.remove(unit)
                yield "flicker", unit[1]
            if not length and self._longest[unit]:
                self._gone.add(unit)
            self._longest[unit] = max(length, self._longest[unit])

    def _length(self, snapshot: Snapshot, unit: Unit) -> int:
        """How much of a unit is on the screen, as far as it can be nothing else."""
        lengths = [len(text) for who, text in _texts(snapshot) if _begins(unit, (who, text))]
        longest = max(lengths, default=0)
        return longest if longest > self._shared[unit] or longest == len(unit[1]) else 0

    def _meant(self, unit: Unit) -> Unit | None:
        """What a text is, or is going to be, where that can be one thing only."""
        if unit in self._history.most:
            return unit
        fits = [known for known in self._history.most if _begins(known, unit)]
        return fits[0] if len(fits) == 1 else None


def _said(snapshot: Snapshot) -> Iterator[tuple[int, Unit]]:
    """Each unit that is not empty, with the place of its message."""
    for at, message in enumerate(snapshot):
        yield from ((at, unit) for unit in units(message) if unit[1])


def _texts(snapshot: Snapshot) -> Iterator[Unit]:
    return (unit for _, unit in _said(snapshot))


def _begins(known: Unit, shown: Unit) -> bool:
    """Whether what is shown is a thing, or the beginning of its text."""
    return known[0] == shown[0] and (
        known[1] == shown[1] if known[0] == CALL else known[1].startswith(shown[1])
    )


def _shared_length(unit: Unit, known: Iterable[Unit]) -> int:
    """How long a beginning may be that another text has as well."""
    others = [text for who, text in known if who == unit[0] and text != unit[1]]
    return max((_common(unit[1], other) for other in others), default=0)


def _common(left: str, right: str) -> int:
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )


def _ids_twice(snapshot: Snapshot) -> Iterator[Fault]:
    ids = Counter(message["id"] for message in snapshot if message["id"])
    return (("id twice", id) for id, times in ids.items() if times > 1)


def _at_end(last: Snapshot, kept: Counter[Unit]) -> Iterator[Fault]:
    """What the person is left with; what they typed themselves need not come back."""
    shown = count(last)
    for (who, text), times in (kept - shown).items():
        if who != "human":
            yield from (("missing", f"{text} ({number})") for number in range(times))
    for (who, text), times in (shown - kept).items():
        yield from (("extra", f"{text or who} ({number})") for number in range(times))
