"""Databases of both kinds with real threads of all sorts, and what is in them, row by row."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from pydantic import SecretStr

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import OnceSqliteSaver, open_saver, values
from langgraph_once.checkpoint.by_url import backend_of
from langgraph_once.checkpoint.database import Program, Statement
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.config import CheckpointConfig
from langgraph_once.stream import StreamAddress
from tests.databases import is_postgres
from tests.unit_tests.checkpoint.whole_graph import START_INPUT, build, on, told

ASKED: Any = {**START_INPUT, "text": "no zero byte", "ratio": 0.25}
"""What upstream's saver keeps as it is in PostgreSQL, too."""

KEYS = {"old": SecretStr("MDEyMzQ1Njc4OWFiY2RlZg==")}
NEW = {"new": SecretStr("ZmVkY2JhOTg3NjU0MzIxMA==")}


def serde(**options: Any) -> OnceSerializer:
    return OnceSerializer(SerdeConfig(**options))


def url(address: str) -> str:
    """The address of a PostgreSQL as a URL."""
    known = importlib.import_module("psycopg").conninfo.conninfo_to_dict(address)
    return f"postgresql:///?{urlencode(known, quote_via=quote)}"


@contextlib.contextmanager
def only_select(address: str) -> Iterator[str]:
    """The address of a schema of PostgreSQL for a role that may read it, and no more."""
    psycopg = importlib.import_module("psycopg")
    schema = psycopg.conninfo.conninfo_to_dict(address)["options"].rpartition("=")[2]
    role = f"reader_{schema}"
    with psycopg.connect(address, autocommit=True) as conn:
        conn.execute(f"CREATE ROLE {role} LOGIN")
        conn.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        conn.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
        grants = f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role}"
        conn.execute(grants)
        yield psycopg.conninfo.make_conninfo(address, user=role)
        conn.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def once(database: str, serializer: OnceSerializer, *, store_once: bool = True) -> Any:
    config = CheckpointConfig(store_once=store_once)
    return open_saver(database, config=config, serde=serializer)


def to_read(database: str, serializer: OnceSerializer) -> Any:
    return backend_of(database).open_to_read(config=CheckpointConfig(), serde=serializer)


@contextlib.contextmanager
def stock(database: str) -> Iterator[Any]:
    """Upstream's saver, with upstream's serializer."""
    kind: Any = SqliteSaver
    if is_postgres(database):
        kind = importlib.import_module("langgraph.checkpoint.postgres").PostgresSaver
    with kind.from_conn_string(database) as saver:
        saver.setup()
        yield saver


THREADS = ("waits", "done", "forked")
OURS = ("once_pieces", "once_stream_states")
_OF_THEM = f"WHERE thread_id IN {THREADS}"

_kept: list[tuple[Any, dict[str, Any]]] = []
"""For each way to store them, by table: the rows, or in PostgreSQL the table that keeps them."""


def fill(saver: Any) -> None:
    """Threads that wait, are done, and were forked; with subgraphs, `Send` and delta channels.

    They are played once for each way to store them. After that their rows are copied.
    """
    if not isinstance(saver, OnceSaver):
        _play(saver)
        return
    serde: Any = saver.serde
    way = (type(saver), type(serde), serde.config, saver._store_once, values.MIN_CUT_BYTES)
    kept = next((tables for known, tables in _kept if known == way), None)
    if kept is None:
        _play(saver)
        _kept.append((way, saver.engine.run(_keeping(saver), writes=True)))
    else:
        saver.engine.run(_copying(kept), writes=True)


def _keeping(saver: OnceSaver) -> Program[dict[str, Any]]:
    kept: dict[str, Any] = {}
    if isinstance(saver, OnceSqliteSaver):
        for table in ("checkpoints", "writes", *OURS):
            names = yield Statement(f"SELECT name FROM pragma_table_info('{table}')")
            into = f"{table} ({', '.join(name for (name,) in names)})"
            kept[into] = yield Statement(f"SELECT * FROM {table} {_OF_THEM}")
        return kept
    schema = f"kept_{len(_kept)}"
    yield Statement(f"CREATE SCHEMA {schema}", has_rows=False)
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes", *OURS):
        kept[table] = f"{schema}.{table}"
        yield Statement(
            f"CREATE TABLE {kept[table]} AS SELECT * FROM {table} {_OF_THEM}", has_rows=False
        )
    return kept


