"""Objects that are their attributes, taken and put back without any code of their classes.

Attributes live in an object's `__dict__` and in the slots that its classes declare. Taking asks no
property, and putting back no `__init__`, `__setattr__` or `__post_init__`. So no value drifts from
reload to reload.

Dataclasses, attrs classes and ordinary objects are their attributes. They are made without
`__init__`: `__post_init__`, validators and converters ran when the object was made, and would
change values that they have changed already. Fields that are no arguments come back too, and so do
attributes that were added later.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import struct
from collections import UserString
from collections.abc import Callable, Collection
from types import GetSetDescriptorType, MemberDescriptorType, SimpleNamespace
from typing import Any, Final, NamedTuple

from langgraph_once.serde.format import head_bytes
from langgraph_once.serde.lookup import declared, imported
from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.base import Form, Maker, Plan, check, parts, version_of

_MISSING: Final = dataclasses.MISSING
# `Py_TPFLAGS_HEAPTYPE`, which a class has that a `class` statement made.
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
    return _is_subclass(cls, base)


def _adds_attributes_only(cls: type, base: type) -> bool:
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


_is_subclass: Final[Callable[[type, type], bool]] = functools.lru_cache(4096)(_adds_attributes_only)


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
            state = obj.__dict__
            return head if type(state) is dict and state.keys() == names else None

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
