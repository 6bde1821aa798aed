"""Adapters for base classes: which of them is nearest to a class."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from langgraph_once.serde.codecs.once1.types.base.protocol import (
    SubclassAdapter,
    UnreadableError,
    UnwritableError,
)

__all__ = ["Bases", "Descendants"]


class Descendants:
    """The family of all that is derived from the bases of one `SubclassAdapter`."""

    def __init__(self, adapter: SubclassAdapter) -> None:
        self.name = adapter.name
        self.adapter = adapter
        self.encode = adapter.encode

    def matches(self, cls: type) -> bool:
        return not {*cls.__mro__}.isdisjoint(self.adapter.bases)

    def decode(self, cls: type, data: Any) -> Any:
        made = self.adapter.decode(cls, data)
        if type(made) is not cls:
            raise UnreadableError(f"its `decode` made a {type(made).__qualname__}")
        return made


class Bases:
    """The bases that were declared, and by whom."""

    def __init__(self) -> None:
        self._declared: dict[type, Descendants] = {}

    @property
    def declared(self) -> Collection[type]:
        """All of them."""
        return self._declared.keys()

    def add(self, family: Descendants) -> SubclassAdapter | None:
        """Take the bases of `family`; return who has declared one of them before, if anybody."""
        for base in family.adapter.bases:
            if self._declared.setdefault(base, family) is not family:
                return self._declared[base].adapter
        return None

    def nearest(self, cls: type) -> Descendants | None:
        """Return the family whose base is nearest to `cls`.

        Raises:
            UnwritableError: Two are equally near: neither base is derived from the other.
        """
        found = [base for base in cls.__mro__ if base in self._declared]
        nearest = [base for base in found if not any(base in other.__mro__[1:] for other in found)]
        families = {self._declared[base].name: self._declared[base] for base in nearest}
        if len(families) > 1:
            raise UnwritableError(
                f"the adapters {' and '.join(map(repr, sorted(families)))} are equally near, for "
                f"{' and '.join(sorted(base.__qualname__ for base in nearest))}; register one for "
                "the class itself"
            )
        return next(iter(families.values()), None)
