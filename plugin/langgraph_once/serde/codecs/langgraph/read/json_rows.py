"""The `json` codec, reading: rows of the first LangGraph versions, and of values with surrogates.

Objects are envelopes: `{"lc": 1, …}` of LangChain, which its own reader revives, and
`{"lc": 2, "type": "constructor", "id": […], "method": …, "args": […], "kwargs": {…}}` of
LangGraph. Upstream's reader of those (langgraph-checkpoint 4.3.2) ignores `method` since
GHSA-fjqc-hq36-qh5p and hands out `None` for what it cannot rebuild; here the methods that the
writers used are called by name, no other, and what cannot be rebuilt is an error or an `Opaque`.

What LangGraph did not write as JSON, it pickled. Such a row is refused: `pickle_refusal`.
"""

from __future__ import annotations

import json
import re
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, Final

from langchain_core.load.load import Reviver
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_METHOD_SINGLE_ARG,
    EXT_PYDANTIC_V2,
)

from langgraph_once.errors import PayloadError, SerdeError
from langgraph_once.serde.bounds.budget import Budget
from langgraph_once.serde.trust.policy import Trust

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph_once.serde.codecs.langgraph.read.msgpack_rows import Builder, MsgpackDecoder

__all__ = ["check_weight", "decode_json", "pickle_refusal"]

_NETWORKS: Final = ("IPv4Network", "IPv6Network")
_LANGCHAIN: Final = Reviver(allowed_objects="core")

_METHODS: Final[dict[tuple[int, str, str, str], Callable[[Any], Any]]] = {
    (EXT_METHOD_SINGLE_ARG, "builtins", "bytes", "fromhex"): bytes.fromhex,
    (EXT_METHOD_SINGLE_ARG, "builtins", "bytearray", "fromhex"): bytearray.fromhex,
    (EXT_METHOD_SINGLE_ARG, "datetime", "date", "fromisoformat"): date.fromisoformat,
    (EXT_METHOD_SINGLE_ARG, "datetime", "datetime", "fromisoformat"): datetime.fromisoformat,
    (EXT_METHOD_SINGLE_ARG, "datetime", "time", "fromisoformat"): time.fromisoformat,
}
"""The methods that the writers used, all of them parsers of text."""

_PLAIN_METHODS: Final = (None, [None, "construct"], [None, "model_construct"])
"""The constructor itself; the others were fallbacks for models, v1 and v2, that do not validate."""


_UNITS: Final = {b"[": 32, b"{": 64, b",": 8, b":": 8}
"""What each of these costs in a `Budget`, with the value that it is followed by.

More than in other codecs: nobody writes such rows any more, and Python is slow to read them.
"""

_UNITS_OF_AN_ENVELOPE: Final = 200

_WIDE: Final = re.compile(r"\d{5}")
"""In a template that is tried out while it is read: this many characters, or more."""


def decode_json(data: bytes, decoder: MsgpackDecoder, *, tag: str) -> Any:
    """Return the value that upstream's serializer wrote as `data`.

    Args:
        data: The JSON.
        decoder: What reads the same in codec `msgpack`: it has the types that may be named, the
            bounds, and what stands for an object that cannot be rebuilt.
        tag: The tag it was stored under, for errors.

    Raises:
        SizeLimitError: It takes more than `max_objects`.
        TypeNotAllowedError: An envelope names a type that the allowlist refuses.
        PayloadError: The JSON is damaged, names a value that cannot be rebuilt, or hands a
            network to a constructor, which may try to iterate over its up to 2**128 addresses.
    """
    check_weight(data, tag, limit=decoder.max_objects)
    # As of small rows: few rows are JSON.
    build = decoder.builder(Budget(decoder.max_objects, tag, size=0), _METHODS)
    try:
        _check(json.loads(data), decoder, tag)
        return json.loads(data, object_hook=lambda value: _revive(value, build))
    except SerdeError:
        raise
    except (ValueError, RecursionError) as error:
        raise PayloadError("damaged JSON", tag=tag) from error
    except Exception as error:
        raise PayloadError(
            f"the JSON could not be rebuilt ({type(error).__name__})", tag=tag
        ) from error


