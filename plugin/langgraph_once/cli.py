"""`langgraph-once`: the command of an operator. Needs the extra `cli`."""

from __future__ import annotations

import io
import logging
import sys
from typing import Any, Final

from langgraph_once.extras import install_command

try:
    import click
except ImportError:
    sys.exit(f"langgraph-once: the command needs an extra: {install_command('cli')}")

from langgraph_once.commands.check import check_command
from langgraph_once.commands.init import init_command
from langgraph_once.commands.inspect import inspect_command
from langgraph_once.commands.migrate import migrate_command
from langgraph_once.commands.prune import prune_command
from langgraph_once.commands.rehearse import rehearse_command
from langgraph_once.commands.rotate import rotate_command
from langgraph_once.commands.settings_reference import env_command, schema_command
from langgraph_once.commands.store import store_command
from langgraph_once.commands.streams import demo_command
from langgraph_once.commands.survey import survey_command
from langgraph_once.commands.types import types_command
from langgraph_once.commands.verify import verify_command
from langgraph_once.errors import OnceError

__all__ = ["main"]


_INTERRUPTED: Final = 130
"""The exit code that shells expect of Ctrl-C: 128 and the number of the signal."""


class _Commands(click.Group):
    """All commands; Ctrl-C ends each with one line."""

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


for _command in (
    init_command,
    check_command,
    types_command,
    survey_command,
    inspect_command,
    migrate_command,
    verify_command,
    prune_command,
    rehearse_command,
    rotate_command,
    store_command,
    demo_command,
    schema_command,
    env_command,
):
    commands.add_command(_command)


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
        sys.exit(f"langgraph-once: {error}")


if __name__ == "__main__":
    main()
