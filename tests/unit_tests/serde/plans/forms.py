"""Forms alone: what they take objects apart into, and what they make of anybody's data."""

from __future__ import annotations

from typing import Any, Final

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.serde.plans import arrays, arrow, frames

__all__ = ["back", "make", "take"]

_FORMS: Final = (*arrays.FORMS, *frames.FORMS, *arrow.FORMS)
SERDE: Final = OnceSerializer(SerdeConfig(compression="none"))


def back(value: Any) -> Any:
    """Return what a value comes back as."""
    return SERDE.loads_typed(SERDE.dumps_typed(value))


def take(value: Any) -> Any:
    """Return the data of an object, as its form takes them."""
    return next(form for form in _FORMS if form.matches(type(value))).take(value)


def make(cls: type, data: Any) -> Any:
    """Return what a form makes of data that are said to be of an instance of `cls`."""
    return next(form for form in _FORMS if form.matches(cls)).maker(cls, [])(data)
