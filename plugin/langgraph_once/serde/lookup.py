"""What a name leads to in the modules that are imported, and which ones the project imports.

Nothing is imported here, and no code of what is found runs. A class may answer `getattr` with code
of its own: a metaclass, a descriptor, a lazy module. So names are looked up in the dictionaries
themselves.

Reading a row may import the packages that the project's source imports, and no others. They are
found once, at start, in the text of the files, which runs nothing: `import` and `from` at
the top of a file or in a function, and `import_module("…")`.
"""

from __future__ import annotations

import asyncio
import enum
import importlib
import os
import re
import sys
import threading
import typing
from abc import ABCMeta
from collections import UserDict, UserList, UserString, deque
from collections.abc import Callable, Iterable, Iterator
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path, PurePath
from queue import SimpleQueue
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, NoReturn, ParamSpec, TypeVar
from uuid import UUID

from pydantic import BaseModel, SecretBytes, SecretStr

_complete: Final[set[str]] = set()
"""Modules that were seen imported whole."""

_names_in_module: Final[Any] = vars(ModuleType)["__dict__"].__get__
_names_in_class: Final[Any] = vars(type)["__dict__"].__get__
_mro_of: Final[Any] = vars(type)["__mro__"].__get__
_qualname_of: Final[Any] = vars(type)["__qualname__"].__get__
_module_of: Final[Any] = vars(type)["__module__"].__get__


def find(module: str, path: str) -> Any:
    """Return the class or function that has this name in an imported module; None if none has.

    It is found in the module, or in classes of it, never through a module inside of a module. It
    may call itself something else: a class that was renamed is often kept under its old name.
    LangGraph names a nested class without the classes around it: the only one is found.

    Args:
        module: The name of the module.
        path: The names that lead to it, with points between them.
    """
    place = imported(module)
    if place is None:
        return None
    names = _names_in_module(place)
    found = _found(names, (path,) if "[" in path else path.split("."))
    if found is None and path.isidentifier():
        found = _found(names, _nested_paths(module, len(names)).get(path, "").split("."))
    return found


def _found(names: Any, steps: Iterable[str]) -> Any:
    found: Any = None
    for step in steps:
        found = (names or {}).get(step)
        names = names_in(found) if _is_class(found) else None
    if type(found) is staticmethod:
        found = found.__func__
    return None if names_of(found)[1] is None else found


@lru_cache(256)
def _nested_paths(module: str, _size: int) -> dict[str, str]:
    """Return, by name, where the nested classes of a module are; nothing where there are two."""
    found: dict[str, str] = {}
    around = [("", _names_in_module(sys.modules[module]))]
    for prefix, names in around:
        for name, value in [*names.items()]:
            path = f"{prefix}{name}"
            if _is_class(value) and names_of(value) == (module, path):
                around.append((f"{path}.", names_in(value)))
                if prefix:
                    found[name] = "" if name in found else path
    return found


def top_level(module: str, name: str) -> Any:
    """Return what stands under a name in an imported module, whatever it is; None if nothing."""
    place: Any = sys.modules.get(module)
    return _names_in_module(place).get(name) if issubclass(type(place), ModuleType) else None


def _is_class(target: Any) -> bool:
    return issubclass(type(target), type)


def names_of(target: Any) -> tuple[Any, Any]:
    """Return the module and the qualified name that a class or function says it has, or Nones."""
    if _is_class(target):
        return _module_of(target), _qualname_of(target)
    if type(target) in (FunctionType, BuiltinFunctionType):
        return target.__module__, target.__qualname__
    return None, None


def is_named_today(name: str) -> bool:
    """Whether a class or function of an imported module calls itself so, as `module:Qual.Name`."""
    module, _, path = name.partition(":")
    return names_of(find(module, path)) == (module, path)


def imported(name: str) -> Any:
    """Return a module that is imported, and None for one that is not.

    While another thread imports it, it stands in `sys.modules` without what it will hold: this
    waits until it is done.
    """
    module: Any = sys.modules.get(name)
    if not issubclass(type(module), ModuleType):
        return None
    if name not in _complete:
        if getattr(_names_in_module(module).get("__spec__"), "_initializing", False):
            try:
                return importlib.import_module(name)
            except Exception:  # as the other thread is told
                return None
        _complete.add(name)
    return module


