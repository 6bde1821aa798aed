"""Subclasses of immutable built-in types: the bare value, and the attributes added to it.

`str int float complex bytes tuple frozenset`, and named tuples of both makes. Methods that a
subclass overrides are not called: `__new__` and `__iter__` may do anything.
"""

from __future__ import annotations

from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.attributes import (
    fill_state,
    is_plain_subclass,
    take_state,
)
from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError, parts, plain
from langgraph_once.serde.trust.lookup import declared

__all__ = ["NamedTupleFamily", "ValueFamily"]

_VALUES: Final[dict[type, Any]] = {
    str: lambda obj: str.__getitem__(obj, slice(None)),
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    bytes: lambda obj: bytes.__getitem__(obj, slice(None)),
    tuple: lambda obj: tuple.__getitem__(obj, slice(None)),
    frozenset: lambda obj: frozenset([*frozenset.__iter__(obj)]),
}
"""Immutable types, and how the bare value is taken out of an instance of a subclass."""


class NamedTupleFamily:
    """Classes made by `typing.NamedTuple` or `collections.namedtuple`: their items."""

    name = "namedtuple"

    def matches(self, cls: type) -> bool:
        return (
            issubclass(cls, tuple)
            and type(declared(cls, "_fields")) is tuple
            and cls.__dictoffset__ == 0
            and is_plain_subclass(cls, tuple)
        )

    def encode(self, obj: Any) -> tuple[Any, ...]:
        items = tuple.__getitem__(obj, slice(None))
        self._check(type(obj), items)
        return items

    def decode(self, cls: Any, data: Any) -> Any:
        self._check(cls, plain(data, tuple))
        return tuple.__new__(cls, data)

    def _check(self, cls: Any, items: tuple[Any, ...]) -> None:
        fields = declared(cls, "_fields")
        if len(items) != len(fields):
            raise UnwritableError(f"{cls.__qualname__} has {len(fields)} fields, not {len(items)}")


class ValueFamily:
    """Subclasses of immutable built-in types."""

    name = "value"

    def __init__(self, *, code_free: bool = False) -> None:
        """Take whether to refuse where it takes code of the class to make a default."""
        self._code_free = code_free

    def matches(self, cls: type) -> bool:
        base = _base(cls)
        return base is not None and base is not cls and is_plain_subclass(cls, base)

    def encode(self, obj: Any) -> tuple[Any, Any]:
        return _VALUES[_base(type(obj))](obj), take_state(obj)

    def decode(self, cls: type, data: Any) -> Any:
        base: Any = _base(cls)
        value, state = parts(data, base, object)
        obj = base.__new__(cls, value)
        fill_state(obj, state, code_free=self._code_free)
        return obj


def _base(cls: type) -> Any:
    return next((base for base in cls.__mro__ if base in _VALUES), None)
