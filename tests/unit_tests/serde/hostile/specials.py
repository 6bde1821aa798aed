"""Hooks that only one family has: validators, converters, factories of private attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pydantic
import pydantic.v1

from .hooks import Hook, note

__all__ = ["SPECIALS"]


def _passing(name: str) -> Any:
    def passing(_cls: Any, value: Any) -> Any:
        note(name)
        return value

    return passing


def _after(name: str) -> Any:
    def after(self: Any) -> Any:
        note(name)
        return self

    return after


def _computed(self: Any) -> int:
    note("computed_field")
    return 1


def _field_validator(mode: Any) -> Callable[[], Hook]:
    def made() -> Hook:
        decorate: Any = pydantic.field_validator("value", mode=mode)
        method = decorate(classmethod(_passing(f"field_validator, {mode}")))
        return Hook(f"field_validator, {mode}", "validator", {"checked": method})

    return made


def _before() -> Hook:
    method: Any = classmethod(_passing("model_validator, before"))
    decorated = pydantic.model_validator(mode="before")(method)
    return Hook("model_validator, before", "validator", {"checked": decorated})


def _model_after() -> Hook:
    decorated = pydantic.model_validator(mode="after")(_after("model_validator, after"))
    return Hook("model_validator, after", "validator", {"checked": decorated})


def _computed_field() -> Hook:
    return Hook(
        "computed_field", "property", {"made": pydantic.computed_field(property(_computed))}
    )


def _v1_validator() -> Hook:
    method = pydantic.v1.validator("value", pre=True, allow_reuse=True)(_passing("validator"))
    return Hook("validator", "validator", {"checked": method})


_MODELS: Final = ("pydantic model", "RootModel", "pydantic dataclass")

SPECIALS: Final[dict[str, tuple[tuple[str, ...], Callable[[], Hook]]]] = {
    "field_validator, before": (_MODELS, _field_validator("before")),
    "field_validator, after": (_MODELS, _field_validator("after")),
    "field_validator, plain": (_MODELS, _field_validator("plain")),
    "model_validator, before": (_MODELS, _before),
    "model_validator, after": (_MODELS, _model_after),
    "computed_field": (_MODELS, _computed_field),
    "v1 validator": (("pydantic v1 model",), _v1_validator),
}
"""The families whose name begins so, and what makes the hook."""
