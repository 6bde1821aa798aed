"""The reference of all settings, generated from the classes that define them.

`.env.example` and `docs/langgraph-once.schema.json` are what these functions return; a test
holds the files in step, and `make docs` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import click
from pydantic import SecretStr, TypeAdapter

from langgraph_once.config import (
    CheckpointConfig,
    DedupConfig,
    HttpConfig,
    SerdeConfig,
    StoreConfig,
    schema_of,
)
from langgraph_once.manifest import GRAPHS_MODULE, SECRETS
from langgraph_once.settings import PREFIX, Settings

SECTIONS: dict[str, Any] = {
    "checkpoint": CheckpointConfig,
    "serde": SerdeConfig,
    "dedup": DedupConfig,
    "http": HttpConfig,
    "store": StoreConfig,
}


APPLIES = {
    "checkpoint": (
        "For the saver that `checkpointer.path` in langgraph.json names, and for the commands. "
        "A saver that your code opens takes arguments instead, and reads none of these."
    ),
    "serde": (
        "For the saver and the store that langgraph.json names, and for the commands. In code, "
        "`OnceSerializer` takes a `SerdeConfig` instead, and reads none of these."
    ),
    "dedup": (
        "For graphs that langgraph.json wraps, with the path langgraph_once.platform.graphs:…. "
        "They do nothing for `once(graph)` in code: it takes a `DedupConfig` instead."
    ),
    "http": "For the app that `http.app` in langgraph.json names.",
    "store": (
        "For the store that `store.path` in langgraph.json names, and for the commands. In code, "
        "a store takes arguments instead."
    ),
    "": "For servers that langgraph.json describes, and for the commands.",
}
"""Where the variables of each section apply."""


class Variable(NamedTuple):
    """An environment variable."""

    section: str
    """One of `SECTIONS`, or empty."""
    name: str
    default: str
    meaning: str


def env_example() -> str:
    """Every variable with its default, commented out, under one line of meaning each."""
    lines = [
        "# Copy to .env and uncomment what you change. A variable wins over langgraph.json.",
        "# Lists and mappings are written as JSON.",
    ]
    for section, found in groupby(variables(), key=lambda variable: variable.section):
        lines += ["", f"## {APPLIES[section]}"]
        for _, name, default, meaning in found:
            lines += ["", f"# {meaning}", f"# {name}={default}"]
    return "\n".join(lines) + "\n"


def json_schema() -> dict[str, Any]:
    """The JSON schema of the `once` sub-keys, as properties of a `langgraph.json`."""
    checkpointer = _section_schema("checkpoint")
    checkpointer["properties"]["serde"] = _section_schema("serde")
    graph = {
        "type": "object",
        "description": f"Beside a path {GRAPHS_MODULE}:<name>: the graph to wrap, and how.",
        "additionalProperties": False,
        "required": ["target"],
        "properties": {
            "target": {
                "type": "string",
                "description": "Your graph, builder or factory as package.module:name.",
            },
            "dedup": _section_schema("dedup"),
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The once sub-keys of langgraph.json",
        "type": "object",
        "properties": {
            "checkpointer": _holding(checkpointer),
            "http": _holding(_section_schema("http")),
            "store": _holding(_section_schema("store")),
            "graphs": {"type": "object", "additionalProperties": _holding(graph)},
        },
    }


def _holding(once: dict[str, Any]) -> dict[str, Any]:
    return {"type": ["object", "string"], "properties": {"once": once}}


def _section_schema(section: str) -> dict[str, Any]:
    schema = schema_of(SECTIONS[section])
    # No file may hold them, so no editor is to offer them.
    for _, key in (secret for secret in SECRETS if secret[0] == section):
        del schema["properties"][key]
    return schema


def variables() -> Iterator[Variable]:
    """All variables, section by section, then those of no section."""
    for section, kind in SECTIONS.items():
        defaults = TypeAdapter(kind).dump_python(kind(), mode="json")
        for key, schema in schema_of(kind)["properties"].items():
            meaning = " ".join(schema["description"].split())
            allowed = f" One of: {', '.join(schema['enum'])}." if "enum" in schema else ""
            name = f"{PREFIX}{section}__{key}".upper()
            default = "null" if defaults[key] is None else _text(defaults[key])
            yield Variable(section, name, default, meaning + allowed)
    yield Variable("", f"{PREFIX}DATABASE_URL", "", _meaning("database_url"))
    yield Variable("", "LANGGRAPH_AES_KEY", "", _meaning("upstream_aes_key"))


def _meaning(field: str) -> str:
    return " ".join((Settings.model_fields[field].description or "").split())


def _text(value: Any) -> str:
    if value is None or isinstance(value, SecretStr):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


@click.command("schema", short_help="Print the JSON schema of our settings.")
def schema_command() -> None:
    """Print the JSON schema of the `once` sub-keys of langgraph.json, for editors.

    \b
    Example:
      langgraph-once schema > once.schema.json
    """
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@click.command("env", short_help="Print all settings as a .env file.")
def env_command() -> None:
    """Print every environment variable with its default and meaning, as a .env file.

    \b
    Example:
      langgraph-once env > .env.example
    """
    click.echo(env_example(), nl=False)
