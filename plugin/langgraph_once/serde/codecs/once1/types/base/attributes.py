"""The attributes of an instance: read and written without running any code of its class.

They live in its `__dict__` and in the slots that its classes declare. Reading takes them from
there, not from properties; writing puts them back there, without `__init__`, `__setattr__` or
`__post_init__`, so that no value drifts from reload to reload.
"""

from __future__ import annotations

import dataclasses
import functools
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import (
    UnreadableError,
    UnwritableError,
    plain,
)
from langgraph_once.serde.trust.class_code import is_harmless_factory
from langgraph_once.serde.trust.lookup import MISSING, declared, imported

__all__ = [
    "AttributesFamily",
    "FilledFamily",
    "check_factories",
    "fill_state",
    "is_dataclass",
    "is_plain_subclass",
    "is_python_class",
    "plain_names",
    "slots_of",
    "take_state",
]

_GET_ATTRIBUTE: Final = vars(object)["__getattribute__"]
_HEAP_TYPE: Final = 1 << 9
_POINTER_BYTES: Final = struct.calcsize("P")
_DESCRIPTORS: Final = (GetSetDescriptorType, MemberDescriptorType)
_CACHED_HASH: Final = "_attrs_cached_hash"
"""Where attrs keeps a hash, which is another in the next process."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where a class keeps the attributes of its instances.

    Attributes:
        slots: The slots, under the names by which they are reached.
        has_dict: Whether there is a `__dict__` too.
        transient: Cached properties, which are computed anew.
        guarded: Methods, properties and the like, which no attribute may hide.
        defaulted: Declared attributes with a default, and what makes it.
    """

    slots: dict[str, MemberDescriptorType]
    has_dict: bool
    transient: frozenset[str]
    guarded: frozenset[str]
    defaulted: dict[str, Callable[[], Any]]


class FilledFamily:
    """Makes objects empty, then fills them. So they may be part of a cycle."""

    def __init__(self, *, code_free: bool = False) -> None:
        """Take whether to refuse where it takes code of the class to make a default."""
        self._code_free = code_free

    def decode(self, cls: type, data: Any) -> Any:
        obj = self.blank(cls)
        self.fill(obj, data)
        return obj

    def blank(self, cls: type) -> Any:
        return object.__new__(cls)

    def fill(self, obj: Any, data: Any) -> None:
        fill_state(obj, data, code_free=self._code_free)


class AttributesFamily(FilledFamily):
    """Objects that consist of their attributes alone."""

    def encode(self, obj: Any) -> Any:
        return take_state(obj)

    def fields_of(self, data: Any) -> dict[str, Any]:
        state = data[0] if type(data) is tuple and data else data
        return dict(plain(state, dict))

    def with_fields(self, _cls: type, data: Any, fields: dict[str, Any]) -> Any:
        # The second part, where there is one, says which fields were not set.
        return (fields, *data[1:]) if type(data) is tuple else fields


def take_state(obj: Any) -> Any:
    """Return the attributes of `obj` by name, cached properties left out.

    Where attributes that have a default are not set, their names come second.

    Raises:
        UnwritableError: An attribute that could not be put back.
    """
    layout = _layout(type(obj))
    state = dict(object.__getattribute__(obj, "__dict__")) if layout.has_dict else {}
    for name in layout.transient:
        state.pop(name, None)
    for name, slot in layout.slots.items():
        try:
            state[name] = slot.__get__(obj)
        except AttributeError:  # declared and never set
            continue
    if _CACHED_HASH in state:
        state[_CACHED_HASH] = None
    try:
        _check_names(layout, state)
    except ValueError as error:
        raise UnwritableError(str(error)) from None
    absent = layout.defaulted.keys() - state.keys()
    return (state, tuple(sorted(absent))) if absent else state


def plain_names(cls: type) -> list[str] | None:
    """Return the names of the fields of `cls`, if those are all that an instance ordinarily has.

    Then its `__dict__`, where it has just these keys, is what `take_state` returns.
    """
    layout = _layout(cls)
    names = [field.name for field in _fields(cls)]
    if layout.slots or layout.transient or not layout.has_dict:
        return None
    if declared(cls, "__getattribute__") is not _GET_ATTRIBUTE or not names:
        return None
    return None if layout.guarded & {*names} or _CACHED_HASH in names else names


def fill_state(obj: Any, data: Any, *, code_free: bool = False) -> None:
    """Give `obj` the attributes that `take_state` returned.

    Attributes that its class has learned since then get their defaults.

    Args:
        obj: An instance without attributes.
        data: The attributes.
        code_free: Whether to refuse where it takes code of the class to make a default.

    Raises:
        ValueError: Not attributes that `obj` may have.
    """
    layout = _layout(type(obj))
    state, absent = data if type(data) is tuple and len(data) == 2 else (data, ())
    if type(state) is not dict or type(absent) is not tuple:
        raise ValueError("expected attributes by name")
    _check_names(layout, state)
    learned = [name for name in layout.defaulted if name not in state and name not in absent]
    made = {name: layout.defaulted[name] for name in learned}
    if code_free:
        check_factories(made)
    state = state | {name: make() for name, make in made.items()}
    own = {}
    for name, value in state.items():
        if name in layout.slots:
            layout.slots[name].__set__(obj, value)
        else:
            own[name] = value
    if layout.has_dict:
        object.__getattribute__(obj, "__dict__").update(own)
    elif own:
        raise ValueError(f"there is no attribute {min(own)!r}; did its class change?")


