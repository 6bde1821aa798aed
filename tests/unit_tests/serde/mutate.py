"""Damages blobs: their bytes at random, and what well-formed bytes say."""

from __future__ import annotations

import copy
import json
import random
import struct
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import ormsgpack

from langgraph_once.serde.format import Tag

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


_EXTENSION_HEADS: Final = frozenset(b"\xc7\xc8\xc9\xd4\xd5\xd6\xd7\xd8")
_HEADS: Final = bytes(range(0x80, 0x100))
_LENGTHS: Final = (0, 1, 2, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1)


def _flip(rng: Random, blob: bytes, other: bytes) -> bytes:
    changed = bytearray(blob)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(rng: Random, blob: bytes, other: bytes) -> bytes:
    return blob[: rng.randrange(len(blob))]


def _drop(rng: Random, blob: bytes, other: bytes) -> bytes:
    start = rng.randrange(len(blob))
    return blob[:start] + blob[start + rng.randint(1, 8) :]


def _insert(rng: Random, blob: bytes, other: bytes) -> bytes:
    start = rng.randrange(len(blob))
    return blob[:start] + rng.randbytes(rng.randint(1, 8)) + blob[start:]


def _repeat(rng: Random, blob: bytes, other: bytes) -> bytes:
    start, end = sorted((rng.randrange(len(blob)), rng.randrange(len(blob) + 1)))
    return blob[:end] + blob[start:end] * rng.randint(1, 3) + blob[end:]


def _splice(rng: Random, blob: bytes, other: bytes) -> bytes:
    return blob[: rng.randrange(len(blob) + 1)] + other[rng.randrange(len(other) + 1) :]


def _graft(rng: Random, blob: bytes, other: bytes) -> bytes:
    """Put the whole of another blob into this one: it is well-formed where it begins."""
    start = rng.randrange(len(blob))
    return blob[:start] + other + blob[start + rng.randint(0, 8) :]


def _edit_length(rng: Random, blob: bytes, other: bytes) -> bytes:
    length = rng.choice(_LENGTHS)
    field = struct.pack(rng.choice((">I", "<I", ">Q", "<Q")), length)
    field = field[-rng.choice((1, 2, 4)) :] if rng.random() < 0.7 else field
    start = rng.randrange(len(blob))
    return blob[:start] + field + blob[start + len(field) :]


def _edit_head(rng: Random, blob: bytes, other: bytes) -> bytes:
    start = rng.randrange(len(blob))
    return blob[:start] + bytes((rng.choice(_HEADS),)) + blob[start + 1 :]


def _edit_extension(rng: Random, blob: bytes, other: bytes) -> bytes:
    heads = [at for at, byte in enumerate(blob) if byte in _EXTENSION_HEADS]
    if not heads:
        return _wrap(rng, blob, other)
    head = rng.choice(heads)
    start = head + {0xC7: 2, 0xC8: 3, 0xC9: 5}.get(blob[head], 1)
    return blob[:start] + bytes((rng.randrange(24),)) + blob[start + 1 :]


def _wrap(rng: Random, blob: bytes, other: bytes) -> bytes:
    return b"\xc9" + struct.pack(">IB", len(blob), rng.randrange(256)) + blob


_MUTATIONS: Final[tuple[Callable[[Random, bytes, bytes], bytes], ...]] = (
    *(_flip, _truncate, _drop, _insert, _repeat, _splice, _graft),
    *(_edit_length, _edit_head, _edit_extension, _wrap),
)


