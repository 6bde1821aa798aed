"""What is new or changed in a value: by id where the elements have ids, else by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from langgraph_once.stream.part.fingerprint import fingerprint

__all__ = ["Artifact", "ArtifactTracker"]


class Artifact(NamedTuple):
    """An element that is new or changed."""

    id: str
    data: Any


class _Mark(NamedTuple):
    """What tells an element."""

    own_id: str | None
    print: bytes

    @property
    def id(self) -> str:
        """Its own id, or one made of its content."""
        return self.own_id or self.print.hex()


class ArtifactTracker:
    """Compares the values of one key with those before.

    Never by position or length: an edit, a removal or an insertion anywhere is told as what it
    is. Of elements without ids each that the value before did not hold is new, so that two
    equal ones count twice.

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
        for mark, data in _marked(value):
            if mark.own_id is None:
                self._unnamed[mark.print] += 1
                is_new = self._unnamed[mark.print] > unnamed[mark.print]
            else:
                said = self._prints.setdefault(mark.own_id, set())
                is_new = mark.print not in said and mark.print not in prints.get(mark.own_id, ())
                said.add(mark.print)
            if is_new:
                yield Artifact(mark.id, data)

    def update(self, written: Any) -> Iterator[Artifact]:
        """What is new in what a node wrote, which may be the whole value or only more of it.

        An element without id that was written before counts as the same.
        """
        within: Counter[bytes] = Counter()
        for mark, data in _marked(written):
            if mark.own_id is None:
                within[mark.print] += 1
                is_new = within[mark.print] > self._unnamed[mark.print]
                count = max(within[mark.print], self._unnamed.pop(mark.print, 0))
                self._unnamed[mark.print] = count
            else:
                is_new = mark.print not in self._prints.pop(mark.own_id, ())
                self._prints[mark.own_id] = {mark.print}
            if is_new:
                yield Artifact(mark.id, data)
        _shorten(self._prints, self._max_known)
        _shorten(self._unnamed, self._max_known)


def _shorten(known: dict[Any, Any], size: int) -> None:
    """Forget what was seen longest ago."""
    while len(known) > size:
        del known[next(iter(known))]


def _marked(value: Any) -> Iterator[tuple[_Mark, Any]]:
    for element in _elements(value):
        yield _Mark(_own_id(element), _print_of(element)), element


def _elements(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    if isinstance(value, list | set | frozenset) or type(value) is tuple:
        return [element for element in value if element is not None]
    return (value,)


def _own_id(element: Any) -> str | None:
    found = element.get("id") if isinstance(element, Mapping) else getattr(element, "id", None)
    return str(found) if isinstance(found, str | int) and found != "" else None


def _print_of(element: Any) -> bytes:
    """The fingerprint of an element; of one that cannot be looked into, of how it prints."""
    found = fingerprint(element)
    if found is None:
        plain = to_jsonable_python(element, serialize_unknown=True, bytes_mode="base64")
        found = fingerprint(plain) or blake2b(repr(plain).encode(), digest_size=16).digest()
    return found
