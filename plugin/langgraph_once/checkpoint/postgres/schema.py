"""What there must be in a PostgreSQL database, and how it gets there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from langgraph_once.checkpoint.database import (
    Execute,
    NewerSchemaError,
    Program,
    Statement,
    drive,
)
from langgraph_once.checkpoint.postgres.driver import (
    UPSTREAM,
    Connection,
    execute_on,
    is_idle,
    psycopg,
    transaction,
)
from langgraph_once.checkpoint.postgres.moves import SET_UP_KEY
from langgraph_once.checkpoint.postgres.tables import RUN_ID

MIGRATIONS: Final = {
    "once_schema": "CREATE TABLE once_schema (version INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "once_run_id of checkpoints": "ALTER TABLE checkpoints ADD COLUMN once_run_id TEXT",
    "once_run_id of writes": "ALTER TABLE checkpoint_writes ADD COLUMN once_run_id TEXT",
    "once_pieces": "CREATE TABLE once_pieces (thread_id TEXT NOT NULL, digest BYTEA NOT NULL, "
    "type TEXT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (thread_id, digest))",
    "once_stream_states": "CREATE TABLE once_stream_states (thread_id TEXT NOT NULL, "
    "checkpoint_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, type TEXT NOT NULL, "
    "data BYTEA NOT NULL, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))",
    "once_checkpoints_runs": "CREATE INDEX CONCURRENTLY once_checkpoints_runs "
    f"ON checkpoints (({RUN_ID}))",
    "once_writes_run": "CREATE INDEX CONCURRENTLY once_writes_run "
    "ON checkpoint_writes (once_run_id) WHERE once_run_id IS NOT NULL",
}
"""Ours, which come after upstream's. The first is version 1. Never change one: add one."""

_POLL_S: Final = 0.05
_CONCURRENTLY: Final = " CONCURRENTLY"


class _Migration(NamedTuple):
    """A migration, with what records it."""

    sql: str
    record: Statement
    makes: str | None = None
    """The index of ours that it makes."""


class SchemaState(NamedTuple):
    """How far a database is."""

    has_tables: bool
    steps: list[_Migration]
    """What is still to be done."""


def set_up(conn: Connection, schema: str | None, *, is_pooler: bool) -> None:
    """Make what is missing in a database; other processes may do so at the same time.

    Others may go on writing while indexes of tables with rows are made, unless `conn` cannot do
    without a transaction.

    Args:
        conn: A connection, in a transaction or not.
        schema: Where the tables are, and are made; where the connection looks if None.
        is_pooler: Whether a pooler gives each transaction another session.

    Raises:
        NewerSchemaError: A newer version of this package made our tables.
    """
    with transaction(conn):
        enter_schema(execute_on(conn), schema)
        state = drive(schema_state(), execute_on(conn))
    if not state.steps:
        return
    if state.has_tables and conn.autocommit and is_idle(conn) and not is_pooler:
        _set_up_beside_writers(conn, schema)
    else:
        while not _set_up_at_once(conn, schema):
            time.sleep(_POLL_S)


def is_missing(conn: Connection, schema: str | None) -> bool:
    """Whether not even upstream's tables are there.

    Raises:
        NewerSchemaError: A newer version of this package made our tables.
    """
    try:
        with transaction(conn):
            enter_schema(execute_on(conn), schema)
            return not drive(schema_state(), execute_on(conn)).has_tables
    except psycopg.errors.InsufficientPrivilege:  # who reads threads may not see what was migrated
        return False


def enter_schema(execute: Execute, schema: str | None, *, is_local: bool = True) -> None:
    """Look for tables in a schema, until the end of the transaction or of the session."""
    if schema is not None:
        sql = "SELECT set_config('search_path', quote_ident(?), ?)"
        execute(Statement(sql, [schema, is_local], has_rows=False))


