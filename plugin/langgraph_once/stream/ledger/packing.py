"""The bytes of a ledger: a small format of its own, so that it outlives every serializer.

"OLDG"  version: 1 byte  CRC-32 of the rest: 4 bytes  msgpack
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import ormsgpack
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict

from langgraph_once.errors import LedgerError
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.content import Content, content_of, details_of
from langgraph_once.stream.part.shapes import Part

__all__ = [
    "VERSION",
    "pack_entry",
    "read_body",
    "read_undelivered",
    "unpack_entry",
    "write_body",
    "write_undelivered",
]

MAGIC: Final = b"OLDG"
VERSION: Final = 2
HEADER_BYTES: Final = len(MAGIC) + 1 + 4

KEPT: Final = ("task", "ids", "within", "steps", "order", "epoch", "is_model", "has_usage")
"""Fields of an entry that are kept as they are."""

L = TypeVar("L")


def write_body(body: Mapping[str, Any]) -> bytes:
    """The bytes of a ledger of which `body` is what is kept."""
    packed = ormsgpack.packb(body)
    return MAGIC + bytes([VERSION]) + zlib.crc32(packed).to_bytes(4, "big") + packed


def read_body(data: bytes, restore: Callable[[dict[str, Any]], L]) -> L:
    """What `restore` makes of the body that these bytes hold.

    Raises:
        LedgerError: They are damaged, or of another version, which it names.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise LedgerError(f"a ledger is bytes, not {type(data).__name__}")
    if len(data) < HEADER_BYTES or data[: len(MAGIC)] != MAGIC:
        raise LedgerError("these bytes are no ledger")
    version, body = data[len(MAGIC)], data[HEADER_BYTES:]
    if version != VERSION:
        raise LedgerError(
            f"this ledger has version {version}, and {VERSION} is the one that is known here; "
            "upgrade langgraph-once",
            version=version,
        )
    try:
        # A damaged ledger must not withhold what the consumer lacks; a fresh one repeats at worst.
        if zlib.crc32(body) != int.from_bytes(data[len(MAGIC) + 1 : HEADER_BYTES], "big"):
            raise ValueError("checksum")
        return restore(ormsgpack.unpackb(body))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise LedgerError("the bytes of this ledger are damaged", version=version) from error


def pack_entry(entry: Entry, state: Mapping[str, BaseMessage]) -> dict[str, Any]:
    """The fields of a message that a saved ledger holds; of what `state` tells not what it says."""
    kept = {name: getattr(entry, name) for name in KEPT}
    kept["claimed"] = sorted(entry.claimed)
    found = _found(state, entry.ids)
    if found is None or content_of(found) != entry.content:
        kept["said"] = list(entry.content)
    return kept


def unpack_entry(packed: Mapping[str, Any], state: Mapping[str, BaseMessage]) -> Entry | None:
    """The message of which `pack_entry` gave these fields, or some of them.

    None if a state told what it says, and does so no more.
    """
    fields = {"task": "", **packed, "id": packed["ids"][0]}
    if "said" in packed:
        kind, text, calls, rest = packed["said"]
        fields["said"] = Content(kind, text, _tuples(calls), _tuples(rest))
    elif (message := _found(state, packed["ids"])) is not None:
        fields |= {"said": content_of(message), "details": details_of(message)}
    else:
        return None
    fields |= {"order": tuple(packed.get("order", ())), "claimed": {*packed.get("claimed", ())}}
    return Entry(**fields)


def _found(state: Mapping[str, BaseMessage], ids: Iterable[str]) -> BaseMessage | None:
    """The message in a state that bears one of these ids, if one does."""
    return next((message for each in ids if (message := state.get(each)) is not None), None)


def _tuples(items: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(item) if isinstance(item, list) else item for item in items)


def write_undelivered(part: Part) -> str:
    """An undelivered message as JSON; what JSON has no word for becomes text."""
    said = [list(part.ns), message_to_dict(part.data), dict(part.meta)]
    return json.dumps(said, default=repr)


def read_undelivered(said: str) -> Part:
    """The undelivered message that `write_undelivered` wrote."""
    ns, message, meta = json.loads(said)
    return Part(tuple(ns), "messages", messages_from_dict([message])[0], meta)
