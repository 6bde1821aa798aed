"""The user's graphs that `langgraph.json` asks us to wrap."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from pathlib import Path
from types import ModuleType
from typing import Any

from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import misspelt
from langgraph_once.platform.health import graph_health
from langgraph_once.settings import GraphTarget
from langgraph_once.stream import once


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
        return _wrap_factory(target, graph_target, where)
    raise ConfigError(where, not_a_graph(target))


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
    if not (module_name and path):
        raise ConfigError(where, f"must be written as module:name, got {name!r}")
    found: Any = load_module(module_name, where)
    for part in path.split("."):
        if not hasattr(found, part):
            raise ConfigError(
                where, f"module {module_name!r} has no {path!r}{_nearest(part, found)}"
            )
        found = getattr(found, part)
    return found


def load_module(name: str, where: str) -> ModuleType:
    """Import a module, as `load_object` does."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        problem = f"there is no module {error.name!r} to import{_not_installed(error.name)}"
    raise ConfigError(where, problem)


def load_file(file: str, where: str) -> ModuleType:
    """Return a file as a module, loaded and named as langgraph-api 0.16.7 does.

    Args:
        file: Its path.
        where: As `load_object`.

    Raises:
        ConfigError: There is no such file. Errors of the user's code pass.
    """
    name = file.replace("/", "__").replace(".py", "").replace(" ", "_").lstrip(".")
    if name in sys.modules:
        return sys.modules[name]
    if not Path(file).is_file():
        raise ConfigError(where, f"there is no file {file!r}")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ConfigError(where, f"{file!r} is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_name(module: ModuleType, name: str, where: str) -> Any:
    """Return what a module has under a name, without its `__getattr__`, as a server does.

    Raises:
        ConfigError: It has none.
    """
    if name not in vars(module):
        title = module.__file__ or module.__name__
        raise ConfigError(where, f"{Path(title).name!r} has no {name!r}{_nearest(name, module)}")
    return vars(module)[name]


def _nearest(name: str, owner: Any) -> str:
    near = misspelt(name, (each for each in dir(owner) if not each.startswith("__")))
    return f"; did you mean {near!r}?" if near else ""


def _not_installed(module: str) -> str:
    """What to do where the module is in a folder `src` of the project, which nobody installed."""
    top = module.partition(".")[0]
    here = Path.cwd()
    roots = dict.fromkeys([here, *map(Path, sys.path)])
    for root in (each for each in roots if each == here or here in each.parents):
        if (root / "src" / top).is_dir() or (root / "src" / f"{top}.py").is_file():
            folder = "." if root == here else root.relative_to(here).as_posix()
            return (
                f"; it is in {(root / 'src').relative_to(here).as_posix()!r}, which is not on the "
                f"import path: install the project, with `pip install -e {folder}`"
            )
    return ""


def _wrap_graph(value: Any, config: DedupConfig) -> Pregel[Any, Any, Any, Any] | None:
    """`value` wrapped where it is a graph or a builder, else None."""
    if isinstance(value, StateGraph):
        value = value.compile()
    return once(value, config) if isinstance(value, Pregel) else None


def _wrap_factory(
    factory: Callable[..., Any], graph_target: GraphTarget, where: str
) -> Callable[..., Any]:
    """A factory that wraps what `factory` makes; the server reads its signature through it."""
    watching = functools.partial(graph_health.watching, graph_target.graph_id, factory)
    made = _GraphMaker(graph_target, where, watching)

    @functools.wraps(factory)
    def wrapped_factory(*args: Any, **kwargs: Any) -> Any:
        with watching():
            return made.wrapped(factory(*args, **kwargs))

    return wrapped_factory


class _GraphMaker:
    """Wraps what a factory of any kind makes."""

    def __init__(
        self, target: GraphTarget, where: str, watching: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._target = target
        self._where = where
        self._watching = watching

    def wrapped(self, value: Any) -> Any:
        """A graph, or a context or an awaitable that gives one."""
        wrapped = _wrap_graph(value, self._target.dedup)
        if wrapped is not None:
            graph_health.made(self._target.graph_id)
            return wrapped
        if isinstance(value, AbstractAsyncContextManager):
            return self._entered_async(value)
        if isinstance(value, AbstractContextManager):
            return self._entered(value)
        if inspect.isawaitable(value):
            return self._awaited(value)
        raise ConfigError(self._where, f"makes something else than a graph: {not_a_graph(value)}")

    @asynccontextmanager
    async def _entered_async(self, manager: AbstractAsyncContextManager[Any]) -> AsyncIterator[Any]:
        async with AsyncExitStack() as stack:
            with self._watching():
                graph = self.wrapped(await stack.enter_async_context(manager))
            yield graph

    @contextmanager
    def _entered(self, manager: AbstractContextManager[Any]) -> Iterator[Any]:
        with ExitStack() as stack:
            with self._watching():
                graph = self.wrapped(stack.enter_context(manager))
            yield graph

    async def _awaited(self, value: Awaitable[Any]) -> Any:
        with self._watching():
            return self.wrapped(await value)


def not_a_graph(value: Any) -> str:
    """What is wrong with something that is named as a graph."""
    return (
        "must be a compiled graph, a StateGraph or a factory that makes one, "
        f"got {type(value).__name__}"
    )
