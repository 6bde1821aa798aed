"""What is derived from built-in types: enums, named tuples, containers, text with attributes.

Methods that a subclass overrides are not called: `__new__`, `__iter__`, `__setitem__` and
`__init__` may do anything. The data are the content as the built-in type has it, and the attributes
that the subclass adds.
"""

from __future__ import annotations

import functools
import ipaddress
import pathlib
import uuid
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from ormsgpack import Ext

from langgraph_once.serde.format import Code, head_bytes, object_of
from langgraph_once.serde.limits import check_small, flag_of
from langgraph_once.serde.lookup import declared
from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.base import Form, Maker, Out, Plan, check, parts, version_of
from langgraph_once.serde.plans.records import fill, has_hook, is_subclass, take


class EnumForm(Form):
    """Members of enums, and combinations of flags.

    The data are the name where that is the value, too; or a list of the name, which a combination
    does not have, and the value, which is left out where it may be no value that can be stored.
    """

    name = "enum"

    def matches(self, cls: type) -> bool:
        return Enum in cls.__mro__

    def take(self, obj: Any) -> Any:
        name, value = obj._name_, obj._value_
        if type(name) is str and declared(type(obj), "_member_map_").get(name) is obj:
            if type(value) is str and value == name:
                return name
            return [name, value] if _is_storable(value) else [name]
        if isinstance(obj, Flag) and type(value) is int:
            return [None, value]
        raise UnwritableError("a member that its enum does not have")

    def plan(self, cls: type, name: Any) -> Plan:
        head = head_bytes(self.name, name, version_of(cls))
        known: dict[int, tuple[Any, Ext]] = {}  # by id, since a member is slow to hash

        def write(out: Out, member: Any) -> Ext:
            found = known.get(id(member))
            if found is not None:
                return found[1]
            data = self.take(member)
            try:
                made = object_of(head, data)
            except TypeError:  # a value that is not native
                return out.object(member, head, data)
            if type(data) is str or data[0] is not None:  # there may be 2**64 combinations
                known[id(member)] = member, made
            return made

        return Plan(write, form=self)

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        members = declared(cls, "_member_map_")

        def make(data: Any) -> Any:
            name, *value = [data, data] if type(data) is str else check(data, list)
            if type(name) is str and name in members:
                return members[name]
            if len(value) != 1:
                raise UnavailableError("its class has no such member today")
            return _member(cls, value[0])

        return make

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return data if type(data) is str else check(data, list)[-1]

    def upgraded(self, cls: type, extra: list[Any], upgrade: Callable[[Any], Any]) -> Maker:
        make = self.maker(cls, extra)
        return lambda data: make(upgrade(data if type(data) is str else check(data, list)[0]))


def _member(cls: Any, value: Any) -> Any:
    """Return the member with a value, as LangGraph asks for it."""
    check_small(value)
    try:
        if type(value) is int and issubclass(cls, Flag):
            return flag_of(cls, value)
        return cls(value)
    except Exception as error:  # a class may have its own way to find members
        raise UnavailableError("its class has no such member today") from error


_ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
_MEMBER_VALUES: Final = frozenset(
    {datetime, date, time, timedelta, Decimal, uuid.UUID, complex, Fraction}
)


def _is_storable(value: Any) -> bool:
    """Whether the value of a member is sure to be one that can be stored."""
    kind = type(value)
    if kind in (tuple, list, frozenset, set):
        return all(map(_is_storable, value))
    if kind is dict:
        return all(map(_is_storable, [*value, *value.values()]))
    return kind in _ATOMS or kind in _MEMBER_VALUES


