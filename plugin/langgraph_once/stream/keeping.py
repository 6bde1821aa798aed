"""What is kept of the ledger of a thread between its streams, as which bytes, and where.

There is one for each thread, and it holds what the state of the thread does not tell. Where there
is none, the messages in the state count as delivered.

Amid a step, what its tasks have said is kept, as they may run again. Of a message in the state,
the other ids are kept under which the consumer has it, as that of a text which a node returned in a
message of its own.

The bytes are a small format of its own, so that it outlives every serializer:

"OLDG"  version: 1 byte  CRC-32 of the rest: 4 bytes  msgpack
"""

from __future__ import annotations

import json
import threading
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import (
    Any,
    Final,
    NamedTuple,
    Protocol,
    Self,
    TypeGuard,
    TypeVar,
    runtime_checkable,
)

import ormsgpack
from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    message_to_dict,
    messages_from_dict,
)

from langgraph_once.errors import LedgerError
from langgraph_once.stream.content import Content, content_of, details_of
from langgraph_once.stream.entries import Entry, PendingIds
from langgraph_once.stream.places import PerGraph, Place
from langgraph_once.stream.shapes import Part

# Between steps a thread takes 126 bytes, amid a step the texts of what its tasks have said.
MAX_THREADS = 1_000
MAX_BYTES = 16 * 1024 * 1024

OVERHEAD_BYTES = 500
"""What a ledger costs here beside its bytes, roughly."""


class StreamAddress(NamedTuple):
    """The thread that a ledger belongs to."""

    thread_id: str
    checkpoint_ns: str


@runtime_checkable
class StreamStateStore(Protocol):
    """Keeps the bytes of ledgers by thread.

    A checkpointer that has these methods is used by itself; it should copy and delete them with
    the threads. The bytes hold the text of messages.

    The methods are called beside a stream, as it begins and when it has ended: sync ones in
    threads of their own. What a method raises fails no stream.
    """

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        """The bytes saved at this address, if any."""

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """Save bytes at this address, in place of those there."""

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        """`load_stream_state`, async."""

    async def asave_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """`save_stream_state`, async."""


METHODS = [name for name in vars(StreamStateStore) if name.endswith("_stream_state")]


def is_stream_state_store(value: object) -> TypeGuard[StreamStateStore]:
    """Whether something has the methods of one, be it by `__getattr__`.

    LangGraph Platform's adapter hands on so what its saver has, which from Python 3.12 on
    `isinstance` does not see.
    """
    has = (callable(getattr(value, name, None)) for name in METHODS)
    return not isinstance(value, type) and all(has)


