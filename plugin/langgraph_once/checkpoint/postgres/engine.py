"""Runs statements on a PostgreSQL database, by psycopg, and makes the tables.

What its errors mean, and what to do then, stands here too.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from langgraph_once.checkpoint.database import (
    MOST_DROPS,
    EmptyDatabaseError,
    Engine,
    Execute,
    NewerSchemaError,
    Program,
    Row,
    RunningProgram,
    Statement,
    drive,
)
from langgraph_once.checkpoint.postgres.queries import RUN_ID, SET_UP_KEY
from langgraph_once.errors import StorageError
from langgraph_once.floors import install_command
from langgraph_once.metrics import pools

try:
    import psycopg as psycopg
    import psycopg_pool as psycopg_pool
    from langgraph.checkpoint.postgres.base import MIGRATIONS as UPSTREAM
    from psycopg.pq import TransactionStatus
    from psycopg.rows import tuple_row
except ImportError as error:
    raise ImportError(f"PostgreSQL needs an extra: {install_command('postgres')}") from error

# Those that are changed within a transaction.
_CHANGED: Final = ("search_path", "statement_timeout", "jit")
_SETTINGS: Final = Statement(
    "SELECT " + ", ".join(f"current_setting('{name}')" for name in _CHANGED)
)
_SET: Final = "SELECT " + ", ".join(f"set_config('{name}', ?, true)" for name in _CHANGED)

Connection: TypeAlias = psycopg.Connection[Any]
Pool: TypeAlias = psycopg_pool.ConnectionPool[Any]


def execute_on(conn: Connection, *, prepares: bool | None = None) -> Execute:
    """What executes statements on a connection, whatever its own cursors are like.

    Args:
        conn: The connection.
        prepares: Whether each is prepared at its first use, where the connection prepares any; if
            None, once it was used often.
    """
    silent = _cursor(conn)

    def execute(statement: Statement) -> list[Row]:
        if statement.is_try:  # it would undo the transaction that it is in
            return []
        cursor = _cursor(conn) if statement.has_rows else silent
        sql = _as_psycopg(statement.sql)
        if statement.is_many:
            cursor.executemany(sql, statement.values)
        else:
            cursor.execute(sql, statement.values or None, prepare=prepares)
        return cursor.fetchall() if statement.has_rows else []

    return execute


@contextmanager
def transaction(conn: Connection) -> Iterator[None]:
    """A transaction; within one of the user's a part of it, which leaves its settings as they are.

    An error undoes it.
    """
    with conn.transaction():
        (before,) = execute_on(conn)(_SETTINGS)
        yield
        execute_on(conn)(Statement(_SET, before))


def _cursor(conn: Connection) -> psycopg.Cursor[Row]:
    cursor = psycopg.Cursor(conn, row_factory=tuple_row)
    cursor.format = psycopg.pq.Format.BINARY
    return cursor


def is_idle(conn: Connection) -> bool:
    """Whether a connection is in no transaction."""
    return conn.info.transaction_status == TransactionStatus.IDLE


@lru_cache(maxsize=512)
def _as_psycopg(sql: str) -> Any:
    # No statement has a percent sign, which the driver takes for a value: it would refuse it.
    # Arrays are sent in binary: as text, each byte of a digest would be two.
    return sql.replace("ANY(?)", "ANY(%b)").replace("?::bytea[]", "%b").replace("?", "%s")


_INCOMPLETE: Final = "its tables are not all there; set up as a role that may make them"
_SHALLOW: Final = "ShallowPostgresSaver made its tables, which keep no history: they are not read"
_SHALLOW_LACKS: Final = re.compile(r"\b(checkpoint_id|version)\b")
"""Columns of `PostgresSaver` that the tables of `ShallowPostgresSaver` lack."""
_ADVICE: Final = (
    (
        psycopg_pool.PoolTimeout,
        "none was free, or could be made, in time; does the server run? If so, allow more",
    ),
    (psycopg_pool.PoolClosed, "its saver was closed; open one anew"),
    (NewerSchemaError, "install the version that made it, or a newer one"),
    (
        psycopg.errors.InsufficientPrivilege,
        "GRANT SELECT to read, and INSERT, UPDATE and DELETE to write; set up as the owner",
    ),
    (psycopg.errors.ReadOnlySqlTransaction, "it is read-only; name the primary server"),
    (psycopg.errors.DiskFull, "its disk is full; make room"),
    (psycopg.errors.OutOfMemory, "the server is out of memory; give it more"),
    (psycopg.errors.TooManyConnections, "allow more connections, or make the pools smaller"),
    (psycopg.errors.QueryCanceled, "a statement took too long; raise the statement timeout"),
    (psycopg.errors.LockNotAvailable, "another session holds a lock; try again"),
    (psycopg.errors.DeadlockDetected, "two sessions waited for each other; try again"),
    (psycopg.errors.UndefinedTable, _INCOMPLETE),
    (psycopg.errors.UndefinedColumn, _INCOMPLETE),
    (psycopg.errors.NotNullViolation, "name it in the config: None is the name of nothing"),
    (psycopg.errors.DataCorrupted, "it is damaged; restore a backup"),
    (psycopg.errors.IndexCorrupted, "an index is damaged; REINDEX the database"),
    (
        psycopg.errors.ProgramLimitExceeded,
        "something is too long; shorten ids of threads, namespaces and channels, or metadata",
    ),
    (psycopg.DataError, "it has no form for this value; see the cause"),
)
_NOT_REACHED: Final = "does the server run, and are address, user and password right?"
LOST: Final = "does the server run? Try again, with a new connection"
_CLASSES_OF_CONNECTIONS: Final = ("08", "28", "3D", "57P")
"""How the SQLSTATE begins of an error of connections; many have none."""


def storage_error(
    name: str, error: psycopg.Error | NewerSchemaError, *, of_connection: str = _NOT_REACHED
) -> StorageError:
    """The error to raise from this one.

    Args:
        name: The server and the database; no password.
        error: What the driver raised.
        of_connection: The advice for an error of the connection.
    """
    advice = next((words for kind, words in _ADVICE if isinstance(error, kind)), None)
    if advice is None:
        advice = of_connection if _is_of_connection(error) else "see the cause"
    # Not the details: they may hold values.
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    if said is None:
        said = "it cannot take this" if _tells_values(error) else str(error).strip()
    if isinstance(error, psycopg.errors.UndefinedColumn) and _SHALLOW_LACKS.search(said):
        advice = _SHALLOW
    line = " ".join(said.split())
    return StorageError(f"cannot use the checkpoint database {name!r}: {line}; {advice}", path=name)


def _is_of_connection(error: Exception) -> bool:
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(_CLASSES_OF_CONNECTIONS)


def _tells_values(error: Exception) -> bool:
    return isinstance(error, psycopg.Error) and not isinstance(error, psycopg.OperationalError)


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

# Tables are made once; who waits here waits for another process that makes them.
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


T = TypeVar("T")

# All statements see the same: nobody sweeps a piece between two of them.
_READING: Final = "ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_SNAPSHOT: Final = Statement(f"SET TRANSACTION {_READING}", has_rows=False)
_BEGIN_READING: Final = Statement(f"BEGIN {_READING}", has_rows=False)
_BEGIN: Final = Statement("BEGIN", has_rows=False)
_COMMIT: Final = Statement("COMMIT", has_rows=False)
_IS_GONE: Final = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn)
_CANNOT_WRITE: Final = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.ReadOnlySqlTransaction,
)


class PostgresEngine(Engine):
    """Runs each program in one transaction, on one connection.

    What needs no answer is sent with what does: a program takes as many round trips as it asks for
    rows, and one to end. If the connection dies before anything was answered, it is run once more
    on another one of the pool: what our programs do twice is as though it had been done once.

    Args:
        source: A pool, or a connection, which programs take in turns.
        name: How the database is named in errors.
        workers: How many programs of event loops may run at once.
        schema: Where the tables are; where connections look if None.
        is_pooler: Whether a pooler gives each transaction another session.
        makes_tables: Whether missing tables are made. If not, upstream's tables must exist.
    """

    def __init__(
        self,
        source: Pool | Connection,
        name: str,
        *,
        workers: int,
        schema: str | None = None,
        is_pooler: bool = False,
        makes_tables: bool = True,
    ) -> None:
        super().__init__(name, workers=workers)
        self.source = source
        if not isinstance(source, psycopg.Connection):
            pools.add(source)
        self._schema = schema
        self._is_pooler = is_pooler
        self._makes_tables = makes_tables
        self._lock = threading.RLock()
        self._is_set_up = False

    def run(self, program: Program[T], *, writes: bool) -> T:
        """Run a program in one transaction, which an error undoes.

        Raises:
            StorageError: The database cannot do it.
        """
        with self._told():
            running = RunningProgram(program)
            for is_last in (*[False] * MOST_DROPS, True):
                try:
                    if not self._is_set_up:
                        self._set_up()
                    return self._run(running, writes=writes)
                except _IS_GONE:
                    if running.is_answered or is_last:
                        raise
                    self._is_set_up = False
                except psycopg.OperationalError:
                    if not running.may_move or isinstance(self.source, psycopg.Connection):
                        raise
                    self.source.check()  # what died with it is replaced
                    break
            return self._run(running, writes=writes)

    def set_up(self) -> None:
        """Make what is missing in the database; every program does this first."""
        with self._told():
            self._set_up()

    def close(self) -> None:
        """Close the pool or the connection."""
        super().close()
        self.source.close()
        pools.close(self.source)

    def _set_up(self) -> None:
        with self._lock, self._connection() as conn:
            if self._is_set_up:
                return
            if not self._makes_tables:
                if is_missing(conn, self._schema):
                    raise EmptyDatabaseError(self.name)
                self._is_set_up = True
                return
            try:
                set_up(conn, self._schema, is_pooler=self._is_pooler)
            except _CANNOT_WRITE as error:
                # What upstream wrote can be read where nothing can be added.
                if is_missing(conn, self._schema):
                    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
                        raise EmptyDatabaseError(self.name) from error
                    raise
            self._is_set_up = is_idle(conn)  # or its user may still undo it

    def _run(self, running: RunningProgram[T], *, writes: bool) -> T:
        with self._connection() as conn:
            try:
                with self._transaction(conn, writes=writes) as execute:
                    return running.resume(execute)
            except psycopg.OperationalError:
                running.may_move = conn.closed and not running.is_answered
                raise

    @contextlib.contextmanager
    def _transaction(self, conn: Connection, *, writes: bool) -> Iterator[Execute]:
        execute = execute_on(conn)
        if not is_idle(conn):  # it is the user's, who ends it
            with transaction(conn):
                self._adjust(execute)
                yield execute
            return
        needs_none = conn.autocommit and self._schema is None
        begun = contextlib.ExitStack()
        has_begun = False

        def execute_within(statement: Statement) -> list[Row]:
            nonlocal has_begun
            if statement.is_try and needs_none and not has_begun:
                execute_alone = execute_on(conn, prepares=True)
                try:
                    return execute_alone(statement._replace(is_try=False, has_rows=True))
                except (psycopg.errors.InsufficientPrivilege, *_IS_GONE):
                    # The role may not lock pieces, which takes `UPDATE`; or there are none, as
                    # where nothing may be made.
                    return []
            if not has_begun:
                has_begun = True
                begun.enter_context(_pipeline(conn))
                if conn.autocommit:
                    execute(_BEGIN if writes else _BEGIN_READING)
                elif not writes:
                    execute(_SNAPSHOT)
                self._adjust(execute)
            return execute(statement)

        try:
            with begun:
                yield execute_within
                if has_begun:
                    execute(_COMMIT)
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                conn.rollback()
            raise

    def _adjust(self, execute: Execute) -> None:
        enter_schema(execute, self._schema)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[Connection]:
        if isinstance(self.source, psycopg.Connection):
            with self._lock:
                yield self.source
        else:
            conn = self.source.getconn()
            try:
                yield conn
            finally:
                self.source.putconn(conn)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say which database it is, and what can be done."""
        try:
            yield
        except (psycopg.Error, NewerSchemaError) as error:
            raise storage_error(self.name, error, of_connection=LOST) from error


@contextlib.contextmanager
def _pipeline(conn: Connection) -> Iterator[None]:
    if not psycopg.Capabilities().has_pipeline():
        yield
        return
    is_users = conn.pgconn.pipeline_status != psycopg.pq.PipelineStatus.OFF
    with conn.pipeline() as pipeline:
        if is_users:  # a transaction cannot begin among statements that were not synced
            pipeline.sync()
        yield
