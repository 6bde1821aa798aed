"""How the tables come into a PostgreSQL database, and what is said when they cannot."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from langgraph_once.checkpoint import OncePostgresSaver, backend_of, open_postgres_saver
from langgraph_once.checkpoint.database import drive
from langgraph_once.checkpoint.postgres.engine import MIGRATIONS, execute_on, schema_state
from langgraph_once.checkpoint.postgres.saver import open_postgres_to_read
from langgraph_once.errors import StorageError
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.checkpoint.whole_databases import only_select, url

ON: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


def put(saver: Any) -> Any:
    return saver.put(ON, empty_checkpoint(), {"step": 1}, {})


def tables(conn: Any, schema: str) -> set[str]:
    sql = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
    return {row[0] for row in psycopg.Cursor(conn).execute(sql, [schema])}


def valid_indexes(conn: Any) -> set[str]:
    sql = """
        SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid
        WHERE indisvalid AND relnamespace = current_schema()::regnamespace
    """
    return {row[0] for row in psycopg.Cursor(conn).execute(sql)}


OURS = {"once_schema", "once_pieces", "once_stream_states"}
THEIRS = {"checkpoint_migrations", "checkpoints", "checkpoint_blobs", "checkpoint_writes"}


@pytest.fixture
def conn(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database, autocommit=True) as opened:
        yield opened


def schema_of(conn: psycopg.Connection[Any]) -> str:
    ((name,),) = conn.execute("SELECT current_schema()").fetchall()
    return str(name)


@pytest.mark.parametrize("has_upstreams", [True, False])
def test_tables_are_upstreams_and_ours(
    database: str, conn: psycopg.Connection[Any], has_upstreams: bool
) -> None:
    if has_upstreams:
        with PostgresSaver.from_conn_string(database) as stock:
            stock.setup()
    for _ in range(2):
        with open_postgres_saver(database):
            assert tables(conn, schema_of(conn)) == OURS | THEIRS
    versions = conn.execute("SELECT version, name FROM once_schema ORDER BY version").fetchall()
    assert versions == list(enumerate(MIGRATIONS, 1))
    assert valid_indexes(conn) >= {"once_checkpoints_runs", "once_writes_run"}
    with PostgresSaver.from_conn_string(database) as stock:
        stock.setup()


def test_a_session_that_waited_for_the_lock_sees_tables_made_meanwhile(
    database: str, conn: psycopg.Connection[Any]
) -> None:
    for _ in range(3):  # it remembers that nothing is there
        with conn.transaction():
            assert drive(schema_state(), execute_on(conn)).steps
    with conn.transaction():
        conn.execute("SELECT 1")
        with open_postgres_saver(database):
            pass
        assert drive(schema_state(), execute_on(conn)).steps == []


@pytest.mark.parametrize("is_autocommit", [True, False], ids=["autocommit", "transactions"])
def test_a_connection_is_left_as_it_was(database: str, is_autocommit: bool) -> None:
    with psycopg.connect(database, autocommit=is_autocommit, row_factory=dict_row) as given:
        saver = OncePostgresSaver(given)
        saver.setup()
        config = put(saver)
        assert saver.get_tuple(config)
        status = given.info.transaction_status
        assert status == psycopg.pq.TransactionStatus.IDLE
        assert given.autocommit is is_autocommit
        assert given.execute("SELECT 1 AS one").fetchall() == [{"one": 1}]
    with open_postgres_saver(database) as saver:
        assert saver.get_tuple(config)


def test_in_a_transaction_of_the_user_all_is_done_or_undone_with_it(database: str) -> None:
    with psycopg.connect(database) as given:
        saver = OncePostgresSaver(given)
        with suppress(ZeroDivisionError), given.transaction():
            config = put(saver)
            assert saver.get_tuple(config)
            raise ZeroDivisionError
        assert saver.get_tuple(config) is None
        with given.transaction():
            config = put(saver)
            with pytest.raises(StorageError):
                saver.delete_thread("\0")
        assert saver.get_tuple(config)


def test_settings_in_a_transaction_of_the_user_are_left(database: str) -> None:
    settings = "SELECT name, setting FROM pg_settings ORDER BY name"
    with psycopg.connect(database) as given:
        schema = schema_of(given)
        saver = OncePostgresSaver(given, schema=schema)
        given.execute("SET LOCAL search_path = pg_catalog")
        before = given.execute(settings).fetchall()
        config = put(saver)
        assert saver.get_tuple(config)
        assert given.execute(settings).fetchall() == before


def test_setup_makes_the_tables_in_another_schema(
    database: str, conn: psycopg.Connection[Any]
) -> None:
    name = f'{schema_of(conn)} "other"'
    with open_postgres_saver(database, schema=name) as saver:
        config = put(saver)
        assert saver.get_tuple(config)
    assert tables(conn, name) == OURS | THEIRS
    assert tables(conn, schema_of(conn)) == set()
    conn.execute(psycopg.sql.SQL("DROP SCHEMA {} CASCADE").format(psycopg.sql.Identifier(name)))


def test_a_check_asks_whether_it_answers_and_makes_nothing(
    database: str, conn: psycopg.Connection[Any]
) -> None:
    backend_of(url(database)).check()
    assert tables(conn, schema_of(conn)) == set()
    with pytest.raises(StorageError, match=r"127\.0\.0\.1:1/db"):
        backend_of("postgresql://me:hunter2@127.0.0.1:1/db").check()


@pytest.mark.parametrize("makes_tables", [True, False])
def test_a_newer_schema_is_refused(
    database: str, conn: psycopg.Connection[Any], makes_tables: bool
) -> None:
    with open_postgres_saver(database):
        pass
    conn.execute("INSERT INTO once_schema VALUES (99, 'of tomorrow')")
    with (
        pytest.raises(StorageError, match=r"newer langgraph-once .*99.*; install"),
        open_postgres_saver(database, makes_tables=makes_tables) as saver,
    ):
        saver.get_tuple(ON)
    with (
        pytest.raises(StorageError, match=r"newer langgraph-once .*99.*; install"),
        open_postgres_to_read(database, serde=OnceSerializer()) as reader,
    ):
        reader.get_tuple(ON)


def test_who_reads_leaves_nothing_in_a_session_that_a_pooler_gives_to_others(
    database: str,
) -> None:
    with open_postgres_saver(database) as saver:
        put(saver)
    with open_postgres_to_read(database, serde=OnceSerializer()) as reader:
        settings = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name"
        session: Any = reader.engine.source
        with psycopg.connect(database, autocommit=True) as fresh:
            before = fresh.execute(settings).fetchall()
        for _ in range(10):
            assert reader.get_tuple(ON) is not None
        assert session.execute(settings).fetchall() == before
        assert session.execute("SELECT name FROM pg_prepared_statements").fetchall() == []


def test_an_index_that_was_not_finished_is_made_again(
    database: str, conn: psycopg.Connection[Any]
) -> None:
    with open_postgres_saver(database):
        pass
    conn.execute("DELETE FROM once_schema WHERE name LIKE 'once_writes_run'")
    conn.execute(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'once_writes_run'::regclass"
    )
    with open_postgres_saver(database):
        assert "once_writes_run" in valid_indexes(conn)


@pytest.fixture
def reader(database: str) -> Iterator[str]:
    """The database, for a role that may read what is there, and no more."""
    with only_select(database) as reader:
        yield reader


def test_what_upstream_wrote_is_read_where_nothing_may_be_made(database: str, reader: str) -> None:
    with PostgresSaver.from_conn_string(database) as stock:
        stock.setup()
        config = put(stock)
    with open_postgres_saver(reader) as saver:
        assert saver.get_tuple(config)
        assert len(list(saver.list(ON))) == 1
        with pytest.raises(StorageError, match=r"set up as a role that may make them"):
            put(saver)


def test_an_empty_database_where_nothing_may_be_made(database: str, reader: str) -> None:
    with (
        pytest.raises(StorageError, match=r"permission denied.*; GRANT"),
        open_postgres_saver(reader),
    ):
        pass


BAD: dict[str, Callable[[str], str]] = {
    "no server": lambda url: "postgresql://me:hunter2@127.0.0.1:1/db",
    "no database": lambda url: make_conninfo(url, dbname="nowhere", password="hunter2"),
    "no address": lambda url: "postgres//me:hunter2@host/db",
    "no role": lambda url: make_conninfo(url, user="nobody", password="hunter2"),
}


@pytest.mark.parametrize("bad", BAD)
async def test_what_is_wrong_is_said_without_the_password(database: str, bad: str) -> None:
    with pytest.raises(StorageError) as raised:
        async with open_postgres_saver(BAD[bad](database)):
            pass
    assert "\n" not in str(raised.value)
    assert "hunter2" not in "".join(map(repr, (raised.value, raised.value.__cause__)))
    assert "hunter2" not in str(raised.value)
    if bad != "no address":
        assert raised.value.path in str(raised.value)
        assert isinstance(raised.value.__cause__, psycopg.Error)


async def test_a_saver_for_an_event_loop(database: str) -> None:
    async with OncePostgresSaver.from_conn_string(database) as saver:
        configs = await asyncio.gather(*(saver.aput(ON, empty_checkpoint(), {}, {}) for _ in "abc"))
        assert [await saver.aget_tuple(config) is not None for config in configs] == [True] * 3


async def test_a_connection_of_an_event_loop_is_refused(database: str) -> None:
    async with await psycopg.AsyncConnection.connect(database) as given:
        with pytest.raises(TypeError, match="AsyncConnection: pass a `ConnectionPool`"):
            OncePostgresSaver(given)  # type: ignore[arg-type]  # wrong on purpose
