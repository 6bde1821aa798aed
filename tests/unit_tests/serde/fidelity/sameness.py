"""Whether two values are the same: equal, of the same types, and so are all their parts.

Not `==`: `1 == True`, `0.0 == -0.0`, and pydantic models compare neither private attributes nor
the classes of what is in them. Every value is taken apart, and the parts are compared down to
numbers, text and bytes. Parts that are one object in the first value must be one in the second.
"""

from __future__ import annotations

import array
import contextlib
import enum
import functools
import gc
import re
import struct
from collections import OrderedDict, deque
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MemberDescriptorType
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types
import pydantic
import pydantic.v1

if TYPE_CHECKING:
    from collections.abc import Iterator

Part = tuple[str, Any]

_LEAVES = (int, str, bytes, type(None), type(...), type(NotImplemented))
_IDENTICAL = (type, FunctionType, BuiltinFunctionType, enum.Enum)
_ADDRESSES = (IPv4Address, IPv6Address, IPv4Network, IPv6Network)
_FIXED = (str, bytes, bytearray, int, float, complex, tuple, frozenset)
_ALIKE = (pydantic.SecretStr, pydantic.SecretBytes, PurePath, *_ADDRESSES)
"""Has attributes, but nobody changes them, so that it may be one object or two."""

_EXCEPTION_FIELDS = (
    *("__cause__", "__context__", "__suppress_context__", "value", "code", "msg", "name", "path"),
    *("errno", "strerror", "filename", "filename2", "characters_written", "lineno", "offset"),
    *("text", "end_lineno", "end_offset", "encoding", "object", "start", "end", "reason"),
    *("message", "exceptions"),
)


def difference(first: Any, second: Any, *, identity: bool = True) -> str | None:
    """Return where and how the values differ; None where they are the same.

    Without `identity`, one object may have become two equal ones, and two one; and an array that
    nobody may write to one that anybody may.
    """
    return _Comparison(identity=identity).run(first, second, "value")


class _Comparison:
    def __init__(self, *, identity: bool) -> None:
        self.identity = identity
        self.pairs: set[tuple[int, int]] = set()
        self.firsts: set[int] = set()
        self.seconds: set[int] = set()
        self.kept: list[Any] = []  # an id is an object's own only while it lives

    def run(self, first: Any, second: Any, path: str) -> str | None:
        if type(first) is not type(second):
            return f"{path}: {type(first).__name__} became {type(second).__name__}"
        if isinstance(first, _IDENTICAL):
            return None if first is second else f"{path}: another {first!r}"
        if type(first) in _LEAVES:
            return None if first == second else f"{path}: {first!r:.60} became {second!r:.60}"
        if (id(first), id(second)) in self.pairs:
            return None  # they are compared already
        if self.identity and _is_mutable(first) and (found := self.merged(first, second)):
            return f"{path}: {found}"
        self.pairs.add((id(first), id(second)))
        self.kept += first, second
        mine, other = self.parts(first), self.parts(second)
        if [label for label, _ in mine] != [label for label, _ in other]:
            return f"{path}: has parts {[a for a, _ in mine]}, then {[a for a, _ in other]}"
        for (label, one), (_, two) in zip(mine, other, strict=True):
            found = self.run(one, two, path + label)
            if found:
                return found
        return None

    def merged(self, first: Any, second: Any) -> str | None:
        """Return what is wrong where one of the two has met another before."""
        if id(first) in self.firsts:
            return "one became two"
        if id(second) in self.seconds:
            return "two became one"
        self.firsts.add(id(first))
        self.seconds.add(id(second))
        return None

    def parts(self, value: Any) -> list[Part]:
        found = [*parts(value)]
        if self.identity or not isinstance(value, np.ndarray):
            return found
        return [(label, part) for label, part in found if label != ".writeable"]


def _is_mutable(value: Any) -> bool:
    """Whether it is kept that `value` is one object: not of a plain list, dictionary or text."""
    if type(value) in (list, dict) or isinstance(value, _FIXED):
        return False
    if isinstance(value, (list, dict, set, np.ndarray)):
        return True
    return hasattr(value, "__dict__") and not isinstance(value, _ALIKE)


def parts(value: Any) -> Iterator[Part]:
    """Yield what `value` consists of, most of it by its built-in kind, then its attributes."""
    for kind, take in _KINDS:
        if isinstance(value, kind):
            yield from take(value)
            break
    if isinstance(value, pydantic.BaseModel):
        yield ".fields_set", value.__pydantic_fields_set__
        yield ".extra", value.__pydantic_extra__
        yield ".private", value.__pydantic_private__
    if not isinstance(value, PurePath) and not type(value).__module__.startswith(
        ("numpy", "pandas", "polars")
    ):
        yield from _attributes(value)  # theirs are caches


