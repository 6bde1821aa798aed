"""Where the ledger of a thread is kept between its streams.

A ledger belongs to a checkpoint: it says what the consumer had when the thread stood there.
So a resume, in this process or another, a fork and a replay of the past each find the one that
is theirs. A checkpoint without one is no harm: the messages of its state tell what the
consumer has, and only what was streamed and never entered the state is not known.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple, Protocol, runtime_checkable

__all__ = ["InMemoryStreamStateStore", "StreamAddress", "StreamStateStore"]

MAX_CHECKPOINTS = 1_000


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
    """

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        """The bytes saved at this address, if any."""

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """Save bytes at this address, in place of those there."""

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        """`load_stream_state`, async."""

    async def asave_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """`save_stream_state`, async."""


class InMemoryStreamStateStore:
    """Keeps ledgers in this process: those of the checkpoints used last.

    Args:
        max_checkpoints: The most to keep.
    """

    def __init__(self, *, max_checkpoints: int = MAX_CHECKPOINTS) -> None:
        self._max_checkpoints = max_checkpoints
        self._saved: OrderedDict[StreamAddress, bytes] = OrderedDict()

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        """The bytes saved at this address, if any."""
        return self._saved.get(address)

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """Save bytes at this address, in place of those there."""
        self._saved[address] = data
        self._saved.move_to_end(address)
        while len(self._saved) > self._max_checkpoints:
            self._saved.popitem(last=False)

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        """`load_stream_state`; it does not block."""
        return self.load_stream_state(address)

    async def asave_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """`save_stream_state`; it does not block."""
        self.save_stream_state(address, data)
