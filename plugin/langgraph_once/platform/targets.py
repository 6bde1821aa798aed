"""The user's graphs that `langgraph.json` names: loaded, wrapped, and the types in their states.

The server copies a graph before each run, and the copy forgets the types of its state
(`Pregel.copy`, langgraph 1.2.24). So the serializer learns them from here. Commands ask all graphs,
loaded as a server loads them.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from langgraph._internal._serde import collect_allowlist_from_schemas
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import Manifest, misspelt
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
        where: What names it, for errors.

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


# Private upstream, langgraph 1.2.24: how `compile` finds the types under
# LANGGRAPH_STRICT_MSGPACK. It can go when `Pregel.copy` keeps them.


_RESPONSES = "langchain.agents.structured_output"


def types_in_graphs() -> set[tuple[str, ...]]:
    """`(module, name)` of every dataclass, model and enum in the schemas of the graphs.

    A factory's graph is not known before a run, and a graph named by file path would be
    imported a second time under another name: types of those go into `allowed_types`.

    Raises:
        ConfigError: A graph cannot be imported.
    """
    found: set[tuple[str, ...]] = set()
    for where, path in Manifest.from_environment(os.environ).importable_graphs():
        found |= graph_types(load_object(path, where))
    return found


def graph_types(value: Any) -> set[tuple[str, ...]]:
    """`(module, name)` of every type in the schemas of a graph or builder; none of another thing.

    The type of an agent's answer (`create_agent(response_format=…)`) is among them, though the
    agent's state does not name it (langchain 1.x).
    """
    found: set[tuple[str, ...]] = set()
    for graph in _with_subgraphs(value):
        found |= _types_in(graph)
    return found


def _with_subgraphs(value: Any) -> Iterator[Pregel[Any, Any, Any, Any]]:
    if isinstance(value, StateGraph):
        value = value.compile()
    if isinstance(value, Pregel):
        yield value
        yield from (
            graph for _, graph in value.get_subgraphs(recurse=True) if isinstance(graph, Pregel)
        )


def _types_in(graph: Pregel[Any, Any, Any, Any]) -> set[tuple[str, ...]]:
    schemas: list[Any] = []  # that are None are passed over
    if (builder := getattr(graph, "builder", None)) is not None:
        schemas = [*builder.schemas, builder.context_schema, *_responses(builder)]
    return collect_allowlist_from_schemas(schemas=schemas, channels=graph.channels)


def _responses(builder: Any) -> Iterator[Any]:
    """Yield the schemas that functions of the nodes were made to answer with."""
    for node in builder.nodes.values():
        function = getattr(node.runnable, "func", None) or getattr(node.runnable, "afunc", None)
        for cell in getattr(function, "__closure__", None) or ():
            with suppress(ValueError):  # the cell is empty
                held = cell.cell_contents
                if type(held).__module__ == _RESPONSES:
                    yield getattr(held, "schema", None)


Types = set[tuple[str, ...]]


@dataclass(slots=True)
class CodeTypes:
    """What the graphs' states name, as `(module, name)`."""

    listed: Types = field(default_factory=set)
    """Of graphs that a server lists by itself: those that are named by their module."""
    by_file: Types = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    """Why graphs could not be asked."""


def types_of_code(manifest: Manifest) -> CodeTypes:
    """Return the types in the states of all graphs. Their modules are imported.

    Raises:
        ConfigError: The manifest is wrong. That a graph cannot be loaded is no error here.
    """
    found = CodeTypes()
    for where, load, kept in _graphs(manifest, found):
        try:
            with contextlib.redirect_stdout(sys.stderr):  # ours is for machines, too
                value = load()
                kept |= graph_types(value)
        except (Exception, SystemExit) as error:  # whatever the user's code raises
            problem = error.problem if isinstance(error, ConfigError) else type(error).__name__
            found.problems.append(f"{where}: cannot be loaded: {problem}")
        else:
            if callable(value) and not hasattr(value, "invoke"):
                found.problems.append(f"{where}: a factory, whose graph is not known before a run")
    return found


def _graphs(manifest: Manifest, found: CodeTypes) -> Iterator[tuple[str, Callable[[], Any], Types]]:
    for where, path in manifest.importable_graphs():
        yield where, partial(load_object, path, where), found.listed
    for where, file, name in manifest.file_graphs():
        yield where, partial(_load_file, file, name, where), found.by_file


def _load_file(file: str, name: str, where: str) -> Any:
    return load_name(load_file(file, where), name, where)
