"""What reading a row may take: memory, time, stack. It is asked before it is spent.

Most bounds are upper bounds that C code counts in passing: what a blob would take if each byte that
can begin a list did. Rows that nobody made to attack stay below them. Where one does not, its
headers are looked at one by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import Flag
from ipaddress import IPv4Network, IPv6Network
from re import _constants, _parser  # type: ignore[attr-defined]  # typeshed leaves them out
from typing import Any, Final

from ormsgpack import OPT_NON_STR_KEYS, unpackb

from langgraph_once.errors import PayloadError, SizeLimitError
from langgraph_once.serde.refused import UnavailableError

__all__ = [
    "MAX_EXPANDED",
    "MAX_HASH_LEVELS",
    "MAX_PATTERN_UNITS",
    "NETWORKS",
    "SMALL_BYTES",
    "Budget",
    "as_key",
    "check_hashes",
    "check_keys",
    "check_levels",
    "check_small",
    "check_weight",
    "checked_pattern",
    "copies_of",
    "flag_of",
    "hold",
    "pattern_units",
    "release",
    "unchecked_bytes",
]

MAX_EXPANDED: Final = 1 << 28
"""How many bytes a value may have with its shared parts written out: a comparison, a hash or JSON
meets a part each time that it occurs."""
MAX_HASH_LEVELS: Final = 500
"""How deep tuples may stand in each other: they are hashed on the C stack."""

# Headers of msgpack ---------------------------------------------------------------------

_LISTS: Final = bytes([*range(0x90, 0xA0), 0xDC, 0xDD])
_ARRAYS: Final = bytes([*range(0x80, 0xA0), *range(0xDC, 0xE0)])
_CONTAINERS: Final = _ARRAYS + bytes([*range(0xC7, 0xCA), *range(0xD4, 0xD9)])
_TEXTS: Final = bytes(
    [*range(0xA0, 0xC0), *range(0xC4, 0xC7), 0xCB, 0xCF, 0xD3, *range(0xD9, 0xDC)]
)
_WIDTHS: Final = {
    **{0xC4 + n: (1 << n, 0) for n in range(3)},
    **{0xC7 + n: (1 << n, 1) for n in range(3)},
    **{0xD9 + n: (1 << n, 0) for n in range(3)},
}
"""By first byte: how many bytes hold the length, and how many stand behind these."""
_SIZES: Final = {
    **dict.fromkeys((0xCA, 0xCE, 0xD2), 4),
    **dict.fromkeys((0xCB, 0xCF, 0xD3), 8),
    **dict.fromkeys((0xCC, 0xD0), 1),
    **dict.fromkeys((0xCD, 0xD1), 2),
    **{0xD4 + n: 1 + (1 << n) for n in range(5)},
}


def _values(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield each value from header to header: its first byte, where it begins, how many it holds.

    A dictionary of three holds six. An extension holds none: what is in it is passed over.
    """
    at = 0
    while at < len(data):
        start, first = at, data[at]
        at += 1
        held = 0
        if 0x80 <= first < 0xA0:
            held = (first & 15) * (2 if first < 0x90 else 1)
        elif first < 0xC0:
            at += first & 31 if first >= 0xA0 else 0
        elif 0xDC <= first < 0xE0:
            width = 2 if first in (0xDC, 0xDE) else 4
            held = int.from_bytes(data[at : at + width], "big") * (2 if first >= 0xDE else 1)
            at += width
        elif first in _WIDTHS:
            width, more = _WIDTHS[first]
            at += width + more + int.from_bytes(data[at : at + width], "big")
        else:
            at += _SIZES.get(first, 0)
        yield first, start, held


def _count(data: bytes, of: bytes) -> int:
    return len(data) - len(data.translate(None, of))


# Memory ---------------------------------------------------------------------------------

SMALL_BYTES: Final = 1024 * 1024
"""A compressed row that is smaller may hold a part of what others may, so that a kilobyte of zstd
does not say all that a row may be."""
_SMALL_SHARE: Final = 16
_BYTES_OF_A_UNIT: Final = 16
_OF_A_CONTAINER: Final = 72
_OF_A_TEXT: Final = 56
_OF_A_BYTE: Final = 8  # a place in a list
_FRAME: Final = b"\xa6pandas"
_OF_A_FRAME: Final = 1 << 16
"""Making an object of pandas takes a third of a millisecond, and few bytes tell of it."""
_OF_JSON: Final = {b"[": 80, b"{": 240, b",": 64, b":": 64}
"""What the value behind each of these signs may take, in bytes. Python reads JSON with care for
nothing, and few rows are JSON."""


