"""The graphs of a project, wrapped or not, loaded as langgraph-api 0.16.7 loads them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import GRAPHS_MODULE, Manifest
from langgraph_once.platform.check.findings import CheckFinding, finding, findings_of
from langgraph_once.platform.targets import (
    load_file,
    load_module,
    load_name,
    load_object,
    not_a_graph,
    wrap,
)
from langgraph_once.settings import GraphTarget
from langgraph_once.stream import OnceStreams

_TIMEOUT_S: Final = 30.0
_WRAPPED_TWICE: Final = (
    "this graph is wrapped by `once` in code, too, and the settings there have no effect: "
    "name the graph from before, or leave the `once` here away"
)
_JAVASCRIPT: Final = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")


def check_graphs(manifest: Manifest) -> Iterator[CheckFinding]:
    """Yield what is wrong with the graphs. Their modules are imported, factories are called."""
    found: list[CheckFinding] = []
    for each in manifest.read_graphs()[0]:
        where = f"langgraph.json: graphs.{each.graph_id}.once.target"
        target = GraphTarget(
            graph_id=each.graph_id, name=each.name, target=each.target, dedup=DedupConfig()
        )
        with findings_of(found, where):
            _check(wrap(target), where, found)
            if isinstance(load_object(each.target, where), OnceStreams):
                found.append(finding("hint", where, _WRAPPED_TWICE))
        if each.name != each.graph_id:
            problem = f"says {each.name!r}; clients find the graph as {each.graph_id!r}"
            found.append(finding("hint", f"langgraph.json: graphs.{each.graph_id}.path", problem))
    for graph_id, entry in manifest.graphs.items() if isinstance(manifest.graphs, dict) else ():
        where = f"langgraph.json: graphs.{graph_id}"
        with findings_of(found, where):
            path = _path(entry, where)
            file, _, name = path.rpartition(":")
            if path.startswith(GRAPHS_MODULE) or file.endswith(_JAVASCRIPT):
                continue
            module = load_file(file, where) if "/" in file else load_module(file, where)
            _check(load_name(module, name, where), where, found)
    yield from found


def _path(entry: Any, where: str) -> str:
    path = entry.get("path") if isinstance(entry, dict) else entry
    if isinstance(path, str) and path.startswith(GRAPHS_MODULE):
        return path  # of this the manifest has told
    if not isinstance(path, str) or ":" not in path:
        forms = "'./file.py:graph' or 'package.module:graph'"
        raise ConfigError(where, f"must name a graph as {forms}, got {path!r}")
    return path


def _check(value: Any, where: str, found: list[CheckFinding]) -> None:
    if isinstance(value, Pregel):
        owned = [
            kind
            for kind, given, base in (
                ("checkpointer", value.checkpointer, BaseCheckpointSaver),
                ("store", value.store, BaseStore),
            )
            if isinstance(given, base)
        ]
        if owned:
            problem = (
                f"this graph is compiled with a {' and a '.join(owned)} of its own, which "
                "`langgraph dev` refuses: compile it without, the server brings both"
            )
            found.append(finding("stops", where, problem))
    elif callable(value):
        found.extend(_factory_findings(value, where))
    elif not isinstance(value, StateGraph):
        raise ConfigError(where, not_a_graph(value))


def _factory_findings(factory: Any, where: str) -> list[CheckFinding]:
    """What is wrong with a factory: it is called once, as for the schemas of its graph."""
    found: list[CheckFinding] = []
    asked = _Asked()
    try:
        # Private upstream, langgraph-api 0.16.7: which arguments the server calls a factory with.
        from langgraph_api._factory_utils import _classify_factory
        from langgraph_sdk.runtime import _ReadRuntime
    except ImportError:
        return []
    _must_have_signature(factory, where)
    try:
        arguments = _classify_factory(factory)
    except ValueError as error:  # it shows the factory, and with it what a `partial` was given
        raise ConfigError(where, str(error).replace(f" {factory}", "")) from None
    runtime: Any = _ReadRuntime(access_context="assistants.read", user=None, store=InMemoryStore())
    config: Any = {"configurable": asked, "metadata": {}, "tags": [], "recursion_limit": 25}
    given = arguments(config, runtime) if callable(arguments) else {}
    is_given_runtime = any(each is runtime for each in given.values())
    with findings_of(found, where):
        if not asyncio.run(_is_made(factory, given, where)):
            problem = f"this factory was not tried to its end, which takes over {_TIMEOUT_S:.0f} s"
            found.append(finding("hint", where, problem))
    if found and found[0].place and (asked.keys_missed or is_given_runtime):
        names = ", ".join(map(repr, sorted(asked.keys_missed))) or "the server's runtime"
        problem = f"this factory fails without a run, which brings what it asks for: {names}"
        return [finding("hint", where, problem)]
    return found


def _must_have_signature(factory: Any, where: str) -> None:
    """Check that the server can tell what to call a factory with.

    Raises:
        ConfigError: It cannot.
    """
    try:
        inspect.signature(factory)
    except (TypeError, ValueError):
        kinds = "as of some that are written in C, or of a `partial` with too many"
    else:
        return
    problem = f"the server cannot tell which arguments this takes, {kinds}"
    raise ConfigError(where, f"{problem}; name a function that calls it")


class _Asked(dict[str, Any]):
    """A `configurable` without anything in it, that knows what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.keys_missed: set[str] = set()

    def __missing__(self, key: str) -> Any:
        self.keys_missed.add(str(key))
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        self.keys_missed.add(str(key))
        return False

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_missed.add(str(key))
        return default


async def _is_made(factory: Any, given: dict[str, Any], where: str) -> bool:
    """Make a graph as the server does for a request, and leave it; whether there was time for it.

    Raises:
        ConfigError: It is none.
    """
    try:
        async with asyncio.timeout(_TIMEOUT_S) as time:
            await _make(factory, given, where)
    except TimeoutError:
        if not time.expired():
            raise
        return False
    return True


async def _make(factory: Any, given: dict[str, Any], where: str) -> None:
    async with AsyncExitStack() as stack:
        value = factory(**given)
        if not isinstance(value, Pregel):
            if hasattr(value, "__aenter__"):
                value = await stack.enter_async_context(value)
            elif hasattr(value, "__enter__"):
                value = stack.enter_context(value)
            elif inspect.isawaitable(value):
                value = await value
        if not isinstance(value, Pregel | StateGraph):
            raise ConfigError(where, f"makes something else than a graph: {not_a_graph(value)}")
