"""The user's graphs that `langgraph.json` asks us to wrap."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from typing import Any

from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.settings import GraphTarget
from langgraph_once.stream import once

__all__ = ["load_object", "wrap"]


def wrap(graph_target: GraphTarget) -> Any:
    """The user's graph, builder or factory, as the same kind of thing that streams once.

    Args:
        graph_target: What `langgraph.json` says.

    Returns:
        A compiled graph, or for a factory a factory with the same signature.

    Raises:
        ConfigError: The target cannot be imported, or is nothing that makes a graph.
    """
    where = f"langgraph.json: graphs.{graph_target.graph_id}.once.target"
    target = load_object(graph_target.target, where)
    wrapped = _wrap_graph(target, graph_target.dedup)
    if wrapped is not None:
        return wrapped
    if callable(target):
        return _wrap_factory(target, graph_target.dedup, where)
    raise ConfigError(where, _not_a_graph(target))


def load_object(name: str, where: str) -> Any:
    """Import `package.module:name`.

    Args:
        name: What to import.
        where: The setting that names it, for the message.

    Raises:
        ConfigError: The module or the name does not exist. Other errors of the user's module
            pass, with their traceback.
    """
    module_name, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise ConfigError(where, f"there is no module {error.name!r} to import") from None
    for part in path.split("."):
        if not hasattr(found, part):
            raise ConfigError(where, f"module {module_name!r} has no {path!r}")
        found = getattr(found, part)
    return found


def _wrap_graph(value: Any, config: DedupConfig) -> Pregel[Any, Any, Any, Any] | None:
    """`value` wrapped where it is a graph or a builder, else None."""
    if isinstance(value, StateGraph):
        value = value.compile()
    return once(value, config) if isinstance(value, Pregel) else None


def _wrap_factory(
    factory: Callable[..., Any], config: DedupConfig, where: str
) -> Callable[..., Any]:
    """A factory that wraps what `factory` makes; the server reads its signature through it."""

    def made(value: Any) -> Any:
        wrapped = _wrap_graph(value, config)
        if wrapped is not None:
            return wrapped
        if isinstance(value, AbstractAsyncContextManager):
            return _entered_async(value)
        if isinstance(value, AbstractContextManager):
            return _entered(value)
        if inspect.isawaitable(value):
            return _awaited(value)
        raise ConfigError(where, f"makes something else than a graph: {_not_a_graph(value)}")

    @asynccontextmanager
    async def _entered_async(manager: AbstractAsyncContextManager[Any]) -> AsyncIterator[Any]:
        async with manager as value:
            yield made(value)

    @contextmanager
    def _entered(manager: AbstractContextManager[Any]) -> Iterator[Any]:
        with manager as value:
            yield made(value)

    async def _awaited(value: Awaitable[Any]) -> Any:
        return made(await value)

    @functools.wraps(factory)
    def wrapped_factory(*args: Any, **kwargs: Any) -> Any:
        return made(factory(*args, **kwargs))

    return wrapped_factory


def _not_a_graph(value: Any) -> str:
    return (
        "must be a compiled graph, a StateGraph or a factory that makes one, "
        f"got {type(value).__name__}"
    )
