"""What `once(graph)` and the deduplicator add to a stream of 2,000 tokens."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel._messages import StreamMessagesHandler

from bench.timing import compare, on_one_core, time_us
from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, Deduplicator, once
from langgraph_once.stream import Part
from langgraph_once.stream.forms import ExactForm
from langgraph_once.stream.handler import OnceMessagesHandler
from langgraph_once.stream.run import PENDING, Run

TOKENS = 2_000
ROUNDS = 32
KNOWN = (0, 1_000, 100_000)
FIRST_ROUNDS = 41
THINKS_S = 0.3
"""What a model of a provider takes at least before it says anything."""
SAYS_S = 0.01
"""What it takes for each token then."""
FEW_TOKENS = 5
Graph: TypeAlias = Any
ASKED: Any = {"messages": [("user", "Count.")]}


LARGE_CHARACTERS = 1_000_000


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield "## Stream"
    yield ""
    yield f"One node streams {TOKENS:,} tokens of a model that takes no time itself; the first"
    yield "token also of one that takes as long as those of providers. All on one core; the plain"
    yield "graph beside itself tells how exact that is. In `stream`, a model that takes no time"
    yield "keeps the GIL for its turn of 5 ms, and its first token waits for one or two of those."
    yield ""
    yield "| what | `stream_mode` | plain ms | ours ms | added |"
    yield "|---|---|---:|---:|---:|"
    with on_one_core():
        for modes in (["messages"], ["messages", "updates", "values"]):
            yield _row("stream", modes, _streamed)
            yield _row("astream", modes, _astreamed)
        yield _row("stream, plain beside itself", ["messages"], _streamed, wrap=lambda graph: graph)
        for thinks_s in (0.0, THINKS_S):
            yield _first_row("stream", _first_ms, thinks_s)
            yield _first_row("astream", _afirst_ms, thinks_s)
        yield _row(f"a text of {LARGE_CHARACTERS:,} characters", ["messages"], _returned)
    yield ""
    theirs, ours = _handlers_us()
    yield "| handler, its own part of a token | µs |"
    yield "|---|---:|"
    yield f"| `StreamMessagesHandler` | {theirs:.2f} |"
    yield f"| `OnceMessagesHandler` | {ours:.2f} |"
    yield ""
    yield "| messages already in the ledger | µs per token, deduplicator alone |"
    yield "|---:|---:|"
    for known, us in _feeds_us().items():
        yield f"| {known:,} | {us:.2f} |"


def _row(
    what: str,
    modes: list[str],
    run: Callable[[Graph, list[str]], None],
    wrap: Callable[[Graph], Graph] = once,
) -> str:
    plain = _graph(LARGE_CHARACTERS if run is _returned else 0)
    wrapped = wrap(plain)
    both = compare(lambda: run(plain, modes), lambda: run(wrapped, modes), rounds=31)
    added = (1 / both.ratio - 1) * 100
    return (
        f"| {what} | {', '.join(modes)} | {both.peer_us / 1e3:.2f} | {both.ours_us / 1e3:.2f} "
        f"| {added:+.1f} % |"
    )


def _graph(characters: int, thinks_s: float = 0.0) -> Graph:
    """A graph of one node: a model that streams, or a text of so many characters."""
    text = " ".join(["token"] * (FEW_TOKENS if thinks_s else TOKENS))
    model = ScriptedChatModel(script=lambda _: AIMessage(text), delay_s=SAYS_S if thinks_s else 0.0)
    large = {"messages": [AIMessage("x" * characters)], "text": "x" * characters}

    async def anode(state: MessagesState) -> dict[str, Any]:
        await asyncio.sleep(thinks_s)
        return large if characters else {"messages": [await model.ainvoke(state["messages"])]}

    def node(state: MessagesState) -> dict[str, Any]:
        time.sleep(thinks_s)
        return large if characters else {"messages": [model.invoke(state["messages"])]}

    both = RunnableCallable(node, anode, name="node")
    return StateGraph(MessagesState).add_node("node", both).add_edge(START, "node").compile()


def _streamed(graph: Graph, modes: Any) -> None:
    _drain(graph.stream(ASKED, stream_mode=modes))


def _astreamed(graph: Graph, modes: Any) -> None:
    async def drain() -> None:
        async for _ in graph.astream(ASKED, stream_mode=modes):
            pass

    asyncio.run(drain())


def _first_row(what: str, first_ms: Callable[[Graph], float], thinks_s: float) -> str:
    """Time to the first token; the rest of the stream is not timed."""
    plain = _graph(0, thinks_s)
    wrapped = once(plain)
    pairs = [(first_ms(plain), first_ms(wrapped)) for _ in range(FIRST_ROUNDS)][1:]
    theirs, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    added = (1 / statistics.median(their / our for their, our in pairs) - 1) * 100
    after = f"after {thinks_s * 1e3:.0f} ms, {what}"
    return f"| the first token, {after} | messages | {theirs:.2f} | {ours:.2f} | {added:+.1f} % |"


def _first_ms(graph: Graph) -> float:
    started = time.perf_counter()
    chunks = graph.stream(ASKED, stream_mode=["messages"])
    next(chunks)
    taken = time.perf_counter() - started
    _drain(chunks)  # a model that still speaks would slow the next one
    return taken * 1e3


def _afirst_ms(graph: Graph) -> float:
    async def first() -> float:
        started = time.perf_counter()
        chunks = graph.astream(ASKED, stream_mode=["messages"])
        await anext(chunks)
        taken = time.perf_counter() - started
        async for _ in chunks:
            pass
        return taken * 1e3

    return asyncio.run(first())


def _returned(graph: Graph, modes: Any) -> None:
    _drain(graph.stream(ASKED, stream_mode=modes))


def _handlers_us() -> tuple[float, float]:
    """Time that upstream's handler and ours take for one token."""
    graph = _graph(0)
    PENDING.set(Run(graph, DedupConfig(), ExactForm()))
    own = OnceMessagesHandler(_dropped, subgraphs=False)
    plain = StreamMessagesHandler(_dropped, subgraphs=False)
    both = compare(_saying(plain), _saying(own), rounds=ROUNDS)
    return both.peer_us / TOKENS, both.ours_us / TOKENS