def unchecked_bytes(max_units: int) -> int:
    """Return how long a blob may be that is not compressed, so that `check_weight` lets it pass."""
    return max_units * _BYTES_OF_A_UNIT // (_OF_A_CONTAINER + _OF_A_BYTE)


def check_weight(data: bytes, stored_bytes: int, max_units: int, tag: str) -> None:
    """Check how much memory the value of a blob may take.

    Args:
        data: The blob.
        stored_bytes: How many bytes it takes in the database, compressed.
        max_units: `max_decoded_objects`.
        tag: Of the row.

    Raises:
        SizeLimitError: It is too much.
    """
    most = max_units * _BYTES_OF_A_UNIT
    if stored_bytes < SMALL_BYTES and stored_bytes < len(data):
        most //= _SMALL_SHARE
    codec = tag.partition(".")[0].partition("+")[0]
    if codec in ("once2", "channels"):
        most -= _OF_A_FRAME * data.count(_FRAME)
    if len(data) * (_OF_A_CONTAINER + _OF_A_BYTE) <= most or codec in _NO_PARTS:
        return
    if codec == "json":
        exceeds = sum(units * data.count(sign) for sign, units in _OF_JSON.items()) > most
    else:
        exceeds = _most_weight(data) > most and _exceeds(_parts(codec, data), most)
    if exceeds:
        raise SizeLimitError(
            f"the value of {len(data):,} bytes may take more memory than `max_decoded_objects` "
            f"({max_units:,}) allows; raise it if you trust what wrote the row",
            limit_objects=max_units,
            tag=tag,
        )


_NO_PARTS: Final = frozenset({"null", "bytes", "bytearray", "pieces"})


def _parts(codec: str, data: bytes) -> list[tuple[bytes, dict[int, int]]]:
    """Return the msgpack of a row, which has some for each channel if a saver packed it."""
    if codec != "channels":
        return [(data, _BARE[codec == "once2"])]
    try:
        _, head, channels = unpackb(data)
        return [(part, _BARE[name == "once2"]) for name, part in (head, *channels.values())]
    except (ValueError, TypeError, AttributeError):  # damaged, as reading tells
        return []


def _most_weight(data: bytes) -> int:
    containers, texts = _count(data, _CONTAINERS), _count(data, _TEXTS)
    return _OF_A_BYTE * len(data) + _OF_A_CONTAINER * containers + _OF_A_TEXT * texts


_BARE: Final[dict[bool, dict[int, int]]] = {
    False: {},
    True: {5: -1, 6: -1, 7: -1, 8: 1, 13: -1, 15: -1},
}
"""For LangGraph's rows and for ours: the extensions whose content does not begin with msgpack. A
byte comes before it, or, -1, it is none at all."""


def _exceeds(todo: list[tuple[bytes, dict[int, int]]], most: int) -> bool:
    """Whether values take more than so much: a long text or array of numbers is one value.

    Args:
        todo: The blobs, each with that of `_BARE` that its extensions are read by.
        most: How many bytes they may take together.
    """
    for content, bare in todo:
        most -= len(content)
        for first, start, _ in _values(content):
            if first < 0x80 or first >= 0xE0:
                most -= _OF_A_BYTE
            elif first in _CONTAINERS:
                most -= _OF_A_CONTAINER
                if first in _WIDTHS or 0xD4 <= first < 0xD9:
                    todo.append((_content(content, first, start, bare), bare))
            else:
                most -= _OF_A_TEXT + _OF_A_BYTE
            if most < 0:
                return True
    return False


def _content(data: bytes, first: int, start: int, bare: dict[int, int]) -> bytes:
    """Return the msgpack in an extension."""
    width = _WIDTHS[first][0] if first in _WIDTHS else 0
    at = start + 1 + width
    size = int.from_bytes(data[start + 1 : at], "big") if width else 1 << (first - 0xD4)
    code, content = data[at], data[at + 1 : at + 1 + size]
    skipped = bare.get(code, 0)
    return b"" if skipped < 0 else content[skipped:]


_COPIES: Final = 40
"""More than extensions may stand in each other, so that what is written is read."""
_FREE_COPIES: Final = 64 * 1024


