"""Objects that are their attributes: dataclasses, attrs classes, ordinary ones.

They are made without `__init__`: `__post_init__`, validators and converters ran when the object was
made, and would change values that they have changed already. Fields that are no arguments come back
too, and so do attributes that were added later.
"""

from __future__ import annotations

import copyreg
from collections import UserString
from types import SimpleNamespace
from typing import Any, Final

from langgraph_once.serde.format import head_bytes
from langgraph_once.serde.plans.attributes import (
    asks_no_code,
    fill,
    is_made_in_python,
    is_record,
    is_subclass,
    layout,
    take,
)
from langgraph_once.serde.plans.base import Form, Maker, Plan, check, parts, version_of
from langgraph_once.serde.refused import UnavailableError, UnwritableError
from langgraph_once.serde.trust.lookup import declared, imported

_new: Final = object.__new__
_set: Final = object.__setattr__

_HOOKS: Final = (
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getnewargs__", "__getnewargs_ex__"),
)
"""By them a class says that its attributes are not the whole of it."""


def has_hook(parts: tuple[type, ...]) -> bool:
    """Whether one of these classes says how `pickle` has to take its instances apart."""
    return any(hook in vars(part) for part in parts for hook in _HOOKS)


class RecordForm(Form):
    """Dataclasses and attrs classes.

    The data are the attributes by name; or a list of these, and of the fields that are not set.
    """

    name = "record"

    def matches(self, cls: type) -> bool:
        return is_record(cls)

    def take(self, obj: Any) -> Any:
        if not is_subclass(type(obj), object):
            raise UnwritableError("it is more than its attributes")
        state = take(obj)
        absent = layout(type(obj)).fields.keys() - state.keys()
        return [state, sorted(absent)] if absent else state

    def blank(self, cls: type) -> Any:
        return _new(cls)

    def fill(self, obj: Any, data: Any, extra: list[Any]) -> None:
        state, absent = (data, []) if type(data) is dict else parts(data, dict, list)
        fill(obj, state, absent=absent)

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return data if type(data) is dict else parts(data, dict, list)[0]

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        make = super().maker(cls, extra)
        own = layout(cls)
        if not own.is_plain:
            return make
        names = own.fields.keys()

        def make_whole(data: Any) -> Any:
            if type(data) is not dict or data.keys() != names:
                return make(data)
            obj: Any = _new(cls)
            _set(obj, "__dict__", data)
            return obj

        return make_whole

    def plan(self, cls: type, name: Any) -> Plan:
        own = layout(cls)
        if not own.is_plain or not asks_no_code(cls) or not is_subclass(cls, object):
            return super().plan(cls, name)
        head = head_bytes(self.name, name, version_of(cls))
        names = own.fields.keys()

        def plain_head(obj: Any) -> bytes | None:
            return head if obj.__dict__.keys() == names else None

        write = super().plan(cls, name).write
        return Plan(write, plain_head, holding=tuple(names), has_identity=True, form=self)


_ROOTS: Final = (object, SimpleNamespace, UserString)
"""Have hooks, which say nothing that their attributes do not."""


class ObjectForm(Form):
    """Ordinary objects, which say nothing of how to take them apart."""

    name = "object"

    def matches(self, cls: type) -> bool:
        own = tuple(part for part in cls.__mro__ if part not in _ROOTS)
        return (
            cls is not object
            and is_made_in_python(cls, _root(cls))
            and cls not in copyreg.dispatch_table
            and not has_hook(own)
            and not any("__del__" in vars(part) for part in own)  # has something to clean up
        )

    def take(self, obj: Any) -> dict[str, Any]:
        return take(obj)

    def blank(self, cls: type) -> Any:
        return _root(cls).__new__(cls)

    def fill(self, obj: Any, data: Any, extra: list[Any]) -> None:
        fill(obj, data)

    def shown(self, data: Any, extra: list[Any]) -> Any:
        is_secret = type(data) is dict and data.keys() == {"_secret_value"}
        return data["_secret_value"] if is_secret else data


def _root(cls: type) -> Any:
    return SimpleNamespace if SimpleNamespace in cls.__mro__ else object


class StructForm(Form):
    """Structs of msgspec: their fields, which their class is called with."""

    name = "struct"

    def matches(self, cls: type) -> bool:
        msgspec = imported("msgspec")
        return msgspec is not None and msgspec.Struct in cls.__mro__

    def take(self, obj: Any) -> dict[str, Any]:
        names = type(obj).__struct_fields__
        if not is_subclass(type(obj), imported("msgspec").Struct) or type(obj).__dictoffset__:
            raise UnwritableError("a struct that is more than its fields")
        return {
            name: value for name in names if (value := getattr(obj, name, _UNSET)) is not _UNSET
        }

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        def make(data: Any) -> Any:
            try:
                return cls(**check(data, dict))
            except TypeError as error:
                raise UnavailableError("its class has other fields today") from error

        return make

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return data


_UNSET: Final = object()


_STOCK_METHODS: Final = ("model_dump", "get_secret_value", "dict", "_asdict")
"""LangGraph writes an object that has one of them. So those are left to LangGraph's form."""


class ReducedForm(Form):
    """Objects that say by `__reduce__` what call of their class makes them: `pickle`'s way.

    The data are whether `__new__` is called, the arguments, and the state that is set then. Calls
    of anything else than the class are refused, and so are items that are added one by one.
    """

    name = "reduced"
    calls = True

    def matches(self, cls: type) -> bool:
        is_known = any(declared(cls, name) is not None for name in _STOCK_METHODS)
        return not is_known and has_hook(tuple(p for p in cls.__mro__ if p is not object))

    def take(self, obj: Any) -> list[Any]:
        try:
            function, args, state, *rest = (*obj.__reduce_ex__(4), None)[:6]
        except Exception as error:  # it is code of its class
            raise UnwritableError("it cannot be taken apart") from error
        is_new = function is copyreg.__newobj__ and args[0] is type(obj)  # type: ignore[attr-defined]  # typeshed leaves it out
        if (function is not type(obj) and not is_new) or any(part is not None for part in rest):
            raise UnwritableError("it is made by something else than a call of its class")
        return [is_new, [*args[is_new:]], state]

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        def make(data: Any) -> Any:
            is_new, args, state = parts(data, bool, list, object)
            obj = cls.__new__(cls, *args) if is_new else cls(*args)
            if state is not None:
                _set_state(obj, state)
            return obj

        return make


def _set_state(obj: Any, state: Any) -> None:
    hook = getattr(obj, "__setstate__", None)
    if hook is not None:
        hook(state)
        return
    values, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    for name, value in {**(values or {}), **(slots or {})}.items():
        _set(obj, name, value)


FORMS: Final[tuple[Form, ...]] = (RecordForm(), StructForm(), ObjectForm(), ReducedForm())
"""In this order, but for subclasses of built-in types, which come before ordinary objects."""
