"""Settings: `langgraph.json` sub-keys and the environment, made into config objects.

The only module that reads the environment. Each component of `langgraph.json` has its
settings in a sub-key `"once"` beside its path; the server hands those sub-keys to the
process unchanged, as JSON in `LANGGRAPH_CHECKPOINTER`, `LANGGRAPH_HTTP` and
`LANGSERVE_GRAPHS` (measured with langgraph-api 0.16.7; `tests/integration_tests/test_server.py`
notices when that changes). A variable `ONCE_<SECTION>__<KEY>` wins over the sub-key, and
secrets come from the environment alone.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, cast

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, SecretStr, TypeAdapter, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from langgraph_once.config import CheckpointConfig, DedupConfig, HttpConfig, SerdeConfig
from langgraph_once.errors import ConfigError

__all__ = [
    "GRAPHS_MODULE",
    "GraphTarget",
    "Manifest",
    "Settings",
    "load_graph_paths",
    "load_graph_targets",
    "load_settings",
    "take_environment",
]

GRAPHS_MODULE = "langgraph_once.platform.graphs"
"""The module whose names stand for wrapped graphs in `langgraph.json`."""

PREFIX = "ONCE_"
SECRETS = frozenset({("serde", "encryption_keys")})

Target = Annotated[str, Field(pattern=r"^\w+(\.\w+)*:\w+(\.\w+)*$")]


def _model_name(name: str) -> str:
    if not re.fullmatch(r"scripted|[\w-]+:\S+", name):
        raise ValueError(f"must be 'scripted' or 'provider:model' (openai:…), got {name!r}")
    return name


class Settings(BaseSettings):
    """Every setting in force."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    serde: SerdeConfig = SerdeConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    dedup: DedupConfig = DedupConfig()
    http: HttpConfig = HttpConfig()

    model: Annotated[str, AfterValidator(_model_name)] = "scripted"
    """Chat model of the sample graphs: "scripted" needs no key; else "openai:…", "anthropic:…"."""

    upstream_aes_key: SecretStr | None = Field(None, validation_alias="LANGGRAPH_AES_KEY")
    """Key of rows that upstream's encrypted serializer wrote; only read, never written with."""

    def public(self) -> dict[str, Any]:
        """The settings as JSON-safe data, each secret replaced by asterisks."""
        shown = self.model_dump(mode="json", exclude={"upstream_aes_key"})
        keys: dict[str, str] = shown["serde"]["encryption_keys"]
        shown["serde"]["encryption_keys"] = dict.fromkeys(keys, "**********")
        return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTarget:
    """A graph that `langgraph.json` asks us to wrap."""

    graph_id: str
    """Its key under `graphs`."""
    name: str
    """Its name in `langgraph_once.platform.graphs`."""
    target: str
    """The user's graph as `package.module:name`."""
    dedup: DedupConfig


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of `langgraph.json` that can carry a `"once"` sub-key, as parsed JSON."""

    checkpointer: Any = None
    http: Any = None
    graphs: Any = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Manifest:
        """What the server handed to this process; empty outside of a server."""
        return cls(
            *(
                _parse_json(name, environ.get(name))
                for name in ("LANGGRAPH_CHECKPOINTER", "LANGGRAPH_HTTP", "LANGSERVE_GRAPHS")
            )
        )

    @classmethod
    def from_json(cls, parsed: Mapping[str, Any]) -> Manifest:
        """The parts of a `langgraph.json` that was read."""
        return cls(*(parsed.get(key) for key in ("checkpointer", "http", "graphs")))

    def sections(self) -> dict[str, dict[str, Any]]:
        """The sub-keys of checkpointer and http, sorted into the sections of `Settings`."""
        checkpoint = dict(_once(self.checkpointer, "checkpointer"))
        serde = _mapping(checkpoint.pop("serde", {}), "checkpointer.once.serde")
        sections = {
            "checkpoint": checkpoint,
            "serde": dict(serde),
            "http": dict(_once(self.http, "http")),
        }
        for section, key in SECRETS:
            if key in sections.get(section, {}):
                variable = f"{PREFIX}{section}__{key}".upper()
                raise ConfigError(
                    _in_manifest(section, key),
                    f"secrets belong in the environment, not in a file; use {variable}",
                )
        return sections

    def graph_paths(self) -> Iterator[tuple[str, str]]:
        """Each graph that can be imported by name: the setting that names it, and the name."""
        for graph_id, entry in _mapping(self.graphs or {}, "graphs").items():
            at = f"langgraph.json: graphs.{graph_id}"
            path = entry.get("path", "") if isinstance(entry, dict) else str(entry)
            if path.startswith(f"{GRAPHS_MODULE}:"):
                yield f"{at}.once.target", entry["once"]["target"]
            elif "/" not in path:
                yield f"{at}.path", path

    def graph_targets(self, environ: Mapping[str, str]) -> tuple[GraphTarget, ...]:
        """The graphs to wrap, in the order of `langgraph.json`.

        Raises:
            ConfigError: A `"once"` sub-key is missing, wrong, or beside another path than ours.
        """
        targets: dict[str, GraphTarget] = {}
        for graph_id, entry in _mapping(self.graphs or {}, "graphs").items():
            found = _graph_target(graph_id, entry, environ)
            if found is None:
                continue
            other = targets.setdefault(found.name, found)
            if other.target != found.target or other.dedup != found.dedup:
                raise ConfigError(
                    f"langgraph.json: graphs.{graph_id}.path",
                    f"the name {found.name!r} already stands for graph {other.graph_id!r}; "
                    f"use {GRAPHS_MODULE}:{graph_id}",
                )
        return tuple(targets.values())


def load_settings(
    manifest: Manifest | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """The settings in force: environment over `langgraph.json` over defaults.

    Args:
        manifest: The parts of `langgraph.json`; by default what the server handed over.
        environ: By default the environment of the process.

    Raises:
        ConfigError: A key is unknown or a value is wrong, anywhere in `langgraph.json` or
            among the `ONCE_` variables.
    """
    environ = os.environ if environ is None else environ
    manifest = manifest or Manifest.from_environment(environ)
    manifest.graph_targets(environ)  # wrong settings of a graph stop every component alike
    return _settings(manifest.sections(), environ)


def load_graph_targets(
    manifest: Manifest | None = None, environ: Mapping[str, str] | None = None
) -> tuple[GraphTarget, ...]:
    """The graphs that `langgraph.json` asks us to wrap.

    Raises:
        ConfigError: As `load_settings`.
    """
    environ = os.environ if environ is None else environ
    return (manifest or Manifest.from_environment(environ)).graph_targets(environ)


def load_graph_paths() -> tuple[tuple[str, str], ...]:
    """Every graph of `langgraph.json` that is named by `package.module:name`, ours or not.

    Returns:
        For each the setting that names it, and the name. To be called after `load_settings`,
        which checks what this reads.
    """
    return tuple(Manifest.from_environment(os.environ).graph_paths())


def take_environment(env: str | Mapping[str, Any]) -> None:
    """Make this process's environment what `langgraph dev` makes its server's.

    Args:
        env: The `env` of a `langgraph.json`: a mapping, or the path of a `.env` file, which
            wins over the environment there (langgraph-api 0.16.7).
    """
    values = dotenv_values(env) if isinstance(env, str) else env
    os.environ.update({name: str(value) for name, value in values.items() if value is not None})


def _settings(
    sections: Mapping[str, Any], environ: Mapping[str, str], *, dedup_at: str = ""
) -> Settings:
    """Validate `sections`, with the variables of `environ` above them."""

    class Bound(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            *_: PydanticBaseSettingsSource,
            **__: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            variables = EnvSettingsSource(settings_cls)
            variables.env_vars = {name.lower(): value for name, value in environ.items()}
            return variables, init_settings

    _refuse_unknown_variables(environ)
    try:
        return Bound(**sections)
    except ValidationError as error:
        raise _config_error(error, environ, dedup_at) from None
    except SettingsError as error:
        text = getattr(error.__cause__, "doc", None)
        names = [name for name, value in environ.items() if value == text] or [f"{PREFIX}*"]
        raise ConfigError(names[0], "a list or mapping must be written as JSON") from None


def _graph_target(graph_id: str, entry: Any, environ: Mapping[str, str]) -> GraphTarget | None:
    """What one entry of `graphs` asks for: None where it does not name our module."""
    at = f"graphs.{graph_id}"
    path = entry.get("path", "") if isinstance(entry, dict) else str(entry)
    module, _, name = path.partition(":")
    if module != GRAPHS_MODULE:
        if isinstance(entry, dict) and "once" in entry:
            raise ConfigError(
                f"langgraph.json: {at}.once",
                f"has no effect beside this path; use {GRAPHS_MODULE}:{graph_id} as path and "
                f'{{"target": "{path}"}} as once',
            )
        return None
    once = dict(_once(entry, at))
    target = once.pop("target", None)
    dedup = _mapping(once.pop("dedup", {}), f"{at}.once.dedup")
    if once:
        raise ConfigError(
            f"langgraph.json: {at}.once.{next(iter(once))}",
            _unknown(next(iter(once)), ("target", "dedup")),
        )
    try:
        TypeAdapter(Target).validate_python(target)
    except ValidationError:
        raise ConfigError(
            f"langgraph.json: {at}.once.target",
            "must name your graph, builder or factory as 'package.module:name' "
            f"(a file path would not survive `langgraph dockerfile`), got {target!r}",
        ) from None
    settings = _settings({"dedup": dict(dedup)}, environ, dedup_at=f"{at}.once.dedup")
    return GraphTarget(graph_id=graph_id, name=name, target=str(target), dedup=settings.dedup)


def _config_error(error: ValidationError, environ: Mapping[str, str], dedup_at: str) -> ConfigError:
    """The first problem of `error`, under the name by which its user wrote the key."""
    first = error.errors(include_url=False)[0]
    section, *rest = (str(part) for part in first["loc"])
    key = rest[0] if rest else ""
    variable = "__".join([f"{PREFIX}{section}", *([key] if key else [])]).upper()
    names = {name.upper() for name in environ}
    if variable in names or f"{PREFIX}{section}".upper() in names:
        where = variable
    elif section == "dedup":
        where = f"langgraph.json: {dedup_at}.{key}"
    else:
        where = _in_manifest(section, key)
    if first["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        return ConfigError(where, _unknown(key, _keys(section)))
    return ConfigError(where, first["msg"].removeprefix("Value error, "))


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """pydantic-settings passes over variables that match no field; a typing error must not."""
    known = [*Settings.model_fields]
    for name in environ:
        if not name.upper().startswith(PREFIX):
            continue
        section = name[len(PREFIX) :].split("__")[0].lower()
        if section not in known:
            raise ConfigError(
                name, _unknown(section, [field for field in known if field != "upstream_aes_key"])
            )


def _in_manifest(section: str, key: str) -> str:
    parent = {
        "checkpoint": "checkpointer.once",
        "serde": "checkpointer.once.serde",
        "http": "http.once",
    }.get(section, section)
    return f"langgraph.json: {parent}.{key}" if key else f"langgraph.json: {parent}"


def _keys(section: str) -> list[str]:
    kind = Settings.model_fields[section].annotation
    return [field.name for field in fields(cast("Any", kind))]


def _unknown(key: str, allowed: Iterable[str]) -> str:
    allowed = sorted(allowed)
    near = difflib.get_close_matches(key, allowed, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown key; {hint}allowed: {', '.join(allowed)}"


def _once(component: Any, at: str) -> Mapping[str, Any]:
    """The `"once"` sub-key of a component of `langgraph.json`; empty where there is none."""
    if not isinstance(component, dict):
        return {}
    return _mapping(component.get("once", {}), f"{at}.once")


def _mapping(value: Any, at: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"langgraph.json: {at}", f"must be an object, got {value!r}")
    return value


def _parse_json(name: str, text: str | None) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(name, f"is not valid JSON: {error}") from None