def check_factories(factories: Mapping[str, Callable[..., Any]]) -> None:
    """Refuse factories, by the field whose default they make, that may run any code.

    Raises:
        UnreadableError: One may.
    """
    for name, factory in factories.items():
        is_value = isinstance(factory, functools.partial) and factory.func is _same
        if not is_value and not is_harmless_factory(factory):
            raise UnreadableError(
                f"it was written before its class had {name!r}, whose default is made by code; "
                "add the class to `allowed_types`"
            )


def is_plain_subclass(cls: type, base: type) -> bool:
    """Whether `cls` adds only Python attributes to `base`, and no data of an extension in C."""
    own = cls.__mro__[: cls.__mro__.index(base)]
    if any(not p.__flags__ & _HEAP_TYPE and p.__basicsize__ > object.__basicsize__ for p in own):
        return False
    words = (cls.__basicsize__ - base.__basicsize__) // _POINTER_BYTES
    slots = sum(
        isinstance(value, MemberDescriptorType)
        for part in own
        if "__slots__" in vars(part)
        for value in vars(part).values()
    )
    # Besides the slots there may be a `__dict__` and a list of weak references.
    return words <= slots + 2 and declared(cls, "n_sequence_fields") is None


def is_python_class(cls: type, base: type) -> bool:
    """Whether all that `cls` adds to `base` was made by `class` statements: attributes."""
    size = base.__basicsize__
    for part in cls.__mro__[: cls.__mro__.index(base)]:
        if not part.__flags__ & _HEAP_TYPE:
            return False
        own = vars(part)
        size += _POINTER_BYTES * (
            sum(name in own for name in ("__dict__", "__weakref__"))
            + sum(isinstance(found, MemberDescriptorType) for found in own.values())
        )
    return cls.__basicsize__ <= size


def _find_slots(cls: type) -> dict[str, MemberDescriptorType]:
    slots: dict[str, MemberDescriptorType] = {}
    for part in reversed(cls.__mro__):
        if "__slots__" not in vars(part):
            continue
        for name, value in vars(part).items():
            if not isinstance(value, MemberDescriptorType):
                continue
            if name in slots:
                raise UnwritableError(f"{cls.__qualname__} declares the slot {name!r} twice")
            slots[name] = value
    return slots


def _check_names(layout: _Layout, state: dict[Any, Any]) -> None:
    for name in state:
        if type(name) is not str:
            raise ValueError("an attribute whose name is not text")
        if name in layout.guarded:
            raise ValueError(f"the attribute {name!r} hides one of its class")


def _find_layout(cls: type) -> _Layout:
    slots = slots_of(cls)
    shown = [vars(part)["__dict__"] for part in cls.__mro__ if "__dict__" in vars(part)]
    if not all(isinstance(found, _DESCRIPTORS) for found in shown):
        raise UnwritableError(f"{cls.__qualname__} has a `__dict__` of its own making")
    seen: dict[str, Any] = {}
    for part in reversed(cls.__mro__):
        seen |= vars(part)
    fields = {field.name for field in _fields(cls)}
    return _Layout(
        slots=slots,
        has_dict=cls.__dictoffset__ != 0,
        transient=frozenset(
            name for name, value in seen.items() if isinstance(value, functools.cached_property)
        ),
        guarded=frozenset(
            name
            for name, value in seen.items()
            if (callable(value) or declared(type(value), "__get__") is not None)
            and name not in slots
            and name not in fields
        ),
        defaulted=_defaults(cls, slots),
    )


def _fields(cls: type) -> tuple[Any, ...]:
    # attrs classes and dataclasses call a field's name, default and factory alike, or nearly so.
    attributes = declared(cls, "__attrs_attrs__", MISSING)
    if isinstance(attributes, tuple):
        return tuple(attributes)
    return dataclasses.fields(cls) if is_dataclass(cls) else ()


def is_dataclass(cls: type) -> bool:
    """Whether `cls` is a dataclass, asked of nothing that may answer with code."""
    return type(declared(cls, "__dataclass_fields__")) is dict


def _defaults(cls: type, slots: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Return what makes the default of each field that its class does not hold itself."""
    made: dict[str, Callable[[], Any]] = {}
    for field in _fields(cls):
        factory = getattr(field, "default_factory", dataclasses.MISSING)
        default = field.default
        attr = imported("attr")
        if attr is not None and type(default) is attr.Factory:
            if default.takes_self:
                continue
            factory = default.factory
        elif attr is not None and default is attr.NOTHING:
            continue
        if factory is not dataclasses.MISSING:
            made[field.name] = factory
        elif default is not dataclasses.MISSING and (
            field.name in slots or declared(cls, field.name, MISSING) is MISSING
        ):
            made[field.name] = functools.partial(_same, default)
    return made


def _same(value: Any) -> Any:
    return value


slots_of: Final[Callable[[type], dict[str, MemberDescriptorType]]] = functools.lru_cache(2048)(
    _find_slots
)
"""Return the slots that a class and its bases declare, by the name they are reached by."""

_layout: Final[Callable[[type], _Layout]] = functools.lru_cache(2048)(_find_layout)
