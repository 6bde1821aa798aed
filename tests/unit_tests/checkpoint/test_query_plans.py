"""No statement about a thread looks through the threads of all others."""

import importlib
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from langgraph_once.checkpoint import OncePostgresSaver, OnceSqliteSaver
from langgraph_once.checkpoint.rewriting import Entering, migrate
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.serde import OnceSerializer
from langgraph_once.stream import StreamAddress
from tests.stock_threads import GRAPHS

_EXPLAINED = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")
_WHOLE = re.compile(r"SCAN (?!\d+ CONSTANT|CONSTANT|places|chain|newest|json_each|pragma_|sqlite_)")

_MANY = 10_000
_OTHERS = (
    ("checkpoints", "checkpoint_id, checkpoint", "n::text, '{}'"),
    ("checkpoint_blobs", "channel, version, type", "n::text, '1', 'empty'"),
    ("checkpoint_writes", "checkpoint_id, task_id, idx, channel, blob", "n::text, 'a', 0, 'b', ''"),
)


def live(saver: OnceSaver, kind: str) -> None:
    """Do with a thread what an agent and its server may do."""
    graph = GRAPHS[kind][0]().compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": kind}}
    if "__interrupt__" in graph.invoke({"messages": [("human", "hello")], "left": 2}, config):
        graph.invoke(Command(resume="yes"), config)
    history = [*graph.get_state_history(config)]
    graph.get_state(config, subgraphs=True)
    graph.invoke(None, graph.update_state(history[-2].config, {"left": 1}))
    assert [*saver.list(config, limit=3, before=history[0].config, filter={"source": "loop"})]
    address = StreamAddress(kind, "")
    saver.save_stream_state(address, b"state")
    saver.load_stream_state(address)
    saver.copy_thread(kind, f"{kind}-copy")
    saver.prune([f"{kind}-copy"], strategy="keep_latest")
    saver.delete_thread(f"{kind}-copy")


def operate(saver: OnceSaver) -> None:
    """Do with all threads what one does who comes or leaves."""
    migrate(saver, Entering(OnceSerializer()))


def rows_read(conn: Any) -> dict[str, int]:
    """How many rows were looked at by now, by table."""
    conn.execute("SELECT pg_stat_force_next_flush()")
    counts = "SELECT relname, seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables"
    return dict(conn.execute(f"{counts} WHERE schemaname = current_schema").fetchall())


def add_others(conn: Any) -> None:
    """Other threads, which `live` has nothing to do with."""
    for table, columns, values in _OTHERS:
        conn.execute(
            f"INSERT INTO {table} (thread_id, {columns}) SELECT 'other-' || n / 10, {values} "
            f"FROM generate_series(1, {_MANY}) n"
        )
    conn.execute("ANALYZE")


def asked_of_thread(path: Path, kind: str, operate: Callable[[OnceSaver], None]) -> list[str]:
    """The statements that named a thread, of which none looked through others."""
    asked: dict[str, None] = {}
    conn = sqlite3.connect(path, check_same_thread=False)
    saver = OnceSqliteSaver(conn)
    saver.setup()
    conn.set_trace_callback(lambda sql: asked.setdefault(sql.strip()))
    live(saver, kind)
    operate(saver)
    conn.set_trace_callback(None)
    of_thread = [sql for sql in asked if f"'{kind}" in sql and sql.startswith(_EXPLAINED)]
    for sql in of_thread:
        for *_, step in conn.execute(f"EXPLAIN QUERY PLAN {sql}"):
            assert not _WHOLE.match(step), sql
    saver.close()
    return of_thread


@pytest.mark.parametrize("kind", GRAPHS)
def test_in_sqlite_a_thread_is_found_by_an_index(path: Path, kind: str) -> None:
    assert len(asked_of_thread(path, kind, operate)) > 50


@pytest.mark.parametrize("kind", GRAPHS)
def test_in_postgres_a_thread_is_found_by_an_index(database: str, kind: str) -> None:
    psycopg = importlib.import_module("psycopg")
    with psycopg.connect(database, autocommit=True) as conn:
        saver = OncePostgresSaver(conn)
        saver.setup()
        add_others(conn)
        before = rows_read(conn)
        live(saver, kind)
        after = rows_read(conn)
    assert before.keys() > {table for table, *_ in _OTHERS}
    for table in before:
        assert after[table] - before[table] < _MANY, table
