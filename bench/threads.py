"""A thread as an agent makes it, and the savers that keep it."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import zstandard
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.checkpoint.sqlite import SqliteSaver
from ormsgpack import packb

from bench.prose import passages
from langgraph_once.checkpoint import open_postgres_saver, open_sqlite_saver

FILES = 200
DELTA = "DeltaChannel"
"""The name of upstream's saver, where messages are one."""
LEAST = "the least"
"""The name of upstream's saver, where messages are looked at, and not stored."""
SAVERS = ("upstream", "ours", DELTA, LEAST)
SNAPSHOT_EVERY = 100
TURN = 25
"""Steps that a saver writes before it is another one's turn."""
_LONG = 500
"""Messages: the history of longer threads, which takes upstream's saver a minute, is not listed."""
Open: TypeAlias = Callable[[], contextlib.AbstractContextManager[Any]]
Make: TypeAlias = Callable[[str], contextlib.AbstractContextManager[Any]]


class Disk(NamedTuple):
    """What a database takes."""

    size: int
    """Bytes, once all is tidied up."""
    dead: int = 0
    """Dead rows, of PostgreSQL."""


@dataclass
class Grown:
    """What it took to write threads, and takes to read one of them."""

    write_s: float = 0.0
    write_cpu_s: float = 0.0
    """Of this process."""
    wal: int = 0
    """Bytes of write-ahead log, of PostgreSQL."""
    read_ms: float = math.inf
    list_ms: float = math.inf
    texts: int = 0
    """Bytes of all texts, each once, those of a thread compressed together."""


class Thread:
    """A thread that grows by a message a step.

    Args:
        thread_id: Its id.
        files: Whether it has a channel that is a dict of 200 texts, of which one changes a step.
        by: The name of the saver. For `DELTA` its messages are a `DeltaChannel`: whole in each
            hundredth checkpoint. For `LEAST` its long values are packed, which is the least that
            it takes to notice that one was changed in place, and are empty where they are stored.
    """

    def __init__(
        self,
        thread_id: str = "3c2f6f0e-6f5e-4d0c-9a58",
        *,
        files: bool = False,
        by: str = "ours",
    ) -> None:
        self.latest: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
        self._at = self.latest
        self._random = random.Random(thread_id)  # noqa: S311 - the same in each run
        self._texts = passages(1000, 700)
        self._versions: dict[str, str] = {}
        self.messages: list[AnyMessage] = []
        self._by = by
        self._files = {f"file {n}": self._texts[n] for n in range(FILES)} if files else {}
        self.said = [*self._files.values()]
        """All texts that it has or had."""

    def step(self, saver: Any) -> None:
        """A super-step: what its task wrote, and the checkpoint."""
        number = len(self.messages)
        message = self.say()
        values: dict[str, Any] = {"messages": self.messages, "branch:to:model": None}
        if self._files:
            changed = f"file {self._random.randrange(FILES)}"
            self._files = {**self._files, changed: self._texts[(number * 7) % 1000]}
            self.said.append(self._files[changed])
            values["files"] = self._files
        written = [message]
        if self._by == LEAST:
            packb([[each.__dict__ for each in self.messages], self._files])
            values |= {name: [] for name in values.keys() & {"messages", "files"}}
            written = []
        if self._at is not self.latest:
            writes = [("messages", written), ("branch:to:model", None)]
            saver.put_writes(self._at, writes, self._id(), "~__pregel_pull, model")
        for name in values:
            self._versions[name] = saver.get_next_version(self._versions.get(name), None)
        metadata: Any = {"source": "loop", "step": number, "parents": {}}
        if self._by == DELTA:
            metadata["counters_since_delta_snapshot"] = {"messages": (number % SNAPSHOT_EVERY,) * 2}
            if number % SNAPSHOT_EVERY:
                del values["messages"]
            else:
                values["messages"] = _DeltaSnapshot(self.messages)
        checkpoint = empty_checkpoint()
        checkpoint["v"] = 4  # as LangGraph makes them
        checkpoint["channel_values"] = values
        checkpoint["channel_versions"] = dict(self._versions)
        checkpoint["versions_seen"] = {"__input__": {}, "model": dict(self._versions)}
        self._at = saver.put(self._at, checkpoint, metadata, dict(self._versions))

    def say(self) -> AnyMessage:
        """Add a message, which the next super-step stores."""
        message = self._message(len(self.messages))
        self.said.append(message.text)
        self.messages = [*self.messages, message]
        return message

    def read(self, saver: Any) -> int:
        """Read the latest checkpoint. Returns how many messages it has."""
        found = saver.get_tuple(self.latest)
        if self._by == LEAST:
            return len(self.messages)
        if self._by != DELTA:
            return len(found.checkpoint["channel_values"]["messages"])
        asked = {"config": found.config, "channels": ["messages"]}
        history = saver.get_delta_channel_history(**asked)["messages"]
        seed = history["seed"].value
        written = found.pending_writes + history["writes"]
        return len(seed) + sum(len(value) for _, name, value in written if name == "messages")

    def _message(self, number: int) -> AnyMessage:
        text = self._texts[number % 1000]
        call: Any = {"name": "search", "args": {"topic": text[:40]}, "id": f"call {number}"}
        match number % 6:
            case 0 | 4:
                return HumanMessage(text, id=self._id())
            case 1:
                return AIMessage(text, id=self._id(), tool_calls=[call])
            case 2:
                return ToolMessage(text, id=self._id(), tool_call_id=f"call {number - 1}")
            case _:
                return AIMessage(text, id=self._id())

    def _id(self) -> str:
        return f"{self._random.getrandbits(128):032x}"


