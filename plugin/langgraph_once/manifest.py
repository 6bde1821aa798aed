"""What `langgraph.json` says about our components, read and checked for its shape.

Each component has its settings in a sub-key `"once"` beside its path. The server hands the
sub-keys to its process unchanged, as JSON in four variables (measured with langgraph-api
0.16.7; `TestWiring` in the tests of the server notices when that changes).
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langgraph_once.errors import ConfigError

GRAPHS_MODULE = "langgraph_once.platform.graphs"
"""The module whose names stand for wrapped graphs."""

SAVER = "langgraph_once.platform.checkpointer.saver"
"""What `checkpointer.path` says where the saver is ours."""

APP = "langgraph_once.platform.app:app"
"""What `http.app` says where the app is ours."""

STORE = "langgraph_once.platform.store.store"
"""What `store.path` says where the store is ours."""

VARIABLES = {
    "LANGGRAPH_CHECKPOINTER": "checkpointer",
    "LANGGRAPH_HTTP": "http",
    "LANGSERVE_GRAPHS": "graphs",
    "LANGGRAPH_STORE": "store",
}
"""In which variable the server hands over which key."""

SECRETS = frozenset({("serde", "encryption_keys")})
"""Settings, as (section, key), that no file may hold."""

SECTION_AT = {
    "checkpoint": "checkpointer.once",
    "serde": "checkpointer.once.serde",
    "http": "http.once",
    "store": "store.once",
}

KEYS_BESIDE_OURS = ("path", "app", "ttl", "serde", "cors", "description")
"""Keys of LangGraph's that a misspelt `once` is to be told from."""

