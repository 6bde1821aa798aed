"""A database that is only read stays as it is, and whoever writes to it meanwhile is not missed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from langgraph_once.checkpoint.sqlite.engine import connect_to_read
from langgraph_once.errors import StorageError

COUNT = "SELECT count(*) FROM threads"


def make(path: Path, mode: str) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute(f"PRAGMA journal_mode = {mode}")
        conn.execute("CREATE TABLE threads (id)")


def write(path: Path) -> None:
    """Write as a server does that starts and stops."""
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("INSERT INTO threads VALUES (1)")


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_nothing_is_made_beside_the_file(path: Path, mode: str) -> None:
    make(path, mode)
    with closing(connect_to_read(path)) as conn:
        assert conn.execute(COUNT).fetchone() == (0,)
        assert [*path.parent.iterdir()] == [path]


def test_with_a_rollback_journal_it_reads_what_others_write(path: Path) -> None:
    make(path, "delete")
    with closing(connect_to_read(path)) as conn:
        write(path)
        assert conn.execute(COUNT).fetchone() == (1,)


def test_beside_an_open_writer_it_reads_what_that_writes(path: Path) -> None:
    make(path, "wal")
    with closing(sqlite3.connect(path, isolation_level=None)) as server:
        server.execute("INSERT INTO threads VALUES (1)")
        with closing(connect_to_read(path)) as conn:
            server.execute("INSERT INTO threads VALUES (2)")
            server.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert conn.execute(COUNT).fetchone() == (2,)


def test_what_was_read_while_a_server_started_and_stopped_is_not_trusted(path: Path) -> None:
    make(path, "wal")
    with pytest.raises(StorageError, match="run this again"), closing(connect_to_read(path)):
        write(path)


def test_what_was_read_while_a_server_started_is_as_of_before(path: Path) -> None:
    make(path, "wal")
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as server,
        closing(connect_to_read(path)) as conn,
    ):
        server.execute("INSERT INTO threads VALUES (1)")  # it is in the file beside
        assert conn.execute(COUNT).fetchone() == (0,)
