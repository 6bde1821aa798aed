"""The `msgpack` codec, writing: the bytes that upstream's serializer writes, sooner.

Upstream asks each object a chain of questions, among them a runtime-checkable protocol that
costs more than all the packing. Here the exact type decides: a table holds one encoder for
each type, made when the type is first seen. A type of which the class alone does not tell how
upstream would write it is handed to upstream, and its bytes are spliced in.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections import deque
from collections.abc import Callable, Collection
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from operator import methodcaller
from pathlib import Path
from types import WrapperDescriptorType
from typing import Any, Final, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_DELTA_SNAPSHOT,
    EXT_METHOD_SINGLE_ARG,
    EXT_NUMPY_ARRAY,
    JsonPlusSerializer,
)
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Send
from ormsgpack import Ext, Fragment, packb, unpackb
from pydantic import BaseModel

from langgraph_once.serde.bounds.patterns import PatternTooLargeError, pattern_units
from langgraph_once.serde.codecs.langgraph.numpy_arrays import array_content, is_array_type
from langgraph_once.serde.codecs.langgraph.write.models import OPTIONS, ModelEncoders
from langgraph_once.serde.codecs.once1.format.opaque import Opaque, upstream_extension

__all__ = ["encode_msgpack", "met_types", "quick_encode"]

Packed = Ext | Fragment
Encoder = Callable[[Any], Packed]

_MAX_TYPES: Final = 10_000
"""Encoders kept, so that a process that makes classes without end does not keep them all."""

_UPSTREAM: Final = JsonPlusSerializer()

_ASKED_FIRST: Final = frozenset({"model_dump", "get_secret_value", "dict", "_asdict"})
"""The attributes that upstream looks for, in any object, before it looks at the type."""

_LIKE_SEND: Final = frozenset({"node", "arg"})
"""What has both is written as a `Send`, whatever it is."""

_BY_BASE: Final = (
    *(Path, re.Pattern, UUID, Decimal, set, frozenset, deque, IPv4Address, IPv4Network),
    *(IPv6Address, IPv6Network, timedelta, date, time, timezone, ZoneInfo),
)
"""Subclasses of these are written as these are, ahead of enums and dataclasses."""


_RE_COMPILE: Final = b"\x93" + packb("re") + packb("compile")
_CONSTANT: Final = frozenset({str, int, float, bool, bytes, type(None)})
_NOTHING: Final = (None, None)


def encode_msgpack(value: Any) -> bytes:
    """Return the msgpack that upstream's serializer writes for `value`.

    Raises:
        TypeError: Upstream cannot write it; the error is upstream's own.
        PatternTooLargeError: Upstream would; reading would refuse it.
    """
    try:
        return quick_encode(value)
    except Exception:
        data = _upstream_bytes(value)
        _check_patterns(data)
        return data


def quick_encode(value: Any) -> bytes:
    """Do what `encode_msgpack` does, or raise some exception where that may not."""
    return packb(value, _default, OPTIONS)


def _default(obj: Any) -> Packed:
    return _ENCODERS[type(obj)](obj)


def _pack(content: Any) -> bytes:
    return packb(content, _default, OPTIONS)


def _upstream_bytes(obj: Any) -> bytes:
    # In a list, because upstream has tags of its own for None and bytes; the first byte is it.
    return _UPSTREAM.dumps_typed([obj])[1][1:]


def _upstream(obj: Any) -> Packed:
    return Fragment(_upstream_bytes(obj))


class _Encoders(dict[type, Encoder]):
    """The encoder of each type that was seen."""

    def __missing__(self, cls: type) -> Encoder:
        if len(self) >= _MAX_TYPES:
            self.clear()
            self.update(_BUILT_IN)
        return self.setdefault(cls, _encoder(cls))


def _encoder(cls: type) -> Encoder:
    """Return the encoder for a class of which the table knows nothing."""
    if cls is re.Pattern:  # not in the table from the start: see `met_types`
        return _pattern
    if is_array_type(cls):
        return lambda obj: Ext(EXT_NUMPY_ARRAY, _pack(array_content(obj)))
    names = _attributes(cls)
    if "__class__" in names or not _looks_up_as_usual(cls):
        return _upstream
    if issubclass(cls, BaseModel):
        own = inspect.getattr_static(cls, "model_dump") is vars(BaseModel)["model_dump"]
        return _MODELS.encoder(cls) if own else _upstream
    if "__getattr__" in names:
        return _upstream
    if issubclass(cls, tuple) and names & _ASKED_FIRST == {"_asdict"}:
        return _constructor(EXT_CONSTRUCTOR_KW_ARGS, cls, methodcaller("_asdict"))
    if issubclass(cls, _BY_BASE) or not names.isdisjoint(_ASKED_FIRST):
        return _upstream
    if issubclass(cls, Enum):
        return _enum(cls)
    if dataclasses.is_dataclass(cls) and not names >= _LIKE_SEND:
        return _dataclass(cls)
    return _upstream


def _attributes(cls: type) -> set[str]:
    """Return the names that instances of `cls` answer to, as far as the class tells."""
    names = {name for base in cls.__mro__[:-1] for name in vars(base)}
    if issubclass(cls, Enum):
        return names.union(cls.__members__, *map(vars, cls))
    if dataclasses.is_dataclass(cls):
        names.update(field.name for field in dataclasses.fields(cls))
    return names


def _looks_up_as_usual(cls: type) -> bool:
    lookup = inspect.getattr_static(cls, "__getattribute__")
    return isinstance(lookup, WrapperDescriptorType)  # written in C


def _constructor(code: int, cls: type, argument: Callable[[Any], Any]) -> Encoder:
    """Return an encoder that writes `argument(obj)` under the name of `cls`."""
    module, name = cls.__module__, cls.__name__

    def encode(obj: Any) -> Packed:
        return Ext(code, packb((module, name, argument(obj)), _default, OPTIONS))

    return encode


def _enum(cls: type[Enum]) -> Encoder:
    """Return an encoder that packs each member once."""
    if inspect.getattr_static(cls, "value") is not vars(Enum)["value"]:
        return _upstream
    module, name = cls.__module__, cls.__name__
    ready: dict[str, tuple[Any, Packed]] = {}

    def encode(obj: Any) -> Packed:
        value, packed = ready.get(obj._name_, _NOTHING)
        if packed is None or value is not obj._value_:
            value = obj._value_
            packed = Ext(EXT_CONSTRUCTOR_SINGLE_ARG, _pack((module, name, value)))
            if type(value) in _CONSTANT:
                ready[obj._name_] = (value, packed)
        return packed

    return encode


def _dataclass(cls: type) -> Encoder:
    """Return an encoder that packs the instance's own dictionary where that is its fields."""
    module, name = cls.__module__, cls.__name__
    fields = [field.name for field in dataclasses.fields(cast("Any", cls))]
    hazards = _ASKED_FIRST | _LIKE_SEND
    kept_in_dict = cls.__dictoffset__ != 0 and not any(
        inspect.isdatadescriptor(inspect.getattr_static(cls, field, None)) for field in fields
    )

    def encode(obj: Any) -> Packed:
        own = obj.__dict__ if kept_in_dict else None
        if own is None or [*own] != fields:
            if not hazards.isdisjoint(getattr(obj, "__dict__", ())):
                return _upstream(obj)
            own = {field: getattr(obj, field) for field in fields}
        return Ext(EXT_CONSTRUCTOR_KW_ARGS, packb((module, name, own), _default, OPTIONS))

    return encode


