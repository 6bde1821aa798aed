"""Lets front ends play the zoo: each graph plain and wrapped, on threads of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import product
from typing import NamedTuple, TypeAlias
from uuid import uuid4

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.clients.graphs import Animal
from tests.clients.history import history_of
from tests.clients.judge import Verdict, judge, worse
from tests.clients.python_clients import PYTHON_CLIENTS, Client
from tests.clients.recording import Asked, Recording
from tests.clients.server import wrapped_name

AT_ONCE = 50
"""How many Python clients are at work at once."""

FrontEnd: TypeAlias = Callable[[list[Asked]], Awaitable[list[Recording]]]
"""Does some jobs, and tells of each what was to be seen."""

Served: TypeAlias = Callable[[Animal, bool], str]
"""What a client has to ask for to get a graph, or the wrapped one."""

NOT_KEPT = {"Connection": "close"}
"""A connection that rests for five seconds is closed by the server, perhaps as it is used again."""


def by_name(animal: Animal, wrapped: bool) -> str:
    """How `zoo_server` serves it."""
    return wrapped_name(animal.name) if wrapped else animal.name


class Cell(NamedTuple):
    """One graph in one front end."""

    animal: str
    front_end: str
    wrapped: bool


def python_front_ends(
    client: LangGraphClient, names: Iterable[str] = PYTHON_CLIENTS.keys()
) -> dict[str, FrontEnd]:
    """The clients of Python, over one connection pool of a stock SDK client."""
    busy = asyncio.Semaphore(AT_ONCE)

    def front_end(program: Client) -> FrontEnd:
        async def one(asked: Asked) -> Recording:
            async with busy:
                return await program(client, asked)

        async def do(jobs: list[Asked]) -> list[Recording]:
            return await asyncio.gather(*map(one, jobs))

        return do

    return {name: front_end(PYTHON_CLIENTS[name]) for name in names}


async def play(
    url: str,
    front_ends: Mapping[str, FrontEnd],
    animals: Iterable[Animal],
    *,
    again: int = 0,
    served: Served = by_name,
) -> dict[Cell, Verdict]:
    """Judge every front end with every graph, plain and wrapped.

    Args:
        url: A `zoo_server`.
        front_ends: By name; they work side by side.
        animals: The graphs.
        again: How often to play a graph again that is worse wrapped than plain, since front
            ends that render when they have time do not show the same each time: on a busy machine
            the plain graph flickers in most plays, not in all. What is worse by nature is worse
            than the plain graph in each play.
        served: What the server calls a graph.
    """
    shown = list(animals)
    async with get_client(url=url, headers=NOT_KEPT) as client:
        found = await asyncio.gather(
            *(_play_again(client, url, one, shown, again, served) for one in front_ends.items())
        )
    return {cell: verdict for cells in found for cell, verdict in cells.items()}


def worse_cells(found: Mapping[Cell, Verdict]) -> dict[Cell, list[str]]:
    """The wrapped graphs that are worse than plain ones, and by which faults."""
    compared = {
        cell: worse(verdict, found[cell._replace(wrapped=False)])
        for cell, verdict in found.items()
        if cell.wrapped
    }
    return {cell: faults for cell, faults in compared.items() if faults}


def told(found: Mapping[Cell, Verdict]) -> dict[str, list[str]]:
    """What is worse, in words that explain a failed test."""
    return {
        f"{cell.animal} in {cell.front_end}: {faults}": list(found[cell].what)
        for cell, faults in worse_cells(found).items()
    }


async def _play_again(
    client: LangGraphClient,
    url: str,
    front_end: tuple[str, FrontEnd],
    animals: list[Animal],
    again: int,
    served: Served,
) -> dict[Cell, Verdict]:
    found = await _play(client, url, *front_end, animals, served)
    for _ in range(again):
        names = {cell.animal for cell in worse_cells(found)}
        if names:
            repeated = [animal for animal in animals if animal.name in names]
            played = await _play(client, url, *front_end, repeated, served)
            for cell in (cell for cell in played if cell.wrapped):
                plain = cell._replace(wrapped=False)
                pairs = product([found[cell], played[cell]], [found[plain], played[plain]])
                found[cell], found[plain] = min(pairs, key=lambda pair: len(worse(*pair)))
    return found


async def _play(
    client: LangGraphClient,
    url: str,
    name: str,
    front_end: FrontEnd,
    animals: list[Animal],
    served: Served,
) -> dict[Cell, Verdict]:
    both = [(animal, wrapped) for animal in animals for wrapped in (False, True)]
    jobs = [await _job(client, url, animal, served(animal, wrapped)) for animal, wrapped in both]
    recordings = await front_end(jobs)
    found: dict[Cell, Verdict] = {}
    for (animal, wrapped), job, recording in zip(both, jobs, recordings, strict=True):
        history = await history_of(client, await _thread(client, job), animal)
        found[Cell(animal.name, name, wrapped)] = judge(recording, history, animal.fails)
    return found


async def _job(client: LangGraphClient, url: str, animal: Animal, graph: str) -> Asked:
    thread = await client.threads.create(thread_id=str(uuid4()))
    return Asked(
        url=url,
        graph=graph,
        turns=list(animal.turns),
        options={"threadId": thread["thread_id"]},
    )


async def _thread(client: LangGraphClient, job: Asked) -> str:
    """The thread of a job: the one it was given, or the newest of the graph.

    Some front ends make their own; only one of them is at work at a time.
    """
    given: str = job["options"]["threadId"]
    if await client.runs.list(given):
        return given
    graph = {"graph_id": job["graph"]}
    newest = await client.threads.search(metadata=graph, sort_by="created_at", limit=1)
    return newest[0]["thread_id"]
