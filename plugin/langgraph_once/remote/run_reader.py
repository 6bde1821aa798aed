"""Frames of a run in, parts out, over as many connections as it takes. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from langchain_core.messages import BaseMessage
from langgraph.pregel.remote import RemoteException

from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamError, StreamInterrupted
from langgraph_once.remote.alignment import (
    ATTEMPT_KEY,
    Alignment,
    AmbiguousError,
    Frame,
    Numbers,
)
from langgraph_once.remote.reconcile import (
    Delivered,
    RunHistory,
    State,
    failure,
    lost_parts,
)
from langgraph_once.remote.retries import (
    Retries,
    UnknownRunError,
    may_begin_again,
    refusal,
    says_unknown,
)
from langgraph_once.remote.shapes import local_parts
from langgraph_once.stream import GAP_MODE, Part, found_in_update, mode_set, revive

Headers: TypeAlias = Mapping[str, str] | None

LOCATION: Final = re.compile(r"(?:/threads/(?P<thread>[^/?]+))?/runs/(?P<run>[^/?]+)")
# With one of these a body that is cut is an error of HTTP; without, it just ends.
LENGTHS: Final = frozenset({"content-length", "transfer-encoding"})
FRAMED_VERSIONS: Final = frozenset({"HTTP/2", "HTTP/3"})

UNLOGGED: Final = frozenset({"end", "error", "feedback"})
"""Events that a server does not keep, so that it cannot send them again."""

NEVER_TWICE: Final = frozenset({"checkpoints", "debug", "tasks", "values"})
"""Modes of which an equal event in the same millisecond is an echo, from a server with our plugin:
they name a task or a checkpoint, and of equal states it sends one."""

EVENTS_GONE: Final = "the server no longer has all events of the run"

PROVABLE: Final = frozenset({"updates", "values"})
"""Modes of which the checkpoints hold everything."""

VERIFICATION_S: Final = 0.02
"""Before the first; ids of `langgraph dev` are milliseconds, and it must begin in a later one."""

GONE: Final = ""
"""The status of a run that the server does not know."""

ALL_MODES: Final = frozenset({"messages", "updates", "values"})
FAILED: Final = frozenset({"error", "timeout"})


class ConnectionEnd(Enum):
    """How a connection ended."""

    WHOLE = auto()
    """By itself. A proxy may have cut it so that it looks like that."""

    CUT = auto()
    """By an error that may pass."""

    REFUSED = auto()
    """The server has begun no run; it may be asked again to."""

    UNKNOWN = auto()
    """The server does not know the run."""

    AMBIGUOUS = auto()
    """By us: only another connection can tell whether an event is new."""


@dataclass(eq=False)
class RunReader:
    """Makes parts of the frames of a run, each once, whatever cuts there are.

    Args:
        config: How often to try, and how long to wait.
        thread_id: The thread of the run; None for a run without one.
        run_id: The run, where it is known yet.
        modes: The modes that it streams, as the server names them; None if not known.
        subgraphs: It streams from subgraphs too.
        goes_on: It was given no input; it goes on from a checkpoint.
        is_resumable: It can be read on after a cut, since the server keeps its events.
        begins_at: Where in its log to go on.
        headers: To send with each request beside the client's own.
        ran_again: Called when the server begins to run it again, from its last checkpoint.

    Attributes:
        has_ended: The server has said that it ended.
        suspected_loss: Why something may be missing; None as long as nothing can be.
        ended_whole: Its stream ended as HTTP says it does, and nothing was missing before. If the
            server does not know the run then, it was rolled back, or deleted: as in `RemoteGraph`
            that is the end.
    """

    config: RemoteConfig
    _: KW_ONLY
    thread_id: str | None
    run_id: str | None = None
    modes: Sequence[str] | None = None
    subgraphs: bool = False
    goes_on: bool = False
    is_resumable: bool = True
    begins_at: str | None = None
    headers: Headers = None
    ran_again: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        aligned, _, numbered = (self.begins_at or "").partition("#")
        try:
            self.alignment, self._numbers = Alignment.at(aligned), Numbers.at(numbered)
        except ValueError as error:
            raise StreamError("this is no position of a run; pass what another gave") from error
        self.has_ended = False
        self.suspected_loss: str | None = None
        self.ended_whole = False
        self._received = Delivered()
        self._tries = Retries(self.config.max_retries)
        self._end = ConnectionEnd.WHOLE
        self._was_read_to_end = False
        self._shows_cuts = False
        self._passed_id: str | None = None
        # The server logs what was asked for, and `metadata` always.
        self._logged = None if self.modes is None else mode_set(self.modes) | {"metadata"}
        self._has_begun = self.begins_at is not None
        self._is_all_numbered = self.modes is not None and mode_set(self.modes) == {"messages"}

    @property
    def position(self) -> str:
        """Where in the run's log the reader is."""
        numbered = self._numbers.position()
        return self.alignment.position() + (f"#{numbered}" if numbered else "")

    @property
    def is_open(self) -> bool:
        """Whether there is a run to come back to."""
        return self.run_id is not None

    @property
    def joined_thread_id(self) -> str | None:
        """The thread to join the run by.

        A run without a thread has one that the server made for it, and that ends with it.
        """
        return self.thread_id or self._received.thread_id

    def opened(self, headers: Mapping[str, str], http_version: str) -> float | None:
        """Read what the head of a response says of the run.

        Returns:
            How long its body may be silent. None if silence must not end it, because what the
            server says afterwards would be lost.
        """
        self._tries.opened()
        found = LOCATION.search(headers.get("content-location", ""))
        if found and self.run_id is None:
            self.run_id = found["run"]
            self.thread_id = self.thread_id or found["thread"]
        has_length = not LENGTHS.isdisjoint(headers)
        self._shows_cuts = has_length or http_version in FRAMED_VERSIONS
        # With this header a server offers to join the run again; the SDK relies on it, too. The
        # server of JavaScript (2.0.0) does not send it, nor heartbeats.
        can_come_back = self.is_resumable and "location" in headers
        return self.config.idle_timeout_s if can_come_back else None

    def feed(self, frame: Frame) -> Iterable[Part]:
        """The parts that a frame carries, if they are new.

        Raises:
            RemoteException: The run failed.
            UnknownRunError: The server does not know the run.
            AmbiguousError: Only another connection can tell whether this is new.
        """
        event, data, event_id, check, number = frame
        mode, _, ns = event.partition("|")
        if not (event or check):
            self._passed_id = event_id
            return ()
        # langgraph-api 0.16.7 answers who joins a run that it forgot with 200, and says 404 in
        # the stream.
        if mode == "error" and not self._tries.is_first and _is_not_found(data):
            raise UnknownRunError
        if event_id is None and mode not in UNLOGGED:  # the server keeps no log
            self.is_resumable = False
        if number is not None:
            return self._numbered(number, mode, ns, frame)
        # Servers send other modes than those asked for (an interrupt as `values`) unlogged.
        logged = self._logged
        is_logged = mode not in UNLOGGED if logged is None else mode in logged
        if not self._is_new(mode, frame, is_logged=is_logged):
            return ()
        self._tries.has_progressed = True
        self._passed_id = None
        # A message of a stock server: nearly all its frames.
        if type(data) is tuple and self.alignment.has_overlap and not self._numbers.are_waiting:
            return self._parts(mode, ns, frame)
        return self._other(mode, ns, frame)

    def _is_new(self, mode: str, frame: Frame, *, is_logged: bool) -> bool:
        """Whether a frame without number is new.

        Raises:
            AmbiguousError: Only another connection can tell.
        """
        try:
            return self.alignment.is_new(frame.id, frame.check, logged=is_logged)
        except AmbiguousError:
            # Our server says none of these twice.
            if self._numbers.had and (mode in NEVER_TWICE or _names_messages(mode, frame.data)):
                return False
            raise

    def _parts(self, mode: str, ns: str, frame: Frame) -> Sequence[Part]:
        """The parts of a frame, which are noted."""
        if type(frame.data) is tuple:
            message, meta = frame.data
            fields = vars(message)  # past pydantic: each token passes here
            if fields["id"] != self._received.last_id or fields.get("chunk_position"):
                self._received.note(message, meta)
            return (Part(tuple(ns.split("|")) if ns else (), mode, message, meta, frame.id),)
        parts = [*local_parts((frame.event, frame.data, frame.id))]
        for part in parts:
            if isinstance(part.data, BaseMessage):
                self._received.note(part.data, part.meta)
        return parts

    def _numbered(self, number: int, mode: str, ns: str, frame: Frame) -> Iterable[Part]:
        """The parts that can be passed on, now that a message with a number has come."""
        numbers, alignment = self._numbers, self.alignment
        attempt, lost = frame.data[1].get(ATTEMPT_KEY), list[Part]()
        if alignment.has_overlap and numbers.go_on(number, attempt):
            self._note_progress(frame)
            return self._parts(mode, ns, frame)
        if attempt != numbers.attempt and attempt is not None:
            if numbers.is_over(attempt):
                return ()
            lost += self._missing()
            if numbers.attempt is None:
                numbers.attempt = attempt
            else:
                numbers.begin(attempt)
        if not self.is_resumable:  # it sends what is said from now on
            numbers.skip_to(number)
        if numbers.has(number):
            alignment.has_overlap = True
            return lost
        if not alignment.has_overlap:
            if number > numbers.had + 1 or not self._is_all_numbered:
                lost += self.suspect_loss(EVENTS_GONE)
            alignment.has_overlap = True
            numbers.skip_to(number)
        self._note_progress(frame)
        found = numbers.take(number, self._parts(mode, ns, frame))
        if numbers.are_waiting and numbers.wait_in_vain:
            found = [*found, *self._missing()]
        return [*lost, *found] if lost else found

    def _note_progress(self, frame: Frame) -> None:
        self.alignment.pass_id(frame.id)
        self._tries.has_progressed = True
        self._passed_id = None

    def _missing(self) -> Iterator[Part]:
        """What waits for messages that will not come: they are lost for certain."""
        if self._numbers.are_waiting:
            yield from self.suspect_loss("messages of the run did not come")
            yield from self._numbers.release()

    def _other(self, mode: str, ns: str, frame: Frame) -> Iterator[Part]:
        """The parts of any frame but a token, and one with a number."""
        if mode in UNLOGGED:
            yield from self._missing()
        if mode == "metadata":
            yield from self._begun(frame.data)
        elif mode == "end":
            self.has_ended = True
        if not self.alignment.has_overlap:
            self.alignment.has_overlap = True
            yield from self.suspect_loss(EVENTS_GONE)
        if mode == "updates" and not ns:
            self._received.updates.add(frame.check)
        for part in self._parts(mode, ns, frame):
            yield from self._numbers.take_beside(part)

    def _begun(self, told: Any) -> Iterator[Part]:
        """Note that a worker takes up the run; the second repeats what came since the last
        checkpoint."""
        if isinstance(told, Mapping):
            self.run_id = self.run_id or told.get("run_id")
        if self._has_begun:
            yield from self._missing()
            self._numbers.begin()
            self.ran_again()
        self._has_begun = True

    def suspect_loss(self, reason: str) -> Iterator[Part]:
        """Note that something may be missing. Where no state can fill it, a part says so."""
        if self.suspected_loss is not None:
            return
        self.suspected_loss = reason
        has_state = self.thread_id is not None and not self.subgraphs
        if self.modes is None or not (has_state and PROVABLE.issuperset(self.modes)):
            yield Part((), GAP_MODE, reason)

    def failed(self, error: Exception) -> ConnectionEnd:
        """Note what a request has failed with; what follows from that.

        Raises:
            StreamInterrupted: The run cannot be read on: the server refuses.
            Exception: The error itself, if a run may have begun that we do not know.
        """
        self._tries.error = error
        if not self.is_open:
            if may_begin_again(error):
                return ConnectionEnd.REFUSED
            raise error
        if (status := refusal(error)) is not None:
            raise self.interrupted(f"the server refused with {status}") from error
        if isinstance(error, AmbiguousError):
            return ConnectionEnd.AMBIGUOUS
        return ConnectionEnd.UNKNOWN if says_unknown(error) else ConnectionEnd.CUT

    def ended(self, error: Exception | None = None) -> Iterator[Part]:
        """Note that a connection has ended.

        Args:
            error: What cut it; None if it ended by itself.

        Raises:
            Exception: What cut it, if the run is not read any further.
        """
        if not isinstance(error, AmbiguousError):
            yield from self._missing()
        self._tries.error = None
        self._end = ConnectionEnd.WHOLE if error is None else self.failed(error)
        match self._end:
            case ConnectionEnd.WHOLE:
                self._was_read_to_end = True
                has_all = self._has_begun_whole and self.suspected_loss is None
                self.ended_whole = self._shows_cuts and has_all
                lacks_all = self.is_resumable and not self._tries.is_first
                if not self.alignment.has_overlap or (lacks_all and not self.alignment.last_id):
                    yield from self.suspect_loss("the server no longer has the events of the run")
            case ConnectionEnd.CUT:
                self._was_read_to_end = self.ended_whole = False
                if not self.is_resumable:
                    why = "the run is not resumable, and a connection to it was cut"
                    yield from self.suspect_loss(why)
            case ConnectionEnd.UNKNOWN if not self.ended_whole and (
                self.thread_id is not None or not self._was_read_to_end
            ):
                # A server forgets a run without a thread as it ends.
                yield from self.suspect_loss("the server no longer knows the run")

    @property
    def must_ask(self) -> bool:
        """Whether the status of the run is to be asked for now."""
        if self._end is ConnectionEnd.REFUSED:
            return False
        if self.has_ended or not self.is_open or self._end is ConnectionEnd.UNKNOWN:
            return True
        may_come = self._tries.is_first or self._tries.has_progressed
        if self._tries.is_first or self._numbers.had:
            may_come = may_come and not self._is_whole
        return self._end is ConnectionEnd.WHOLE and not (self.is_resumable and may_come)

    @property
    def _is_whole(self) -> bool:
        """Whether a response that ended by itself counts as whole, if the run is over.

        The server is asked whether the run is over. This exposes a proxy that ends responses as
        if they were whole, as long as the run goes on. Three kinds of runs are joined once more
        before that question: one that was cut before; one without a thread, which cannot be
        asked for; and one whose response had no length, so that a cut looks like its end.
        """
        return self._shows_cuts and self._has_begun_whole and self.thread_id is not None

    @property
    def _has_begun_whole(self) -> bool:
        """Whether events of the run have come, without a gap between connections."""
        return self.alignment.last_id is not None and self.alignment.has_overlap

    def settled(self, status: str, states: Sequence[State]) -> Iterator[Part]:
        """End the stream with what the state of the thread proves to be missing.

        Args:
            status: That of the run; `GONE` where the server does not know it.
            states: The checkpoints of the thread, where they were asked for.

        Raises:
            RemoteException: The run failed.
            StreamInterrupted: The server does not know the run, and it is not complete.
        """
        if status == GONE and self.ended_whole:
            return
        if status == GONE:
            yield from self.suspect_loss("the server no longer knows the run")
        modes, is_whole = frozenset(self.modes or ALL_MODES), self.history.is_whole(states)
        states = self.history.of_run(states)
        yield from lost_parts(states, modes, self._received, run_id=self.run_id, is_whole=is_whole)
        if status == GONE and not self.history.is_complete(states):
            raise self.interrupted(
                "the server no longer knows it, and it is not complete: rolled back, or lost"
            )
        if status in FAILED:
            raise RemoteException(failure(states, status))

    @property
    def known_status(self) -> str | None:
        """The status of the run, if the server need not or cannot be asked for it."""
        if self.has_ended:
            return "success"
        if not self.is_open:
            return GONE
        if self.thread_id is None:
            return "success" if self._was_read_to_end else GONE
        return None

    @property
    def history(self) -> RunHistory:
        """Which checkpoints tell what became of the run."""
        return RunHistory(self.run_id, goes_on=self.goes_on)

    def rejoin(self) -> float:
        """How long to wait before the next connection; it counts as made from then on.

        Raises:
            APIStatusError: The server has refused too often to begin the run.
            StreamInterrupted: Too many connections brought nothing.
        """
        error = self._tries.error
        if self._end is ConnectionEnd.REFUSED:
            wait_s = self._tries.next_s(may_be_silent=False)
            if wait_s is None and error is not None:
                raise error
            return wait_s or 0
        is_verification = self._end is ConnectionEnd.AMBIGUOUS
        wait_s = VERIFICATION_S * 2**self.alignment.verifications
        if not is_verification:
            wait_s = self._tries.next_s(may_be_silent=self.alignment.has_overlap)
        if wait_s is None:
            why = f"gave up after {self._tries.in_vain} connections in vain"
            raise self.interrupted(why) from error
        self._tries.begin()
        self.alignment.rejoin(verifies=is_verification)
        return wait_s

    def interrupted(self, why: str) -> StreamInterrupted:
        """The error of a run that cannot be read to its end, with all that `join_run` needs."""
        return StreamInterrupted(
            f"run {self.run_id or 'of unknown id'}: {why}; call join_run to go on",
            thread_id=self.thread_id,
            run_id=self.run_id,
            last_event_id=self._passed_id or self.alignment.last_id,
            position=self.position,
        )


def _names_messages(mode: str, data: Any) -> bool:
    """Whether these are updates with messages, of which none comes twice under one id."""
    return mode == "updates" and any(m.id for m in found_in_update(revive(data)).messages)


def _is_not_found(data: Any) -> bool:
    match data:
        case {"error": "HTTPException", "message": str(message)}:
            return message.startswith("404")
    return False
