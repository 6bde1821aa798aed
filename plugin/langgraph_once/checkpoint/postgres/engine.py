"""Runs statements on a PostgreSQL database."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Final, TypeVar

from langgraph_once.checkpoint.database import (
    Ask,
    EmptyDatabaseError,
    Engine,
    Program,
    Row,
    UnderWay,
)
from langgraph_once.checkpoint.postgres.driver import (
    Asking,
    Connection,
    Pool,
    asking,
    is_idle,
    psycopg,
    transaction,
)
from langgraph_once.checkpoint.postgres.failures import storage_error
from langgraph_once.checkpoint.postgres.schema import (
    NewerSchemaError,
    enter_schema,
    is_missing,
    set_up,
)

__all__ = ["PostgresEngine"]

T = TypeVar("T")

# All statements see the same: nobody sweeps a piece between two of them.
_READING: Final = "ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_SNAPSHOT: Final = Ask(f"SET TRANSACTION {_READING}", has_rows=False)
_BEGIN_READING: Final = Ask(f"BEGIN {_READING}", has_rows=False)
_BEGIN: Final = Ask("BEGIN", has_rows=False)
_COMMIT: Final = Ask("COMMIT", has_rows=False)
_IS_GONE: Final = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn)
_NOT_SO: Final = (psycopg.errors.DivisionByZero, psycopg.errors.InsufficientPrivilege)
"""Of what is tried: a piece is not there, or the role may not lock it, which takes `UPDATE`."""
_MOST_DROPS: Final = 3
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
        statement_timeout_s: After how long the server gives up; as it is set up if None.
        is_pooler: Whether a pooler gives each transaction another session.
    """

    def __init__(
        self,
        source: Pool | Connection,
        name: str,
        *,
        workers: int,
        schema: str | None = None,
        statement_timeout_s: float | None = None,
        is_pooler: bool = False,
    ) -> None:
        super().__init__(name, workers=workers)
        self.source = source
        self._schema = schema
        self._timeout_s = statement_timeout_s
        self._is_pooler = is_pooler
        self._lock = threading.RLock()
        self._is_set_up = False

    def run(self, program: Program[T], *, writes: bool) -> T:
        """Run a program in one transaction, which an error undoes.

        Raises:
            StorageError: The database cannot do it.
        """
        with self._told():
            under_way = UnderWay(program)
            for is_last in (*[False] * _MOST_DROPS, True):
                try:
                    if not self._is_set_up:
                        self._set_up()
                    return self._run(under_way, writes=writes)
                except _IS_GONE:
                    if under_way.is_answered or is_last:
                        raise
                    self._is_set_up = False  # `migrate` dropped our tables
                except psycopg.OperationalError:
                    if not under_way.may_move or isinstance(self.source, psycopg.Connection):
                        raise
                    self.source.check()  # what died with it is replaced
                    break
            return self._run(under_way, writes=writes)

    def set_up(self) -> None:
        """Make what is missing in the database; every program does this first."""
        with self._told():
            self._set_up()

    def close(self) -> None:
        """Close the pool or the connection."""
        super().close()
        self.source.close()

    def _set_up(self) -> None:
        with self._lock, self._connection() as conn:
            if self._is_set_up:
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

    def _run(self, under_way: UnderWay[T], *, writes: bool) -> T:
        with self._connection() as conn:
            try:
                with self._transaction(conn, writes=writes) as ask:
                    return under_way.go_on(ask)
            except psycopg.OperationalError:
                under_way.may_move = conn.closed and not under_way.is_answered
                raise

    @contextlib.contextmanager
    def _transaction(self, conn: Connection, *, writes: bool) -> Iterator[Asking]:
        ask = asking(conn)
        if not is_idle(conn):  # it is the user's, who ends it
            with transaction(conn):
                self._adjust(ask)
                yield ask
            return
        needs_none = conn.autocommit and self._schema is None and self._timeout_s is None
        begun = contextlib.ExitStack()
        has_begun = False

        def ask_within(asked: Ask) -> list[Row]:
            nonlocal has_begun
            if asked.is_try and needs_none and not has_begun:
                try:
                    rows = ask(asked._replace(is_try=False))
                except _NOT_SO:
                    return []
                return rows if asked.has_rows else [()]
            if not has_begun:
                has_begun = True
                begun.enter_context(_pipeline(conn))
                if conn.autocommit:
                    ask(_BEGIN if writes else _BEGIN_READING)
                elif not writes:
                    ask(_SNAPSHOT)
                self._adjust(ask)
            return ask(asked)

        try:
            with begun:
                yield ask_within
                if has_begun:
                    ask(_COMMIT)
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                conn.rollback()
            raise

    def _adjust(self, ask: Asking) -> None:
        enter_schema(ask, self._schema)
        if self._timeout_s is not None:
            limit = f"{max(1, round(self._timeout_s * 1000))}ms"
            sql = "SELECT set_config('statement_timeout', ?, true)"
            ask(Ask(sql, [limit], has_rows=False))

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
            raise storage_error(self.name, error) from error


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
