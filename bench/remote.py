"""What a client pays for a token: `RemoteGraph` beside ours, and how soon it has it.

The cost is measured on one recorded run, which a small server plays at once, so that nothing
but the client takes time; the delays on a real server.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import httpx
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from bench.wire import OURS
from demo.dev_server import DevServer
from langgraph_once import OnceRemoteGraph
from langgraph_once.remote import stream_run

__all__ = ["report"]

ROUNDS: Final = 15
RUNS: Final = 10
ASKED: Final[Any] = {"messages": [{"role": "user", "content": "Go on."}]}
TOKEN: Final = b'"type":"AIMessageChunk"'
HEADERS: Final = {"Accept-Encoding": "identity"}

Stream = Callable[[], Iterator[Any]]


class Recording(NamedTuple):
    """One run as the server sent it."""

    thread_id: str
    run_id: str
    body: bytes

    @property
    def tokens(self) -> int:
        """How many tokens it streams."""
        return self.body.count(TOKEN)


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        config = Path(name, "langgraph.json")
        config.write_text(json.dumps(OURS))
        with DevServer(config, cwd=Path(name)) as server:
            recordings = {graph: _recorded(server, graph) for graph in ("plain", "once")}
            delays = asyncio.run(_delays(server))
    yield "## Remote"
    yield ""
    yield f"A run that streams {recordings['plain'].tokens} tokens in `messages-tuple`, recorded"
    yield f"and played at once to each client: its own CPU time, median of {ROUNDS} rounds in turns."
    yield ""
    yield "| client | µs per token | of a wrapped graph |"
    yield "|---|---:|---:|"
    costs = {graph: _costs(recording) for graph, recording in recordings.items()}
    for client, plain in costs["plain"].items():
        shown = (_shown(values, costs[graph]["RemoteGraph"]) for graph, values in
                 (("plain", plain), ("once", costs["once"][client])))
        yield f"| {client} | {' | '.join(shown)} |"
    yield ""
    yield f"From a real server, a token each 10 ms, {RUNS} runs of each in turns; milliseconds are"
    yield "p50 / p95. The first token waits until the server takes the run from its queue."
    yield ""
    yield "| client | first token | since the first event | next |"
    yield "|---|---:|---:|---:|"
    for client, found in delays.items():
        yield f"| {client} | {' | '.join(map(_percentiles, zip(*found, strict=True)))} |"


def _recorded(server: DevServer, graph: str) -> Recording:
    with httpx.Client(base_url=server.url, timeout=120, headers=HEADERS) as http:
        thread_id = http.post("/threads", json={}).json()["thread_id"]
        asked = {
            "assistant_id": graph,
            "input": ASKED,
            "stream_mode": "messages-tuple",
            "stream_resumable": True,
        }
        answer = http.post(f"/threads/{thread_id}/runs/stream", json=asked)
    return Recording(thread_id, answer.headers["content-location"].split("/")[-1], answer.content)


class Player:
    """Plays a recorded run to whoever begins one."""

    def __init__(self, recording: Recording) -> None:
        last = recording.body.rstrip().rpartition(b"\r\n\r\n")[2] + b"\r\n\r\n"
        run = json.dumps({"run_id": recording.run_id, "status": "success"}).encode()
        location = f"/threads/{recording.thread_id}/runs/{recording.run_id}"

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self._answer(recording.body, "text/event-stream")

            def do_GET(self) -> None:
                if self.path.partition("?")[0].endswith("/stream"):
                    self._answer(last, "text/event-stream")
                else:
                    self._answer(run, "application/json")

            def _answer(self, body: bytes, media_type: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", media_type)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Content-Location", location)
                self.send_header("Location", f"{location}/stream")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _costs(recording: Recording) -> dict[str, list[float]]:
    """For each client the CPU time of each round, in µs per token."""
    with Player(recording) as player, get_sync_client(url=player.url, headers=HEADERS) as client:
        streams = _streams(client, recording.thread_id)
        found: dict[str, list[float]] = {name: [] for name in streams}
        for round_number in range(ROUNDS + 1):
            for name, stream in streams.items():
                began = time.thread_time()
                count = sum(1 for _ in stream())
                if round_number:
                    found[name].append((time.thread_time() - began) * 1e6 / recording.tokens)
                if count < recording.tokens:
                    raise RuntimeError(f"{name} gave {count} of {recording.tokens} tokens")
    return found


def _streams(client: SyncLangGraphClient, thread_id: str) -> dict[str, Stream]:
    config: Any = {"configurable": {"thread_id": thread_id}}
    stock, ours = (kind("once", sync_client=client) for kind in (RemoteGraph, OnceRemoteGraph))
    return {
        "RemoteGraph": lambda: stock.stream(ASKED, config, stream_mode="messages"),
        "OnceRemoteGraph": lambda: ours.stream(ASKED, config, stream_mode="messages"),
        "stream_run": lambda: stream_run(
            client, thread_id, "once", input=ASKED, stream_mode="messages"
        ),
    }


async def _delays(server: DevServer) -> dict[str, list[list[list[float]]]]:
    """For each client the times of its runs in ms: first token, since first event, next."""
    async with get_client(url=server.url) as client, AsyncExitStack():
        found: dict[str, Any] = {}
        for round_number in range(RUNS + 1):
            for name, stream in (await _astreams(client)).items():
                times = await _timed(stream)
                if round_number:
                    found.setdefault(name, []).append(times)
    return {name: [[x for part in run for x in part] for run in runs] for name, runs in found.items()}


async def _astreams(client: LangGraphClient) -> dict[str, AsyncIterator[Any]]:
    raise NotImplementedError


async def _timed(stream: AsyncIterator[Any]) -> Any:
    raise NotImplementedError


def _shown(values: list[float], base: list[float]) -> str:
    ratio = statistics.median(mine / its for mine, its in zip(values, base, strict=True))
    return f"{statistics.median(values):.1f} ({ratio - 1:+.1%})"


def _percentiles(values: Any) -> str:
    cuts = statistics.quantiles(list(values), n=20, method="inclusive")
    return f"{cuts[9]:.1f} / {cuts[18]:.1f}"
