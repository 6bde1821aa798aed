"""Values of a checkpoint that are decoded when someone looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cached_property
from typing import Any, Final, Self

from langgraph.checkpoint.base import Checkpoint, CheckpointTuple, PendingWrite

from langgraph_once.errors import SerdeError


class _Undecoded:
    """Stands in a `LazyValues` for what was not looked at."""

    def __repr__(self) -> str:
        return "…"


_UNDECODED: Final = _Undecoded()


class LazyValues(dict[str, Any]):
    """A dict of channel values, each decoded when it is read for the first time.

    It is a dict for all who ask it by its methods, and copies and pickles as a plain one. Only C
    code that goes around the methods of a dict would see that a value is not decoded yet.

    Args:
        names: The channels.
        decode: Gives the value of a channel. What it raises, reading the value raises.
    """

    __slots__ = ("_decode",)

    def __init__(self, names: Mapping[str, Any], decode: Callable[[str], Any]) -> None:
        super().__init__(dict.fromkeys(names, _UNDECODED))
        self._decode = decode

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if value is _UNDECODED:
            value = self._decode(name)
            self[name] = value
        return value

    def __iter__(self) -> Iterator[str]:
        # That it is defined keeps `{**values}` and `dict(values)` from going around `__getitem__`.
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a channel, or the default."""
        if name not in self:
            return default
        return self[name]

    def values(self) -> Any:
        """The values, decoded."""
        return self.copy().values()

    def items(self) -> Any:
        """The channels and their values, decoded."""
        return self.copy().items()

    def decoded(self) -> dict[str, Any]:
        """A plain dict; this one if a channel cannot be decoded, which says so when it is read."""
        try:
            return self.copy()
        except SerdeError:
            for name in self:
                with suppress(SerdeError):
                    self[name]
            return self

    def copy(self) -> dict[str, Any]:
        """A plain dict."""
        return {name: self[name] for name in self}

    def pop(self, name: str, *default: Any) -> Any:
        """Remove a channel, and return its value."""
        if name in self:
            value = self[name]
            del self[name]
            return value
        return super().pop(name, *default)

    def popitem(self) -> tuple[str, Any]:
        """Remove the last channel, and return it with its value."""
        name = next(reversed(self))
        return name, self.pop(name)

    def setdefault(self, name: str, default: Any = None) -> Any:
        """The value of a channel, which gets the default if it has none."""
        if name not in self:
            self[name] = default
        return self[name]

    def __eq__(self, other: object) -> bool:
        return self.copy() == (other.copy() if isinstance(other, LazyValues) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # as of every dict

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __copy__(self) -> dict[str, Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return deepcopy(self.copy(), memo)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return dict, (self.copy(),)


class ListedCheckpoint(CheckpointTuple):
    """A checkpoint of a list, as every saver gives it; it is decoded when someone asks for it.

    So a list of which only the configs are read takes no time for the values. Whoever has the
    checkpoint has all of it: C code that goes around the methods of a dict, as the serializers of
    other savers do, finds plain values.
    """

    _writes: Callable[[], list[PendingWrite]] | None = None

    @classmethod
    def of(cls, found: CheckpointTuple, writes: Callable[[], list[PendingWrite]]) -> Self:
        """Make one.

        Args:
            found: The checkpoint with `LazyValues`, and without writes.
            writes: Decodes those.
        """
        made = cls(*found)
        made._writes = writes
        return made

    @property
    def undecoded(self) -> CheckpointTuple:
        """The checkpoint, of which only those channels are decoded that are looked at."""
        checkpoint: Any = tuple.__getitem__(self, 1)
        return CheckpointTuple(
            self.config, checkpoint, self.metadata, self.parent_config, self.pending_writes
        )

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint, with all that can be decoded of its channels."""
        found: Any = tuple.__getitem__(self, 1)
        values = found["channel_values"]
        decoded = values.decoded() if isinstance(values, LazyValues) else values
        checkpoint: Any = {**found, "channel_values": decoded}
        return checkpoint  # type: ignore[no-any-return]  # as it was stored

    @cached_property
    def pending_writes(self) -> list[PendingWrite] | None:
        """What tasks wrote on it."""
        raw: Any = tuple.__getitem__(self, 4)
        return self._writes() if self._writes else raw

    def __iter__(self) -> Iterator[Any]:
        yield from (self.config, self.checkpoint, self.metadata)
        yield from (self.parent_config, self.pending_writes)

    def __getitem__(self, at: Any) -> Any:
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == other

    __hash__ = None  # type: ignore[assignment]  # as of every tuple that holds a dict

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckpointTuple, tuple(self)
