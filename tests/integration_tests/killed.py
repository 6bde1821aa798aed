"""`langgraph-once …`, killed amid its work again and again, and then left to end."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.forked import SCRIPT, Forked, clean_environ, run_once

KILLS = 20


def run(*arguments: str, cwd: Path, **env: str) -> str:
    """What a command says that ends well, with no setting of this package but these."""
    ended = run_once(*arguments, cwd=cwd, **env)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def kills(
    *arguments: str, cwd: Path, done: Callable[[], int], step: int = 1, **env: str
) -> Iterator[int]:
    """Start a command and kill it, until it ends before that, or was killed often enough.

    Args:
        arguments: The command.
        cwd: Where it runs.
        done: How much of the work is done.
        step: How much it does before it is killed, a random moment later.
        env: The settings of this package.

    Yields:
        After each kill: how many there were.
    """
    dice = random.Random(7)
    for count in range(1, KILLS + 1):
        with Forked("-c", SCRIPT, *arguments, cwd=cwd, env=clean_environ(**env)) as process:
            until = done() + step
            while process.returncode is None and done() < until:
                time.sleep(0.002)
            time.sleep(dice.random() / 100)
            process.kill()
            ended = process.wait()
        if ended.returncode != -signal.SIGKILL:
            assert ended.returncode == 0, ended.stderr
            assert count > KILLS / 2, f"it was killed {count - 1} times only: give it more to do"
            return
        yield count