TARGET = re.compile(r"\w+(\.\w+)*:\w+(\.\w+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEntry:
    """An entry of `graphs` that asks for a wrapped graph."""

    graph_id: str
    name: str
    """Its name in `langgraph_once.platform.graphs`."""
    target: str
    """The user's graph as `package.module:name`."""
    dedup: Mapping[str, Any]
    """Settings of its `DedupConfig`, not checked yet."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of `langgraph.json` that can carry a `"once"` sub-key, as parsed JSON."""

    checkpointer: Any = None
    http: Any = None
    graphs: Any = None
    store: Any = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Manifest:
        """What the server handed to this process; empty outside of a server."""
        return cls(*(_parse_json(name, environ.get(name)) for name in VARIABLES))

    @classmethod
    def from_json(cls, parsed: Mapping[str, Any]) -> Manifest:
        """The parts of a `langgraph.json` that was read."""
        return cls(*(parsed.get(key) for key in VARIABLES.values()))

    @property
    def has_our_saver(self) -> bool:
        """Whether the checkpointer is ours."""
        return isinstance(self.checkpointer, dict) and self.checkpointer.get("path") == SAVER

    @property
    def has_our_store(self) -> bool:
        """Whether the store is ours."""
        return isinstance(self.store, dict) and self.store.get("path") == STORE

    def store_option(self, name: Literal["index", "ttl"]) -> Any:
        """What upstream's store shall do; None if it is not asked for."""
        return self.store.get(name) if isinstance(self.store, dict) else None

    def sections(self) -> dict[str, dict[str, Any]]:
        """The sub-keys of checkpointer, http and store, by the sections of `Settings`.

        Raises:
            ConfigError: A sub-key is no object, holds a secret, or would have no effect.
        """
        sections, problems = self.read_sections()
        for problem in problems:
            raise problem
        return sections

    def wrapped_graphs(self) -> tuple[GraphEntry, ...]:
        """The entries of `graphs` that ask for a wrapped graph, in order.

        Raises:
            ConfigError: A `"once"` sub-key is missing, wrong, or beside another path than ours.
        """
        entries, problems = self.read_graphs()
        for problem in problems:
            raise problem
        return entries

    def read_graphs(self) -> tuple[tuple[GraphEntry, ...], list[ConfigError]]:
        """Return the wrapped graphs that are right, and what is wrong with the others."""
        by_name: dict[str, GraphEntry] = {}
        problems: list[ConfigError] = []
        try:
            entries = list(self._graphs())
        except ConfigError as error:
            return (), [error]
        for graph_id, entry in entries:
            try:
                found = _graph_entry(graph_id, entry)
            except ConfigError as error:
                problems.append(error)
                continue
            other = found and by_name.setdefault(found.name, found)
            if found and other and (other.target, other.dedup) != (found.target, found.dedup):
                problems.append(
                    ConfigError(
                        f"langgraph.json: graphs.{graph_id}.path",
                        f"the name {found.name!r} already stands for graph {other.graph_id!r}; "
                        f"use {GRAPHS_MODULE}:{graph_id}",
                    )
                )
        return tuple(by_name.values()), problems

    def read_sections(self) -> tuple[dict[str, dict[str, Any]], list[ConfigError]]:
        """Return the sections that can be read, and what is wrong with the others."""
        problems: list[ConfigError] = []
        if self.has_our_saver:
            problems += _misspelt_once(self.checkpointer, "checkpointer")
        if isinstance(self.http, dict) and self.http.get("app") == APP:
            problems += _misspelt_once(self.http, "http")
        if self.has_our_store:
            problems += _misspelt_once(self.store, "store")
        sections: dict[str, dict[str, Any]] = {
            section: {} for section in ("checkpoint", "serde", "http", "store")
        }
        try:
            sections["store"] = dict(_once(self.store, "store"))
            sections["http"] = dict(_once(self.http, "http"))
            sections["checkpoint"] = dict(_once(self.checkpointer, "checkpointer"))
            serde = sections["checkpoint"].pop("serde", {})
            sections["serde"] = dict(_mapping(serde, "checkpointer.once.serde"))
        except ConfigError as error:
            problems.append(error)
        if isinstance(self.checkpointer, dict) and {"once", "serde"} <= self.checkpointer.keys():
            problem = "never reaches a custom saver; use checkpointer.once.serde"
            problems.append(ConfigError("langgraph.json: checkpointer.serde", problem))
        for section, key in SECRETS:
            if sections[section].pop(key, None) is not None:
                variable = f"ONCE_{section.upper()}__{key.upper()}"
                problem = f"secrets belong in the environment, not in a file; use {variable}"
                problems.append(ConfigError(setting_at(section, key), problem))
        return sections, problems

    def importable_graphs(self) -> Iterator[tuple[str, str]]:
        """Every graph, wrapped or not, that is named by `package.module:name`.

        Yields:
            The setting that names it, and the name.
        """
        for found in self.wrapped_graphs():
            yield f"langgraph.json: graphs.{found.graph_id}.once.target", found.target
        for graph_id, entry in self._graphs():
            path = _path(entry)
            if TARGET.fullmatch(path) and not path.startswith(f"{GRAPHS_MODULE}:"):
                yield f"langgraph.json: graphs.{graph_id}.path", path

    def file_graphs(self) -> Iterator[tuple[str, str, str]]:
        """Yield the setting, the file and the name of each graph that is named by its file."""
        for graph_id, entry in self._graphs():
            file, _, name = _path(entry).rpartition(":")
            if "/" in file and file.endswith(".py"):  # else the server takes it for a module
                yield f"langgraph.json: graphs.{graph_id}.path", file, name

    def _graphs(self) -> Iterable[tuple[str, Any]]:
        return _mapping(self.graphs or {}, "graphs").items()


def setting_at(section: str, key: str) -> str:
    """The name of a setting as the user of `langgraph.json` wrote it."""
    return f"langgraph.json: {SECTION_AT.get(section, section)}{key and '.'}{key}"


def misspelt(name: str, allowed: Iterable[str]) -> str | None:
    """The one of `allowed` that `name` was meant to be, if it is near one."""
    folded = {each.lower(): each for each in allowed}
    near = difflib.get_close_matches(name.lower(), folded, n=1)
    return folded[near[0]] if near else None


def unknown_key(key: str, allowed: Iterable[str]) -> str:
    """The problem of a key that does not exist: the nearest one, and all there are."""
    allowed = sorted(allowed)
    near = misspelt(key, allowed)
    hint = f"did you mean {near!r}? " if near else ""
    return f"unknown key; {hint}allowed: {', '.join(allowed)}"


def _misspelt_once(component: Mapping[str, Any], at: str) -> Iterator[ConfigError]:
    """Yield what is wrong with keys beside a path of ours that must have meant `once`."""
    for key in component:
        if key != "once" and misspelt(key, [*KEYS_BESIDE_OURS, "once"]) == "once":
            yield ConfigError(
                f"langgraph.json: {at}.{key}",
                "unknown key, which has no effect; did you mean 'once'?",
            )


def _graph_entry(graph_id: str, entry: Any) -> GraphEntry | None:
    """What one entry of `graphs` asks for; None where it does not name our module."""
    at, path = f"graphs.{graph_id}", _path(entry)
    module, _, name = path.partition(":")
    if module != GRAPHS_MODULE:
        if path.startswith(GRAPHS_MODULE) and path.removeprefix(GRAPHS_MODULE)[:1] in ("", "."):
            raise ConfigError(
                f"langgraph.json: {at}.path",
                f"must be written with a colon, as {GRAPHS_MODULE}:{graph_id}, got {path!r}",
            )
        if isinstance(entry, dict) and "once" in entry:
            raise ConfigError(
                f"langgraph.json: {at}.once",
                f"has no effect beside this path; use {GRAPHS_MODULE}:{graph_id} as path and "
                f'{{"target": "{path}"}} as once',
            )
        return None
    for problem in _misspelt_once(entry if isinstance(entry, dict) else {}, at):
        raise problem
    once = dict(_once(entry, at))
    target, dedup = once.pop("target", None), once.pop("dedup", {})
    for key in once:
        raise ConfigError(f"langgraph.json: {at}.once.{key}", unknown_key(key, ("target", "dedup")))
    if not isinstance(target, str) or not TARGET.fullmatch(target):
        raise ConfigError(
            f"langgraph.json: {at}.once.target",
            "must name your graph, builder or factory as 'package.module:name' "
            f"(a file path would not survive `langgraph dockerfile`), got {target!r}",
        )
    return GraphEntry(
        graph_id=graph_id,
        name=name,
        target=target,
        dedup=_mapping(dedup, f"{at}.once.dedup"),
    )


def _path(entry: Any) -> str:
    return str(entry.get("path", "") if isinstance(entry, dict) else entry)


def _once(component: Any, at: str) -> Mapping[str, Any]:
    """The `"once"` sub-key of a component; empty where there is none."""
    if not isinstance(component, dict):
        return {}
    return _mapping(component.get("once", {}), f"{at}.once")


def _mapping(value: Any, at: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(
            f"langgraph.json: {at}", f"must be an object, got a {type(value).__name__}"
        )
    return value


def _parse_json(name: str, text: str | None) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"is not valid JSON: {error}"
    raise ConfigError(name, problem)  # out here: that error holds the whole text
