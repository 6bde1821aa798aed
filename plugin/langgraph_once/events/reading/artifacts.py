"""Which elements of a value are new or changed? They are known by id, else by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from langgraph_once.stream.part.fingerprint import fingerprint

__all__ = ["Artifact", "ArtifactTracker"]


class Artifact(NamedTuple):
    """An element that is new or changed, with its own id or one made of its content."""

    id: str
    data: Any


class ArtifactTracker:
    """Compares the values of one key with those before.

    Position and length do not matter: an edit, a removal or an insertion anywhere is told as what
    it is. An element without an id is new if the value before did not hold it; two equal ones
    count twice.

    Args:
        max_known: The most elements to remember of what nodes wrote; of a whole value, all are.
    """

    def __init__(self, max_known: int) -> None:
        self._max_known = max_known
        self._prints: dict[str, set[bytes]] = {}
        self._unnamed: Counter[bytes] = Counter()

    def values(self, value: Any) -> Iterator[Artifact]:
        """What is new in the whole value."""
        prints, self._prints = self._prints, {}
        unnamed, self._unnamed = self._unnamed, Counter()
        for element in _elements(value):
            own_id, print_ = _own_id(element), _print_of(element)
            if own_id is None:
                self._unnamed[print_] += 1
                is_new = self._unnamed[print_] > unnamed[print_]
            else:
                said = self._prints.setdefault(own_id, set())
                is_new = print_ not in said and print_ not in prints.get(own_id, ())
                said.add(print_)
            if is_new:
                yield Artifact(own_id or print_.hex(), element)

    def update(self, written: Any) -> Iterator[Artifact]:
        """What is new in what a node wrote: the whole value, or only an addition to it.

        An element without id that was written before counts as the same.
        """
        within: Counter[bytes] = Counter()
        for element in _elements(written):
            own_id, print_ = _own_id(element), _print_of(element)
            if own_id is None:
                within[print_] += 1
                # Taken out and put back, so that the first in the dict was seen longest ago.
                known = self._unnamed.pop(print_, 0)
                is_new = within[print_] > known
                self._unnamed[print_] = max(within[print_], known)
            else:
                is_new = print_ not in self._prints.pop(own_id, ())
                self._prints[own_id] = {print_}
            if is_new:
                yield Artifact(own_id or print_.hex(), element)
        stores: tuple[dict[Any, Any], ...] = (self._prints, self._unnamed)
        for seen in stores:
            while len(seen) > self._max_known:  # the first was seen longest ago
                del seen[next(iter(seen))]


def _elements(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    # Not `isinstance`: a named tuple is one element.
    if isinstance(value, list | set | frozenset) or type(value) is tuple:
        return [element for element in value if element is not None]
    return (value,)


def _own_id(element: Any) -> str | None:
    found = element.get("id") if isinstance(element, Mapping) else getattr(element, "id", None)
    return str(found) if isinstance(found, str | int) and found != "" else None


def _print_of(element: Any) -> bytes:
    """The fingerprint of an element; for an opaque one, that of its text."""
    found = fingerprint(element)
    if found is None:
        plain = to_jsonable_python(element, serialize_unknown=True, bytes_mode="base64")
        # As long as a fingerprint, so that ids of elements look alike.
        found = fingerprint(plain) or blake2b(repr(plain).encode(), digest_size=16).digest()
    return found
