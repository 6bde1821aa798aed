"""What typed events cost: beside a plain stream, and for one chunk of a message of any length."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterable, Callable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.graph import START, MessagesState, StateGraph

from bench.timing import compare
from graphs.models import ScriptedChatModel
from langgraph_once.events import ChannelStreamingProcessor, TokenStreamingConfig
from langgraph_once.stream import Part

__all__ = ["report"]

TOKENS = 2_000
ROUNDS = 16
LENGTHS = (1_000, 10_000, 100_000)
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
    for length in LENGTHS:
        times = [_feed_us(make, length) for make in (_text, _block, _arguments)]
        yield f"| {length:,} | " + " | ".join(f"{us:.2f}" for us in times) + " |"


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
    """The best time of `feed` for one chunk, the end of the message with it."""
    best = float("inf")
    for _ in range(5 if length < LENGTHS[-1] else 3):
        parts = [Part((), "messages", make(at), META) for at in range(length)]
        processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig(), dedup=None)
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        for part in parts:
            for _event in processor.feed(part):
                pass
        for _event in processor.close():
            pass
        best = min(best, time.perf_counter() - start)
        gc.enable()
    return best / length * 1e6


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
