"""Consumers' runs on a server, as view events, read with an SDK client that counts their bytes.

The stock side asks as any client does, but uncompressed, as LangGraph sends; a wrapped graph is
asked for what it would stream without `once`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar

import httpx
from langgraph_sdk.client import LangGraphClient

from langgraph_once.compare.follower import MODES, Follower
from langgraph_once.compare.view import Side, SideView, ViewEvent
from langgraph_once.config import READER_CHECKPOINT, READER_KEY, RemoteConfig
from langgraph_once.remote import Reading, RunReader, aread_run, at_once, wire_mode
from langgraph_once.stream import GAP_MODE, PLAIN_READER


class Counting(NamedTuple):
    """A client, and what came to it."""

    client: LangGraphClient
    taken: Callable[[], int]
    """The bytes of event streams since this was asked last, before they were unpacked."""


@asynccontextmanager
async def counting_client(
    url: str, headers: Mapping[str, str] | None = None, *, timeout_s: float = 300
) -> AsyncIterator[Counting]:
    """Open a client.

    Args:
        url: Of the server.
        headers: To send with each request.
        timeout_s: How long the server may be silent.
    """
    streams: list[httpx.Response] = []
    told = 0

    async def note(response: httpx.Response) -> None:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            streams.append(response)

    def taken() -> int:
        nonlocal told
        before, told = told, sum(each.num_bytes_downloaded for each in streams)
        return told - before

    # To read certificates would block the event loop of the server, which asks itself by http.
    transport = httpx.AsyncHTTPTransport(verify=not url.startswith("http:"))
    async with httpx.AsyncClient(
        base_url=url,
        headers=headers,
        timeout=timeout_s,
        transport=transport,
        trust_env=False,
        event_hooks={"response": [note]},
    ) as http:
        yield Counting(LangGraphClient(http), taken)


T = TypeVar("T")

PLAIN: Final[Any] = {READER_KEY: PLAIN_READER}
STOCK_HEADERS: Final = {"Accept-Encoding": "identity"}
"""LangGraph's server compresses no event stream; ours is told not to, either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRequest:
    """What one consumer asks for: to join runs, and perhaps to begin one."""

    side: Side
    graph: str
    """The assistant, or the name of a graph."""
    thread_id: str | None = None
    """None makes one."""
    run_ids: tuple[str, ...] = ()
    """Runs of the thread to join, each from its beginning, in order."""
    start: Mapping[str, Any] | None = None
    """A run to begin after those: `{"input": …}`, or `{"resume": …}` to answer an interrupt.
    None begins none."""

    def answering(self, seen: SideView, answer: Any) -> SideRequest:
        """The same runs again, and one that answers what they wait for.

        Args:
            seen: What the consumer has of them.
            answer: To all that waits, or by the ids of interrupts.
        """
        return replace(
            self,
            thread_id=seen.thread_id,
            run_ids=tuple(seen.run_ids),
            start={"resume": answer},
        )


async def followed(asked: SideRequest, counting: Counting) -> AsyncGenerator[ViewEvent]:
    """What a consumer is sent, as view events. An error is told as the end of a run.

    Args:
        asked: What it asks for.
        counting: Its own client, from `counting_client`.
    """
    follower = Follower(asked.side)
    runs = _runs(asked, counting)
    async with aclosing(runs):
        try:
            async for thread_id, run_id in runs:
                for event in follower.begin(thread_id, run_id):
                    yield event
                events = _read(asked, counting, follower, thread_id, run_id)
                async with aclosing(events):
                    async for event in events:
                        yield event
        except Exception as error:  # of the server: who watches is to see it
            for event in (*follower.begin(asked.thread_id), *follower.end(error)):
                yield event


def all_followed(
    asked: Iterable[SideRequest], clients: Iterable[Counting]
) -> AsyncGenerator[ViewEvent]:
    """What several consumers are sent, each event as it comes.

    Args:
        asked: What each of them asks for.
        clients: The client of each, in their order.
    """
    return together(followed(*each) for each in zip(asked, clients, strict=True))


async def _runs(asked: SideRequest, counting: Counting) -> AsyncGenerator[tuple[str, str]]:
    """The runs to read, one after the other."""
    client, thread_id = counting.client, asked.thread_id
    if thread_id is not None:
        for run_id in asked.run_ids:
            yield thread_id, run_id
    if asked.start is None:
        return
    if thread_id is None:
        thread_id = (await client.threads.create())["thread_id"]
    is_answer = "resume" in asked.start
    run = await client.runs.create(
        thread_id,
        asked.graph,
        input=None if is_answer else asked.start.get("input"),
        command={"resume": asked.start["resume"]} if is_answer else None,
        stream_mode=[wire_mode(mode) for mode in MODES],  # type: ignore[misc]  # text to the SDK
        stream_subgraphs=True,
        stream_resumable=True,
        checkpoint=PLAIN if asked.side == "stock" else READER_CHECKPOINT,
    )
    yield thread_id, run["run_id"]


async def _read(
    asked: SideRequest, counting: Counting, follower: Follower, thread_id: str, run_id: str
) -> AsyncGenerator[ViewEvent]:
    reader = RunReader(
        RemoteConfig(),
        thread_id=thread_id,
        run_id=run_id,
        modes=[wire_mode(mode) for mode in MODES],
        subgraphs=True,
        headers=STOCK_HEADERS if asked.side == "stock" else None,
    )
    parts = aread_run(counting.client, at_once(Reading(reader)))
    failed: Exception | None = None
    try:
        async with aclosing(parts):
            async for part in parts:
                follower.received(counting.taken())
                if part.mode in MODES or part.mode == GAP_MODE:
                    for event in follower.feed(part):
                        yield event
    except Exception as error:  # the run failed, or cannot be read to its end
        failed = error
    follower.received(counting.taken())
    for event in follower.end(failed):
        yield event


async def together(streams: Iterable[AsyncGenerator[T]]) -> AsyncGenerator[T]:
    """The events of all `streams`, in the order in which they come.

    Leaving closes all streams; so does the error of one.
    """
    opened = [*streams]
    waiting = {_next(stream): stream for stream in opened}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                stream = waiting.pop(task)
                found = task.result()
                if found is not None:
                    yield found[0]
                    waiting[_next(stream)] = stream
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for stream in opened:
            await stream.aclose()


def _next(stream: AsyncGenerator[T]) -> asyncio.Task[tuple[T] | None]:
    """Ask a stream for its next event; None when it has ended."""

    async def ask() -> tuple[T] | None:
        try:
            return (await anext(stream),)
        except StopAsyncIteration:
            return None

    return asyncio.create_task(ask())