_MODULE_NAME: Final = re.compile(r"[^\W\d]\w{0,250}(?:\.[^\W\d]\w{0,250})*")


def is_module_name(name: str) -> bool:
    """Whether a row may have a module of this name imported.

    Importing `package./other` would run `package` before it fails. And `__main__` is what a package
    runs as a program: importing `unittest.__main__` ends the process.
    """
    return _MODULE_NAME.fullmatch(name) is not None and "__main__" not in name.split(".")


def names_in(cls: type) -> Any:
    """Return what `vars(cls)` is, whatever its metaclass says."""
    return _names_in_class(cls)


def declared(cls: type, name: str) -> Any:
    """Return what a class or a base of it declares under a name, as it stands there; None if none.

    Args:
        cls: The class.
        name: Of the attribute.
    """
    for part in _mro_of(cls):
        names = _names_in_class(part)
        if name in names:
            return names[name]
    return None


_VALUES: Final = (
    *(str, bytes, int, float, complex, list, dict, set, frozenset, tuple, deque, bytearray),
    *(date, time, timedelta, tzinfo, Decimal, Fraction, UUID, PurePath, enum.Enum, BaseException),
    *(IPv4Address, IPv6Address, IPv4Network, IPv6Network, UserDict, UserList, UserString),
    *(BaseModel, SecretStr, SecretBytes),
)
_RECORDS: Final = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__")


def is_data(cls: type) -> bool:
    """Whether instances of a class are data, made by a constructor that is written for data.

    These are models of pydantic, dataclasses, classes of attrs and msgspec, enums, named tuples,
    exceptions, and subclasses of builtin values. The constructor of any other class may do
    whatever it likes with its arguments, as that of `subprocess.Popen` does.
    """
    return (
        any(part in _VALUES for part in _mro_of(cls) if type(part) in _METACLASSES)
        or any(declared(cls, name) is not None for name in _RECORDS)
        or _is_of(_mro_of(cls), "pydantic.v1.main", "BaseModel")
    )


