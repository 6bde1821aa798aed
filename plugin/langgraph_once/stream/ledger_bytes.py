"""The ledger as bytes: a small format of its own, so that it outlives every serializer.

"OLDG"  version: 1 byte  CRC-32 of the rest: 4 bytes  msgpack
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import ormsgpack

from langgraph_once.errors import LedgerError
from langgraph_once.stream.content import Content
from langgraph_once.stream.entry import Entry
from langgraph_once.stream.nameless import Nameless
from langgraph_once.stream.owed import read_owed, write_owed

if TYPE_CHECKING:
    from langgraph_once.stream.ledger import Ledger

__all__ = ["read_ledger", "write_ledger"]

MAGIC: Final = b"OLDG"
VERSION: Final = 1
HEADER_BYTES: Final = len(MAGIC) + 1 + 4


def write_ledger(ledger: Ledger) -> bytes:
    """The bytes of a ledger."""
    body = ormsgpack.packb(
        {
            "epoch": ledger.epoch,
            "max_messages": ledger.max_messages,
            "max_bytes": ledger.max_bytes,
            "entries": [_pack_entry(entry) for entry in ledger.known()],
            "states": [[list(ns), state] for ns, state in ledger.states.items()],
            "snapshots": [
                [list(ns), [[known, list(place)] for known, place in listed.items()]]
                for ns, listed in ledger.snapshots.items()
            ],
            "updates": list(ledger.updates.items()),
            "nameless": [_pack_nameless(known) for known in ledger.nameless if known.entry],
            "owed": [write_owed(part) for part in ledger.owed],
            "hidden": write_ledger(ledger.hidden) if ledger.hidden else None,
        }
    )
    return MAGIC + bytes([VERSION]) + zlib.crc32(body).to_bytes(4, "big") + body


def read_ledger(data: bytes, *, on_error: Literal["raise", "fresh"]) -> Ledger:
    """The ledger that these bytes hold; see `Ledger.from_bytes`."""
    from langgraph_once.stream.ledger import Ledger

    try:
        return _read(data)
    except LedgerError:
        if on_error == "raise":
            raise
        return Ledger()


def _read(data: bytes) -> Ledger:
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
    if version < 1 or zlib.crc32(body) != int.from_bytes(
        data[len(MAGIC) + 1 : HEADER_BYTES], "big"
    ):
        raise LedgerError("the bytes of this ledger are damaged", version=version)
    try:
        return _build(ormsgpack.unpackb(body))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise LedgerError("the bytes of this ledger are damaged", version=version) from error


def _build(body: dict[str, Any]) -> Ledger:
    from langgraph_once.stream.ledger import Ledger

    ledger = Ledger(max_messages=body["max_messages"], max_bytes=body["max_bytes"])
    for packed in body["entries"]:
        entry, epoch = _unpack_entry(packed)
        ledger.add(entry)
        entry.epoch = epoch
        for known_id in packed["ids"][1:]:
            ledger.alias(entry, known_id)
    ledger.epoch = body["epoch"]
    ledger.states.update({tuple(ns): state for ns, state in body["states"]})
    for ns, listed in body["snapshots"]:
        ledger.snapshots[tuple(ns)] = {known: tuple(place) for known, place in listed}
    ledger.updates = dict(body["updates"])
    for ns, entry_id, in_update, epoch in body.get("nameless", ()):
        for entry in ledger.entries(entry_id)[-1:]:
            known = Nameless(tuple(ns), entry.content, entry, in_update=in_update, epoch=epoch)
            ledger.nameless.add(known)
    ledger.owed.extend(read_owed(said) for said in body.get("owed", ()))  # 0.1 wrote none
    if hidden := body.get("hidden"):
        ledger.hidden = _read(hidden)
    return ledger


def _pack_nameless(known: Nameless) -> list[Any]:
    return [list(known.ns), known.entry and known.entry.id, known.in_update, known.epoch]


def _pack_entry(entry: Entry) -> dict[str, Any]:
    kind, text, calls, rest = entry.content
    return {
        "task": entry.task,
        "ids": entry.ids,
        "within": entry.within,
        "run": entry.run,
        "attempt": entry.attempt,
        "steps": entry.steps,
        "epoch": entry.epoch,
        "is_model": entry.is_model,
        "has_usage": entry.has_usage,
        "claimed": sorted(entry.claimed),
        "said": [kind, text, calls, rest],
    }


def _unpack_entry(packed: dict[str, Any]) -> tuple[Entry, int]:
    kind, text, calls, rest = packed["said"]
    entry = Entry(
        packed["task"], packed["ids"][0], Content(kind, text, _tuples(calls), _tuples(rest))
    )
    entry.run, entry.attempt, entry.steps = packed["run"], packed["attempt"], packed["steps"]
    entry.within = packed["within"]
    entry.is_model, entry.has_usage = packed["is_model"], packed["has_usage"]
    entry.claimed = set(packed["claimed"])
    return entry, packed["epoch"]


def _tuples(items: list[Any]) -> tuple[Any, ...]:
    return tuple(_each(items))


def _each(items: list[Any]) -> Iterator[Any]:
    for item in items:
        yield tuple(item) if isinstance(item, list) else item
