"""What every class of settings is: a frozen dataclass that says in one line what is wrong."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast, dataclass_transform

import pydantic.dataclasses
from pydantic import ConfigDict, ValidationError

from langgraph_once.errors import ConfigError
from langgraph_once.redaction import shown

__all__ = ["config"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def config(cls: type[T]) -> type[T]:
    """Make `cls` a frozen, keyword-only dataclass that raises `ConfigError` on a wrong value."""
    decorate = pydantic.dataclasses.dataclass(
        frozen=True,
        kw_only=True,
        slots=True,
        config=ConfigDict(extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True),
    )
    made = cast("type[T]", decorate(cls))
    setattr(made, "__init__", _raising_config_error(made.__init__))  # noqa: B010  # mypy's wish
    return made


def _raising_config_error(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def checked(self: Any, **values: Any) -> None:
        try:
            return init(self, **values)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
        # Out here, so that what is raised does not refer to what was given, which may be secret.
        if isinstance(inner := first.get("ctx", {}).get("error"), ConfigError):
            raise ConfigError(inner.key, inner.problem)
        field = ".".join(shown(str(part)) for part in first["loc"])
        raise ConfigError(
            f"{type(self).__name__}.{field}", first["msg"].removeprefix("Value error, ")
        )

    return checked
