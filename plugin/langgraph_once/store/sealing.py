"""A value of a store to the row that is stored, and back.

    {"__once__": "json.zstd.aesgcm", "sealed": "<base64>"}

It is bound to its namespace and key: a row that was copied to another place does not open. Without
keys a row is the value, as upstream's stores write it.

What upstream's stores for both databases lack stands here too: who makes tables, what is embedded
of an encrypted value, and which values a filter means where the database cannot read them.
"""

from __future__ import annotations

import base64
import binascii
import json
import operator
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import orjson
from langgraph.store.base import PutOp
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

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


Puts: TypeAlias = Sequence[tuple[int, PutOp]]
Queries: TypeAlias = tuple[list[tuple[str, Sequence[Any]]], Any]

# More than upstream has migrations of one kind (five): a race may be lost at each.
_ATTEMPTS: Final = 8
# At random, so that processes which start together do not race again.
_LONGEST_WAIT_S: Final = 0.5


async def set_up(make: Callable[[], Awaitable[None]], races: tuple[type[Exception], ...]) -> None:
    """Make the tables that are missing. If another process makes one meanwhile, try again.

    Args:
        make: Upstream's set-up. It looks first which tables are there.
        races: The errors that it raises when another process made a table meanwhile.
    """
    trying = AsyncRetrying(
        retry=retry_if_exception_type(races),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=wait_random(0, _LONGEST_WAIT_S),
        reraise=True,
    )
    async for attempt in trying:
        with attempt:
            await make()


def with_embeddings_of_values(prepare: Callable[[Puts], Queries], puts: Puts) -> Queries:
    """The statements that write rows, and the request for embeddings of what they stand for.

    Args:
        prepare: Upstream's function. It returns the statements and the request for given rows.
        puts: What is to be written, some of it encrypted.
    """
    statements, request = prepare(puts)
    if request is None and not any(isinstance(op.value, Sealed) for _, op in puts):
        return statements, request
    values = [(index, _plain(op)) for index, op in puts]
    return statements, prepare(values)[1]


def _plain(op: PutOp) -> PutOp:
    return op._replace(value=dict(op.value.value)) if isinstance(op.value, Sealed) else op


Field: TypeAlias = Callable[[Mapping[str, Any], str], Any]
"""What a value has under the key of a filter; None if it has nothing there."""

_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def by_key(value: Mapping[str, Any], key: str) -> Any:
    """The field of a key, as LangGraph's store in PostgreSQL takes it."""
    return value.get(key)


def by_path(value: Mapping[str, Any], key: str) -> Any:
    """The field at a path, `user.id`, as LangGraph's store in SQLite takes keys."""
    found: Any = value
    for step in key.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any], field: Field = by_key) -> bool:
    """Whether a value has all that a filter asks for.

    What it asks for is a value, which is compared as
    LangGraph's `InMemoryStore` does, or operators: `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`.
    `$and` with a list of filters is what the server makes of a filter and one of `auth`.

    Raises:
        ValueError: An operator that is not known, as `$or`.
    """
    # All of a filter is looked at, so that what is wrong in it is told in any case.
    held = [_holds(value, key, asked, field) for key, asked in wanted.items()]
    return all(held)


def _holds(value: Mapping[str, Any], key: str, asked: Any, field: Field) -> bool:
    if key == "$and":
        held = [matches(value, each, field) for each in asked]
        return all(held)
    if key.startswith("$"):
        raise ValueError(f"Unsupported operator: {key}")
    return _is(field(value, key), asked)


def _is(found: Any, asked: Any) -> bool:
    if isinstance(asked, Mapping):
        if any(str(key).startswith("$") for key in asked):
            return all(_compares(found, name, other) for name, other in asked.items())
        return isinstance(found, Mapping) and all(
            _is(found.get(key), other) for key, other in asked.items()
        )
    if isinstance(asked, list | tuple):
        return isinstance(found, list) and len(found) == len(asked) and all(map(_is, found, asked))
    return _equal(found, asked)


def _compares(found: Any, name: str, other: Any) -> bool:
    if name == "$eq":
        return _equal(found, other)
    if name == "$ne":
        return not _equal(found, other)
    if name not in _ORDER:
        raise ValueError(f"Unsupported operator: {name}")
    if isinstance(found, str) and isinstance(other, str):
        return _ORDER[name](found, other)
    if _is_number(found) and _is_number(other):
        return _ORDER[name](found, other)
    return False


def _equal(found: Any, other: Any) -> bool:
    """JSON's equality: true is not 1, at any depth."""
    if isinstance(found, bool) or isinstance(other, bool):
        return found is other
    if isinstance(found, Mapping) and isinstance(other, Mapping):
        return found.keys() == other.keys() and all(_equal(found[key], other[key]) for key in found)
    if isinstance(found, list | tuple) and isinstance(other, list | tuple):
        return len(found) == len(other) and all(map(_equal, found, other))
    return bool(found == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
