"""Fifty clients at once: servers with parts of this package, each beside a stock one in turns."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from demo.dev_server import DevServer
from graphs.models import ScriptedChatModel

TEXT = "Some words are told, one after the other, to every client. " * 5
CLIENTS = 50
ROUNDS = int(os.environ.get("ROUNDS", "7"))
STOCK_FILE = "stock.sqlite"

PLAIN: Mapping[str, Any] = {"graphs": {"agent": "bench.load:graph"}}
WRAPPED: Mapping[str, Any] = {
    "graphs": {
        "agent": {
            "path": "langgraph_once.platform.graphs:agent",
            "once": {"target": "bench.load:graph"},
        }
    }
}
APP: Mapping[str, Any] = {"http": {"app": "langgraph_once.platform.app:app"}}
SAVER: Mapping[str, Any] = {
    "checkpointer": {
        "path": "langgraph_once.platform.checkpointer.saver",
        "once": {"path": "once.sqlite"},
    }
}
STOCK_SAVER: Mapping[str, Any] = {"checkpointer": {"path": "bench.load.stock_saver"}}


async def answer(state: MessagesState) -> dict[str, Any]:
    """Stream the text, a word at a time, as fast as it goes."""
    model = ScriptedChatModel(script=lambda _: AIMessage(TEXT))
    return {"messages": [await model.ainvoke(state["messages"])]}


graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")


@asynccontextmanager
async def stock_saver() -> AsyncIterator[AsyncSqliteSaver]:
    """LangGraph's own saver in SQLite, for `checkpointer.path`."""
    async with AsyncSqliteSaver.from_conn_string(STOCK_FILE) as saver:
        yield saver


class Speed(NamedTuple):
    """Of one round, or the median of several."""

    per_s: float
    """Runs per second."""

    cpu_ms: float
    """CPU time of the server for a run: what else the machine does hardly changes it."""


class Pair(NamedTuple):
    """What is compared, and with what."""

    ours: Mapping[str, Any]
    stock: Mapping[str, Any]


PAIRS: Mapping[str, Pair] = {
    "graph, saver and app; stock with its saver in SQLite": Pair(
        {**WRAPPED, **SAVER, **APP}, {**PLAIN, **STOCK_SAVER}
    ),
    "graph alone; stock with checkpoints in memory": Pair(WRAPPED, PLAIN),
    "saver alone; stock with its saver in SQLite": Pair(
        {**PLAIN, **SAVER}, {**PLAIN, **STOCK_SAVER}
    ),
    "app alone; stock with checkpoints in memory": Pair({**PLAIN, **APP}, PLAIN),
}


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield "## Load"
    yield ""
    yield f"{CLIENTS} clients begin a run each at once, in a new thread, and read `messages-tuple`"
    yield f"and `values` to the end; {ROUNDS} rounds in turns. An answer has {len(TEXT.split())}"
    yield "words, and the model takes no time. Clients and servers share the machine."
    yield ""
    yield "| ours; stock | runs/s, ours | stock | ratio | CPU ms a run, ours | stock | ratio |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, pair in PAIRS.items():
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            ours = stack.enter_context(_server(folder / "ours", pair.ours))
            stock = stack.enter_context(_server(folder / "stock", pair.stock))
            speed = _speeds(ours, stock)
        yield _row(name, *speed)


def _row(name: str, ours: Speed, stock: Speed) -> str:
    rates = f"{ours.per_s:.1f} | {stock.per_s:.1f} | {ours.per_s / stock.per_s:.2f}"
    cpu = f"{ours.cpu_ms:.1f} | {stock.cpu_ms:.1f} | {stock.cpu_ms / ours.cpu_ms:.2f}"
    return f"| {name} | {rates} | {cpu} |"


def _server(folder: Path, manifest: Mapping[str, Any]) -> DevServer:
    folder.mkdir()
    config = folder / "langgraph.json"
    config.write_text(json.dumps({"dependencies": ["."], **manifest}))
    return DevServer(config, cwd=folder, options=("--n-jobs-per-worker", "10"))


def _speeds(ours: DevServer, stock: DevServer) -> tuple[Speed, Speed]:
    """Medians; each begins every other round, and the first round warms up."""
    found: dict[DevServer, list[Speed]] = {ours: [], stock: []}
    for round_number in range(ROUNDS + 1):
        for server in (ours, stock) if round_number % 2 else (stock, ours):
            before_s = server.cpu_s()
            per_s = asyncio.run(_runs_per_second(server.url))
            if round_number:
                found[server].append(Speed(per_s, (server.cpu_s() - before_s) * 1e3 / CLIENTS))
    return _median(found[ours]), _median(found[stock])


def _median(speeds: list[Speed]) -> Speed:
    return Speed(*map(statistics.median, zip(*speeds, strict=True)))


async def _runs_per_second(url: str) -> float:
    limits = httpx.Limits(max_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=120) as http:
        began = time.perf_counter()
        await asyncio.gather(*(_run(http) for _ in range(CLIENTS)))
        return CLIENTS / (time.perf_counter() - began)


async def _run(http: httpx.AsyncClient) -> None:
    thread_id = (await http.post("/threads", json={})).json()["thread_id"]
    asked = {
        "assistant_id": "agent",
        "input": {"messages": [{"role": "user", "content": "Go on."}]},
        "stream_mode": ["messages-tuple", "values"],
    }
    async with http.stream("POST", f"/threads/{thread_id}/runs/stream", json=asked) as answered:
        read = b"".join([chunk async for chunk in answered.aiter_bytes()])
    if b"event: error" in read or b"event: values" not in read:
        message = "a run failed"
        raise RuntimeError(message)
