"""A database of a kind that this package does not know: a SQLite file that ends in `.toy`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.backend import Backend, Claim, Opening
from langgraph_once.checkpoint.database import Execute
from langgraph_once.checkpoint.sqlite.backend import SqliteBackend
from langgraph_once.checkpoint.tables import Tables
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import StorageError


class ToyClaim:
    """A file beside the database."""

    def __init__(self, file: Path) -> None:
        file.touch(exist_ok=False)
        self.close = file.unlink


class ToyBackend(Backend):
    """`toy://folder/name`."""

    kind = "Toy"
    store_module = SqliteBackend.store_module
    item_label = SqliteBackend.item_label
    item_bytes = SqliteBackend.item_bytes

    @classmethod
    def takes(cls, database: str) -> bool:
        return database.startswith("toy://")

    @property
    def name(self) -> str:
        return str(self.file)

    @property
    def tables(self) -> type[Tables]:
        return SqliteBackend.tables

    @property
    def file(self) -> Path:
        return Path(f"{self.database.removeprefix('toy://')}.toy")

    def open(
        self, *, config: CheckpointConfig, serde: SerializerProtocol | None, makes_tables: bool
    ) -> Opening[Any]:
        return open_sqlite_saver(
            self.file, serde=serde, store_once=config.store_once, makes_tables=makes_tables
        )

    def open_to_read(self, *, config: CheckpointConfig, serde: SerializerProtocol) -> Opening[Any]:
        def opened() -> OnceSqliteSaver:
            self.ask()
            return open_sqlite_saver(self.file, serde=serde, makes_tables=False).__enter__()

        return Opening(opened, sets_up=False)

    def snapshot(self, schema: str) -> AbstractContextManager[Execute]:
        return SqliteBackend(self.name).snapshot(schema)

    def connect(self, schema: str) -> AbstractContextManager[Callable[..., Any]]:
        return SqliteBackend(self.name).connect(schema)

    def check(self) -> None:
        if not self.file.parent.is_dir():
            raise StorageError("there is no such folder", path=str(self.file))

    def ask(self) -> None:
        if not self.is_there:
            raise StorageError("there is no such toy", path=str(self.file))

    def claim(self, schema: str) -> Claim | None:
        try:
            return ToyClaim(self.file.with_suffix(".claim"))
        except FileExistsError:
            return None
