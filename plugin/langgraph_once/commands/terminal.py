"""What a command prints: the one way to the terminal, which no text of a database takes over."""

from __future__ import annotations

import click

from langgraph_once.redaction import printable


def tell(text: str, *, err: bool = False) -> None:
    """Print lines; what a terminal would obey, as an escape sequence, is shown as `?`.

    A name in a line must be `printable` itself: here a line break within it is one of the text.

    Args:
        text: One line or several.
        err: Print on stderr.
    """
    click.echo("\n".join(map(printable, text.split("\n"))), err=err)
