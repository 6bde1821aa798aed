"""`langgraph-once types`: the types that the database and the graphs hold."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from langgraph_once.commands.project_settings import config_option, json_option, load
from langgraph_once.commands.terminal import tell
from langgraph_once.platform import as_json, as_text, report_types


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
