"""Pydantic models made of their parts: no validation, and no code of their class."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

__all__ = ["Blank", "becomes"]


class Blank(BaseModel):
    """What becomes a model of another class once its parts are set.

    `BaseModel` keeps its state in slots, and checks what is assigned. Here nothing is checked,
    so that assigning takes a tenth of the time, and less than the descriptors of the slots take.
    """

    __setattr__ = object.__setattr__
    # Python looks for both of them where it looks for one.
    __delattr__ = object.__delattr__


def becomes(cls: type[BaseModel]) -> bool:
    """Whether a `Blank` can become a `cls`: their instances have one layout in memory."""
    made: Any = object.__new__(Blank)
    try:
        made.__class__ = cls
    except TypeError:
        return False
    return True