class NamedTupleForm(Form):
    """Named tuples: their items. The head holds the names of the fields.

    The data are a list of the items; or a list of that and of the attributes, behind a True in the
    head.
    """

    name = "namedtuple"

    def matches(self, cls: type) -> bool:
        return tuple in cls.__mro__ and _fields(cls) is not None and is_subclass(cls, tuple)

    def take(self, obj: Any) -> Any:
        items, state = [*tuple.__iter__(obj)], take(obj)
        if len(items) != len(_fields(type(obj)) or ()):
            raise UnwritableError("a named tuple with another number of items than fields")
        return [items, state] if state else items

    def extra(self, obj: Any) -> tuple[Any, ...]:
        names = [*(_fields(type(obj)) or ())]
        return (names, True) if take(obj) else (names,)

    def plan(self, cls: type, name: Any) -> Plan:
        names = [*(_fields(cls) or ())]
        head = head_bytes(self.name, name, version_of(cls), names)
        with_state = head_bytes(self.name, name, version_of(cls), names, True)
        has_dict = cls.__dictoffset__ != 0

        def write(out: Out, obj: Any) -> Ext:
            data = self.take(obj)
            is_long = has_dict and bool(take(obj))
            return Ext(Code.OBJECT, out.nested([with_state if is_long else head, data]))

        return Plan(write, form=self)

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        names = [*(_fields(cls) or ())]

        def make(data: Any) -> Any:
            return _named(cls, *self._parts(data, extra))

        if extra != [names]:
            return make

        def make_whole(data: Any) -> Any:
            is_whole = type(data) is list and len(data) == len(names)
            return tuple.__new__(cls, data) if is_whole else make(data)

        return make_whole

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return self._parts(data, extra)[0]

    def upgraded(self, cls: type, extra: list[Any], upgrade: Callable[[Any], Any]) -> Maker:
        def make(data: Any) -> Any:
            items, state = self._parts(data, extra)
            return _named(cls, upgrade(items), state)

        return make

    def _parts(self, data: Any, extra: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        names, *has_state = extra
        items, state = parts(data, list, dict) if has_state else (check(data, list), {})
        if not {*map(type, check(names, list))} <= {str} or len(names) != len(items):
            raise ValueError("items that have no names")
        return dict(zip(names, items, strict=True)), state


def _named(cls: Any, items: dict[str, Any], state: dict[str, Any]) -> Any:
    """Return a named tuple of items by name, where its class may have learned some since."""
    today = _fields(cls) or ()
    items = (declared(cls, "_field_defaults") or {}) | items
    if items.keys() != {*today}:
        raise UnavailableError("its class has other fields today")
    obj = tuple.__new__(cls, [items[name] for name in today])
    if state:
        fill(obj, state)
    return obj


def _find_fields(cls: type) -> tuple[str, ...] | None:
    fields = declared(cls, "_fields")
    return fields if type(fields) is tuple and {*map(type, fields)} <= {str} else None


_fields: Final[Callable[[type], tuple[str, ...] | None]] = functools.lru_cache(4096)(_find_fields)


class _Base(NamedTuple):
    """A type that others are derived from: its content as a value of its own, and back."""

    take: Callable[[Any], Any]
    kind: type
    """Of the content."""
    make: Callable[[Any, Any], Any] | None = None
    fill: Callable[[Any, Any], None] | None = None
    """Fills a blank instance: the others cannot contain themselves."""
    shown: Callable[[Any], Any] | None = None
    """What LangGraph leaves of the content; None for the content itself."""


def _take_default(obj: Any) -> list[Any]:
    return [dict(dict.items(obj)), vars(defaultdict)["default_factory"].__get__(obj)]


def _fill_default(obj: Any, data: Any) -> None:
    content, factory = parts(data, dict, object)
    if factory is not None and not callable(factory):
        raise ValueError("a default factory that cannot be called")
    defaultdict.__init__(obj, factory)
    dict.update(obj, content)


def _take_deque(obj: Any) -> list[Any]:
    return [[*deque.__iter__(obj)], vars(deque)["maxlen"].__get__(obj)]


def _fill_deque(obj: Any, data: Any) -> None:
    content, most = parts(data, list, object)
    if most is not None and check(most, int) < len(content):
        raise ValueError("a deque longer than its maximal length")
    deque.__init__(obj, content, most)


def _fill_ordered(obj: Any, data: Any) -> None:
    for key, value in data.items():
        OrderedDict.__setitem__(obj, key, value)


def _make_complex(cls: Any, data: Any) -> Any:
    return complex.__new__(cls, *parts(data, float, float))


def _take_complex(obj: Any) -> list[float]:
    content = complex.__complex__(obj)
    return [content.real, content.imag]


def _first(data: Any) -> Any:
    return check(data, list)[0]


def _text_of(content: Any) -> Any:
    return content.isoformat()


def _made_by(base: Any) -> Callable[[Any, Any], Any]:
    return lambda cls, content: base.__new__(cls, content)


def _reduced(base: Any, shown: Callable[[Any], Any]) -> _Base:
    """Return how a type is taken apart that tells what it is made of: C code, which asks nobody."""

    def take_base(obj: Any) -> Any:
        return base(*base.__reduce_ex__(obj, 4)[1])

    def make(cls: Any, content: Any) -> Any:
        return base.__new__(cls, *base.__reduce_ex__(content, 4)[1])

    return _Base(take_base, base, make, shown=shown)


def _initialised(base: Any, text: Callable[[Any], Any], shown: Callable[[Any], Any]) -> _Base:
    """Return how a type is taken apart whose `__init__` alone makes its instances of a text."""

    def make(cls: Any, content: Any) -> Any:
        obj = object.__new__(cls)
        base.__init__(obj, text(content))
        return obj

    return _Base(lambda obj: base(text(obj)), base, make, shown=shown)


def _path(base: Any, pure: Any) -> _Base:
    def make(cls: Any, text: Any) -> Any:
        obj = base.__new__(cls, text)
        if base.__init__ is not object.__init__:  # since Python 3.12
            base.__init__(obj, text)
        return obj

    return _Base(pathlib.PurePath.__str__, str, make, shown=lambda text: [*pure(text).parts])


def _take_uuid(obj: Any) -> uuid.UUID:
    number, safe = (vars(uuid.UUID)[name].__get__(obj) for name in ("int", "is_safe"))
    return uuid.UUID(int=number, is_safe=safe)


def _make_uuid(cls: Any, content: uuid.UUID) -> Any:
    obj = object.__new__(cls)
    uuid.UUID.__init__(obj, int=content.int, is_safe=content.is_safe)
    return obj


_FRACTION_SLOTS: Final[Any] = [vars(Fraction)[name] for name in ("_numerator", "_denominator")]


def _take_fraction(obj: Any) -> Fraction:
    return Fraction(*(slot.__get__(obj) for slot in _FRACTION_SLOTS))


def _make_fraction(cls: Any, content: Fraction) -> Any:
    obj = object.__new__(cls)
    for slot, part in zip(_FRACTION_SLOTS, (content.numerator, content.denominator), strict=True):
        slot.__set__(obj, part)
    return obj


def _take_zone(obj: Any) -> Any:
    return ZoneInfo(vars(ZoneInfo)["key"].__get__(obj))


def _time_shown(content: time) -> dict[str, Any]:
    names = ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
    return {name: getattr(content, name) for name in names}


_NATIVE: Final[dict[type, _Base]] = {
    OrderedDict: _Base(lambda obj: dict(OrderedDict.items(obj)), dict, fill=_fill_ordered),
    defaultdict: _Base(_take_default, list, fill=_fill_default, shown=_first),
    deque: _Base(_take_deque, list, fill=_fill_deque, shown=_first),
    dict: _Base(lambda obj: dict(dict.items(obj)), dict, fill=dict.update),
    list: _Base(lambda obj: list.__getitem__(obj, slice(None)), list, fill=list.extend),
    set: _Base(lambda obj: {*set.__iter__(obj)}, set, fill=set.update, shown=list),
    bytearray: _Base(lambda obj: bytes(memoryview(obj)), bytes, fill=bytearray.extend),
    tuple: _Base(lambda obj: [*tuple.__iter__(obj)], list, _made_by(tuple)),
    frozenset: _Base(
        lambda obj: frozenset(frozenset.__iter__(obj)), frozenset, _made_by(frozenset), shown=list
    ),
    str: _Base(str.__str__, str, _made_by(str)),
    bytes: _Base(lambda obj: bytes.__getitem__(obj, slice(None)), bytes, _made_by(bytes)),
    int: _Base(int.__int__, int, _made_by(int)),
    float: _Base(float.__float__, float, _made_by(float)),
    complex: _Base(_take_complex, list, _make_complex, shown=lambda _: None),
}
"""Of these, LangGraph leaves the native value. It cannot write some of them."""

_VALUES: Final[dict[type, _Base]] = {
    datetime: _reduced(datetime, _text_of),
    date: _reduced(date, lambda content: [content.year, content.month, content.day]),
    time: _reduced(time, _time_shown),
    timedelta: _reduced(timedelta, lambda content: [*timedelta.__reduce__(content)[1]]),
    Decimal: _Base(
        lambda obj: Decimal(Decimal.__str__(obj)), Decimal, _made_by(Decimal), shown=str
    ),
    Fraction: _Base(_take_fraction, Fraction, _make_fraction, shown=lambda _: None),
    uuid.UUID: _Base(_take_uuid, uuid.UUID, _make_uuid, shown=lambda content: content.hex),
    ZoneInfo: _Base(
        _take_zone,
        ZoneInfo,
        lambda cls, content: ZoneInfo.__new__(cls, content.key),
        shown=lambda content: content.key,
    ),
    pathlib.PosixPath: _path(pathlib.PosixPath, pathlib.PurePosixPath),
    pathlib.WindowsPath: _path(pathlib.WindowsPath, pathlib.PureWindowsPath),
    pathlib.Path: _path(pathlib.Path, pathlib.PurePath),
    pathlib.PurePosixPath: _path(pathlib.PurePosixPath, pathlib.PurePosixPath),
    pathlib.PureWindowsPath: _path(pathlib.PureWindowsPath, pathlib.PureWindowsPath),
    pathlib.PurePath: _path(pathlib.PurePath, pathlib.PurePath),
    **{
        base: _initialised(base, base.__str__, str)
        for base in (
            *(ipaddress.IPv4Interface, ipaddress.IPv4Address, ipaddress.IPv4Network),
            *(ipaddress.IPv6Interface, ipaddress.IPv6Address, ipaddress.IPv6Network),
        )
    },
}
"""Types of `plans.values`: their content is one of those. LangGraph calls the class with parts of
it, and leaves these where it cannot.
"""

_BASES: Final = _NATIVE | _VALUES
_BY_NAME: Final = {base.__name__: made for base, made in _BASES.items()}

_NOWHERE, _BESIDE, _INSIDE = range(3)
"""Where the attributes are: there are none, in a list behind the content, or in the content."""


class DerivedForm(Form):
    """Subclasses of built-in types and of values, and the containers of `collections`.

    The data are the content; or a list of it and of the attributes. The head holds the name of the
    base and where the attributes are. A dictionary may be its own `__dict__`.
    """

    name = "derived"
    upgrades_shown = False

    def matches(self, cls: type) -> bool:
        return _base(cls) is not None

    def take(self, obj: Any) -> Any:
        return _taken(obj)[1]

    def extra(self, obj: Any) -> tuple[Any, ...]:
        return _base(type(obj)).__name__, _taken(obj)[0]

    def plan(self, cls: type, name: Any) -> Plan:
        base = _base(cls)
        version = version_of(cls)
        heads = [head_bytes(self.name, name, version, base.__name__, at) for at in range(3)]

        def write(out: Out, obj: Any) -> Ext:
            where, data = _taken(obj)
            out.kept.append(data)
            return out.object(obj, heads[where], data)

        def write_fixed(out: Out, obj: Any) -> Ext:
            where, data = _taken(obj)
            return Ext(Code.OBJECT, out.nested([heads[where], data]))

        if _BASES[base].fill is None:
            return Plan(write_fixed, form=self)
        return Plan(write, has_identity=True, form=self)

    def is_fillable(self, cls: type) -> bool:
        return _BASES[_base(cls)].fill is not None

    def blank(self, cls: type) -> Any:
        return _base(cls).__new__(cls)

    def fill(self, obj: Any, data: Any, extra: list[Any]) -> None:
        base = _base(type(obj))
        content, state, where = _content(data, extra, base)
        if state is not None:
            fill(obj, state, base)
        _BASES[base].fill(obj, content)  # type: ignore[misc]  # only such are fillable
        if where == _INSIDE:
            object.__setattr__(obj, "__dict__", obj)

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        base = _base(cls)
        make_base = _BASES[base].make
        if make_base is None:
            return super().maker(cls, extra)

        def make(data: Any) -> Any:
            content, state, _ = _content(data, extra, base)
            obj = make_base(cls, content)
            if state is not None:
                fill(obj, state, base)
            return obj

        return make

    def shown(self, data: Any, extra: list[Any]) -> Any:
        name, where = _checked_extra(extra)
        content = parts(data, object, object)[0] if where == _BESIDE else data
        base = _BY_NAME.get(name)
        if base is None or base.shown is None or type(content) is not base.kind:
            return content  # a network is walked through without end
        return base.shown(content)


def _base(cls: type) -> Any:
    return next((base for base in cls.__mro__ if base in _BASES), None)


def _taken(obj: Any) -> tuple[int, Any]:
    """Return where the attributes of an object are, and its data."""
    cls = type(obj)
    base = _base(cls)
    if not _is_whole(cls, base):
        raise UnwritableError("it may be more than its content and its attributes")
    content = _BASES[base].take(obj)
    if (
        dict in base.__mro__
        and cls.__dictoffset__
        and object.__getattribute__(obj, "__dict__") is obj
    ):
        return _INSIDE, content
    state = take(obj, base)
    for name in getattr(content, "__dict__", ()):  # those of a network of `ipaddress`, say
        state.pop(name, None)
    return (_BESIDE, [content, state]) if state else (_NOWHERE, content)


def _find_whole(cls: type, base: type) -> bool:
    """Whether content and attributes are all that an instance is.

    Classes with a way of their own to be pickled are not trusted in that, unless they are values:
    the texts of BeautifulSoup refer to their page, and LangGraph leaves the text.
    """
    own = tuple(p for p in cls.__mro__ if p not in base.__mro__ and p.__module__ != "collections")
    return is_subclass(cls, base) and (base in _VALUES or not has_hook(own))


_is_whole: Final[Callable[[type, type], bool]] = functools.lru_cache(4096)(_find_whole)


def _content(data: Any, extra: list[Any], base: Any) -> tuple[Any, Any, int]:
    """Return content, attributes, if any, and where they are."""
    name, where = _checked_extra(extra)
    if name != base.__name__:
        raise UnavailableError(f"its class was derived from {name!r:.80}")
    content, state = parts(data, object, dict) if where == _BESIDE else (data, None)
    return check(content, _BASES[base].kind), state, where


def _checked_extra(extra: list[Any]) -> tuple[str, int]:
    name, where = parts(extra, str, int)
    return name, where


class PartialForm(Form):
    """`functools.partial`: the function, the arguments, those by name, attributes."""

    name = "partial"

    def matches(self, cls: type) -> bool:
        return cls is functools.partial

    def take(self, obj: Any) -> list[Any]:
        return [obj.func, obj.args, obj.keywords, vars(obj)]

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        def make(data: Any) -> Any:
            function, _, keywords, state = parts(data, object, tuple, dict, dict)
            if not issubclass(type(function), _CALLED):
                raise UnavailableError("its function cannot be found here")
            if not {*map(type, (*keywords, *state))} <= {str}:
                raise ValueError("an argument or attribute whose name is not text")
            made: Any = functools.partial(make)
            made.__setstate__(tuple(data))  # takes no partial apart that stands for the function
            return made

        return make


_CALLED: Final = (FunctionType, BuiltinFunctionType, type, functools.partial)

FORMS: Final[tuple[Form, ...]] = (EnumForm(), NamedTupleForm(), PartialForm(), DerivedForm())
"""Asked after numpy and pandas, of whose types some are derived from `float` and `datetime`; before
records, which an enum may be as well.
"""
