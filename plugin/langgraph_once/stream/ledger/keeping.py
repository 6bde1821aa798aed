"""Where the ledger of a thread is kept between its streams.

There is one for each thread, and it holds what the state of the thread does not tell. Where there
is none, the messages in the state count as delivered.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

from langchain_core.messages import AIMessageChunk, BaseMessage

from langgraph_once.stream.part.shapes import Part

__all__ = [
    "InMemoryStreamStateStore",
    "StreamAddress",
    "StreamStateStore",
    "is_stream_state_store",
    "keep_undelivered",
]

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


METHODS = (
    "load_stream_state",
    "save_stream_state",
    "aload_stream_state",
    "asave_stream_state",
)


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
