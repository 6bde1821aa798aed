"""Reads a run to its end through every cut: connect, read, ask, wait, connect again.

What is done between two connections, asking the server and waiting, is a generator of steps.
`run_steps` takes them with a client, sync or async, and sends back the answers. Sync and async
differ only in how they wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing, closing, contextmanager
from inspect import getattr_static
from typing import Any, Final, NamedTuple, Self, TypeAlias, TypeVar

import httpx
from langgraph_sdk.client import LangGraphClient, RunsClient, SyncLangGraphClient, SyncRunsClient
from langgraph_sdk.errors import APIStatusError, NotFoundError

from langgraph_once.config import READER_CHECKPOINT, RemoteConfig
from langgraph_once.errors import ConfigError, StreamInterrupted
from langgraph_once.metrics import streams
from langgraph_once.remote.alignment import FIRST, AmbiguousError, Frame, without_number
from langgraph_once.remote.connection import Connection, SyncConnection
from langgraph_once.remote.reconcile import State, goes_on
from langgraph_once.remote.retries import Backoff, UnknownRunError
from langgraph_once.remote.run_reader import FAILED, GONE, Headers, RunReader
from langgraph_once.remote.shapes import before_of
from langgraph_once.stream import GAP_MODE, Ledger, Part, alias_messages_after_gap

T = TypeVar("T")

Step: TypeAlias = Callable[[Any], Any] | float
"""A question, which a client asks; or how long to wait, in seconds."""

Steps: TypeAlias = Generator[Step, Any, T]
"""Is sent the answer to each question; None where the server does not know what it is asked for.

`QuestionFailed` is thrown in where a question failed.
"""

Outcome: TypeAlias = tuple[str, list[State]]
"""The status of a run, and its checkpoints, newest first, where they are needed."""

UNDER_WAY: Final = frozenset({"pending", "running"})


class QuestionFailed(Exception):  # noqa: N818  # thrown into generators; no user sees it
    """A question has no answer.

    Attributes:
        error: Why.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def fetch_run(
    thread_id: str | None, run_id: str | None, headers: Headers
) -> Steps[Mapping[str, Any] | None]:
    """Ask for a run; None where the server does not know it.

    Raises:
        QuestionFailed: The question failed, or the answer is no run.
    """
    run = yield lambda client: client.runs.get(str(thread_id), str(run_id), headers=headers)
    match run:
        case None | {"status": str()}:
            return run
    raise QuestionFailed(ValueError("expected a run with its status"))


def at_once(value: T) -> Steps[T]:
    """No steps: the value is known."""
    yield from ()
    return value


def between(reader: RunReader) -> Steps[Outcome | None]:
    """Ask and wait as long as it takes until the next connection may be made.

    Returns:
        What the run came to; None if it needs another connection.

    Raises:
        APIStatusError: The server has refused too often to begin the run.
        StreamInterrupted: The run cannot be read to its end.
    """
    if reader.must_ask:
        try:
            status, states = yield from _outcome(reader)
        except QuestionFailed as failed:
            reader.failed(failed.error)
        else:
            if status not in UNDER_WAY:
                return status, states
    yield reader.rejoin()
    return None


def _outcome(reader: RunReader) -> Steps[Outcome]:
    """Ask what a run came to, as far as that is not known."""
    status, thread_id = reader.known_status, reader.thread_id
    if status is None:
        run = yield from fetch_run(thread_id, reader.run_id, reader.headers)
        status = GONE if run is None else run["status"]
    if thread_id is None or not reader.is_open or (status == GONE and reader.ended_whole):
        return status, []
    if status == GONE and reader.goes_on:
        # `langgraph dev` forgets runs of its last ten seconds if it is killed. An earlier run,
        # which it remembers, may finish then what this one was to do.
        yield from _earlier_runs_ended(thread_id, reader)
    if not (reader.suspected_loss or status == GONE or status in FAILED):
        return status, []
    return status, (yield from _history(thread_id, reader))


def _earlier_runs_ended(thread_id: str, reader: RunReader) -> Steps[None]:
    """Wait until no earlier run of the thread is under way."""
    tries = Backoff()
    while True:
        runs = yield lambda client: client.runs.list(
            thread_id, select=["run_id", "status"], headers=reader.headers
        )
        under_way = [run for run in _listed(runs or [], "runs") if run.get("status") in UNDER_WAY]
        if not any(reader.history.is_of_run_or_older(run.get("run_id")) for run in under_way):
            return
        yield tries.next_s() or 0


