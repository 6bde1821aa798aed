"""The saver for PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Final, LiteralString, TypedDict, Unpack

from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint.backend import Opening
from langgraph_once.checkpoint.database import Execute, Row, Statement
from langgraph_once.checkpoint.postgres.engine import (
    Connection,
    Pool,
    PostgresEngine,
    enter_schema,
    execute_on,
    psycopg,
    psycopg_pool,
    storage_error,
)
from langgraph_once.checkpoint.postgres.tables import PostgresTables
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.errors import StorageError

# As psycopg's default. Upstream's savers say 0: each statement is prepared at its first use. Here
# that is so for what is one transaction by itself. In a pipeline it would not do: psycopg takes for
# prepared what an error before it has kept from being prepared.
_PREPARE: Final = 5
_CLAIM_KEY: Final = "hashtextextended(COALESCE(current_schema(), ''), 6048120937455018246)"
"""Of the lock of `claim_postgres`: of each schema there is one."""


class _Options(TypedDict, total=False):
    schema: str | None
    is_pooler: bool
    makes_tables: bool


class OncePostgresSaver(OnceSaver):
    """A checkpointer in a PostgreSQL database, for threads and for event loops.

    It has upstream's tables: it reads what their savers wrote, and goes on beside them. Of what it
    writes others can read what is not cut; they can read all rows that a `compatible` serializer
    writes.

    Args:
        conn: A pool, or one connection, which programs take in turns. In a transaction of yours
            they are done or undone with it.
        serde: Turns values into bytes and back; `OnceSerializer()` by default.
        store_once: Whether long values are stored in pieces, each piece once for a thread.
        schema: Where the tables are; where connections look if None.
        is_pooler: Whether a pooler gives each transaction another session, as PgBouncer may.
        makes_tables: Whether tables that are missing are made. Without ours it can delete only.
    """

    engine: PostgresEngine

    def __init__(
        self,
        conn: Pool | Connection,
        *,
        serde: SerializerProtocol | None = None,
        store_once: bool = True,
        schema: str | None = None,
        is_pooler: bool = False,
        makes_tables: bool = True,
    ) -> None:
        if isinstance(conn, psycopg.Connection):
            dsn: Any = conn.info.dsn
            workers = 1
        elif not isinstance(conn, psycopg_pool.ConnectionPool):
            raise TypeError(
                f"{type(conn).__name__}: pass a `ConnectionPool` or a `Connection`; event loops "
                "use it, too, from threads"
            )
        else:
            dsn = conn.conninfo
            workers = conn.max_size
        name = address_of(dsn) if isinstance(dsn, str) else "of the given pool"
        engine = PostgresEngine(
            conn,
            name,
            workers=workers,
            schema=schema,
            is_pooler=is_pooler,
            makes_tables=makes_tables,
        )
        super().__init__(engine, PostgresTables, serde=serde, store_once=store_once)

    @property
    def conn(self) -> Pool | Connection:
        """The pool or the connection."""
        return self.engine.source

    @classmethod
    def from_conn_string(cls, conn_string: str) -> Opening[OncePostgresSaver]:
        """`open_postgres_saver`, under the name that it has in upstream's savers."""
        return open_postgres_saver(conn_string)


def open_postgres_saver(
    url: str,
    *,
    serde: SerializerProtocol | None = None,
    store_once: bool = True,
    max_size: int = 10,
    timeout_s: float = 30.0,
    **options: Unpack[_Options],
) -> Opening[OncePostgresSaver]:
    """Open a pool of connections to a database, and close it at the end.

    Several event loops, threads and processes may use the same database. A connection that died is
    replaced, as long as nothing was answered.

    Args:
        url: `postgresql://user:password@host/database`, or what else libpq takes.
        serde: Turns values into bytes and back; `OnceSerializer()` by default.
        store_once: Whether long values are stored in pieces, each piece once for a thread.
        max_size: How many connections there are at most.
        timeout_s: For how many seconds a connection is waited for.
        options: `schema`, `is_pooler` and `makes_tables`, as `OncePostgresSaver` takes them. A
            missing schema is made; behind a pooler nothing is prepared.

    Returns:
        A context, of `with` or `async with`. It gives a saver that is ready: its tables exist.

    Raises:
        StorageError: On entering: the database cannot be reached or written.
    """

    def opened() -> OncePostgresSaver:
        pool = _pool(url, max_size, timeout_s, prepares=not options.get("is_pooler"))
        return OncePostgresSaver(pool, serde=serde, store_once=store_once, **options)

    return Opening(opened)


