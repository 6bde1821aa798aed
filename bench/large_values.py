"""Large states, stored and read: our savers beside upstream's, in the same run."""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
import math
import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

from bench.prose import passages
from bench.states import Task, thread
from bench.threads import postgres
from langgraph_once.checkpoint import open_postgres_saver, open_sqlite_saver
from langgraph_once.checkpoint.saver import OnceSaver

NAMES: Final = ("upstream", "ours")
ROUNDS: Final = 7
MEASURES: Final = ("first write", "next write", "read", "read elsewhere")
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - only its name is used, for a folder of our own

Messages: TypeAlias = list[BaseMessage]


def _documents() -> Messages:
    """A RAG agent: each fourth message has the documents that a retriever found."""
    messages = thread(200)
    texts = passages(1000, 700)
    for at in range(2, 200, 4):
        found = [
            Document(texts[at * 4 + n], id=f"{at}-{n}", metadata={"source": f"{n}.md", "page": n})
            for n in range(3)
        ]
        messages[at] = ToolMessage(
            messages[at].text, tool_call_id=f"call_{at - 1}", id=f"t{at}", artifact=found
        )
    return messages


def _with_one(value: Any) -> Callable[[], Messages]:
    def messages() -> Messages:
        found: Messages = thread(200)
        found[100].additional_kwargs["extra"] = value
        return found

    return messages


def _images(count: int) -> Messages:
    """Images as models take them: base64 of bytes that do not compress."""
    made = random.Random(count)  # noqa: S311 - the same in each run
    messages: Messages = []
    for n in range(count):
        image = base64.b64encode(made.randbytes(1_500_000)).decode()
        block: Any = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{image}"}}
        messages.append(HumanMessage([{"type": "text", "text": "What is it?"}, block], id=f"h{n}"))
    return messages


def _tool_results() -> Messages:
    """Five results of about 200 KB, as JSON."""
    made = random.Random(5)  # noqa: S311 - the same in each run
    texts = passages(1000, 700)
    messages: Messages = []
    for n in range(5):
        rows = [
            {"id": f"{made.getrandbits(64):x}", "score": made.random(), "text": text}
            for text in texts[n * 200 : n * 200 + 260]
        ]
        messages.append(ToolMessage(json.dumps(rows), tool_call_id=f"call {n}", id=f"t{n}"))
    return messages


STATES: Final[dict[str, Callable[[], Messages]]] = {
    "200 messages": lambda: thread(200),
    "200 messages, 150 documents as artifacts": _documents,
    "200 messages, a dataclass in one": _with_one(Task("plan", done=False, cost=1.0, parts=[])),
    "200 messages, a tuple in one": _with_one((1, "two")),
    "200 messages, a datetime in one": _with_one(datetime(2026, 5, 1, tzinfo=UTC)),
    "500 messages": lambda: thread(500),
    "an image of 2 MB, base64": lambda: _images(1),
    "six images of 2 MB, base64": lambda: _images(6),
    "five tool results of 200 KB": _tool_results,
}


@dataclass(frozen=True)
class _Database:
    """How the savers of a database are opened, and where each has its tables."""

    name: str
    savers: dict[str, Callable[[str], contextlib.AbstractContextManager[Any]]]
    addresses: dict[str, str]


@contextlib.contextmanager
def _sqlite() -> Iterator[_Database]:
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        yield _Database("SQLite", _SQLITE, {name: f"{folder}/{name}.sqlite" for name in NAMES})


@contextlib.contextmanager
def _postgres() -> Iterator[_Database]:
    psycopg = importlib.import_module("psycopg")
    with postgres() as server, psycopg.connect(server, autocommit=True) as conn:
        conn.execute("ALTER SYSTEM SET fsync = off")
        conn.execute("SELECT pg_reload_conf()")
        addresses = {}
        for name in NAMES:
            conn.execute(f"CREATE DATABASE large_{name}")
            addresses[name] = psycopg.conninfo.make_conninfo(server, dbname=f"large_{name}")
        yield _Database("PostgreSQL", _POSTGRES, addresses)


def _upstream_postgres(address: str) -> Any:
    return importlib.import_module("langgraph.checkpoint.postgres").PostgresSaver.from_conn_string(
        address
    )


@contextlib.contextmanager
def _opened_sqlite(make: Callable[[str], Any], address: str) -> Iterator[Any]:
    with make(address) as saver:
        saver.conn.execute("PRAGMA synchronous = OFF")
        yield saver


