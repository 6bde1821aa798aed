"""`langgraph-once demo`: what a server streams, counted for two consumers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import click

from langgraph_once.commands.project import json_option, tell
from langgraph_once.errors import ConfigError

_CLIENT_ALONE = """\
The graph is not wrapped by `once`, so the right column is what our client alone can do.
`langgraph-once init` in the server's project wraps it."""
_HELLO = "How is each message delivered exactly once?"


@click.command("demo", short_help="Compare what LangGraph streams of a graph with what we do.")
@click.argument("url")
@click.argument("graph")
@click.option("--say", help="What the user says to the graph.")
@click.option("--input", "given", help="The input of the graph, as JSON.")
@click.option("--answer", multiple=True, help="To an interrupt, JSON or text; repeatable.")
@json_option
@click.option("--header", multiple=True, metavar="NAME:VALUE", help="Send a header; repeatable.")
@click.option("--one-run", is_flag=True, help="Run the graph once, recorded for both.")
def demo_command(
    url: str,
    graph: str,
    say: str | None,
    given: str | None,
    answer: tuple[str, ...],
    for_machines: bool,
    header: tuple[str, ...],
    one_run: bool,
) -> None:
    """Run a graph of any LangGraph server twice, and count what each of two consumers has.

    One reads what LangGraph streams by itself, of a wrapped graph too; the other reads with this
    package, and announces itself. The states of a run tell what its consumer should have. The graph
    runs twice, and so do its tools; --one-run runs it once. The threads are deleted.

    \b
    Examples:
      langgraph-once demo http://127.0.0.1:2024 agent --say "To Rome, please."
      langgraph-once demo http://127.0.0.1:2024 research --answer approve
      langgraph-once demo http://127.0.0.1:2024 mails --say "Send it." --one-run
    """
    # It loads the clients of both sides, which `--help` does without.
    from langgraph_once.compare import as_json, compared, faults, is_unwrapped, table

    start = _started(say, given)
    answers = [_json_or_text(each) for each in answer]
    headers = _headers(header)
    view = asyncio.run(
        compared(url, graph, start, answers=answers, headers=headers, in_one_run=one_run)
    )
    if for_machines:
        tell(json.dumps(as_json(view)))
        return
    tell("\n".join([*table(view), *faults(view)]))
    if is_unwrapped(view):
        tell(_CLIENT_ALONE)
    if any(side.waiting for side in view.sides.values()):
        tell("It waits for an answer; give one with --answer.", err=True)


def _started(say: str | None, given: str | None) -> dict[str, Any]:
    """The run that `--say` or `--input` ask for, as `SideRequest` has it.

    Raises:
        ConfigError: The input is no JSON.
    """
    if say is not None or given is None:
        return {"input": {"messages": [{"role": "user", "content": say or _HELLO}]}}
    try:
        return {"input": json.loads(given)}
    except ValueError as error:
        raise ConfigError("--input", f"this is no JSON: {error}") from None


def _json_or_text(answer: str) -> Any:
    """What an answer says: JSON if it is some."""
    try:
        return json.loads(answer)
    except ValueError:
        return answer


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    """The headers of `--header`.

    Raises:
        ConfigError: One has no colon.
    """
    parts = [each.partition(":") for each in given]
    if not all(colon for _, colon, _ in parts):
        raise ConfigError("--header", 'write it as "NAME: VALUE"')
    return {name.strip(): value.strip() for name, _, value in parts}
