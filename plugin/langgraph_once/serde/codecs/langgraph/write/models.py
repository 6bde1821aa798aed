"""Pydantic models for the `msgpack` codec: what `model_dump()` gives, mostly without making it.

Upstream packs the dump of a model. Where a class dumps its fields as they are, the instance's
own dictionary is packed instead, under options that stop at the first value that a dump might
change; then the model is dumped after all.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import EXT_PYDANTIC_V2
from ormsgpack import Ext, packb
from pydantic import BaseModel

from langgraph_once.serde.codecs.langgraph.write.dumped_as_is import own_bases, plain_fields

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OPTIONS", "ModelEncoders"]

OPTIONS: Final = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
    | ormsgpack.OPT_REPLACE_SURROGATES
)
"""Upstream's."""

_STRICT: Final = OPTIONS | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
_STRICT_TEXT_KEYED: Final = _STRICT ^ ormsgpack.OPT_NON_STR_KEYS
_METHOD: Final = "model_validate_json"

_KEPT: Final = frozenset({datetime, date, time, timedelta, UUID, Decimal})
"""A dump keeps instances of these as they are."""

_KEPT_MIXINS: Final = frozenset({object, str, int})


class ModelEncoders(dict[type, "Callable[[Any], Any]"]):
    """For each type met inside a model: what stands for it in the model's dump."""

    def __init__(self, default: Callable[[Any], Any], max_types: int) -> None:
        """Take the encoder of what a dump keeps as it is, and how many types to remember."""
        super().__init__()
        self._default = default
        self._max_types = max_types

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        if len(self) >= self._max_types:
            self.clear()
        return self.setdefault(cls, self._inner(cls))

    def encoder(self, cls: type[BaseModel]) -> Callable[[Any], Ext]:
        """Return the encoder of a class whose `model_dump` is pydantic's own."""
        module, name, default = cls.__module__, cls.__name__, self._default
        dump = cls.__pydantic_serializer__.to_python

        def encode_dump(obj: Any) -> Ext:
            content = (module, name, dump(obj), _METHOD)
            return Ext(EXT_PYDANTIC_V2, packb(content, default, OPTIONS))

        plain = plain_fields(cls)
        if plain is None:
            return encode_dump
        count = plain.size
        options = _STRICT_TEXT_KEYED if plain.text_keyed else _STRICT

        def inside(obj: Any) -> Any:
            return self[type(obj)](obj)

        def encode(obj: Any) -> Ext:
            own = obj.__dict__
            if len(own) != count or obj.__pydantic_extra__:
                return encode_dump(obj)
            try:
                packed = packb((module, name, own, _METHOD), inside, options)
            except TypeError:
                return encode_dump(obj)
            return Ext(EXT_PYDANTIC_V2, packed)

        return encode

    def _inner(self, cls: type) -> Callable[[Any], Any]:
        if cls in _KEPT or (issubclass(cls, Enum) and _kept_enum(cls)):
            return self._default
        if issubclass(cls, BaseModel) and own_bases(cls) == 1:
            plain = plain_fields(cls)
            if plain and not plain.text_keyed:
                return _own_fields(plain.size)
        return _refuse


def _own_fields(count: int) -> Callable[[Any], dict[str, Any]]:
    """Return a function from an instance to what its dump holds."""

    def own_fields(obj: Any) -> dict[str, Any]:
        own: dict[str, Any] = obj.__dict__
        if len(own) != count or obj.__pydantic_extra__:
            raise TypeError
        return own

    return own_fields


def _kept_enum(cls: type) -> bool:
    return all(issubclass(base, Enum) or base in _KEPT_MIXINS for base in cls.__mro__)


def _refuse(_: Any) -> Any:
    raise TypeError
