"""What comes back of the values of the sample `state`: by LangGraph's serializer, and by ours."""

from __future__ import annotations

import logging
import warnings
from typing import Any, Final, NamedTuple

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graphs.state.attic import things
from langgraph_once import OnceSerializer

__all__ = ["SAME", "Survival", "is_same", "survivals"]

SAME: Final = "the same"


class Survival(NamedTuple):
    """One value, written to a checkpoint and read again."""

    channel: str
    value: str
    stock: str
    once: str


def survivals() -> list[Survival]:
    """What each value is after it was written and read."""
    logging.getLogger("langgraph.checkpoint").setLevel(logging.ERROR)  # it warns of each class
    stock, once = JsonPlusSerializer(), OnceSerializer()
    return [
        Survival(channel, repr(value), _after(stock, value), _after(once, value))
        for channel, value in things().items()
    ]


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal, and of equal types all through."""
    if isinstance(one, Exception):
        return type(one) is type(other) and bool(one.args == other.args)
    return type(one) is type(other) and bool(one == other) and repr(one) == repr(other)


def _after(serde: SerializerProtocol, value: Any) -> str:
    try:
        with warnings.catch_warnings(action="ignore"):
            read = serde.loads_typed(serde.dumps_typed(value))
    except TypeError as error:
        return f"{type(error).__name__}: {error}"
    if is_same(value, read):
        return SAME
    return repr(read) if repr(read) != repr(value) else f"{read!r}, without what is private"
