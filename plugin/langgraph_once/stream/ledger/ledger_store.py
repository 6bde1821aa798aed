"""Where the ledger of a thread is kept between its streams.

A ledger belongs to a checkpoint: it says what the consumer had when the thread stood there.
So a resume in any process, a fork, and a replay of the past each find their own. Where a
checkpoint has no ledger, the messages in its state count as delivered; only what was streamed
and never entered the state is then unknown.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

__all__ = [
    "InMemoryStreamStateStore",
    "StreamAddress",
    "StreamStateStore",
    "is_stream_state_store",
]

MAX_THREADS = 1_000
MAX_CHECKPOINTS = 8
MAX_BYTES = 16 * 1024 * 1024

OVERHEAD_BYTES = 500
"""What a ledger costs here beside its bytes, roughly."""


class StreamAddress(NamedTuple):
    """The checkpoint that a ledger belongs to."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str


@runtime_checkable
class StreamStateStore(Protocol):
    """Keeps the bytes of ledgers by checkpoint.

    A checkpointer that has these methods is used by itself; it should copy, prune and delete
    them with the checkpoints. The bytes hold the text of messages.

    The methods are called beside a stream: sync ones in threads of their own. A ledger may come
    before its checkpoint is stored. What a method raises fails no stream.
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
    """Keeps ledgers in this process: of the threads used last the checkpoints used last.

    Args:
        max_threads: The most threads to keep ledgers of.
        max_checkpoints: The most to keep of one thread: to resume it takes the last, and those
            before it serve forks and replays.
        max_bytes: The most that all of them may take. The one used last is kept in any case.
    """

    def __init__(
        self,
        *,
        max_threads: int = MAX_THREADS,
        max_checkpoints: int = MAX_CHECKPOINTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._max_threads = max_threads
        self._max_checkpoints = max_checkpoints
        self._max_bytes = max_bytes
        self._threads: OrderedDict[str, dict[StreamAddress, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """What `copy.deepcopy` copies: all but the lock, which has no copy."""
        with self._lock:
            threads = OrderedDict((name, {**kept}) for name, kept in self._threads.items())
            return {**vars(self), "_threads": threads, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        """The bytes saved at this address, if any."""
        with self._lock:
            saved = self._threads.get(address.thread_id)
            if saved is None or address not in saved:
                return None
            self._threads.move_to_end(address.thread_id)
            saved[address] = data = saved.pop(address)  # now the last
            return data

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """Save bytes at this address, in place of those there."""
        with self._lock:
            saved = self._threads.setdefault(address.thread_id, {})
            self._threads.move_to_end(address.thread_id)
            self._bytes += OVERHEAD_BYTES + len(data)
            if (old := saved.pop(address, None)) is not None:
                self._bytes -= OVERHEAD_BYTES + len(old)
            saved[address] = data
            if len(saved) > self._max_checkpoints:
                self._forget_of(saved)
            while len(self._threads) > self._max_threads or self._bytes > self._max_bytes:
                if not self._forget_oldest():
                    break

    def _forget_oldest(self) -> bool:
        """Forget what was used longest ago; False if only what was used last is left."""
        thread_id, saved = next(iter(self._threads.items()))
        if len(self._threads) == len(saved) == 1:
            return False
        self._forget_of(saved)
        if not saved:
            del self._threads[thread_id]
        return True

    def _forget_of(self, saved: dict[StreamAddress, bytes]) -> None:
        self._bytes -= OVERHEAD_BYTES + len(saved.pop(next(iter(saved))))

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        """`load_stream_state`; it does not block."""
        return self.load_stream_state(address)

    async def asave_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """`save_stream_state`; it does not block."""
        self.save_stream_state(address, data)
