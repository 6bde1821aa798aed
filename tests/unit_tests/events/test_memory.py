"""What a processor keeps of a stream that does not end: open messages and its history."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, RemoveMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langgraph.types import Interrupt

from langgraph_once.events import (
    ChannelConfig,
    ChannelMode,
    ChannelStreamingProcessor,
    TokenStreamingConfig,
)
from langgraph_once.stream import Part

HISTORY = 20
WARM = 200
MORE = 400
GRAPHS = 3 * HISTORY  # more than are remembered, and few enough for the caches of places


def watching() -> ChannelStreamingProcessor:
    return ChannelStreamingProcessor(
        [
            ChannelConfig(key="notes", artifact_type="Note", stream_mode=ChannelMode.UPDATES_ONLY),
            ChannelConfig(key="title", stream_mode=ChannelMode.BOTH),
        ],
        TokenStreamingConfig(enabled_namespaces={"**"}),
        None,
        include=["custom", "ui", "interrupts", "tasks", "tool_calls"],
        max_history=HISTORY,
    )


def turn(at: int) -> Iterator[Part]:
    """All that one agent does, in a graph of its own."""
    ns, message_id, call_id = (f"agent:{at % GRAPHS}",), f"m{at}", f"c{at}"
    meta = {"langgraph_checkpoint_ns": f"{ns[0]}|node:1", "langgraph_node": "node"}
    yield Part(ns, "values", {"title": f"old {at}", "notes": []})
    for text in ("One ", "two ", "three."):
        yield Part(ns, "messages", AIMessageChunk(content=text, id=message_id), meta)
    piece = tool_call_chunk(name="find", args='{"a": 1}', id=call_id, index=0)
    last = AIMessageChunk(
        content="", id=message_id, tool_call_chunks=[piece], chunk_position="last"
    )
    yield Part(ns, "messages", last, meta)
    yield Part(ns, "messages", ToolMessage("Yes.", tool_call_id=call_id, id=f"t{at}"), meta)
    yield Part(ns, "messages", AIMessageChunk(content="Gone.", id=f"g{at}"), meta)
    yield Part(ns, "messages", RemoveMessage(id=f"g{at}"), meta)
    shown: Any = {"type": "ui", "id": f"u{at}", "name": "chart", "props": {"n": at}}
    yield Part(ns, "custom", shown)
    yield Part(ns, "updates", {"node": {"title": f"new {at}", "notes": [f"note {at}"]}})
    yield Part(ns, "updates", {"__interrupt__": (Interrupt(at, id=f"i{at}"),)})


@pytest.mark.slow
def test_a_stream_without_end_takes_no_more_than_its_history() -> None:
    processor, turns = watching(), iter(range(WARM + MORE))

    def feed(count: int) -> int:
        for _ in range(count):
            for part in turn(next(turns)):
                for _event in processor.feed(part):
                    pass
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = feed(WARM)
        grown = feed(MORE) - before
    finally:
        tracemalloc.stop()
    assert grown / MORE < 50, f"{grown / MORE:.0f} bytes are kept of each turn"
