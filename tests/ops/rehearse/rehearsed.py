"""A rehearsal of a whole database, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langgraph.pregel import Pregel

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint.by_url import backend_of
from langgraph_once.checkpoint.copying import Source
from langgraph_once.config import CheckpointConfig
from langgraph_once.platform.targets import graph_types
from langgraph_once.serde.types_in_rows import TypeStatusChecker
from langgraph_once_ops.rehearse import Rehearsal, Report, Shape


def rehearsed(
    database: Path | str,
    graph: Pregel[Any, Any, Any, Any],
    old: Shape | None = None,
    *,
    graph_id: str | None = None,
) -> Report:
    """What a graph would do to the threads of a database."""
    types = graph_types(graph)
    serde = OnceSerializer(SerdeConfig()).with_msgpack_allowlist(types)
    type_status = TypeStatusChecker(serde.config, types)
    with backend_of(str(database)).open_to_read(config=CheckpointConfig(), serde=serde) as saver:
        rehearsal = Rehearsal(
            saver, graph, old=old, type_status=type_status, types=types, graph_id=graph_id
        )
        for thread_id in Source(saver).thread_ids():
            rehearsal.thread(thread_id)
    return rehearsal.report


def kinds(report: Report) -> set[str]:
    """What was found."""
    return {each.kind for each in report.sorted()}