_SQLITE: Final[dict[str, Any]] = {
    "upstream": lambda address: _opened_sqlite(SqliteSaver.from_conn_string, address),
    "ours": lambda address: _opened_sqlite(open_sqlite_saver, address),
}
_POSTGRES: Final[dict[str, Any]] = {"upstream": _upstream_postgres, "ours": open_postgres_saver}
_SAVERS: Final = {"SQLite": _SQLITE, "PostgreSQL": _POSTGRES}


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield from (
        "## Large values",
        "",
        "What a saver takes for a large state, in ms: the least of seven rounds in turns, without",
        "the disk's part (SQLite in memory where there is `/dev/shm`, PostgreSQL without fsync).",
        "First write: a thread begins with the state, as where it is copied or another saver wrote",
        "it. Next write: the same with a message more. Read: by the saver that wrote it.",
        "Read elsewhere: the first time, by a saver in another process. Ratio: our time over",
        "upstream's; below 1 ours is faster.",
        "",
    )
    columns = [f"{what}, upstream | ours | ratio" for what in MEASURES]
    yield f"| database | state | {' | '.join(columns)} |"
    yield f"|---|---|{'---:|' * 3 * len(MEASURES)}"
    for opened in (_sqlite(), _postgres()):
        with opened as database:
            for state, times in measured(database, STATES):
                cells = [
                    f"{theirs:,.2f} | {ours:,.2f} | {ours / theirs:.2f}"
                    for theirs, ours in zip(times["upstream"], times["ours"], strict=True)
                ]
                yield f"| {database.name} | {state} | {' | '.join(cells)} |"


def measured(
    database: _Database, states: dict[str, Callable[[], Messages]]
) -> Iterator[tuple[str, dict[str, list[float]]]]:
    """Yield for each state what each saver takes, in ms, in the order of `MEASURES`."""
    context = multiprocessing.get_context("spawn")
    with contextlib.ExitStack() as stack:
        elsewhere = stack.enter_context(ProcessPoolExecutor(1, mp_context=context))
        savers = {}
        for name, open_ in database.savers.items():
            savers[name] = stack.enter_context(open_(database.addresses[name]))
            savers[name].setup()
            _put(savers[name], "warm", thread(20))
        for state, make in states.items():
            times = {name: [math.inf] * len(MEASURES) for name in NAMES}
            for number in range(ROUNDS):
                for name in NAMES[:: 1 - 2 * (number % 2)]:
                    found = _round(savers[name], make(), f"{state} {number}")
                    cold = database.name, name, database.addresses[name], f"{state} {number}"
                    found.append(elsewhere.submit(_read_elsewhere, *cold).result())
                    times[name] = [*map(min, times[name], found)]
                    savers[name].delete_thread(f"{state} {number}")
            yield state, times


def _round(saver: Any, messages: Messages, thread_id: str) -> list[float]:
    first, at = _timed(lambda: _put(saver, thread_id, messages))
    longer: Messages = [*messages, AIMessage("It is that. " * 40, id="last")]
    then, _ = _timed(lambda: _put(saver, thread_id, longer, at))
    read, found = _timed(lambda: saver.get_tuple(_config(thread_id)))
    # Upstream's saver gives dictionaries for some objects in messages: it is not compared.
    if isinstance(saver, OnceSaver) and found.checkpoint["channel_values"]["messages"] != longer:
        raise AssertionError(f"{thread_id} came back as something else")
    return [first, then, read]


def _read_elsewhere(database: str, name: str, address: str, thread_id: str) -> float:
    with _SAVERS[database][name](address) as saver:
        saver.get_tuple(_config("warm"))
        return _timed(lambda: saver.get_tuple(_config(thread_id)))[0]


def _put(saver: Any, thread_id: str, messages: Messages, after: Any = None) -> Any:
    checkpoint = empty_checkpoint()
    checkpoint["v"] = 4  # as LangGraph makes them
    version = f"{len(messages):032}.0"
    checkpoint["channel_values"] = {"messages": messages}
    checkpoint["channel_versions"] = {"messages": version}
    metadata: Any = {"source": "loop", "step": 1, "parents": {}}
    return saver.put(after or _config(thread_id), checkpoint, metadata, {"messages": version})


def _config(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return (time.perf_counter() - start) * 1e3, found
