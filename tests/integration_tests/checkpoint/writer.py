"""Writes to a thread until it is killed, and says what was stored.

`python writer.py URL NAME [STEP [HOURS]]`: before the checkpoint of that step it waits for being
killed. Its checkpoints are so many hours old, or one: a checkpoint that it did not store is missing
for good.
"""

from __future__ import annotations

import random
import sys
from datetime import timedelta
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint import open_saver
from langgraph_once.checkpoint.stored import first_id_at, moment_of
from langgraph_once.config import CheckpointConfig

THREAD = "thread"


def lines_of(name: str, count: int) -> list[str]:
    """A channel of a writer after some steps: several pieces, of which each step adds one."""
    words = random.Random(name)
    return [f"{name} {n} {words.randbytes(500).hex()}" for n in range(count)]


def main(url: str, name: str, waits_at: str = "", hours: str = "1") -> None:
    """Put writes, checkpoints and prunes; each line is what was acknowledged.

    LangGraph stores a checkpoint in the background, so writes on it may come first.
    """
    lines = lines_of(name, 1000)
    with open_saver(url, config=CheckpointConfig()) as saver:
        at: Any = {"configurable": {"thread_id": THREAD, "checkpoint_ns": name}}
        for step in range(1, 1000):
            checkpoint = empty_checkpoint()
            made = moment_of(checkpoint["id"])
            assert made is not None
            made -= timedelta(hours=int(hours))
            checkpoint["id"] = f"{first_id_at(made)}{checkpoint['id'][18:]}"
            checkpoint["channel_values"] = {"lines": lines[:step]}
            version = f"{step:032}.0"
            checkpoint["channel_versions"] = {"lines": version}
            here: Any = {"configurable": {**at["configurable"], "checkpoint_id": checkpoint["id"]}}
            saver.put_writes(here, [("lines", lines[: step + 1])], "early")
            said(f"early {checkpoint['id']} {step}")
            if waits_at == str(step):
                sys.stdin.readline()
            at = saver.put(at, checkpoint, {"source": "loop", "step": step}, {"lines": version})
            said(f"put {checkpoint['id']} {step}")
            saver.put_writes(at, [("lines", lines[step:])], "task")
            said(f"written {checkpoint['id']} {step}")
            if step % 7 == 0:
                said("pruning")
                saver.prune([THREAD], keep_last=3)


def said(line: str) -> None:
    """Tell who started this."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
