"""Names that lead nowhere: types and functions in settings, and variables."""

from __future__ import annotations

from collections.abc import Iterator

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import ConfigError
from langgraph_once.platform.check.findings import CheckFinding, Effect, finding, findings_of
from langgraph_once.platform.targets import load_object
from langgraph_once.redaction import shown
from langgraph_once.settings import unknown_variables, written_at


def check_variables() -> Iterator[CheckFinding]:
    """Yield hints about variables that begin with `ONCE_` and are no settings."""
    unknown = unknown_variables()
    for name, near in unknown.items():
        if near is not None:
            problem = f"is no setting, and has no effect; did you mean {near}?"
            yield finding("hint", shown(name), problem)
    if others := [shown(name) for name, near in unknown.items() if near is None]:
        yield finding("hint", ", ".join(sorted(others)), "no settings, and without effect")


def check_named_types(config: SerdeConfig) -> Iterator[CheckFinding]:
    """Yield the names that lead nowhere. Their modules are imported."""
    for field, item, name, effect in _names(config):
        where = f"{written_at('serde', field)}[{item!r}]"
        found: list[CheckFinding] = []
        with findings_of(found, where, effect=effect):
            load_object(name, where)
        yield from found
    for name in (each for each in config.upgrades if each not in config.aliases):
        where = f"{written_at('serde', 'upgrades')}[{name!r}]"
        try:
            load_object(name, where)
        except ConfigError as error:
            stop = "" if error.problem.endswith("?") else "."
            problem = f"{error.problem}{stop} It is named by where the class is today"
            yield finding("ignored", where, problem)
        except Exception:  # noqa: S112  # said where the function is loaded
            continue


def _names(config: SerdeConfig) -> Iterator[tuple[str, str | int, str, Effect]]:
    """Yield field, item, what it names, and what comes of it if that is not there."""
    for number, name in enumerate(config.allowed_types):
        if name not in config.aliases:
            yield "allowed_types", number, name, "ignored"
    for number, name in enumerate(config.adapters):
        yield "adapters", number, name, "stops"
    for old, new in config.aliases.items():
        if new not in config.aliases:
            yield "aliases", old, new, "ignored"
    for changed, function in config.upgrades.items():
        yield "upgrades", changed, function, "stops"
