"""The database that a command reads or writes, and how far it is with it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from langgraph_once.checkpoint.by_url import is_postgres, sqlite_path
from langgraph_once.checkpoint.moving.cells import Progress
from langgraph_once.commands.project_settings import load_if_there
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.platform.project_source import project_source
from langgraph_once.platform.startup import serializer_for
from langgraph_once.platform.types import types_of_code
from langgraph_once.serde import OnceSerializer

__all__ = ["Database", "database_of", "database_option", "must_exist", "progress_bar"]

_EVERY_S = 2.0

database_option = click.option(
    "--database", metavar="URL", help="The database; that of the settings if left out."
)


class Database(NamedTuple):
    """A database, and how its rows are read and written."""

    url: str
    config: CheckpointConfig
    serde: OnceSerializer


def database_of(config: str, database: str | None) -> Database:
    """Return the database of these settings, or the one that is named.

    Raises:
        ConfigError: A setting is wrong.
    """
    settings, manifest = load_if_there(config)
    serde = settings.serde
    source = project_source(serde.source, file=Path(config), manifest=manifest)
    serde = replace(serde, source=source)
    serializer = serializer_for(settings.model_copy(update={"serde": serde}))
    types: set[tuple[str, ...]] = set()
    with suppress(OnceError):
        types = types_of_code(manifest).listed
    serializer = serializer.with_msgpack_allowlist(types)
    return Database(database or settings.database, settings.checkpoint, serializer)


def must_exist(url: str) -> None:
    """Refuse a file of SQLite that is not there: opening would make it.

    Raises:
        ConfigError: There is none, or it is a URL of another database.
    """
    if is_postgres(url):
        return
    file = Path(sqlite_path(url)).expanduser()
    if not file.is_file():
        raise ConfigError(str(file), "there is no such file; name the database with --database")


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
