"""What `langgraph.json` names by path, loaded as a server loads it, and what is wrong with it.

The graphs of the project, wrapped or not; checkpointer, store and app, as langgraph-api 0.16.7
loads them. A finding is one thing that is wrong, and what comes of it; of an error of the user's
code it tells the place.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Final, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.manifest import APP, GRAPHS_MODULE, SAVER, STORE, Manifest, misspelt
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

Effect = Literal["stops", "ignored", "hint"]
"""What comes of it: the server or a run stops, what was written has no effect, or nothing yet."""

_OURS: Final = Path(__file__).parents[1]
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """One thing that is wrong."""

    effect: Effect
    where: str
    """The setting, as its user wrote it; empty if it is none."""
    problem: str
    place: str = ""
    """`file:line` of the user's code that raised."""
    traceback: str = ""

    def __str__(self) -> str:
        if self.place:
            return f"{self.place}: {self.problem} (while loading {self.where})"
        return ": ".join(filter(None, [self.where, self.problem]))


def finding(effect: Effect, where: str, problem: str) -> CheckFinding:
    """Return a finding about a setting."""
    return CheckFinding(effect=effect, where=where, problem=problem)


@contextlib.contextmanager
def findings_of(
    found: list[CheckFinding], where: str, *, effect: Effect = "stops"
) -> Iterator[None]:
    """Turn what is raised inside into a finding. What is printed goes to standard error.

    Args:
        found: Gets it.
        where: The setting under which the code was named.
        effect: What comes of an error.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):  # ours is for machines, too
            yield
    except ConfigError as error:
        found.append(finding(effect, error.key, error.problem))
    except OnceError as error:
        found.append(finding(effect, "", str(error)))
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        found.append(_of_user(error, where, effect))


def _of_user(error: BaseException, where: str, effect: Effect) -> CheckFinding:
    ours = "langgraph-once: "
    if isinstance(error, SystemExit) and str(error).startswith(ours):
        return finding(effect, where, str(error).removeprefix(ours))
    start, place = _user_code(error.__traceback__)
    message = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        start, place, message = None, f"{_shown(error.filename)}:{error.lineno}", error.msg
    return CheckFinding(
        effect=effect,
        where=where,
        problem=": ".join(filter(None, [type(error).__name__, " ".join(message.split())])),
        place=place,
        traceback="".join(traceback.format_exception(type(error), error, start)),
    )


def _user_code(start: TracebackType | None) -> tuple[TracebackType | None, str]:
    """The part of a traceback that begins in the user's code, and the last line of it there."""
    first, place = None, ""
    each = start
    while each is not None:
        file = each.tb_frame.f_code.co_filename
        if _is_user_file(file):
            first = first or each
            place = f"{_shown(file)}:{each.tb_lineno}"
        each = each.tb_next
    return first or start, place


def _is_user_file(file: str) -> bool:
    path = Path(file)
    if file.startswith("<") or _INSTALLED & {*path.parts} or path.is_relative_to(_OURS):
        return False
    return not path.is_relative_to(sysconfig.get_path("stdlib"))


def _shown(file: str) -> str:
    path = Path(file).absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


# A factory may load a model, and a check must not hang on one.
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


_CHECKPOINTER = "langgraph.json: checkpointer.path"
_STORE = "langgraph.json: store.path"
_APP = "langgraph.json: http.app"
_MADE = {_CHECKPOINTER: ("saver", BaseCheckpointSaver), _STORE: ("store", BaseStore)}


def check_sockets(manifest: Manifest) -> Iterator[CheckFinding]:
    """Yield what is wrong with the checkpointer, the store and the app."""
    for where, component, key, ours in (
        (_CHECKPOINTER, manifest.checkpointer, "path", SAVER),
        (_STORE, manifest.store, "path", STORE),
        (_APP, manifest.http, "app", APP),
    ):
        path = component.get(key) if isinstance(component, dict) else None
        if path is None or path == ours:
            continue
        if key == "app" and find_spec("starlette") is None:
            continue  # `missing_server` says so
        found: list[CheckFinding] = []
        with findings_of(found, where):
            if not isinstance(path, str):
                raise ConfigError(where, f"must be a text, got a {type(path).__name__}")
            if path.replace(":", ".") == ours.replace(":", "."):
                raise ConfigError(where, f"must be written as {ours!r}, got {path!r}")
            module = _app(path, ours) if where == _APP else _maker(path, ours, where)
            if "once" in component and not _is_using_ours(module):
                problem = f"has no effect beside this path; ours is {ours!r}"
                found.append(finding("ignored", where.replace(key, "once"), problem))
        yield from found


def _maker(path: str, ours: str, where: str) -> ModuleType:
    if "/" in path or ".py:" in path:
        file, colon, name = path.rpartition(":")
        if not colon:
            raise ConfigError(where, f"must be as './file.py:name', got {path!r}")
        module = load_file(file, where)
    else:
        name = path.rpartition(".")[2]
        if ":" in path or name == path:
            problem = f"must be as 'package.module.name' or './file.py:name', got {path!r}"
            raise ConfigError(where, problem)
        module = _module(path.rpartition(".")[0], path, ours, where)
    _must_make(load_name(module, name, where), where)
    return module


def _must_make(value: Any, where: str, made_by: str = "") -> None:
    """Check that the server gets what it wants from `value`; nothing is entered or awaited."""
    noun, kind = _MADE[where]
    if isinstance(value, kind):
        return None
    if hasattr(value, "__aenter__") or hasattr(value, "__enter__"):
        return None
    if inspect.iscoroutine(value):
        return value.close()
    if not callable(value):
        got = f"{made_by}{type(value).__name__}"
        problem = f"must be a {noun}, or a factory or context manager that makes one, got {got}"
        raise ConfigError(where, problem)
    try:
        made = value()
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise  # from within
        problem = f"is called without arguments, and cannot be: {error}"
    else:
        return _must_make(made, where, "a factory that makes ")
    raise ConfigError(where, problem)


def _app(path: str, ours: str) -> ModuleType:
    from starlette.applications import Starlette  # of the extra `server`

    file, colon, name = path.rpartition(":")
    if not colon:
        raise ConfigError(_APP, f"must be as './file.py:name' or 'module:name', got {path!r}")
    if file.endswith(".py") or Path(file).is_file():
        module = load_file(file, _APP)
    else:
        module = _module(file, path, ours, _APP)
    value = getattr(module, name, None)
    if value is None:
        value = load_name(module, name, _APP)
    if not isinstance(value, Starlette):
        problem = f"must be an app of Starlette or FastAPI, got {type(value).__name__}"
        raise ConfigError(_APP, problem)
    return module


def _module(name: str, path: str, ours: str, where: str) -> ModuleType:
    is_near = name.startswith("langgraph_once") or misspelt(path, [ours]) is not None
    if is_near and _is_absent(name):
        raise ConfigError(where, f"there is no module {name!r}; did you mean {ours!r}?")
    return load_module(name, where)


def _is_absent(name: str) -> bool:
    try:
        return find_spec(name) is None
    except ImportError:
        return True


def _is_using_ours(module: ModuleType) -> bool:
    """Whether a user's module takes something from this package, which may read the settings."""
    owners = (getattr(value, "__module__", "") or "" for value in vars(module).values())
    packages = (value for value in vars(module).values() if isinstance(value, ModuleType))
    names = (*map(str, owners), *(package.__name__ for package in packages))
    return any(name.partition(".")[0] == "langgraph_once" for name in names)
