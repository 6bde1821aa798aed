"""All that is wrong with a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from langgraph_once import extensions
from langgraph_once.checkpoint import backend_of, kind_of, stock_wrote
from langgraph_once.errors import StorageError
from langgraph_once.extras import install_command
from langgraph_once.floors import old_packages, told
from langgraph_once.manifest import Manifest
from langgraph_once.platform.check.components import check_graphs, check_sockets
from langgraph_once.platform.check.findings import CheckFinding, finding, findings_of
from langgraph_once.platform.check.keys import (
    check_image,
    check_named_types,
    check_variables,
    unread_keys,
)
from langgraph_once.platform.startup import check_extensions, check_store_database, serializer_for
from langgraph_once.serde import OnceSerializer
from langgraph_once.settings import (
    Settings,
    is_written,
    load_settings,
    setting_problems,
    written_at,
)


def check_project(parsed: Mapping[str, Any]) -> list[CheckFinding]:
    """Return all that would stop a server with this `langgraph.json`, or be ignored by it.

    The process must have been prepared as a server's: its environment, and where it imports from.
    The graphs, the checkpointer and the app are imported, and factories of graphs called.

    Args:
        parsed: The `langgraph.json`.
    """
    manifest = Manifest.from_json(parsed)
    found = [finding("stops", each.key, each.problem) for each in setting_problems(manifest)]
    are_settings_right = not found
    found += (
        finding("hint" if each.is_optional else "stops", each.name, told([each]))
        for each in old_packages()
    )
    found += check_variables()
    found += missing_server()
    found += check_sockets(manifest)
    found += check_graphs(manifest)
    if are_settings_right:  # last: the types may be in files that graphs are named by
        found += _check_settings(load_settings(manifest), manifest)
    found += check_image(parsed)
    found += absent_extensions()
    named = {each.where for each in found}
    found += (each for each in unread_keys(parsed) if each.where not in named)
    return list(dict.fromkeys(found))


def _stock_writer(settings: Settings) -> Iterator[CheckFinding]:
    """Say if a saver of LangGraph's writes to the database: there may be nothing in it yet."""
    reader = OnceSerializer()  # no value is read
    with (
        suppress(StorageError),
        backend_of(settings.database).open_to_read(
            config=settings.checkpoint, serde=reader
        ) as saver,
    ):
        if problem := stock_wrote(saver):
            yield finding("hint", written_at("serde", "compatible"), problem)


def _check_settings(settings: Settings, manifest: Manifest) -> list[CheckFinding]:
    types = [*check_named_types(settings.serde)]
    extras = [*missing_extras(settings)]
    found = [*types, *extras]
    if not any(each.effect == "stops" for each in types):  # else it would be said again
        with findings_of(found, ""):
            serializer_for(settings)
    with findings_of(found, ""):
        check_extensions(settings)
    if not any(each.effect == "stops" for each in extras):
        with findings_of(found, ""):
            backend_of(settings.database).check()
            found += _stock_writer(settings)
        if manifest.has_our_store:
            with findings_of(found, ""):
                check_store_database(settings, manifest)
    return found


def absent_extensions() -> Iterator[CheckFinding]:
    """Yield what extensions would add here, if they could be imported."""
    commands = extensions.absent("command")
    # Without a server there are no routes, and `missing_server` has said so.
    routes = {} if [*missing_server()] else extensions.absent("routes")
    for reason in sorted({*commands.values(), *routes.values()}):
        named = [f"`{name}`" for name in commands if commands[name] == reason]
        named += [f"the {name}" for name in routes if routes[name] == reason]
        yield finding("hint", "extensions", f"{', '.join(named)}: not installed: {reason}")


def missing_server() -> Iterator[CheckFinding]:
    """Yield that there is no server here, if there is none."""
    absent = [name for name in ("langgraph_api", "starlette") if find_spec(name) is None]
    if absent:
        problem = f"needs the package {absent[0]}: {install_command('server')}"
        yield finding("stops", "langgraph dev", problem)


def missing_extras(settings: Settings) -> Iterator[CheckFinding]:
    """Yield the packages that settings need and that are not installed."""
    chosen = "br" in settings.http.sse_encodings and is_written("http", "sse_encodings")
    if chosen and find_spec("brotli") is None:
        problem = f"'br' has no effect without the package brotli: {install_command('brotli')}"
        yield finding("ignored", written_at("http", "sse_encodings"), problem)
    kind = kind_of(settings.database)
    if kind.package is not None and find_spec(kind.package) is None:
        place = written_at("checkpoint", "path")
        where = "ONCE_DATABASE_URL" if settings.database_url is not None else place
        yield finding("stops", where, f"{kind.kind} needs an extra: {install_command(kind.extra)}")
