"""Reads a run to its end through every cut: connect, read, ask, wait, connect again.

Sync and async differ only in how they wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable
from contextlib import aclosing, closing
from functools import partial
from inspect import getattr_static
from typing import Any, Final, TypeVar

import httpx
from langgraph_sdk.client import LangGraphClient, RunsClient, SyncLangGraphClient, SyncRunsClient
from langgraph_sdk.errors import APIStatusError, NotFoundError

from langgraph_once.remote.following.alignment import FIRST, AmbiguousError
from langgraph_once.remote.following.failures import UnknownRunError
from langgraph_once.remote.following.frame import Frame
from langgraph_once.remote.following.questions import Headers, Step, Steps, Unanswered, between
from langgraph_once.remote.following.run_reader import RunReader
from langgraph_once.remote.wire.connection import Connection, SyncConnection
from langgraph_once.stream import Part

__all__ = ["aanswered", "answered", "aread_run", "read_run"]

T = TypeVar("T")

ENDS: Final = (httpx.RequestError, APIStatusError, UnknownRunError, AmbiguousError)
"""The errors that end a connection."""

UNANSWERED: Final = (httpx.RequestError, APIStatusError, ValueError)
"""How a question fails. A `ValueError` says that the answer is no JSON: a proxy's page, perhaps."""


def aread_run(
    client: LangGraphClient,
    reader: RunReader,
    create: Callable[[RunsClient], Any] | None,
    headers: Headers = None,
) -> AsyncGenerator[Part]:
    """The parts of a run, each once, until it ends.

    If a user has replaced the client's `runs.stream`, to trace or to test, that method is called
    and its frames are all there is. It may end as it likes; whether it reconnects is up to it.

    Args:
        client: The user's client.
        reader: What is known of the run.
        create: Begins the run, given a `RunsClient`; None to join the one that the reader names.
        headers: To send with each request beside the client's own.

    Raises:
        APIError: The server refuses to begin the run.
        RemoteException: The run failed.
        StreamInterrupted: The run cannot be read to its end.
    """
    if create is not None and _is_replaced(client.runs, RunsClient):
        return _agiven(reader, create(client.runs))
    return _aread(client, reader, create, headers)


async def _agiven(reader: RunReader, stream: AsyncIterable[Any]) -> AsyncGenerator[Part]:
    async for given in stream:
        for part in reader.feed(_frame(given)):
            yield part


async def _aread(
    client: LangGraphClient,
    reader: RunReader,
    create: Callable[[RunsClient], Any] | None,
    headers: Headers,
) -> AsyncGenerator[Part]:
    runs = RunsClient(Connection(client.http, reader.config, reader.opened))
    connect = partial(_joined, reader, headers) if create is None else create
    if create is None:
        reader.rejoin()
    outcome = None
    while outcome is None:
        async with aclosing(_aconnection(reader, connect(runs))) as parts:
            async for part in parts:
                yield part
        if not reader.must_begin_again:
            connect = partial(_joined, reader, headers)
        outcome = await aanswered(client, between(reader, headers))
    for part in reader.settled(*outcome):
        yield part


async def _aconnection(reader: RunReader, frames: AsyncGenerator[Frame]) -> AsyncGenerator[Part]:
    """The parts of one connection, however it ends."""
    error: Exception | None = None
    try:
        async with aclosing(frames):
            async for frame in frames:
                for part in reader.feed(frame):
                    yield part
    except ENDS as cut:
        error = reader.survives(cut)
    for part in reader.ended(error):
        yield part


def read_run(
    client: SyncLangGraphClient,
    reader: RunReader,
    create: Callable[[SyncRunsClient], Any] | None,
    headers: Headers = None,
) -> Generator[Part]:
    """`aread_run`, sync."""
    if create is not None and _is_replaced(client.runs, SyncRunsClient):
        return _given(reader, create(client.runs))
    return _read(client, reader, create, headers)


def _given(reader: RunReader, stream: Iterable[Any]) -> Generator[Part]:
    for given in stream:
        yield from reader.feed(_frame(given))


def _read(
    client: SyncLangGraphClient,
    reader: RunReader,
    create: Callable[[SyncRunsClient], Any] | None,
    headers: Headers,
) -> Generator[Part]:
    runs = SyncRunsClient(SyncConnection(client.http, reader.config, reader.opened))
    connect = partial(_joined, reader, headers) if create is None else create
    if create is None:
        reader.rejoin()
    outcome = None
    while outcome is None:
        with closing(_connection(reader, connect(runs))) as parts:
            yield from parts
        if not reader.must_begin_again:
            connect = partial(_joined, reader, headers)
        outcome = answered(client, between(reader, headers))
    yield from reader.settled(*outcome)


def _connection(reader: RunReader, frames: Generator[Frame]) -> Generator[Part]:
    """`_aconnection`, sync."""
    error: Exception | None = None
    try:
        with closing(frames):
            for frame in frames:
                yield from reader.feed(frame)
    except ENDS as cut:
        error = reader.survives(cut)
    yield from reader.ended(error)


def _is_replaced(runs: Any, sdk: type) -> bool:
    """Whether `runs.stream` is not the method that the SDK has there."""
    return getattr_static(runs, "stream", None) is not getattr_static(sdk, "stream")


def _frame(given: Any) -> Frame:
    """The frame of a part that the SDK, or its replacement, gives."""
    return Frame(given.event, given.data, getattr(given, "id", None), 0)


def _joined(reader: RunReader, headers: Headers, runs: Any) -> Any:
    """One more connection to a run."""
    cursor = (reader.alignment.cursor or FIRST) if reader.is_resumable else None
    if reader.joined_thread_id is not None:
        return runs.join_stream(
            reader.joined_thread_id, reader.run_id, last_event_id=cursor, headers=headers
        )
    asked = {**({"Last-Event-ID": cursor} if cursor else {}), **(headers or {})}
    return runs.http.stream(f"/runs/{reader.run_id}/stream", "GET", headers=asked)


async def aanswered(client: LangGraphClient, steps: Steps[T]) -> T:
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
            except UNANSWERED as error:
                answer = Unanswered(error)
    except StopIteration as stop:
        found: T = stop.value
        return found


def answered(client: SyncLangGraphClient, steps: Steps[T]) -> T:
    """`aanswered`, sync."""
    answer: Any = None
    try:
        while True:
            step = _next(steps, answer)
            try:
                answer = step(client) if callable(step) else time.sleep(step)  # type: ignore[func-returns-value]  # None answers a wait
            except NotFoundError:
                answer = None
            except UNANSWERED as error:
                answer = Unanswered(error)
    except StopIteration as stop:
        found: T = stop.value
        return found


def _next(steps: Steps[Any], answer: Any) -> Step:
    return steps.throw(answer) if isinstance(answer, Unanswered) else steps.send(answer)
