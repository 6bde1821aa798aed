"""How a class of each family is made, with a hook in it or without, and an instance of it."""

from __future__ import annotations

import dataclasses
import enum
import operator
import types
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, cast

import attrs
import numpy as np
import pydantic
import pydantic.dataclasses
import pydantic.v1
from pydantic import AnyUrl, BaseModel, RootModel

from .hooks import Hook, note

__all__ = ["FAMILIES", "Family"]

T = TypeVar("T")
Fields = dict[str, Any]
"""The defaults of the fields by name; `...` is none."""
_GENERIC: Final[Any] = operator.getitem(cast("Any", Generic), T)
_ROOT: Final[Any] = RootModel[Any]


class Copied:
    """A default that notes when it is copied."""

    __hash__ = object.__hash__

    def __deepcopy__(self, _memo: Any) -> Copied:
        note("default copied")
        return self


def _factory() -> str:
    note("default factory")
    return "made"


@dataclasses.dataclass(frozen=True)
class Family:
    """One family.

    Attributes:
        name: As the documentation calls it.
        build: Returns a class, of its name, its hook and its fields.
        make: Returns an instance with these values.
        is_key: Whether instances can be keys.
    """

    name: str
    build: Callable[[str, Hook, Fields], Any]
    make: Callable[[Any, Fields], Any]
    is_key: bool = True


def _class(name: str, bases: tuple[Any, ...], hook: Hook, body: dict[str, Any]) -> Any:
    """Return a class that holds `body` and the hook, of a metaclass with its part of it."""
    real = types.resolve_bases(bases)
    meta = type(real[0]) if real else type
    if hook.meta:
        meta = hook.owner["meta"] = type("Meta", (meta,), dict(hook.meta))
    own = {**body, **hook.namespace}
    return types.new_class(name, bases, {"metaclass": meta}, lambda names: names.update(own))


def _annotations(fields: Fields) -> dict[str, Any]:
    return dict.fromkeys(fields, Any)


def _late(hook: Hook, name: str, default: Any, field: Any, word: str) -> Any:
    """Return what stands in the class body for the default of a field."""
    if name != "late" or hook.late == "value":
        return field(default=default) if default is not ... else field()
    return field(**({word: _factory} if hook.late == "factory" else {"default": Copied()}))


def _body(hook: Hook, fields: Fields, field: Any, word: str) -> dict[str, Any]:
    found = {name: _late(hook, name, default, field, word) for name, default in fields.items()}
    return {**found, "__annotations__": _annotations(fields)}


def _model(name: str, hook: Hook, fields: Fields) -> Any:
    return _class(name, (BaseModel,), hook, _body(hook, fields, pydantic.Field, "default_factory"))


def _private_model(name: str, hook: Hook, fields: Fields) -> Any:
    body = _body(hook, {"value": fields["value"]}, pydantic.Field, "default_factory")
    private = {f"_{name}": default for name, default in fields.items() if name != "value"}
    body |= {
        name: _late(hook, name.lstrip("_"), default, pydantic.PrivateAttr, "default_factory")
        for name, default in private.items()
    }
    return _class(name, (BaseModel,), hook, body)


def _open_model(name: str, hook: Hook, fields: Fields) -> Any:
    body = _body(hook, {"value": ..., "late": fields.get("late", 0)}, pydantic.Field, "default")
    if hook.late != "value":
        body = _body(hook, {"value": ..., "late": 0}, pydantic.Field, "default_factory")
    return _class(name, (BaseModel,), hook, {**body, "model_config": {"extra": "allow"}})


def _root_model(name: str, hook: Hook, _fields: Fields) -> Any:
    return _class(name, (_ROOT,), hook, {})


def _generic_model(name: str, hook: Hook, fields: Fields) -> Any:
    body = _body(hook, fields, pydantic.Field, "default_factory")
    return _class(name, (BaseModel, _GENERIC), hook, body)


def _v1_model(name: str, hook: Hook, fields: Fields) -> Any:
    body = _body(hook, fields, pydantic.v1.Field, "default_factory")
    return _class(name, (pydantic.v1.BaseModel,), hook, body)


def _dataclass(decorate: Any, bases: tuple[Any, ...] = ()) -> Callable[[str, Hook, Fields], Any]:
    def build(name: str, hook: Hook, fields: Fields) -> Any:
        body = _body(hook, fields, dataclasses.field, "default_factory")
        return decorate(_class(name, bases, hook, body))

    return build


def _attrs(decorate: Any) -> Callable[[str, Hook, Fields], Any]:
    def build(name: str, hook: Hook, fields: Fields) -> Any:
        return decorate(_class(name, (), hook, _body(hook, fields, attrs.field, "factory")))

    return build


def _named_tuple(name: str, hook: Hook, fields: Fields) -> Any:
    return _class(name, (namedtuple("Base", fields),), hook, {"__slots__": ()})  # noqa: PYI024  # a class made of a name


