"""Which threads and checkpoints are deleted when they are old, and how often that is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    model_validator,
)

from langgraph_once.config_class import SchemaOf, config
from langgraph_once.errors import ConfigError
from langgraph_once.redaction import shown

ThreadStatus: TypeAlias = Literal["idle", "interrupted", "error", "unfinished"]
"""`idle`, `interrupted` and `error` as a server says them. `unfinished`: nodes are due, as a run is
under way, was stopped before a node, or was killed."""

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SPAN: Final = re.compile(r"(\d{1,6})([smhdw])")


def seconds_in(span: str) -> int:
    """The seconds in a span of time, as "90d".

    Raises:
        ValueError: It is none.
    """
    found = _SPAN.fullmatch(span)
    if found is None or not int(found[1]):
        raise ValueError(f"must be a number and one of s, m, h, d, w, as in '90d', got {span!r}")
    return int(found[1]) * _SECONDS[found[2]]


def _span(given: str) -> str:
    if given:
        seconds_in(given)
    return given


Span: TypeAlias = Annotated[str, AfterValidator(_span)]


@config
class RetentionConfig:
    """Which threads and checkpoints are deleted. Each selected thread is held against the rules;
    docs/retention.md has the table."""

    older_than: Span = ""
    """Rule: a thread whose last checkpoint is older than this is deleted whole, as "90d"; units are
    s, m, h, d and w. Empty: none is."""

    keep_last: Annotated[int, Field(ge=0)] = 0
    """Rule: of any other thread all but the last checkpoints of each namespace are deleted, so many
    are kept, and what they are read from. 0: all."""

    status: tuple[ThreadStatus, ...] = ()
    """Selects threads by what their last checkpoint says: "idle" has nothing to do, "interrupted"
    waits for an answer, "error" failed, of "unfinished" nodes are due: a run is under way, was
    stopped before a node, or was killed. Empty: all."""

    metadata: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Selects threads whose last checkpoint has all of these in its metadata. Empty: all."""

    every: Span = "1d"
    """How often a server looks, beginning a few minutes after its start."""

    @model_validator(mode="after")
    def _has_a_rule(self) -> RetentionConfig:
        if not (self.older_than or self.keep_last):
            raise ConfigError("RetentionConfig", "needs a rule: older_than, keep_last or both")
        return self

    @property
    def age(self) -> timedelta | None:
        """Of threads that are deleted whole."""
        return timedelta(seconds=seconds_in(self.older_than)) if self.older_than else None


def _retention(given: Any) -> RetentionConfig | None:
    if given is None or isinstance(given, RetentionConfig):
        return given
    if not isinstance(given, Mapping):
        known = "older_than, keep_last, status, metadata, every"
        raise ValueError(f"must be a mapping of {known}, got {type(given).__name__}")
    try:
        return RetentionConfig(**{shown(str(key)): value for key, value in given.items()})
    except ConfigError as error:
        field = error.key.partition(".")[2]
        problem = f"{field}: {error.problem}" if field else error.problem
    raise ValueError(problem)


Retention: TypeAlias = Annotated[
    RetentionConfig | None,
    BeforeValidator(_retention),
    SchemaOf(RetentionConfig, or_null=True),
]
