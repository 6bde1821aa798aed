"""A process that streams a graph and is killed in the midst of its second step.

python -m tests.unit_tests.stream.killed FOLDER
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_once.stream import InMemoryStreamStateStore, StreamAddress
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, says, says_copy

THREAD: Any = {"configurable": {"thread_id": "1"}}
OPTIONS: Any = {"stream_mode": "messages", "durability": "sync"}
SECOND = "Second words of three."


class FolderStore(InMemoryStreamStateStore):
    """Keeps each ledger in a file."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        path = self._folder / f"{address.thread_id}.ledger"
        return path.read_bytes() if path.exists() else None

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        path = self._folder / f"{address.thread_id}.ledger"
        part = path.with_suffix(".part")
        part.write_bytes(data)
        part.rename(path)


@contextmanager
def graph_in(folder: Path) -> Iterator[Any]:
    """The graph; its thread and its ledgers are kept in `folder`."""

    plain = chain(says_copy("First."), says(SECOND), says("Third."))
    with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
        yield exactly(plain.copy({"checkpointer": saver}), stream_state=FolderStore(folder))


def main() -> None:
    """Print each message as a line, until the second step has said a little."""
    with graph_in(Path(sys.argv[1])) as graph:
        for message, meta in graph.stream(ASKED, THREAD, **OPTIONS):
            kind = type(message).__name__
            sys.stdout.write(f"{json.dumps([kind, message.id, str(message.text)])}\n")
            sys.stdout.flush()
            if meta["langgraph_step"] == 2 and message.text:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
