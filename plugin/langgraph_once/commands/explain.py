"""`langgraph-once explain`: why each part of a recorded stream was kept, cut or retracted."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import click

from langgraph_once.commands.project_settings import config_option, json_option, load_if_there
from langgraph_once.errors import ConfigError
from langgraph_once.settings import load_graph_targets

if TYPE_CHECKING:
    from langgraph_once.inspect.explanation import Reader

__all__ = ["explain_command"]


@click.command("explain", short_help="Say why parts of a stream were kept, cut or retracted.")
@click.argument("recording", metavar="RUN.jsonl")
@click.option(
    "--form",
    type=click.Choice(["exact", "stock"]),
    default="exact",
    show_default=True,
    help="For which reader: one that announced itself, or any other.",
)
@click.option("--values", "with_values", is_flag=True, help="Show the texts, too.")
@json_option
@config_option
def explain_command(
    recording: str, form: Reader, with_values: bool, for_machines: bool, config: str
) -> None:
    """Say of a recorded stream why each part was kept, cut or retracted.

    `watch --record RUN.jsonl` records what the server of a wrapped graph sends, and with --stock
    what LangGraph streams alone. Parts that are alike are one line, with the lines of the recording
    that they are. No text is shown without --values. What counts are the settings of the recorded
    graph in `langgraph.json`, and ONCE_DEDUP__….

    \b
    Examples:
      langgraph-once watch http://127.0.0.1:2024 agent --say Hello --stock --record run.jsonl
      langgraph-once explain run.jsonl
      langgraph-once explain run.jsonl --form stock --json
    """
    from langgraph_once.inspect.explanation import explained, is_annotated
    from langgraph_once.inspect.recording import graph_of, read_recording
    from langgraph_once.inspect.terminal.explained import as_dict, lines, summary

    settings, manifest = load_if_there(config)
    recorded = [*read_recording(recording)]
    if all(each.part is None for each in recorded):
        writes = "`watch --record` writes those of a run that it begins or joins"
        raise ConfigError(recording, f"it holds no part of a run: {writes}")
    dedup = {each.graph_id: each.dedup for each in load_graph_targets(manifest)}
    is_plain = not is_annotated(recorded)
    found = [*explained(recorded, dedup.get(graph_of(recorded) or "", settings.dedup), form)]
    if for_machines:
        whole = {"annotated": not is_plain, **as_dict(found, with_values=with_values)}
        click.echo(json.dumps(whole, indent=2))
        return
    columns = shutil.get_terminal_size().columns
    told = lines(found, columns, with_values=with_values)
    click.echo("\n".join([*told, "", *summary(found, columns, is_plain=is_plain)]))
