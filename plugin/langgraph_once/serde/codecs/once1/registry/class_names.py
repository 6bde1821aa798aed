"""Classes and functions, and the names that stand for them in the bytes."""

from __future__ import annotations

import importlib
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from langgraph_once.errors import PayloadError
from langgraph_once.serde.codecs.once1.registry.parametrised import (
    Parametrised,
    is_parametrised,
    parse,
)
from langgraph_once.serde.codecs.once1.types import SAFE_CLASSES
from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError
from langgraph_once.serde.trust.lookup import find
from langgraph_once.serde.trust.policy import Trust

if TYPE_CHECKING:
    from langgraph_once.serde.trust.allowlist import Allowlist

__all__ = [
    "MAX_NAME_CHARS",
    "astray",
    "class_names",
    "is_function",
    "leads_to",
    "load",
    "name_of",
    "trust_next_time",
]

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
        UnwritableError: No name can stand for it.
    """
    generic = (
        vars(target).get("__pydantic_generic_metadata__") if isinstance(target, type) else None
    )
    if generic and generic.get("origin"):
        name = str(Parametrised.of(target, name_of))
    else:
        name = f"{target.__module__}:{target.__qualname__}"
    if len(name) > MAX_NAME_CHARS:
        raise UnwritableError("its name is too long")
    return name


def leads_to(name: str, target: Any) -> bool:
    """Whether looking `name` up, in what is imported, leads to `target`."""
    if not is_parametrised(name):
        return _found(name) is target
    try:
        return parse(name).make(_found) is target
    except Exception:  # a part of it is not there
        return False


def astray(name: str) -> UnwritableError:
    """Return the error that says that a name does not lead to what it was taken from."""
    return UnwritableError(
        f"{name} does not lead back to it; define it at the top of a module, under its own name"
    )


def class_names(name: str) -> tuple[str, ...]:
    """Return the names of the classes that the class called `name` is made of; mostly it alone.

    Raises:
        ValueError: No class can have that name.
    """
    return tuple(parse(name).class_names()) if is_parametrised(name) else (name,)


def load(name: str, allowlist: Allowlist, *, tag: str) -> tuple[Any, Trust]:
    """Return the class or function that the bytes name, and how it stands.

    Raises:
        TypeNotAllowedError: It may not; nothing was imported but what is the project's own.
        PayloadError: It may, but it is not there.
    """
    module, colon, path = name.partition(":")
    parts = _parts(path)
    if not (module and colon and all(parts)) or len(name) > MAX_NAME_CHARS:
        raise PayloadError("no class or function can have the name that is given", tag=tag)
    if (module, path) not in SAFE_CLASSES:
        return allowlist.load(module, parts, tag=tag)
    try:
        found: Any = importlib.import_module(module)
        for part in parts:
            found = getattr(found, part)
    except Exception as error:
        raise PayloadError(f"{name} was not found", tag=tag) from error
    return found, Trust.LISTED


def trust_next_time(name: str, allowlist: Allowlist) -> Trust:
    """Return how the class called `name` will stand in a new process."""
    module, _, path = name.partition(":")
    if (module, path) in SAFE_CLASSES:
        return Trust.LISTED
    return allowlist.next_time(module, _parts(path))


def _found(name: str) -> Any:
    """Return what `name` leads to without importing anything; None if nothing."""
    module, _, path = name.partition(":")
    return find(module, _parts(path))


def _parts(path: str) -> tuple[str, ...]:
    # `Page[int]`, a parametrised pydantic model as it was named once, is one name.
    return (path,) if "[" in path else tuple(path.split("."))
