"""All that is wrong with a project, and what of its `langgraph.json` leads nowhere.

Keys that nobody reads, types, functions and variables that are not there, and texts that would end
a line of a Dockerfile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from langgraph_once import extensions
from langgraph_once.checkpoint import backend_of, kind_of, stock_wrote
from langgraph_once.config import SerdeConfig
from langgraph_once.errors import ConfigError, StorageError, shown
from langgraph_once.floors import install_command, old_packages, told
from langgraph_once.manifest import Manifest, misspelt
from langgraph_once.platform.components import (
    CheckFinding,
    Effect,
    check_graphs,
    check_sockets,
    finding,
    findings_of,
)
from langgraph_once.platform.startup import check_extensions, check_store_database, serializer_for
from langgraph_once.platform.targets import load_object
from langgraph_once.serde import OnceSerializer
from langgraph_once.settings import (
    Settings,
    is_written,
    load_settings,
    setting_problems,
    unknown_variables,
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


_ONCE = "once"
_HOLDERS = ("CheckpointerConfig", "HttpConfig", "StoreConfig", "GraphDef")


def unread_keys(parsed: Mapping[str, Any]) -> Iterator[CheckFinding]:
    """Yield the keys that have no effect.

    Other tools may keep keys of their own in the file. So a key counts only if it is nearly one
    that is known.

    Args:
        parsed: A `langgraph.json`.
    """
    if _ONCE in parsed:
        yield finding("ignored", _at(_ONCE), _NO_PLACE)
    yield from _almost(parsed, "", {*_keys_of("Config"), _ONCE})
    checkpointer, http, store, graph = map(_keys_of, _HOLDERS)
    yield from _almost(parsed.get("checkpointer"), "checkpointer", {*checkpointer, _ONCE})
    yield from _almost(parsed.get("http"), "http", {*http, _ONCE})
    yield from _almost(parsed.get("store"), "store", {*store, "path", _ONCE})
    graphs = parsed.get("graphs")
    for graph_id, entry in graphs.items() if isinstance(graphs, dict) else ():
        yield from _almost(entry, f"graphs.{graph_id}", {*graph, _ONCE})
    for key in ("auth", "env"):
        if isinstance(parsed.get(key), dict) and _ONCE in parsed[key]:
            yield finding("ignored", _at(f"{key}.{_ONCE}"), _NO_PLACE)
    yield from _without_path(parsed)
    env = parsed.get("env")
    # A project that names `.env` and has none gets its variables in another way.
    if isinstance(env, str) and env != ".env" and not Path(env).is_file():
        yield finding("hint", _at("env"), f"there is no file {env!r}; none of its variables is set")


_NO_PLACE = "has no effect here; `once` belongs in checkpointer, store, http or a graph"


def _without_path(parsed: Mapping[str, Any]) -> Iterator[CheckFinding]:
    for key, path in (("checkpointer", "path"), ("store", "path"), ("http", "app")):
        component = parsed.get(key)
        if isinstance(component, dict) and _ONCE in component and not component.get(path):
            yield finding("ignored", _at(f"{key}.{_ONCE}"), f"has no effect without {key}.{path}")


def _almost(component: Any, at: str, known: Iterable[str]) -> Iterator[CheckFinding]:
    for key in component if isinstance(component, dict) else ():
        near = misspelt(key, known)
        if near is not None and near != key and key not in known:
            problem = f"unknown key, which has no effect; did you mean {near!r}?"
            yield finding("ignored", _at(f"{at}.{key}" if at else key), problem)


def _at(key: str) -> str:
    return f"langgraph.json: {key}"


def _keys_of(name: str) -> frozenset[str]:
    """The keys that the installed langgraph-cli knows; none where it is not installed."""
    try:
        schema = getattr(import_module("langgraph_cli.schemas"), name)
    except (ImportError, AttributeError):
        return frozenset()
    return frozenset(schema.__required_keys__ | schema.__optional_keys__)


_WRITTEN: Final = (
    "auth", "checkpointer", "encryption", "graphs", "http", "store", "ui", "ui_config", "webhooks",
)  # fmt: skip
"""The keys that it writes into the Dockerfile, each as one text in single quotes."""


def check_image(parsed: Mapping[str, Any]) -> Iterator[CheckFinding]:
    """Yield the texts that would end such a line too early.

    Args:
        parsed: A `langgraph.json`.
    """
    for key in _WRITTEN:
        for at in _with_apostrophe(parsed.get(key), key):
            problem = "its apostrophe breaks the Dockerfile of `langgraph dockerfile`; leave it out"
            yield finding("hint", f"langgraph.json: {at}", problem)


def _with_apostrophe(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, str) and "'" in value:
        yield at
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _with_apostrophe(key, at)
            yield from _with_apostrophe(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _with_apostrophe(inner, f"{at}[{number}]")


def check_variables() -> Iterator[CheckFinding]:
    """Yield hints about variables that begin with `ONCE_` and are no settings."""
    unknown = unknown_variables()
    for name, near in unknown.items():
        if near is not None:
            problem = f"is no setting, and has no effect; did you mean {near}?"
            yield finding("hint", shown(name), problem)
    if others := [shown(name) for name, near in unknown.items() if near is None]:
        yield finding("hint", ", ".join(sorted(others)), "no settings, and without effect")


def check_named_types(config: SerdeConfig) -> Iterator[CheckFinding]:
    """Yield the names that lead nowhere. Their modules are imported."""
    for field, item, name, effect in _names(config):
        where = f"{written_at('serde', field)}[{item!r}]"
        found: list[CheckFinding] = []
        with findings_of(found, where, effect=effect):
            load_object(name, where)
        yield from found
    for name in (each for each in config.upgrades if each not in config.aliases):
        where = f"{written_at('serde', 'upgrades')}[{name!r}]"
        try:
            load_object(name, where)
        except ConfigError as error:
            stop = "" if error.problem.endswith("?") else "."
            problem = f"{error.problem}{stop} It is named by where the class is today"
            yield finding("ignored", where, problem)
        except Exception:  # noqa: S112  # said where the function is loaded
            continue


def _names(config: SerdeConfig) -> Iterator[tuple[str, str | int, str, Effect]]:
    """Yield field, item, what it names, and what comes of it if that is not there."""
    for number, name in enumerate(config.allowed_types):
        if name not in config.aliases:
            yield "allowed_types", number, name, "ignored"
    for number, name in enumerate(config.adapters):
        yield "adapters", number, name, "stops"
    for old, new in config.aliases.items():
        if new not in config.aliases:
            yield "aliases", old, new, "ignored"
    for changed, function in config.upgrades.items():
        yield "upgrades", changed, function, "stops"
