"""What a name leads to in the modules that are imported: no import, and no code of what is found.

A class may answer `getattr` with code of its own: a metaclass, a descriptor, a lazy module. So
names are looked up in the dictionaries themselves.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Final

__all__ = [
    "MISSING",
    "attributes_of",
    "declared",
    "file_of",
    "find",
    "find_class",
    "imported",
    "is_module_name",
    "names_in",
    "names_in_module",
    "names_of",
    "nested_classes",
]

MISSING: Final[Any] = object()
"""Stands for what is not there."""

_MODULE_NAME: Final = re.compile(r"[^./\\\0]+(?:\.[^./\\\0]+)*")
_MAX_PART_BYTES: Final = 252
"""With `.py` behind it, no name of a file may be longer."""

_complete: Final[set[str]] = set()
"""Names of modules that were seen imported whole."""

_names_in_module: Final[Any] = vars(ModuleType)["__dict__"].__get__
_names_in_class: Final[Any] = vars(type)["__dict__"].__get__
_mro_of: Final[Any] = vars(type)["__mro__"].__get__
_qualname_of: Final[Any] = vars(type)["__qualname__"].__get__
_module_of: Final[Any] = vars(type)["__module__"].__get__


def find(module: str, path: tuple[str, ...], *, own_name: bool = True) -> Any:
    """Return the class or function of that name; None if there is none.

    It is found in its module, or in classes of it, never through a module inside of a module.

    Args:
        module: The module.
        path: The names that lead to it.
        own_name: Whether it must say itself that this is its name, and not only be imported there.
    """
    found: Any = None
    names = names_in_module(module)
    for part in path:
        found = (names or {}).get(part)
        names = names_in(found) if issubclass(type(found), type) else None
    if type(found) is staticmethod:
        found = found.__func__
    its_module, its_name = names_of(found)
    is_own = its_module == module and its_name == ".".join(path)
    return found if is_own or (its_name is not None and not own_name) else None


def find_class(module: str, path: tuple[str, ...]) -> type | None:
    """Return the class of that name; None if there is none, or it is something else."""
    found = find(module, path)
    return found if issubclass(type(found), type) else None


def names_of(target: Any) -> tuple[Any, Any]:
    """Return the module and the qualified name that a class or function says it has."""
    if issubclass(type(target), type):
        return _module_of(target), _qualname_of(target)
    if type(target) in (FunctionType, BuiltinFunctionType):
        return target.__module__, target.__qualname__
    return None, None


def names_in_module(name: str) -> Any:
    """Return the dictionary of an imported module; None if there is no such module."""
    module = imported(name)
    return _names_in_module(module) if module is not None else None


def imported(name: str) -> Any:
    """Return a module that is imported, and None for one that is not.

    While another thread imports it, it stands in `sys.modules` without what it will hold: this
    waits until it is done.
    """
    module: Any = sys.modules.get(name)
    if not issubclass(type(module), ModuleType):
        return None
    if name in _complete:
        return module
    if getattr(_names_in_module(module).get("__spec__"), "_initializing", False):
        try:
            module = importlib.import_module(name)
        except Exception:  # as the other thread is told
            return None
    else:
        _complete.add(name)
    return module


def file_of(name: str) -> str | None:
    """Return the file of a module in `sys.modules`; None if there is none. Does not wait."""
    module: Any = sys.modules.get(name)
    if not issubclass(type(module), ModuleType):
        return None
    file = _names_in_module(module).get("__file__")
    return file if isinstance(file, str) else None


def is_module_name(name: str) -> bool:
    """Whether a module can have that name.

    Importing `package./other` would run `package` before it fails.
    """
    return _MODULE_NAME.fullmatch(name) is not None and all(
        len(part.encode(errors="replace")) <= _MAX_PART_BYTES for part in name.split(".")
    )


def names_in(cls: type) -> Any:
    """Return what `vars(cls)` is, whatever its metaclass says."""
    return _names_in_class(cls)


def nested_classes(module: str, name: str) -> list[type]:
    """Return the classes of that `__name__` that stand in classes of a module, at any depth."""
    found: list[Any] = []
    seen: set[int] = set()
    todo: list[Any] = [*_classes_in(names_in_module(module) or {}, module)]
    for cls in todo:
        for inner in _classes_in(names_in(cls), module):
            if id(inner) not in seen:
                seen.add(id(inner))
                todo.append(inner)
                path = tuple(_qualname_of(inner).split("."))
                if path[-1] == name and find_class(module, path) is inner:
                    found.append(inner)
    return found


def _classes_in(names: Any, module: str) -> Iterator[Any]:
    for value in [*names.values()]:
        if issubclass(type(value), type) and _module_of(value) == module:
            yield value


def declared(cls: type, name: str, default: Any = None) -> Any:
    """Return what `cls` or a base of it declares under `name`, as it stands there."""
    for part in _mro_of(cls):
        value = names_in(part).get(name, MISSING)
        if value is not MISSING:
            return value
    return default


def attributes_of(obj: Any) -> Iterator[Any]:
    """Yield the values of the attributes of an object, without asking its class for them."""
    for part in _mro_of(type(obj)):
        for descriptor in names_in(part).values():
            if type(descriptor) is MemberDescriptorType:
                try:
                    yield descriptor.__get__(obj)
                except AttributeError:  # it was never set
                    continue
    try:
        yield from object.__getattribute__(obj, "__dict__").values()
    except AttributeError:
        return
