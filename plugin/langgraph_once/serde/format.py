"""How a value is spelt in a row: the bytes of codec `once2`, and the tag beside the bytes.

The bytes are msgpack, with the extensions of `Code`.

Native are `None`, `bool`, integers of 64 bits, `float`, `str`, `bytes`, `list`, and `dict` with
text for keys. ormsgpack writes and reads them in C, and asks a hook about everything else. So no
Python code walks through plain data.

An `OBJECT` is a head and data. The head says how the object was taken apart (its form), its class,
the version of that class, and what the form adds. All objects that are made the same way have the
same head, byte for byte. So a reader finds the function that makes them by the head alone, and
looks up names, trust and versions once for each head.

Where an object holds others, its data may hold their data in place of them. The head of such a
*holder* holds the head of the object, and tells which of its attributes are data of which heads.

A tag is `<codec>[.zstd][.aesgcm]`, parsed and written only here. There is no `+` in what we write:
serializers that wrap others, such as upstream's `EncryptedSerializer`, append `+<cipher>` and split
at the first one. Versions up to 0.1.0 joined with `+`; those tags are read for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, Literal, NamedTuple, get_args

import ormsgpack
from ormsgpack import Ext, packb, unpackb

from langgraph_once.errors import UnknownTagError


class Code(IntEnum):
    """The extensions, each with what its content is. Numbers are never used again."""

    TUPLE = 1
    """An array."""
    SET = 2
    """An array."""
    FROZENSET = 3
    """An array."""
    MAP = 4
    """An array of keys and values in turn: a dictionary with keys that are not all text."""
    INT = 5
    """Two's complement, big endian: an integer of more than 64 bits."""
    TEXT = 6
    """UTF-8 in which lone surrogates stand as if they were characters."""
    VALUE = 8
    """A byte for a type of `plans.values`, then the data of that type."""
    OBJECT = 9
    """An array of two: the head, as bytes, and the data."""
    MANY = 10
    """An array of two: heads, and a byte for each item. It is no value itself. It stands first in a
    list, which is the whole value or an item of the dictionary that is. The byte counts the heads
    from one: the item is the data of such an object. Zero is an item as it is."""
    SHARED = 12
    """A value that occurs again further on."""
    AGAIN = 13
    """Four bytes: the number of a `SHARED`, counted in the order in which they begin."""
    GRAPH = 14
    """An array of values, of which the last is the value. `graph` describes it."""
    NODE = 15
    """Four bytes: which of the values of the `GRAPH` stands here."""