def copies_of(size: int) -> int:
    """Return how many bytes the contents of extensions may have together, in a blob of `size`."""
    return _COPIES * size + _FREE_COPIES


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
    levels = _count(content, _ARRAYS)
    if levels <= min(most, 32):
        return levels
    deepest = 0
    open_items: list[int] = []
    for _, _, held in _values(content):
        while open_items and not open_items[-1]:
            open_items.pop()
        if open_items:
            open_items[-1] -= 1
        if held:
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
_FREE_ITEMS: Final = 16
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
        self._expanded = MAX_EXPANDED + self._copies
        self._opened = max(MAX_EXPANDED, 8 * size)
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

    def write_out(self, count: int) -> None:
        """Take bytes that whoever walks through the value meets again."""
        self.of_written_out += count
        if self.of_written_out > self._expanded:
            raise self._exceeded("its parts are repeated too often")

    def take_pattern(self, pattern: Any, flags: Any = 0) -> None:
        """Take what compiling a pattern takes."""
        self._pattern_units -= pattern_units(pattern, flags)
        if self._pattern_units < 0:
            raise self._exceeded("too many regular expressions")

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
    """Check that items can be told from each other in time: where many share a hash, they cannot.

    Raises:
        PayloadError: They do.
        TypeError: One has no hash.
    """
    if len(items) <= _FEW or _SECRET.issuperset(map(type, items)):
        return
    if Counter(map(hash, items)).most_common(1)[0][1] > _FEW:
        raise PayloadError("too many items of a set or dict share a hash")


_LARGE_MAP: Final = re.compile(rb"\xde(?:\0[\x80-\xff]|[\1-\xff])")


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
        if held:
            opened.append(([held], first < 0x90 or first >= 0xDE, []))
    yield from (starts for _, _, starts in opened)


def as_key(value: Any) -> Any:
    """Return what was a key or an item of a set: where there is a list now, it was a tuple."""
    return tuple(map(as_key, value)) if type(value) is list else value


MAX_PATTERN_UNITS: Final = 1 << 23
"""What compiling the patterns of one value may take: about a second. One may have half a
million characters, or 100,000 branches."""
_OF_A_CHARACTER: Final = 16
_OF_A_BRANCH: Final = 48
_OF_A_SET: Final = 8192
_OF_A_RANGE: Final = 1 << 16
_MAX_BYTE: Final = 255
_IGNORES_CASE: Final = int(re.IGNORECASE)
_PRINTS: Final = int(re.DEBUG)
"""As numbers: Python keeps each combination of flags for ever."""


def pattern_units(pattern: Any, flags: int = 0) -> int:
    """Return how many units compiling a pattern takes, at most: a unit is 0.15 microseconds.

    Compiling takes a time in proportion to the length. Besides, a set of characters is a table of
    64 KB meanwhile, and where upper and lower case are the same, each character of a range is
    looked up by itself.

    Args:
        pattern: The pattern.
        flags: Its flags.

    Raises:
        re.error: It is no pattern.
        ValueError: It is neither text nor bytes.
    """
    is_text = type(pattern) is str
    if not is_text and type(pattern) is not bytes:
        raise ValueError("no regular expression")  # a range counts without end
    branches, sets, ranges = (pattern.count(each if is_text else each.encode()) for each in "|[-")
    units: int = _OF_A_CHARACTER * len(pattern) + _OF_A_BRANCH * branches
    most: int = units + sets * (_OF_A_SET + ranges * _OF_A_RANGE) if sets else units
    if units > MAX_PATTERN_UNITS or most <= _OF_A_RANGE:
        return most
    ignores_case = bool(int(flags) & _IGNORES_CASE) or ("(?" if is_text else b"(?") in pattern
    return units + sum(_units_of_set(items, ignores_case) for items in _sets_in(pattern, flags))


def _sets_in(pattern: Any, flags: int) -> Iterator[list[Any]]:
    """Yield the sets of characters in a pattern."""
    pending: list[Any] = [_parser.parse(pattern, int(flags) & ~_PRINTS)]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple) and len(part) == 2 and part[0] is _constants.IN:
            yield part[1]
        elif isinstance(part, (tuple, list, _parser.SubPattern)):
            pending += part


def _units_of_set(items: list[Any], ignores_case: bool) -> int:
    units, highest = 0, 0
    for kind, value in items:
        if kind is _constants.RANGE:
            highest = max(highest, value[1])
            width = max(0, min(value[1], _OF_A_RANGE) - value[0])
            units += width if ignores_case else width // 64
        elif kind is _constants.LITERAL:
            highest = max(highest, value)
    return units + (_OF_A_SET if highest > _MAX_BYTE else _MAX_BYTE)


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