def _history(thread_id: str, reader: RunReader) -> Steps[list[State]]:
    """The checkpoints that are about the run, newest first, page by page."""
    history, states = reader.history, list[State]()
    asked = {**history.asked(thread_id), "headers": reader.headers, "before": None}
    while True:
        page = yield lambda client: client.threads.get_history(**asked)
        if page is None:
            return []
        states += _listed(page, "checkpoints")
        if history.is_last(page):
            return states
        asked["before"] = before_of(page[-1]["checkpoint"])


def _listed(answer: Any, kind: str) -> list[Mapping[str, Any]]:
    if not isinstance(answer, list) or not all(isinstance(each, Mapping) for each in answer):
        raise QuestionFailed(ValueError(f"expected a list of {kind}"))
    return answer


class Recipient:
    """Gets each part as it comes.

    Args:
        ledger: What the recipient has; None where no ledger is kept.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self.ledger = ledger
        self._has_gap = False

    def feed(self, part: Part) -> Iterable[Part]:
        """What it lacks of a part."""
        return (part,)

    def check_alone(self) -> None:
        """Check that no stream that began later writes into the ledger.

        One that was left before its end may stay open, so that the later stream goes on.

        Raises:
            ConfigError: One does.
        """
        if self.ledger is not None and self.ledger.reader is not self:
            raise ConfigError(
                "ledger",
                "was given to another stream while this one goes on; a ledger says what one "
                "consumer has: give each stream that runs beside another a ledger of its own",
            )

    def note_gap(self, part: Part) -> None:
        """Note a gap. Behind a gap, note the ids that a state has for known messages."""
        if part.mode == GAP_MODE:
            self._has_gap = True
            streams.gap()
        if self._has_gap and part.mode == "values" and self.ledger is not None:
            alias_messages_after_gap(self.ledger, part.data)

    def close(self) -> Iterable[Part]:
        """What is still to be sent when the run has ended well."""
        return ()

    def ran_again(self) -> None:
        """Start a new epoch: the run goes on from its last checkpoint, and repeats what it sent."""
        if self.ledger is not None:
            self.ledger.begin()

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Add to an error what the recipient has, for `join_run` to go on with."""
        if self.ledger is not None:
            self.ledger.reader = self
        try:
            yield
        except StreamInterrupted as error:
            error.ledger = self.ledger
            raise
        finally:
            if self.ledger is not None and self.ledger.reader is self:
                self.ledger.reader = None


Begin: TypeAlias = Callable[[Any], Any] | None
"""Begins a run, given a `RunsClient`; None to join the one that the reader names."""


class Reading(NamedTuple):
    """A run to read."""

    reader: RunReader
    begin: Begin = None
    recipient: Recipient = Recipient()

    @classmethod
    def of_call(
        cls, call: Mapping[str, Any], config: RemoteConfig | None, recipient: Recipient
    ) -> Self:
        """A run that begins with this call of `client.runs.stream`."""
        call = {**call, "checkpoint": {**(call.get("checkpoint") or {}), **READER_CHECKPOINT}}
        reader = RunReader(
            config or RemoteConfig(),
            thread_id=call["thread_id"],
            modes=call["stream_mode"],
            subgraphs=call["stream_subgraphs"],
            goes_on=goes_on(call),
            is_resumable=call["stream_resumable"],
            headers=call["headers"],
            ran_again=recipient.ran_again,
        )
        return cls(reader, lambda runs: runs.stream(**call), recipient)


CUTS: Final = (httpx.RequestError, APIStatusError, UnknownRunError, AmbiguousError)
"""The errors that end a connection."""

QUESTION_ERRORS: Final = (httpx.HTTPError, ValueError)
"""How a question fails. A `ValueError` says that the answer is no JSON: a proxy's page, perhaps."""


async def aread_run(client: LangGraphClient, opening: Steps[Reading]) -> AsyncGenerator[Part]:
    """What the recipient of a run gets, until the run ends.

    If a user has replaced the client's `runs.stream`, to trace or to test, that method is called
    and its frames are all there is. It may end as it likes; whether it reconnects is up to it.

    Args:
        client: The user's client.
        opening: What to read; its steps are taken when the first part is asked for.

    Raises:
        APIError: The server refuses to begin the run.
        RemoteException: The run failed.
        StreamInterrupted: The run cannot be read to its end.
    """
    reader, begin, recipient = await arun_steps(client, opening)
    if begin is not None and _is_replaced(client.runs, RunsClient):
        source = _agiven(reader, begin(client.runs))
    else:
        source = _aread(client, reader, begin)
    with recipient.ending():
        async with aclosing(source):
            async for part in source:
                recipient.check_alone()
                for new in recipient.feed(part):
                    yield new
    for new in recipient.close():
        yield new


