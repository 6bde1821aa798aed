"""What upstream's stores for both databases lack.

Who makes tables, what is embedded, and which values a filter of a search means where the database
cannot read them.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from langgraph.store.base import PutOp
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

from langgraph_once.store.sealing import Sealed

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
