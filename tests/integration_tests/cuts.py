"""Cuts of event streams, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx
from langchain_core.messages import BaseMessage, BaseMessageChunk, RemoveMessage
from langgraph_sdk.client import LangGraphClient

from demo.dev_server import DevServer
from langgraph_once.config import READER_CHECKPOINT, DedupConfig, RemoteConfig
from langgraph_once.errors import StreamInterrupted
from langgraph_once.remote import stream_run
from langgraph_once.remote.reconnect import Reading, aread_run, at_once
from langgraph_once.remote.run_reader import RunReader
from langgraph_once.remote.runs import Consumer
from langgraph_once.stream import GAP_MODE, Part
from langgraph_once.stream.shapes import mode_set, revive
from tests.corpus.states import listed
from tests.integration_tests.cut_graphs import ASKED
from tests.integration_tests.sse_proxy import Cut, CuttingProxy

GRAPHS = "tests.integration_tests.cut_graphs"
WRAPPED = "langgraph_once.platform.graphs"
FORGOTTEN_FRAME = 3
"""Behind which event the reader of such a run is cut off."""

MODES = ("messages-tuple", "updates", "values")

AUTO = DedupConfig(state="auto")
"""For one reader of all modes, who adds up what they say."""


def manifest() -> dict[str, Any]:
    """A `langgraph.json` that serves the graphs, each wrapped by `once` and plain."""
    graphs: dict[str, Any] = {}
    for name in ("drawn", "slow", "late", "beside", "asking"):
        graphs[f"{name}_plain"] = f"{GRAPHS}:{name}_graph"
        graphs[name] = {"path": f"{WRAPPED}:{name}", "once": {"target": f"{GRAPHS}:{name}_graph"}}
    return {
        "dependencies": ["."],
        "graphs": graphs,
        "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
        "http": {"app": "langgraph_once.platform.app:app"},
    }


def served(folder: Path) -> DevServer:
    """A server of these graphs, which is not started yet; it runs several at once."""
    config = folder / "langgraph.json"
    config.write_text(json.dumps(manifest()))
    return DevServer(config, cwd=folder, options=("--n-jobs-per-worker", "32"))


@dataclass(frozen=True)
class Case:
    """What a stream is asked for."""

    graph: str
    modes: tuple[str, ...]
    subgraphs: bool

    def __str__(self) -> str:
        return f"{self.graph}-{'+'.join(self.modes)}{'-sub' if self.subgraphs else ''}"


CASES = [
    Case(graph, modes, subgraphs)
    for graph in ("drawn", "drawn_plain")
    for modes in (*((mode,) for mode in MODES), MODES)
    for subgraphs in (False, True)
]


@dataclass(frozen=True)
class Outcome:
    """What came of one cut."""

    exact: bool
    """What came is what the server's log holds, in its order."""

    gap: bool
    folds: bool
    """Folding what came gives the state of the thread."""

    connections: int = field(default=0, compare=False)
    """How many there were, the one that was cut among them."""

    difference: str = field(default="", compare=False)
    """Where what came and the log part, if they do."""


def opened(url: str) -> LangGraphClient:
    """A client that makes a connection for each request, uncompressed."""
    http = httpx.AsyncClient(
        base_url=url,
        timeout=30,
        headers={"Accept-Encoding": "identity"},
        limits=httpx.Limits(max_keepalive_connections=0),
    )
    return LangGraphClient(http)


async def cut_once(server: DevServer, case: Case, cut: Cut | None) -> tuple[Outcome, int]:
    """Run a graph, cut its stream once, and compare with the server's log and the state.

    Returns:
        What came of it, and how many events there were.
    """
    with CuttingProxy(server.port, cuts=[] if cut is None else [cut]) as proxy:
        async with opened(proxy.url) as client, opened(server.url) as direct:
            thread_id = (await direct.threads.create())["thread_id"]
            reader = _reader(case, thread_id)
            reading = Reading(reader, _begins(case, thread_id))
            parts = [part async for part in aread_run(client, at_once(reading))]
            again = _reader(case, thread_id, run_id=reader.run_id)
            log = [part async for part in aread_run(direct, at_once(Reading(again)))]
            state = await direct.threads.get_state(thread_id)
    events = [part for part in parts if part.mode != GAP_MODE]
    outcome = Outcome(
        exact=events == log,
        gap=len(events) < len(parts),
        folds=folds(parts, case, state),
        connections=len(proxy.bodies),
        difference=_difference(events, log),
    )
    return outcome, len(log) + 1  # the metadata are no part


