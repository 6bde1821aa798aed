"""`OnceSerializer` beside `JsonPlusSerializer` on chat threads of about 1 KB a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from bench.timing import compare
from graphs.research.library import LIBRARY
from langgraph_once import OnceSerializer, SerdeConfig

__all__ = ["report"]

SIZES = (1, 4, 100, 500)


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield "## Serializer"
    yield ""
    yield "Chat threads of prose; ratio is JsonPlusSerializer's time over ours. The prose has six"
    yield "topics that take turns, so long threads compress better than a user's would."
    yield ""
    yield "| layers | messages | bytes, upstream | bytes, ours | encode µs | ratio | decode µs | ratio |"  # noqa: E501
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    peer = JsonPlusSerializer(allowed_msgpack_modules=None)
    for layers, config in {
        "none": SerdeConfig(compression="none"),
        "zstd": SerdeConfig(),
    }.items():
        ours = OnceSerializer(config)
        for size in SIZES:
            yield _row(layers, size, peer, ours)


def _row(layers: str, size: int, peer: JsonPlusSerializer, ours: OnceSerializer) -> str:
    value = {"messages": thread(size)}
    theirs, mine = peer.dumps_typed(value), ours.dumps_typed(value)
    repeat = max(1, 200 // size)
    encode = compare(
        lambda: peer.dumps_typed(value), lambda: ours.dumps_typed(value), repeat=repeat
    )
    decode = compare(
        lambda: peer.loads_typed(theirs), lambda: ours.loads_typed(mine), repeat=repeat
    )
    return (
        f"| {layers} | {size} | {len(theirs[1]):,} | {len(mine[1]):,} "
        f"| {encode.ours_us:,.0f} | {encode.ratio:.2f}x "
        f"| {decode.ours_us:,.0f} | {decode.ratio:.2f}x |"
    )


def thread(size: int) -> list[BaseMessage]:
    """A conversation of `size` messages: questions, tool calls, results and answers."""
    entries = list(LIBRARY.items())
    made: list[BaseMessage] = []
    for i in range(size):
        topic, entry = entries[i // 4 % len(entries)]
        made.append(_message(i, topic, f"{entry.summary} {entry.pitfall} {entry.lesson}"))
    return made


def _message(i: int, topic: str, prose: str) -> BaseMessage:
    call: Any = {"name": "search_sources", "args": {"topic": topic, "turn": i}, "id": f"call_{i}"}
    usage: Any = {"input_tokens": 900 + i, "output_tokens": 120, "total_tokens": 1020 + i}
    match i % 4:
        case 0:
            return HumanMessage(f"Turn {i}: what should I know about {topic}? {prose}", id=f"h{i}")
        case 1:
            return AIMessage(
                f"Let me look. {prose}", id=f"a{i}", tool_calls=[call], usage_metadata=usage
            )
        case 2:
            return ToolMessage(f"Result {i}: {prose}", tool_call_id=f"call_{i - 1}", id=f"t{i}")
        case _:
            return AIMessage(f"Answer {i}: {prose} {prose}", id=f"a{i}", usage_metadata=usage)
