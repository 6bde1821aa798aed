"""The content of an extension, read already, becomes the value that it stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from enum import Enum
from ipaddress import IPv4Network, IPv6Network
from operator import mul
from typing import Any, Final, TypeVar, cast

from langgraph_once.errors import PayloadError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.networks import hold, is_network
from langgraph_once.serde.once1.loader import Loader
from langgraph_once.serde.once1.makers import MODEL_CODES, rebuild_linked
from langgraph_once.serde.once1.opaque import Opaque, upstream_extension
from langgraph_once.serde.once1.protocol import (
    CyclicFamily,
    EditableFamily,
    Family,
    UnreadableError,
)
from langgraph_once.serde.once1.table import Table, text_at
from langgraph_once.serde.once1.upgrades import upgraded
from langgraph_once.serde.once1.wire import Ext

__all__ = ["Rebuilder"]


_FEW_KEYS: Final = 1_000
_MOST_COMPARISONS: Final = 10_000_000  # about 0.1 s

_OBJECTS: Final = frozenset({Ext.RECORD, Ext.FAMILY, Ext.VERSIONED})

_WORK: Final[dict[int, int]] = {
    Ext.TUPLE: 8,
    **dict.fromkeys((Ext.MAP, Ext.SET, Ext.FROZENSET, Ext.ADAPTER, Ext.CLASS, Ext.FUNCTION), 20),
    **dict.fromkeys(_OBJECTS, 30),
}
_WORK_OF_A_LEAF: Final = 5
_WORK_OF_AN_ITEM: Final = 6
"""What rebuilding an extension takes, in units of about 0.15 µs.

A value may take as many of them as `max_decoded_objects`: with 10 million, which are 1 to 2 s,
1,250,000 tuples, or 500,000 sets, or 350,000 dates or objects of an application's own classes.
Simple ones that stand in lists take less: 1,600,000.
"""
_SIMPLE: Final[dict[int, Callable[[bytes], Any]]] = {
    Ext.INT: lambda content: int.from_bytes(content, "big", signed=True),
    Ext.STR: lambda content: content.decode("utf-8", "surrogatepass"),
    Ext.BYTEARRAY: bytearray,
    Ext.MEMORYVIEW: memoryview,
}

T = TypeVar("T", bound=Collection[Any])


class Rebuilder:
    """Makes values of extensions, for one blob."""

    __slots__ = ("_left", "_loader", "_opaque", "_table", "_tag", "networks")

    def __init__(self, table: Table, loader: Loader, *, opaque: bool, tag: str) -> None:
        self.networks: list[IPv4Network | IPv6Network] = []
        """Those that nothing may walk through until the whole value stands."""
        self._table = table
        self._left = table.max_objects
        self._loader = loader
        self._opaque = opaque
        self._tag = tag

    def leaf(self, code: int, content: bytes, index: int) -> Any:
        """Return the value of an extension whose content is not msgpack, or is not looked at."""
        self._left -= _WORK.get(code, _WORK_OF_A_LEAF)
        if self._left < 0:
            raise self._too_much()
        if code in _SIMPLE:
            return _SIMPLE[code](content)
        if code == Ext.REF and len(content) == 4:
            return self._table.ref(int.from_bytes(content, "big"))
        if code == Ext.UPSTREAM:
            return self._loader.upstream(*upstream_extension(content), self._tag)
        if code in (Ext.CLASS, Ext.FUNCTION):
            return self._named(code, content, index)
        raise PayloadError(f"unknown or damaged msgpack extension {code}", tag=self._tag)

    def work_on_models(self, count: int) -> None:
        """Take from the budget what it takes to make so many models."""
        self._left -= _WORK_OF_AN_ITEM * count
        if self._left < 0:
            raise self._too_much()

    def nested(self, code: int, content: bytes, items: list[Any], index: int) -> Any:
        """Return the value of an extension whose content is the values `items`."""
        self._left -= _WORK.get(code, _WORK_OF_A_LEAF)
        if self._left < 0:
            raise self._too_much()
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
            self.work_on_models(len(array[-2]))
            return rebuild_linked(array, self._loader.makers(array[0], self._tag))
        if code == Ext.MAP:
            if len(array) % 2:
                raise PayloadError("a key without a value", tag=self._tag)
            keys = self._keys(array[::2])
            made = dict(zip(keys, array[1::2], strict=True))
            return self._table.fill_native(index, self._distinct(made, keys))
        kind = set if code == Ext.SET else frozenset
        found = self._distinct(kind(self._keys(array)), array)
        return self._table.fill_native(index, found)

    def _object(self, code: int, content: bytes, items: list[Any], index: int) -> Any:
        name, class_name = items[0], items[1]
        made = self._table.blank(index) if index >= 0 else None
        if type(made) is Opaque:
            return self._table.opaque(code, content, class_name, index, self._shown(code, items))
        try:
            family, cls, version = self._loader.family(name, class_name, tag=self._tag)
            try:
                data = items[-2]  # the last is the mark of the frame
                if code == Ext.RECORD:
                    data = _tuple(data)
                if version or code == Ext.VERSIONED:
                    data = self._upgraded(items, data, family, cls)
                if made is None:
                    made = family.decode(cls, data)
                    if code == Ext.FAMILY and issubclass(type(made), Enum):
                        self._loader.remember(made, class_name, content)
                    return made
                cast("CyclicFamily", family).fill(made, data)  # `Table` has seen that it is one
            except Exception as error:
                raise self._failure(f"{class_name} (family {name!r})", error) from error
            return made
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
            try:
                value = adapter.decode(items[1])
            except Exception as error:
                raise self._failure(f"a value of the adapter {name!r}", error) from error
        except PayloadError:
            if not self._opaque or type(name) is not str:
                raise
            return self._table.opaque(code, content, name, index, items[1])
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

    def _keys(self, keys: list[Any]) -> list[Any]:
        """Return `keys`, unless so many share a hash that a dict of them would take for ever."""
        if len(keys) > _FEW_KEYS:
            same = Counter(map(hash, keys)).values()
            if sum(map(mul, same, same)) > _MOST_COMPARISONS + 100 * len(keys):
                raise PayloadError("too many items of a set or dict share a hash", tag=self._tag)
        return keys

    def _distinct(self, made: T, items: list[Any]) -> T:
        # Objects that differ may be equal as `Opaque`: none of them may get lost.
        if len(made) != len(items):
            raise PayloadError("a set or dict holds an item or a key twice", tag=self._tag)
        return made

    def _too_much(self) -> SizeLimitError:
        limit = self._table.max_objects
        return SizeLimitError(
            f"the value takes more work to rebuild than `max_decoded_objects` ({limit}) allows",
            limit_objects=limit,
            tag=self._tag,
        )

    def _failure(self, what: str, error: Exception) -> PayloadError:
        told = isinstance(error, UnreadableError)
        reason = f": {error}" if told else f" ({type(error).__name__})"
        return PayloadError(f"{what} could not be rebuilt{reason}", tag=self._tag)


def _tuple(items: Any) -> tuple[Any, ...]:
    if type(items) is not list:
        raise TypeError("a record without an array")
    return tuple(items)
