"""The start of a server with our components. A mistake of the user stops it with one line."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn

from langgraph_once import extensions
from langgraph_once.checkpoint import backend_of
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.project_source import project_source
from langgraph_once.serde import OnceSerializer
from langgraph_once.settings import Settings, written_at
from langgraph_once.store import check_index, check_place, default_database

_FIELD: Final = re.compile(
    r"(?:SerdeConfig\.)?(adapters|(?<=\.)\w+)(\[.*\])?(?:\.(.+))?", re.DOTALL
)
"""What a serializer names a setting by: its field, the item in it, and what is in that."""


def serializer_for(
    settings: Settings, *, file: Path | None = None, manifest: Manifest | None = None
) -> OnceSerializer:
    """The serializer that the settings ask for.

    Args:
        settings: What is in force.
        file: The `langgraph.json` that a command reads; by default that of the working directory.
        manifest: The parsed file. Graphs that the environment names are added to its own.

    Raises:
        ConfigError: Settings that do not go together, by the names that their user wrote.
    """
    source = settings.serde.source
    if manifest is not None:
        source = project_source(source, file=file, manifest=manifest)
    config = replace(settings.serde, source=project_source(source))
    try:
        return OnceSerializer(config, upstream_aes_key=settings.upstream_aes_key)
    except ConfigError as error:
        found = _FIELD.fullmatch(error.key)
        if found is None:
            raise
        field, item, inner = found.groups("")
        where = written_at("serde", field) + item
        raise ConfigError(where, ": ".join(filter(None, [inner, error.problem]))) from None


def check_settings(settings: Settings, manifest: Manifest | None = None) -> None:
    """Find what would fail once the server runs: keys that do not fit, a database out of reach.

    Args:
        settings: What is in force.
        manifest: As `load_settings`.

    Raises:
        ConfigError: As `serializer_for`, `check_extensions` and `check_store_database`.
        StorageError: A database cannot be opened or made.
    """
    serializer_for(settings)
    check_extensions(settings)
    backend_of(settings.database).check()
    manifest = manifest or Manifest.from_environment(os.environ)
    if manifest.has_our_store:
        check_store_database(settings, manifest)


def check_extensions(settings: Settings) -> None:
    """Find what the settings ask for that only an extension does, which is not installed.

    Raises:
        ConfigError: It is not.
    """
    if settings.checkpoint.retention is not None and not extensions.present("serving"):
        _lacks(written_at("checkpoint", "retention"), "serving")
    if settings.http.page == "on" and not extensions.present("routes"):
        _lacks(written_at("http", "page"), "routes")


def _lacks(setting: str, socket: extensions.Socket) -> NoReturn:
    why = {*extensions.absent(socket).values()} or {"there is no extension for it"}
    raise ConfigError(setting, "; ".join(sorted(why)))


def check_store_database(settings: Settings, manifest: Manifest) -> None:
    """Find what would keep the store from being opened. Its database is asked.

    Raises:
        ConfigError: As `check_store`, or the database cannot do what the settings say.
        StorageError: The database cannot be used.
    """
    check_store(settings, manifest)
    index = manifest.store_option("index")
    check_place(store_database(settings), config=settings.checkpoint, index=index)


def check_store(settings: Settings, manifest: Manifest) -> None:
    """Find what the store would not do as the settings say.

    Raises:
        ConfigError: Vectors, where everything must be encrypted.
    """
    must_encrypt = not settings.serde.allows_plain
    check_index(manifest.store_option("index"), settings.store, must_encrypt=must_encrypt)


def store_database(settings: Settings) -> str:
    """The path or URL of the database of the store, with its password."""
    return settings.store.path or default_database(settings.database)


@contextmanager
def user_mistakes_stop_the_server() -> Iterator[None]:
    """Turn our errors into `SystemExit` with their message.

    Any other exception is logged by the server with pages of traceback through its own code
    (langgraph-api 0.16.7). `SystemExit` passes it; only Starlette's start-up handler formats
    that too, and a filter cuts what it logs to our line.
    """
    try:
        yield
    except OnceError as error:
        message = f"langgraph-once: {error}"
        logging.getLogger("uvicorn.error").addFilter(_OnlyTheLine(message))
        raise SystemExit(message) from None


class _OnlyTheLine(logging.Filter):
    """Replaces a logged traceback that ends in `line` by `line`."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self._line = line

    def filter(self, record: logging.LogRecord) -> bool:
        if record.getMessage().rstrip().endswith(self._line):
            record.msg, record.args = self._line, ()
        return True