_METACLASSES: Final = (type, ABCMeta, enum.EnumMeta, type(BaseModel), type(typing.Protocol))
_METACLASSES_BY_NAME: Final = (
    ("pydantic.v1.main", "ModelMetaclass"),
    ("sqlmodel.main", "SQLModelMetaclass"),
)
"""Of packages that may be missing."""
_AT_CREATION: Final = frozenset(
    {
        *("__new__", "__init__", "__prepare__", "__setattr__", "__delattr__", "__dir__"),
        *("__module__", "__qualname__", "__doc__", "__annotations__", "__static_attributes__"),
        *("__firstlineno__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
        *("__classcell__", "__parameters__", "__orig_bases__", "__abstractmethods__"),
        *("__classdictcell__", "__type_params__", "__weakref__", "__repr__", "__slots__"),
    }
)
"""What a metaclass does when a class is made or changed, and what only describes it."""


def hook_of(cls: type) -> str | None:
    """Return the hook through which any instance of a class runs code; None if there is none.

    Nothing of the class runs to find out.
    """
    meta = type(cls)
    if meta not in _METACLASSES and not any(
        _is_of((meta,), *each) for each in _METACLASSES_BY_NAME
    ):
        for part in _mro_of(meta):
            for name, value in names_in(part).items():
                is_dunder = name.startswith("__") and name.endswith("__")
                if is_dunder and name not in _AT_CREATION and not _is_of_python(part, value):
                    return f"{name} of its metaclass"
    if declared(cls, "__del__") is not None:
        return "__del__"
    for name in ("__class__", "__dict__"):
        own = declared(cls, name)
        if type(own) is property or type(own) is FunctionType:
            return name
    return None


def _is_of_python(part: type, value: Any) -> bool:
    return part in (object, *_METACLASSES) or type(value) in (
        *(WrapperDescriptorType, MethodDescriptorType, BuiltinFunctionType),
        *(type(names_in(type)["__dict__"]), type(names_in(type)["__basicsize__"])),
    )


def _is_of(classes: tuple[type, ...], module: str, name: str) -> bool:
    """Whether one of these is the class of that name in a module, if that is imported."""
    place = imported(module)
    found = None if place is None else _names_in_module(place).get(name)
    return found is not None and any(cls is found for cls in classes)


_FOREIGN: Final = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__"})
_MAX_SOURCE_BYTES: Final = 2 * 1024 * 1024
"""Larger files hold data."""
# A project has fewer of its own; a folder of data may have more.
_MAX_FILES: Final = 20_000

_IMPORT: Final = re.compile(
    rb"(?:^|[:;])[ \t\f]*"  # also in one line with others: `try: import a`
    rb"(?:from[ \t\f]+(?:\\\s*)?(\.*)([\w.]*)[ \t\f]*(?:\\\s*)?import\b"
    rb"|import[ \t\f]+(?:\\\s*)?([^\n#;]+))"
    rb"|(?:import_module|__import__)\(\s*[rub]?[\"'](\.*)([\w.]*)",
    re.MULTILINE,
)
_IMPORTED: Final = re.compile(rb"(?:^|,)[ \t\f\\]*(\w+)")


def imported_packages(places: Iterable[str]) -> frozenset[str]:
    """Return the names of the packages that the files in these places import.

    A package of the project itself counts as well, where a file in it imports relatively.

    Args:
        places: Folders, and files that end in `.py`. Links are followed.
    """
    return off_loop(_of_places, tuple(places)) if places else frozenset()


@lru_cache(16)  # a serializer is made anew for each set of schemas
def _of_places(places: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    for count, file in enumerate(_files_in(places)):
        if count >= _MAX_FILES:
            break
        found.update(_imports_of(file))
    return frozenset(found)


def _files_in(places: Iterable[str]) -> Iterator[Path]:
    """Yield the files of source in folders, each folder once, and those that are named."""
    seen: set[str] = set()
    for place in places:
        if place.endswith(".py"):
            yield Path(place)
            continue
        for folder, inner, names in os.walk(place, followlinks=True):
            real = os.path.realpath(folder)
            if real in seen:
                inner.clear()
                continue
            seen.add(real)
            inner[:] = [each for each in inner if each not in _FOREIGN and each[:1] != "."]
            yield from (Path(folder, name) for name in names if name.endswith(".py"))


def _imports_of(file: Path) -> Iterator[str]:
    """Yield the packages that a file imports."""
    try:
        if file.stat().st_size > _MAX_SOURCE_BYTES:
            return
        source = file.read_bytes()
    except OSError:
        return
    is_relative = False
    for dots, origin, several, called_dots, called in _IMPORT.findall(source):
        is_relative = is_relative or bool(dots or called_dots)
        names = _IMPORTED.findall(several) if several else [origin or called]
        if not (dots or called_dots):
            yield from (name.decode(errors="replace").partition(".")[0] for name in names if name)
    if is_relative:
        yield _package_of(file)


def _package_of(file: Path) -> str:
    """Return the outermost package that a file is in."""
    folder = file.absolute().parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder.name


P = ParamSpec("P")
T = TypeVar("T")


def off_loop(ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `ask` returns or raise what it raises, run outside of any event loop.

    Checkpoints are encoded in the event loop, where `langgraph dev` raises `BlockingError` for
    reading a link or asking for the working directory (langgraph-api 0.16.7). A synchronous call
    cannot await the answer. So a thread asks for it. Whoever asks keeps the answer.

    It imports nothing: a module that this thread is importing would wait for this thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return ask(*args, **kwargs)
    answers: SimpleQueue[Callable[[], T]] = SimpleQueue()

    def run() -> None:
        try:
            answer = ask(*args, **kwargs)
        except BaseException as error:  # raised where it was asked
            answers.put(partial(_raise, error))
        else:
            answers.put(lambda: answer)

    threading.Thread(target=run, name="once-disk", daemon=True).start()
    return answers.get()()


def _raise(error: BaseException) -> NoReturn:
    raise error
