"""What becomes of an object that cannot be written or made: why not, and what stands for it.

The errors are raised and caught inside of this room. What they say is shown to users, so no message
quotes a value.

A stand-in is what a reader hands on for an object that it cannot make. Where a class is gone,
renamed or not allowed, LangGraph hands on what it wrote of the object: a dictionary, a text, a
list. So does this package, as an instance of a subclass that also knows the name of the class, and
the bytes. A pydantic state makes the object of the dictionary as it would with LangGraph. While
nobody changed the stand-in, it is written back as it was read, and becomes the object again where
its class is there.

`Opaque` itself stands where LangGraph would have nothing.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from langgraph_once.serde.format import head_parts


class UnwritableError(ValueError):
    """Why an object cannot be written, in words that quote nothing of it: they are shown.

    Attributes:
        value: The object, where it is known: errors tell its place.
    """

    def __init__(self, reason: str, value: Any = None) -> None:
        super().__init__(reason)
        self.value = value


class UnreadableError(ValueError):
    """Why data cannot be rebuilt, in words that quote nothing of it: they are shown."""


class UnavailableError(ValueError):
    """Why an object cannot be rebuilt here: its class is gone, or is another one today."""


class TooDeepError(ValueError):
    """The value contains itself, or extensions stand in each other too deep: it takes a `GRAPH`."""


_MAX_LEVELS: Final = 16
"""How deep the parameters of a type are shown."""


class Source(NamedTuple):
    """What a stand-in is written back as."""

    head: bytes
    data: Any
    """`ITSELF` where that is what the stand-in holds."""
    as_read: Any = None
    """What the stand-in held when it was made, to tell whether it was changed since."""


class ITSELF:  # a constant that stays one through copies and pickles
    """Stands for what a stand-in holds."""


class _StandIn:
    """What all stand-ins have."""

    __slots__ = ()

    _source: Source

    @property
    def type_name(self) -> str:
        """The class of the object, as `module:Qual.Name`."""
        return shown_name(head_parts(self._source.head).name)


class Opaque(_StandIn):
    """An object of which only the name of its class and its content are known.

    It prints without the content, which may be private.

    Attributes:
        payload: The content, as the bytes hold it.
    """

    __slots__ = ("_source", "payload")

    def __init__(self, source: Source) -> None:
        self._source = source
        self.payload = source.data

    def _asdict(self) -> Any:
        # What LangGraph's server and serializer ask for what they do not know: so a client is
        # shown the content, as it is for an object whose class is there.
        return self.payload

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        # A `defaultdict` takes nothing for its factory that cannot be called.
        raise TypeError(f"{self.type_name} cannot be called: it was read as an `Opaque`")

    def __repr__(self) -> str:
        return f"<Opaque {self.type_name}>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not Opaque:
            return NotImplemented
        return self._source == other._source

    def __hash__(self) -> int:
        return hash(self._source.head)


class OpaqueDict(_StandIn, dict[Any, Any]):
    """The fields of an object, by name."""

    __slots__ = ("_source",)


class OpaqueList(_StandIn, list[Any]):
    """The items of an object."""

    __slots__ = ("_source",)


class OpaqueStr(_StandIn, str):
    """The text, or the value of an enum."""


class OpaqueInt(_StandIn, int):
    """The number, or the value of an enum."""


class OpaqueFloat(_StandIn, float):
    """The number, or the value of an enum."""


class OpaqueBytes(_StandIn, bytes):
    """The content of a binary object."""


_BY_KIND: Final[dict[type, type[Any]]] = {
    dict: OpaqueDict,
    list: OpaqueList,
    tuple: OpaqueList,
    str: OpaqueStr,
    bool: OpaqueInt,
    int: OpaqueInt,
    float: OpaqueFloat,
    bytes: OpaqueBytes,
}

STAND_INS: Final[frozenset[type]] = frozenset({Opaque, *_BY_KIND.values()})


def stand_in(head: bytes, data: Any, shown: Any) -> Any:
    """Return what stands for an object that cannot be made here.

    Args:
        head: Of the object.
        data: Of the object, as it was read.
        shown: What LangGraph would hand on; None where it would have nothing.
    """
    if shown is None:
        return Opaque(Source(head, data))
    kind = _BY_KIND.get(type(shown))
    if kind is None:
        return shown
    made = kind(shown)
    source = Source(head, ITSELF) if shown is data else Source(head, data, shown)
    made._source = source  # noqa: SLF001  # of this file
    return made


def source_of(value: Any) -> tuple[bytes, Any] | None:
    """Return the head and the data that a stand-in is written as; None if it was changed."""
    head, data, as_read = value._source  # noqa: SLF001  # of this file
    if data is ITSELF:
        return head, bare(value)
    return (head, data) if as_read is None or value == as_read else None


def bare(value: Any) -> Any:
    """Return what a stand-in holds, as the type that it is derived from."""
    return type(value).__mro__[2](value)


def shown_name(name: Any, levels: int = _MAX_LEVELS) -> str:
    """Return the name of a class, which has parameters if it is a list."""
    if type(name) is not list or not name:
        return str(name)
    if not levels:
        return "..."
    of, *parameters = (shown_name(each, levels - 1) for each in name)
    return f"{of}[{', '.join(parameters)}]"
