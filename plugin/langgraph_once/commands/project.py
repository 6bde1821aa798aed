"""The project in this folder as a command has it: its settings, its database, and how it prints.

The settings are as the server would have them, and so is how rows are read and written. What is
printed has one way to the terminal, which no text of a database takes over.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from langgraph_once.checkpoint import Opening, Progress, backend_of, open_saver
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError, OnceError, printable
from langgraph_once.manifest import Manifest
from langgraph_once.platform import serializer_for, types_of_code
from langgraph_once.serde import OnceSerializer
from langgraph_once.settings import Settings, load_settings, take_environment

CONFIG = "langgraph.json"

# Often enough to see that it goes on; few lines, where a log takes them.
_EVERY_S = 2.0
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")


def tell(text: str, *, err: bool = False) -> None:
    """Print lines; what a terminal would obey, as an escape sequence, is shown as `?`.

    A name in a line must be `printable` itself: here a line break within it is one of the text.

    Args:
        text: One line or several.
        err: Print on stderr.
    """
    click.echo("\n".join(map(printable, text.split("\n"))), err=err)


config_option = click.option("--config", default=CONFIG, show_default=True, help="File to read.")
json_option = click.option("--json", "for_machines", is_flag=True, help="Print JSON.")
database_option = click.option(
    "--database", metavar="URL", help="The database; that of the settings if left out."
)


def load(config: str) -> tuple[Settings, Manifest]:
    """Return what `langgraph dev` would run with, after preparing this process as it does.

    Raises:
        ConfigError: The file cannot be read, or a setting is wrong.
    """
    parsed = read_json(config)
    prepare(parsed)
    manifest = Manifest.from_json(parsed)
    return load_settings(manifest), manifest


def prepare(parsed: Mapping[str, Any]) -> None:
    """Make this process what `langgraph dev` makes its server's: environment and import path.

    Args:
        parsed: The `langgraph.json`.
    """
    take_environment(parsed)
    dependencies = parsed.get("dependencies")
    names = dependencies if isinstance(dependencies, list) else []
    folders = [Path.cwd() / name for name in names if isinstance(name, str)]
    # At the end and in this order, as `langgraph dev` does (langgraph-cli 0.4.40, cli.py).
    sys.path += [str(folder) for folder in (Path.cwd(), *folders) if folder.is_dir()]


def load_if_there(config: str) -> tuple[Settings, Manifest]:
    """Load the settings, if there is a file: a program with a database may have none."""
    if config == CONFIG and not Path(config).exists():
        manifest = Manifest.from_json({})
        sys.path.append(str(Path.cwd()))  # rows and settings may name modules of this folder
        return load_settings(manifest), manifest
    return load(config)


def read_json(config: str) -> dict[str, Any]:
    """Return the object that a file holds.

    Raises:
        ConfigError: It cannot be read, or holds something else.
    """
    return parsed_json(config, read_file(config))


def read_file(config: str) -> bytes:
    """Return what is in a file.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return Path(config).read_bytes()
    except OSError as error:
        raise ConfigError(config, f"cannot be read: {error.strerror}") from None


def parsed_json(config: str, data: bytes) -> dict[str, Any]:
    """Return the object that `data` is, as JSON in UTF-8.

    Args:
        config: The file that it stands in.
        data: What is in it.

    Raises:
        ConfigError: It is something else.
    """
    try:
        parsed = json.loads(data.decode())
    except ValueError as error:
        problem = f"is not valid JSON: {error}"
    else:
        if isinstance(parsed, dict):
            return parsed
        problem = "must be a JSON object"
    raise ConfigError(config, problem)  # out here: an error of `json` holds the whole text


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
    with suppress(OnceError):  # a graph that does not load must keep nobody from the rows
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
