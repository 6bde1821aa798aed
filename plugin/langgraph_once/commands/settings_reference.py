"""`langgraph-once schema` and `env`: all settings, for editors and as variables."""

from __future__ import annotations

import json

import click

from langgraph_once.reference import env_example, json_schema


@click.command("schema", short_help="Print the JSON schema of our settings.")
def schema_command() -> None:
    """Print the JSON schema of the `once` sub-keys of langgraph.json, for editors.

    \b
    Example:
      langgraph-once schema > once.schema.json
    """
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@click.command("env", short_help="Print all settings as a .env file.")
def env_command() -> None:
    """Print every environment variable with its default and meaning, as a .env file.

    \b
    Example:
      langgraph-once env > .env.example
    """
    click.echo(env_example(), nl=False)
