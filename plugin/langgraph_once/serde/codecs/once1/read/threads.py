"""Reading threads: arrays whose first item is a `HEAD`.

Their messages are native maps, so a whole thread is unpacked in one call. The maps become
messages when the whole value has been read.
"""

from __future__ import annotations

from typing import Any

from langgraph_once.serde.codecs.once1.read.simple_objects import Maker

__all__ = ["Head", "placed"]


class Head:
    """Constructors for the messages after a `HEAD`."""

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
        return [make(values) for make, values in zip(self._makers, items)]  # noqa: B905  # see above


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
