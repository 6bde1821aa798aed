"""Where the classes are: a module that a row can name."""

from __future__ import annotations

import dataclasses
import sys
from itertools import count
from pathlib import Path
from typing import Any, Final

from .families import Family
from .hooks import Hook, Planted

__all__ = ["FOLDER", "Twins", "specimen", "twins"]

FOLDER: Final = str(Path(__file__).parent)
_NUMBERS: Final = count(1)
_FIELDS: Final[dict[str, Any]] = {"value": ..., "late": "late"}
_CALM: Final[dict[str, Any]] = {
    "__eq__": lambda self, other: self is other,
    "__hash__": lambda self: id(self) >> 4,
}
"""So that instances of equal content can all be keys, and be written."""


@dataclasses.dataclass(frozen=True)
class Twins:
    """Classes of a family without any hook, of which rows are written.

    Attributes:
        twin: As those with a hook are.
        older: What such a class was before it had its last field.
        newer: What it may be once it has one more.
    """

    twin: Any
    older: Any
    newer: Any

    def renamed(self, data: bytes, name: str) -> bytes:
        """Return the bytes of a value that holds twins as those of one that holds a class."""
        for other in (self.twin, self.older, self.newer):
            data = data.replace(other.__name__.encode(), name.encode())
        return data


def twins(family: Family) -> Twins:
    """Return classes of a family whose names are as long as those of specimens."""
    number = f"{next(_NUMBERS):05}"
    fields = (("T", _FIELDS), ("O", {"value": ...}), ("N", {**_FIELDS, "more": 1}))
    return Twins(*(_build(f"{x}{number}", family, _calm(family), own) for x, own in fields))


def specimen(family: Family, hook: Hook) -> Any:
    """Return a class of a family that has this hook."""
    return _build(f"H{next(_NUMBERS):05}", family, hook, _FIELDS)


def _calm(family: Family) -> Hook:
    is_own = family.is_key and "num" not in family.name and "Flag" not in family.name
    return Hook("", "", planted=dict(_CALM) if is_own else {})


def _build(name: str, family: Family, hook: Hook, fields: dict[str, Any]) -> Any:
    cls: Any = family.build(name, hook, dict(fields))
    for attribute, value in {
        "__module__": __name__,
        "__qualname__": name,
        **hook.planted,
    }.items():
        found = value
        if value is None:
            found = next(vars(b)[attribute] for b in type.mro(cls)[1:] if attribute in vars(b))
        if type(found) is Planted:
            parts = [vars(part) for part in type.mro(cls)]
            found.found = next((names[attribute] for names in parts if attribute in names), None)
        type.__setattr__(cls, attribute, found)
    hook.owner["cls"] = cls
    setattr(sys.modules[__name__], name, cls)
    return cls
