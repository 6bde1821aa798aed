"""Hostile rows that are a few bytes, or few once they are compressed: see `bounds`."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import ormsgpack

from langgraph_once.serde.codecs.once1.format.layout import Ext, array, entry, pack, table

if TYPE_CHECKING:
    from collections.abc import Callable

Made = tuple[str, "Callable[[], bytes]"]
"""The tag, and what makes the bytes."""


def ext(code: int, *contents: bytes) -> bytes:
    return ormsgpack.packb(ormsgpack.Ext(code, b"".join(contents)))


def ref(index: int) -> bytes:
    return ext(Ext.REF, index.to_bytes(4, "big"))


def tied(*entries: bytes) -> bytes:
    """Return a table."""
    return table([piece for each in entries for piece in entry(each)])


def adapted(name: str, data: bytes) -> bytes:
    return ext(Ext.ADAPTER, pack(name), data)


def doubled(levels: int, make: Callable[[bytes], bytes], last: Callable[[bytes], bytes]) -> bytes:
    """Return a table in which each entry is made of the one before, and the last of the last."""
    entries = [pack(1)]
    for _ in range(levels):
        entries.append(make(ref(len(entries) - 1)))
    return tied(*entries, last(ref(len(entries) - 1)))


def two(part: bytes) -> bytes:
    return ext(Ext.TUPLE, array([part, part]))


def one(part: bytes) -> bytes:
    return ext(Ext.TUPLE, array([part]))


def sliced(part: bytes) -> bytes:
    return adapted("slice", ext(Ext.TUPLE, array([part, pack(None), pack(None)])))


def alias(name: str, origin: str, *args: bytes) -> bytes:
    of = ext(Ext.CLASS, origin.encode())
    return adapted(name, ext(Ext.TUPLE, array([of, ext(Ext.TUPLE, array([*args]))])))


def in_set(part: bytes) -> bytes:
    return ext(Ext.SET, array([part]))


def as_key(part: bytes) -> bytes:
    return ext(Ext.MAP, array([part, pack(1)]))


def same(part: bytes) -> bytes:
    return part


def aliases(levels: int) -> bytes:
    entries = [ext(Ext.CLASS, b"builtins:int")]
    for _ in range(levels):
        last = ref(len(entries) - 1)
        entries.append(alias("genericalias", "builtins:list", last, last))
    return tied(*entries, in_set(ref(len(entries) - 1)))


def deques(levels: int) -> bytes:
    """Return deques in deques."""
    head = pack("container") + pack("collections:deque")
    none = pack(None) + ormsgpack.packb({})
    return doubled(levels, lambda part: ext(Ext.RECORD, head, array_of(part, none)), same)


def array_of(part: bytes, rest: bytes) -> bytes:
    return b"\x93" + array([part]) + rest


def twins(count: int, prefix: int) -> bytes:
    """Return a set of tuples of one hash, which begin with one long tuple each of its own."""
    pairs = product((-1, -2), repeat=12)
    keys = [ext(Ext.TUPLE, array([pack(7)] * prefix + [*map(pack, next(pairs))]))
            for _ in range(count)]  # fmt: skip
    return ext(Ext.SET, array(keys))


def integers(count: int, size: int) -> bytes:
    """Return a set of tuples that hold one long integer."""
    items = [ext(Ext.TUPLE, array([ref(0), pack(number)])) for number in range(count)]
    return tied(ext(Ext.INT, b"\x01" * size), ext(Ext.SET, array(items)))


def pattern(text: str, flags: int = 0) -> bytes:
    return adapted("pattern", ext(Ext.TUPLE, array([pack(text), pack(flags)])))


def upstream_pattern(text: str, flags: int = 0) -> bytes:
    return ext(1, ormsgpack.packb(["re", "compile", [text, flags]]))


def copies(count: int) -> bytes:
    """Return a tree of references to one long map, in which each becomes a map of its own."""
    form: list[Any] = [{"": ["langchain_core.messages.human:HumanMessage", None, False, {}]}]
    long = ormsgpack.packb({str(number): 1 for number in range(count)})
    content = array([pack(ormsgpack.packb(form)), b"\x90", array([ref(0)] * count), pack(b"once")])
    return tied(long, ext(Ext.TREE, content))


def flags(count: int) -> bytes:
    head = pack("enum") + pack("re:RegexFlag")
    return array([ext(Ext.FAMILY, head, pack(1 << 20 | number)) for number in range(count)])


def envelopes(count: int) -> bytes:
    value = {"lc": 2, "type": "constructor", "id": ["builtins", "set"], "args": [[1]]}
    return b"[" + b",".join([json.dumps(value).encode()] * count) + b"]"


def json_twins(count: int) -> bytes:
    items = [number * (2**61 - 1) for number in range(count)]
    made = {"lc": 2, "type": "constructor", "id": ["builtins", "set"], "args": [items]}
    return json.dumps(made).encode()


WIDE: Final = "[\0-\uffff]"

SMALL: Final[dict[str, Made]] = {
    "24 tuples in pairs, in a set": ("once1", partial(doubled, 24, two, in_set)),
    "60 tuples in pairs, in a set": ("once1", partial(doubled, 60, two, in_set)),
    "60 tuples in pairs, as a key": ("once1", partial(doubled, 60, two, as_key)),
    "60 aliases in pairs, in a set": ("once1", partial(aliases, 60)),
    "100,000 tuples in each other, in a set": ("once1", partial(doubled, 100_000, one, in_set)),
    "100,000 slices in each other": ("once1", partial(doubled, 100_000, sliced, same)),
    "100,000 deques in each other": ("once1", partial(deques, 100_000)),
    "1,000 long tuples of one hash": ("once1", partial(twins, 1_000, 3_000)),
    "50,000 tuples with one integer of 1 MB": ("once1", partial(integers, 50_000, 1 << 20)),
    "100,000 copies of a map": ("once1", partial(copies, 100_000)),
    "40,000 combinations of flags": ("once1", partial(flags, 40_000)),
    "a pattern of 2,000 wide sets": ("once1", lambda: pattern(WIDE * 2_000, 2)),
    "a pattern of 20,000 sets": ("once1", lambda: pattern("[\u0100\u2000\u3000-\uf000]" * 20_000)),
    "a pattern of 4 MB": ("once1", lambda: pattern("a|" * 2_000_000)),
    "msgpack: a pattern of 2,000 wide sets": (
        "msgpack", lambda: upstream_pattern(WIDE * 2_000, 2),
    ),
    "JSON: 20 million empty lists": ("json", lambda: b"[" + b"[]," * 20_000_000 + b"[]]"),
    "JSON: 1 million sets": ("json", partial(envelopes, 1_000_000)),
    "JSON: 20,000 integers of one hash": ("json", partial(json_twins, 20_000)),
}  # fmt: skip
"""Each takes the process, or minutes, or gigabytes, unless something is done about it."""
