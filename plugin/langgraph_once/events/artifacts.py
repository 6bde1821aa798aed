"""What is new or changed in a value: by id where the elements have ids, else by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from langgraph_once.stream.fingerprint import fingerprint

__all__ = ["Artifact", "ArtifactTracker"]


class Artifact(NamedTuple):
    """An element that is new or changed."""

    id: str
    data: Any


class _Mark(NamedTuple):
    """What tells an element."""

    id: str
    print: bytes
    is_named: bool
    """Whether the id is its own; two elements of one id are one."""


class ArtifactTracker:
    """Compares the values of one key with those before.

    Never by position or length: an edit, a removal or an insertion anywhere is told as what it
    is. Of elements without ids each that the value before did not hold is new, so that two
    equal ones count twice.
    """

    def __init__(self) -> None:
        self._known: Counter[_Mark] = Counter()

    def values(self, value: Any) -> Iterator[Artifact]:
        """What is new in the whole value."""
        before, self._known = self._known, Counter()
        for mark, data in _marked(value):
            self._known[mark] += 1
            if mark.is_named:
                is_new = mark not in before and self._known[mark] == 1
            else:
                is_new = self._known[mark] > before[mark]
            if is_new:
                yield Artifact(mark.id, data)

    def update(self, written: Any) -> Iterator[Artifact]:
        """What is new in what a node wrote, which may be the whole value or only more of it.

        An element without id that was written before counts as the same.
        """
        within: Counter[_Mark] = Counter()
        for mark, data in _marked(written):
            within[mark] += 1
            if self._known[mark] and (mark.is_named or within[mark] <= self._known[mark]):
                continue
            if mark.is_named:
                for other in [known for known in self._known if known.id == mark.id]:
                    del self._known[other]
            self._known[mark] = within[mark]
            yield Artifact(mark.id, data)


def _marked(value: Any) -> Iterator[tuple[_Mark, Any]]:
    for element in _elements(value):
        own, print_ = _own_id(element), _print_of(element)
        yield _Mark(own or print_.hex(), print_, own is not None), element


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
