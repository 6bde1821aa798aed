"""The database that a command reads or writes, and how far it is with it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from langgraph_once.checkpoint.by_url import is_postgres, open_saver, open_to_read, sqlite_path
from langgraph_once.checkpoint.moving.cells import Progress
from langgraph_once.checkpoint.opening import Opening
from langgraph_once.commands.project_settings import load_if_there
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.platform.startup import serializer_for
from langgraph_once.platform.types import types_of_code
from langgraph_once.serde import OnceSerializer
from langgraph_once.survey import Snapshot, open_snapshot

__all__ = ["Database", "database_of", "database_option", "is_there", "progress_bar", "tell_left"]

_EVERY_S = 2.0

database_option = click.option(
    "--database", metavar="URL", help="The database; that of the settings if left out."
)


class Database(NamedTuple):
    """A database, and how its rows are read and written."""

    url: str
    config: CheckpointConfig
    serde: OnceSerializer

    def lenient(self) -> Database:
        """The same, where an object whose class is not here is an `Opaque`, and no error."""
        config = replace(self.serde.config, on_unavailable="opaque")
        return self._replace(serde=self.serde.with_config(config))

    def to_read(self) -> Opening[Any]:
        """Open it to be read; it must be there."""
        return open_to_read(self.url, config=self.config, serde=self.serde)

    def to_write(self, *, makes_tables: bool = True) -> Opening[Any]:
        """Open it to be written; it is made if it is not there."""
        return open_saver(self.url, config=self.config, serde=self.serde, makes_tables=makes_tables)

    def to_change(self, *, is_dry: bool, makes_tables: bool = True) -> Opening[Any]:
        """Open what is there: to be written, or to be read if it `is_dry`.

        Raises:
            ConfigError: There is no such file of SQLite: opening would make it.
        """
        if not is_there(self.url):
            problem = "there is no such file; name the database with --database"
            raise ConfigError(str(_file(self.url)), problem)
        return self.to_read() if is_dry else self.to_write(makes_tables=makes_tables)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open it as it is at one moment."""
        return open_snapshot(self.url, schema=self.config.schema or None)


def database_of(config: str, database: str | None) -> Database:
    """Return the database of these settings, or the one that is named.

    Raises:
        ConfigError: A setting is wrong.
    """
    settings, manifest = load_if_there(config)
    serializer = serializer_for(settings, file=Path(config), manifest=manifest)
    types: set[tuple[str, ...]] = set()
    with suppress(OnceError):
        types = types_of_code(manifest).listed
    serializer = serializer.with_msgpack_allowlist(types)
    return Database(database or settings.database, settings.checkpoint, serializer)


def is_there(url: str) -> bool:
    """Whether a file of SQLite is there; a PostgreSQL tells it when it is opened.

    Raises:
        ConfigError: It is a URL of another database.
    """
    return is_postgres(url) or _file(url).is_file()


def _file(url: str) -> Path:
    return Path(sqlite_path(url)).expanduser()


def tell_left(troubles: Iterable[Any]) -> None:
    """Say on stderr what was left as it is, and why."""
    for trouble in troubles:
        click.echo(f"left as it is: {trouble}", err=True)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Yield what is told how many threads of how many are done; it shows them on stderr."""
    if sys.stderr.isatty():
        columns = (*Bar.get_default_columns()[:-1], MofNCompleteColumn())
        with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
            task = bar.add_task("threads", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    last = time.monotonic()

    def say(done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last > _EVERY_S:
            last = time.monotonic()
            click.echo(f"threads: {done} of {total}", err=True)

    yield say
