"""What `checkpointer.path`, `store.path` and `http.app` name, as langgraph-api 0.16.7 loads it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from langgraph_once.errors import ConfigError
from langgraph_once.manifest import APP, SAVER, STORE, Manifest, misspelt
from langgraph_once.platform.check.findings import CheckFinding, finding, findings_of
from langgraph_once.platform.targets import load_file, load_module, load_name

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
