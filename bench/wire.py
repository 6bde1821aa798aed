"""Bytes on the wire and delays of `messages-tuple`: a stock server beside one with our app."""

from __future__ import annotations

import json
import random
import socket
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import h11
import httpx
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from bench.prose import passages
from demo.dev_server import DevServer
from graphs.models import ScriptedChatModel
from langgraph_once.platform.sse import ENCODERS

TEXT = passages(1, 2_000)[0]
PAUSE_S = 0.01
ROUNDS = 10
TOKEN = b'"type":"AIMessageChunk"'

STOCK: Mapping[str, Any] = {"dependencies": ["."], "graphs": {"plain": "bench.wire:graph"}}
OURS: Mapping[str, Any] = {
    **STOCK,
    "graphs": {
        **STOCK["graphs"],
        "once": {
            "path": "langgraph_once.platform.graphs:once",
            "once": {"target": "bench.wire:graph"},
        },
    },
    "http": {"app": "langgraph_once.platform.app:app"},
}


async def answer(state: MessagesState) -> dict[str, Any]:
    """Stream the text, a word at a time."""
    model = ScriptedChatModel(script=lambda _: AIMessage(TEXT), delay_s=PAUSE_S)
    return {"messages": [await model.ainvoke(state["messages"])]}


graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")


class Source(NamedTuple):
    """Where a run comes from."""

    server: DevServer
    graph: str
    encoding: str


class Reading(NamedTuple):
    """What one run was for its reader."""

    size_bytes: int
    """All that came over the connection: headers, chunks and their frames."""

    began_s: float
    """When the first event could be read, since the request was sent."""

    arrivals_s: list[float]
    """When each token could be read, since the request was sent."""

    @property
    def bytes_per_token(self) -> float:
        """Of the whole connection."""
        return self.size_bytes / len(self.arrivals_s)

    @property
    def delays_ms(self) -> list[float]:
        """Between one token and the next."""
        return [(after - before) * 1e3 for before, after in pairwise(self.arrivals_s)]


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stock = stack.enter_context(_server(folder / "stock", STOCK))
        ours = stack.enter_context(_server(folder / "ours", OURS))
        sources = {
            "stock": Source(stock, "plain", "identity"),
            **{f"with `http.app`: {name}": Source(ours, "plain", name) for name in ENCODERS},
            "and with `once(graph)`: gzip": Source(ours, "once", "gzip"),
        }
        readings = _readings(sources)
    base = readings["stock"]
    yield "## Wire"
    yield ""
    yield f"One node streams {len(base[0].arrivals_s)} tokens, one each {PAUSE_S * 1e3:.0f} ms, in"
    yield f"`messages-tuple`; {ROUNDS} runs of each, in turns. All bytes of the connection count."
    yield "The first token waits until the server takes the run from its queue, up to a second, so"
    yield "it is also told since the first event. Milliseconds are p50 / p95."
    yield ""
    yield "| server: encoding | bytes per token | ratio | first token | since first event | next |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, found in readings.items():
        size = _bytes_per_token(found)
        delays = (
            [reading.arrivals_s[0] * 1e3 for reading in found],
            [(reading.arrivals_s[0] - reading.began_s) * 1e3 for reading in found],
            [delay for reading in found for delay in reading.delays_ms],
        )
        shown = " | ".join(map(_percentiles, delays))
        yield f"| {name} | {size:,.0f} | {_bytes_per_token(base) / size:.1f} | {shown} |"


def _readings(sources: Mapping[str, Source]) -> dict[str, list[Reading]]:
    """Stock before each of ours: how long the queue waits depends on when it last had a run."""
    stock, *ours = sources
    turns = [name for other in ours for name in (stock, other)]
    found: dict[str, list[Reading]] = {name: [] for name in sources}
    moods = random.Random(0)  # noqa: S311  # no secret
    for round_number in range(ROUNDS + 1):
        for name in turns:
            time.sleep(moods.random())  # or every run meets the queue in the same phase
            reading = _read(sources[name])
            if round_number:  # the first warms the server up
                found[name].append(reading)
    return found


def _server(folder: Path, manifest: Mapping[str, Any]) -> DevServer:
    folder.mkdir()
    config = folder / "langgraph.json"
    config.write_text(json.dumps(manifest))
    return DevServer(config, cwd=folder)


def _read(source: Source) -> Reading:
    """Run the graph over a connection of its own, and note when each token can be read."""
    thread_id = httpx.post(f"{source.server.url}/threads", json={}).json()["thread_id"]
    asked = {
        "assistant_id": source.graph,
        "input": {"messages": [{"role": "user", "content": "Go on."}]},
        "stream_mode": "messages-tuple",
        "stream_resumable": True,
    }
    http = h11.Connection(h11.CLIENT)
    with socket.create_connection(("127.0.0.1", source.server.port), timeout=60) as connection:
        path = f"/threads/{thread_id}/runs/stream"
        connection.sendall(_request(http, path, asked, source.encoding))
        return _read_tokens(connection, http, source.encoding)


def _request(http: h11.Connection, path: str, asked: Mapping[str, Any], encoding: str) -> bytes:
    body = json.dumps(asked).encode()
    headers = {
        "Host": "127.0.0.1",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Accept-Encoding": encoding,
    }
    events = (
        h11.Request(method="POST", target=path, headers=list(headers.items())),
        h11.Data(data=body),
        h11.EndOfMessage(),
    )
    return b"".join(http.send(event) or b"" for event in events)


class _Wire:
    """Counts what comes over a connection, and takes the body of the response out of it."""

    def __init__(self, connection: socket.socket, http: h11.Connection) -> None:
        self._connection = connection
        self._http = http
        self.size_bytes = 0

    def body(self) -> Iterator[bytes]:
        while not isinstance(event := self._http.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                data = self._connection.recv(65536)
                self.size_bytes += len(data)
                self._http.receive_data(data)
            elif isinstance(event, h11.Data):
                yield bytes(event.data)


def _read_tokens(connection: socket.socket, http: h11.Connection, encoding: str) -> Reading:
    wire = _Wire(connection, http)
    sent, began, arrivals = time.perf_counter(), 0.0, list[float]()
    headers = {"content-encoding": encoding}
    # As the Python SDK decodes it.
    for decoded in httpx.Response(200, headers=headers, content=wire.body()).iter_bytes():
        now = time.perf_counter() - sent
        began = began or now
        arrivals += [now] * decoded.count(TOKEN)
    return Reading(wire.size_bytes, began, arrivals)


def _bytes_per_token(readings: list[Reading]) -> float:
    return statistics.median(reading.bytes_per_token for reading in readings)


def _percentiles(values: list[float]) -> str:
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    return f"{cuts[9]:.1f} / {cuts[18]:.1f}"
