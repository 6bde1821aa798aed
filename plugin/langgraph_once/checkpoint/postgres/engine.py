"""Runs statements on a PostgreSQL database."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Final, TypeVar

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
)
from langgraph_once.checkpoint.postgres.driver import (
    Connection,
    Pool,
    execute_on,
    is_idle,
    psycopg,
    transaction,
)
from langgraph_once.checkpoint.postgres.failures import LOST, storage_error
from langgraph_once.checkpoint.postgres.schema import enter_schema, is_missing, set_up
from langgraph_once.metrics import pools

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
