"""After a cut: which of the events that the server repeats do we have already?

A server with our plugin numbers what it sends of mode `messages` 1, 2, 3 …, so whatever it repeats,
the number says which message that is: one that we have is dropped. One behind a gap waits until the
gap is filled. It is not filled any more when the connection ends: then a message is lost for
certain. All other events are aligned, by their order and their payloads.

A server that can resume a run keeps a log of its events. A client that comes back names an id
and gets the events after it. On `langgraph dev` an id is a millisecond, so several events may
share one: asking for the events after the last id would lose the others with that id. So we ask
from an earlier id. The answer then begins with events that we have, in the order and with the
payloads that we know. This overlap also proves that nothing between is missing.

While the server repeats its log, it collects what the run says in the meantime, and sends that
once more behind the log. The ids of such an echo go back, which tells it from new events. Within
one millisecond they do not: there an echo looks like a run that says the same thing twice. Then
we connect once more, because events that are older than a connection have no echo in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Self

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

    def go_on(self, number: int, attempt: int | None) -> bool:
        """Take a message that is simply the next one, as nearly all are; whether it is that."""
        if number != self.had + 1 or self._waiting:
            return False
        if attempt is not None and attempt != self.attempt:
            if self.attempt is not None:
                return False
            self.attempt = attempt
        self.had = number
        return True

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
        """Take a part without a number: its place is behind the message before it."""
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
            ValueError: It is none.
        """
        had, _, attempt = position.partition(".")
        return cls(int(had or 0), int(attempt) if attempt else None)


def without_number(data: Any) -> tuple[Any, int | None]:
    """A message with its metadata, less the number that our server has put there; and that."""
    match data:
        case [message, dict(metadata)] if NUMBER_KEY in metadata:
            number = metadata[NUMBER_KEY]
            if isinstance(number, int) and annotation_of(metadata) is not None:
                rest = {key: value for key, value in metadata.items() if key != NUMBER_KEY}
                return [message, rest], number
    return data, None


FIRST: Final = "-1"
"""Comes before every id."""

# Bounds memory at some 3 MB; what came before is in no overlap, unless a server ignores the id.
MAX_EVENTS: Final = 20_000

# A run that says the same twice in each millisecond would be verified for ever. A busy server
# collects while it repeats, so a connection that verifies one echo often meets the next: each waits
# twice as long as the one before, 1.3 s in all, until what the run has said is in the log.
MAX_VERIFICATIONS: Final = 6

NUMBERED: Final = "n"
"""Stands in a position for the check of messages with numbers."""

Logged = tuple[str, int, bool]
"""Id, check, and whether the server keeps it in its log."""


class AmbiguousError(Exception):
    """Only another connection can tell whether an event is new."""


