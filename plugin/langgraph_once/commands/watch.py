"""`langgraph-once watch`: a graph, a run or a thread of a server, live in the terminal."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from langgraph_once.commands.asking import (
    headers,
    headers_option,
    input_option,
    say_option,
    started,
)

__all__ = ["watch_command"]


@click.command("watch", short_help="Watch a graph, a run or a thread of a server.")
@click.argument("url")
@click.argument("target", metavar="GRAPH|THREAD")
@say_option
@input_option
@click.option("--stock", is_flag=True, help="Show beside it what LangGraph streams by itself.")
@click.option("--json", "for_machines", is_flag=True, help="Print each view event as JSON.")
@headers_option
def watch_command(
    url: str,
    target: str,
    say: str | None,
    given: str | None,
    stock: bool,
    for_machines: bool,
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

    watching = Watching(url, target, stock=stock, as_json=for_machines)
    try:
        if not asyncio.run(watching.run(started(say, given), headers(header))):
            sys.exit(1)
    except KeyboardInterrupt:
        click.echo("left; a run that was under way goes on", err=True)
        sys.exit(130)
    except BrokenPipeError:  # who read has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
