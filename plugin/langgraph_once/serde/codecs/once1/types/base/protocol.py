"""What codec `once1` asks of whoever teaches it a type.

Three extension points, asked in this order. An `Adapter` knows concrete types (`Fraction`,
`range`) and needs no class in the bytes: its name stands for them. A `SubclassAdapter` knows
types and whatever is derived from them. A `Family` knows a kind of class (dataclasses, enums,
pydantic models). For these two the bytes name the class beside the data, the allowlist decides
whether it may be loaded, and it must be recognised again before anything is made of it.

All turn an object into *data*: any value that the codec can write, other objects included,
which the codec encodes in turn. None calls the codec itself.

An `encode` that refuses an object says why with an `UnwritableError`, a `decode` that refuses
data with an `UnreadableError`. Of every other error, only the type is shown: its message may
quote the object.

`plain` and `parts` check untrusted data before any constructor sees it. An `Unstored` or an
`UnstoredError` stands for a part of an exception that could not be stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

__all__ = [
    "Adapter",
    "CyclicFamily",
    "EditableFamily",
    "Family",
    "SubclassAdapter",
    "UnreadableError",
    "Unstored",
    "UnstoredError",
    "UnwritableError",
    "parts",
    "plain",
    "told_by",
]


class UnwritableError(ValueError):
    """Why an object cannot be written, in words that quote nothing of it: they are shown."""


class UnreadableError(ValueError):
    """Why data cannot be rebuilt, in words that quote nothing of it: they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """How values of some concrete types are written and rebuilt."""

    name: str
    """Stands for the adapter in the bytes, for ever: short, lower case, never reused."""

    types: tuple[type, ...]
    """The exact types it writes; for their subclasses there is `SubclassAdapter`."""

    encode: Callable[[Any], Any]
    """Object to data. Must not change the object."""

    decode: Callable[[Any], Any]
    """Data, as read from untrusted bytes, to object. Checks the shape of the data before it
    calls any constructor, and raises `ValueError` or `TypeError` for any other shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubclassAdapter:
    """How values of some types, and of all that is derived from them, are written and rebuilt.

    Of several that know a class, the one whose base is nearest to it writes it. A class that two
    bases are equally near to is refused: register an `Adapter` for it, or name it as a base.
    """

    name: str
    """Stands for the adapter in the bytes, for ever, as the name of an `Adapter`."""

    bases: tuple[type, ...]
    """Instances of these and of their subclasses are meant; classes that were registered as
    virtual subclasses are not. Instances of `list`, `dict` and the like themselves never are."""

    encode: Callable[[Any], Any]
    """Object to data, which must hold all that `decode` needs besides the class."""

    decode: Callable[[Any, Any], Any]
    """The class, which the bytes name and the allowlist has, and untrusted data to an instance of
    exactly that class; as `Adapter.decode`. Anything else is refused."""


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


@runtime_checkable
class EditableFamily(Family, Protocol):
    """A family that shows upgrade functions a dictionary of attributes, whatever its data is."""

    def fields_of(self, data: Any) -> dict[str, Any]:
        """The attributes by name, in a new dictionary."""

    def with_fields(self, cls: type, data: Any, fields: dict[str, Any]) -> Any:
        """`data` with these attributes instead, for `cls` as it is today."""


def plain(data: Any, *kinds: type) -> Any:
    """Return `data`, whose type must be exactly one of `kinds`.

    Raises:
        ValueError: It is another.
    """
    if type(data) not in kinds:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"expected {wanted}, got {type(data).__name__}")
    return data


def parts(data: Any, *kinds: type) -> tuple[Any, ...]:
    """Return `data`, which must be a tuple of as many parts, each exactly of its kind.

    Args:
        data: What the bytes hold.
        kinds: A type for each part; `object` stands for any.

    Raises:
        ValueError: It has another shape.
    """
    if type(data) is not tuple or len(data) != len(kinds):
        raise ValueError(f"expected a tuple of {len(kinds)} parts")
    for part, kind in zip(data, kinds, strict=True):
        if kind is not object and type(part) is not kind:
            raise ValueError(f"expected {kind.__name__}, got {type(part).__name__}")
    return data


_MAX_TEXT_CHARS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Unstored:
    """Stands for an argument or an attribute of an exception that could not be stored.

    Attributes:
        type_name: What it was an instance of, as `module:Qual.Name`.
    """

    __module__ = "langgraph_once.serde"  # rows of codec `msgpack` hold it: not where this file is

    type_name: str

    def __repr__(self) -> str:
        return f"<Unstored {self.type_name}>"


class UnstoredError(Exception):
    """Stands for an exception of a class that could not be stored, or may not be loaded.

    It has the notes of that exception, and was raised from the same. Its text begins with the
    name of the class.

    Attributes:
        type_name: The class, as `module:Qual.Name`.
        text: What `str()` of the exception said, cut short at 20,000 characters.
    """

    __module__ = "langgraph_once.serde"

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(type_name, text)
        self.type_name = type_name
        self.text = text

    def __str__(self) -> str:
        return f"{self.type_name}: {self.text}" if self.text else self.type_name


def told_by(error: BaseException) -> str | None:
    """Return what `str()` of `error` says, cut short; None where that fails."""
    try:
        text: Any = str(error)
        return str.__getitem__(text, slice(_MAX_TEXT_CHARS))
    except Exception:  # it is code of the exception's class
        return None
