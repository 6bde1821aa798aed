"""Damage inside well-formed blobs: the bytes parse, and what they say is wrong."""

from __future__ import annotations

import copy
import json
import random
import sys
from dataclasses import dataclass
from typing import Any, Final

import ormsgpack

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from langgraph_once.serde.layers.tag import Tag

__all__ = ["mutate_tree"]

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
