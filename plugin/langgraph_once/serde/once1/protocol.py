"""What codec `once1` asks of whoever teaches it a type.

Two extension points. An `Adapter` knows concrete types (`Fraction`, `range`) and needs no
class in the bytes: its name stands for them. A `Family` knows a kind of class (dataclasses,
enums, pydantic models): the bytes name the class beside the data, the allowlist decides
whether it may be loaded, and the family must recognise it again before anything is made of
it.

Both turn an object into *data*: any value that the codec can write, other objects included,
which the codec encodes in turn. Neither calls the codec itself.

An `encode` that refuses an object says why with an `UnwritableError`. Of every other error, only
the type is shown: its message may quote the object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

__all__ = ["Adapter", "CyclicFamily", "Family", "UnwritableError"]


class UnwritableError(ValueError):
    """Why an object cannot be written, in words that quote nothing of it: they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """How values of some concrete types are written and rebuilt."""

    name: str
    """Stands for the adapter in the bytes, for ever: short, lower case, never reused."""

    types: tuple[type, ...]
    """The exact types it writes; a subclass is not meant."""

    encode: Callable[[Any], Any]
    """Object to data. Must not change the object."""

    decode: Callable[[Any], Any]
    """Data, as read from untrusted bytes, to object. Checks the shape of the data before it
    calls any constructor, and raises `ValueError` or `TypeError` for any other shape."""


@runtime_checkable
class Family(Protocol):
    """How the instances of a kind of class are written and rebuilt."""

    name: str
    """Stands for the family in the bytes, for ever."""

    def matches(self, cls: type) -> bool:
        """Whether instances of `cls` are this family's. Asked on writing and on reading."""

    def encode(self, obj: Any) -> Any:
        """Object to data, which must hold all that `decode` needs besides the class."""

    def decode(self, cls: type, data: Any) -> Any:
        """Class, allowed and recognised, and untrusted data to object; as `Adapter.decode`."""


@runtime_checkable
class CyclicFamily(Family, Protocol):
    """A family whose objects may be part of a cycle: they are made empty, then filled."""

    def blank(self, cls: type) -> Any:
        """An instance without content."""

    def fill(self, obj: Any, data: Any) -> None:
        """Give a blank instance its content; `decode` is `blank` and `fill`."""