class Alignment:
    """The events without number that the reader of a run has, in the order of the log.

    Of those with a number it knows the place alone; `Numbers` tells which are new.

    Attributes:
        last_id: The id of the last event.
        has_overlap: The connection has repeated an event that we have, or has no need to.
        verifications: How many connections in a row only told whether an event was new.
    """

    def __init__(self) -> None:
        self._log: list[Logged] = []
        self._before_last = FIRST
        self._last_logged_id: str | None = None
        self.last_id: str | None = None
        self._has_repeated = False
        self._expected: int | None = None
        self._fresh: dict[str, int] | None = None
        self._old_ids: frozenset[str | None] = frozenset()
        self._echo = self._echo_end = 0
        self.verifications = 0
        self.has_overlap = True

    @property
    def cursor(self) -> str | None:
        """The id to go on after; None where no event had one."""
        return self._before_last if self._last_logged_id or self._log else None

    def rejoin(self, *, verifies: bool = False) -> None:
        """Note that a new connection begins after `cursor`.

        Args:
            verifies: It was made because an event was ambiguous.
        """
        self._expected = self._overlap_start()
        self._has_repeated = False
        self._fresh = {}
        tail = (event_id for event_id, *_ in self._log[self._expected :])
        self._old_ids = frozenset((self._last_logged_id, *tail))
        self._echo = self._echo_end = 0
        self.has_overlap = self._last_logged_id is None
        self.verifications = self.verifications + 1 if verifies else 0

    def is_new(self, event_id: str | None, check: int, *, logged: bool = True) -> bool:
        """Whether an event that came is new to us; if so, it is noted.

        Args:
            event_id: Its id; an event without one cannot be told from another.
            check: The checksum of its payload.
            logged: Whether the server keeps it in its log.

        Raises:
            AmbiguousError: That cannot be told yet; call `rejoin` and connect again.
        """
        if event_id is None:
            return True
        if self._expected is not None and self._is_repeated(self._expected, event_id, check):
            return False
        if self._fresh is not None and self._is_echo(self._fresh, event_id, check):
            return False
        self._log.append((event_id, check, logged))
        self.last_id = event_id
        if logged:
            self.pass_id(event_id)
        if len(self._log) > 2 * MAX_EVENTS:
            self._forget()
        return True

    def pass_id(self, event_id: str | None) -> None:
        """Note where a new event stands in the log of the server."""
        if event_id is None:
            return
        self.last_id = event_id
        if event_id != self._last_logged_id:
            self._before_last = self._last_logged_id or FIRST
            self._last_logged_id = event_id

    def _overlap_start(self) -> int:
        """Where the events begin that have the id of the last one in the server's log."""
        start = len(self._log)
        while start and (
            self._log[start - 1][0] == self._last_logged_id or not self._log[start - 1][2]
        ):
            start -= 1
        return start

    def _is_repeated(self, expected: int, event_id: str, check: int) -> bool:
        """Whether this is what the connection was to begin with."""
        found = self._found(expected, event_id, check)
        if found is None and not self._has_repeated:
            found = self._found(0, event_id, check)  # a server that ignores the id begins earlier
        if found is None:
            self._expected = None
            return False
        self._expected = found + 1
        self._has_repeated = self.has_overlap = True
        return True

    def _found(self, start: int, event_id: str, check: int) -> int | None:
        """Where an event is in the log, from `start` on."""
        known = range(start, len(self._log))
        return next((i for i in known if self._log[i][:2] == (event_id, check)), None)

    def _is_echo(self, fresh: dict[str, int], event_id: str, check: int) -> bool:
        """Whether this repeats what the same connection has sent."""
        if self._echo < self._echo_end and self._log[self._echo][:2] == (event_id, check):
            self._echo += 1
            return True
        self._echo_end = 0
        if event_id in self._old_ids:  # it is older than the connection: no echo repeats it
            return False
        found = self._found(fresh.setdefault(event_id, len(self._log)), event_id, check)
        if found is None:
            return False
        if event_id == self.last_id:  # the id has not gone back: an echo, or said twice
            if self.verifications < MAX_VERIFICATIONS:
                raise AmbiguousError
            return False
        self._echo, self._echo_end = found + 1, len(self._log)
        return True

    def _forget(self) -> None:
        gone = len(self._log) - MAX_EVENTS
        del self._log[:gone]
        if self._fresh is not None:
            self._fresh = {event_id: max(i - gone, 0) for event_id, i in self._fresh.items()}

    def position(self) -> str:
        """Where the reader is, for another process."""
        tail = self._log[self._overlap_start() :]
        known = [f"{event_id}:{check:08x}:{logged:d}" for event_id, check, logged in tail]
        if self._last_logged_id is not None and not any(logged for *_, logged in tail):
            known.append(f"{self._last_logged_id}:{NUMBERED}:1")
        return ",".join([self._before_last, *known]) if known else ""

    @classmethod
    def at(cls, position: str) -> Alignment:
        """Go on from a position.

        Raises:
            ValueError: It is none.
        """
        alignment = cls()
        cursor, *events = position.split(",") if position else [FIRST]
        alignment.pass_id(cursor if cursor != FIRST else None)
        for event in events:
            event_id, check, logged = event.rsplit(":", 2)
            if check != NUMBERED:
                alignment._log.append((event_id, int(check, 16), logged == "1"))
            alignment.pass_id(event_id if logged == "1" else None)
        return alignment