def _set_up_at_once(conn: Connection, schema: str | None) -> bool:
    """Make all in one transaction. Returns whether no other process was about it."""
    with transaction(conn):
        enter_schema(execute_on(conn), schema)
        if not _lock(conn, "pg_try_advisory_xact_lock"):
            return False
        if schema is not None:
            execute_on(conn)(
                Statement(f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)}", has_rows=False)
            )
        for step in drive(schema_state(), execute_on(conn)).steps:
            _do(conn, step._replace(sql=step.sql.replace(_CONCURRENTLY, "")))
        return True


def _set_up_beside_writers(conn: Connection, schema: str | None) -> None:
    with _in_schema(conn, schema), _locked(conn):
        for step in drive(schema_state(), execute_on(conn)).steps:
            if _CONCURRENTLY in step.sql:
                _do(conn, step)
            else:
                with transaction(conn):
                    _do(conn, step)


def _do(conn: Connection, step: _Migration) -> None:
    if step.makes is not None:  # one that was not finished is there, and of no use
        how = _CONCURRENTLY if _CONCURRENTLY in step.sql else ""
        execute_on(conn)(Statement(f"DROP INDEX{how} IF EXISTS {step.makes}", has_rows=False))
    execute_on(conn)(Statement(step.sql, has_rows=step.sql.startswith("SELECT")))
    execute_on(conn)(step.record)


def schema_state() -> Program[SchemaState]:
    # A session learns of tables that others made when it locks one, `pg_class` here: not when it
    # gets our lock, in a transaction that began before they were there.
    ((has_theirs, has_ours, has_tables),) = yield Statement(
        "SELECT to_regclass('checkpoint_migrations') IS NOT NULL, "
        "to_regclass('once_schema') IS NOT NULL, to_regclass('checkpoints') IS NOT NULL "
        "FROM pg_class LIMIT 1"
    )
    done, ours = -1, 0
    if has_theirs:
        ((done,),) = yield Statement("SELECT COALESCE(max(v), -1) FROM checkpoint_migrations")
    if has_ours:
        ((ours,),) = yield Statement("SELECT COALESCE(max(version), 0) FROM once_schema")
    if ours > len(MIGRATIONS):
        known = len(MIGRATIONS)
        raise NewerSchemaError(f"a newer langgraph-once made it (schema {ours}, not {known})")
    return SchemaState(has_tables, [*_upstream(done + 1), *_ours(ours + 1)])


def _upstream(version: int) -> Iterator[_Migration]:
    for number, sql in enumerate(UPSTREAM[version:], version):
        record = "INSERT INTO checkpoint_migrations (v) VALUES (?) ON CONFLICT DO NOTHING"
        yield _Migration(sql.strip().rstrip(";"), Statement(record, [number], has_rows=False))


def _ours(version: int) -> Iterator[_Migration]:
    for number, (name, sql) in enumerate([*MIGRATIONS.items()][version - 1 :], version):
        record = "INSERT INTO once_schema (version, name) VALUES (?, ?)"
        index = name if _CONCURRENTLY in sql else None
        yield _Migration(sql, Statement(record, [number, name], has_rows=False), index)


def _lock(conn: Connection, function: str) -> Any:
    """Whether it is got: of each schema there is one."""
    # Never waited for: whoever makes an index beside writers waits for those who ask something.
    ((is_got,),) = execute_on(conn)(Statement(f"SELECT {function}({SET_UP_KEY})"))
    return is_got


@contextmanager
def _locked(conn: Connection) -> Iterator[None]:
    while not _lock(conn, "pg_try_advisory_lock"):
        time.sleep(_POLL_S)
    try:
        yield
    finally:
        _lock(conn, "pg_advisory_unlock")


@contextmanager
def _in_schema(conn: Connection, schema: str | None) -> Iterator[None]:
    ((before,),) = execute_on(conn)(Statement("SELECT current_setting('search_path')"))
    enter_schema(execute_on(conn), schema, is_local=False)
    try:
        yield
    finally:
        execute_on(conn)(Statement("SELECT set_config('search_path', ?, false)", [before]))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
