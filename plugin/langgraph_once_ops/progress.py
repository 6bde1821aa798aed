"""How far a command is, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

from langgraph_once.checkpoint import Progress as Told
from langgraph_once.commands import telling


@contextmanager
def progress_bar() -> Iterator[Told]:
    """Yield what is told how many threads of how many are done: a bar in a terminal, else lines."""
    if not sys.stderr.isatty():
        yield telling()
        return
    columns = (*Progress.get_default_columns()[:-1], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("threads", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
