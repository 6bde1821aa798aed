"""The newest threads of a database, and how each stands. Only their last checkpoints are read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple

from langgraph_once.checkpoint import CheckpointRef, OnceSaver, Statement, moment_of
from langgraph_once.config_retention import ThreadStatus
from langgraph_once.errors import SerdeError
from langgraph_once_ops.due import status_of
from langgraph_once_ops.survey.sizes import tables_in
from langgraph_once_ops.survey.snapshot import Snapshot

Status: TypeAlias = ThreadStatus | Literal["unreadable", ""]
"""Empty: the thread has only checkpoints of subgraphs."""

_GRAPH_KEYS: Final = ("graph_id", "assistant_id")


class ListedThread(NamedTuple):
    """A thread in the list.

    Attributes:
        graph: The graph or assistant that its metadata name; empty if they name none.
        last: When its newest checkpoint was made; None if the id does not tell.
        bytes: Of its rows, as they are stored.
    """

    thread_id: str
    graph: str
    checkpoints: int
    last: datetime | None
    status: Status
    bytes: int


def newest_threads(snapshot: Snapshot, saver: OnceSaver, limit: int) -> list[ListedThread]:
    """The threads with the newest checkpoints, newest first.

    Args:
        snapshot: The database.
        saver: Reads it.
        limit: How many at most.

    Raises:
        StorageError: It cannot be read.
    """
    rows = snapshot.ask(
        Statement(
            "SELECT thread_id, max(checkpoint_id), count(*) FROM checkpoints "
            "GROUP BY thread_id ORDER BY 2 DESC, 1 LIMIT ?",
            [limit],
        )
    )
    listed = []
    for thread_id, newest, count in rows:
        graph, status = _head(saver, str(thread_id))
        last, size = moment_of(str(newest)), _bytes(snapshot, thread_id)
        listed.append(ListedThread(str(thread_id), graph, count, last, status, size))
    return listed


def graph_of(saved: CheckpointTuple) -> str:
    """The graph or assistant that the metadata of a server's checkpoint name, or nothing."""
    metadata: Mapping[str, Any] = saved.metadata
    return next((str(metadata[key]) for key in _GRAPH_KEYS if key in metadata), "")


def _head(saver: OnceSaver, thread_id: str) -> tuple[str, Status]:
    try:
        for saved in saver.list(CheckpointRef(thread_id, "").config(), limit=1):
            return graph_of(saved), status_of(saved.undecoded)
    except SerdeError:  # `verify` says what is wrong; the other threads are listed all the same
        return "", "unreadable"
    return "", ""


def _bytes(snapshot: Snapshot, thread_id: str) -> int:
    return sum(
        int(size or 0)
        for table in tables_in(snapshot)
        for (size,) in snapshot.ask(
            Statement(
                f"SELECT sum({table.size}) FROM {table.name} WHERE thread_id = ?", [thread_id]
            )
        )
    )
