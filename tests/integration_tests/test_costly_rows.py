"""A real server on whose database hostile rows lie answers what is asked of them, and others.

`python -m tests.integration_tests.test_costly_rows` prints how long each takes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import httpx
import ormsgpack
import pytest
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer
from langgraph_once import OnceSerializer
from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.serde.format import Code, Tag

GRAPH = """
import shop.data, shop.names
from typing import Any, TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict):
    value: Any

builder = StateGraph(State).add_node("node", lambda state: {"value": 1})
graph = builder.add_edge(START, "node").compile()
"""
MANIFEST = {
    "dependencies": ["."],
    "graphs": {"shop": "./shop/graph.py:graph"},
    "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
}
MANY_NAMES = "".join(f"class Name{number}: pass\n" for number in range(700))
MUCH_DATA = "DATA = " + repr([f"entry {number}" for number in range(80_000)])
PATIENCE_S = 60
"""So long that only what hangs takes longer, on a machine that is busy."""


def named(names: list[tuple[str, str]]) -> bytes:
    objects = [ormsgpack.Ext(2, ormsgpack.packb([*name, {"a": 1}])) for name in names]
    return ormsgpack.packb(objects)


def doubled(levels: int) -> bytes:
    """Return a row of `v = [v, v]`, so many times."""
    nodes = [ormsgpack.packb([])]
    for number in range(levels):
        node = ormsgpack.Ext(Code.NODE, number.to_bytes(4, "big"))
        nodes.append(ormsgpack.packb([node, node]))
    return ormsgpack.packb(ormsgpack.Ext(Code.GRAPH, ormsgpack.packb(nodes)))


ROWS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "nothing unusual": ("once2", lambda: ormsgpack.packb([1])),
    "1,000 unknown names": (
        "msgpack", lambda: named([("shop.names", f"Missing{number}") for number in range(1000)]),
    ),
    "500 objects of a deleted class": ("msgpack", lambda: named([("shop.names", "Gone")] * 500)),
    "20 unknown names of a module of 1.3 MB": (
        "msgpack", lambda: named([("shop.data", f"Missing{number}") for number in range(20)]),
    ),
    "1,000 unknown modules": (
        "msgpack", lambda: named([(f"shop.missing{number}", "A") for number in range(1000)]),
    ),
    "17 levels of `[v, v]`": ("once2", lambda: doubled(17)),
    "60 levels of `[v, v]`": ("once2", lambda: doubled(60)),
}  # fmt: skip


@contextmanager
def serving(folder: Path) -> Iterator[DevServer]:
    """Serve a project with a graph, and the modules that rows name."""
    (folder / "shop").mkdir(parents=True)
    for name, source in (("graph", GRAPH), ("names", MANY_NAMES), ("data", MUCH_DATA)):
        (folder / "shop" / f"{name}.py").write_text(source)
    config = folder / "langgraph.json"
    config.write_text(json.dumps(MANIFEST))
    with DevServer(config, cwd=folder, env={"PYTHONPATH": str(folder)}) as server:
        yield server


def store(path: Path, thread_id: str, codec: str, data: bytes) -> None:
    """Put a value into the last checkpoint of a thread, in the row as it is stored."""
    serde = OnceSerializer()
    with open_sqlite_saver(path) as saver:
        rows = saver.conn.execute(
            "SELECT checkpoint_id, type, checkpoint FROM checkpoints WHERE thread_id = ? "
            "ORDER BY checkpoint_id DESC LIMIT 1",
            (thread_id,),
        )
        checkpoint_id, tag, cell = rows.fetchone()
        parsed, opened = serde.unwrapped((tag, cell))
        version, head, parts = ormsgpack.unpackb(opened)
        packed = ormsgpack.packb([version, head, {**parts, "value": (codec, data)}])
        saver.conn.execute(
            "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE checkpoint_id = ?",
            (*serde.wrapped(Tag(parsed.codec), packed), checkpoint_id),
        )
        saver.conn.commit()


class Pulse:
    """Asks `/ok` again and again; knows the longest that an answer took."""

    def __init__(self, url: str) -> None:
        self.longest_s = 0.0
        self._url = f"{url}/ok"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.wait(0.02):
            started = time.monotonic()
            httpx.get(self._url, timeout=PATIENCE_S).raise_for_status()
            self.longest_s = max(self.longest_s, time.monotonic() - started)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def answers(server: DevServer) -> Iterator[dict[str, Any]]:
    """Yield what each row makes of a request for the state of its thread."""
    path = next(server.cwd.rglob("*.sqlite"), None)
    with get_sync_client(url=server.url) as client:
        for name, (codec, make) in ROWS.items():
            thread_id = client.threads.create()["thread_id"]
            client.runs.wait(thread_id, "shop", input={"value": 0})
            path = path or next(server.cwd.rglob("*.sqlite"))
            store(path, thread_id, codec, make())
            with Pulse(server.url) as pulse:
                started = time.monotonic()
                url = f"{server.url}/threads/{thread_id}/state"
                answer = httpx.get(url, timeout=PATIENCE_S)
                seconds = time.monotonic() - started
            yield {
                "name": name, "status": answer.status_code, "bytes": len(answer.content),
                "seconds": round(seconds, 2), "ok_seconds": round(pulse.longest_s, 2),
            }  # fmt: skip


@pytest.mark.product
def test_a_server_answers_what_is_asked_of_costly_rows(tmp_path: Path) -> None:
    with serving(tmp_path / "project") as server:
        found = {each["name"]: each["status"] for each in answers(server)}
    assert found.keys() == ROWS.keys()
    assert found["nothing unusual"] == found["1,000 unknown names"] == 200
    assert {*found.values()} <= {200, 500}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, serving(Path(place) / "project") as running:
        for each in answers(running):
            sys.stdout.write(json.dumps(each) + "\n")
            sys.stdout.flush()
