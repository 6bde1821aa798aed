"""Settings: `langgraph.json` under the environment, made into config objects.

The only module that reads the environment. A variable `ONCE_<SECTION>__<KEY>` wins over the
sub-key in `langgraph.json`, and secrets come from the environment alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, cast

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from langgraph_once.config import CheckpointConfig, DedupConfig, HttpConfig, SerdeConfig
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import Manifest, setting_at, unknown_key
from langgraph_once.redaction import shown

__all__ = [
    "GraphTarget",
    "Settings",
    "has_auth",
    "load_graph_files",
    "load_graph_paths",
    "load_graph_targets",
    "load_settings",
    "take_environment",
]

PREFIX = "ONCE_"
AUTH_TYPE = "LANGGRAPH_AUTH_TYPE"
NO_AUTH = "noop"


def _model_name(name: str) -> str:
    if not re.fullmatch(r"scripted|[\w-]+:\S+", name):
        raise ValueError(f"must be 'scripted' or 'provider:model' (openai:…), got {shown(name)!r}")
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

    database_url: SecretStr | None = None
    """The database of threads, in place of ONCE_CHECKPOINT__PATH: "sqlite:///threads.sqlite" or
    "postgresql://user:password@host/database". Secret."""

    upstream_aes_key: SecretStr | None = Field(None, validation_alias="LANGGRAPH_AES_KEY")
    """Key of rows that upstream's encrypted serializer wrote; only read, never written with."""

    @property
    def database(self) -> str:
        """The path or URL of the database of threads, with its password."""
        url = self.database_url
        return self.checkpoint.path if url is None else url.get_secret_value()

    def public(self) -> dict[str, Any]:
        """The settings as JSON-safe data, each secret replaced by asterisks."""
        public = self.model_dump(mode="json", exclude={"upstream_aes_key", "database_url"})
        keys: dict[str, str] = public["serde"]["encryption_keys"]
        public["serde"]["encryption_keys"] = dict.fromkeys(map(shown, keys), "**********")
        return public


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
    load_graph_targets(manifest, environ)  # a graph's wrong settings stop every component
    return _validated(manifest.sections(), environ)


def load_graph_targets(
    manifest: Manifest | None = None, environ: Mapping[str, str] | None = None
) -> tuple[GraphTarget, ...]:
    """The graphs that `langgraph.json` asks us to wrap, in order.

    Args:
        manifest: As `load_settings`.
        environ: As `load_settings`.

    Raises:
        ConfigError: As `load_settings`.
    """
    environ = os.environ if environ is None else environ
    manifest = manifest or Manifest.from_environment(environ)
    return tuple(
        GraphTarget(
            graph_id=found.graph_id,
            name=found.name,
            target=found.target,
            dedup=_validated({"dedup": dict(found.dedup)}, environ, found.graph_id).dedup,
        )
        for found in manifest.wrapped_graphs()
    )


def load_graph_paths(manifest: Manifest | None = None) -> tuple[tuple[str, str], ...]:
    """Every graph of `langgraph.json` that is named by `package.module:name`, ours or not.

    Args:
        manifest: As `load_settings`.

    Returns:
        For each the setting that names it, and the name.

    Raises:
        ConfigError: As `load_settings`.
    """
    return tuple((manifest or Manifest.from_environment(os.environ)).importable_graphs())


def load_graph_files(manifest: Manifest | None = None) -> tuple[str, ...]:
    """Every file that `langgraph.json` names a graph of by its path, as it stands there.

    Args:
        manifest: As `load_settings`.

    Raises:
        ConfigError: As `load_settings`.
    """
    return tuple((manifest or Manifest.from_environment(os.environ)).graph_files())


def has_auth() -> bool:
    """Whether the server that runs in this process asks its clients who they are."""
    environ = os.environ
    return bool(environ.get("LANGGRAPH_AUTH")) or environ.get(AUTH_TYPE, NO_AUTH) != NO_AUTH


def take_environment(env: str | Mapping[str, Any]) -> None:
    """Make this process's environment what `langgraph dev` makes its server's.

    Args:
        env: The `env` of a `langgraph.json`: a mapping, or the path of a `.env` file. Either
            wins over the environment there (langgraph-api 0.16.7).
    """
    values = dotenv_values(env) if isinstance(env, str) else env
    os.environ.update({name: str(value) for name, value in values.items() if value is not None})


def _validated(
    sections: Mapping[str, Any], environ: Mapping[str, str], graph_id: str = ""
) -> Settings:
    """`sections` as settings, with the variables of `environ` above them."""

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
        problem = _config_error(error, environ, graph_id)
    except SettingsError as error:
        text = getattr(error.__cause__, "doc", None)
        names = [name for name, value in environ.items() if value == text] or [f"{PREFIX}*"]
        problem = ConfigError(shown(names[0]), "a list or mapping must be written as JSON")
    raise problem  # out here, so that it does not refer to errors that hold what was given


def _config_error(error: ValidationError, environ: Mapping[str, str], graph_id: str) -> ConfigError:
    """The first problem of `error`, under the name by which its user wrote the key."""
    first = error.errors(include_url=False, include_input=False)[0]
    section, key = (*(shown(str(part)) for part in first["loc"][:2]), "")[:2]
    variable = f"{PREFIX}{section}{key and '__'}{key}".upper()
    names = {name.upper() for name in environ}
    inner = sorted(name for name in names if name.startswith(f"{variable}__"))
    if inner or {variable, f"{PREFIX}{section}".upper()} & names:
        where = inner[0] if inner else variable
    elif section == "dedup":
        where = f"langgraph.json: graphs.{graph_id}.once.dedup.{key}"
    else:
        where = setting_at(section, key)
    if first["type"] == "unexpected_keyword_argument":
        kind = cast(Any, Settings.model_fields[section].annotation)
        return ConfigError(where, unknown_key(key, (field.name for field in fields(kind))))
    return ConfigError(where, first["msg"].removeprefix("Value error, "))


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """pydantic-settings passes over variables that match no field; a typing error must not."""
    known = Settings.model_fields.keys() - {"upstream_aes_key"}
    for name in environ:
        section = name.upper().removeprefix(PREFIX).split("__")[0].lower()
        if name.upper().startswith(PREFIX) and section not in known:
            raise ConfigError(shown(name), unknown_key(section, known))
