"""Channel values that are decoded when someone looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

__all__ = ["LazyValues"]


class LazyValues(Mapping[str, Any]):
    """Channel values, each decoded when it is read for the first time.

    It is no `dict`: C code (msgpack, orjson, `dict(...)`) goes around the methods of a subclass,
    and would take what is not decoded yet for the value.

    Args:
        names: The channels.
        decode: Gives the value of a channel. What it raises, reading the value raises.
    """

    __slots__ = ("_decode", "_decoded", "_names")

    def __init__(self, names: Iterable[str], decode: Callable[[str], Any]) -> None:
        self._names = dict.fromkeys(names)
        self._decode = decode
        self._decoded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._decoded:
            if name not in self._names:
                raise KeyError(name)
            self._decoded[name] = self._decode(name)
        return self._decoded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names  # the method of `Mapping` decodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
