"""The attributes of an instance: taken and put back without any code of its class.

They live in its `__dict__` and in the slots that its classes declare. Taking asks no property, and
putting back no `__init__`, `__setattr__` or `__post_init__`. So no value drifts from reload to
reload.
"""

from __future__ import annotations

import dataclasses
import functools
import struct
from collections.abc import Callable, Collection
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final, NamedTuple

from langgraph_once.serde.plans.base import check
from langgraph_once.serde.refused import UnavailableError, UnwritableError
from langgraph_once.serde.trust.lookup import declared, imported

_MISSING: Final = dataclasses.MISSING
_HEAP_TYPE: Final = 1 << 9
_POINTER_BYTES: Final = struct.calcsize("P")
_DESCRIPTORS: Final = (GetSetDescriptorType, MemberDescriptorType)
_ROW_STATE: Final = "_sa_instance_state"
"""What SQLAlchemy knows of the session of a row."""
_CACHED_HASH: Final = "_attrs_cached_hash"
"""Where attrs keeps a hash, which is another in the next process."""


class Layout(NamedTuple):
    """Where a class keeps the attributes of its instances."""

    slots: dict[str, MemberDescriptorType]
    has_dict: bool
    transient: frozenset[str]
    """Attributes that are not stored: cached properties, what SQLAlchemy keeps of a session."""
    fields: dict[str, Callable[[], Any] | None]
    """The declared fields, and what makes the default of each; None where there is no default."""
    manager: Any = None
    """What SQLAlchemy sets instances up with."""

    @property
    def is_plain(self) -> bool:
        """Whether the `__dict__` is all there is."""
        special = self.slots or self.transient or self.manager is not None
        return self.has_dict and not special and _CACHED_HASH not in self.fields


def layout(cls: type, base: type = object) -> Layout:
    """Return the layout of a class, without the slots of `base`.

    Raises:
        UnwritableError: It keeps attributes where they cannot be found.
    """
    return _layout(cls, base)


def _find_layout(cls: type, base: type) -> Layout:
    slots: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    for part in reversed(cls.__mro__[: cls.__mro__.index(base)]):
        own = vars(part)
        if not isinstance(own.get("__dict__", _SHOWN), _DESCRIPTORS):
            raise UnwritableError(f"{cls.__qualname__} has a `__dict__` of its own making")
        for name, value in own.items():
            if "__slots__" in own and isinstance(value, MemberDescriptorType):
                if name in slots:
                    raise UnwritableError(f"{cls.__qualname__} declares the slot {name!r} twice")
                slots[name] = value
        seen |= own
    cached = {name for name, value in seen.items() if isinstance(value, functools.cached_property)}
    manager = declared(cls, "_sa_class_manager")
    return Layout(
        slots,
        cls.__dictoffset__ != 0,
        frozenset(cached if manager is None else {*cached, _ROW_STATE}),
        {field.name: _factory(cls, field) for field in _fields(cls)},
        manager,
    )


_layout: Final[Callable[[type, type], Layout]] = functools.lru_cache(4096)(_find_layout)


def take(obj: Any, base: type = object) -> dict[str, Any]:
    """Return the attributes of an object by name, without those in slots of `base`.

    Raises:
        UnwritableError: One could not be put back.
    """
    own = layout(type(obj), base)
    state = dict(object.__getattribute__(obj, "__dict__")) if own.has_dict else {}
    for name in own.transient:
        state.pop(name, None)
    for name, slot in own.slots.items():
        try:
            state[name] = slot.__get__(obj)
        except AttributeError:  # declared and never set
            continue
    if _CACHED_HASH in state:
        state[_CACHED_HASH] = None
    if not {*map(type, state)} <= {str}:
        raise UnwritableError("an attribute whose name is not text")
    return state


