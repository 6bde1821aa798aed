"""What reading a row may take: memory, time, stack. It is asked before it is spent.

Most bounds are upper bounds that C code counts in passing: what a blob would take if each byte that
can begin a list did. Rows that nobody made to attack stay below them. Where one does not, its
headers are looked at one by one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from enum import Flag
from ipaddress import IPv4Network, IPv6Network
from itertools import islice
from typing import Any, Final

from ormsgpack import OPT_NON_STR_KEYS, unpackb

from langgraph_once.errors import PayloadError, SizeLimitError
from langgraph_once.serde.format import EXTENSION_STARTS, HOLDER_START, MAX_HOLDER_BYTES, Code
from langgraph_once.serde.opaque import UnavailableError

MAX_EXPANDED: Final = 1 << 28
"""How many bytes a value may have with its shared parts written out: a comparison, a hash or JSON
meets a part each time that it occurs."""
MAX_UNITS: Final = 1 << 28
"""Of 16 bytes: the memory that a value may take, unless `max_decoded_bytes` is more."""
MAX_HASH_LEVELS: Final = 500
"""How deep tuples may stand in each other: they are hashed on the C stack."""

# Headers of msgpack ---------------------------------------------------------------------

_LISTS: Final = bytes([*range(0x90, 0xA0), 0xDC, 0xDD])
_MAPS: Final = bytes([*range(0x80, 0x90), 0xDE, 0xDF])
_CONTAINERS: Final = _LISTS + _MAPS
_EXTENSIONS: Final = bytes(EXTENSION_STARTS)
_TEXTS: Final = bytes(
    [*range(0xA0, 0xC0), *range(0xC4, 0xC7), 0xCB, 0xCF, 0xD3, *range(0xD9, 0xDC)]
)
_LENGTHS: Final = {
    **{first: (0, size) for size, each in ((1, b"\xcc\xd0"), (2, b"\xcd\xd1")) for first in each},
    **{
        first: (0, size)
        for size, each in ((4, b"\xca\xce\xd2"), (8, b"\xcb\xcf\xd3"))
        for first in each
    },
    **{0xC4 + n: (1 << n, 0) for n in range(3)},
    **{0xC7 + n: (1 << n, 1) for n in range(3)},
    **{0xD4 + n: (0, 1 + (1 << n)) for n in range(5)},
    **{0xD9 + n: (1 << n, 0) for n in range(3)},
}
"""By first byte: how many bytes hold the length, and how many stand behind these in any case."""
_ALL_CODES: Final = range(256)


def _values(data: bytes, closed: Container[int] = _ALL_CODES) -> Iterator[tuple[int, int, int]]:
    """Yield each value from header to header: its first byte, where it begins, how many it holds.

    A dictionary of three holds six. An extension holds its bytes, as a number below zero. What is
    in it follows, unless its code is one of the `closed`.
    """
    at = 0
    while at < len(data):
        start, first = at, data[at]
        at += 1
        held = 0
        if 0x80 <= first < 0xA0:
            held = (first & 15) * (2 if first < 0x90 else 1)
        elif 0xA0 <= first < 0xC0:
            at += first & 31
        elif 0xDC <= first < 0xE0:
            width = 2 if first in (0xDC, 0xDE) else 4
            held = int.from_bytes(data[at : at + width], "big") * (2 if first >= 0xDE else 1)
            at += width
        elif first in _LENGTHS:
            width, more = _LENGTHS[first]
            size = more + int.from_bytes(data[at : at + width], "big")
            at += width
            if first in _EXTENSIONS:
                held = -size
                size = size if at < len(data) and data[at] in closed else 1
            at += size
        yield first, start, held


def _count(data: bytes, of: bytes) -> int:
    return len(data) - len(data.translate(None, of))


# Memory, and the time of objects --------------------------------------------------------

SMALL_BYTES: Final = 1024 * 1024
"""A compressed row that is smaller may hold a part of what others may, so that a kilobyte of zstd
does not say all that a row may be."""
_SMALL_SHARE: Final = 16
_BYTES_OF_A_UNIT: Final = 16
# An empty list: 56 bytes, and 16 of the garbage collector's.
_OF_A_CONTAINER: Final = 72
# A short text: 49 bytes and what it says, to the next eight.
_OF_A_TEXT: Final = 56
_OF_A_BYTE: Final = 8  # a place in a list
_MOST_OF_A_BYTE: Final = _OF_A_CONTAINER + _OF_A_BYTE
_OF_AN_OBJECT: Final = 1536
"""Of a compressed row that is small and becomes longer than such a row: there are up to 170,000
then. Making one takes up to ten microseconds, whatever it weighs."""
_OF_AN_ITEM: Final = 1024
"""Of a thread, or in an object that holds others."""
_OF_FORMS: Final = {
    b"\xa6pandas": 1 << 16,
    b"\xa6polars": 1 << 15,
    b"\xa5arrow": 1 << 15,
    b"\xa5numpy": 1 << 11,
    b"\xa9exception": 1 << 11,
}
"""Making an object of these forms takes longer: of pandas a third of a millisecond."""

_OF_JSON: Final = {b"[": 80, b",": 64, b":": 64}
"""What the value behind each of these signs may take, in bytes. Python reads JSON with care for
nothing, and few rows are JSON."""
_OF_A_MAP_IN_JSON: Final = 240
_FEW_VALUES: Final = 1024
_NO_PARTS: Final = frozenset({"null", "bytes", "bytearray", "pieces"})
_CLOSED: Final[Container[int]] = frozenset({Code.INT, Code.TEXT, Code.AGAIN, Code.NODE, Code.MANY})
"""Extensions of ours in which there are no values of msgpack, or few."""
_LIGHT: Final[Container[int]] = frozenset({Code.TUPLE, Code.INT, Code.TEXT, Code.AGAIN})
_OF_A_LIGHT: Final = 256
"""What these extensions take. They are made soon."""
_GRAPH: Final = re.compile(rb"(?:\xc7.|\xc8..|\xc9....|[\xd4-\xd8])\x0e", re.DOTALL)
_BINARIES: Final = bytes(range(0xC4, 0xC7))
_STOCK: Final = b"\x94\xa5stock"
"""In the head of objects whose data are bytes of LangGraph's."""