def _difference(events: Sequence[Part], log: Sequence[Part]) -> str:
    for at, (came, sent) in enumerate(zip_longest(events, log)):
        if came != sent:
            return f"of {len(events)} and {len(log)}, number {at}: {came} came, {sent} was sent"
    return ""


def _reader(case: Case, thread_id: str, run_id: str | None = None) -> RunReader:
    return RunReader(
        RemoteConfig(),
        thread_id=thread_id,
        run_id=run_id,
        modes=case.modes,
        subgraphs=case.subgraphs,
    )


def _begins(case: Case, thread_id: str) -> Any:
    return lambda runs: runs.stream(
        thread_id,
        case.graph,
        input=ASKED,
        stream_mode=list(case.modes),
        stream_subgraphs=case.subgraphs,
        stream_resumable=True,
        on_disconnect="continue",
        checkpoint=READER_CHECKPOINT,
    )


def folds(parts: Iterable[Part], case: Case, state: Any) -> bool:
    """Whether a consumer of these parts has the texts of the state, each once."""
    consumer = Consumer(AUTO, None, mode_set(case.modes))
    return folded(new for part in parts for new in consumer.feed(part)) == texts(state)


def folded(parts: Iterable[Part]) -> Counter[str]:
    """The texts that a consumer has in the end, by message, without what the user said."""
    has: dict[Any, BaseMessage] = {}
    for part in parts:
        if part.mode == "messages":
            take(has, part.data)
        elif part.mode in ("updates", "values"):
            for found in listed(part.data):
                take(has, found.message)
    return texts_of(has.values())


def take(has: dict[Any, BaseMessage], message: BaseMessage) -> None:
    """Add a message to those that a reader has, who folds by id."""
    if isinstance(message, RemoveMessage):
        has.pop(message.id, None)
    elif isinstance(message, BaseMessageChunk) and message.id in has:
        known = has[message.id]
        has[message.id] = known.model_copy(update={"content": str(known.text) + str(message.text)})
    else:
        has[message.id] = message


def texts(state: Any) -> Counter[str]:
    """The texts of a state, without what the user said."""
    return texts_of(revive(state["values"]).get("messages", ()))


def texts_of(messages: Iterable[BaseMessage]) -> Counter[str]:
    """The texts of messages, without what the user said."""
    return Counter(str(m.text) for m in messages if m.type != "human")


def cuts_of(events: int, *, away_s: float = 0.3) -> list[Cut]:
    """Every event: cut behind it, amid it, amid a character of it, and the run ended meanwhile."""
    cuts = []
    for frame in range(events):
        cuts += [Cut(frame), Cut(frame, "middle"), Cut(frame, "character")]
        if frame % 4 == 0:
            cuts.append(Cut(frame, away_s=away_s))
    return cuts


async def outcomes(
    server: DevServer, case: Case, cuts: Sequence[Cut], *, at_once: int = 4
) -> list[tuple[Cut, Outcome]]:
    """What comes of each cut."""
    limit = asyncio.Semaphore(at_once)

    async def tried(cut: Cut) -> tuple[Cut, Outcome]:
        async with limit:
            return cut, (await cut_once(server, case, cut))[0]

    return await asyncio.gather(*map(tried, cuts))


@dataclass(frozen=True)
class Restart:
    """A server that ends amid a run, and starts again on the same saver."""

    case: Case
    how: Literal["stop", "kill"]
    """Asked to stop, so that it goes on with the run later; or SIGKILL. That forgets the run, if
    it was not noted yet, which a server does every ten seconds."""

    after: int
    """Behind which part of the stream."""

    pause_s: float = 0.0
    """How long behind that part."""

    def __str__(self) -> str:
        return f"{self.how}-{self.case}-{self.after}"


def _restarts() -> Iterable[Restart]:
    for graph in ("slow", "slow_plain"):
        for modes, after in (
            (MODES, (4, 14)),
            (MODES[:1], (3, 12)),
            (MODES[1:2], (1,)),
            (MODES[2:], (1, 2)),
        ):
            for part in after:
                yield Restart(Case(graph, modes, False), "stop", part)
                yield Restart(Case(graph, modes, False), "kill", part)
        late, beside = (graph.replace("slow", name) for name in ("late", "beside"))
        yield Restart(Case(late, MODES, False), "kill", 14, pause_s=11)
        for modes, part in ((MODES, 12), (MODES, 22), (MODES[:1], 9), (MODES[:1], 17)):
            yield Restart(Case(beside, modes, False), "kill", part, pause_s=0.5)


