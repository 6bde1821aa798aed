"""The value of an extension whose content has been read already.

Python frees some objects on the C stack: too many of them inside each other would end the process.
Lists, tuples, dicts, sets and instances are freed safely at any depth. The types that `may_exceed`
looks at are not, when one directly holds another.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection
from enum import Enum
from ipaddress import IPv4Network, IPv6Network
from typing import Any, Final, TypeVar, cast

from langgraph_once.errors import PayloadError, SerdeError, TypeNotAllowedError
from langgraph_once.serde.bounds.costly_values import (
    MAX_PATTERN_UNITS,
    hold,
    is_network,
    take_units,
)
from langgraph_once.serde.bounds.hashing import Hashing
from langgraph_once.serde.bounds.msgpack_headers import text_at
from langgraph_once.serde.codecs.once1.format.layout import MAX_OBJECTS, Ext, pack
from langgraph_once.serde.codecs.once1.format.object_forms import MODEL_CODES, head_parts
from langgraph_once.serde.codecs.once1.format.opaque import Opaque, upstream_extension
from langgraph_once.serde.codecs.once1.read.entries import Table
from langgraph_once.serde.codecs.once1.read.nested_objects import ConstructorCache
from langgraph_once.serde.codecs.once1.read.simple_objects import Head, Maker, rebuild_linked
from langgraph_once.serde.codecs.once1.registry.upgrades import upgraded
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    CyclicFamily,
    EditableFamily,
    Family,
    UnreadableError,
)
from langgraph_once.serde.codecs.once1.types.models.pydantic_models import ModelFamily
from langgraph_once.serde.codecs.once1.types.models.pydantic_v1 import V1ModelFamily
from langgraph_once.serde.codecs.once1.types.models.python_objects import RecordFamily
from langgraph_once.serde.codecs.once1.types.python.containers import ContainerFamily
from langgraph_once.serde.trust.lookup import imported

__all__ = [
    "MAX_LEVELS_IN_EACH_OTHER",
    "WORK_OF_A_FORM",
    "WORK_OF_A_KIND",
    "Nesting",
    "Rebuilder",
    "is_kept",
    "may_exceed",
]

_OBJECTS: Final = frozenset({Ext.RECORD, Ext.FAMILY, Ext.VERSIONED})
_KEEPING: Final = frozenset({RecordFamily.name, ModelFamily.name, V1ModelFamily.name})
"""The families whose objects hold what they are made of, and no copy."""

WORK_OF_A_KIND: Final = 50
"""Units of a `Budget`; what was met before takes none."""

WORK_OF_A_FORM: Final = 4  # for each byte
_WORK_OF_A_FRAME: Final = 1000
"""What making an object of `_FRAMES` takes, or three units for each byte, if that is less: no row
is refused for it that is as long as what is in it."""

_WORK_OF_A_FRAME_BYTE: Final = 3

_FRAMES: Final = frozenset({"arrow", "pandas", "polars"})
_FRAMES_PACKED: Final = [*map(pack, _FRAMES)]
_MANY_BYTES: Final = 128
"""Longer integers take their time to hash."""

_HASHING: Final = frozenset({"generic", "genericalias", "numpy", "pandas"})
"""Adapters and families that hash what they are given, or hand it to who does."""

_PATTERN: Final = "pattern"
_PATTERN_PACKED: Final = bytes([Ext.ADAPTER]) + pack(_PATTERN)

_SIMPLE: Final[dict[int, Callable[[bytes], Any]]] = {
    Ext.INT: lambda content: int.from_bytes(content, "big", signed=True),
    Ext.STR: lambda content: content.decode("utf-8", "surrogatepass"),
    Ext.BYTEARRAY: bytearray,
    Ext.MEMORYVIEW: memoryview,
}

T = TypeVar("T", bound=Collection[Any])


class Rebuilder:
    """Makes values of extensions, for one blob."""

    __slots__ = (
        *("_budget", "_hashing", "_known", "_loader", "_nesting", "_opaque", "_table", "_tag"),
        "networks",
    )

    def __init__(self, table: Table, makers: ConstructorCache, *, opaque: bool, tag: str) -> None:
        self.networks: list[IPv4Network | IPv6Network] = []
        """Those that nothing may walk through until the whole value stands."""
        self._table = table
        self._budget = table.budget
        self._hashing = Hashing(table.budget, makers.loader.allowlist.guard)
        self._nesting = Nesting(tag)
        self._known = makers
        self._loader = makers.loader
        self._opaque = opaque
        self._tag = tag

    def leaf(self, code: int, content: bytes, index: int) -> Any:
        """Return the value of an extension whose content is not msgpack, or is not looked at."""
        if code in _SIMPLE:
            if code == Ext.INT and len(content) > _MANY_BYTES:
                self._hashing.has_large_integers = True
            return _SIMPLE[code](content)
        if code == Ext.REF and len(content) == 4:
            return self._table.ref(int.from_bytes(content, "big"))
        if code == Ext.UPSTREAM:
            return self._loader.upstream(*upstream_extension(content), self._tag, self._budget)
        if code in (Ext.CLASS, Ext.FUNCTION):
            return self._named(code, content, index)
        raise PayloadError(f"unknown or damaged msgpack extension {code}", tag=self._tag)

    def makers(self, kinds: Any) -> list[Maker]:
        """Constructors for items of these kinds; errors as `ConstructorCache.of_kinds`."""
        is_known = type(kinds) is bytes and kinds in self._known.by_kinds
        makers = self._known.of_kinds(kinds, self._tag)
        if not is_known:
            self._budget.take(WORK_OF_A_KIND * len(makers))
        return makers

    def head(self, content: bytes) -> Head:
        """What a `HEAD` stands for; errors as `ConstructorCache.of_kinds`."""
        kinds, indices = head_parts(content)
        if self._table.linked:  # as `rebuild_linked`
            self._budget.take((WORK_OF_A_KIND + WORK_OF_A_FORM) * len(kinds))
            return Head(self._known.of_linked(kinds, self._tag, self._budget.take), indices)
        is_known = kinds in self._known.by_head_kinds
        if not is_known:
            self._budget.take(WORK_OF_A_FORM * len(kinds))
        makers = self._known.of_kinds(kinds, self._tag, with_forms=True)
        if not is_known:
            self._budget.take(WORK_OF_A_KIND * len(makers))
        return self._known.head(content, kinds, makers, indices)

    def nested(self, code: int, content: bytes, items: list[Any], index: int) -> Any:
        """Return the value of an extension whose content is the values `items`."""
        if code in _OBJECTS:
            return self._object(code, content, items, index)
        if code == Ext.ADAPTER:
            return self._adapted(code, content, items, index)
        if code == Ext.UNKNOWN:
            return self._table.opaque(code, content, text_at(content, 0)[0], index, items[1])
        # Not the type of the item: a `REF` to a list would be copied time and again.
        if not (0x90 <= content[0] <= 0x9F or 0xDC <= content[0] <= 0xDD):
            raise PayloadError("an extension that needs an array holds none", tag=self._tag)
        array: list[Any] = items[0]
        if code == Ext.TUPLE:
            return tuple(array)
        if code in MODEL_CODES:
            return rebuild_linked(array, self.makers(array[0]), self._budget.take)
        if code == Ext.MAP:
            if len(array) % 2:
                raise PayloadError("a key without a value", tag=self._tag)
            self._hashing.check(keys := array[::2])
            made = dict(zip(keys, array[1::2], strict=True))
            return self._table.fill_native(index, self._distinct(made, keys))
        kind = set if code == Ext.SET else frozenset
        self._hashing.check(array)
        found = self._distinct(kind(array), array)
        return self._table.fill_native(index, found)

    def _object(self, code: int, content: bytes, items: list[Any], index: int) -> Any:
        name, class_name = items[0], items[1]
        made = self._table.blank(index) if index >= 0 else None
        if type(made) is Opaque:
            return self._table.opaque(code, content, class_name, index, self._shown(code, items))
        try:
            family, cls, version = self._loader.family(name, class_name, tag=self._tag)
            if name in _FRAMES:
                self._budget.take(min(_WORK_OF_A_FRAME, _WORK_OF_A_FRAME_BYTE * len(content)))
            try:
                data = items[-2]  # the last is the mark of the frame
                if code == Ext.RECORD:
                    data = _tuple(data)
                if version or code == Ext.VERSIONED:
                    data = self._upgraded(items, data, family, cls)
                filled = self._filled(family, cls, data, made)
                if code == Ext.FAMILY and issubclass(type(filled), Enum):
                    self._loader.remember(filled, class_name, content)
            except SerdeError:
                raise
            except Exception as error:
                raise self._failure(f"{class_name} (family {name!r})", error) from error
            return filled
        except (PayloadError, TypeNotAllowedError):
            if not self._opaque or made is not None or type(class_name) is not str:
                raise
            return self._table.opaque(code, content, class_name, index, self._shown(code, items))

    def _shown(self, code: int, items: list[Any]) -> Any:
        """Return what an object held, as an `Opaque` shows it."""
        data = tuple(items[-2]) if code == Ext.RECORD and type(items[-2]) is list else items[-2]
        family = self._loader.registry.families.get(items[0]) if type(items[0]) is str else None
        try:
            return family.fields_of(data) if isinstance(family, EditableFamily) else data
        except Exception:  # not what such a family writes
            return data

    def _filled(self, family: Family, cls: type, data: Any, blank: Any) -> Any:
        """Return an object made of `data`, or what stands for it already, filled with it."""
        if family.name == ContainerFamily.name:
            self._check_items(cls, data)
        elif self._table.linked and family.name in _HASHING:
            self._hashing.measure(data)
        if blank is None:
            made = family.decode(cls, data)
        else:
            cast("CyclicFamily", family).fill(blank, data)  # `Table` has seen that it is one
            made = blank
            self._hashing.forget()
        self._nesting.check(made)
        return made

    def _check_items(self, cls: type, data: Any) -> None:
        """Look at the items of a subclass of `set`, which the family is about to hash."""
        if issubclass(cls, set) and type(data) is tuple and data and type(data[0]) is list:
            self._hashing.check(data[0])

    def _upgraded(self, items: list[Any], data: Any, family: Family, cls: type) -> Any:
        registry = self._loader.registry
        return upgraded(
            data,
            items[2] if len(items) == 5 else 0,
            cls=cls,
            name=registry.current_name(items[1].partition("(")[0]),  # without its parameters
            family=family,
            upgrades=registry.upgrades,
        )

    def _adapted(self, code: int, content: bytes, items: list[Any], index: int) -> Any:
        name = items[0]
        try:
            adapter = self._loader.adapter(name, tag=self._tag)
            if self._table.linked and name in _HASHING:
                self._hashing.measure(items[1])
            if name == _PATTERN:
                take_units(items[1], self._budget)
            try:
                value = adapter.decode(items[1])
            except Exception as error:
                raise self._failure(f"a value of the adapter {name!r}", error) from error
        except PayloadError:
            if not self._opaque or type(name) is not str:
                raise
            return self._table.opaque(code, content, name, index, items[1])
        self._nesting.check(value)
        if is_network(value):
            hold(value)
            self.networks.append(value)
        return value

    def _named(self, code: int, content: bytes, index: int) -> Any:
        name = content.decode()
        try:
            if code == Ext.CLASS:
                return self._loader.loaded_class(name, tag=self._tag)
            return self._loader.loaded_function(name, tag=self._tag)
        except (PayloadError, TypeNotAllowedError):
            if not self._opaque:
                raise
            return self._table.opaque(code, content, name, index)

    def _distinct(self, made: T, items: list[Any]) -> T:
        # Objects that differ may be equal as `Opaque`: none of them may get lost.
        if len(made) != len(items):
            raise PayloadError("a set or dict holds an item or a key twice", tag=self._tag)
        return made

    def _failure(self, what: str, error: Exception) -> PayloadError:
        told = isinstance(error, UnreadableError)
        reason = f": {error}" if told else f" ({type(error).__name__})"
        return PayloadError(f"{what} could not be rebuilt{reason}", tag=self._tag)


def may_exceed(data: bytes, allowed: int, *, patterns: bool) -> bool:
    """Whether frames, and `patterns`, may take more of a `Budget`, going by their names alone."""
    units = MAX_PATTERN_UNITS * data.count(_PATTERN_PACKED) if patterns else 0
    # A byte stands in at most so many frames. That settles it for half a megabyte and less.
    if units + MAX_OBJECTS * _WORK_OF_A_FRAME_BYTE * len(data) <= allowed:
        return False
    # Most data has so few of the first bytes of names that these need not be looked for, which
    # takes three times as long.
    return all(
        units + _WORK_OF_A_FRAME * sum(map(data.count, parts)) > allowed
        for parts in ({name[:1] for name in _FRAMES_PACKED}, _FRAMES_PACKED)
    )


def is_kept(code: int, name: Any) -> bool:
    """Whether an object holds what it was made of, instead of copies."""
    # What is no text may take for ever to be hashed.
    return code in _OBJECTS and type(name) is str and name in _KEEPING


def _tuple(items: Any) -> tuple[Any, ...]:
    if type(items) is not list:
        raise TypeError("a record without an array")
    return tuple(items)


MAX_LEVELS_IN_EACH_OTHER: Final = 500


class Nesting:
    """Bounds how deep such values stand in each other, for one blob."""

    __slots__ = ("_levels", "_open", "_tag")

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._levels: dict[int, tuple[int, Any]] = {}
        """How deep each is, and the value, which must live as long as its id is here."""
        self._open = 0
        """How often one holds another of which this is not known yet."""

    def check(self, made: Any) -> None:
        """Note a value that was made, or filled.

        Raises:
            PayloadError: It is too deep.
        """
        if type(made) not in _HELD and not _is_array(made):
            return
        deepest = 0
        for part in _held(made):
            if type(part) in _HELD or _is_array(part):
                level = self._levels.get(id(part))
                self._open += level is None
                deepest = max(deepest, level[0] if level else 0)
        self._levels[id(made)] = deepest + 1, made
        if deepest + 1 + self._open > MAX_LEVELS_IN_EACH_OTHER:
            raise PayloadError("the value is nested too deeply to be freed", tag=self._tag)


_SYNTAX: Final = (SyntaxError, IndentationError, TabError)
_HELD: Final = frozenset({slice, deque, defaultdict, *_SYNTAX})


def _is_array(value: Any) -> bool:
    numpy = imported("numpy")
    return numpy is not None and type(value) is numpy.ndarray and value.dtype.hasobject


def _held(value: Any) -> list[Any]:
    if type(value) is slice:
        return [value.start, value.stop, value.step]
    if type(value) is defaultdict:
        return [value.default_factory, *value.values(), *value]
    if type(value) is deque:
        return [*value]
    if type(value) in _SYNTAX:
        return [getattr(value, name) for name in _FIELDS]
    found: list[Any] = value.ravel().tolist()
    return found


_FIELDS: Final = ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset")
