"""Reads a run to its end through every cut: connect, read, ask, wait, connect again.

Sync and async differ only in how they wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Mapping
from contextlib import aclosing, closing
from inspect import getattr_static
from typing import Any, Final, NamedTuple, Self, TypeAlias, TypeVar

import httpx
from langgraph_sdk.client import LangGraphClient, RunsClient, SyncLangGraphClient, SyncRunsClient
from langgraph_sdk.errors import APIStatusError, NotFoundError

from langgraph_once.config import READER_CHECKPOINT, RemoteConfig
from langgraph_once.remote.connection import Connection, SyncConnection
from langgraph_once.remote.following.alignment import FIRST, AmbiguousError, Frame, without_number
from langgraph_once.remote.following.consumer import Recipient
from langgraph_once.remote.following.questions import QuestionFailed, Step, Steps, between
from langgraph_once.remote.following.reconcile import goes_on
from langgraph_once.remote.following.retries import UnknownRunError
from langgraph_once.remote.following.run_reader import RunReader
from langgraph_once.stream import Part

T = TypeVar("T")

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