def check_weight(data: bytes, tag: str, *, limit: int) -> None:
    """Check what building what is in JSON takes; signs in texts count, too.

    Raises:
        SizeLimitError: Parsing it may take more.
    """
    if len(data) * max(_UNITS.values()) <= limit:
        return
    budget = Budget(limit, tag)
    if b"\0" in data:  # UTF-16, or UTF-32
        data = data.replace(b"\0", b"")
    budget.take(data.count(b'"constructor"') * _UNITS_OF_AN_ENVELOPE)
    for sign, units in _UNITS.items():
        budget.take(data.count(sign) * units)


def _check(parsed: Any, decoder: MsgpackDecoder, tag: str) -> None:
    """Refuse what must be refused before anything is imported or built."""
    pending: list[tuple[Any, bool]] = [(parsed, False)]
    while pending:
        value, inside = pending.pop()
        if isinstance(value, dict):
            named = _is_envelope(value)
            if named:
                _check_envelope(value, inside, decoder, tag)
            pending += ((item, inside or named) for item in value.values())
        elif isinstance(value, list):
            pending += ((item, inside) for item in value)


def _is_envelope(value: dict[str, Any]) -> bool:
    return value.get("lc") in (1, 2) and value.get("type") == "constructor"


def _check_envelope(value: dict[str, Any], inside: bool, decoder: MsgpackDecoder, tag: str) -> None:
    identity = value.get("id")
    if not isinstance(identity, list) or not all(isinstance(part, str) for part in identity or [0]):
        raise PayloadError("a JSON constructor that names no type", tag=tag)
    *module, name = identity
    refuses = decoder.allowlist.decide("read", Trust.OWN).refuses and not decoder.opaque
    called = EXT_METHOD_SINGLE_ARG, ".".join(module), name, str(value.get("method"))
    if value["lc"] == 2 and refuses and called not in _METHODS:
        decoder.allowlist.check(called[1], (name,), tag=tag)
    kwargs = value.get("kwargs")
    if isinstance(kwargs, dict) and kwargs.get("validate_template") and _WIDE.search(str(kwargs)):
        raise PayloadError("a template that may become very long when it is tried out", tag=tag)
    if inside and name in _NETWORKS:
        raise PayloadError(f"{name} as an argument of a JSON constructor", tag=tag)


def _revive(value: dict[str, Any], build: Builder) -> Any:
    if value.get("lc") != 2 or not _is_envelope(value):
        return _LANGCHAIN(value)
    *module, name = value["id"]
    method, args, kwargs = value.get("method"), value.get("args") or [], value.get("kwargs") or {}
    code, *rest = _extension(method, args, kwargs)
    return build(code, [".".join(module), name, *rest])


def _extension(method: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the code of the extension of codec `msgpack` that says the same, and its argument."""
    if isinstance(method, str):
        (text,) = args
        return EXT_METHOD_SINGLE_ARG, text, method
    if method not in _PLAIN_METHODS or (args and kwargs):
        raise ValueError("a constructor that nobody wrote")
    if len(args) == 1:
        return EXT_CONSTRUCTOR_SINGLE_ARG, args[0]
    if args:
        return EXT_CONSTRUCTOR_POS_ARGS, args
    return EXT_PYDANTIC_V2 if method else EXT_CONSTRUCTOR_KW_ARGS, kwargs


def pickle_refusal(tag: str) -> PayloadError:
    """Return the error that says why, and what to do instead."""
    return PayloadError(
        "pickle is refused: loading it can run any code that whoever wrote to the database "
        "wishes. If you trust every row, read them once with "
        "`JsonPlusSerializer(pickle_fallback=True)` and write them back with `OnceSerializer`",
        tag=tag,
    )
