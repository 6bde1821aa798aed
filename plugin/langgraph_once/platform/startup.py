"""The start of a server with our components. A mistake of the user stops it with one line.

Also what the server is made to ask ours, where it has no way of its own (langgraph-api 0.16.7), and
the project's own source, as `langgraph.json` names it: reading may import what it imports.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import DeltaChannelHistory

from langgraph_once import extensions
from langgraph_once.checkpoint import backend_of
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.manifest import Manifest
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


def check_settings(settings: Settings) -> None:
    """Find what would fail once the server runs: keys that do not fit, a database out of reach.

    Args:
        settings: What is in force.

    Raises:
        ConfigError: Keys, extensions or the store do not fit.
        StorageError: A database cannot be opened or made.
    """
    serializer_for(settings)
    check_extensions(settings)
    backend_of(settings.database).check()
    manifest = Manifest.from_environment(os.environ)
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
        ConfigError: The settings do not fit together, or the database cannot do what they say.
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


_MANIFEST = "langgraph.json"
_INSTALLED = frozenset({"site-packages", "dist-packages"})


def project_source(
    given: Sequence[str] = (), *, file: Path | None = None, manifest: Manifest | None = None
) -> tuple[str, ...]:
    """Return the folders of the project, and the files and packages of its graphs.

    The folders are the `dependencies` of the `langgraph.json` in the working directory, which is
    that of the project, in `langgraph dev` and in the image that `langgraph build` makes. The
    server does not hand them over (langgraph-api 0.16.7). Where there is no such file, they are
    those that the graphs are in.

    Args:
        given: What the setting names, instead of those folders.
        file: The `langgraph.json`; by default that of the working directory.
        manifest: The parts of `langgraph.json`; by default what the server handed over.

    Raises:
        ConfigError: A setting is unknown or wrong.
    """
    manifest = manifest or Manifest.from_environment(os.environ)
    graphs = [Path(each) for _, each, _ in manifest.file_graphs()]
    modules = [each for _, name in manifest.importable_graphs() for each in _place_of(name)]
    if given:
        folders = [*map(Path, given)]
    else:
        folders = [*_dependencies(file or Path.cwd() / _MANIFEST)]
        folders = folders or [each.parent for each in graphs]
    places = [each.absolute() for each in (*folders, *graphs, *modules)]
    own = [each for each in places if not _INSTALLED & {*each.parts}]
    return tuple(dict.fromkeys(map(str, own)))


def _dependencies(manifest: Path) -> Iterator[Path]:
    try:
        dependencies = json.loads(manifest.read_bytes())["dependencies"]
        folders = [(manifest.parent / name).resolve() for name in dependencies]
    except (OSError, ValueError, TypeError, KeyError):  # the server says what is wrong with it
        return
    yield from (folder for folder in folders if folder.is_dir())


def _place_of(name: str) -> Iterator[Path]:
    """Yield the folders of the package that a graph is in, or the file of its module."""
    try:
        spec = importlib.util.find_spec(name.partition(":")[0].partition(".")[0])
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    if spec.submodule_search_locations is not None:
        yield from map(Path, spec.submodule_search_locations)
    elif spec.origin is not None:
        yield Path(spec.origin)


_ADAPTERS: Final = "langgraph_api._checkpointer._adapter"


def hand_on_delta_history() -> None:
    """Make the server's adapter around savers ask ours for the history of a delta channel.

    The adapter is a saver itself, and has the way that all savers have: from one checkpoint to the
    one before, each a question of its own. Ours walks once. This is done once for the process, if
    that is a server: all of its threads are in our saver.
    """
    adapter = getattr(sys.modules.get(_ADAPTERS), "_CustomCheckpointerAdapter", None)
    if adapter is not None and "aget_delta_channel_history" not in vars(adapter):
        adapter.aget_delta_channel_history = _aget_delta_channel_history


async def _aget_delta_channel_history(
    adapter: Any, *, config: RunnableConfig, channels: Sequence[str]
) -> Mapping[str, DeltaChannelHistory]:
    found: Mapping[str, DeltaChannelHistory] = await adapter._inner.aget_delta_channel_history(  # noqa: SLF001  # no other way
        config=config, channels=channels
    )
    return found


_GRAPHS: Final = "langgraph_api.graph"


def hand_on_transformers(graph_id: str, target: str) -> None:
    """Register the v3 transformers that a graph's module exports, if this process is a server.

    The server looks for `stream_transformers` in the module that `path` names, which is ours, once
    for all graphs. Its registry is by graph, so each gets its own. This can go when the server asks
    the graph; `tests/integration_tests/test_v3_transformers.py` notices if it never does.

    Args:
        graph_id: The name of the graph there.
        target: The graph as `package.module:name`, which has been imported.
    """
    known: Any = getattr(sys.modules.get(_GRAPHS), "GRAPH_STREAM_TRANSFORMERS", None)
    made = getattr(sys.modules.get(target.partition(":")[0]), "stream_transformers", None)
    if known is not None and callable(made):
        known[graph_id] = made
