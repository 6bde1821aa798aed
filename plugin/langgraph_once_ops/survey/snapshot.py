"""A database as it is at one moment. It is only read: nothing is made, locked or written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from langgraph_once.checkpoint import (
    Backend,
    EmptyDatabaseError,
    Engine,
    Execute,
    OnceSaver,
    Program,
    backend_of,
    drive,
)
from langgraph_once.serde import OnceSerializer

T = TypeVar("T")


class Snapshot(Engine):
    """Runs all programs in one transaction that only reads.

    Args:
        backend: The database.
        execute: Executes a statement in the transaction.

    Attributes:
        names: Those of the tables that are there.
        has_threads: Whether those of checkpoints are.

    Raises:
        StorageError: It cannot be read, or no saver has made its tables.
    """

    def __init__(self, backend: Backend, execute: Execute) -> None:
        super().__init__(backend.name, workers=1)
        self.backend = backend
        self.tables = backend.tables
        self.ask = execute
        self.names = {name for (name,) in self.ask(self.tables.table_names)}
        self.has_threads = {"checkpoints", self.tables.writes_table} <= self.names
        if not self.has_threads and "store" not in self.names:
            raise EmptyDatabaseError(self.name)

    def run(self, program: Program[T], *, writes: bool = False) -> T:
        """Run a program that only reads."""
        return drive(program, self.ask)

    def set_up(self) -> None:
        """Nothing: what is missing stays missing."""

    def saver(self, serde: OnceSerializer) -> OnceSaver:
        """A saver to read with."""
        return OnceSaver(self, self.tables, serde=serde)


@contextmanager
def open_snapshot(database: str, *, schema: str = "") -> Iterator[Snapshot]:
    """Open a database, and close it at the end; servers may be using it.

    Args:
        database: A path of SQLite, "sqlite:///path" or "postgresql://user@host/database".
        schema: PostgreSQL: where the tables are; where the connection looks if it is empty.

    Raises:
        ConfigError: A URL of another database.
        StorageError: It is not there, or cannot be read. On leaving: nobody had the file of SQLite
            open at first, and then someone wrote to it.
    """
    backend = backend_of(database)
    with backend.snapshot(schema) as execute:
        snapshot = Snapshot(backend, execute)
        yield snapshot
        snapshot.close()