def fill(obj: Any, state: Any, base: type = object, absent: Collection[str] = ()) -> None:
    """Give an object without attributes what `take` returned.

    Fields that its class has learned since then get their defaults.

    Args:
        obj: The object.
        state: The attributes.
        base: Whose slots are no attributes.
        absent: Fields that were not set.

    Raises:
        UnavailableError: Its class has no place for an attribute, or a new field has no default.
    """
    own = layout(type(obj), base)
    if not {*map(type, check(state, dict))} <= {str}:
        raise ValueError("an attribute whose name is not text")
    learned = own.fields.keys() - state.keys()
    if learned:
        state = state | _defaults(own, learned.difference(absent))
    rest = {}
    for name, value in state.items():
        slot = own.slots.get(name)
        if slot is None:
            rest[name] = value
        else:
            slot.__set__(obj, value)
    if own.has_dict:
        object.__getattribute__(obj, "__dict__").update(rest)
    elif rest:
        raise UnavailableError(f"there is no attribute {min(rest)!r:.80}; did its class change?")
    set_up(obj, own.manager)


def _defaults(own: Layout, names: set[str]) -> dict[str, Any]:
    made = {}
    for name in own.fields:
        if name in names:
            factory = own.fields[name]
            if factory is None:
                raise UnavailableError(f"it was written before its class had the field {name!r}")
            made[name] = factory()
    return made


def set_up(obj: Any, manager: Any) -> None:
    """Give a row of SQLAlchemy its state: that of a row that no session knows."""
    if manager is not None:
        manager.setup_instance(obj)


def is_record(cls: type) -> bool:
    """Whether a class is a dataclass or an attrs class."""
    return type(declared(cls, "__dataclass_fields__")) is dict or isinstance(
        declared(cls, "__attrs_attrs__"), tuple
    )


def is_subclass(cls: type, base: type) -> bool:
    """Whether all that a class adds to `base` are attributes, and nothing of an extension in C."""
    if base not in cls.__mro__:
        return False
    own = cls.__mro__[: cls.__mro__.index(base)]
    if any(not p.__flags__ & _HEAP_TYPE and p.__basicsize__ > object.__basicsize__ for p in own):
        return False
    slots = sum(
        isinstance(value, MemberDescriptorType)
        for part in own
        if "__slots__" in vars(part)
        for value in vars(part).values()
    )
    words = (cls.__basicsize__ - base.__basicsize__) // _POINTER_BYTES
    # Beside the slots there may be a `__dict__` and a list of weak references. A `struct_time` has
    # items that are no items.
    return words <= slots + 2 and declared(cls, "n_sequence_fields") is None


def is_made_in_python(cls: type, base: type) -> bool:
    """Whether `class` statements alone made a class of `base`."""
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


def asks_no_code(cls: type) -> bool:
    """Whether `obj.__dict__` runs no code of the class of `obj`."""
    return declared(cls, "__getattribute__") is object.__getattribute__


def _fields(cls: type) -> tuple[Any, ...]:
    # attrs classes and dataclasses call name, default and factory of a field alike, or nearly so.
    attributes = declared(cls, "__attrs_attrs__")
    if isinstance(attributes, tuple):
        return attributes
    fields = declared(cls, "__dataclass_fields__")
    return dataclasses.fields(cls) if type(fields) is dict else ()


def _factory(cls: type, field: Any) -> Callable[[], Any] | None:
    checked = declared(cls, "__pydantic_fields__")  # of a dataclass of pydantic
    if type(checked) is dict and field.name in checked:
        return default_of(checked[field.name])
    factory, default = getattr(field, "default_factory", _MISSING), field.default
    attr = imported("attr")
    if attr is not None and type(default) is attr.Factory:
        return None if default.takes_self else default.factory
    if attr is not None and default is attr.NOTHING:
        return None
    if factory is not _MISSING:
        return factory  # type: ignore[no-any-return]  # a dataclass says no more of it
    return None if default is _MISSING else functools.partial(_same, default)


def _same(value: Any) -> Any:
    return value


def default_of(field: Any) -> Callable[[], Any] | None:
    """Return what makes the default of a field of pydantic; None where there is none.

    Nor is there where the factory takes the other values, which bytes may have made up.
    """
    if field.is_required() or field.default_factory_takes_validated_data:
        return None
    return lambda: field.get_default(call_default_factory=True)


class _Shown:
    """Only here for how Python shows a `__dict__`."""


_SHOWN: Final = vars(_Shown)["__dict__"]
