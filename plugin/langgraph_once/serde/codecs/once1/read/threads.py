"""Codec `once1`, reading threads: arrays whose first item is a `HEAD`.

Their messages are native maps, so that all of a thread is written, and read, in one go. They
become messages when the whole value has been read.
"""

from __future__ import annotations

from typing import Any, Final

from ormsgpack import unpackb

from langgraph_once.serde.codecs.once1.format.layout import Ext, unpack_items
from langgraph_once.serde.codecs.once1.format.scan import Kind, read_token
from langgraph_once.serde.codecs.once1.read.simple_objects import Maker

__all__ = ["Head", "ThreadReader", "placed"]

_MAP_OF_ONE: Final = 0x81
_ARRAY: Final = 0x90
_MAX_ITEMS: Final = 14
_MAX_STARTS: Final = 1024
_MAX_START_BYTES: Final = 1024
"""What is remembered takes a megabyte at most."""


class Head:
    """What makes the items behind it."""

    __slots__ = ("_makers",)

    def __init__(self, makers: list[Maker], indices: bytes) -> None:
        self._makers = [*map(makers.__getitem__, indices)]

    def rebuilt(self, items: list[Any]) -> list[Any]:
        """Return what was made of the items.

        Raises:
            NotSimpleError: It takes the family to make these objects.
            ValueError: There are more items, or less.
        """
        if len(items) != len(self._makers):
            raise ValueError("another number of items than of indices")
        # To ask `zip` for that takes as long as to make two messages.
        return [make(values) for make, values in zip(self._makers, items)]  # noqa: B905

    def __len__(self) -> int:
        return len(self._makers)

    @property
    def lone(self) -> Maker | None:
        """What makes the only item; None if there are others."""
        return self._makers[0] if len(self._makers) == 1 else None


def placed(value: Any, count: int) -> Any:
    """Return a value with its threads rebuilt, of which there are so many.

    Raises:
        ValueError: One stands where none is written; or as from `Head.rebuilt`.
    """
    if type(value) is list and type(value[0]) is Head:
        value, count = value[0].rebuilt(value[1:]), count - 1
    maps = [value] if type(value) is dict else []
    for holder in maps:
        for key, item in holder.items():
            if type(item) is list and item and type(item[0]) is Head:
                holder[key] = item[0].rebuilt(item[1:])
                count -= 1
            elif type(item) is dict:
                maps.append(item)
    if count:
        raise ValueError("a head where none is written")
    return value


class ThreadReader:
    """Reads blobs that are a short thread, or a dictionary that holds nothing else.

    Nearly all begin as another one did, up to the first message.
    """

    __slots__ = ("_starts",)

    def __init__(self, heads: dict[bytes, Head]) -> None:
        self._starts = _Starts(heads)

    def read(self, data: bytes, start: int) -> Any:
        """Return the value of such a blob, whose first mark ends at `start`.

        Raises:
            Exception: Of any kind, for all others, and if no such thread was read before.
        """
        key, count, head, make = self._starts[data[:start]]
        items = unpack_items(data[start:], count)
        thread = [make(items[0])] if make is not None else head.rebuilt(items[:-1])
        return thread if key is None else {key: thread}


class _Starts(dict[bytes, tuple[str | None, int, Head, Maker | None]]):
    """What stands before the first message: key, number of messages, what makes them or it."""

    def __init__(self, heads: dict[bytes, Head]) -> None:
        super().__init__()
        self._heads = heads

    def __missing__(self, start: bytes) -> tuple[str | None, int, Head, Maker | None]:
        key = None
        at = 0
        if start[0] == _MAP_OF_ONE:
            token = read_token(start, 1)
            at = token.body + token.size
            key = unpackb(start[1:at])
        count = start[at] - _ARRAY - 1
        token = read_token(start, at + 1)
        if (
            not (0 < count <= _MAX_ITEMS and token.kind is Kind.EXT and token.code == Ext.HEAD)
            or token.body + token.size != len(start)
            or not (key is None or type(key) is str)
        ):
            raise ValueError("no thread")
        head = self._heads[start[token.body :]]
        if len(head) != count:
            raise ValueError("another number of items than of indices")
        found = key, count, head, head.lone
        if len(start) <= _MAX_START_BYTES:
            if len(self) >= _MAX_STARTS:
                self.clear()
            self[start] = found
        return found
