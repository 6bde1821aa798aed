"""`langgraph-once check` and `types`: what would stop the server, and which types are stored."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from langgraph_once.checkpoint import backend_of
from langgraph_once.commands.project import (
    CONFIG,
    config_option,
    json_option,
    load,
    prepare,
    read_json,
    tell,
)
from langgraph_once.errors import OnceError
from langgraph_once.manifest import Manifest
from langgraph_once.platform import (
    CheckFinding,
    as_json,
    as_text,
    check_project,
    report_types,
    summary,
)
from langgraph_once.settings import load_settings


@click.command("check", short_help="Find what stops the server, or is ignored by it.")
@click.option("--config", default=CONFIG, show_default=True, help="File to check.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Host to serve on.")
@click.option("--port", type=int, help="Port to serve on; not checked when left out.")
@json_option
@click.option("--verbose", is_flag=True, help="Print the traceback of your own code's errors.")
def check_command(
    config: str, host: str, port: int | None, for_machines: bool, verbose: bool
) -> None:
    """Find what would stop `langgraph dev`, or be ignored by it, before it starts.

    Each finding is one line, and the exit code is 1 if there is one. Your graphs are imported and
    factories are called; nothing is written.

    \b
    Examples:
      langgraph-once check
      langgraph-once check --port 2024
      langgraph-once check --json
    """
    parsed = read_json(config)
    prepare(parsed)
    found = [*check_project(parsed), *(_check_port(host, port) if port is not None else ())]
    is_fine = all(each.effect == "hint" for each in found)
    if for_machines:
        tell(_as_json(found, is_fine))
    else:
        _tell(found, verbose)
        if is_fine:
            _tell_summary(config, parsed)
    if not is_fine:
        sys.exit(1)


def _tell(found: Sequence[CheckFinding], verbose: bool) -> None:
    for each in found:
        is_hint = each.effect == "hint"
        tell(f"{'hint' if is_hint else 'langgraph-once'}: {each}", err=not is_hint)
        if each.traceback and verbose:
            tell(each.traceback, err=True)
    if any(each.traceback for each in found) and not verbose:
        tell("langgraph-once: `check --verbose` shows the traceback", err=True)


def _tell_summary(config: str, parsed: dict[str, object]) -> None:
    manifest = Manifest.from_json(parsed)
    settings = load_settings(manifest)
    count = len(manifest.wrapped_graphs())
    fine = f"settings, database and {count} wrapped graph(s) are fine"
    none = "settings and database are fine; no graph is wrapped"
    tell(f"{config}: {fine if count else none}")
    if manifest.has_our_saver:  # a variable that was forgotten leads to another database
        tell(f"threads: in {backend_of(settings.database).name}")
    else:
        tell("threads: not in our database, so LangGraph's rules say which types survive")
    with suppress(OnceError):  # of types, nothing stops the server
        report = report_types(settings, manifest, config=Path(config), read_database=False)
        tell(summary(report))


def _as_json(found: Sequence[CheckFinding], is_fine: bool) -> str:
    findings = [asdict(each) for each in found]
    return json.dumps({"ok": is_fine, "findings": findings}, indent=2, ensure_ascii=False)


def _check_port(host: str, port: int) -> Iterator[CheckFinding]:
    with socket.socket() as probe:
        # As uvicorn binds (0.54, config.py): else a port that a server has just left seems taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            probe.bind((host, 0))
            free = probe.getsockname()[1]
            problem = (
                f"cannot be served on: {error.strerror}; choose another port, as with "
                f"`make dev PORT={free}` or `langgraph dev --port {free}`"
            )
            yield CheckFinding(effect="stops", where=f"port {port}", problem=problem)


@click.command("types", short_help="List the types that are stored, and what they need.")
@config_option
@json_option
@click.option("--check", "strictly", is_flag=True, help="Exit with 1 if a type needs a line.")
def types_command(config: str, for_machines: bool, strictly: bool) -> None:
    """Tell which types the database and the graphs hold, and print the setting they need.

    Nothing is written, and no value or key is printed; the server may be running.

    \b
    Examples:
      langgraph-once types
      langgraph-once types --check
    """
    settings, manifest = load(config)
    found = report_types(settings, manifest, config=Path(config))
    if for_machines:
        tell(as_json(found))
    else:
        tell(as_text(found))
    if strictly and found.attention:
        sys.exit(1)