def grow(
    savers: Mapping[str, Any], steps: int, *, threads: int, files: bool, wal: Callable[[], int]
) -> dict[str, Grown]:
    """Write threads with several savers by turns, and read the last so.

    A turn is some steps, as where there is one saver alone, whose code is in the caches. The order
    is another one each time: what one leaves to the disk costs the next one.
    """
    found = {name: Grown() for name in savers}
    made: dict[str, Thread] = {}
    order = random.Random(steps)  # noqa: S311 - the same in each run

    def written(name: str, saver: Any) -> Iterator[None]:
        grown = found[name]
        for number in range(threads):
            made[name] = Thread(f"3c2f6f0e-6f5e-4d0c-{number:012}", files=files, by=name)
            for _ in range(steps):
                before = wal()
                start, cpu = time.perf_counter(), time.process_time()
                made[name].step(saver)
                grown.write_s += time.perf_counter() - start
                grown.write_cpu_s += time.process_time() - cpu
                grown.wal += wal() - before
                yield
            texts = "".join(dict.fromkeys(made[name].said)).encode()
            grown.texts += len(zstandard.compress(texts))

    writers = [written(*each) for each in savers.items()]
    for _ in range(threads * steps // TURN + 1):
        order.shuffle(writers)
        for writer in writers:
            for _ in islice(writer, TURN):
                pass
    _look(savers, made, found, steps)
    return found


def _look(
    savers: Mapping[str, Any], made: Mapping[str, Thread], found: dict[str, Grown], steps: int
) -> None:
    """Read and list the last thread of each saver."""
    for rounds, what in ((30, _read), (3, _list)):
        for _ in range(rounds):
            for name, saver in savers.items():
                if what is _read or (steps <= _LONG and name != DELTA):
                    what(saver, made[name], found[name])


def _read(saver: Any, thread: Thread, grown: Grown) -> None:
    start = time.perf_counter()
    count = thread.read(saver)
    grown.read_ms = min(grown.read_ms, (time.perf_counter() - start) * 1e3)
    if count != len(thread.messages):
        raise AssertionError(f"{count} of {len(thread.messages)} messages were stored")


def _list(saver: Any, thread: Thread, grown: Grown) -> None:
    start = time.perf_counter()
    for _ in saver.list(thread.latest, limit=500):
        pass
    grown.list_ms = min(grown.list_ms, (time.perf_counter() - start) * 1e3)


def _begin(opened: contextlib.AbstractContextManager[Any]) -> None:
    """Do what a process does once, and leave nothing of it."""
    with opened as saver:
        saver.setup()
        thread = Thread("the first")
        for _ in range(10):
            thread.step(saver)
        saver.delete_thread("the first")


@contextlib.contextmanager
def sqlite_savers(
    *, synchronous: bool = True
) -> Iterator[dict[str, tuple[Open, Callable[[], Disk]]]]:
    """Upstream's saver and ours, each of a new file: how it is opened, and what it takes."""

    def opened(make: Make, path: Path) -> Any:
        @contextlib.contextmanager
        def open_() -> Iterator[Any]:
            _begin(make(str(path)))
            with make(str(path)) as ready:
                if not synchronous:
                    ready.conn.execute("PRAGMA synchronous = OFF")
                yield ready

        return open_

    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.sqlite") for name in SAVERS}
        yield {
            name: (
                opened(open_sqlite_saver if name == "ours" else SqliteSaver.from_conn_string, file),
                partial(_sqlite_disk, file),
            )
            for name, file in files.items()
        }


def _sqlite_disk(path: Path) -> Disk:
    with contextlib.closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        conn.execute("VACUUM")
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Disk(path.stat().st_size)


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """The address of a server that lives as long."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        runtime = Path(folder, "runtime")
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        server = importlib.import_module("pgserver").get_server(Path(folder, "data"))
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextlib.contextmanager
def postgres_savers(server: str) -> Iterator[dict[str, tuple[Open, Callable[[], Disk]]]]:
    """Upstream's saver and ours, each of a new database: how it is opened, and what it takes."""
    psycopg = importlib.import_module("psycopg")
    upstream = importlib.import_module("langgraph.checkpoint.postgres").PostgresSaver
    with psycopg.connect(server, autocommit=True) as conn:
        urls = {}
        for name in SAVERS:
            database = f"bench_{name.split()[-1].lower()}"
            conn.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
            conn.execute(f"CREATE DATABASE {database}")
            urls[name] = psycopg.conninfo.make_conninfo(server, dbname=database)

        def opened(make: Make, url: str) -> Any:
            @contextlib.contextmanager
            def open_() -> Iterator[Any]:
                _begin(make(url))
                with psycopg.connect(url, autocommit=True) as of:
                    of.execute("VACUUM")
                with make(url) as ready:
                    # What is written of a page for the first time after a checkpoint is all of it.
                    conn.execute("CHECKPOINT")
                    yield ready

            return open_

        def disk(name: str) -> Disk:
            with psycopg.connect(urls[name], autocommit=True) as of:
                of.execute("SELECT pg_stat_force_next_flush()")
                (dead,) = of.execute("SELECT sum(n_dead_tup) FROM pg_stat_user_tables").fetchone()
                of.execute("VACUUM FULL")
                (size,) = of.execute(
                    "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
                    "WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
                ).fetchone()
            return Disk(int(size), int(dead or 0))

        yield {
            name: (
                opened(open_postgres_saver if name == "ours" else upstream.from_conn_string, url),
                partial(disk, name),
            )
            for name, url in urls.items()
        }