def unchecked_bytes(max_units: int) -> int:
    """Return how long a blob may be that is not compressed, so that `check_weight` lets it pass."""
    return max_units * _BYTES_OF_A_UNIT // _MOST_OF_A_BYTE


def check_weight(data: bytes, stored_bytes: int, max_units: int, tag: str) -> None:
    """Check how much memory the value of a blob may take, and of a small row, how much time.

    Args:
        data: The blob.
        stored_bytes: How many bytes it takes in the database, compressed.
        max_units: The most units of memory that it may take.
        tag: Of the row.

    Raises:
        SizeLimitError: It is too much.
    """
    codec = _codec(tag)
    most, of_object = max_units * _BYTES_OF_A_UNIT, _OF_A_CONTAINER
    if stored_bytes < SMALL_BYTES and stored_bytes < len(data):
        most //= _SMALL_SHARE
        of_object = _OF_AN_OBJECT if len(data) > SMALL_BYTES else of_object
    if codec in _NO_PARTS or len(data) * max(of_object, _MOST_OF_A_BYTE) <= most:
        return
    if codec == "json":
        of_signs = {**_OF_JSON, b"{": max(of_object, _OF_A_MAP_IN_JSON)}
        exceeds = sum(units * data.count(sign) for sign, units in of_signs.items()) > most
    # To count, or to look for heads, in an array of 100 MB takes longer than to write it.
    elif (few := _few_values(codec, data)) is not None:
        exceeds = _weighs_more(few, codec, data, most, of_object)
    else:
        objects = _count(data, _EXTENSIONS)
        if objects and of_object == _OF_AN_OBJECT:
            if objects * max(_OF_FORMS.values()) > most:
                most -= _of_forms(data)
            objects += _count(data, _MAPS)  # each may be an item of a thread
            if codec == "channels" or _GRAPH.match(data):
                objects += _count(data, _BINARIES)  # each may be a node
        left = most - of_object * objects
        exceeds = _left(data, left) < 0 and _is_heavy(codec, data, most, of_object)
    if exceeds:
        raise SizeLimitError(
            f"the value of {len(data):,} bytes may take more memory or time than "
            f"is allowed ({max_units:,} units of 16 bytes); raise `max_decoded_bytes` above that "
            "number if you trust the row",
            limit_objects=max_units,
            tag=tag,
        )


