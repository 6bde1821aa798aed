"""What of `langgraph.json` and the settings leads nowhere, or breaks an image.

Keys that nobody reads, types, functions and variables that are not there, and texts that would end
a line of a Dockerfile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import misspelt
from langgraph_once.platform.check.findings import CheckFinding, Effect, finding, findings_of
from langgraph_once.platform.targets import load_object
from langgraph_once.redaction import shown
from langgraph_once.settings import unknown_variables, written_at

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
