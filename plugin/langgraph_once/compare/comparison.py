"""A graph of a server, run for a stock consumer and for ours: what each of them has.

The runs of a consumer are view events, read with an SDK client that counts their bytes. The stock
side asks as any client does, but uncompressed, as LangGraph sends; a wrapped graph is asked for
what it would stream without `once`. The other side announces itself, as our clients do. One run may
be recorded for both sides: then nothing in the graph acts twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

import httpx
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIError

from langgraph_once.compare.follower import MODES, Follower
from langgraph_once.compare.view import SIDES, Item, Mark, Side, SideView, View, ViewEvent
from langgraph_once.config import READER_CHECKPOINT, READER_KEY, RemoteConfig
from langgraph_once.errors import OnceError, printable
from langgraph_once.remote import Reading, RunReader, aread_run, at_once, wire_mode
from langgraph_once.stream import GAP_MODE, PLAIN_READER, RECORDING_READER, SIDE_KEY, Part

_SILENCE_S: Final = 300
"""How long a server may be silent: a model may think for minutes."""


class Taken(NamedTuple):
    """Bytes of event streams."""

    events: int
    """As events: the same measure for every consumer, whatever compresses its stream."""
    wire: int
    """As they were sent."""


class Counting(NamedTuple):
    """A client, and what came to it."""

    client: LangGraphClient
    taken: Callable[[], Taken]
    """What came since this was asked last."""


@asynccontextmanager
async def counting_client(
    url: str, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Counting]:
    """Open a client.

    Args:
        url: Of the server.
        headers: To send with each request.
    """
    streams: list[httpx.Response] = []
    unpacked, told = 0, Taken(0, 0)

    async def note(response: httpx.Response) -> None:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            return
        streams.append(response)
        unpacking = response.aiter_bytes

        async def counted(chunk_size: int | None = None) -> AsyncIterator[bytes]:
            nonlocal unpacked
            async for data in unpacking(chunk_size):
                unpacked += len(data)
                yield data

        response.aiter_bytes = counted  # type: ignore[method-assign]  # the SDK reads by it

    def taken() -> Taken:
        nonlocal told
        before, told = told, Taken(unpacked, sum(each.num_bytes_downloaded for each in streams))
        return Taken(told.events - before.events, told.wire - before.wire)

    # To read certificates would block the event loop of the server, which asks itself by http.
    transport = httpx.AsyncHTTPTransport(verify=not url.startswith("http:"))
    async with httpx.AsyncClient(
        base_url=url,
        headers=headers,
        timeout=_SILENCE_S,
        transport=transport,
        trust_env=False,
        event_hooks={"response": [note]},
    ) as http:
        yield Counting(LangGraphClient(http), taken)


T = TypeVar("T")

Sides: TypeAlias = Side | Literal["both"]

CHECKPOINTS: Final[Mapping[Sides, Any]] = {
    "stock": {READER_KEY: PLAIN_READER},
    "once": READER_CHECKPOINT,
    "both": {READER_KEY: RECORDING_READER},
}
"""How each announces itself."""
STOCK_HEADERS: Final = {"Accept-Encoding": "identity"}
"""LangGraph's server compresses no event stream; ours is told not to, either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRequest:
    """What one consumer asks for: to join runs, and perhaps to begin one."""

    side: Sides
    """`both` records one run for both: its view events are of two sides, and count no bytes."""
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
    """What a consumer is sent, or both of one run, as view events. An error ends a run.

    Args:
        asked: What it asks for.
        counting: Its own client, from `counting_client`.
    """
    sides = SIDES if asked.side == "both" else (asked.side,)
    followers = {side: Follower(side) for side in sides}
    runs = _runs(asked, counting)
    async with aclosing(runs):
        try:
            async for thread_id, run_id in runs:
                for follower in followers.values():
                    for event in follower.begin(thread_id, run_id):
                        yield event
                events = _read(asked, counting, followers, thread_id, run_id)
                async with aclosing(events):
                    async for event in events:
                        yield event
        except Exception as error:  # of the server: who watches is to see it
            for follower in followers.values():
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
        checkpoint=CHECKPOINTS[asked.side],
    )
    yield thread_id, run["run_id"]


