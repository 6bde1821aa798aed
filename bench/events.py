"""What typed events cost: beside a plain stream, and for one chunk of a message of any length."""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from collections.abc import AsyncIterable, Callable, Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.graph import START, MessagesState, StateGraph

from bench.timing import compare
from graphs.models import ScriptedChatModel
from langgraph_once.events import ChannelStreamingProcessor, TokenStreamingConfig
from langgraph_once.stream import Part

TOKENS = 2_000
ROUNDS = 16
ROUNDS_OF = {1_000: 10, 10_000: 4, 100_000: 2}
BATCH = 1_000
CHUNKS = 20
HISTORY = 100
MESSAGES = (100, 1_000, 10_000)
ASKED: Any = {"messages": [("user", "Count.")]}
META = {"langgraph_checkpoint_ns": "node:1", "langgraph_node": "node"}


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield "## Typed events"
    yield ""
    yield f"One node streams {TOKENS:,} tokens, async; the plain stream is of mode messages."
    yield ""
    yield "| what | plain ms | ours ms | added |"
    yield "|---|---:|---:|---:|"
    yield _graph_row()
    yield ""
    yield "| chunks of one message | µs per chunk: text | content blocks | tool arguments |"
    yield "|---:|---:|---:|---:|"
    for length in ROUNDS_OF:
        times = [_feed_us(make, length) for make in (_text, _block, _arguments)]
        yield f"| {length:,} | " + " | ".join(f"{us:.2f}" for us in times) + " |"
    yield ""
    yield f"Kept of messages of {CHUNKS} chunks, with `max_history={HISTORY}` and no `dedup`:"
    yield ""
    yield "| messages so far | KB kept |"
    yield "|---:|---:|"
    for count, kept in _kept_bytes():
        yield f"| {count:,} | {kept / 1024:.0f} |"


def _graph_row() -> str:
    model = ScriptedChatModel(script=lambda _: AIMessage(" ".join(["token"] * TOKENS)))

    async def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile()
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    both = compare(
        lambda: asyncio.run(_drain(graph.astream(ASKED, stream_mode="messages"))),
        lambda: asyncio.run(_drain(processor.stream(graph, ASKED))),
        rounds=ROUNDS,
    )
    added = (1 / both.ratio - 1) * 100
    return (
        f"| `processor.stream` | {both.peer_us / 1e3:.0f} | {both.ours_us / 1e3:.0f} "
        f"| {added:+.1f} % |"
    )


async def _drain(chunks: AsyncIterable[Any]) -> None:
    async for _ in chunks:
        pass


def _feed_us(make: Callable[[int], AIMessageChunk], length: int) -> float:
    """The best time of `feed` for one chunk, the end of the message with it.

    It is the time of the processor: others use this machine too. The chunks are made in batches
    outside of it, so that the memory of many does not count.
    """
    return min(_fed_s(make, length) for _ in range(ROUNDS_OF[length])) / length * 1e6


def _fed_s(make: Callable[[int], AIMessageChunk], length: int) -> float:
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig(), dedup=None)
    spent = 0.0
    gc.collect()
    for start in range(0, length, BATCH):
        parts = [Part((), "messages", make(at), META) for at in range(start, start + BATCH)]
        spent += _timed_s(event for part in parts for event in processor.feed(part))
    return spent + _timed_s(processor.close())


def _timed_s(events: Iterable[Any]) -> float:
    gc.disable()
    began = time.process_time()
    for _event in events:
        pass
    spent = time.process_time() - began
    gc.enable()
    return spent


def _kept_bytes() -> Iterator[tuple[int, int]]:
    """What one processor keeps of a stream, after each number of messages."""
    config = TokenStreamingConfig()
    processor = ChannelStreamingProcessor(token_streaming=config, dedup=None, max_history=HISTORY)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    told = 0
    for count in MESSAGES:
        for number in range(told, count):
            for part in _message(number):
                for _event in processor.feed(part):
                    pass
        told = count
        gc.collect()
        yield count, tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()


def _message(number: int) -> Iterator[Part]:
    for at in range(CHUNKS):
        position: Any = "last" if at == CHUNKS - 1 else None
        chunk = AIMessageChunk(content="token ", id=f"m{number}", chunk_position=position)
        yield Part((), "messages", chunk, META)


def _text(_at: int) -> AIMessageChunk:
    return AIMessageChunk(content="token ", id="m1")


def _block(_at: int) -> AIMessageChunk:
    block = {"type": "text", "text": "token ", "index": 0}
    return AIMessageChunk(content=[block], id="m1")


def _arguments(at: int) -> AIMessageChunk:
    if at == 0:
        piece: Any = {"id": "c1", "name": "write", "args": '{"text": "', "index": 0}
    else:
        piece = {"id": None, "name": None, "args": "token ", "index": 0}
    return AIMessageChunk(content="", tool_call_chunks=[piece], id="m1")
