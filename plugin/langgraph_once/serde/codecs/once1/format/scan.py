"""The headers of msgpack, read without building anything: how much, how deep, what stands where."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from langgraph_once.serde.bounds.msgpack_headers import HEADERS, Kind, starts_of
from langgraph_once.serde.bounds.weight import Weights
from langgraph_once.serde.codecs.once1.format.layout import NESTED, REF_PREFIX, Ext

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "FIRST_OF_EXT",
    "VALUES_IN",
    "WEIGHTS",
    "Kind",
    "Token",
    "deepest",
    "holds_nothing",
    "is_deeper_than",
    "lead_bytes",
    "next_opening",
    "read_token",
    "ref_positions",
    "split",
    "text_at",
]


class Token(NamedTuple):
    """One header, and where its content begins."""

    kind: Kind
    size: int
    """Bytes of a scalar or an extension, items of an array, pairs of a map."""
    code: int
    """The extension's, else -1."""
    body: int

    @property
    def after(self) -> int:
        """Where the next header is: inside, where the content is msgpack."""
        inside = self.kind in (Kind.ARRAY, Kind.MAP) or self.code in NESTED
        return self.body if inside else self.body + self.size


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
"""How many values the content of an extension is."""

_VALUES_BEFORE: Final[dict[int, int]] = {Ext.MODELS: 2, Ext.TREE: 2}
"""How many values describe the list or the map that an extension stands for, before that."""

_MOST_LEAD_BYTES: Final = 4096
"""Of the entries of a table that are taken for what changes: they are stored with each manifest."""

WEIGHTS: Final = Weights(
    {
        Ext.TUPLE: 8,
        **dict.fromkeys((Ext.MAP, Ext.SET, Ext.FROZENSET), 20),
        **dict.fromkeys((Ext.ADAPTER, Ext.CLASS, Ext.FUNCTION), 20),
        **dict.fromkeys((Ext.MODEL, Ext.MODELS, Ext.HEAD, Ext.TREE), 20),
        **dict.fromkeys((Ext.FAMILY, Ext.VERSIONED, Ext.RECORD), 30),
    },
    others=20,
    nested=NESTED,
)
"""What reading takes."""


def read_token(data: bytes | memoryview, at: int) -> Token:
    """Return what stands at `at`.

    Raises:
        ValueError: Nothing does, or less than its header promises.
    """
    try:
        kind, width, size = HEADERS[data[at]]
        at += 1
        if width:
            size = int.from_bytes(data[at : at + width], "big")
            at += width
        code = -1
        if kind is Kind.EXT:
            code = data[at]
            at += 1
    except IndexError:
        raise ValueError("the msgpack is cut off") from None
    if size > len(data) - at:  # every item of an array takes a byte, too
        raise ValueError("a header promises more than there is")
    return Token(kind, size, code, at)


def lead_bytes(data: bytes, at: int = 0) -> int:
    """Return where the bytes end that are others whenever the value at `at` gets longer.

    Raises:
        ValueError: The bytes are damaged.
    """
    top = read_token(data, at)
    at = top.body
    if top.kind is Kind.ARRAY and top.size:
        first = read_token(data, at)
        return first.body + first.size if first.code == Ext.HEAD else at
    if top.code == Ext.TABLE:
        return _lead_of_last(data, at)
    if top.code in _VALUES_BEFORE:
        at = _after_values(data, read_token(data, at).body, _VALUES_BEFORE[top.code])
        return read_token(data, at).body
    return read_token(data, at).body if top.code == Ext.TUPLE else at


def _lead_of_last(data: bytes, at: int) -> int:
    """`lead_bytes` of the last entry of a table, if those before it are short."""
    last = begin = at
    while at < len(data):
        token = read_token(data, at)
        last, at = token.body, token.body + token.size
    return lead_bytes(data, last) if last - begin <= _MOST_LEAD_BYTES else begin


def _after_values(data: bytes, at: int, count: int) -> int:
    """Return where so many scalars, or arrays of such, end."""
    while count:
        token = read_token(data, at)
        is_array = token.kind is Kind.ARRAY
        at = token.body if is_array else token.body + token.size
        count += token.size - 1 if is_array else -1
    return at


def split(data: bytes) -> list[bytes | memoryview]:
    """Return the entries of a blob; the blob itself where it has no table.

    Raises:
        ValueError: The bytes are damaged.
    """
    top = read_token(data, 0)
    if top.code != Ext.TABLE:
        return [data]
    if top.body + top.size != len(data) or not top.size:
        raise ValueError("an empty table, or bytes after it")
    view = memoryview(data)
    entries: list[bytes | memoryview] = []
    at = top.body
    while at < len(data):
        token = read_token(data, at)
        if data[at] not in (0xC4, 0xC5, 0xC6):
            raise ValueError("an entry of the table is not a bin")
        at = token.body + token.size
        entries.append(view[token.body : at])
    return entries


