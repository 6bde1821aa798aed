"""`langgraph-once watch` and `demo`: what a server streams, live, or counted for two consumers."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import click

from langgraph_once.commands.project_settings import json_option
from langgraph_once.errors import ConfigError

__all__ = ["demo_command", "watch_command"]


_HELLO = "How is each message delivered exactly once?"

_say_option = click.option("--say", help="What the user says to the graph.")
_input_option = click.option("--input", "given", help="The input of the graph, as JSON.")
_headers_option = click.option(
    "--header", multiple=True, metavar="NAME:VALUE", help="Send a header; repeatable."
)


@click.command("watch", short_help="Watch a graph, a run or a thread of a server.")
@click.argument("url")
@click.argument("target", metavar="GRAPH|THREAD")
@_say_option
@_input_option
@click.option("--stock", is_flag=True, help="Show beside it what LangGraph streams by itself.")
@click.option("--json", "for_machines", is_flag=True, help="Print each view event as JSON.")
@click.option(
    "--record",
    metavar="FILE",
    help="Write what comes into a file, for `explain`; with --stock, what LangGraph streams.",
)
@_headers_option
def watch_command(
    url: str,
    target: str,
    say: str | None,
    given: str | None,
    stock: bool,
    for_machines: bool,
    record: str | None,
    header: tuple[str, ...],
) -> None:
    """Watch what a consumer of a server gets, each thing once.

    GRAPH begins a run on a new thread. THREAD is the id of one: a run under way is joined, of a
    finished thread its messages are shown. Ctrl-C leaves; the run goes on. The exit code is 1 if
    a run failed.

    \b
    Examples:
      langgraph-once watch http://127.0.0.1:2024 research --say "What is new?"
      langgraph-once watch http://127.0.0.1:2024 research --say Hello --stock
      langgraph-once watch http://127.0.0.1:2024 1f0a5c7e-0000-6000-8000-000000000000
      langgraph-once watch http://127.0.0.1:2024 research --say Hello --json | head
    """
    from langgraph_once.inspect.terminal.watching import Watching

    watching = Watching(url, target, stock=stock, as_json=for_machines, record=record)
    try:
        if not asyncio.run(watching.run(_started(say, given), _headers(header))):
            sys.exit(1)
    except KeyboardInterrupt:
        click.echo("left; a run that was under way goes on", err=True)
        sys.exit(130)
    except BrokenPipeError:  # who read has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.command("demo", short_help="Compare what LangGraph streams of a graph with what we do.")
@click.argument("url")
@click.argument("graph")
@_say_option
@_input_option
@click.option("--answer", multiple=True, help="To an interrupt, JSON or text; repeatable.")
@json_option
@_headers_option
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
    package. The states of a run tell what its consumer should have. The graph runs twice, for real;
    the two threads are deleted.

    \b
    Examples:
      langgraph-once demo http://127.0.0.1:2024 agent --say "To Rome, please."
      langgraph-once demo http://127.0.0.1:2024 research --answer approve
    """
    from rich.console import Console

    from langgraph_once.inspect.terminal.comparison import as_json, compared, faults, table
    from langgraph_once.inspect.terminal.target import json_or_text, said

    start = _started(say, given) or said(_HELLO)
    answers = [json_or_text(each) for each in answer]
    view = asyncio.run(compared(url, graph, start, answers=answers, headers=_headers(header)))
    if for_machines:
        click.echo(json.dumps(as_json(view)))
        return
    Console().print(table(view))
    for line in faults(view):
        click.echo(line)
    if any(side.waiting for side in view.sides.values()):
        click.echo("It waits for an answer; give one with --answer.", err=True)


def _started(say: str | None, given: str | None) -> dict[str, Any] | None:
    """The run that `--say` or `--input` ask for, as `SideRequest` has it; None if neither does.

    Raises:
        ConfigError: The input is no JSON.
    """
    if say is not None:
        from langgraph_once.inspect.terminal.target import said

        return said(say)
    if given is None:
        return None
    try:
        return {"input": json.loads(given)}
    except ValueError as error:
        raise ConfigError("--input", f"this is no JSON: {error}") from None


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    """The headers of `--header`.

    Raises:
        ConfigError: One has no colon.
    """
    parts = [each.partition(":") for each in given]
    if not all(colon for _, colon, _ in parts):
        raise ConfigError("--header", 'write it as "NAME: VALUE"')
    return {name.strip(): value.strip() for name, _, value in parts}