async def _read(
    asked: SideRequest,
    counting: Counting,
    followers: Mapping[Side, Follower],
    thread_id: str,
    run_id: str,
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
                _count(counting, followers)
                if part.mode in MODES or part.mode == GAP_MODE:
                    for side, follower in followers.items():
                        mine = part_for(side, part)
                        for event in () if mine is None else follower.feed(mine):
                            yield event
    except Exception as error:  # the run failed, or cannot be read to its end
        failed = error
    _count(counting, followers)
    for follower in followers.values():
        for event in follower.end(failed):
            yield event


def _count(counting: Counting, followers: Mapping[Side, Follower]) -> None:
    """Count what came; of one stream for both sides nobody can say what would be whose."""
    first, *others = followers.values()
    if not others:
        first.received(*counting.taken())


def part_for(side: Side, part: Part) -> Part | None:
    """What one side has of a part of a recording; None where it is a message of the other."""
    told = part.meta.get(SIDE_KEY) if part.mode == "messages" else None
    if told is None:
        return part
    if told != side:
        return None
    meta = {key: value for key, value in part.meta.items() if key != SIDE_KEY}
    return part._replace(meta=meta)


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


ROWS: Final = {
    "texts": "texts that came",
    "repeated": "repeated",
    "missing": "missing",
    "not_kept": "not kept",
    "retracted": "retracted",
    "bytes": "bytes of the events",
    "wire_bytes": "bytes on the wire",
}
BYTES: Final = ("bytes", "wire_bytes")
FAULTS: Final = ("repeated", "missing", "not_kept")


async def compared(
    url: str,
    graph: str,
    start: Mapping[str, Any],
    *,
    answers: Sequence[Any] = (),
    headers: Mapping[str, str] | None = None,
    in_one_run: bool = False,
) -> View:
    """Run a graph for both, each in a thread of its own, which is deleted afterwards.

    Args:
        url: The server.
        graph: The name of the graph; wrapped or not.
        start: The run, as `SideRequest` has it.
        answers: To what it waits for, one after the other.
        headers: To send with each request.
        in_one_run: Run the graph once, and record it for both; no bytes are counted then.

    Raises:
        OnceError: The server does not answer, or a run failed.
    """
    async with AsyncExitStack() as stack:
        sides: tuple[Sides, ...] = ("both",) if in_one_run else SIDES
        clients = [await stack.enter_async_context(counting_client(url, headers)) for _ in sides]
        asked = [SideRequest(side=side, graph=graph, start=start) for side in sides]
        view = await _view_of(asked, clients)
        try:
            for answer in answers:
                if not all(view.sides[side].waiting for side in SIDES):
                    break
                seen = {**view.sides, "both": view.sides["once"]}
                asked = [each.answering(seen[each.side], answer) for each in asked]
                view = await _view_of(asked, clients)
        finally:
            await _delete(view.sides.values(), clients[0])
    for side in SIDES:
        if view.sides[side].status == "failed":
            said = " ".join(str(view.sides[side].error).split())
            raise OnceError(f"{url}: graph {graph!r}: {said}")
    return view


def table(view: View) -> Iterator[str]:
    """What each side has, in numbers, a line for each row; none for bytes that nobody counted."""
    counts = [asdict(view.sides[side].counts) for side in SIDES]
    wide = max(map(len, ROWS.values()))
    yield f"{'':{wide}} {'LangGraph':>12} {'once':>12}"
    for name, title in ROWS.items():
        if name in BYTES and not any(each[name] for each in counts):
            continue
        yield f"{title:{wide}} " + " ".join(f"{each[name]:>12,}" for each in counts)


def faults(view: View) -> Iterator[str]:
    """What is wrong with what each side has, a line for each text."""
    for side, name in zip(SIDES, ("LangGraph", "once"), strict=True):
        for item in view.sides[side].items:
            if item.kind == "message":
                for mark, text in _marked(item):
                    if mark in FAULTS:
                        words = " ".join(text.split())
                        yield printable(f"{name}: {mark.replace('_', ' ')}: {words}")


def is_unwrapped(view: View) -> bool:
    """Whether the server said nothing to who reads with this package that only `once` knows."""
    counts = view.sides["once"].counts
    return counts.texts > 0 and counts.annotated == 0


def as_json(view: View) -> dict[str, Any]:
    """The numbers of both sides, by side."""
    return {
        side: {"status": view.sides[side].status, **asdict(view.sides[side].counts)}
        for side in SIDES
    }


def _marked(item: Item) -> Iterable[tuple[Mark, str]]:
    """The text of an item under its mark, or each piece under its own."""
    if item.mark != "kept":
        return [(item.mark, item.text)]
    return [(piece.mark, piece.text) for piece in item.pieces if piece.kind == "text"]


async def _view_of(asked: Sequence[SideRequest], clients: Sequence[Counting]) -> View:
    view = View()
    async with aclosing(all_followed(asked, clients)) as events:
        async for event in events:
            view.apply(event)
    return view


async def _delete(sides: Iterable[SideView], counting: Counting) -> None:
    for side in sides:
        if side.thread_id is not None:
            # The comparison is done: a thread that stays behind does not make it fail.
            with suppress(APIError, httpx.HTTPError):
                await counting.client.threads.delete(side.thread_id)