def text_at(data: bytes, at: int) -> tuple[str, int]:
    """Return the string at `at`, and where it ends."""
    token = read_token(data, at)
    end = token.body + token.size
    if token.kind is not Kind.SCALAR or not (0xA0 <= data[at] <= 0xBF or 0xD9 <= data[at] <= 0xDB):
        raise ValueError("no name where one belongs")
    return data[token.body : end].decode(), end


def holds_nothing(data: bytes | memoryview) -> bool:
    """Whether `data` is one text or the bytes of one buffer, in which no other value stands."""
    top = read_token(data, 0)
    is_leaf = not _NESTED[top.code] if top.kind is Kind.EXT else top.kind is Kind.SCALAR
    return is_leaf and top.body + top.size == len(data)


def _step_over(data: bytes | memoryview, at: int, first: int) -> int:
    """Return how far the next header is from the one at `at`, which begins with `first`.

    As `read_token(data, at).after` does, in a quarter of the time.
    """
    width = _WIDTHS[first]
    if width == 1:
        size = data[at + 1]
    else:
        size = int.from_bytes(data[at + 1 : at + 1 + width], "big") if width else _SIZES[first]
    step = 1 + width
    if first in FIRST_OF_EXT:
        step += 1
        return step if _NESTED[data[at + step - 1]] else step + size
    return step if first in _FIRST_OF_LONG else step + size


def next_opening(data: bytes, at: int) -> int:
    """Return where the next extension or array is, from the header at `at` on.

    Arrays that begin with anything but an extension are passed over, where one byte tells.

    Raises:
        ValueError: The last header is cut off.
    """
    end = len(data)
    steps, ext = _PLAIN_STEPS, FIRST_OF_EXT
    try:
        while at < end:
            first = data[at]
            step = steps[first]
            if step:
                at += step
            elif first in ext or first in _FIRST_OF_ARRAY:
                if first > _FIXARRAY_15 or data[at + 1 : at + 2] in _EXT_BYTES:
                    return at
                at += 1
            else:
                at += _step_over(data, at, first)
    except IndexError:
        raise ValueError("the msgpack is cut off") from None
    return end


def is_deeper_than(data: bytes, limit: int) -> bool:
    """Whether containers and extensions stand in each other more than `limit` deep."""
    # Text holds no such bytes, so most data is let through at the speed of C.
    if len(data.translate(None, _NO_HEADERS)) <= limit:
        return False
    return deepest(data, limit)[0] > limit


def deepest(data: bytes, limit: int = sys.maxsize) -> tuple[int, int]:
    """Return how deep containers stand in each other, and how deep extensions; stops at `limit`."""
    at = most = most_objects = objects = 0
    todo: list[list[int]] = []  # of each that is open: how many values are to come, its end
    while at < len(data) and most <= limit:
        token = read_token(data, at)
        at = token.after
        count, end = _content(token)
        if count:
            todo.append([count, end])
            objects += end >= 0
            most, most_objects = max(most, len(todo)), max(most_objects, objects)
            continue
        while todo:
            todo[-1][0] -= 1
            if todo[-1][0]:
                break
            end = todo.pop()[1]
            objects -= end >= 0
            if end not in (-1, at):
                raise ValueError("an extension with the wrong number of values")
    return most, most_objects


def _content(token: Token) -> tuple[int, int]:
    if token.kind is Kind.ARRAY:
        return token.size, -1
    if token.kind is Kind.MAP:
        return 2 * token.size, -1
    if token.code in VALUES_IN:
        return VALUES_IN[token.code], token.body + token.size
    return 0, -1


def ref_positions(data: bytes) -> Iterator[int]:
    """Yield where in `data` the index of each `REF` begins."""
    at = 0
    while at < len(data):
        token = read_token(data, at)
        if token.code == Ext.REF and data[at : token.body] == REF_PREFIX:
            yield token.body
        at = token.after


_FIXARRAY_15: Final = 0x9F
_FIRST_OF_ARRAY: Final = starts_of(Kind.ARRAY)
_PLAIN_STEPS: Final = [
    0 if width or kind in (Kind.EXT, Kind.ARRAY) else 1 if kind is not Kind.SCALAR else 1 + size
    for kind, width, size in HEADERS
]
"""How far the next header is, where the first byte tells, and it is no array's."""
_NESTED: Final = [code in NESTED for code in range(256)]
_WIDTHS: Final = [width for _, width, _ in HEADERS]
_SIZES: Final = [size for _, _, size in HEADERS]
_FIRST_OF_LONG: Final = frozenset({0xDC, 0xDD, 0xDE, 0xDF})
"""The bytes that an array or a map with a length field begins with."""

FIRST_OF_EXT: Final = starts_of(Kind.EXT)
"""The bytes that an extension begins with."""
_EXT_BYTES: Final = frozenset(bytes([b]) for b in FIRST_OF_EXT)

_NO_HEADERS: Final = bytes(sorted(starts_of(Kind.SCALAR)))
