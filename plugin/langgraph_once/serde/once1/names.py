"""Classes and functions, and the names that stand for them in the bytes."""

from __future__ import annotations

import importlib
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES

from langgraph_once.errors import PayloadError, TypeNotAllowedError
from langgraph_once.serde.once1.adapters import SAFE_CLASSES
from langgraph_once.serde.once1.parametrised import Parametrised, is_parametrised, parse
from langgraph_once.serde.once1.protocol import UnwritableError
from langgraph_once.serde.storable import find_storable

if TYPE_CHECKING:
    from langgraph_once.serde.allowlist import Allowlist

__all__ = ["MAX_NAME_CHARS", "class_names", "is_allowed", "is_function", "load", "name_of"]

MAX_NAME_CHARS: Final = 500
"""Of longer names, nothing is looked up."""


def is_function(value: object) -> bool:
    """Whether `value` is a function, and neither a method nor bound to anything."""
    if isinstance(value, BuiltinFunctionType):
        return isinstance(value.__self__, ModuleType) or value.__self__ is None
    return type(value) is FunctionType


def name_of(target: Any) -> str:
    """Return `module:Qual.Name` of a class or function; of a parametrised model, its parts' too.

    Raises:
        UnwritableError: Looking that name up does not lead to it.
    """
    if isinstance(target, type) and vars(target).get("__pydantic_generic_metadata__", {}).get(
        "origin"
    ):
        name = str(Parametrised.of(target, name_of))
        leads_back = parse(name).make(_found) is target
    else:
        name = f"{target.__module__}:{target.__qualname__}"
        leads_back = _found(name) is target
    if len(name) > MAX_NAME_CHARS:
        raise UnwritableError("its name is too long")
    if not leads_back:
        raise UnwritableError(
            f"{name} does not lead back to it; define it at the top of a module, under its own name"
        )
    return name


def class_names(name: str) -> tuple[str, ...]:
    """Return the names of the classes that the class called `name` is made of; mostly it alone.

    Raises:
        ValueError: No class can have that name.
    """
    return tuple(parse(name).class_names()) if is_parametrised(name) else (name,)


def load(name: str, allowlist: Allowlist, *, tag: str) -> Any:
    """Return the class or function that the bytes name, importing its module if it is allowed.

    Raises:
        TypeNotAllowedError: It is not; nothing was imported.
        PayloadError: It is, but it is not there.
    """
    module, colon, path = name.partition(":")
    parts = _parts(path)
    if not (module and colon and all(parts)) or len(name) > MAX_NAME_CHARS:
        raise PayloadError("no class or function can have the name that is given", tag=tag)
    marked = find_storable(module, parts)
    if marked is not None:
        return marked
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


def is_allowed(name: str, allowlist: Allowlist) -> bool:
    """Whether `load` would load the class called `name` under strict enforcement."""
    module, _, path = name.partition(":")
    parts = _parts(path)
    if (module, path) in SAFE_CLASSES or find_storable(module, parts) is not None:
        return True
    listed = allowlist.paths.get((module, parts[-1]))
    if listed is None:
        return (module, parts[-1]) in SAFE_MSGPACK_TYPES
    return len(listed) == 1 or listed == parts


def _check(module: str, parts: tuple[str, ...], allowlist: Allowlist, *, tag: str) -> None:
    listed = allowlist.paths.get((module, parts[-1]), parts)
    # A schema that names a nested class by its last part means any class of that name.
    name, imported = f"{module}:{'.'.join(parts)}", module in sys.modules
    refused = TypeNotAllowedError(name, tag=tag, imported=imported)
    if len(listed) > 1 and listed != parts:
        raise refused
    try:
        allowlist.check(module, parts[-1], tag=tag, path=".".join(parts))
    except TypeNotAllowedError:
        raise refused from None


def _found(name: str) -> Any:
    """Return what `name` leads to without importing anything; None if nothing."""
    module, _, path = name.partition(":")
    try:
        found: Any = sys.modules[module]
        for part in _parts(path):
            found = getattr(found, part)
    except (KeyError, AttributeError, TypeError):
        return None
    return found


def _parts(path: str) -> tuple[str, ...]:
    # `Page[int]`, a parametrised pydantic model as it was named once, is one name.
    return (path,) if "[" in path else tuple(path.split("."))
