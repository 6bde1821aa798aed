"""`langgraph-once demo`: what a stock consumer of a graph has, beside what ours has."""

from __future__ import annotations

import asyncio
import json

import click

from langgraph_once.commands.asking import (
    headers,
    headers_option,
    input_option,
    say_option,
    started,
)

__all__ = ["demo_command"]

HELLO = "How is each message delivered exactly once?"


@click.command("demo", short_help="Compare what LangGraph streams of a graph with what we do.")
@click.argument("url")
@click.argument("graph")
@say_option
@input_option
@click.option("--answer", multiple=True, help="To an interrupt, JSON or text; repeatable.")
@click.option("--json", "for_machines", is_flag=True, help="Print JSON.")
@headers_option
def demo_command(
    url: str,
    graph: str,
    say: str | None,
    given: str | None,
    answer: tuple[str, ...],
    for_machines: bool,
    header: tuple[str, ...],
) -> None:
    """Run a graph of any LangGraph server twice, and count what each of two consumers has.

    One reads what LangGraph streams by itself, of a wrapped graph too; the other reads with this
    package. The states of each run tell what it should have. The graph really runs, twice; the
    two threads are deleted.

    \b
    Examples:
      langgraph-once demo http://127.0.0.1:2024 agent --say "To Rome, please."
      langgraph-once demo http://127.0.0.1:2024 research --answer approve
    """
    from rich.console import Console

    from langgraph_once.inspect.terminal.comparison import as_json, compared, faults, table
    from langgraph_once.inspect.terminal.target import json_or_text, said

    start = started(say, given) or said(HELLO)
    answers = [json_or_text(each) for each in answer]
    view = asyncio.run(compared(url, graph, start, answers=answers, headers=headers(header)))
    if for_machines:
        click.echo(json.dumps(as_json(view)))
        return
    Console().print(table(view))
    for line in faults(view):
        click.echo(line)
    if any(side.waiting for side in view.sides.values()):
        click.echo("It waits for an answer; give one with --answer.", err=True)