def _opaque(obj: Opaque) -> Packed:
    if obj.kind == "upstream":
        return Ext(*upstream_extension(obj.raw))
    if type(obj.payload) is not dict:
        raise TypeError(f"{obj.type_name}, which was read as an `Opaque` of codec once1")
    content = (*obj.type_name.split(":", 1), obj.payload)
    return Ext(EXT_CONSTRUCTOR_KW_ARGS, _pack(content))


def _delta_snapshot(obj: _DeltaSnapshot) -> Packed:
    return Ext(EXT_DELTA_SNAPSHOT, _pack(obj.value))


def _check_patterns(data: bytes) -> None:
    """Do for what upstream wrote what `_pattern` does: ormsgpack does not tell what it raised."""
    at = -1
    while (at := data.find(_RE_COMPILE, at + 1)) >= 0:
        try:
            pattern, flags = unpackb(data[at:])[2]
            pattern_units(pattern, flags)
        except PatternTooLargeError:
            raise
        except Exception:  # noqa: S112  (it only looks like a pattern)
            continue


def _pattern(obj: re.Pattern[Any]) -> Packed:
    pattern_units(obj.pattern, obj.flags)
    content = ("re", "compile", (obj.pattern, obj.flags))
    return Ext(EXT_CONSTRUCTOR_POS_ARGS, _pack(content))


def _datetime(obj: datetime) -> Packed:
    content = ("datetime", "datetime", obj.isoformat(), "fromisoformat")
    return Ext(EXT_METHOD_SINGLE_ARG, _pack(content))


def _send_args(obj: Send) -> tuple[Any, ...]:
    return (obj.node, obj.arg) if obj.timeout is None else (obj.node, obj.arg, obj.timeout)


_TIME_FIELDS: Final = ("hour", "minute", "second", "microsecond", "tzinfo", "fold")

_ONE: Final[dict[type, Callable[[Any], Any]]] = {
    UUID: lambda obj: obj.hex,
    ZoneInfo: lambda obj: obj.key,
    **dict.fromkeys((set, frozenset, deque), tuple),
    **dict.fromkeys((Decimal, IPv4Address, IPv4Interface, IPv4Network), str),
    **dict.fromkeys((IPv6Address, IPv6Interface, IPv6Network), str),
}
_MANY: Final[dict[type, Callable[[Any], Any]]] = {
    type(Path()): lambda obj: obj.parts,
    timedelta: lambda obj: (obj.days, obj.seconds, obj.microseconds),
    date: lambda obj: (obj.year, obj.month, obj.day),
    timezone: lambda obj: obj.__getinitargs__(),
    Send: _send_args,
}
_BUILT_IN: Final[dict[type, Encoder]] = {
    **{t: _constructor(EXT_CONSTRUCTOR_SINGLE_ARG, t, argument) for t, argument in _ONE.items()},
    **{t: _constructor(EXT_CONSTRUCTOR_POS_ARGS, t, argument) for t, argument in _MANY.items()},
    time: _constructor(
        EXT_CONSTRUCTOR_KW_ARGS, time, lambda obj: {k: getattr(obj, k) for k in _TIME_FIELDS}
    ),
    datetime: _datetime,
    _DeltaSnapshot: _delta_snapshot,
    Opaque: _opaque,
}
_ENCODERS: Final = _Encoders(_BUILT_IN)
met_types: Final[Collection[type]] = _ENCODERS
"""The classes that are built in, and those of which instances were written, if not long ago."""

_MODELS: Final = ModelEncoders(_default, _MAX_TYPES)
