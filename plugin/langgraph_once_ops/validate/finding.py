"""What is wrong, and where; also with ids of checkpoints and times: what history is ordered by."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import RFC_4122, UUID

from langgraph_once.serde import joined_path, step_to

_MAX_BITS: Final = 64


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        path: Where: `["channel_versions"]["messages"]`, `.config["configurable"]["thread_id"]`;
            empty for the whole. Keys are cut short; nothing else is quoted.
        problem: What is wrong, or what would be right.
    """

    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" if self.path else self.problem


class Location:
    """A place in what is checked, and the findings of all of it."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._above = ""
        self._keys: tuple[object, ...] = ()

    def at(self, *keys: object) -> Location:
        """Return the place that `keys` lead to from here."""
        return self._inner(self._above, (*self._keys, *keys))

    def attribute(self, name: str) -> Location:
        """Return the place of an attribute of what is here."""
        return self._inner(f"{self._path()}.{name}", ())

    def add(self, problem: str) -> None:
        """Find something wrong here."""
        self.findings.append(Finding(self._path(), problem))

    def add_type(self, value: object, expected: str) -> None:
        """Find that what is here is no such thing as expected."""
        self.add(f"is of type {type(value).__name__}, must be {expected}")

    def entries(self, value: object, name: str) -> Iterator[tuple[str, Any, Location]]:
        """Yield the entries of the mapping that is here, each with its place; find what is none.

        Args:
            value: What should be a mapping with text keys.
            name: What its keys are.
        """
        for key in self.keys(value, name):
            yield key, value[key], self.at(key)  # type: ignore[index]  # it has keys

    def keys(self, value: object, name: str) -> Iterator[str]:
        """Yield the keys alone: values may be loaded when they are asked for."""
        if isinstance(value, Mapping):
            yield from (key for key, _ in self._texts(((key, key) for key in value), name))
        else:
            self.add_type(value, "a mapping")

    def items(self, value: object, name: str) -> Iterator[tuple[str, Location]]:
        """Yield the texts of the list that is here, each with its place; find what is none."""
        if isinstance(value, list | tuple):
            yield from self._texts(enumerate(value), name)
        else:
            self.add_type(value, "a list")

    def _texts(
        self, found: Iterable[tuple[object, object]], name: str
    ) -> Iterator[tuple[str, Location]]:
        for key, text in found:
            place = self.at(key)
            if isinstance(text, str):
                yield text, place
            else:
                place.add_type(text, f"text: {name}")

    def _path(self) -> str:
        return self._above + joined_path([step_to(_sayable(key)) for key in self._keys])

    def _inner(self, above: str, keys: tuple[object, ...]) -> Location:
        inner = Location()
        inner.findings, inner._above, inner._keys = self.findings, above, keys
        return inner


def _sayable(key: object) -> object:
    # Python refuses to make text of numbers of more than 4,300 digits.
    return None if isinstance(key, int) and key.bit_length() > _MAX_BITS else key


_BY_TIME: Final = 6


def check_id(value: object, place: Location) -> bool:
    """Whether `value` is the id of a checkpoint; find why it is not.

    Savers order ids as text, so a UUID in another spelling is not right either.
    """
    if not isinstance(value, str):
        place.add_type(value, "text: a UUID of version 6")
        return False
    try:
        parsed = UUID(value)
    except ValueError:
        place.add("is no UUID; ids of checkpoints are UUIDs of version 6")
        return False
    if str(parsed) != value:
        place.add("is a UUID that is not spelt in lower case, in groups of 8, 4, 4, 4 and 12")
        return False
    if parsed.variant != RFC_4122 or parsed.version != _BY_TIME:
        place.add("is a UUID, but not of version 6, which is ordered by time")
        return False
    return True


def check_timestamp(value: object, place: Location) -> None:
    """Find why `value` is no time in ISO 8601 and UTC."""
    if not isinstance(value, str):
        place.add_type(value, "text: a time in ISO 8601")
        return
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        place.add("is no time in ISO 8601")
        return
    check_time(time, place)


def check_time(time: object, place: Location) -> datetime | None:
    """Find why `time` is not one in UTC; return it if it can be compared with one."""
    if not isinstance(time, datetime):
        place.add_type(time, "a datetime")
        return None
    offset = time.utcoffset()
    if offset is None:
        place.add("has no time zone, must be in UTC")
    elif offset:
        place.add("is in another time zone, must be in UTC")
    return None if offset is None else time
