"""What stands for the parts of an exception that could not be stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Unstored", "UnstoredError", "told_by"]

_MAX_TEXT_CHARS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Unstored:
    """Stands for an argument or an attribute of an exception that could not be stored.

    Attributes:
        type_name: What it was an instance of, as `module:Qual.Name`.
    """

    __module__ = "langgraph_once.serde"  # rows of codec `msgpack` hold it: not where this file is

    type_name: str

    def __repr__(self) -> str:
        return f"<Unstored {self.type_name}>"


class UnstoredError(Exception):
    """Stands for an exception of a class that could not be stored, or may not be loaded.

    It has the notes of that exception, and was raised from the same. Its text begins with the
    name of the class.

    Attributes:
        type_name: The class, as `module:Qual.Name`.
        text: What `str()` of the exception said, cut short at 20,000 characters.
    """

    __module__ = "langgraph_once.serde"

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(type_name, text)
        self.type_name = type_name
        self.text = text

    def __str__(self) -> str:
        return f"{self.type_name}: {self.text}" if self.text else self.type_name


def told_by(error: BaseException) -> str | None:
    """Return what `str()` of `error` says, cut short; None where that fails."""
    try:
        text: Any = str(error)
        return str.__getitem__(text, slice(_MAX_TEXT_CHARS))
    except Exception:  # it is code of the exception's class
        return None