def mutate(rng: Random, blob: bytes, other: bytes) -> bytes:
    """Return `blob`, damaged once to three times."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        if blob:
            blob = rng.choice(_MUTATIONS)(rng, blob, other)
    return blob


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


_MARK: Final = b"the end of a sequence"
_END: Final = ormsgpack.packb(_MARK)
_DEEP: Final[list[Any]] = json.loads("[" * 90 + "]" * 90)


@dataclass
class Box:
    """A msgpack extension: the values that its content is a sequence of."""

    code: int
    values: list[Any]


_ODD: Final[tuple[Any, ...]] = (
    *(None, True, 0, -1, 255, 2**31, -(2**63), 2**64 - 1, 1.5, 1e308, float("nan"), float("inf")),
    *("", "a", "a" * 400, "\0", "os:system", "builtins:set", "this:d", "decimal", "append"),
    *(b"", b"\xc1", b"\x00" * 40, [], {}, [[]] * 3, [1, 2], {"a": 1}, {"lc": 2}, _DEEP),
    *(["os", "system", "true"], ["this", "d", None], ["builtins", "set", [1]]),
    Box(0, [["ipaddress", "IPv6Network", "::/0"]]),
    Box(0, [["builtins", "set", [[1], [2]]]]),
    Box(1, [["re", "compile", ["(" * 50, -1]]]),
    *(Box(3, [["pathlib", "Path", "/", "read_text"]]), Box(6, [["O", [1], "C", b"\0" * 8]])),
    *(Box(7, [None]), Box(15, []), Box(-1, [b""]), Box(127, [None, None])),
)


def mutate_tree(rng: random.Random, tag: str, blob: bytes, other: bytes) -> bytes:
    """Return `blob` with one to three of its values changed; as it is, where it is no tree.

    Args:
        rng: Decides what is changed.
        tag: How `blob` is to be read. Sealed blobs are not opened.
        blob: A row's bytes.
        other: Another row's, of which parts are taken over.
    """
    parsed = Tag.parse(tag)
    codec, layers = parsed.codec, parsed.layers
    try:
        plain = zstd.decompress(blob) if layers == ("zstd",) else blob
        tree = [json.loads(plain) if codec == "json" else _parsed(plain)]
        donor = _parsed(other)
    except (ValueError, zstd.ZstdError):
        return blob
    for _ in range(rng.choice((1, 1, 2, 3))):
        if places := _places(tree):
            _change(rng, *rng.choice(places), donor)
    value = tree[0] if tree else None
    try:
        changed = json.dumps(value).encode() if codec == "json" else _packed(value)
    except (TypeError, ValueError):
        return blob
    return zstd.compress(changed) if layers == ("zstd",) else changed


def _change(rng: random.Random, holder: Any, key: Any, donor: Any) -> None:
    match rng.randrange(5):
        case 0:
            holder[key] = copy.deepcopy(rng.choice(_ODD))
        case 1:
            _, _, part = rng.choice([(*place, place[0][place[1]]) for place in _places([donor])])
            holder[key] = part
        case 2 if isinstance(holder[key], Box):
            holder[key] = Box(rng.randrange(20), holder[key].values)
        case 3 if isinstance(holder, list) and len(holder) > 1:
            holder.insert(rng.randrange(len(holder)), holder.pop(key))
        case 4:
            del holder[key]
            if isinstance(holder, list) and rng.random() < 0.5:
                holder.append(copy.deepcopy(rng.choice(_ODD)))
        case _:
            holder[key] = [holder[key], holder[key]]


def _places(tree: list[Any]) -> list[tuple[Any, Any]]:
    """Return where the values of a tree stand: what holds each, and its key there."""
    found: list[tuple[Any, Any]] = []
    pending: list[Any] = [tree]
    while pending and len(found) < 2000:
        holder = pending.pop()
        if isinstance(holder, Box):
            holder = holder.values
        if isinstance(holder, (list, dict)):
            keys = range(len(holder)) if isinstance(holder, list) else list(holder)
            found += [(holder, key) for key in keys]
            pending += [holder[key] for key in keys]
    return found


def _parsed(blob: bytes) -> Any:
    (value,) = _sequence(blob, 1)
    return value


def _sequence(content: bytes, count: int) -> list[Any]:
    """Return the `count` values of a sequence.

    Raises:
        ValueError: It has more, or fewer, or is damaged.
    """
    framed = bytes((0x91 + count,)) + content + _END
    values = ormsgpack.unpackb(framed, ext_hook=_opened, option=ormsgpack.OPT_NON_STR_KEYS)
    if values.pop() != _MARK:
        raise ValueError("another number of values")
    return list(values)


def _opened(code: int, content: bytes) -> Box | ormsgpack.Ext:
    for count in (1, 2, 3, 4, 0):
        try:
            return Box(code, _sequence(content, count))
        except ValueError:
            continue
    return ormsgpack.Ext(code, content)


def _packed(value: Any) -> bytes:
    return ormsgpack.packb(value, default=_closed, option=ormsgpack.OPT_NON_STR_KEYS)


def _closed(value: Any) -> ormsgpack.Ext:
    if not isinstance(value, Box):
        raise TypeError
    return ormsgpack.Ext(value.code, b"".join(map(_packed, value.values)))
