"""How the time for one message grows with what a reader has had: it must not."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Final, Protocol, TypeAlias

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send

from graphs.models import ScriptedChatModel
from langgraph_once import (
    ChannelStreamingProcessor,
    Ledger,
    TokenStreamingConfig,
    Transcript,
    dedup,
    once,
)
from langgraph_once.remote.graph import Recipients, Wanted
from langgraph_once.stream import Part, chunks_of

COUNTS: Final = (100, 1_000, 10_000)
MODES: Final = ("messages", "updates")
TOKENS: Final = 3

Runs: TypeAlias = Iterable[list[Part]]
"""The streams of one thread."""


class Reader(Protocol):
    """Reads the streams of one thread."""

    def read(self, parts: Iterable[Part], /) -> Iterator[Any]:
        """What it makes of one stream."""


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield "## Growth"
    yield ""
    yield f"A reader gets so many messages of {TOKENS} tokens as each column says, without"
    yield "annotations. The time of the processor for each of them, in µs: a cost that grows with"
    yield "what the reader has shows as a row that rises. LangGraph's own does, with the tasks of a"
    yield "step; it is not tried with 10,000."
    yield ""
    yield "| reader | what grows | " + " | ".join(f"{count:,}" for count in COUNTS) + " |"
    yield "|---|---|" + "---:|" * len(COUNTS)
    for name, make in READERS.items():
        for what, runs in SHAPES.items():
            times = (_us(make, runs, count) for count in COUNTS)
            yield f"| {name} | {what} | " + " | ".join(f"{us:,.0f}" for us in times) + " |"
    for name, wrap in (("plain graph", _itself), ("`once(graph)`", once)):
        for what, make_graph in GRAPHS.items():
            counts = COUNTS if make_graph is _said else COUNTS[:-1]
            cells = [f"{_graph_us(wrap(make_graph(count)), count):,.0f}" for count in counts]
            yield f"| {name} | {what} | " + " | ".join([*cells, "not tried"][: len(COUNTS)]) + " |"


def _message(number: int, task: str, ns: tuple[str, ...] = ()) -> Iterator[Part]:
    """The chunks of one message, as a model of a provider streams them."""
    meta = {"langgraph_checkpoint_ns": task, "langgraph_node": "node", "ls_model_type": "chat"}
    for at in range(TOKENS):
        position: Any = "last" if at == TOKENS - 1 else None
        chunk = AIMessageChunk(content=f"{number} ", id=f"m{number}", chunk_position=position)
        yield Part(ns, "messages", chunk, meta)


def _copy(number: int, task: str, ns: tuple[str, ...] = ()) -> Part:
    """What the node returns of it, under another id."""
    meta = {"langgraph_checkpoint_ns": task, "langgraph_node": "node"}
    return Part(ns, "messages", AIMessage(f"{number} " * TOKENS, id=f"c{number}"), meta)


def _update(numbers: Iterable[int], ns: tuple[str, ...] = ()) -> Part:
    said = [AIMessage(f"{number} " * TOKENS, id=f"c{number}") for number in numbers]
    return Part(ns, "updates", {"node": {"messages": said}}, {})


def _of_one_task(count: int) -> Runs:
    yield [part for number in range(count) for part in _message(number, "node:1")]


def _open_at_once(count: int) -> Runs:
    """Messages whose last chunk never comes: models of before `chunk_position`."""
    yield [
        part
        for number in range(count)
        for part in _message(number, "node:1")
        if part.data.chunk_position is None
    ]


def _copied(count: int) -> Runs:
    numbers = range(count)
    said = [part for number in numbers for part in _message(number, "node:1")]
    yield said + [_copy(number, "node:1") for number in numbers]


def _tasks(count: int) -> Runs:
    yield [
        part
        for number in range(count)
        for task in (f"node:{number}",)
        for part in (*_message(number, task), _copy(number, task), _update([number]))
    ]


def _runs(count: int) -> Runs:
    for number in range(count):
        task = f"node:{number}"
        yield [*_message(number, task), _copy(number, task), _update([number])]


def _namespaces(count: int) -> Runs:
    yield [
        part
        for number in range(count)
        for ns in ((f"outer:{number}",),)
        for task in (f"outer:{number}|node:{number}",)
        for part in (*_message(number, task, ns), _copy(number, task, ns), _update([number], ns))
    ]


SHAPES: Final[dict[str, Callable[[int], Runs]]] = {
    "messages of a task": _of_one_task,
    "messages of a task that do not end": _open_at_once,
    "messages of a task, and copies": _copied,
    "tasks of a run": _tasks,
    "runs of a thread": _runs,
    "namespaces": _namespaces,
}


class _Dedup:
    """`dedup`, over one ledger."""

    def __init__(self) -> None:
        self._ledger = Ledger()

    def read(self, parts: Iterable[Part]) -> Iterator[Any]:
        chunks = ((part.ns, part.mode, _data(part)) for part in parts)
        return dedup(chunks, stream_mode=list(MODES), subgraphs=True, ledger=self._ledger)


def _data(part: Part) -> Any:
    return (part.data, part.meta) if part.mode == "messages" else part.data


class _Remote:
    """What `OnceRemoteGraph` does with the parts that came."""

    def __init__(self) -> None:
        self._ledger = Ledger()

    def read(self, parts: Iterable[Part]) -> Iterator[Any]:
        reading = Recipients(Wanted(frozenset(MODES), True, self._ledger), None)
        told = (each for part in parts for each in reading.feed(part))
        return chunks_of(told, list(MODES), True, "v1", ledger=self._ledger, config=None)


class _Events:
    """`ChannelStreamingProcessor`."""

    def __init__(self) -> None:
        self._ledger = Ledger()

    def read(self, parts: Iterable[Part]) -> Iterator[Any]:
        processor = ChannelStreamingProcessor(
            token_streaming=TokenStreamingConfig(), ledger=self._ledger
        )
        for part in parts:
            yield from processor.feed(part)
        yield from processor.close()


class _Transcript(_Events):
    """`Transcript`, with the processor before it."""

    def __init__(self) -> None:
        super().__init__()
        self._transcript = Transcript()

    def read(self, parts: Iterable[Part]) -> Iterator[Any]:
        for event in super().read(parts):
            self._transcript.apply(event)
            yield event


READERS: Final[dict[str, Callable[[], Reader]]] = {
    "`dedup`": _Dedup,
    "`OnceRemoteGraph`": _Remote,
    "`ChannelStreamingProcessor`": _Events,
    "`Transcript`": _Transcript,
}


def _us(make: Callable[[], Reader], runs: Callable[[int], Runs], count: int) -> float:
    """The time for each of so many messages."""
    reader, streams = make(), list(runs(count))
    gc.collect()
    gc.disable()
    began = time.process_time()
    try:
        for parts in streams:
            for _ in reader.read(iter(parts)):
                pass
    finally:
        gc.enable()
    return (time.process_time() - began) / count * 1e6


def _said(count: int) -> Any:
    """A node that calls a model many times."""
    model = ScriptedChatModel(script=lambda _: AIMessage("one two three"))

    async def node(_: MessagesState) -> dict[str, Any]:
        for _each in range(count):
            last = await model.ainvoke("Go.")
        return {"messages": [last]}

    builder: Any = StateGraph(MessagesState)
    return builder.add_node(node).add_edge(START, "node").compile()


def _fanned_out(count: int) -> Any:
    """Many tasks of one node in one step."""
    model = ScriptedChatModel(script=lambda _: AIMessage("one two three"))

    async def node(_: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke("Go.")]}

    def fan_out(_: MessagesState) -> list[Send]:
        return [Send("node", {"messages": []})] * count

    builder: Any = StateGraph(MessagesState)
    return builder.add_node(node).add_conditional_edges(START, fan_out, ["node"]).compile()


GRAPHS: Final[dict[str, Callable[[int], Any]]] = {
    "messages of a task": _said,
    "tasks of a run": _fanned_out,
}


def _itself(graph: Any) -> Any:
    return graph


def _graph_us(graph: Any, count: int) -> float:
    given: Any = {"messages": [("user", "Go.")]}
    began = time.process_time()
    asyncio.run(_drain(graph.astream(given, {"max_concurrency": 8}, stream_mode="messages")))
    return (time.process_time() - began) / count * 1e6


async def _drain(chunks: AsyncIterator[Any]) -> None:
    async for _ in chunks:
        pass