def _pool(url: str, max_size: int, timeout_s: float, *, prepares: bool) -> Pool:
    """A pool with its first connection, or a StorageError that says why there is none."""
    with _telling(address_of(url)):
        # The pool would try for long, and only say that it waited in vain.
        psycopg.connect(url, connect_timeout=max(2, round(timeout_s))).close()
        pool = psycopg_pool.ConnectionPool(
            url,
            kwargs={"autocommit": True, "prepare_threshold": _PREPARE if prepares else None},
            min_size=1,
            max_size=max_size,
            timeout=timeout_s,
            open=True,
            name="langgraph-once",
        )
        pool.wait(timeout_s)  # or it would grow for the first one who asks
    return pool


@contextmanager
def _telling(name: str) -> Iterator[None]:
    """Make errors of the driver ours."""
    try:
        yield
    except psycopg.Error as error:
        raise storage_error(name, error) from error


def open_postgres_to_read(
    url: str, *, serde: SerializerProtocol, schema: str | None = None
) -> Opening[OncePostgresSaver]:
    """Open one connection to a database that is not changed.

    Args:
        url: `postgresql://user:password@host/database`, or what else libpq takes.
        serde: Reads what is stored.
        schema: Where the tables are; where the connection looks if None.

    Raises:
        StorageError: On entering: the database cannot be reached.
    """

    def opened() -> OncePostgresSaver:
        return OncePostgresSaver(_connection(url), serde=serde, schema=schema, makes_tables=False)

    return Opening(opened, sets_up=False)


def _connection(url: str) -> Connection:
    with _telling(address_of(url)):
        # Behind a pooler, what is set or prepared stays in a session that others get next.
        return psycopg.connect(url, autocommit=True, prepare_threshold=None)


@contextmanager
def postgres_snapshot(url: str, schema: str | None) -> Iterator[Execute]:
    """Open one connection to a database as it is at one moment.

    Raises:
        StorageError: The database cannot be reached or read.
    """
    name = address_of(url)
    with closing(_connection(url)) as conn:
        executed = execute_on(conn)

        def execute(statement: Statement) -> list[Row]:
            with _telling(name):
                return executed(statement)

        execute(Statement("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", has_rows=False))
        enter_schema(execute, schema)
        execute(Statement("SET LOCAL jit = off", has_rows=False))
        yield execute


@contextmanager
def connect_to_postgres(url: str, schema: str | None) -> Iterator[Callable[..., Any]]:
    """Open one connection; what it gives executes a statement, and gives its cursor.

    Raises:
        StorageError: The database cannot be reached, read or written.
    """
    with closing(_connection(url)) as conn, _telling(address_of(url)):
        enter_schema(execute_on(conn), schema, is_local=False)
        yield lambda sql, values: conn.execute(sql.replace("?", "%s"), values)


def ask_postgres(url: str, question: LiteralString = "SELECT true") -> bool:
    """Ask a database something, or just whether it answers.

    Args:
        url: The database.
        question: Gives one row, whose first value is the answer.

    Raises:
        StorageError: It does not, within ten seconds.
    """
    with _telling(address_of(url)), psycopg.connect(url, connect_timeout=10) as conn:
        row = conn.execute(question).fetchone()
        return row is not None and bool(row[0])


def claim_postgres(url: str, schema: str | None) -> Connection | None:
    """Claim a schema for what one process does at a time, until the connection is closed.

    Returns:
        None if somebody else has the claim.

    Raises:
        StorageError: The database does not answer.
    """
    with _telling(address_of(url)):
        conn = psycopg.connect(url, connect_timeout=10)
        try:
            execute = execute_on(conn)
            enter_schema(execute, schema)
            # Of the transaction, which stays open: a pooler may give the next another session.
            ((is_got,),) = execute(Statement(f"SELECT pg_try_advisory_xact_lock({_CLAIM_KEY})"))
        except BaseException:
            conn.close()
            raise
    if is_got:
        return conn
    conn.close()
    return None


def address_of(url: str) -> str:
    """The server and the database that a connection string names, without user and password."""
    try:
        known = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        name = "(not shown)"  # and not the driver's error, which shows all of it
        raise StorageError(
            f"cannot use the checkpoint database {name}: its address cannot be read; write it as "
            "postgresql://user:password@host/database",
            path=name,
        ) from None
    host = known.get("host") or known.get("hostaddr") or "localhost"
    port = f":{known['port']}" if known.get("port") else ""
    return f"{host}{port}/{known.get('dbname') or known.get('user') or ''}"
