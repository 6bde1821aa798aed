"""What a client pays for a token: `RemoteGraph` beside ours, and how soon it has it.

The cost is measured on one recorded run, which a small server plays at once, so that nothing
but the client takes time; the delays on a real server.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from operator import sub
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import httpx
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from pydantic import TypeAdapter

from bench.prose import passages
from bench.wire import OURS
from demo.dev_server import DevServer
from graphs.models import ScriptedChatModel
from langgraph_once import OnceRemoteGraph
from langgraph_once.remote import stream_run

BASE: Final = "`RemoteGraph`"
ROUNDS: Final = 15
RUNS: Final = 8
LONG: Final = passages(1, 20_000)[0]
MESSAGE: Final[TypeAdapter[AnyMessage]] = TypeAdapter(AnyMessage)
GRAPHS: Final = {
    **OURS["graphs"],
    "plain_long": "bench.remote:long_graph",
    "once_long": {
        "path": "langgraph_once.platform.graphs:once_long",
        "once": {"target": "bench.remote:long_graph"},
    },
}
ASKED: Final[Any] = {"messages": [{"role": "user", "content": "Go on."}]}
END: Final = b"\r\n\r\n"
TOKEN: Final = b'"type":"AIMessageChunk"'
HEADERS: Final = {"Accept-Encoding": "identity"}


async def answer(state: MessagesState) -> dict[str, Any]:
    """Stream a long text, as fast as it goes."""
    model = ScriptedChatModel(script=lambda _: AIMessage(LONG))
    return {"messages": [await model.ainvoke(state["messages"])]}


long_graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")

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
        config.write_text(json.dumps({**OURS, "graphs": GRAPHS}))
        with DevServer(config, cwd=Path(name)) as server:
            recordings = [_recorded(server, name) for name in ("plain_long", "once_long")]
            delays = _delays(server)
    tokens = recordings[0].tokens
    yield "## Remote"
    yield ""
    yield f"A run of {tokens:,} tokens in `messages-tuple`, recorded and played at once to each"
    yield "client, each event in a chunk of HTTP, as the server sends it: the client's CPU time,"
    yield f"median of {ROUNDS} rounds in turns. `RemoteGraph` gives dicts; the row below makes"
    yield "messages of them, as all others do, and deduplicates nothing."
    yield ""
    yield "| client | µs per token of a stock graph | of a wrapped one |"
    yield "|---|---:|---:|"
    plain, wrapped = (_costs(recording) for recording in recordings)
    for client in plain:
        shown = (_shown(costs[client], costs[BASE]) for costs in (plain, wrapped))
        yield f"| {client} | {' | '.join(shown)} |"
    yield ""
    yield f"From a real server a wrapped graph with a token each 10 ms, {RUNS} runs of each in"
    yield "turns; milliseconds, p50 / p95. The first token waits until the server takes the run"
    yield "from its queue, up to a second; so the last column tells how long after the server has"
    yield "written a token, by its id, the client has it."
    yield ""
    yield "| client | first token | next | behind the server |"
    yield "|---|---:|---:|---:|"
    for client, found in delays.items():
        yield f"| {client} | {' | '.join(map(_percentiles, found))} |"


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
        last = recording.body.split(END)[-2] + END
        run = json.dumps({"run_id": recording.run_id, "status": "success"}).encode()
        location = f"/threads/{recording.thread_id}/runs/{recording.run_id}"
        chunked = b"".join(_chunks(recording.body))

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self._answer(chunked, "text/event-stream", "Transfer-Encoding", "chunked")

            def do_GET(self) -> None:
                is_stream = self.path.partition("?")[0].endswith("/stream")
                body = last if is_stream else run
                media_type = "text/event-stream" if is_stream else "application/json"
                self._answer(body, media_type, "Content-Length", str(len(body)))

            def _answer(self, body: bytes, media_type: str, header: str, value: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", media_type)
                self.send_header(header, value)
                self.send_header("Content-Location", location)
                self.send_header("Location", f"{location}/stream")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _chunks(body: bytes) -> Iterator[bytes]:
    """The body as a server sends it: each event in a chunk of its own."""
    for frame in body.split(END)[:-1]:
        yield b"%x\r\n%b%b\r\n" % (len(frame) + len(END), frame, END)
    yield b"0" + END


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
    asked: Any = {"stream_mode": "messages", "stream_resumable": True}
    return {
        BASE: lambda: stock.stream(ASKED, config, **asked),
        "`RemoteGraph`, and messages": lambda: (
            MESSAGE.validate_python(message) for message, _ in stock.stream(ASKED, config, **asked)
        ),
        "`OnceRemoteGraph`": lambda: ours.stream(ASKED, config, **asked),
        "`stream_run`": lambda: stream_run(client, thread_id, "once", input=ASKED, **asked),
    }


class Delays(NamedTuple):
    """What one client waited for, in ms."""

    first: list[float]
    next: list[float]
    behind: list[float]


def _delays(server: DevServer) -> dict[str, Delays]:
    """For each client the delays of its runs, in turns."""
    moods = random.Random(0)  # noqa: S311  # no secret
    with get_sync_client(url=server.url) as client:
        names = _streams(client, "").keys()
        found = {name: Delays([], [], []) for name in names}
        for round_number in range(RUNS + 1):
            for name in names:
                time.sleep(moods.random())  # or every run meets the queue in the same phase
                thread_id = client.threads.create()["thread_id"]
                began, stream = time.time(), _streams(client, thread_id)[name]()
                arrivals = [time.time() * 1e3 for _ in stream]
                if round_number:
                    found[name].first.append(arrivals[0] - began * 1e3)
                    found[name].next.extend(after - before for before, after in pairwise(arrivals))
                    written = _written(client, thread_id)
                    found[name].behind.extend(map(sub, arrivals, written))
    return found


def _written(client: SyncLangGraphClient, thread_id: str) -> Iterator[float]:
    """When the server wrote each token of the run, in ms: its id says so."""
    (run,) = client.runs.list(thread_id)
    for part in client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"):
        if part.event == "messages":
            yield float(str(part.id).partition("-")[0])


def _shown(values: list[float], base: list[float]) -> str:
    ratio = statistics.median(mine / its for mine, its in zip(values, base, strict=True))
    return f"{statistics.median(values):.1f} ({ratio - 1:+.1%})"


def _percentiles(values: Any) -> str:
    cuts = statistics.quantiles(list(values), n=20, method="inclusive")
    return f"{cuts[9]:.1f} / {cuts[18]:.1f}"
