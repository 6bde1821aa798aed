"""Codec `msgpack`, writing: LangGraph's own functions, which write stand-ins back as well.

LangGraph's encoder has no hook but its own, and takes a stand-in for the dictionary or text that it
is derived from. The two functions call each other by their global names. So both are made once
more, of the same code, where the name of the hook means ours. Seen in langgraph-checkpoint 4.3.2,
`serde/jsonplus.py`; this can go once `JsonPlusSerializer` takes a hook.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from types import FunctionType
from typing import Any, Final

import ormsgpack
from langgraph.checkpoint.serde import jsonplus
from ormsgpack import Ext, packb, unpackb

from langgraph_once.serde.format import head_parts
from langgraph_once.serde.opaque import STAND_INS, Opaque, bare, source_of

_CODES: Final = {
    "model": jsonplus.EXT_PYDANTIC_V2,
    "model1": jsonplus.EXT_PYDANTIC_V1,
    "record": jsonplus.EXT_CONSTRUCTOR_KW_ARGS,
}
"""What LangGraph writes for the objects of a form that are dictionaries to it."""

_BARE: Final[dict[type, Callable[[Any], Any]]] = {
    str: lambda obj: str.__getitem__(obj, slice(None)),
    int: int.__int__,
    list: lambda obj: [*list.__iter__(obj)],
    dict: lambda obj: {key: dict.__getitem__(obj, key) for key in dict.__iter__(obj)},
}
"""The types whose subclasses LangGraph writes as the types themselves, without asking anybody."""


def native_base(obj: Any) -> Any:
    """Return the native value that LangGraph leaves of an object; None where it asks its hook."""
    for base, bare_value in _BARE.items():
        if isinstance(obj, base) and not isinstance(obj, Enum):
            return bare_value(obj)
    return None


def _hook(obj: Any) -> Any:
    if type(obj) in STAND_INS:
        return _stand_in(obj)
    made = native_base(obj)
    return _upstream_hook(obj) if made is None else made


def _stand_in(obj: Any) -> Any:
    source = source_of(obj)
    if source is not None:
        form, name, _, extra = head_parts(source[0])
        if form == "stock":
            return Ext(extra[0], source[1])
        if form in _CODES and isinstance(obj, dict) and type(name) is str:
            return Ext(_CODES[form], _encode((*name.split(":", 1), dict(obj))))
    if type(obj) is Opaque:
        raise TypeError(f"{obj.type_name}, which was read as an `Opaque`")
    return bare(obj)


_NAMES: Final = dict(vars(jsonplus))
_upstream_hook: Final = FunctionType(jsonplus._msgpack_default.__code__, _NAMES)  # noqa: SLF001  # see above
_encode: Final = FunctionType(jsonplus._msgpack_enc.__code__, _NAMES)  # noqa: SLF001  # see above
_OPAQUE: Final = packb(Opaque.__module__)


def encode_stock(value: Any) -> bytes:
    """Return the msgpack that LangGraph writes for a value.

    Raises:
        TypeError: LangGraph cannot write it, either.
    """
    try:
        return _encode(value)  # type: ignore[no-any-return]  # as the function that it is made of
    except Exception:
        # Each level takes a frame less there: it may have been too deep.
        data: bytes = jsonplus._msgpack_enc(value)  # noqa: SLF001  # see above
        if _OPAQUE in data:
            raise
        return data


_NAMES["_msgpack_default"] = _hook
_NAMES["_msgpack_enc"] = _encode
_NAMES["_option"] = jsonplus._option | ormsgpack.OPT_PASSTHROUGH_SUBCLASS  # noqa: SLF001  # see above


def stock_form(obj: Any) -> tuple[int, bytes] | None:
    """Return code and content of the extension that LangGraph writes for an object.

    None where it writes none: it raises, or leaves a native value.
    """
    found: list[tuple[int, bytes]] = []
    try:
        unpackb(encode_stock(obj), ext_hook=lambda *each: found.append(each))
    except Exception:  # of the class
        return None
    return found[0] if len(found) == 1 and type(obj) not in (list, dict, tuple) else None
