"""What a server is asked for by a command: the options, and what they say."""

from __future__ import annotations

import json
from typing import Any

import click

from langgraph_once.errors import ConfigError

__all__ = ["headers", "headers_option", "input_option", "say_option", "started"]

say_option = click.option("--say", help="What the user says to the graph.")
input_option = click.option("--input", "given", help="The input of the graph, as JSON.")
headers_option = click.option(
    "--header", multiple=True, metavar="NAME:VALUE", help="Send a header; repeatable."
)


def started(say: str | None, given: str | None) -> dict[str, Any] | None:
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


def headers(given: tuple[str, ...]) -> dict[str, str]:
    """The headers of `--header`.

    Raises:
        ConfigError: One has no colon.
    """
    parts = [each.partition(":") for each in given]
    if not all(colon for _, colon, _ in parts):
        raise ConfigError("--header", 'write it as "NAME: VALUE"')
    return {name.strip(): value.strip() for name, _, value in parts}