def most_to_add(data: bytes, max_units: int, tag: str) -> int:
    """Return how much the bytes may weigh (`most_added`) that change in a blob or come to it.

    Up to that weight `check_weight` lets the blob pass, of however few bytes it is stored. To find
    it takes twice as long as the check. Small blobs, which are soon checked, have no such
    allowance; nor have those whose weight depends on where a byte stands.
    """
    codec = _codec(tag)
    if codec != "once2" or len(data) <= SMALL_BYTES or _GRAPH.match(data):
        return 0  # that of a graph is counted otherwise
    if _few_values(codec, data) is not None:
        return 0
    most = max_units * _BYTES_OF_A_UNIT // _SMALL_SHARE - _of_forms(data)
    return max(0, _left(data, most - _count(data, _EXTENSIONS + _MAPS) * _OF_AN_OBJECT))


def most_added(parts: Iterable[bytes]) -> float:
    """Return what bytes may weigh, whatever stands before and behind each of them.

    That has no bound if one begins as a graph does: what follows it means something else then.
    """
    of_a_byte = _OF_AN_OBJECT + _MOST_OF_A_BYTE
    return sum(
        math.inf
        if _GRAPH.match(part)
        else len(part) * of_a_byte + _of_forms(part) + max(_OF_FORMS.values())
        for part in parts
    )


def _codec(tag: str) -> str:
    return tag.partition(".")[0].partition("+")[0]


def _of_forms(data: bytes) -> int:
    return sum(units * data.count(form) for form, units in _OF_FORMS.items())


def _few_values(codec: str, data: bytes) -> list[tuple[int, int, int]] | None:
    """Return `_values` of a blob, if they are few, and tell all that it takes."""
    if codec == "channels" or (codec == "once2" and _GRAPH.match(data)):
        return None
    values = [*islice(_values(data, _closed(codec)), _FEW_VALUES + 1)]
    is_few = len(values) <= _FEW_VALUES
    return values if is_few and not (codec == "once2" and _has_stock(values, data)) else None


def _closed(codec: str) -> Container[int]:
    return _CLOSED if codec == "once2" else ()


def _has_stock(values: Iterable[tuple[int, int, int]], data: bytes) -> bool:
    """Whether one of these is a head of objects whose data are LangGraph's, or holds such heads."""
    for first, start, held in values:
        at = end = _content(first, start) if first in _LENGTHS else start
        if first in _BINARIES:
            end += MAX_HOLDER_BYTES if data.startswith(HOLDER_START, at + 1) else len(_STOCK)
        elif held < 0 and _code(data, first, start) == Code.MANY:
            end -= held
        if data.find(_STOCK, at, end) >= 0:
            return True
    return False


def _content(first: int, start: int) -> int:
    """Return where the content of a value begins whose length stands before it."""
    return start + 1 + _LENGTHS[first][0]


def _code(data: bytes, first: int, start: int) -> int:
    """Return the code of an extension, 0 at the end of the data."""
    at = _content(first, start)
    return data[at] if at < len(data) else 0


def _left(data: bytes, most: int) -> int:
    """Return what the bytes of a blob leave of so much, or less, if each is what it may be."""
    if len(data) * _MOST_OF_A_BYTE <= most:
        return most - len(data) * _MOST_OF_A_BYTE
    most -= _count(data, _CONTAINERS) * _OF_A_CONTAINER + _count(data, _TEXTS) * _OF_A_TEXT
    return most - len(data) * _OF_A_BYTE


def _is_heavy(codec: str, data: bytes, most: int, of_object: int) -> bool:
    """Whether a blob takes more than so much: its headers are looked at one by one.

    Where bytes in it are read as msgpack, too, they are not looked into, and the answer is yes.
    """
    if codec == "channels" or (codec == "once2" and _STOCK in data):
        return True
    return _weighs_more(_values(data, _closed(codec)), codec, data, most, of_object)


def _weighs_more(
    values: Iterable[tuple[int, int, int]], codec: str, data: bytes, most: int, of_object: int
) -> bool:
    """Whether the values of a blob take more than so much.

    A long text or array of numbers is one value here, whatever its bytes look like.
    """
    light = _LIGHT if codec == "once2" else ()
    left, maps = most - len(data), 0
    for first, start, held in values:
        if held < 0:
            code = _code(data, first, start)
            if code == Code.GRAPH:
                return True
            left -= _OF_A_LIGHT if code in light else of_object
            left += _OF_AN_ITEM * held if code == Code.MANY else 0  # it has a byte for each
        elif first in _MAPS or first in _LISTS:
            left -= _OF_A_CONTAINER
            maps += first in _MAPS
        else:
            left -= _OF_A_TEXT + _OF_A_BYTE
        if left < 0:
            return True
    as_items = maps * (_OF_AN_ITEM - _OF_A_CONTAINER) if of_object == _OF_AN_OBJECT else 0
    return as_items > left and HOLDER_START in data