class InMemoryStreamStateStore:
    """Keeps the ledgers of the threads that were used last, in the memory of this process.

    Args:
        max_threads: The most to keep.
        max_bytes: The most that all of them may take. The one used last is kept in any case.
    """

    def __init__(self, *, max_threads: int = MAX_THREADS, max_bytes: int = MAX_BYTES) -> None:
        self._max_threads = max_threads
        self._max_bytes = max_bytes
        self._kept: OrderedDict[StreamAddress, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """What `copy.deepcopy` copies: all but the lock, which has no copy."""
        with self._lock:
            return {**vars(self), "_kept": self._kept.copy(), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        """The bytes saved at this address, if any."""
        with self._lock:
            if address in self._kept:
                self._kept.move_to_end(address)
            return self._kept.get(address)

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """Save bytes at this address, in place of those there."""
        with self._lock:
            if (old := self._kept.pop(address, None)) is not None:
                self._bytes -= OVERHEAD_BYTES + len(old)
            self._kept[address] = data
            self._bytes += OVERHEAD_BYTES + len(data)
            while len(self._kept) > self._max_threads or (
                self._bytes > self._max_bytes and len(self._kept) > 1
            ):
                _, forgotten = self._kept.popitem(last=False)
                self._bytes -= OVERHEAD_BYTES + len(forgotten)

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        """`load_stream_state`; it does not block."""
        return self.load_stream_state(address)

    async def asave_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """`save_stream_state`; it does not block."""
        self.save_stream_state(address, data)


MAGIC: Final = b"OLDG"
VERSION: Final = 2
HEADER_BYTES: Final = len(MAGIC) + 1 + 4

OF_LEDGERS: Final = ("epoch", "ended", "left_at", "max_messages", "max_bytes")
"""Attributes of a ledger that are kept as they are."""

OF_ENTRIES: Final = ("task", "ids", "within", "steps", "epoch", "is_model", "has_usage")
"""Those of an entry."""

OF_A_DONE_STEP: Final[Mapping[str, Any]] = MappingProxyType(
    {"epoch": 1, "ended": 1, "left_at": "", "snapshots": [], "nameless": [], "waiting": []}
)
"""The same for each, so that what has not changed since it was saved need not be saved again."""

MAX_ALIASES = 32
"""Of messages that the consumer has under other ids than the state; an edit of one that is
forgotten is shown beside it."""


class Keepable(Protocol):
    """What is asked of a ledger to keep it, and to fill it again; `Ledger` says what each is."""

    epoch: int
    snapshots: PerGraph[Mapping[str, Place]]
    updates: dict[bytes, int]
    undelivered: deque[Part]
    pending_ids: PendingIds
    hidden: Self | None

    def known(self) -> list[Entry]: ...
    def entries(self, message_id: str) -> tuple[Entry, ...]: ...
    def add(self, entry: Entry) -> None: ...
    def await_id(
        self,
        ns: Place,
        content: Content,
        *,
        entry: Entry | None = None,
        part: Part | None = None,
        in_update: bool = False,
    ) -> None: ...


L = TypeVar("L", bound=Keepable)


def pack_ledger(ledger: Keepable, state: Mapping[str, BaseMessage], *, is_done: bool) -> bytes:
    """What is kept of a ledger, as bytes.

    Args:
        ledger: The ledger.
        state: The messages in the state of the thread, by their ids.
        is_done: Whether no step is under way.
    """
    if is_done:
        aliases = [{"ids": each.ids} for each in ledger.known() if len(each.ids) > 1]
        body = {**_body(ledger, aliases[-MAX_ALIASES:], state), **OF_A_DONE_STEP}
    else:
        known = (_packed_entry(each, state) for each in ledger.known())
        kept = [each for each in known if "said" in each or len(each["ids"]) > 1]
        body = _body(ledger, kept, state)
    data = ormsgpack.packb(body)
    return MAGIC + bytes([VERSION]) + zlib.crc32(data).to_bytes(4, "big") + data


def _body(
    ledger: Keepable, entries: list[dict[str, Any]], state: Mapping[str, BaseMessage]
) -> dict[str, Any]:
    snapshots = {
        ns: {known: at for known, at in listed.items() if ns or known not in state}
        for ns, listed in ledger.snapshots.items()
    }
    hidden = None
    if ledger.hidden is not None:  # all of it: nobody else knows that it is hidden
        known = [_packed_entry(each, state) for each in ledger.hidden.known()]
        hidden = _body(ledger.hidden, known, state)
    pending = ledger.pending_ids
    return {
        **{name: getattr(ledger, name) for name in OF_LEDGERS},
        "entries": entries,
        "snapshots": [(ns, list(listed.items())) for ns, listed in snapshots.items()],
        "updates": list(ledger.updates.items()),
        "nameless": [(each.ns, each.entry.id, each.in_update) for each in pending if each.entry],
        "waiting": [_packed_part(each.part) for each in pending if each.part],
        "owed": [_packed_part(part) for part in ledger.undelivered],
        "hidden": hidden,
    }


def fill_ledger(data: bytes, ledger: L, beside: Callable[[], Mapping[str, BaseMessage]]) -> L:
    """Fill a ledger with what these bytes hold.

    Args:
        data: The bytes.
        ledger: A new one; no longer of use if this raises.
        beside: Finds the messages in the state of the thread, by their ids.

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
        return _filled(ledger, ormsgpack.unpackb(body), beside)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise LedgerError("the bytes of this ledger are damaged", version=version) from error


def _filled(
    ledger: L, body: Mapping[str, Any], beside: Callable[[], Mapping[str, BaseMessage]]
) -> L:
    for name in OF_LEDGERS:
        setattr(ledger, name, body[name])
    state = beside() if body["entries"] else {}
    for said in body["entries"]:
        if (entry := _read_entry(said, state)) is not None:
            ledger.add(entry)
            entry.epoch = entry.began_in = said.get("epoch", ledger.epoch)
    for ns, listed in body["snapshots"]:
        ledger.snapshots[tuple(ns)] = {known: tuple(place) for known, place in listed}
    ledger.updates = dict(body["updates"])
    for ns, message_id, in_update in body["nameless"]:
        for entry in ledger.entries(message_id)[-1:]:
            ledger.await_id(tuple(ns), entry.content, entry=entry, in_update=in_update)
    for part in map(_read_part, body["waiting"]):
        ledger.await_id(part.ns, content_of(part.data), part=part)
    ledger.undelivered.extend(map(_read_part, body["owed"]))
    if body["hidden"] is not None:
        ledger.hidden = _filled(type(ledger)(), body["hidden"], beside)
    return ledger


def _packed_entry(entry: Entry, state: Mapping[str, BaseMessage]) -> dict[str, Any]:
    """The fields of a message that a saved ledger holds.

    What the message says is left out if the state of the thread tells it.
    """
    kept = {name: getattr(entry, name) for name in OF_ENTRIES}
    kept["claimed"] = sorted(entry.claimed)
    found = _found(state, entry.ids)
    if found is None or content_of(found) != entry.content:
        kept["said"] = list(entry.content)
    return kept


def _read_entry(given: Mapping[str, Any], state: Mapping[str, BaseMessage]) -> Entry | None:
    """Make a message of fields that `_packed_entry` gave; some may be missing.

    None if a state told what it says, and does so no more.
    """
    # By name: the ledger of another release may hold more.
    kept = {name: given[name] for name in OF_ENTRIES if name in given}
    fields = {"task": "", **kept, "id": given["ids"][0]}
    if "said" in given:
        kind, text, calls, rest = given["said"]
        fields["said"] = Content(kind, text, _tuples(calls), _tuples(rest))
    elif (message := _found(state, given["ids"])) is not None:
        fields |= {"said": content_of(message), "details": details_of(message)}
    else:
        return None
    return Entry(**fields, claimed={*given.get("claimed", ())})


def _found(state: Mapping[str, BaseMessage], ids: Iterable[str]) -> BaseMessage | None:
    """The message in a state that bears one of these ids, if one does."""
    return next((message for each in ids if (message := state.get(each)) is not None), None)


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


def _packed_part(part: Part) -> str:
    """An undelivered message as JSON; what JSON has no word for becomes text."""
    said = [list(part.ns), message_to_dict(part.data), dict(part.meta)]
    return json.dumps(said, default=repr)


def _read_part(said: str) -> Part:
    """The undelivered message that `_packed_part` wrote."""
    ns, message, meta = json.loads(said)
    return Part(tuple(ns), "messages", messages_from_dict([message])[0], meta)
