"""The bytes of codec `once1`, version 1: msgpack, with the extensions listed in `Ext`.

**A blob** is one msgpack value: either the value itself, or one `TABLE` extension.

**Native** are `None`, `bool`, `float` (always 64 bits), `int` from -2**63 to 2**64 - 1, `str`
(valid UTF-8), `bytes`, `list`, and `dict` whose keys are all native `str`, in their order, no
key twice. Every other value is an extension. "An array" below is one msgpack array; "a
sequence" is msgpack values one after the other, without a header around them.

**A table** holds the parts that cannot be written in place: one that occurs more than once or
contains itself, one more than `MAX_LEVELS` or `MAX_OBJECTS` deep, a large buffer. The content
of `TABLE` is a sequence of msgpack `bin`, each an entry: msgpack of one value. The last one is
the value, and `REF` stands for any of them. An entry comes after those that it refers to, so
that a `REF` points back, to one that is complete. Where it points forward, or to its own entry,
the value contains itself: the entry is a list, dict, set or `UNKNOWN`, or an object of a
`CyclicFamily`, which a reader makes empty, and fills when its turn comes.

**Kinds** are a `bin` of at most `MAX_KINDS_BYTES`: msgpack of an array with an array for each. It
holds the class of an object, and for a pydantic model the names of the fields set (nil where
those are the fields that have a value) and whether it has extra values, of which there are none.
`RECORD` and `FAMILY` can say the same of any object, simple or not: `read/general_form.py` tells
how. **A mark** is `MARK`: nothing was lost on the way to it.

**Classes and functions** are named `module:Qual.Name`; for generic ones with parameters, see
`registry/parametrised.py`. A reader loads one only if its allowlist names it. **Families and
adapters** are named by the name they are registered under.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import ormsgpack

from langgraph_once.serde.bounds.msgpack_headers import is_surely_one

__all__ = [
    "ATOMS",
    "END",
    "END_MARK",
    "MARK",
    "MARKED",
    "MAX_KINDS_BYTES",
    "MAX_LEVELS",
    "MAX_OBJECTS",
    "MAX_TREE_LEVELS",
    "MIN_BUFFER_BYTES",
    "OPTIONS",
    "REF_PREFIX",
    "VALUES_IN",
    "Ext",
    "array",
    "array_header",
    "buffer_entry",
    "entry",
    "pack",
    "table",
    "unpack",
    "unpack_one",
]


class Ext(IntEnum):
    """The extension codes, and what the content of each is."""

    TUPLE = 1
    """An array: the items."""
    MAP = 2
    """An array: first key, its value, second key, its value; a dict with other keys than `str`."""
    SET = 3
    """An array: the items, in the order of their bytes."""
    FROZENSET = 4
    """An array: the items, in the order of their bytes."""
    INT = 5
    """An integer beyond the native ones: two's complement, big endian, as short as possible."""
    STR = 6
    """A string with lone surrogates: UTF-8, with surrogates encoded as if they were characters."""
    BYTEARRAY = 7
    """The bytes."""
    MEMORYVIEW = 8
    """The bytes, in C order."""
    ADAPTER = 9
    """A sequence of two: the adapter's name, the data."""
    FAMILY = 10
    """A sequence of three: the family's name, the class, the data, which is no tuple."""
    VERSIONED = 11
    """A sequence of four: as `FAMILY`, the class's `__once_version__` before the data, not 0."""
    CLASS = 12
    """A class itself: its name in UTF-8."""
    FUNCTION = 13
    """A module-level function: its name in UTF-8."""
    UNKNOWN = 14
    """A sequence of two: the class of an object nobody knows how to write, its attributes."""
    REF = 15
    """The index of an entry of the table, four bytes, big endian."""
    TABLE = 16
    """A sequence of `bin`, the entries; only as the whole blob."""
    RECORD = 17
    """As `FAMILY`, where the data is a tuple: an array of its items stands for it."""
    MODEL = 18
    """An array of three: kinds, of which there is one; a map, the values of the fields; a mark.
    It stands for a simple object."""
    MODELS = 19
    """An array of four: kinds; a `bin` with a byte for each item; an array of the items; a mark.
    It stands for a list. The byte counts the kinds from one, and the item is a map as in `MODEL`.
    If it is zero, the item stands there as it is."""
    HEAD = 20
    """An array of three: kinds; a `bin` as in `MODELS`; a mark. It is no value, but the first item
    of a native array, and says of the others what `MODELS` says of its items. Such an array is
    written as the value, or in maps that are not in anything else. In a table, only the last entry
    has some, and nothing refers to it. Behind a kind may stand a map with the forms of fields, as
    in `TREE`, without indices."""
    TREE = 21
    """An array of four: a `bin` of at most `MAX_KINDS_BYTES`, msgpack of a form; an array of `bin`;
    a value; a mark. Where the form says so, the maps in the value are objects as in `MODEL`. It is
    nil, where all stands as it is; an array of one, the form of the items of an array; a map with
    the key `""`, the form of the values of a map; a kind, and behind it a map with the forms of
    fields, for an object; or nil and several of these, for an object whose kind the next byte of a
    `bin` tells, counted from zero. Each such form has one, in the order in which they begin.
    What is no array, or no map, stands as it is."""

    UPSTREAM = 22
    """A sequence of two: the code and the content of an extension of codec `msgpack`, which could
    not be rebuilt when it was read."""


