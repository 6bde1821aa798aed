"""Classes and functions, and the names that stand for them in the bytes."""

from __future__ import annotations

import importlib
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from langgraph_once.errors import PayloadError, TypeNotAllowedError
from langgraph_once.serde.once1.adapters import SAFE_CLASSES

if TYPE_CHECKING:
    from langgraph_once.serde.allowlist import Allowlist

__all__ = ["is_function", "is_listed", "load", "name_of"]

_MAX_NAME_CHARS = 500


def is_function(value: object) -> bool:
    """Whether `value` is a function, and neither a method nor bound to anything."""
    if isinstance(value, BuiltinFunctionType):
        return isinstance(value.__self__, ModuleType) or value.__self__ is None
    return type(value) is FunctionType


def name_of(target: Any) -> str:
    """Return `module:Qual.Name` of a class or function.

    Raises:
        ValueError: Looking that name up does not lead to it.
    """
    module, path = target.__module__, target.__qualname__
    name = f"{module}:{path}"
    if len(name) > _MAX_NAME_CHARS:
        raise ValueError("its name is too long")
    try:
        found: Any = sys.modules[module]
        for part in _parts(path):
            found = getattr(found, part)
    except (KeyError, AttributeError, TypeError):
        found = None
    if found is not target:
        raise ValueError(
            f"{name} does not lead back to it; define it at the top of a module, under its own name"
        )
    return name


def load(name: str, allowlist: Allowlist, *, tag: str) -> Any:
    """Return the class or function that the bytes name, importing its module if it is allowed.

    Raises:
        TypeNotAllowedError: It is not; nothing was imported.
        PayloadError: It is, but it is not there.
    """
    module, colon, path = name.partition(":")
    parts = _parts(path)
    if not (module and colon and all(parts)) or len(name) > _MAX_NAME_CHARS:
        raise PayloadError("no class or function can have the name that is given", tag=tag)
    if (module, path) not in SAFE_CLASSES:
        _check(module, parts, allowlist, tag=tag)
    try:
        found: Any = importlib.import_module(module)
        for part in parts:
            found = getattr(found, part)
    except Exception as error:
        raise PayloadError(
            f"{name} was not found; if it moved, say so in `aliases`", tag=tag
        ) from error
    return found


def is_listed(name: str, allowlist: Allowlist) -> bool:
    """Whether loading `name` goes unreported, so that it may be remembered."""
    module, _, path = name.partition(":")
    return (module, path) in SAFE_CLASSES or (module, _parts(path)[-1]) in allowlist.paths


def _check(module: str, parts: tuple[str, ...], allowlist: Allowlist, *, tag: str) -> None:
    listed = allowlist.paths.get((module, parts[-1]), parts)
    # A schema that names a nested class by its last part means any class of that name.
    refused = TypeNotAllowedError(f"{module}:{'.'.join(parts)}", tag=tag)
    if len(listed) > 1 and listed != parts:
        raise refused
    try:
        allowlist.check(module, parts[-1], tag=tag)
    except TypeNotAllowedError:
        raise refused from None


def _parts(path: str) -> tuple[str, ...]:
    # The name of a parametrised pydantic model, `Page[int]`, is one name.
    return (path,) if "[" in path else tuple(path.split("."))
