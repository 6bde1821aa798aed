"""A remote graph in a node of a graph that the very same server runs.

A server lets one run at a time into a thread, and a remote graph in a node runs in the thread of
the graph around it. On another server that is a thread of the same name; on its own server the run
would wait for itself, for ever. There it gets a thread of its own: the same whenever the node is
run in that thread, so that it remembers and is resumed as on another server.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from langchain_core.runnables import RunnableConfig

from langgraph_once.errors import ConfigError
from langgraph_once.remote.node import NS_KEY, is_task
from langgraph_once.stream.part.places import NS_SEP, node_path
from langgraph_once.stream.readers import SERVED_KEY

__all__ = ["METRICS", "ServedRun", "check_room", "in_own_thread", "served_run"]

METRICS = "/metrics?format=json"
IN_ONE_PROCESS = "langgraph_runtime_inmem"
"""The runtime of `langgraph dev`, whose only worker is in this process."""


class ServedRun(NamedTuple):
    """A run, by what names it on its server."""

    thread_id: str
    run_id: str


def served_run(config: RunnableConfig | None) -> ServedRun | None:
    """The run that a node belongs to whose config this is; None if no server runs it."""
    if config is None or not is_task(config):
        return None
    metadata = config.get("metadata", {})
    if SERVED_KEY not in metadata or "run_id" not in metadata:
        return None
    thread_id = config.get("configurable", {}).get("thread_id")
    return ServedRun(str(thread_id), str(metadata["run_id"])) if thread_id else None


def in_own_thread(config: RunnableConfig, run: ServedRun, assistant_id: str) -> RunnableConfig:
    """The config with the thread for this node and assistant in place of that of the run."""
    asked = config.get("configurable", {})
    node = node_path(asked.get(NS_KEY, "").split(NS_SEP))
    thread_id = uuid5(UUID(run.thread_id), f"{node} {assistant_id}")
    return {**config, "configurable": {**asked, "thread_id": str(thread_id)}}


def check_room(metrics: Any, assistant_id: str) -> None:
    """Refuse what would never end: the server runs one run at a time, and that one waits.

    Args:
        metrics: What the server answers for `METRICS`.
        assistant_id: Who is to be run.

    Raises:
        ConfigError: There is no room for a second run.
    """
    match metrics:
        case {"workers": {"max": 1}} if IN_ONE_PROCESS in sys.modules:
            raise ConfigError(
                "langgraph dev --n-jobs-per-worker",
                f"is 1, so that {assistant_id!r}, which a node runs on its own server, would wait "
                "for the run of that node, which waits for it; start the server with 10, say",
            )
