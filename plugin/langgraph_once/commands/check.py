"""`langgraph-once check`: what would stop the server, before it starts."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

import click

from langgraph_once.commands.project import CONFIG, load
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.platform.startup import check_settings
from langgraph_once.platform.targets import wrap
from langgraph_once.platform.types import report_types, summary
from langgraph_once.settings import load_graph_targets

__all__ = ["check_command"]


@click.command("check")
@click.option("--config", default=CONFIG, show_default=True, help="File to check.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Host to serve on.")
@click.option("--port", type=int, help="Port to serve on; not checked when left out.")
def check_command(config: str, host: str, port: int | None) -> None:
    """Find what would stop `langgraph dev`, before it starts: a mistake is one line and exit 1."""
    settings, manifest = load(config)
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


def _check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigError(
                f"port {port}", f"cannot be served on: {error.strerror}; choose another port"
            ) from None