_COPIES: Final = 40
"""More than extensions may stand in each other, so that what is written is read."""
_FREE_COPIES: Final = 64 * 1024


def copies_of(size: int) -> int:
    """Return how many bytes the contents of extensions may have together, in a blob of `size`."""
    return _COPIES * size + _FREE_COPIES


def most_written_out(size: int) -> int:
    """Return how many bytes a walk through a value may meet again, in a blob of `size`."""
    return MAX_EXPANDED + copies_of(size)


def most_opened(size: int) -> int:
    """Return how many bytes extensions that stand in each other may hold, in a blob of `size`."""
    return max(MAX_EXPANDED, 8 * size)


# Stack ----------------------------------------------------------------------------------

_MAX_LEVELS: Final = 256


def check_levels(content: bytes, most: int = _MAX_LEVELS) -> int:
    """Return how deep lists and dictionaries stand in each other, or a little more.

    ormsgpack allows 1,022 levels in each extension, of a kilobyte of the C stack each.

    Args:
        content: Of one extension.
        most: How deep they may.

    Raises:
        PayloadError: They stand deeper.
    """
    levels = _count(content, _CONTAINERS)
    if levels <= min(most, 32):
        return levels
    deepest = 0
    open_items: list[int] = []
    for _, _, held in _values(content):
        while open_items and not open_items[-1]:
            open_items.pop()
        if open_items:
            open_items[-1] -= 1
        if held > 0:
            open_items.append(held)
            deepest = max(deepest, len(open_items))
            if deepest > most:
                raise PayloadError("lists and dictionaries are nested too deeply")
    return deepest


# Time -----------------------------------------------------------------------------------

_FEW: Final = 1000
_SECRET: Final = frozenset({str, bytes})
"""Nobody can choose their hashes."""
_MAX_PAIRS: Final = 1 << 19
_MAX_COMPARED: Final = 1 << 28
# So few are compared at once, whatever they hash to.
_FREE_ITEMS: Final = 16
# The longest header of an extension: a code, four bytes of length, a type.
_HEADER_BYTES: Final = 6
_MAX_REFUSALS: Final = 500
"""To look for a module that is not there takes half a millisecond."""


def check_small(value: Any) -> None:
    """Check that a part is soon hashed: a name, the value of a member of an enum.

    Raises:
        ValueError: It is not, with its shared parts written out.
    """
    todo = [value]
    for each in todo:
        if type(each) in (tuple, list, frozenset):
            todo += each
            if len(todo) > _FEW:
                raise ValueError("a name of too many parts")


