"""What commands share: the settings of the project in this folder, and how they print.

The settings are as the server would have them. What is printed has one way to the terminal, which
no text of a database takes over.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from langgraph_once.errors import ConfigError
from langgraph_once.manifest import Manifest
from langgraph_once.redaction import printable
from langgraph_once.settings import Settings, load_settings, take_environment


def tell(text: str, *, err: bool = False) -> None:
    """Print lines; what a terminal would obey, as an escape sequence, is shown as `?`.

    A name in a line must be `printable` itself: here a line break within it is one of the text.

    Args:
        text: One line or several.
        err: Print on stderr.
    """
    click.echo("\n".join(map(printable, text.split("\n"))), err=err)


CONFIG = "langgraph.json"

config_option = click.option("--config", default=CONFIG, show_default=True, help="File to read.")
json_option = click.option("--json", "for_machines", is_flag=True, help="Print JSON.")


def load(config: str) -> tuple[Settings, Manifest]:
    """Return what `langgraph dev` would run with, after preparing this process as it does.

    Raises:
        ConfigError: The file cannot be read, or a setting is wrong.
    """
    parsed = read_json(config)
    prepare(parsed)
    manifest = Manifest.from_json(parsed)
    return load_settings(manifest), manifest


def prepare(parsed: Mapping[str, Any]) -> None:
    """Make this process what `langgraph dev` makes its server's: environment and import path.

    Args:
        parsed: The `langgraph.json`.
    """
    take_environment(parsed)
    dependencies = parsed.get("dependencies")
    names = dependencies if isinstance(dependencies, list) else []
    folders = [Path.cwd() / name for name in names if isinstance(name, str)]
    sys.path += [str(folder) for folder in (Path.cwd(), *folders) if folder.is_dir()]


def load_if_there(config: str) -> tuple[Settings, Manifest]:
    """Load the settings, if there is a file: a program with a database may have none."""
    if config == CONFIG and not Path(config).exists():
        manifest = Manifest.from_json({})
        sys.path.append(str(Path.cwd()))
        return load_settings(manifest), manifest
    return load(config)


def read_json(config: str) -> dict[str, Any]:
    """Return the object that a file holds.

    Raises:
        ConfigError: It cannot be read, or holds something else.
    """
    return parsed_json(config, read_file(config))


def read_file(config: str) -> bytes:
    """Return what is in a file.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return Path(config).read_bytes()
    except OSError as error:
        raise ConfigError(config, f"cannot be read: {error.strerror}") from None


def parsed_json(config: str, data: bytes) -> dict[str, Any]:
    """Return the object that `data` is, as JSON in UTF-8.

    Args:
        config: The file that it stands in.
        data: What is in it.

    Raises:
        ConfigError: It is something else.
    """
    try:
        parsed = json.loads(data.decode())
    except ValueError as error:
        problem = f"is not valid JSON: {error}"
    else:
        if isinstance(parsed, dict):
            return parsed
        problem = "must be a JSON object"
    raise ConfigError(config, problem)  # out here: an error of `json` holds the whole text