def _attributes(value: Any) -> Iterator[Part]:
    cls = type(value)
    if cls not in _MEMBERS:
        _MEMBERS[cls] = _members_of(cls)
    caches, slots = _MEMBERS[cls]
    for name, found in getattr(value, "__dict__", {}).items():
        if name not in caches:
            yield f".{name}", found
    for name, slot in slots:
        if hasattr(value, name):
            yield f".{name}", slot.__get__(value)


_MEMBERS: dict[type, tuple[set[str], list[Part]]] = {}


def _members_of(cls: type) -> tuple[set[str], list[Part]]:
    """Return the names of a class's caches, and its slots."""
    caches = {
        name
        for part in cls.__mro__
        for name, found in vars(part).items()
        if isinstance(found, functools.cached_property)
    }
    caches.add("_attrs_cached_hash")  # another one in the next process
    caches.add("_sa_instance_state")  # what SQLAlchemy knows about a row's session
    slots = [
        (name, slot)
        for part in cls.__mro__
        if "__slots__" in vars(part)
        for name, slot in vars(part).items()
        if isinstance(slot, MemberDescriptorType)
        if name not in caches and not name.startswith("__pydantic")
    ]
    return caches, slots


def _items(value: Any) -> Iterator[Part]:
    for place, item in enumerate(value):
        yield f"[{place}]", item


def _pairs(value: Any) -> Iterator[Part]:
    pairs = OrderedDict.items(value) if isinstance(value, OrderedDict) else dict.items(value)
    for place, (key, item) in enumerate(pairs):
        yield f"(key {place})", key
        yield f"[{key!r}]" if isinstance(key, str) else f"[{place}]", item
    yield ".default_factory", getattr(value, "default_factory", None)


def _members(value: Any) -> Iterator[Part]:
    for item in sorted(value, key=_rank):
        yield "{...}", item


def _rank(item: Any) -> str:
    """Return what puts the members of equal sets in the same order."""
    if isinstance(item, (tuple, frozenset)):
        ranks = map(_rank, item)
        return f"{type(item).__name__}{sorted(ranks) if isinstance(item, frozenset) else [*ranks]}"
    return f"{type(item).__name__}{item!r}"


def _queue(value: deque[Any]) -> Iterator[Part]:
    yield ".maxlen", value.maxlen
    yield from _items(value)


def _moment(value: datetime) -> Iterator[Part]:
    yield "", value.replace(tzinfo=None, fold=0).isoformat()
    yield ".fold", value.fold
    yield ".tzinfo", value.tzinfo


def _zone(value: tzinfo) -> Iterator[Part]:
    """Yield what a zone of another package does: it may keep nothing that can be seen."""
    for month in (1, 7):
        day = datetime(2025, month, 1)  # noqa: DTZ001  # a zone is asked without one
        yield f".utcoffset({month})", value.utcoffset(day)


def _clock(value: time) -> Iterator[Part]:
    yield "", value.replace(tzinfo=None, fold=0).isoformat()
    yield ".fold", value.fold
    yield ".tzinfo", value.tzinfo


def _exception(value: BaseException) -> Iterator[Part]:
    with contextlib.suppress(TypeError):  # `Command` cannot show every value that it holds
        yield "str", sorted(str(value))  # the items of a set have no order
    yield ".args", value.args
    if isinstance(value, pydantic.ValidationError):
        yield ".errors()", [[*line.items()] for line in value.errors()]
    for name in _EXCEPTION_FIELDS:
        if hasattr(BaseException, name) or hasattr(value, name):
            yield f".{name}", getattr(value, name)


def _ndarray(value: np.ndarray[Any, Any]) -> Iterator[Part]:
    yield ".dtype", value.dtype
    yield ".shape", value.shape
    yield ".order", "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    if isinstance(value, np.ma.MaskedArray):
        yield ".data", value.data
        yield ".mask", None if value.mask is np.ma.nomask else np.array(value.mask)
        yield ".fill_value", vars(value)["_fill_value"]
        yield ".hardmask", bool(value.hardmask)
        return
    value = value.view(np.ndarray)
    yield from _cells(value)
    yield ".writeable", value.flags.writeable


def _cells(value: np.ndarray[Any, Any]) -> Iterator[Part]:
    """Yield what is in an array, without the bytes that mean nothing."""
    if value.dtype.names is not None:
        for name in value.dtype.names:
            yield from _cells(value[name])
    elif value.dtype.hasobject:
        yield "[...]", value.ravel().tolist()
    elif value.dtype.char in "gG":
        yield "[...]", repr(value.ravel().tolist())
    else:
        yield ".bytes", value.tobytes()


def _scalar(value: np.generic) -> Iterator[Part]:
    yield ".dtype", value.dtype
    yield from _cells(np.array(value))


def _dtype(value: np.dtype[Any]) -> Iterator[Part]:
    yield "", repr((value, value.num, value.isalignedstruct, value.itemsize, value.type))
    yield ".fields", repr(value.fields)


def _stamp(value: Any) -> Iterator[Part]:
    yield "", repr(value)
    yield ".unit", getattr(value, "unit", None)
    yield ".tz", getattr(value, "tz", None)