class Budget:
    """What reading one row may still take. All of its parts take from the same.

    Attributes:
        tag: Of the row, for errors.
    """

    def __init__(self, size: int, tag: str) -> None:
        """Take the size of the row in bytes, and its tag."""
        self.tag = tag
        self._size = size
        self._copies = copies_of(size)
        self._expanded = most_written_out(size)
        self._opened = most_opened(size)
        self._pattern_units = MAX_PATTERN_UNITS
        self._pairs = _MAX_PAIRS
        self._compared = _MAX_COMPARED
        self._refusals = _MAX_REFUSALS
        self.size_of_items = 0
        """Of the set or dictionary that is made, in bytes; 0 if that is not known."""
        self.of_written_out = 0
        """How many bytes were written out so far that stand in the row once."""

    def take_copies(self, count: int) -> None:
        """Take bytes that are copied."""
        self._copies -= count
        if self._copies < 0:
            raise self._exceeded("its extensions stand in each other too often")

    def open(self, count: int) -> None:
        """Take bytes that are held while a part is read; give them back as a negative number."""
        self._opened -= count
        if self._opened < 0:
            raise self._exceeded("the value is large and deeply nested")

    def is_all(self, content: bytes) -> bool:
        """Whether what an extension holds is the whole row."""
        return self._size - len(content) <= _HEADER_BYTES

    def write_out(self, count: int) -> None:
        """Take bytes that whoever walks through the value meets again."""
        self.of_written_out += count
        if self.of_written_out > self._expanded:
            raise self._exceeded("its parts are repeated too often")

    def take_pattern(self, pattern: Any, flags: Any = 0) -> None:
        """Take what compiling a pattern takes."""
        self.take_pattern_units(pattern_units(pattern, flags))

    def take_pattern_units(self, count: int) -> None:
        """Take what compiling some patterns takes."""
        self._pattern_units -= count
        if self._pattern_units < 0:
            raise self._exceeded("too many regular expressions, or too long ones")

    def may_look(self) -> bool:
        """Whether one more name may be looked for that is likely to lead nowhere."""
        return self._refusals > 0

    def note_refusal(self) -> None:
        """Note that a name led nowhere."""
        self._refusals -= 1

    def take_hashes(self, items: list[Any]) -> None:
        """Take what it takes to tell items from each other that share a hash.

        Args:
            items: Of a set, or the keys of a dictionary.

        Raises:
            PayloadError: There are too many of them.
            TypeError: One has no hash.
        """
        count = len(items)
        if count <= _FREE_ITEMS or _SECRET.issuperset(map(type, items)):
            return
        found = Counter(map(hash, items))
        if len(found) == count:
            return
        pairs = sum(each * (each - 1) for each in found.values()) // 2
        self._pairs -= pairs
        self._compared -= pairs * ((self.size_of_items or self._size) // count)
        if self._pairs < 0 or self._compared < 0:
            raise PayloadError("too many items of sets or keys share a hash", tag=self.tag)

    def _exceeded(self, why: str) -> SizeLimitError:
        return SizeLimitError(why, limit_bytes=MAX_EXPANDED, tag=self.tag)


def check_hashes(items: list[Any]) -> None:
    """Check that items can be told from each other in time, whatever else their row has.

    Raises:
        PayloadError: Too many share a hash.
        TypeError: One has no hash.
    """
    Budget(0, "").take_hashes(items)


_LARGE_MAP: Final = re.compile(rb"\xde(?:\0[\x80-\xff]|[\1-\xff])")

_NO_LISTS: Final = re.compile(
    rb"(?:[\x00-\x8f\xc0\xc2\xc3\xe0-\xff]|[\xcc\xd0].|[\xcd\xd1\xde].{2}|[\xca\xce\xd2\xdf].{4}"
    rb"|[\xcb\xcf\xd3].{8}|"
    + b"|".join(b"%c.{%d}" % (0xA0 + size, size) for size in range(32))
    + rb")*+",
    re.DOTALL,
)
"""Dictionaries of numbers and short texts. To look at their headers one by one takes 20 times as
long as to read them."""


def check_keys(content: bytes, budget: Budget | None = None) -> None:
    """Check the keys of dictionaries that ormsgpack hashes while it reads.

    Only keys that are tuples can be made to share a hash: few of the others fit into 64 bits.

    Raises:
        PayloadError: Too many do.
    """
    if _count(content, _LISTS) <= _FREE_ITEMS:
        return
    if b"\xdf" not in content and not _LARGE_MAP.search(content):
        return
    if _NO_LISTS.fullmatch(content):
        return
    for starts in _array_keys(content):
        if len(starts) > _FREE_ITEMS:
            rest = memoryview(content)
            keys = [unpackb(rest[at:], option=OPT_NON_STR_KEYS) for at in starts]
            (budget or Budget(len(content), "")).take_hashes([*map(as_key, keys)])


def _array_keys(content: bytes) -> Iterator[list[int]]:
    """Yield, for each dictionary, where its keys begin that are arrays."""
    opened: list[tuple[list[int], bool, list[int]]] = []
    for first, start, held in _values(content):
        while opened and not opened[-1][0][0]:
            yield opened.pop()[2]
        if opened:
            left, is_map, starts = opened[-1]
            if is_map and not left[0] % 2 and (0x90 <= first < 0xA0 or first in (0xDC, 0xDD)):
                starts.append(start)
            left[0] -= 1
        if held > 0:
            opened.append(([held], first < 0x90 or first >= 0xDE, []))
    yield from (starts for _, _, starts in opened)


def as_key(value: Any) -> Any:
    """Return what was a key or an item of a set: where there is a list now, it was a tuple."""
    return tuple(map(as_key, value)) if type(value) is list else value


MAX_PATTERN_UNITS: Final = 12 << 20
"""What compiling the patterns of one value may take: about a second, as the units of patterns that
programs have are twice too many and more. One may have 750,000 characters, or 190,000 branches."""
_OF_A_CHARACTER: Final = 16
_OF_A_BRANCH: Final = 48
_OF_A_SET: Final = 64
_OF_A_WIDE_SET: Final = 8192
_OF_A_RANGE: Final = 16
_OF_A_SHORT_RANGE_IN_ANY_CASE: Final = 256
_OF_A_WIDE_RANGE: Final = 1024
_OF_A_RANGE_IN_ANY_CASE: Final = 1 << 16
_WIDE: Final = re.compile(r"[^\x00-\x7f]|\\[uUN]")
_IN_ANY_CASE: Final = re.compile(r"\(\?[aLmsux]*i")
_PRINTS: Final = int(re.DEBUG)
"""As a number: Python keeps each combination of flags for ever."""


def pattern_units(pattern: Any, flags: int = 0) -> int:
    """Return how many units compiling a pattern takes, at most: a unit is 0.15 microseconds.

    Compiling takes a time in proportion to the length. Besides, a set of characters beyond ASCII is
    a table of 64 KB meanwhile, and where upper and lower case are the same, each character of a
    range is looked up by itself.

    Args:
        pattern: The pattern.
        flags: Its flags.

    Raises:
        ValueError: It is neither text nor bytes.
    """
    is_text = type(pattern) is str
    if not is_text and type(pattern) is not bytes:
        raise ValueError("no regular expression")  # a range counts without end
    counts: list[int] = [pattern.count(each if is_text else each.encode()) for each in "|[-"]
    branches, sets, ranges = counts
    units = _OF_A_CHARACTER * len(pattern) + _OF_A_BRANCH * branches
    if not sets:
        return units
    text = pattern if is_text else pattern.decode("latin-1")
    in_any_case = int(flags) & int(re.IGNORECASE) or _IN_ANY_CASE.search(text)
    if not (is_text and _WIDE.search(text)):
        of_a_range = _OF_A_SHORT_RANGE_IN_ANY_CASE if in_any_case else _OF_A_RANGE
        return units + sets * _OF_A_SET + ranges * of_a_range
    of_a_range = _OF_A_RANGE_IN_ANY_CASE if in_any_case else _OF_A_WIDE_RANGE
    return units + sets * _OF_A_WIDE_SET + ranges * of_a_range


def checked_pattern(pattern: Any, flags: Any = 0) -> re.Pattern[Any]:
    """Return a compiled pattern. It prints nothing, whatever its flags say.

    Args:
        pattern: Text or bytes.
        flags: Its flags.

    Raises:
        ValueError: It takes too long to compile, or is no pattern.
    """
    try:
        if pattern_units(pattern, flags) <= MAX_PATTERN_UNITS:
            return re.compile(pattern, int(flags) & ~_PRINTS)
    except re.error as error:
        raise ValueError("no regular expression") from error
    raise ValueError("a regular expression that takes too long to compile")


# Python keeps each combination that is met, for as long as its class lives.
_MAX_COMBINATIONS: Final = 1 << 14
_MAX_BITS: Final = 4096


def flag_of(cls: type[Flag], value: Any) -> Flag:
    """Return the flags of a class whose value this is. Python keeps each combination for ever.

    Args:
        cls: The class.
        value: Any combination of its bits, and of others if the class keeps these.

    Raises:
        ValueError: The class has no such flags.
        UnavailableError: There are too many combinations already.
    """
    known: dict[Any, Any] = cls._value2member_map_
    found = known.get(value)
    if found is not None:
        return found  # type: ignore[no-any-return]  # the dictionary says no more of it
    if type(value) is int and value.bit_length() > _MAX_BITS:
        raise ValueError("flags of too many bits")
    if len(known) > _MAX_COMBINATIONS:
        raise UnavailableError("too many combinations of flags")
    return cls(value)


class _HeldIPv4Network(IPv4Network):
    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a network stands where a collection was expected")


class _HeldIPv6Network(IPv6Network):
    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a network stands where a collection was expected")


_HELD: Final[dict[Any, Any]] = {IPv4Network: _HeldIPv4Network, IPv6Network: _HeldIPv6Network}
NETWORKS: Final = frozenset(_HELD)
"""What `hold` takes."""


def hold(network: Any) -> Any:
    """Return a network whose addresses nothing can walk through until `release` is called.

    `IPv6Network("::/64")` takes nine characters, and a constructor that makes a `set` of it never
    comes back.
    """
    network.__class__ = _HELD[type(network)]
    return network


def release(network: Any) -> None:
    """Make a network that was held what it was."""
    network.__class__ = type(network).__base__
