"""A fingerprint of how a pydantic class validates: its schema and the code that it runs."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import tool
from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["fingerprint"]

_SAYS_NOTHING: Final = frozenset({"metadata", "ref", "title", "model_name"})
_ADDRESS: Final = re.compile(r":\d{6,}")


def fingerprint(cls: type[BaseModel]) -> str:
    """Return a digest of the schema and the source of what runs when `cls` is validated.

    It does not depend on the version of Python. Without source, it is empty.
    """
    try:
        parts = [_normal(cls.__pydantic_core_schema__), *map(inspect.getsource, _code(cls))]
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _code(cls: type[BaseModel]) -> Iterator[Callable[..., Any]]:
    """Return the functions that run: constructors, validators, and what these call."""
    for base in cls.__mro__:
        if base is BaseModel:
            break
        own = vars(base)
        yield from (own[name] for name in ("__init__", "__new__", "model_post_init") if name in own)
    decorators = cls.__pydantic_decorators__
    for kind in ("model_validators", "field_validators", "root_validators", "validators"):
        for validator in getattr(decorators, kind).values():
            yield inspect.unwrap(validator.func)
    yield tool.tool_call


def _normal(node: Any) -> Any:
    """Return a core schema as JSON, without addresses, documentation and what is empty."""
    if isinstance(node, dict):
        return {
            str(key): _normal(value)
            for key, value in sorted(node.items())
            if key not in _SAYS_NOTHING and value not in ([], {}) and value is not None
        }
    if isinstance(node, (list, tuple)):
        return [_normal(part) for part in node]
    if isinstance(node, str):
        return _ADDRESS.sub("", node)
    if callable(node):
        return f"{node.__module__}.{node.__qualname__}"
    return repr(node)