OPTIONS: Final = (
    ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
"""With all of them, ormsgpack 1.13 asks about everything that it would write as something else, but
for two: a `bytearray` or `memoryview` in a list or dictionary becomes `bytes`, as in LangGraph."""

EXTENSION_STARTS: Final = frozenset({*range(0xC7, 0xCA), *range(0xD4, 0xD9)})
"""The first bytes of extensions."""

NATIVE: Final[frozenset[type]] = frozenset({type(None), bool, int, float, str, bytes})

CHANNELS: Final = "channel_values"
"""Where a checkpoint holds its channels, and so its thread."""

MAX_LEVELS: Final = 32
"""How deep extensions may stand in each other, since each level copies what is in it. What is
deeper is a `GRAPH`."""


_OBJECT: Final = int(Code.OBJECT)


class Head(NamedTuple):
    """What the head of an object says."""

    form: str
    name: Any
    """The class, as `names.name_of` writes it."""
    version: int
    extra: list[Any]
    """What the form adds."""


def pack(value: Any) -> bytes:
    """Return the msgpack of a native value."""
    return packb(value, None, OPTIONS)


def head_bytes(form: str, name: Any, version: int = 0, *extra: Any) -> bytes:
    """Return a head."""
    return pack([form, name, version, *extra])


def head_parts(head: bytes) -> Head:
    """Return what a head says.

    Raises:
        ValueError: It is damaged.
    """
    form, name, version, *extra = unpackb(head)
    if type(form) is not str or type(version) is not int:
        raise ValueError("no head where one belongs")
    if pack([form, name, version, *extra]) != head:  # bounds count heads by how we spell them
        raise ValueError("a head that is spelt otherwise")
    return Head(form, name, version, extra)


class Held(IntEnum):
    """What stands in an attribute of a holder."""

    ONE = 0
    """The data of an object."""
    ALIKE = 1
    """A list of such data, or a dictionary of them by text. All have one head."""
    MIXED = 2
    """An array of two: a byte for each item, as in a `MANY`, and the list or dictionary."""


Holding = tuple[str, int, tuple[bytes, ...]]
"""The name of an attribute, a `Held`, and the heads."""

_HOLDER: Final = "holder"
HOLDER_START: Final = pack(_HOLDER)
"""What the head of a holder begins with, behind its first byte."""
_HOLDER_END: Final = 1 + len(HOLDER_START)
MAX_HOLDER_BYTES: Final = 1 << 14
"""Of the head of a holder, which may hold those of others."""


def holder_bytes(head: bytes, holdings: list[Holding]) -> bytes:
    """Return the head of an object that holds the data of others."""
    told = [[name, held, [*heads]] for name, held, heads in holdings]
    return pack([_HOLDER, None, 0, head, told])


def is_holder(head: bytes) -> bool:
    """Whether a head is that of a holder."""
    return head[1:_HOLDER_END] == HOLDER_START


def holder_parts(head: bytes) -> tuple[bytes, list[list[Any]]]:
    """Return what the head of a holder is made of.

    Raises:
        ValueError: It is damaged, or too long.
    """
    if len(head) > MAX_HOLDER_BYTES:
        raise ValueError("a head that is too long")
    _, _, _, inner, holdings = unpackb(head)
    if {type(inner), *(type(each) for _, _, heads in holdings for each in heads)} != {bytes}:
        raise ValueError("no head where one belongs")
    return inner, holdings


def heads_in(head: bytes) -> Iterator[bytes]:
    """Yield a head; of a holder the heads of the object and of all that it holds, in place of it.

    Raises:
        ValueError: It is damaged, or too long.
    """
    todo = [head]
    for each in todo:
        if is_holder(each):
            inner, holdings = holder_parts(each)
            todo += [inner, *(held for _, _, heads in holdings for held in heads)]
        else:
            yield each


def object_of(head: bytes, data: Any) -> Ext:
    """Return the extension of an object whose data are native."""
    return Ext(_OBJECT, packb([head, data], None, OPTIONS))


_HEADER_BYTES: Final = {
    0xC4: 2,
    0xC5: 3,
    0xC6: 5,
    0xD9: 2,
    0xDA: 3,
    0xDB: 5,
    0xDC: 3,
    0xDD: 5,
    0xDE: 3,
    0xDF: 5,
    0xC7: 3,
    0xC8: 4,
    0xC9: 6,
    **dict.fromkeys(range(0xD4, 0xD9), 2),
}
"""Of the headers that are longer than their first byte. The code of an extension comes last."""

_ARRAYS: Final = frozenset({*range(0x90, 0xA0), 0xDC, 0xDD})
_HOLD_MSGPACK: Final = frozenset(
    {Code.TUPLE, Code.SET, Code.FROZENSET, Code.MAP, Code.SHARED, Code.GRAPH}
)


def lead_bytes(data: bytes) -> int:
    """Return where the bytes end that are others whenever the value gets longer.

    A header holds how many items there are, or bytes; a thread of messages begins with a `MANY`,
    which holds a byte for each of them. Who cuts a value into pieces keeps all of that apart: else
    the first piece would be another one after each step.
    """
    at = _after_header(data, 0)
    if data[0] in _ARRAYS and data[at : at + 1] and data[at] in EXTENSION_STARTS:
        inner = _after_header(data, at)
        if data[inner - 1] != Code.MANY:
            return at
        return inner + int.from_bytes(data[at + 1 : inner - 1], "big")  # it has a head, so a size
    if data[0] not in EXTENSION_STARTS:
        return at
    code = data[at - 1]
    if code == Code.OBJECT:  # an array of the head, which is a bin, and the data
        at = _after_header(data, at)
        size = int.from_bytes(data[at + 1 : _after_header(data, at)], "big")
        at = _after_header(data, at) + size
    return _after_header(data, at) if code == Code.OBJECT or code in _HOLD_MSGPACK else at


def _after_header(data: bytes, at: int) -> int:
    return at + _HEADER_BYTES.get(data[at], 1)


Codec = Literal[
    "null", "bytes", "bytearray", "once2", "msgpack", "json", "pickle", "channels", "pieces"
]
"""How a value became bytes. `channels` and `pieces` are of savers: a checkpoint whose channels can
be read one by one, and a value whose pieces are rows of another table."""

Layer = Literal["zstd", "aesgcm", "aes"]
"""What was done to those bytes; `aes` is upstream's `EncryptedSerializer`, read only."""

_ORDERS: Final[tuple[tuple[Layer, ...], ...]] = ((), ("zstd",), ("aesgcm",), ("zstd", "aesgcm"))
"""The layers that we put around a value."""

_WRAPPER: Final = "+aes"
"""What upstream's serializer appends to the tag of the one that it wraps, which may be ours."""

_OLD_CODEC: Final = "once1"
_OF_OLD_CODEC: Final = (
    "a row of codec once1, which this version does not read; the version that wrote it rewrites "
    "all rows with `langgraph-once migrate --to msgpack`, and this one reads those"
)

_CIPHERS: Final = frozenset({"aesgcm", "aes"})


@dataclass(frozen=True, slots=True)
class Tag:
    """A codec and the layers around it, in the order in which they were applied."""

    codec: Codec
    layers: tuple[Layer, ...] = ()
    text: str = field(default="", repr=False, compare=False)
    """How the tag is spelt; by default as we write it."""
    inner: str = field(init=False, repr=False, compare=False)
    """How it was spelt before another serializer wrapped it; what our own cipher is bound to."""
    encrypted: bool = field(init=False, repr=False, compare=False)
    """Whether one of the layers is a cipher."""

    def __post_init__(self) -> None:
        # Each blob asks for these, and there are few tags.
        object.__setattr__(self, "text", self.text or ".".join((self.codec, *self.layers)))
        object.__setattr__(self, "inner", self.text.removesuffix(_WRAPPER))
        object.__setattr__(self, "encrypted", not _CIPHERS.isdisjoint(self.layers))

    def under(self, layer: Layer) -> Tag:
        """Return this tag with one more layer around it."""
        return _TAGS[f"{self.text}.{layer}"]

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> Tag:
        """Return the tag that `text` spells.

        Raises:
            UnknownTagError: A codec or layer that we do not know, or layers out of order.
        """
        try:
            return _TAGS[text]
        except KeyError:
            if str(text).startswith(_OLD_CODEC):
                raise UnknownTagError(_OF_OLD_CODEC, tag=text) from None
            raise UnknownTagError(
                "not a tag that this version reads; it knows `<codec>[.zstd][.aesgcm][+aes]` with "
                f"the codecs {', '.join(get_args(Codec))}",
                tag=text,
            ) from None


def may_be_bound(text: str | None) -> bool:
    """Whether a tag, which may be any, is that of what our cipher may have bound to its place."""
    tag = _TAGS.get(text or "")
    return tag is not None and tag.layers[-1:] == ("aesgcm",)


def _spellings() -> dict[str, Tag]:
    tags: dict[str, Tag] = {}
    for codec in get_args(Codec):
        for layers in _ORDERS:
            for separator in (".", "+"):
                text = separator.join((codec, *layers))
                tags[text] = Tag(codec, layers, text)
                tags[text + _WRAPPER] = Tag(codec, (*layers, "aes"), text + _WRAPPER)
    return tags


# The grammar is finite, so it is written out: nothing outside this table is ever guessed.
_TAGS: Final = _spellings()

PLAIN_TAGS: Final = frozenset(text for text, tag in _TAGS.items() if not tag.encrypted)
"""Of what no cipher is around."""
