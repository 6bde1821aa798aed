"""Where the classes are: a module that a row can name."""

from __future__ import annotations

import dataclasses
import sys
from itertools import count
from pathlib import Path
from typing import Any, Final

from .families import Family
from .hooks import Hook, Planted

__all__ = ["FOLDER", "Specimen", "specimen"]

FOLDER: Final = str(Path(__file__).parent)
_NUMBERS: Final = count(1)
_FIELDS: Final[dict[str, Any]] = {"value": ..., "late": "late"}
_CALM: Final[dict[str, Any]] = {
    "__eq__": lambda self, other: self is other,
    "__hash__": lambda self: id(self) >> 4,
}
"""So that instances of equal content can all be keys, and be written."""


@dataclasses.dataclass
class Specimen:
    """A class with a hook in it, and its twin without, of which rows are written.

    Attributes:
        name: Of the class.
        cls: The class.
        twin: Its twin, whose name is as long.
        older: What the class was before it had its last field.
        newer: What it may be once it has one more.
    """

    name: str
    cls: Any
    twin: Any
    older: Any
    newer: Any

    def row(self, data: bytes) -> bytes:
        """Return the bytes of a value that holds twins as those of one that holds the class."""
        for other in (self.twin, self.older, self.newer):
            data = data.replace(vars(type)["__name__"].__get__(other).encode(), self.name.encode())
        return data


def specimen(family: Family, hook: Hook) -> Specimen:
    """Return a class of a family that has this hook."""
    number = f"{next(_NUMBERS):05}"
    cls = _build(f"H{number}", family, hook, _FIELDS)
    calm = [
        _build(f"{letter}{number}", family, _calm(family, family.is_key), fields)
        for letter, fields in (
            ("T", _FIELDS),
            ("O", {"value": ...}),
            ("N", {**_FIELDS, "more": 1}),
        )
    ]
    return Specimen(f"H{number}", cls, *calm)


def _calm(family: Family, is_key: bool) -> Hook:
    is_own = is_key and "num" not in family.name and "Flag" not in family.name
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
