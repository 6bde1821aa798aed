"""`langgraph-once`, also `python -m langgraph_once`: the command of an operator.

Needs the extra `cli`.
"""

from __future__ import annotations

import io
import logging
import sys
from importlib import import_module
from typing import Any, Final, cast

from langgraph_once.floors import install_command

try:
    import click
except ImportError:
    sys.exit(f"langgraph-once: the command needs an extra: {install_command('cli')}")

from langgraph_once import extensions
from langgraph_once.errors import ConfigError, OnceError, printable

_INTERRUPTED: Final = 130
"""The exit code that shells expect of Ctrl-C: 128 and the number of the signal."""


_OURS: Final = {
    "init": "init:init_command",
    "check": "check:check_command",
    "types": "check:types_command",
    "migrate": "migrate:migrate_command",
    "demo": "demo:demo_command",
    "schema": "settings_reference:schema_command",
    "env": "settings_reference:env_command",
}
"""Each command by its name: a module of the room `commands`, and what it is called there."""


class _Commands(click.Group):
    """All commands, each imported when it is asked for; Ctrl-C ends each with one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of our own commands, then those of extensions that can be imported."""
        absent = extensions.absent("command")
        return [*_OURS, *(name for name in extensions.names("command") if name not in absent)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if there is none of this name.

        Raises:
            ConfigError: The command is of an extension that is not installed.
        """
        if (ours := _OURS.get(cmd_name)) is not None:
            module, _, name = ours.partition(":")
            command = getattr(import_module(f"langgraph_once.commands.{module}"), name)
        elif cmd_name in extensions.names("command"):
            try:
                command = extensions.load("command", cmd_name)
            except ImportError as error:
                raise ConfigError(cmd_name, str(error)) from None
        else:
            return None
        return cast("click.Command", command)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            behind = "\n" if sys.stderr.isatty() else ""  # a terminal has written ^C
            click.echo(f"{behind}langgraph-once: interrupted", err=True)
            ctx.exit(_INTERRUPTED)


@click.group(cls=_Commands)
@click.version_option(package_name="langgraph-once")
def commands() -> None:
    """Exactly-once streams and type-true checkpoints for LangGraph Platform.

    \b
    Examples:
      langgraph-once init     wire the project in this folder
      langgraph-once check    find what would stop the server
    """


def main() -> None:
    """Run the command; a user's mistake is one line on standard error and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")  # a terminal that has no ● and … shows ? there
    # What a transaction that failed leaves behind, psycopg says beside our one line.
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    try:
        commands(prog_name="langgraph-once")
    except (OnceError, OSError) as error:  # or the disk is full that its output goes to
        sys.exit(printable(f"langgraph-once: {error}"))


if __name__ == "__main__":
    main()
