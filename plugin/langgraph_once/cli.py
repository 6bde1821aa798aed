"""`langgraph-once`: the command of an operator. Needs `pip install "langgraph-once[cli]"`."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

try:
    import click
except ImportError:
    sys.exit('langgraph-once: the command needs an extra: pip install "langgraph-once[cli]"')

from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.startup import check_settings
from langgraph_once.platform.targets import wrap
from langgraph_once.reference import env_example, json_schema
from langgraph_once.settings import load_graph_targets, load_settings, take_environment

__all__ = ["main"]


@click.group()
@click.version_option(package_name="langgraph-once")
def commands() -> None:
    """Exactly-once streams and type-true checkpoints for LangGraph Platform."""


@commands.command()
@click.option("--config", default="langgraph.json", show_default=True, help="File to check.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Host to serve on.")
@click.option("--port", type=int, help="Port to serve on; not checked when left out.")
def check(config: str, host: str, port: int | None) -> None:
    """Find what would stop `langgraph dev`, before it starts: a mistake is one line and exit 1."""
    parsed = _read(config)
    take_environment(parsed.get("env", {}))
    manifest = Manifest.from_json(parsed)
    check_settings(load_settings(manifest))
    sys.path.append(str(Path.cwd()))  # as `langgraph dev` does
    targets = load_graph_targets(manifest)
    for found in targets:
        wrap(found)
    if port is not None:
        _check_port(host, port)
    click.echo(f"{config}: settings, database and {len(targets)} wrapped graph(s) are fine")


@commands.command()
def schema() -> None:
    """Print the JSON schema of the `once` sub-keys of langgraph.json."""
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@commands.command()
def env() -> None:
    """Print every environment variable with its default and meaning, as a .env file."""
    click.echo(env_example(), nl=False)


def main() -> None:
    """Run the command; a user's mistake is one line on standard error and exit code 1."""
    try:
        commands(standalone_mode=True)
    except OnceError as error:
        sys.exit(f"langgraph-once: {error}")


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
