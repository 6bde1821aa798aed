"""`functools.partial`: the function, its arguments, and the attributes added to it.

The function is written as every function is: by its name, which the allowlist must have.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter, parts

__all__ = ["ADAPTERS"]

_CALLED: Final = (FunctionType, BuiltinFunctionType, type, functools.partial)


def _encode(value: functools.partial[Any]) -> tuple[Any, ...]:
    return value.func, value.args, value.keywords, vars(value)


def _decode(data: Any) -> functools.partial[Any]:
    function, _, keywords, attributes = parts(data, object, tuple, dict, dict)
    if not issubclass(type(function), _CALLED):
        raise ValueError("expected a function")
    if not all(type(name) is str for name in (*keywords, *attributes)):
        raise ValueError("an argument or attribute whose name is not text")
    made: functools.partial[Any] = functools.partial(_decode)
    # Unlike the constructor, this takes no partial apart that stands for the function.
    made.__setstate__(data)  # type: ignore[attr-defined]  # typeshed leaves it out
    return made


ADAPTERS: Final = (
    Adapter(name="partial", types=(functools.partial,), encode=_encode, decode=_decode),
)