def _saying(handler: StreamMessagesHandler) -> Callable[[], None]:
    """What tells a handler of all tokens of a model run that has begun."""
    run_id = uuid4()
    metadata = {"langgraph_checkpoint_ns": "node:1", "langgraph_step": 1}
    handler.on_chat_model_start({}, [[]], run_id=run_id, metadata=metadata)
    chunk = ChatGenerationChunk(message=AIMessageChunk(content="token ", id="m"))

    def say() -> None:
        for _ in range(TOKENS):
            handler.on_llm_new_token("token ", chunk=chunk, run_id=run_id)

    return say


def _dropped(_chunk: object) -> None:
    return None


def _feeds_us() -> dict[int, float]:
    """Time of `feed` for one token, beside a loop that only passes the parts on.

    By how many messages the ledger knows already. All in turns, so that they compare.
    """
    knowing = {known: _knowing(known) for known in KNOWN}
    times: dict[int, list[float]] = {known: [] for known in KNOWN}
    for i in range(ROUNDS):
        parts = _message_parts(i)
        passing = time_us(partial(_feed, parts, lambda part: (part,)))
        for known, dedup in knowing.items():
            feeding = time_us(partial(_feed, parts, dedup.feed))
            times[known].append((feeding - passing) / TOKENS)
    return {known: statistics.median(each[1:]) for known, each in times.items()}


def _feed(parts: list[Part], feed: Callable[[Part], Iterable[Part]]) -> None:
    for part in parts:
        _drain(feed(part))


def _knowing(known: int) -> Deduplicator:
    dedup = Deduplicator()
    for i in range(known):
        _drain(dedup.feed(_token(f"old{i}", f"task:{i}", is_last=True)))
    return dedup


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
