"""Frames of a stream, and the numbers that a server with our plugin gives to its messages.

It numbers what it sends of mode `messages` 1, 2, 3 …, so whatever a server repeats after a cut, the
number says which message that is: one that we have is dropped. One behind a gap waits until the gap
is filled. It is not filled any more when the connection ends: then a message is lost for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Self

from langgraph_once.errors import StreamError
from langgraph_once.stream import NUMBER_KEY, Part, annotation_of

ATTEMPT_KEY: Final = "run_attempt"
"""Where a LangGraph server notes in the metadata how often it has begun the run. Each attempt is
another stream of the graph, and is numbered from 1."""

MAX_WAITING: Final = 64
"""How many parts wait for a gap to be filled. A proxy that leaves some messages out never fills it;
what comes behind must not wait for the end of the run."""


class Frame(NamedTuple):
    """One event; or an id alone, the position behind what was left out."""

    event: str
    data: Any
    id: str | None
    """The id that a reader may go on after; None until the stream names one."""

    check: int
    """CRC-32 of its name and data, as they came; 0 of an id alone, and of what has a number."""

    number: int | None = None
    """That of a message, from 1; None where the server gives none."""


class Numbers:
    """Which numbered messages of a run its reader has.

    Args:
        had: The number of the last one that was passed on; all before it were, too.
        attempt: The attempt that they belong to, where the server tells it.
    """

    def __init__(self, had: int = 0, attempt: int | None = None) -> None:
        self.had = had
        self.attempt = attempt
        self._waiting: dict[int, list[Part]] = {}
        self._last_waiting: list[Part] = []
        self._may_be_filled = True

    def begin(self, attempt: int | None = None) -> None:
        """Begin at 1: a worker of the server takes up the run."""
        self.had, self.attempt = 0, attempt

    def is_over(self, attempt: int) -> bool:
        """Whether a worker has taken up the run since this attempt."""
        return self.attempt is not None and attempt < self.attempt

    def has(self, number: int) -> bool:
        """Whether a message of this number has come."""
        return number <= self.had or number in self._waiting

    def skip_to(self, number: int) -> None:
        """Take what is before a number as lost, or as nothing that the reader is to have."""
        self.had = max(self.had, number - 1)

    def take(self, number: int, parts: Sequence[Part]) -> Sequence[Part]:
        """The parts that can be passed on, now that a message has come."""
        if number != self.had + 1:
            self._last_waiting = self._waiting[number] = [*parts]
            return ()
        self.had = number
        if not self._waiting:
            return parts
        found = [*parts]
        while waiting := self._waiting.pop(self.had + 1, None):
            self.had += 1
            found += waiting
        return found

    def take_beside(self, part: Part) -> Sequence[Part]:
        """As `take`, of a part without number: its place is behind the message before it."""
        if not self._waiting:
            return (part,)
        self._last_waiting.append(part)
        return ()

    @property
    def are_waiting(self) -> bool:
        """Whether a message waits for another."""
        return bool(self._waiting)

    @property
    def wait_in_vain(self) -> bool:
        """Whether what messages wait for will not come any more."""
        waiting = sum(map(len, self._waiting.values()))
        return waiting > (MAX_WAITING if self._may_be_filled else 0)

    def release(self) -> Sequence[Part]:
        """All that waits, in order. Nothing waits any more: this server fills no gaps."""
        self._may_be_filled = False
        waiting = sorted(self._waiting.items())
        self._waiting = {}
        self.had = max([self.had, *(number for number, _ in waiting)])
        return [part for _, parts in waiting for part in parts]

    def position(self) -> str:
        """Where the reader is, for another process; empty where nothing had a number."""
        attempt = "" if self.attempt is None else f".{self.attempt}"
        return f"{self.had}{attempt}" if self.had else ""

    @classmethod
    def at(cls, position: str) -> Self:
        """Go on from a position.

        Raises:
            StreamError: It is none.
        """
        had, _, attempt = position.partition(".")
        try:
            return cls(int(had or 0), int(attempt) if attempt else None)
        except ValueError as error:
            raise StreamError("this is no position of a run; pass what another gave") from error


def without_number(data: Any) -> tuple[Any, int | None]:
    """A message with its metadata, less the number that our server has put there; and that."""
    match data:
        case [message, dict(metadata)] if NUMBER_KEY in metadata:
            number = metadata[NUMBER_KEY]
            if isinstance(number, int) and annotation_of(metadata) is not None:
                rest = {key: value for key, value in metadata.items() if key != NUMBER_KEY}
                return [message, rest], number
    return data, None
