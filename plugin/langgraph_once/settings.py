"""Settings: `langgraph.json` under the environment, made into config objects.

The only module that reads the environment. A variable `ONCE_<SECTION>__<KEY>` wins over the
sub-key in `langgraph.json`, and secrets come from the environment alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_origin, get_type_hints

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from langgraph_once.config import (
    CheckpointConfig,
    DedupConfig,
    HttpConfig,
    SerdeConfig,
    StoreConfig,
    removed,
)
from langgraph_once.errors import ConfigError, shown
from langgraph_once.manifest import VARIABLES, Manifest, misspelt, setting_at, unknown_key

PREFIX = "ONCE_"
AES_KEY = "LANGGRAPH_AES_KEY"
AUTH_TYPE = "LANGGRAPH_AUTH_TYPE"
NO_AUTH = "noop"


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
    store: StoreConfig = StoreConfig()

    database_url: SecretStr | None = None
    """The database of threads, in place of ONCE_CHECKPOINT__PATH: "sqlite:///threads.sqlite" or
    "postgresql://user:password@host/database". Secret."""

    upstream_aes_key: SecretStr | None = Field(None, validation_alias=AES_KEY)
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
        ConfigError: A key of `langgraph.json` is unknown, or a value is wrong, there or in a
            variable. An unknown variable is no error: see `unknown_variables`.
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
        manifest: The parts of `langgraph.json`; by default what the server handed over.
        environ: By default the environment of the process.

    Raises:
        ConfigError: A setting is unknown or wrong.
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


def has_auth() -> bool:
    """Whether the server that runs in this process asks its clients who they are."""
    environ = os.environ
    return bool(environ.get("LANGGRAPH_AUTH")) or environ.get(AUTH_TYPE, NO_AUTH) != NO_AUTH


def is_dev_server() -> bool:
    """Whether `langgraph dev` runs in this process (langgraph-api 0.16.7)."""
    return os.environ.get("LANGSMITH_LANGGRAPH_API_VARIANT") == "local_dev"


def take_environment(parsed: Mapping[str, Any]) -> None:
    """Make this process's environment what `langgraph dev` makes its server's.

    Args:
        parsed: A `langgraph.json`. Its `env` is a mapping, or the path of a `.env` file, and wins
            over the environment there (langgraph-api 0.16.7).
    """
    env = parsed.get("env", {})
    values = dotenv_values(env) if isinstance(env, str) else env
    os.environ.update({name: str(value) for name, value in values.items() if value is not None})
    for name, key in VARIABLES.items():
        os.environ.pop(name, None)
        if parsed.get(key):
            os.environ[name] = json.dumps(parsed[key])


def setting_problems(
    manifest: Manifest, environ: Mapping[str, str] | None = None
) -> list[ConfigError]:
    """All that `load_settings` would raise for these, one after the other.

    Args:
        manifest: The parts of `langgraph.json`.
        environ: By default the environment of the process.
    """
    environ = os.environ if environ is None else environ
    sections, problems = manifest.read_sections()
    graphs, wrong = manifest.read_graphs()
    found = [*problems, *wrong, *_validation(sections, environ)[1]]
    for graph in graphs:
        found += _validation({"dedup": dict(graph.dedup)}, environ, graph.graph_id)[1]
    return list({str(error): error for error in found}.values())


def unknown_variables(environ: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """Return the names that begin with `ONCE_` and set nothing, each with a setting it resembles.

    Args:
        environ: By default the environment of the process.
    """
    environ = os.environ if environ is None else environ
    names = [
        f"{PREFIX}{'__'.join(filter(None, [section, key]))}".upper()
        for section in Settings.model_fields.keys() - {"upstream_aes_key"}
        for key in (_keys(section) or [""])
    ]
    settings = {name.removeprefix(PREFIX): name for name in names}
    unknown = [
        name
        for name, value in environ.items()
        if name.upper().startswith(PREFIX) and not _is_setting(name, value)
    ]
    found: dict[str, str | None] = {}
    for name in unknown:
        near = misspelt(name.upper().removeprefix(PREFIX), settings)
        found[name] = settings[near] if near else None
    return found


def written_at(section: str, field: str) -> str:
    """The name of a setting as its user wrote it: a variable, or a key of `langgraph.json`.

    Args:
        section: The section of `Settings`.
        field: The field of its config.
    """
    manifest = Manifest.from_environment(os.environ)
    variable = _variable(section, field, os.environ)
    if variable is None and field in manifest.sections().get(section, {}):
        return setting_at(section, field)
    return variable or f"{PREFIX}{section}__{field}".upper()


def is_written(section: str, field: str) -> bool:
    """Whether a setting was written anywhere, and has not merely its default."""
    is_variable = _variable(section, field, os.environ) is not None
    return is_variable or field in Manifest.from_environment(os.environ).sections()[section]


def _validated(
    sections: Mapping[str, Any], environ: Mapping[str, str], graph_id: str = ""
) -> Settings:
    """`sections` as settings, with the variables of `environ` above them."""
    settings, problems = _validation(sections, environ, graph_id)
    if settings is None:
        raise problems[0]  # out here, so that it does not refer to errors that hold what was given
    return settings


def _validation(
    sections: Mapping[str, Any], environ: Mapping[str, str], graph_id: str = ""
) -> tuple[Settings | None, list[ConfigError]]:
    """Return the settings, or all that is wrong with them."""

    class Bound(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            *_: PydanticBaseSettingsSource,
            **__: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            variables = _Variables(settings_cls)
            variables.env_vars = {
                name.lower(): value for name, value in environ.items() if _is_setting(name, value)
            }
            return variables, init_settings

    try:
        return Bound(**sections), []
    except ValidationError as error:
        by_setting: dict[str, ConfigError] = {}
        for details in error.errors(include_url=False):  # the first of each setting's
            found = _config_error(details, environ, graph_id)
            by_setting.setdefault(found.key, found)
        return None, list(by_setting.values())
    except SettingsError as error:
        text = getattr(error.__cause__, "doc", None)
        names = [name for name, value in environ.items() if value == text] or [f"{PREFIX}*"]
        problem = getattr(error.__cause__, "problem", "a list or mapping must be written as JSON")
        return None, [ConfigError(shown(names[0]), problem)]


class _Variables(EnvSettingsSource):
    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:  # noqa: ARG002  # as pydantic-settings calls it
        def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for key, item in pairs:
                if key in found:
                    raise _KeyTwiceError(key, value)
                found[key] = item
            return found

        return json.loads(value, object_pairs_hook=distinct)


class _KeyTwiceError(ValueError):
    """JSON would keep the last, and of two encryption keys the other would be lost unnoticed."""

    def __init__(self, key: str, doc: str) -> None:
        self.problem = f"{shown(key)!r} stands there twice"
        self.doc = doc
        super().__init__(self.problem)


def _config_error(details: ErrorDetails, environ: Mapping[str, str], graph_id: str) -> ConfigError:
    """What pydantic found, under the name by which its user wrote the key."""
    section, key, *inner = (*details["loc"], "", "")
    section, key = shown(str(section)), shown(str(key))
    kind = _kind(section, key)
    item = ""
    if inner[0] != "" and get_origin(kind) in (tuple, dict):
        item = f"[{_type_name(inner[0])!r}]" if isinstance(inner[0], str) else f"[{inner[0]}]"
    variable = _variable(section, key, environ)
    if variable is not None:
        where = variable
    elif section == "dedup":
        where = f"langgraph.json: graphs.{graph_id}.once.dedup.{key}"
    else:
        where = setting_at(section, key)
    if details["type"] == "unexpected_keyword_argument":
        allowed = _keys(section)
        if section == "checkpoint" and variable is None:
            allowed.append("serde")
        return ConfigError(where, removed(section, key) or unknown_key(key, allowed))
    return ConfigError(where + item, _problem(details))


def _problem(details: ErrorDetails) -> str:
    """What is wrong. Of a value only what was meant to be one of a few names is shown."""
    message = details["msg"].removeprefix("Value error, ")
    given = details["input"]
    if not isinstance(given, str) or "://" in given:
        return message
    if details["type"] == "literal_error":
        allowed = re.findall("'([^']+)'", details["ctx"]["expected"])
        near = misspelt(given, allowed)
        return f"{message}, got {shown(given)!r}" + (f"; did you mean {near!r}?" if near else "")
    if details["type"] == "string_pattern_mismatch":
        return f"must be written as 'module:Name', got {_type_name(given)!r}"
    return message


def _type_name(given: str) -> str:
    """`given`, which was meant to name a type; as `shown`, but for a space that it may have."""
    squeezed = given.replace(" ", "")
    return given if ":" in given and shown(squeezed) == squeezed else shown(given)


def _kind(section: str, key: str) -> Any:
    config: Any = getattr(Settings.model_fields.get(section), "annotation", None)
    return get_type_hints(config).get(key) if is_dataclass(config) else None


def _variable(section: str, key: str, environ: Mapping[str, str]) -> str | None:
    """The variable that sets a key, or a part of it, as it is written; None if there is none."""
    names = {name.upper(): name for name in environ}
    variable = f"{PREFIX}{section}{key and '__'}{key}".upper()
    inner = sorted(name for name in names if name.startswith(f"{variable}__"))
    for name in (*inner, variable):
        if name in names:
            return names[name]
    whole = f"{PREFIX}{section}".upper()
    return variable if whole in names else None


def _is_setting(name: str, value: str) -> bool:
    """Whether a variable sets something here. Others may begin with `ONCE_`, too.

    Kubernetes sets `ONCE_PORT=tcp://…` and `ONCE_SERVICE_HOST` for a service named `once`. A name
    that is no setting is passed over, as is the name of a section whose value is no JSON object.
    """
    upper = name.upper()
    section, *key = upper.removeprefix(PREFIX).lower().split("__", 2)[:2]
    if not upper.startswith(PREFIX) or section not in Settings.model_fields:
        return upper == AES_KEY
    config: Any = Settings.model_fields[section].annotation
    if not is_dataclass(config):
        return not key
    if not key:
        return value.lstrip().startswith("{")
    return key[0] in _keys(section) or removed(section, key[0]) is not None


def _keys(section: str) -> list[str]:
    """The settings of a section; none if it is a setting itself."""
    config: Any = Settings.model_fields[section].annotation
    return [field.name for field in fields(config)] if is_dataclass(config) else []
