"""Whose messages `messages` leaves out, and the patterns that name graphs and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any, TypeAlias, cast

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from langgraph_once.config_class import SchemaOf, config
from langgraph_once.redaction import shown


def wrong_pattern(patterns: Iterable[str]) -> str | None:
    """What is wrong with the first of these patterns of graphs and nodes that is none."""
    for pattern in patterns:
        if "" in pattern.split("/") or ":" in pattern or "|" in pattern:
            return (
                f"has {pattern!r}; a pattern is names of nodes joined by '/', as 'research/*', "
                "without ids of tasks"
            )
    return None


def _names(given: Any) -> frozenset[str]:
    if not isinstance(given, frozenset | set | list | tuple):
        raise ValueError(f"must be a list, as in ['draft'], got {type(given).__name__}")
    if not all(isinstance(name, str) and name for name in given):
        raise ValueError("must hold texts that are not empty")
    return frozenset(given)


def _patterns(given: frozenset[str]) -> frozenset[str]:
    if (problem := wrong_pattern(sorted(given))) is not None:
        raise ValueError(problem)
    return given


Names: TypeAlias = Annotated[
    frozenset[str] | set[str] | tuple[str, ...] | list[str],
    BeforeValidator(_names),
    WithJsonSchema({"type": "array", "items": {"type": "string", "minLength": 1}}),
]


@config
class HideConfig:
    """Whose messages are left out of `messages`: those that one of these picks."""

    nodes: Names = frozenset()
    """Names of nodes: what they say, and all that is said inside them."""

    namespaces: Annotated[Names, AfterValidator(_patterns)] = frozenset()
    """Patterns of graphs and nodes: `main` is the outermost graph, `research` a graph or node of
    that name wherever it is, `research/*` what is right inside it, `**` everything."""

    tags: Names = frozenset()
    """Tags of models; with "nostream" a message of a model so tagged does not come whole either."""

    models: Names = frozenset()
    """Models, each by its name (`ls_model_name` of the metadata, as "gpt-5-mini") or by the name
    that its run was given (`run_name` of the config)."""

    def __or__(self, other: HideConfig) -> HideConfig:
        """What either of the two hides."""
        names = [field.name for field in fields(cast("Any", self))]
        return HideConfig(**{name: {*getattr(self, name), *getattr(other, name)} for name in names})


def _hide_config(given: Any) -> HideConfig:
    if isinstance(given, HideConfig):
        return given
    known = [field.name for field in fields(cast("Any", HideConfig))]
    if not isinstance(given, Mapping):
        raise ValueError(f"must be a mapping of {', '.join(known)}, got {type(given).__name__}")
    if unknown := [shown(str(key)) for key in given if key not in known]:
        raise ValueError(f"does not know {unknown[0]!r}; it knows {', '.join(known)}")
    return HideConfig(**given)


Hide: TypeAlias = Annotated[
    HideConfig | Mapping[str, Any],
    BeforeValidator(_hide_config),
    SchemaOf(HideConfig),
]
