"""What `once(graph)` and the deduplicator add to a stream of 2,000 tokens."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.graph import START, MessagesState, StateGraph

from bench.timing import compare
from graphs.models import ScriptedChatModel
from langgraph_once import Deduplicator, once
from langgraph_once.stream import Part

__all__ = ["report"]

TOKENS = 2_000
ROUNDS = 16
ASKED: Any = {"messages": [("user", "Count.")]}


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield "## Stream"
    yield ""
    yield f"One node streams {TOKENS:,} tokens; `stream_mode`: messages, updates, values."
    yield ""
    yield "| what | plain ms | ours ms | added |"
    yield "|---|---:|---:|---:|"
    yield _graph_row()
    yield ""
    yield "| messages already in the ledger | µs per token, deduplicator alone |"
    yield "|---:|---:|"
    for known in (0, 1_000, 100_000):
        yield f"| {known:,} | {_feed_us(known):.2f} |"


def _graph_row() -> str:
    text = " ".join(["token"] * TOKENS)
    model = ScriptedChatModel(script=lambda _: AIMessage(text))

    def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile()
    wrapped = once(graph)
    options: Any = {"stream_mode": ["messages", "updates", "values"]}
    both = compare(
        lambda: _drain(graph.stream(ASKED, **options)),
        lambda: _drain(wrapped.stream(ASKED, **options)),
    )
    added = (1 / both.ratio - 1) * 100
    return (
        f"| `once(graph).stream` | {both.peer_us / 1e3:.0f} | {both.ours_us / 1e3:.0f} "
        f"| {added:+.1f} % |"
    )


def _feed_us(known: int) -> float:
    """Time of `feed` for one token, beside a loop that only passes the parts on."""
    dedup = Deduplicator()
    for i in range(known):
        _drain(dedup.feed(_token(f"old{i}", f"task:{i}", is_last=True)))
    rounds = iter([_message_parts(i) for i in range(ROUNDS)] * 2)
    parts = _message_parts(0)

    def feed_all() -> None:
        for part in next(rounds):
            _drain(dedup.feed(part))

    def pass_all() -> None:
        for part in parts:
            _drain((part,))

    both = compare(pass_all, feed_all, rounds=ROUNDS - 1)
    return (both.ours_us - both.peer_us) / TOKENS


def _message_parts(at: int) -> list[Part]:
    """The tokens of messages that one task after the other streams."""
    return [
        _token(f"m{at}.{i // 100}", f"task:{at}.{i // 100}", is_last=i % 100 == 99)
        for i in range(TOKENS)
    ]


def _token(message_id: str, task: str, *, is_last: bool = False) -> Part:
    position: Any = "last" if is_last else None
    chunk = AIMessageChunk(content="token ", id=message_id, chunk_position=position)
    return Part((), "messages", chunk, {"langgraph_checkpoint_ns": task})


def _drain(chunks: Iterable[Any]) -> None:
    deque(chunks, maxlen=0)