def _pandas(value: Any) -> Iterator[Part]:
    yield ".attrs", getattr(value, "attrs", None)
    if isinstance(value, pd.DataFrame):
        yield ".flags", value.flags.allows_duplicate_labels
        yield ".index", value.index
        yield ".columns", value.columns
        for place in range(value.shape[1]):
            yield f".iloc[{place}]", value.iloc[:, place].array
        return
    if isinstance(value, pd.MultiIndex):
        yield ".levels", [*value.levels]
        yield ".codes", [np.array(part) for part in value.codes]
        yield ".names", [*value.names]
        return
    yield ".name", value.name
    yield ".freq", repr(getattr(value, "freq", None))
    if isinstance(value, pd.RangeIndex):
        yield "", (value.start, value.stop, value.step)
        return
    if isinstance(value, pd.Series):
        yield ".flags", value.flags.allows_duplicate_labels
        yield ".index", value.index
    yield ".array", value.array


def _arrow(value: Any) -> Iterator[Part]:
    if isinstance(value, (pa.Schema, pa.Field)):
        yield "", value.to_string(truncate_metadata=False) if isinstance(value, pa.Schema) else ""
        yield ".metadata", value.metadata
        if isinstance(value, pa.Field):
            yield "", (str(value), value.nullable)
    elif isinstance(value, pa.DataType):
        yield "", (str(value), value.id)
    elif isinstance(value, (pa.Table, pa.RecordBatch)):
        yield ".schema", value.schema
        yield ".num_rows", value.num_rows
        yield "[...]", [column.to_pylist() for column in value.columns]
    else:
        yield ".type", value.type
        yield "[...]", value.as_py() if isinstance(value, pa.Scalar) else value.to_pylist()


def _polars(value: Any) -> Iterator[Part]:
    yield "", repr(value.schema if isinstance(value, pl.DataFrame) else (value.name, value.dtype))
    yield "[...]", value.rows() if isinstance(value, pl.DataFrame) else value.to_list()


def _extension_array(value: Any) -> Iterator[Part]:
    yield ".dtype", repr(value.dtype)
    yield ".dtype.na_value", repr(getattr(value.dtype, "na_value", None))
    yield ".freq", repr(getattr(value, "freq", None))
    if isinstance(value, pd.arrays.SparseArray):
        yield ".kind", value.kind
        yield ".sp_values", value.sp_values
        yield ".sp_index", repr(value.sp_index)
    if isinstance(value, pd.Categorical):
        yield ".categories", value.categories
        yield ".codes", np.array(value.codes)
        return
    yield from _items(value)


_ARROW = (pa.Table, pa.RecordBatch, pa.ChunkedArray, pa.Array, pa.Scalar)

_KINDS: tuple[tuple[Any, Any], ...] = (
    ((*_ARROW, pa.Schema, pa.Field, pa.DataType), _arrow),
    ((pl.DataFrame, pl.Series), _polars),
    (np.ndarray, _ndarray),
    (np.generic, _scalar),
    (np.dtype, _dtype),
    ((pd.Timestamp, pd.Timedelta, pd.Period, type(pd.NaT)), _stamp),
    ((pd.DataFrame, pd.Series, pd.Index), _pandas),
    (pd.api.extensions.ExtensionArray, _extension_array),
    (BaseException, _exception),
    (float, lambda value: [("", struct.pack("<d", value))]),
    (complex, lambda value: [(".real", value.real), (".imag", value.imag)]),
    ((int, str, bytes), lambda value: [("", _bare(value))]),
    (deque, _queue),
    ((list, tuple), _items),
    (dict, _pairs),
    ((set, frozenset), _members),
    (bytearray, lambda value: [("", bytes(value))]),
    (memoryview, lambda value: [("", value.tobytes())]),
    (MappingProxyType, lambda value: [("", gc.get_referents(value)[0])]),
    (functools.partial, lambda value: [("", (value.func, value.args, value.keywords))]),
    (range, lambda value: [("", (value.start, value.stop, value.step))]),
    (slice, lambda value: [("", (value.start, value.stop, value.step))]),
    (Decimal, lambda value: [("", value.as_tuple())]),
    (datetime, _moment),
    (time, _clock),
    ((date, timedelta), lambda value: [("", repr(value))]),
    (ZoneInfo, lambda value: [(".key", value.key)]),
    (timezone, lambda value: [("", value.__getinitargs__())]),
    (tzinfo, _zone),
    (re.Pattern, lambda value: [(".pattern", value.pattern), (".flags", value.flags)]),
    (array.array, lambda value: [("", value.typecode), (".bytes", value.tobytes())]),
    ((pydantic.AnyUrl, PurePath), lambda value: [("", str(value))]),
)


def _bare(value: Any) -> Any:
    return next(kind for kind in (int, str, bytes) if isinstance(value, kind))(value)
