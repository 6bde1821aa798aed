"""A value of a store to the row that is stored, and back.

    {"__once__": "json.zstd.aesgcm", "sealed": "<base64>"}

It is bound to its namespace and key: a row that was copied to another place does not open. Without
keys a row is the value, as upstream's stores write it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final

import orjson

from langgraph_once.checkpoint import kind_of
from langgraph_once.errors import EncodeError, EncryptionError, PayloadError
from langgraph_once.serde import DAMAGED, NO_KEY, BoundTo, OnceSerializer, Tag, needed_key

_TAG: Final = "__once__"
_DATA: Final = "sealed"
_JSON: Final = Tag.parse("json")

Namespace = tuple[str, ...]


class Sealed(dict[str, Any]):
    """What is stored of a value; the value is at hand for its embeddings."""

    def __init__(self, row: dict[str, Any], value: Mapping[str, Any]) -> None:
        super().__init__(row)
        self.value = value


class Sealing:
    """Encrypts and decrypts values, each bound to its namespace and key. Thread-safe.

    Args:
        serde: Compresses and encrypts, and has the keys.
        database: A path or a URL. As upstream's store for it takes JSON, this takes it: PostgreSQL
            has no NaN.
    """

    def __init__(self, serde: OnceSerializer, database: str) -> None:
        self._serde = serde
        self._dumps = orjson.dumps if kind_of(database).takes_nan else _without_nan
        self.is_on = bool(serde.config.encryption_keys)
        self._allows_plain = serde.config.allows_plain

    def row(self, namespace: Namespace, key: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """What is stored of a value.

        Raises:
            EncodeError: There are no keys, and the value looks as though it were encrypted.
        """
        if not self.is_on:
            if self.is_sealed(value):
                raise EncodeError(
                    f"a value of just {_TAG!r} and {_DATA!r} is not stored unencrypted"
                )
            return dict(value)
        tag, sealed = self._serde.wrapped(_JSON, self._dumps(dict(value)), _place(namespace, key))
        return Sealed({_TAG: tag, _DATA: base64.b64encode(sealed).decode()}, value)

    def value(self, namespace: Namespace, key: str, row: dict[str, Any]) -> dict[str, Any]:
        """What a row holds.

        Raises:
            EncryptionError: The key is missing, the row was changed or is of another place, or it
                is plain and must not be.
            PayloadError: The row is damaged.
        """
        if not self.is_sealed(row):
            if not self._allows_plain:
                raise EncryptionError(
                    f"the item {key!r} of the store is not encrypted, and must be; encrypt what "
                    "is stored with `langgraph-once store --to encrypted`"
                )
            return row
        stored = row[_TAG], _bytes(row[_DATA])
        tag, data = self._serde.unwrapped(stored, _place(namespace, key))
        if tag.codec != _JSON.codec:
            raise PayloadError("an item of the store is of another codec than JSON", tag=tag.text)
        return _parsed(data)

    def is_sealed_as_now(self, row: dict[str, Any]) -> bool:
        """Whether `row` would encrypt under this key, or not at all, as this is."""
        if not self.is_sealed(row):
            return not self.is_on
        return self._serde.is_sealed_as_now((row[_TAG], _bytes(row[_DATA])))

    @staticmethod
    def is_sealed(row: Mapping[str, Any]) -> bool:
        """Whether a row is of ours, encrypted."""
        return row.keys() == {_TAG, _DATA} and all(isinstance(row[key], str) for key in row)

    @classmethod
    def key_of(cls, row: Mapping[str, Any]) -> str:
        """The key that a row needs, as `needed_key` names it."""
        if not cls.is_sealed(row):
            return NO_KEY
        try:
            return needed_key(row[_TAG], _bytes(row[_DATA]))
        except PayloadError:
            return DAMAGED


def _without_nan(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False).encode()


def _place(namespace: Namespace, key: str) -> BoundTo:
    return ("store", *namespace, key)


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    raise PayloadError("an item of the store is damaged: no object of JSON")


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise PayloadError("an item of the store is damaged: not base64")
