"""A database as everything outside of its folder sees it, and its saver, opened and closed.

    Backend
    ├── sqlite.backend.SqliteBackend        any path, or sqlite:///path
    └── postgres.backend.PostgresBackend    postgresql://…; needs the extra `postgres`

A third one is a folder with a class like these, added to `by_url.BACKENDS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint.database import Execute, close_in_thread, open_in_thread
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.tables import Tables
from langgraph_once.config import CheckpointConfig

S = TypeVar("S", bound=OnceSaver)


class Claim(Protocol):
    """What nobody else has until it is closed."""

    def close(self) -> object:
        """Give it up."""


class Opening(Generic[S]):
    """A saver to be opened and closed: with `with`, or with `async with`.

    Args:
        open_saver: Opens it.
        sets_up: Whether what is missing in the database is made at once.
    """

    def __init__(self, open_saver: Callable[[], S], *, sets_up: bool = True) -> None:
        self._open = open_saver
        self._sets_up = sets_up
        self._saver: S | None = None

    def __enter__(self) -> S:
        saver = self._open()
        try:
            if self._sets_up:
                saver.setup()
        except BaseException:
            saver.close()
            raise
        self._saver = saver
        return saver

    def __exit__(self, *given: object) -> None:
        if self._saver is not None:
            self._saver.close()

    async def __aenter__(self) -> S:
        return await open_in_thread(self.__enter__, lambda saver: saver.close())

    async def __aexit__(self, *given: object) -> None:
        await close_in_thread(self.__exit__)


class Backend(ABC):
    """A database of one kind. Making one reads its address, and opens nothing.

    Args:
        database: A path or a URL that this kind takes.

    Raises:
        ConfigError: It is the URL of another database.
    """

    kind: ClassVar[str]
    """The product."""
    package: ClassVar[str | None] = None
    """The driver, where it must be installed with an extra of ours."""
    extra: ClassVar[str] = ""
    """That extra."""
    store_module: ClassVar[str]
    """What opens upstream's store, as the public names of `langgraph_once.store.sqlite` do."""
    takes_nan: ClassVar[bool] = True
    """Whether the JSON of a store has NaN and Infinity."""
    as_json: ClassVar[str] = ""
    """What makes a parameter JSON."""
    as_text: ClassVar[str] = ""
    """What makes a column of JSON text."""
    item_label: ClassVar[str]
    """An expression: the first label of the namespace of a store's item, which is its `prefix`."""
    item_bytes: ClassVar[str]
    """An expression: what its value takes."""

    def __init__(self, database: str) -> None:
        self.database = database

    @classmethod
    @abstractmethod
    def takes(cls, database: str) -> bool:
        """Whether a path or URL looks like one of this kind."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in a log or an error: without user and password."""

    @property
    @abstractmethod
    def tables(self) -> type[Tables]:
        """The statements on its tables."""

    @property
    def file(self) -> Path | None:
        """The file that it is; None for a server, and for a database in memory."""
        return None

    @property
    def is_there(self) -> bool:
        """Whether it may be opened without being made; a server tells it when it is opened."""
        return self.file is None or self.file.is_file()

    @abstractmethod
    def open(
        self, *, config: CheckpointConfig, serde: SerializerProtocol | None, makes_tables: bool
    ) -> Opening[Any]:
        """Open it, and close it at the end.

        Args:
            config: How it is opened.
            serde: Turns values into bytes and back; `OnceSerializer()` if None.
            makes_tables: Whether tables that are missing are made. If not, upstream's must be
                there, and without ours the saver can delete only.
        """

    @abstractmethod
    def open_to_read(self, *, config: CheckpointConfig, serde: SerializerProtocol) -> Opening[Any]:
        """Open it without a change, not even to make tables that are missing."""

    @abstractmethod
    def snapshot(self, schema: str) -> AbstractContextManager[Execute]:
        """Open it as it is at one moment, whether there are threads or a store or both.

        Args:
            schema: Where the tables are, if the database has schemas; empty: where it looks.

        Raises:
            StorageError: It is not there, or cannot be read.
        """

    @abstractmethod
    def connect(self, schema: str) -> AbstractContextManager[Callable[..., Any]]:
        """Connect to what is there, to change the tables of a store.

        What it gives takes a statement and its values, and gives a cursor.

        Args:
            schema: Where the tables are, if the database has schemas; empty: where it looks.

        Raises:
            StorageError: It is not there, or cannot be read or written.
        """

    @abstractmethod
    def check(self) -> None:
        """Prove that it can be used. Nothing is made in it, and no file is left behind.

        Raises:
            StorageError: It cannot be used.
        """

    @abstractmethod
    def ask(self) -> None:
        """Ask it, by a connection of its own, whether it answers.

        Raises:
            StorageError: It does not.
        """

    @abstractmethod
    def claim(self, schema: str) -> Claim | None:
        """Claim it for what one process does at a time; None if another has the claim.

        Raises:
            StorageError: It cannot be claimed.
        """
