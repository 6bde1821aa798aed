"""Which code of a class would run when an instance is rebuilt from its parts.

A row may name any class that is imported. That is safe as long as nothing of the class runs: no
constructor, no descriptor, no metaclass, and nothing when the object is hashed or thrown away.
`docs/security.md` shows, from the tests, what each family of classes lets a row reach.
"""

from __future__ import annotations

import asyncio
import enum
import queue
import threading
import time
import typing
from abc import ABCMeta
from collections import Counter, OrderedDict, defaultdict, deque
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any, Final
from uuid import uuid4

from pydantic import BaseModel

from langgraph_once.serde.trust.lookup import MISSING, declared, imported, names_in

__all__ = [
    "argument_hook",
    "combination_hook",
    "hash_hook",
    "hook_of",
    "is_harmless_factory",
    "making_hook",
]

_METACLASSES_BY_NAME: Final = {
    "pydantic.v1.main": "ModelMetaclass",
    "sqlmodel.main": "SQLModelMetaclass",
}
"""Of packages that may be missing. They act when a class is made, or when it is changed."""
_METACLASSES: Final = (type, ABCMeta, enum.EnumMeta, type(BaseModel), type(typing.Protocol))
_AT_CREATION: Final = frozenset({"__new__", "__init__", "__prepare__"})
"""What a metaclass does when a class is made, not when instances are."""
_DESCRIPTIVE: Final = frozenset(
    {
        *("__module__", "__qualname__", "__doc__", "__annotations__", "__static_attributes__"),
        *("__firstlineno__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
        *("__classcell__", "__parameters__", "__orig_bases__", "__abstractmethods__", "_abc_impl"),
    }
)
_FACTORIES: Final = (
    *(list, dict, set, frozenset, tuple, str, bytes, bytearray, int, float, bool, complex),
    *(deque, OrderedDict, defaultdict, Counter, uuid4, time.time, time.monotonic),
    *(threading.Lock, threading.RLock, threading.Event, threading.Condition),
    *(asyncio.Lock, asyncio.Event, asyncio.Queue, queue.Queue),
)
_ENUM_PARTS: Final = (
    *("_member_map_", "_value2member_map_", "_member_names_", "_member_type_", "_value_"),
    *("_name_", "_flag_mask_", "_all_bits_", "_singles_mask_", "_boundary_", "_inverted_"),
)
_ENUM_HOOKS: Final = (
    *("__new__", "_missing_", "_iter_member_", "_iter_member_by_value_", "_iter_member_by_def_"),
    *("__getattribute__", "__getattr__", "_numeric_repr_", "__hash__", "__eq__"),
    *("__contains__", "__or__", "__setattr__"),
)
_OF_PYDANTIC: Final = (
    *("pydantic._internal._model_construction", "pydantic.main", "pydantic.root_model"),
    *("pydantic.v1.main", "pydantic._internal._dataclasses"),
)
_ASKED_OF_ARGUMENTS: Final = (
    *("__getattribute__", "__getattr__", "__index__", "__int__", "__float__", "__complex__"),
    *("__bool__", "__len__", "__iter__", "__next__", "__getitem__", "__contains__", "__call__"),
    *("__bytes__", "__buffer__", "__fspath__", "__str__", "__format__", "__array__", "keys"),
    *("__array_interface__", "__array_struct__", "__get__", "items", "get", "__eq__", "__hash__"),
    *("__copy__", "__deepcopy__", "__reduce_ex__", "__reduce__", "__lt__", "__instancecheck__"),
)
_OF_PYTHON: Final = (WrapperDescriptorType, MethodDescriptorType, BuiltinFunctionType)
_WITHOUT_HOOKS: Final = (
    *(BaseModel, object, typing.Generic, tuple, list, dict, set, frozenset, str, bytes, int, float),
    *(deque, OrderedDict, defaultdict),
)
"""Bases that run nothing of an application when a generic class gets them as a parameter."""
_LIBRARIES: Final = ("functools", "pydantic")
"""Whose descriptors may stand in a class that gets parameters."""
_SLOTS: Final = (MemberDescriptorType, GetSetDescriptorType)
_GENERATED: Final = ("<string>", "<attrs generated ")
"""What the code of methods that dataclasses and attrs write says that its file is."""


def hook_of(cls: type) -> str | None:
    """Return the hook through which any instance of `cls` would run code; None if there is none.

    Nothing of `cls` runs to find out.
    """
    meta = type(cls)
    if not _is_known(meta):
        hook = _own_dunder(meta)
        if hook is not None:
            return f"{hook} of its metaclass"
    if declared(cls, "__del__") is not None:
        return "__del__"
    if declared(cls, "__class__") is not vars(object)["__class__"]:
        return "__class__"
    attributes = declared(cls, "__dict__", MISSING)
    if attributes is not MISSING and type(attributes) is not GetSetDescriptorType:
        return "__dict__"
    if BaseModel in cls.__mro__:
        slots = names_in(BaseModel)
        for name in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
            found = declared(cls, name)
            if found is not slots[name] and found is not None:  # a `RootModel` has none of them
                return name
    return None


def hash_hook(cls: type) -> str | None:
    """Return what runs of a class when an instance is a key or in a set; None if nothing does.

    The methods that dataclasses, attrs, pydantic and enums write ask for attributes.
    """
    method = declared(cls, "__hash__")
    if method is None or method is vars(object)["__hash__"]:
        names: tuple[str, ...] = ("__eq__",)
    elif type(method) is WrapperDescriptorType:
        names = ("__eq__",)
    else:
        names = ("__hash__", "__eq__", "__getattribute__", "__getattr__")
    for name in names:
        if not _is_harmless(declared(cls, name)):
            return name
    if "__getattribute__" not in names:
        return None
    asked = (*_names_of_fields(cls), "_name_", "__pydantic_private__", "__pydantic_extra__")
    return next((name for name in asked if _is_descriptor(declared(cls, name))), None)


def argument_hook(cls: type) -> str | None:
    """Return what of a class a constructor may run that gets an instance; None if nothing.

    Constructors of listed classes ask their arguments whether they are numbers, paths or arrays.
    """
    for name in _ASKED_OF_ARGUMENTS:
        if not _is_harmless(declared(cls, name)):
            return name
    return hash_hook(cls)


def _names_of_fields(cls: type) -> list[Any]:
    fields = declared(cls, "__dataclass_fields__")
    attributes = declared(cls, "__attrs_attrs__")
    found = [*fields] if type(fields) is dict else []
    return [*found, *(each.name for each in attributes or ())]


def _is_descriptor(value: Any) -> bool:
    return type(value) not in _SLOTS and declared(type(value), "__get__") is not None


def combination_hook(cls: type) -> str | None:
    """Return the method written by hand that runs when flags are combined."""
    for name in _ENUM_HOOKS:
        method = declared(cls, name)
        if type(method) in (staticmethod, classmethod):
            method = method.__func__
        if not _is_harmless(method):
            return name
    return next((name for name in _ENUM_PARTS if _is_descriptor(declared(cls, name))), None)


def making_hook(cls: type) -> str | None:
    """Return the hook that runs when pydantic makes a class of a generic one and parameters."""
    for part in cls.__mro__:
        own = names_in(part)
        if any(part is known for known in _WITHOUT_HOOKS):
            continue
        for name in ("__init_subclass__", "__pydantic_init_subclass__", "__class_getitem__"):
            if name in own:
                return name
        if "__get_pydantic_core_schema__" in own or "__get_pydantic_json_schema__" in own:
            return "__get_pydantic_core_schema__"
        for name, value in own.items():
            getter = declared(type(value), "__get__")
            if not _is_harmless(getter) and getter.__module__.split(".")[0] not in _LIBRARIES:
                return str(name)
    return None if _is_known(type(cls)) else "its metaclass"


def is_harmless_factory(factory: Any) -> bool:
    """Whether this makes an empty container or the like, and nothing of an application runs."""
    return any(factory is known for known in _FACTORIES)


def _is_known(meta: type) -> bool:
    if any(meta is known for known in _METACLASSES):
        return True
    return any(
        (module := imported(where)) is not None and meta is vars(module).get(name)
        for where, name in _METACLASSES_BY_NAME.items()
    )


def _own_dunder(meta: type) -> str | None:
    """Return what a metaclass changes of what Python asks of classes."""
    if type(meta) is not type:
        return "a metaclass"
    for part in meta.__mro__:
        if _is_known(part) or part is object:
            continue
        for name in names_in(part):
            dunder = name.startswith("__") and name.endswith("__")
            if dunder and name not in _AT_CREATION and name not in _DESCRIPTIVE:
                return str(name)
    return None


def _is_harmless(method: Any) -> bool:
    """Whether a method is Python's own, or made by a library, so that no class wrote it."""
    if method is None or type(method) in _OF_PYTHON:
        return True
    return type(method) is FunctionType and _is_generated(method)


def _is_generated(method: FunctionType) -> bool:
    return (
        method.__code__.co_filename.startswith(_GENERATED)
        or method.__module__ in _OF_PYDANTIC
        or method.__module__ == "enum"
    )
