"""A graph of a server, run for a stock consumer and for ours: what each of them has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import asdict
from typing import Any, Final

import httpx
from langgraph_sdk.errors import APIError

from langgraph_once.compare.sides import Counting, SideRequest, Sides, all_followed, counting_client
from langgraph_once.compare.view import SIDES, Item, Mark, SideView, View
from langgraph_once.errors import OnceError
from langgraph_once.redaction import printable

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
        view = await _read(asked, clients)
        try:
            for answer in answers:
                if not all(view.sides[side].waiting for side in SIDES):
                    break
                seen = {**view.sides, "both": view.sides["once"]}
                asked = [each.answering(seen[each.side], answer) for each in asked]
                view = await _read(asked, clients)
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


async def _read(asked: Sequence[SideRequest], clients: Sequence[Counting]) -> View:
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
