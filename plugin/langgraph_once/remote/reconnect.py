"""Reads a run to its end through every cut: sync and async, the same but for the waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import aclosing, closing
from typing import Any, Final

import httpx
from langgraph_sdk.client import LangGraphClient, RunsClient, SyncLangGraphClient, SyncRunsClient
from langgraph_sdk.errors import APIStatusError, NotFoundError

from langgraph_once.remote.alignment import FIRST, AmbiguousError
from langgraph_once.remote.connection import Connection, SyncConnection
from langgraph_once.remote.frames import Frame
from langgraph_once.remote.reader import GONE, RunReader, UnknownRunError
from langgraph_once.remote.reconcile import State, next_page
from langgraph_once.remote.state import before_of
from langgraph_once.stream import Part

__all__ = ["Headers", "aread_run", "read_run"]

Headers = Mapping[str, str] | None

ENDS: Final = (httpx.RequestError, APIStatusError, UnknownRunError, AmbiguousError)
UNANSWERED: Final = (httpx.RequestError, APIStatusError, ValueError)
"""How a question fails; a `ValueError` is no JSON, or another's, as of a proxy's page."""

UNDER_WAY: Final = frozenset({"pending", "running"})


async def aread_run(
    client: LangGraphClient,
    reader: RunReader,
    create: Callable[[RunsClient], Any] | None,
    headers: Headers = None,
) -> AsyncGenerator[Part]:
    """The parts of a run, each once, until it ends.

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
    runs = RunsClient(Connection(client.http, reader.config, reader.opened))
    if create is None:
        reader.rejoin()
    frames = _joined(runs, reader, headers) if create is None else create(runs)
    while True:
        async with aclosing(_aconnection(reader, frames)) as parts:
            async for part in parts:
                yield part
        if reader.must_ask:
            try:
                status = await _status(client, reader, headers)
                states = await _history(client, reader, status, headers)
            except UNANSWERED as error:
                reader.unanswered(error)
            else:
                if status not in UNDER_WAY:
                    break
        await asyncio.sleep(reader.rejoin())
        frames = _joined(runs, reader, headers)
    for part in reader.settled(status, states):
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
    runs = SyncRunsClient(SyncConnection(client.http, reader.config, reader.opened))
    if create is None:
        reader.rejoin()
    frames = _joined(runs, reader, headers) if create is None else create(runs)
    while True:
        with closing(_connection(reader, frames)) as parts:
            yield from parts
        if reader.must_ask:
            try:
                status = _status_sync(client, reader, headers)
                states = _history_sync(client, reader, status, headers)
            except UNANSWERED as error:
                reader.unanswered(error)
            else:
                if status not in UNDER_WAY:
                    break
        time.sleep(reader.rejoin())
        frames = _joined(runs, reader, headers)
    yield from reader.settled(status, states)


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


def _joined(runs: Any, reader: RunReader, headers: Headers) -> Any:
    """One more connection to a run."""
    cursor = (reader.alignment.cursor or FIRST) if reader.is_resumable else None
    if reader.joined_thread_id is not None:
        return runs.join_stream(
            reader.joined_thread_id, reader.run_id, last_event_id=cursor, headers=headers
        )
    asked = {**({"Last-Event-ID": cursor} if cursor else {}), **(headers or {})}
    return runs.http.stream(f"/runs/{reader.run_id}/stream", "GET", headers=asked)


async def _status(client: LangGraphClient, reader: RunReader, headers: Headers) -> str:
    if (known := reader.known_status) is not None:
        return known
    try:
        run = await client.runs.get(str(reader.thread_id), str(reader.run_id), headers=headers)
    except NotFoundError:
        return GONE
    return _status_of(run)


def _status_sync(client: SyncLangGraphClient, reader: RunReader, headers: Headers) -> str:
    if (known := reader.known_status) is not None:
        return known
    try:
        run = client.runs.get(str(reader.thread_id), str(reader.run_id), headers=headers)
    except NotFoundError:
        return GONE
    return _status_of(run)


async def _history(
    client: LangGraphClient, reader: RunReader, status: str, headers: Headers
) -> list[State]:
    """The checkpoints of a run, newest first, where they are needed."""
    states: list[State] = []
    asked = reader.history_asked(status)
    while asked is not None:
        call = {**asked, "before": before_of(asked.get("before"))}
        try:
            page = _page_of(await client.threads.get_history(**call, headers=headers))
        except NotFoundError:
            return []
        states += page
        asked = next_page(asked, page)
    return states


def _history_sync(
    client: SyncLangGraphClient, reader: RunReader, status: str, headers: Headers
) -> list[State]:
    states: list[State] = []
    asked = reader.history_asked(status)
    while asked is not None:
        call = {**asked, "before": before_of(asked.get("before"))}
        try:
            page = _page_of(client.threads.get_history(**call, headers=headers))
        except NotFoundError:
            return []
        states += page
        asked = next_page(asked, page)
    return states


def _status_of(run: Any) -> str:
    """What an answer tells of the status of a run.

    Raises:
        ValueError: Nothing.
    """
    status = run.get("status") if isinstance(run, Mapping) else None
    if not isinstance(status, str):
        raise ValueError("expected a run with its status")
    return status


def _page_of(states: Any) -> list[State]:
    """The checkpoints in an answer.

    Raises:
        ValueError: It is no list of them.
    """
    if not isinstance(states, list) or not all(isinstance(state, Mapping) for state in states):
        raise ValueError("expected a list of checkpoints")
    return states
