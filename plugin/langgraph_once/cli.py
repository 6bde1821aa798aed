"""`langgraph-once`: the command of an operator. Needs `pip install "langgraph-once[cli]"`."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

try:
    import click
except ImportError:
    sys.exit('langgraph-once: the command needs an extra: pip install "langgraph-once[cli]"')

from langgraph_once.database_commands import migrate_command, verify_command
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.startup import check_settings
from langgraph_once.platform.targets import wrap
from langgraph_once.platform.types import as_json, as_text, report_types, summary
from langgraph_once.reference import env_example, json_schema
from langgraph_once.settings import (
    Settings,
    load_graph_targets,
    load_settings,
    take_environment,
)

__all__ = ["main"]

_CONFIG = "langgraph.json"


@click.group()
@click.version_option(package_name="langgraph-once")
def commands() -> None:
    """Exactly-once streams and type-true checkpoints for LangGraph Platform."""


@commands.command()
@click.option("--config", default=_CONFIG, show_default=True, help="File to check.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Host to serve on.")
@click.option("--port", type=int, help="Port to serve on; not checked when left out.")
def check(config: str, host: str, port: int | None) -> None:
    """Find what would stop `langgraph dev`, before it starts: a mistake is one line and exit 1."""
    settings, manifest = _load(config)
    check_settings(settings)
    targets = load_graph_targets(manifest)
    for found in targets:
        wrap(found)
    if port is not None:
        _check_port(host, port)
    click.echo(f"{config}: settings, database and {len(targets)} wrapped graph(s) are fine")
    with suppress(OnceError):  # of types, nothing stops the server
        report = report_types(settings, manifest, config=Path(config), read_database=False)
        click.echo(summary(report))


@commands.command()
@click.option("--config", default=_CONFIG, show_default=True, help="File to read.")
@click.option("--json", "for_machines", is_flag=True, help="Print JSON.")
@click.option("--check", "strictly", is_flag=True, help="Exit with 1 if a type needs a line.")
def types(config: str, for_machines: bool, strictly: bool) -> None:
    """Tell which types the database and the graphs hold, and print the setting they need.

    Nothing is written, and no value or key is printed; the server may be running.
    """
    settings, manifest = _load(config)
    found = report_types(settings, manifest, config=Path(config))
    if for_machines:
        click.echo(as_json(found))
    else:
        click.echo(as_text(found, terminal=sys.stdout.isatty()), nl=False)
    if strictly and found.attention:
        sys.exit(1)


@commands.command()
def schema() -> None:
    """Print the JSON schema of the `once` sub-keys of langgraph.json."""
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@commands.command()
def env() -> None:
    """Print every environment variable with its default and meaning, as a .env file."""
    click.echo(env_example(), nl=False)


def _load_if_there(config: str) -> tuple[Settings, Manifest]:
    """As `_load`; a database may be one of a program without a `langgraph.json`."""
    if config == _CONFIG and not Path(config).exists():
        manifest = Manifest.from_json({})
        sys.path.append(str(Path.cwd()))
        return load_settings(manifest), manifest
    return _load(config)


commands.add_command(migrate_command(_load_if_there))
commands.add_command(verify_command(_load_if_there))


def main() -> None:
    """Run the command; a user's mistake is one line on standard error and exit code 1."""
    try:
        commands(standalone_mode=True)
    except OnceError as error:
        sys.exit(f"langgraph-once: {error}")


def _load(config: str) -> tuple[Settings, Manifest]:
    """Return what `langgraph dev` would run with, after preparing this process as it does."""
    parsed = _read(config)
    take_environment(parsed.get("env", {}))
    manifest = Manifest.from_json(parsed)
    settings = load_settings(manifest)
    sys.path.append(str(Path.cwd()))
    return settings, manifest


def _read(config: str) -> dict[str, Any]:
    try:
        parsed = json.loads(Path(config).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(config, f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        problem = f"is not valid JSON: {error}"
    else:
        if isinstance(parsed, dict):
            return parsed
        problem = "must be a JSON object"
    raise ConfigError(config, problem)  # out here: an error of `json` holds the whole text


def _check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigError(
                f"port {port}", f"cannot be served on: {error.strerror}; choose another port"
            ) from None


if __name__ == "__main__":
    main()
