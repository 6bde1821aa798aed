"""The ledger as bytes: a small format of its own, so that it outlives every serializer.

"OLDG"  version: 1 byte  CRC-32 of the rest: 4 bytes  msgpack
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import ormsgpack

from langgraph_once.errors import LedgerError
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.ledger.pending_ids import PendingId
from langgraph_once.stream.ledger.undelivered import read_undelivered, write_undelivered
from langgraph_once.stream.part.content import Content
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import Place

__all__ = ["SavedLedger", "read_ledger", "write_ledger"]

MAGIC: Final = b"OLDG"
VERSION: Final = 1
HEADER_BYTES: Final = len(MAGIC) + 1 + 4


class SavedLedger(NamedTuple):
    """What of a ledger is kept; `Ledger` says what each of it is."""

    epoch: int
    max_messages: int
    max_bytes: int
    entries: list[Entry]
    states: Mapping[Place, dict[str, bytes | None]]
    snapshots: Mapping[Place, Mapping[str, Place]]
    updates: Mapping[bytes, int]
    copies_without_id: list[PendingId]
    waiting: Iterable[Part]
    undelivered: Iterable[Part]
    hidden: SavedLedger | None


def write_ledger(ledger: SavedLedger) -> bytes:
    """The bytes of a ledger."""
    body = ormsgpack.packb(
        {
            "epoch": ledger.epoch,
            "max_messages": ledger.max_messages,
            "max_bytes": ledger.max_bytes,
            "entries": [_pack_entry(entry) for entry in ledger.entries],
            "states": [[list(ns), state] for ns, state in ledger.states.items()],
            "snapshots": [
                [list(ns), [[known, list(place)] for known, place in listed.items()]]
                for ns, listed in ledger.snapshots.items()
            ],
            "updates": list(ledger.updates.items()),
            "nameless": [_pack_copy(known) for known in ledger.copies_without_id],
            "waiting": [write_undelivered(part) for part in ledger.waiting],
            "owed": [write_undelivered(part) for part in ledger.undelivered],
            "hidden": write_ledger(ledger.hidden) if ledger.hidden else None,
        }
    )
    return MAGIC + bytes([VERSION]) + zlib.crc32(body).to_bytes(4, "big") + body


def read_ledger(data: bytes) -> SavedLedger:
    """The ledger that these bytes hold.

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
    if version < 1 or zlib.crc32(body) != int.from_bytes(
        data[len(MAGIC) + 1 : HEADER_BYTES], "big"
    ):
        raise LedgerError("the bytes of this ledger are damaged", version=version)
    try:
        return _unpack(ormsgpack.unpackb(body))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise LedgerError("the bytes of this ledger are damaged", version=version) from error


def _unpack(body: dict[str, Any]) -> SavedLedger:
    entries = [_unpack_entry(packed) for packed in body["entries"]]
    by_id = {known_id: entry for entry in entries for known_id in entry.ids}
    hidden = body.get("hidden")
    return SavedLedger(
        epoch=body["epoch"],
        max_messages=body["max_messages"],
        max_bytes=body["max_bytes"],
        entries=entries,
        states={tuple(ns): state for ns, state in body["states"]},
        snapshots={
            tuple(ns): {known: tuple(place) for known, place in listed}
            for ns, listed in body["snapshots"]
        },
        updates=dict(body["updates"]),
        copies_without_id=[
            PendingId(
                tuple(ns), by_id[said].content, entry=by_id[said], in_update=told, epoch=epoch
            )
            for ns, said, told, epoch in body.get("nameless", ())
            if said in by_id
        ],
        waiting=[read_undelivered(said) for said in body.get("waiting", ())],
        undelivered=[read_undelivered(said) for said in body.get("owed", ())],  # 0.1 wrote none
        hidden=read_ledger(hidden) if hidden else None,
    )


def _pack_copy(known: PendingId) -> list[Any]:
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
        "order": entry.order,
        "epoch": entry.epoch,
        "is_model": entry.is_model,
        "has_usage": entry.has_usage,
        "claimed": sorted(entry.claimed),
        "said": [kind, text, calls, rest],
    }


def _unpack_entry(packed: dict[str, Any]) -> Entry:
    kind, text, calls, rest = packed["said"]
    said = Content(kind, text, _tuples(calls), _tuples(rest))
    entry = Entry(packed["task"], packed["ids"][0], said)
    entry.ids = list(packed["ids"])
    entry.run, entry.attempt, entry.steps = packed["run"], packed["attempt"], packed["steps"]
    entry.order = tuple(packed.get("order", ()))
    entry.within, entry.epoch = packed["within"], packed["epoch"]
    entry.is_model, entry.has_usage = packed["is_model"], packed["has_usage"]
    entry.claimed = set(packed["claimed"])
    return entry


def _tuples(items: list[Any]) -> tuple[Any, ...]:
    return tuple(_each(items))


def _each(items: list[Any]) -> Iterator[Any]:
    for item in items:
        yield tuple(item) if isinstance(item, list) else item