async def _agiven(reader: RunReader, stream: AsyncIterable[Any]) -> AsyncGenerator[Part]:
    async for given in stream:
        for part in reader.feed(_frame(given)):
            yield part


async def _aread(client: LangGraphClient, reader: RunReader, begin: Begin) -> AsyncGenerator[Part]:
    runs = RunsClient(Connection(client.http, reader.config, reader.opened))
    if begin is None:
        reader.rejoin()
    outcome = None
    while outcome is None:
        error: Exception | None = None
        try:
            async with aclosing(_connected(reader, begin, runs)) as frames:
                async for frame in frames:
                    for part in reader.feed(frame):
                        yield part
        except CUTS as cut:
            error = cut
        for part in reader.ended(error):
            yield part
        outcome = await arun_steps(client, between(reader))
    for part in reader.settled(*outcome):
        yield part


def read_run(client: SyncLangGraphClient, opening: Steps[Reading]) -> Generator[Part]:
    """`aread_run`, sync."""
    reader, begin, recipient = run_steps(client, opening)
    if begin is not None and _is_replaced(client.runs, SyncRunsClient):
        source = _given(reader, begin(client.runs))
    else:
        source = _read(client, reader, begin)
    with recipient.ending(), closing(source):
        for part in source:
            recipient.check_alone()
            yield from recipient.feed(part)
    yield from recipient.close()


def _given(reader: RunReader, stream: Iterable[Any]) -> Generator[Part]:
    for given in stream:
        yield from reader.feed(_frame(given))


def _read(client: SyncLangGraphClient, reader: RunReader, begin: Begin) -> Generator[Part]:
    runs = SyncRunsClient(SyncConnection(client.http, reader.config, reader.opened))
    if begin is None:
        reader.rejoin()
    outcome = None
    while outcome is None:
        error: Exception | None = None
        try:
            with closing(_connected(reader, begin, runs)) as frames:
                for frame in frames:
                    yield from reader.feed(frame)
        except CUTS as cut:
            error = cut
        yield from reader.ended(error)
        outcome = run_steps(client, between(reader))
    yield from reader.settled(*outcome)


def _is_replaced(runs: Any, sdk: type) -> bool:
    """Whether `runs.stream` is not the method that the SDK has there."""
    return getattr_static(runs, "stream", None) is not getattr_static(sdk, "stream")


def _frame(given: Any) -> Frame:
    """The frame of a part that the SDK, or its replacement, gives."""
    is_of_messages = str(given.event).partition("|")[0] == "messages"
    data, number = without_number(given.data) if is_of_messages else (given.data, None)
    return Frame(given.event, data, getattr(given, "id", None), 0, number)


def _connected(reader: RunReader, begin: Begin, runs: Any) -> Any:
    """The frames of the next connection: it begins the run, or joins one that has begun."""
    if begin is not None and not reader.is_open:
        return begin(runs)
    # A run that is not resumable has no log: the server sends only what comes from now on.
    cursor = (reader.alignment.cursor or FIRST) if reader.is_resumable else None
    if reader.joined_thread_id is not None:
        return runs.join_stream(
            reader.joined_thread_id, reader.run_id, last_event_id=cursor, headers=reader.headers
        )
    # The SDK has no method to join a run without a thread.
    asked = {**({"Last-Event-ID": cursor} if cursor else {}), **(reader.headers or {})}
    return runs.http.stream(f"/runs/{reader.run_id}/stream", "GET", headers=asked)


async def arun_steps(client: LangGraphClient, steps: Steps[T]) -> T:
    """Take steps: ask by the client, and wait.

    Returns:
        What the steps come to.
    """
    answer: Any = None
    try:
        while True:
            step = _next(steps, answer)
            try:
                answer = await (step(client) if callable(step) else asyncio.sleep(step))
            except NotFoundError:
                answer = None
            except QUESTION_ERRORS as error:
                answer = QuestionFailed(error)
    except StopIteration as stop:
        found: T = stop.value
        return found


def run_steps(client: SyncLangGraphClient, steps: Steps[T]) -> T:
    """`arun_steps`, sync."""
    answer: Any = None
    try:
        while True:
            step = _next(steps, answer)
            try:
                answer = step(client) if callable(step) else time.sleep(step)  # type: ignore[func-returns-value]  # None answers a wait
            except NotFoundError:
                answer = None
            except QUESTION_ERRORS as error:
                answer = QuestionFailed(error)
    except StopIteration as stop:
        found: T = stop.value
        return found


def _next(steps: Steps[Any], answer: Any) -> Step:
    return steps.throw(answer) if isinstance(answer, QuestionFailed) else steps.send(answer)