def _enum(base: Any) -> Callable[[str, Hook, Fields], Any]:
    def build(name: str, hook: Hook, _fields: Fields) -> Any:
        meta: Any = type(base)
        if hook.meta:
            meta = hook.owner["meta"] = type("Meta", (meta,), dict(hook.meta))
        names = enum.EnumMeta.__prepare__(name, (base,))
        is_text = issubclass(base, str)
        for number, member in enumerate(("A", "B", "C")):
            names[member] = member if is_text else 1 << number
        for key, value in hook.namespace.items():
            names[key] = value
        return meta.__new__(meta, name, (base,), names)

    return build


def _plain(*bases: Any, slots: bool = False) -> Callable[[str, Hook, Fields], Any]:
    def build(name: str, hook: Hook, fields: Fields) -> Any:
        return _class(name, bases, hook, {"__slots__": tuple(fields)} if slots else {})

    return build


def _keywords(cls: Any, values: Fields) -> Any:
    return cls(**values)


def _parametrised(cls: Any, values: Fields) -> Any:
    return cls[int](**values)


def _attributes(content: Any) -> Callable[[Any, Fields], Any]:
    def make(cls: Any, values: Fields) -> Any:
        made = cls(*content)
        for name, value in values.items():
            setattr(made, name, value)
        return made

    return make


def _array(cls: Any, values: Fields) -> Any:
    made = np.array([1, 2]).view(cls)
    made.late = values.get("late")
    return made


def _member(cls: Any, values: Fields) -> Any:
    names = cls._member_map_
    both = isinstance(names["A"], enum.Flag) and isinstance(values["value"], list)
    return cls(3) if both else names["B" if values["value"] == 2 else "A"]


def _subclasses(*kinds: tuple[type, Any, bool]) -> list[Family]:
    return [
        Family(f"subclass of {base.__name__}", _plain(base), _attributes((content,)), is_key=key)
        for base, content, key in kinds
    ]


_dc: Any = dataclasses.dataclass
_ENUMS: Final = (enum.Enum, enum.IntEnum, enum.StrEnum, enum.Flag, enum.IntFlag)

FAMILIES: Final[dict[str, Family]] = {
    family.name: family
    for family in (
        Family("pydantic model", _model, _keywords),
        Family("pydantic model, private attributes", _private_model, _keywords),
        Family("pydantic model, extra values", _open_model, _keywords),
        Family("pydantic model, parametrised", _generic_model, _parametrised),
        Family("RootModel", _root_model, lambda cls, values: cls(values["value"])),
        Family("pydantic v1 model", _v1_model, _keywords),
        Family("pydantic dataclass", _dataclass(pydantic.dataclasses.dataclass), _keywords),
        Family("dataclass", _dataclass(_dc), _keywords, is_key=False),
        Family("dataclass, eq=False", _dataclass(_dc(eq=False)), _keywords),
        Family("dataclass, slots", _dataclass(_dc(slots=True, eq=False)), _keywords),
        Family("dataclass, frozen", _dataclass(_dc(frozen=True)), _keywords),
        Family("dataclass of str", _dataclass(_dc(init=False, eq=False), (str,)), _attributes("a")),
        Family(
            "dataclass of dict",
            _dataclass(_dc(init=False, eq=False), (dict,)),
            _attributes(({"a": 1},)),
            is_key=False,
        ),
        Family(
            "dataclass of an exception",
            _dataclass(_dc(init=False, eq=False), (ValueError,)),
            _attributes("a"),
        ),
        Family("attrs", _attrs(attrs.define(eq=False)), _keywords),
        Family("attrs, no slots", _attrs(attrs.define(slots=False, eq=False)), _keywords),
        Family("attrs, frozen", _attrs(attrs.frozen), _keywords),
        Family("named tuple", _named_tuple, lambda cls, v: cls(*v.values())),
        *(Family(base.__name__, _enum(base), _member) for base in _ENUMS),
        *_subclasses(
            *((str, "a", True), (int, 5, True), (float, 0.5, True), (complex, 1j, True)),
            *((bytes, b"a", True), (tuple, (1, 2), True), (frozenset, {1, 2}, True)),
            *((list, [1, 2], False), (dict, {"a": 1}, False), (set, {1, 2}, False)),
            *((deque, [1, 2], False), (OrderedDict, {"a": 1}, False)),
            *((defaultdict, int, False), (Counter, "aab", False), (bytearray, b"a", False)),
        ),
        Family("object", _plain(), _attributes(())),
        Family("object, slots", _plain(slots=True), _attributes(())),
        Family("exception", _plain(ValueError), _attributes("a")),
        Family("OSError", _plain(OSError), _attributes((1, "b"))),
        Family("exception group", _plain(ExceptionGroup), _attributes(("a", [ValueError(1)]))),
        Family("ChainMap", _plain(ChainMap), _attributes(({"a": 1},)), is_key=False),
        Family("UserDict", _plain(UserDict), _attributes(({"a": 1},)), is_key=False),
        Family("ndarray", _plain(np.ndarray), _array, is_key=False),
        Family("AnyUrl", _plain(AnyUrl), _attributes(("http://a.b",))),
    )
}
"""By name."""
