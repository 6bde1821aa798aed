"""The `msgpack` codec, writing: LangGraph's own functions, and `Opaque` besides.

In: an object. Out: the msgpack that LangGraph's serializer writes for it.

LangGraph's encoder takes an `Opaque` for any object, and has no hook but its own: the two functions
call each other by their global names. So both are made once more, of the same code, where the name
of the hook means ours: it is asked about what stands in extensions, too. Seen in
langgraph-checkpoint 4.3.2, `serde/jsonplus.py`; this can go once `JsonPlusSerializer` takes a hook.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.serde.jsonplus import EXT_CONSTRUCTOR_KW_ARGS
from ormsgpack import Ext, packb, unpackb

from langgraph_once.serde.bounds.costly_values import PatternTooLargeError, pattern_units
from langgraph_once.serde.codecs.once1.format.opaque import Opaque, upstream_extension

__all__ = ["PATTERN", "encode_msgpack"]

_OPAQUE: Final = packb(Opaque.__module__) + packb(Opaque.__name__)
PATTERN: Final = b"\x93" + packb("re") + packb("compile")
"""What the content of each regular expression begins with."""


def encode_msgpack(value: Any) -> bytes:
    """Return the msgpack that upstream's serializer writes for `value`.

    Raises:
        TypeError: Upstream cannot write it; the error is upstream's own.
        PatternTooLargeError: Upstream would; reading would refuse it.
    """
    data = jsonplus._msgpack_enc(value)  # noqa: SLF001  # see above
    if _OPAQUE in data:
        # Not in any case: at each level it takes one more of the frames that Python has.
        data = _encode(value)
    at = -1
    while (at := data.find(PATTERN, at + 1)) >= 0:
        try:
            pattern, flags = unpackb(data[at:])[2]
            pattern_units(pattern, flags)
        except PatternTooLargeError:
            raise
        except Exception:  # noqa: S112  (it only looks like a pattern)
            continue
    return data


def _default(obj: Any) -> Any:
    return _opaque(obj) if type(obj) is Opaque else _upstream_default(obj)


def _opaque(obj: Opaque) -> Ext:
    if obj.kind == "upstream":
        return Ext(*upstream_extension(obj.raw))
    if type(obj.payload) is not dict:
        raise TypeError(f"{obj.type_name}, which was read as an `Opaque` of codec once1")
    return Ext(EXT_CONSTRUCTOR_KW_ARGS, _encode((*obj.type_name.split(":", 1), obj.payload)))


_NAMES: Final = dict(vars(jsonplus))
_upstream_default: Final = FunctionType(jsonplus._msgpack_default.__code__, _NAMES)  # noqa: SLF001  # see above
_encode: Final = FunctionType(jsonplus._msgpack_enc.__code__, _NAMES)  # noqa: SLF001  # see above
_NAMES["_msgpack_default"] = _default
_NAMES["_msgpack_enc"] = _encode