def _copying(kept: dict[str, Any]) -> Program[None]:
    for table, rows in kept.items():
        if isinstance(rows, str):
            yield Statement(f"INSERT INTO {table} TABLE {rows}", has_rows=False)
        elif rows:
            marks = ", ".join("?" * len(rows[0]))
            yield Statement(
                f"INSERT INTO {table} VALUES ({marks})", rows, is_many=True, has_rows=False
            )


def _play(saver: Any) -> None:
    graph = build(saver)
    for thread_id in THREADS:
        graph.invoke(ASKED, on(thread_id))
    for thread_id in ("done", "forked"):
        graph.invoke(Command(resume="yes"), on(thread_id))
    (third,) = [
        state
        for state in graph.get_state_history(on("forked"))
        if state.metadata and state.metadata["step"] == 1
    ]
    fork = graph.update_state(third.config, {"text": "fork", "log": ["fork"]}, as_node="plan")
    graph.invoke(None, fork)
    if isinstance(saver, OnceSaver):
        saver.save_stream_state(StreamAddress("waits", ""), b"ledger " * 1000)


def history(saver: Any) -> dict[str, Any]:
    """All states of all threads."""
    graph = build(saver)
    return {
        thread_id: (
            told(graph.get_state(on(thread_id), subgraphs=True)),
            [told(state) for state in graph.get_state_history(on(thread_id))],
        )
        for thread_id in THREADS
    }


def end(saver: Any) -> dict[str, Any]:
    """What becomes of the threads if they go on."""
    graph = build(saver)
    graph.invoke(Command(resume="late"), on("waits"))
    graph.invoke(Command(resume="fork"), on("forked"))
    graph.invoke({"count": 4}, on("done"))
    graph.invoke(Command(resume="again"), on("done"))
    return history(saver)


@functools.cache
def in_memory() -> dict[str, Any]:
    """What should become of them."""
    saver = InMemorySaver()
    fill(saver)
    return end(saver)


def ask(database: str, sql: str, *values: Any) -> list[Any]:
    """Run a statement, which says `?` where a value goes."""
    if is_postgres(database):
        psycopg = importlib.import_module("psycopg")
        with psycopg.connect(database, autocommit=True) as conn:
            cursor = conn.execute(sql.replace("?", "%s"), values or None)
            return cursor.fetchall() if cursor.description else []
    with contextlib.closing(sqlite3.connect(database)) as conn, conn:
        return conn.execute(sql, values).fetchall()


def columns(database: str) -> Any:
    """All tables with their columns, and all indexes."""
    if is_postgres(database):
        return ask(
            database,
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() UNION "
            "SELECT tablename, indexname FROM pg_indexes "
            "WHERE schemaname = current_schema() ORDER BY 1, 2",
        )
    return ask(
        database,
        "SELECT m.name, i.name FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) i "
        "ORDER BY 1, 2",
    )


def tables(database: str) -> list[str]:
    """The tables of threads that a database has."""
    names = {name for name, _ in columns(database)}
    known = {"checkpoints", "writes", "checkpoint_writes", "checkpoint_blobs", *OURS}
    return sorted(names & known)


def rows(database: str, which: str = "") -> dict[str, list[str]]:
    """The rows of threads by table; `which` is a WHERE clause."""
    return {
        table: sorted(map(repr, ask(database, f"SELECT * FROM {table} {which}")))
        for table in tables(database)
    }


def tags(database: str) -> set[str]:
    """Of all values."""
    tables = ["checkpoint_blobs", "checkpoint_writes"]
    if not is_postgres(database):
        tables = ["checkpoints", "writes"]
    return {
        tag
        for table in tables
        for (tag,) in ask(database, f"SELECT DISTINCT type FROM {table}")
        if tag != "empty"
    }


def contents(database: str) -> Any:
    """Everything, as bytes or rows."""
    if not is_postgres(database):
        return Path(database).read_bytes()
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "once_pieces")
    return [sorted(map(repr, ask(database, f"SELECT * FROM {table}"))) for table in tables]
