"""SIGKILL amid the resume of an interrupt, and what three kinds of readers have in the end.

`langgraph dev` notes its runs every ten seconds. If it noted the first run as running, the server
that starts anew finishes the thread under the id of that run, and does not know the resume.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import aclosing
from typing import Any, NamedTuple

import httpx
from langchain_core.messages import BaseMessage
from langgraph.types import Command
from langgraph_sdk.client import LangGraphClient

from demo.dev_server import DevServer
from langgraph_once import (
    ChannelStreamingProcessor,
    Ledger,
    OnceRemoteGraph,
    TokenStreamingConfig,
    Transcript,
    stream_run,
)
from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamInterrupted
from langgraph_once.events import GapPossibleEvent
from langgraph_once.stream import GAP_MODE
from tests.integration_tests.cut_graphs import ASKED
from tests.integration_tests.cuts import opened, take, texts, texts_of

REMOTE = RemoteConfig(max_retries=30)
NOTED_S = 10.0
"""How often the server notes its runs."""

ANSWER: Any = {"resume": "yes"}


class Killed(NamedTuple):
    """What came of one reader."""

    gap: bool
    interrupted: bool
    """The server had lost the run, and the caller went on."""

    folds: bool
    difference: str
    """What it has and what the thread has, if they differ."""


class Reader:
    """Reads the runs of one thread, into one place."""

    def __init__(self, server: DevServer, thread_id: str, graph: str) -> None:
        self.server, self.thread_id, self.graph = server, thread_id, graph
        self.ledger = Ledger()
        self.has_gap = False

    async def read(self, client: LangGraphClient, given: Any) -> None:
        """Read one run to its end."""
        raise NotImplementedError

    def folded(self) -> Counter[str]:
        """The texts that the reader has."""
        raise NotImplementedError


class _Messages(Reader):
    def __init__(self, server: DevServer, thread_id: str, graph: str) -> None:
        super().__init__(server, thread_id, graph)
        self._has: dict[Any, BaseMessage] = {}

    def folded(self) -> Counter[str]:
        return texts_of(self._has.values())


class GraphReader(_Messages):
    """Folds the messages of `OnceRemoteGraph`."""

    async def read(self, client: LangGraphClient, given: Any) -> None:
        graph = OnceRemoteGraph(self.graph, client=client, remote=REMOTE)
        config: Any = {"configurable": {"thread_id": self.thread_id}}
        given = Command(resume="yes") if given is ANSWER else given
        chunks: Any = graph.astream(
            given, config, stream_mode=["messages", GAP_MODE], ledger=self.ledger
        )
        async with aclosing(chunks):
            async for mode, data in chunks:
                if mode == GAP_MODE:
                    self.has_gap = True
                else:
                    take(self._has, data[0])


class RunsReader(_Messages):
    """Folds the messages of `stream_run`."""

    async def read(self, client: LangGraphClient, given: Any) -> None:
        async with aclosing(self._run(client, given)) as parts:
            async for part in parts:
                if part.mode == GAP_MODE:
                    self.has_gap = True
                else:
                    take(self._has, part.data)

    def _run(self, client: LangGraphClient, given: Any) -> Any:
        return stream_run(
            client,
            self.thread_id,
            self.graph,
            stream_mode="messages",
            ledger=self.ledger,
            remote=REMOTE,
            **({"command": given} if given is ANSWER else {"input": given}),
        )


class EventsReader(RunsReader):
    """Folds the events of a `ChannelStreamingProcessor` to a transcript."""

    def __init__(self, server: DevServer, thread_id: str, graph: str) -> None:
        super().__init__(server, thread_id, graph)
        self._processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
        self._transcript = Transcript()

    async def read(self, client: LangGraphClient, given: Any) -> None:
        async with aclosing(self._run(client, given).events(self._processor)) as events:
            async for event in events:
                self._transcript.apply(event)
                if isinstance(event, GapPossibleEvent):
                    self.has_gap = True

    def folded(self) -> Counter[str]:
        return texts_of(self._transcript.messages())


READERS: dict[str, type[Reader]] = {
    "`OnceRemoteGraph`": GraphReader,
    "`stream_run`": RunsReader,
    "`ChannelStreamingProcessor`": EventsReader,
}


async def killed_amid_resume(
    server: DevServer, graph: str, *, seed: int, moments: int = 1, early_s: float = 0.4
) -> list[Killed]:
    """Interrupt a graph, resume it, kill the server amid that, and start it again.

    Args:
        server: It runs; it was started after the last kill.
        graph: The graph, whose first run takes about a second.
        seed: Chooses the moments of the resume at which it is killed.
        moments: How many of them: each has threads of its own, which are resumed accordingly.
        early_s: How long before the server notes its runs the first run begins.

    Returns:
        What came of each reader: for each moment the kinds in their order.
    """
    chosen = random.Random(seed)  # no secret
    after_s = [chosen.uniform(0.05, 2.5) for _ in range(moments)]
    async with opened(server.url) as client:
        readers = [
            (await _reader(kind, server, client, graph), after)
            for after in after_s
            for kind in READERS.values()
        ]
        await _before_noting(server, early_s)
        await asyncio.gather(*(each.read(client, ASKED) for each, _ in readers))
        started = asyncio.Event()
        resumed = asyncio.gather(
            *(_resumed(client, each, started, max(after_s) - after) for each, after in readers)
        )
        await asyncio.sleep(max(after_s))
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        started.set()
        return await resumed


async def _reader(
    kind: type[Reader], server: DevServer, client: LangGraphClient, graph: str
) -> Reader:
    thread_id = (await client.threads.create())["thread_id"]
    await client.threads.update(thread_id, metadata={"graph_id": graph})
    return kind(server, thread_id, graph)


async def _before_noting(server: DevServer, early_s: float) -> None:
    """Wait until the server is about to note its runs."""
    noted = server.cwd / ".langgraph_api" / ".langgraph_ops.pckl"
    known = noted.stat().st_mtime if noted.exists() else 0.0
    while not noted.exists() or noted.stat().st_mtime == known:  # noqa: ASYNC110  # a file
        await asyncio.sleep(0.01)
    await asyncio.sleep(NOTED_S - early_s)


async def _resumed(
    client: LangGraphClient, reader: Reader, started: asyncio.Event, wait_s: float
) -> Killed:
    """Resume after a while, and go on as the guide says, until there is nothing to do.

    What the thread has is asked for then: a server that noted the first run as running may run
    it once more on the thread that is done, when this reader has left.
    """
    await asyncio.sleep(wait_s)
    given, interrupted = ANSWER, 0
    for _ in range(6):
        try:
            await reader.read(client, given)
        except StreamInterrupted:
            interrupted += 1
        except httpx.TransportError:  # the server was killed before it answered the request
            interrupted += 1
            await started.wait()
        try:
            state = await client.threads.get_state(reader.thread_id)
        except httpx.TransportError:  # the run had ended, and the kill came after it
            await started.wait()
            state = await client.threads.get_state(reader.thread_id)
        if not state["next"]:
            break
        waits = any(task["interrupts"] and not task.get("result") for task in state["tasks"])
        given = ANSWER if waits else None
    has, wanted = reader.folded(), texts(state)
    folds = has == wanted and not state["next"]
    difference = "" if folds else f"{has} for {wanted}, next {state['next']}"
    return Killed(reader.has_gap, interrupted > 0, folds, difference)