RESTARTS = list(_restarts())


FORGOTTEN = [
    Case(graph, modes, False)
    for graph in ("drawn", "drawn_plain")
    for modes in (*((mode,) for mode in MODES), MODES)
]
"""Runs that end while their reader is away, on a server that forgets what it sent of them."""


class Restarted(NamedTuple):
    """What came of a restart."""

    gap: bool
    interrupted: bool
    """The server did not know the run any more, and the caller went on."""
    folds: bool


async def restarted(server: DevServer, restart: Restart) -> Restarted:
    """Run a graph, end the server amid that, start it again, and compare with the state.

    Where the server no longer knows the run, the caller goes on from the last checkpoint.
    """
    case, parts, interrupted = restart.case, list[Part](), False
    async with opened(server.url) as client:
        thread_id = await _thread(server, client, case)
        call: Any = {
            "stream_mode": list(case.modes),
            "stream_subgraphs": case.subgraphs,
            "dedup": AUTO,
            "remote": RemoteConfig(max_retries=30),
        }
        stream = stream_run(client, thread_id, case.graph, input=ASKED, **call)
        try:
            await _taken(server, restart, stream, parts)
        except StreamInterrupted as error:
            interrupted = True
            again = stream_run(client, thread_id, case.graph, ledger=error.ledger, **call)
            parts += [part async for part in again]
        state = await client.threads.get_state(thread_id)
    has, wanted = folded(_kept(parts, case)), texts(state)
    # Updates alone take nothing back: what was sent and not yet written comes again, see `_kept`.
    may_have_more = interrupted and restart.how == "kill" and case.modes == ("updates",)
    is_right = not wanted - has if may_have_more else has == wanted
    is_over = not state["next"]
    return Restarted(any(p.mode == GAP_MODE for p in parts), interrupted, is_right and is_over)


def _kept(parts: list[Part], case: Case) -> list[Part]:
    """What a reader keeps of the parts of both streams.

    A graph writes its checkpoints behind its back: a SIGKILL may come when a state was sent and
    not yet written. The node then runs anew, and its message has another id in the next states.
    Who reads states alone has the last one; only `messages` and `updates` are put together.
    """
    return parts[-1:] if case.modes == ("values",) else parts


async def _thread(server: DevServer, client: LangGraphClient, case: Case) -> str:
    """A thread that the server knows also after a SIGKILL."""
    thread_id = (await client.threads.create())["thread_id"]
    await client.threads.update(thread_id, metadata={"graph_id": case.graph})
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    return str(thread_id)


async def _taken(
    server: DevServer, restart: Restart, stream: AsyncIterator[Part], parts: list[Part]
) -> None:
    starting = None
    async for part in stream:
        parts.append(part)
        if len(parts) == restart.after and starting is None:
            await asyncio.sleep(restart.pause_s)
            await asyncio.to_thread(server.kill if restart.how == "kill" else server.stop)
            starting = asyncio.create_task(asyncio.to_thread(server.start))
    if starting is not None:
        await starting


async def finished_while_away(server: DevServer, case: Case) -> Restarted:
    """Cut a stream, let the run end, and restart the server, which forgets what it sent."""
    parts = list[Part]()
    with CuttingProxy(server.port, cuts=[Cut(FORGOTTEN_FRAME, away_s=15)]) as proxy:
        async with opened(proxy.url) as client, opened(server.url) as direct:
            thread_id = (await direct.threads.create())["thread_id"]
            stream = stream_run(
                client,
                thread_id,
                case.graph,
                input=ASKED,
                stream_mode=list(case.modes),
                stream_subgraphs=case.subgraphs,
                dedup=AUTO,
                remote=RemoteConfig(max_retries=30),
            )
            parts.append(await anext(stream))
            await direct.runs.join(thread_id, str(stream.run_id))
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)
            parts += [part async for part in stream]
            state = await direct.threads.get_state(thread_id)
    has_gap = any(part.mode == GAP_MODE for part in parts)
    return Restarted(has_gap, False, folded(parts) == texts(state))
