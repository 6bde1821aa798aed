"""`HEAD`, the first item of a thread: the kinds of its messages, and a number for each message."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Final

from ormsgpack import Ext as Extension

from langgraph_once.serde.codecs.once1.format.layout import MARK, MAX_KINDS_BYTES, Ext, array, pack
from langgraph_once.serde.codecs.once1.write.simple_objects import GiveUpError

if TYPE_CHECKING:
    from langgraph_once.serde.codecs.once1.write.simple_objects import Kind

__all__ = ["AS_IT_IS", "Heads", "NumberedKinds"]

AS_IT_IS: Final = 0
"""In place of the number of a kind: the item is no message, and stands for itself."""

_MAX_KINDS: Final = 255
"""Of messages there are a handful."""

_MAX_HEADS: Final = 1024
_MAX_HEAD_MESSAGES: Final = 128
"""What is remembered takes a megabyte at most."""

_HEAD: Final = int(Ext.HEAD)


class NumberedKinds:
    """The kinds that were met, each under a number, so that bytes can list them."""

    def __init__(self) -> None:
        self.kinds: dict[int, Kind] = {}
        self._numbers: dict[Kind, int] = {}
        self._lock = Lock()

    def number(self, kind: Kind) -> int:
        """Return the number of a kind."""
        found = self._numbers.get(kind)
        return self._new_number(kind) if found is None else found

    def _new_number(self, kind: Kind) -> int:
        with self._lock:
            number = len(self.kinds) + 1
            if number > _MAX_KINDS:
                raise GiveUpError
            self.kinds[number] = kind
            # Last: whoever finds it finds the kind, too.
            return self._numbers.setdefault(kind, number)


class Heads(dict[bytes, Extension]):
    """The `HEAD` of a thread, by the numbers of the kinds of its messages."""

    def __init__(self, kinds: dict[int, Kind]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, numbers: bytes) -> Extension:
        kinds = self._kinds
        head = _made(numbers, lambda number: kinds[number].packed)
        if len(numbers) <= _MAX_HEAD_MESSAGES:
            if len(self) >= _MAX_HEADS:
                self.clear()
            self[numbers] = head
        return head

    def with_forms(self, numbers: list[int], forms: dict[int, bytes]) -> Extension:
        """Return one that is not remembered, with these kinds in place of those of a number."""
        kinds = self._kinds
        return _made(bytes(numbers), lambda number: forms.get(number) or kinds[number].packed)


def _made(numbers: bytes, packed_kind: Callable[[int], bytes]) -> Extension:
    order = bytes(number for number in dict.fromkeys(numbers) if number != AS_IT_IS)
    kinds = array([*map(packed_kind, order)])
    if len(kinds) > MAX_KINDS_BYTES:
        raise GiveUpError
    places = bytes.maketrans(order, bytes(range(1, len(order) + 1)))
    return Extension(_HEAD, array([pack(kinds), pack(numbers.translate(places)), pack(MARK)]))
