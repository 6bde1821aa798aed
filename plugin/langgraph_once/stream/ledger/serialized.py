"""The ledger as bytes: a small format of its own, so that it outlives every serializer.

"OLDG"  version: 1 byte  CRC-32 of the rest: 4 bytes  msgpack
"""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import ormsgpack
from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    message_to_dict,
    messages_from_dict,
)

from langgraph_once.errors import LedgerError
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.part.content import Content
from langgraph_once.stream.part.shapes import Part

__all__ = [
    "keep_undelivered",
    "pack_entry",
    "read_body",
    "read_undelivered",
    "said_in",
    "unpack_entry",
    "write_body",
    "write_undelivered",
]

MAGIC: Final = b"OLDG"
VERSION: Final = 1
HEADER_BYTES: Final = len(MAGIC) + 1 + 4

KEPT: Final = ("within", "run", "attempt", "steps", "epoch", "is_model", "has_usage")
"""Fields of an entry that are kept as they are."""

L = TypeVar("L")


def write_body(body: Mapping[str, Any]) -> bytes:
    """The bytes of a ledger of which `body` is what is kept."""
    packed = ormsgpack.packb(body)
    return MAGIC + bytes([VERSION]) + zlib.crc32(packed).to_bytes(4, "big") + packed


def read_body(data: bytes, restore: Callable[[dict[str, Any]], L]) -> L:
    """What `restore` makes of the body that these bytes hold.

    Raises:
        LedgerError: They are damaged, or of a newer version.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise LedgerError(f"a ledger is bytes, not {type(data).__name__}")
    if len(data) < HEADER_BYTES or data[: len(MAGIC)] != MAGIC:
        raise LedgerError("these bytes are no ledger")
    version, body = data[len(MAGIC)], data[HEADER_BYTES:]
    if version > VERSION:
        raise LedgerError(
            f"this ledger has version {version}, and {VERSION} is the newest that is known here; "
            "upgrade langgraph-once",
            version=version,
        )
    # A damaged ledger must not withhold what the consumer lacks; the worst of a fresh one repeats.
    if version < 1 or zlib.crc32(body) != int.from_bytes(
        data[len(MAGIC) + 1 : HEADER_BYTES], "big"
    ):
        raise LedgerError("the bytes of this ledger are damaged", version=version)
    try:
        return restore(ormsgpack.unpackb(body))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise LedgerError("the bytes of this ledger are damaged", version=version) from error


def pack_entry(entry: Entry, is_told: bool = False) -> dict[str, Any]:
    """The fields of a message that a saved ledger holds.

    Args:
        entry: The message.
        is_told: The state of the thread has what the message says, so the ledger leaves that out.
    """
    return {
        **{name: getattr(entry, name) for name in KEPT},
        "task": entry.task,
        "ids": entry.ids,
        "order": entry.order,
        "claimed": sorted(entry.claimed),
        "said": None if is_told else list(entry.content),
    }


def said_in(packed: Mapping[str, Any]) -> Content | None:
    """What a message says; None where that is not in the ledger."""
    if (said := packed.get("said")) is None:
        return None
    kind, text, calls, rest = said
    return Content(kind, text, _tuples(calls), _tuples(rest))


def unpack_entry(packed: Mapping[str, Any], said: Content) -> Entry:
    """The message that `pack_entry` gave these fields of, or some of them."""
    entry = Entry(packed.get("task", ""), packed["ids"][0], said)
    for name in KEPT:
        setattr(entry, name, packed.get(name, getattr(entry, name)))
    entry.order = tuple(packed.get("order", ()))
    entry.claimed = set(packed.get("claimed", ()))
    return entry


def _tuples(items: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(item) if isinstance(item, list) else item for item in items)


def keep_undelivered(undelivered: deque[Part], parts: Iterable[Part]) -> None:
    """Keep the messages among these parts, the chunks of each message added up to one.

    A consumer that leaves a stream, or loses it to an error, leaves behind what the graph has sent
    and it has not read, and nodes that were at work speak on until they are done. Their answers
    enter the state, so no later run says them again. They go through the deduplicator all the same,
    and what it would have passed on is kept: the next stream of the thread begins with it.
    """
    for part in parts:
        if not isinstance(part.data, BaseMessage):
            continue
        name = part.data.id, part.ns
        same = [at for at, each in enumerate(undelivered) if (each.data.id, each.ns) == name]
        if same and type(undelivered[same[-1]].data) is type(part.data) is AIMessageChunk:
            undelivered[same[-1]] = part._replace(data=undelivered[same[-1]].data + part.data)
        else:
            undelivered.append(part)


def write_undelivered(part: Part) -> str:
    """An undelivered message as JSON; what JSON has no word for becomes text."""
    said = [list(part.ns), message_to_dict(part.data), dict(part.meta)]
    return json.dumps(said, default=repr)


def read_undelivered(said: str) -> Part:
    """The undelivered message that `write_undelivered` wrote."""
    ns, message, meta = json.loads(said)
    return Part(tuple(ns), "messages", messages_from_dict([message])[0], meta)