VALUES_IN: Final[dict[int, int]] = {
    Ext.TUPLE: 1,
    Ext.MAP: 1,
    Ext.SET: 1,
    Ext.FROZENSET: 1,
    Ext.ADAPTER: 2,
    Ext.FAMILY: 3,
    Ext.VERSIONED: 4,
    Ext.UNKNOWN: 2,
    Ext.RECORD: 3,
    Ext.MODEL: 1,
    Ext.MODELS: 1,
    Ext.TREE: 1,
}
"""The extensions whose content is msgpack, and how many values that is."""

ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
"""The native types that hold no other value; some of their values need an extension."""

MAX_LEVELS: Final = 64
"""How deep containers and objects may stand in each other before a part moves to the table."""

MAX_OBJECTS: Final = 8
"""How deep extensions whose content is msgpack may, not counting what an adapter wraps scalars in.

Each of them copies what is in it. So a reader holds at most twice as many copies of a blob.
"""

MAX_KINDS_BYTES: Final = 8192
"""Bounds how much longer a blob gets when its models are written as `RECORD`."""

MAX_TREE_LEVELS: Final = 16
"""How deep containers and objects may stand in each other in a `TREE`."""

MARK: Final = b"once"

MARKED: Final = ormsgpack.packb(MARK)
"""A mark, as it is written."""

MIN_BUFFER_BYTES: Final = 64 * 1024
"""A memoryview of this size or larger is an entry of its own, so that it is copied once."""

_MAX_BYTES: Final = 2**32 - 1

REF_PREFIX: Final = b"\xd6\x0f"
"""What precedes the four bytes of a `REF`."""

OPTIONS: Final = (
    ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)

# ormsgpack ignores what follows the first value. So a sequence is read as an array with this
# mark as one more item: a sequence with one value too few or too many misplaces it.
END_MARK: Final = b"end of langgraph-once value"
END: Final = ormsgpack.packb(END_MARK)


def pack(value: Any, default: Any = None) -> bytes:
    """Return the msgpack of `value`; `default` is asked about all that is not native."""
    return ormsgpack.packb(value, default=default, option=OPTIONS)


def array_header(count: int) -> bytes:
    """Return the header of an array of `count` values."""
    if count < 16:
        return bytes([0x90 + count])
    if count < 1 << 16:
        return b"\xdc" + count.to_bytes(2, "big")
    return b"\xdd" + count.to_bytes(4, "big")


def array(packed: Sequence[bytes]) -> bytes:
    """Return the array of values that are msgpack already."""
    return array_header(len(packed)) + b"".join(packed)


def entry(data: bytes) -> tuple[bytes, bytes]:
    """Return the pieces of an entry of the table.

    Raises:
        ValueError: It is too large, as from all of these.
    """
    return _header(b"\xc6", len(data)), data


def buffer_entry(
    code: Ext, buffer: bytes | bytearray | memoryview
) -> tuple[bytes | memoryview, ...]:
    """Return the pieces of an entry: an extension, whose content is copied when they are joined."""
    content = memoryview(buffer)
    if content.ndim != 1 or content.format != "B" or not content.contiguous:
        content = memoryview(content.tobytes())
    header = _header(b"\xc9", len(content)) + bytes([code])
    return _header(b"\xc6", len(header) + len(content)), header, content


def table(pieces: Sequence[bytes | memoryview]) -> bytes:
    """Return the blob that is a table with these entries."""
    header = _header(b"\xc9", sum(map(len, pieces))) + bytes([Ext.TABLE])
    return b"".join((header, *pieces))


def _header(kind: bytes, size: int) -> bytes:
    if size > _MAX_BYTES:
        raise ValueError(f"a part of the value takes {size} bytes, and the most is {_MAX_BYTES}")
    return kind + size.to_bytes(4, "big")


def unpack(content: bytes | memoryview, count: int, ext_hook: Any = None) -> list[Any]:
    """Return the `count` values of a sequence, and behind them one more, which means nothing.

    Raises:
        ValueError: The sequence holds another number of values.
    """
    framed = b"".join((_HEADERS[count], content, END))
    items: list[Any] = ormsgpack.unpackb(framed, ext_hook=ext_hook)
    mark = items[-1]
    if type(mark) is not bytes or mark != END_MARK:
        raise ValueError("a sequence with the wrong number of values")
    return items


def unpack_one(content: bytes, ext_hook: Any) -> Any:
    """Return what `unpack` returns first, of a sequence of one; nearly all blobs are that.

    A large value of few long parts is not copied for that.

    Raises:
        ValueError: The bytes are more than one value, or less.
    """
    if is_surely_one(content):
        return ormsgpack.unpackb(content, ext_hook=ext_hook)
    value, mark = ormsgpack.unpackb(b"".join((_PAIR, content, END)), ext_hook=ext_hook)
    if type(mark) is not bytes or mark != END_MARK:
        raise ValueError("bytes after the end of the value")
    return value


_PAIR: Final = b"\x92"
_HEADERS: Final = {count: bytes([0x90 + count + 1]) for count in range(1, 15)}
