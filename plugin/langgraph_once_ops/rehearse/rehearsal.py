"""What each thread of a database would meet under a new graph."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from typing import Any

from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from langgraph_once.checkpoint import OnceSaver
from langgraph_once.errors import StorageError
from langgraph_once.serde import TypeStatusChecker
from langgraph_once_ops.due import due_in
from langgraph_once_ops.rehearse.flow import Flow
from langgraph_once_ops.rehearse.heads import Head, NewGraph, thread_heads
from langgraph_once_ops.rehearse.report import Add, Report
from langgraph_once_ops.rehearse.shape import Shape, shape_of
from langgraph_once_ops.rehearse.state import State, Types


class Rehearsal:
    """Looks at one thread after the other.

    Args:
        saver: The database, opened to be read; stand-ins take the place of what cannot be rebuilt.
        graph: The new graph.
        old: The shape of the graph before, if it is known.
        type_status: Whether stored types can be rebuilt by the new code.
        types: Those that the new graph's schemas name.
        graph_id: Only threads of this graph of a server; all if None.
    """

    def __init__(
        self,
        saver: OnceSaver,
        graph: Pregel[Any, Any, Any, Any],
        *,
        old: Shape | None,
        type_status: TypeStatusChecker,
        types: Iterable[tuple[str, ...]] = (),
        graph_id: str | None = None,
    ) -> None:
        self.report = Report()
        self._saver, self._graph, self._graph_id = saver, NewGraph(graph, saver), graph_id
        self._new, self._old = shape_of(graph), old
        classes = {f"{each[0]}:{each[-1]}" for each in types}
        self._types = Types(type_status, self.report, classes)
        self._parts: dict[tuple[str, ...], tuple[State, Flow] | None] = {}

    def thread(self, thread_id: str) -> None:
        """Add what a thread meets.

        Raises:
            StorageError: The database cannot be read.
        """
        try:
            for head in thread_heads(self._saver, thread_id):
                if not self._head(head):
                    return
        except StorageError:
            raise
        except Exception as error:  # a row may say anything
            self.report.add("unread", type(error).__name__, thread_id)

    def _head(self, head: Head) -> bool:
        """Whether subgraphs of the thread may be under way."""
        report, due = self.report, due_in(head.checkpoint, head.saved.pending_writes or ())
        add = partial(_add, report, head)
        asking = bool(head.tasks().waiting)
        if head.checkpoint_ns:
            report.subgraphs += 1
        else:
            graph_id = head.saved.metadata.get("graph_id")
            if graph_id is not None:
                report.graphs[str(graph_id)] += 1
            if self._graph_id not in (None, graph_id):
                return False
            report.threads += 1
            report.under_way += bool(due) or asking
        is_whole = self._types.look(head, add)
        parts = self._at(head, add)
        if parts is None:
            return True
        state, flow = parts
        tried = cache(partial(self._tried, head, add, is_whole=is_whole))
        state.look(head, add, is_whole=is_whole, tried=tried)
        if due or asking:
            flow.look(head, due, tried(), add)
        return bool(due) or asking

    def _tried(self, head: Head, add: Add, *, is_whole: bool) -> StateSnapshot | None:
        try:
            return self._graph.state(head)
        except Exception as error:
            if is_whole:  # or another serializer might rebuild what this one does not
                add("fails", type(error).__name__)
        return None

    def _at(self, head: Head, add: Add) -> tuple[State, Flow] | None:
        path = head.path
        if path not in self._parts:
            self._parts[path] = self._made(path)
        if self._parts[path] is None:
            add(self._why_none(path), " → ".join(path))
        return self._parts[path]

    def _made(self, path: tuple[str, ...]) -> tuple[State, Flow] | None:
        graph, new = self._graph.at(path), self._new.at(path)
        if graph is None or new is None:
            return None
        old = self._old.at(path) if self._old else None
        return State(graph, new, old), Flow(graph, new, old)

    def _why_none(self, path: tuple[str, ...]) -> str:
        around = self._graph.at(path[:-1])
        if around is None or path[-1] not in around.nodes:
            return "subgraph-gone"
        is_known = self._old is not None and self._old.at(path) is not None
        return "subgraph-inline" if is_known else "subgraph-unknown"


def _add(report: Report, head: Head, kind: str, subject: str) -> None:
    report.add(kind, subject, head.thread_id, head.checkpoint_ns)
