"""The database that a command reads or writes, and how far it is with it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from langgraph_once.checkpoint import Opening, Progress, backend_of, open_saver
from langgraph_once.commands.project import load_if_there, tell
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.platform import serializer_for, types_of_code
from langgraph_once.serde import OnceSerializer

# Often enough to see that it goes on; few lines, where a log takes them.
_EVERY_S = 2.0
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")

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
        return backend_of(self.url).open_to_read(config=self.config, serde=self.serde)

    def to_write(self, *, makes_tables: bool = True) -> Opening[Any]:
        """Open it to be written; it is made if it is not there."""
        return open_saver(self.url, config=self.config, serde=self.serde, makes_tables=makes_tables)

    def to_change(self, *, is_dry: bool, makes_tables: bool = True) -> Opening[Any]:
        """Open what is there: to be written, or to be read if it `is_dry`.

        Raises:
            ConfigError: There is no such file of SQLite: opening would make it.
        """
        backend = backend_of(self.url)
        if not backend.is_there:
            problem = "there is no such file; name the database with --database"
            raise ConfigError(str(backend.file), problem)
        return self.to_read() if is_dry else self.to_write(makes_tables=makes_tables)


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


def tell_left(troubles: Iterable[Any]) -> None:
    """Say on stderr what was left as it is, and why."""
    for trouble in troubles:
        tell(f"left as it is: {trouble}", err=True)


def telling() -> Progress:
    """Return what is told how many threads of how many are done; it says so on stderr at times."""
    last = time.monotonic()

    def say(done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last > _EVERY_S:
            last = time.monotonic()
            tell(f"threads: {done} of {total}", err=True)

    return say


def sized(size: float) -> str:
    """Bytes as people read them."""
    unit = 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.{1 if unit and size < 100 else 0}f} {_UNITS[unit]}"
