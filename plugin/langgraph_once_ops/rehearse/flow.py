"""What becomes of the tasks of a thread that are due, under the new graph.

Also which nodes lie ahead of the thread, and which do not any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.constants import START
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from langgraph_once_ops.due import Due, join_marks, join_starts
from langgraph_once_ops.rehearse.heads import Head, is_wrapped
from langgraph_once_ops.rehearse.report import Add
from langgraph_once_ops.rehearse.shape import Shape, join_channel, tool_nodes

_NO_WRITES = "__no_writes__"
"""The one channel of a task that is done and gave nothing (langgraph 1.2.24, `_runner.py`)."""


class Flow:
    """Holds the nodes of a graph against what is due.

    Args:
        graph: The new graph, or a subgraph of it.
        new: Its shape.
        old: The shape of the graph before, if it is known.
    """

    def __init__(self, graph: Pregel[Any, Any, Any, Any], new: Shape, old: Shape | None) -> None:
        self._graph, self._new, self._old = graph, new, old
        self._ways = Ways(new, old)
        self._tools = tool_nodes(graph)
        self._named = {name for node in self._tools.values() for name in node.tools_by_name}
        self._has_edges = getattr(graph, "builder", None) is not None

    def look(self, head: Head, due: Due, state: StateSnapshot | None, add: Add) -> None:
        """Add what becomes of what is due.

        Args:
            head: The head.
            due: The tasks that its checkpoint says are due.
            state: What the new graph makes of it; None if it cannot.
            add: Is called with each finding.
        """
        done, marks = _done(head, state), _marks(head)
        run = due.all - done
        self._gone(due, run, marks, add, are_spent=_are_spent(head, due, state))
        if state is not None:
            self._tasks(head, due, state, add)
        self._calls(head, due, state, add)
        now = due.all if state is None else {task.name for task in state.tasks}
        self._ways.look(head, due, now, done, marks, add)
        self._context(add)

    def _gone(self, due: Due, run: set[str], marks: Marks, add: Add, *, are_spent: bool) -> None:
        there = {START, *self._graph.nodes}
        for node in set() if are_spent else due.nodes - there:
            add("node-gone", node)
        for node in due.sends - there:
            add("send-gone", node)
        for channel, node in due.later:
            if node not in there:
                is_sure = join_starts(channel) <= run | marks.get(channel, set())
                add("later-gone" if is_sure else "join-gone", node)

    def _tasks(self, head: Head, due: Due, state: StateSnapshot, add: Add) -> None:
        tasks = {task.id for task in state.tasks}
        names = {task.name for task in state.tasks}
        asking, done, failed = head.tasks()
        # A snapshot of a state shows no task of an error handler: as many unknown tasks as there
        # are handlers are taken for theirs.
        handled = [each for each in state.tasks if each.id in failed and self._handles(each.name)]
        if len((asking | done) - tasks) <= len(handled):
            asking, done = asking & tasks, done & tasks
        lost = due.all - names - {START}
        # In the functional API, other tasks are called while one runs.
        known = asking | done if self._has_edges else asking if asking.isdisjoint(tasks) else set()
        if due and not tasks:
            add("ends", _joined(due.all))
        for node in lost & self._graph.nodes.keys():
            add("not-due", node)
        if asking - tasks and (lost or not tasks):
            add("interrupt-gone", _joined(lost or due.all or due.ended))
        elif len(known - tasks) > len(lost) and names:
            add("task-anew", _joined(names))
        for task in state.tasks:
            if task.id in asking and self._is_new_subgraph(task.name):
                add("subgraph-new", task.name)
        if self._has_edges and not due.ended:
            for node in names - due.all - {START}:
                add("task-new", node)

    def _handles(self, node: str) -> bool:
        return getattr(self._graph.nodes[node], "error_handler_node", None) is not None

    def _is_new_subgraph(self, node: str) -> bool:
        is_one = isinstance(self._graph.nodes[node].bound, Pregel)
        return is_one and self._old is not None and node not in self._old.subgraphs

    def _calls(self, head: Head, due: Due, state: StateSnapshot | None, add: Add) -> None:
        if not self._tools:
            return
        values = head.values if state is None else state.values
        written = [value for _, _, value in head.saved.pending_writes or ()]
        running = [node for name, node in self._tools.items() if name in due.all]
        for name in {*_open_calls(values, written)} - self._named:
            if self._old is None or name in self._old.tools:
                is_sure = bool(running) and not any(is_wrapped(node) for node in running)
                add("tool-gone" if is_sure else "tool-later", name)

    def _context(self, add: Add) -> None:
        if self._old is not None:
            if new := {*self._new.context} - {*self._old.context}:
                add("context", _joined(new))
        elif self._new.context:
            add("context-asked", _joined(self._new.context))


def _done(head: Head, state: StateSnapshot | None) -> set[str]:
    """The nodes whose tasks have all given something."""
    done, names = head.tasks().done, [] if state is None else state.tasks
    return {each.name for each in names} - {each.name for each in names if each.id not in done}


def _are_spent(head: Head, due: Due, state: StateSnapshot | None) -> bool:
    """Whether all nodes that are due and of no task now have ended, and gave nothing to keep.

    Stored writes name their task by its id alone. An id that the new graph does not know may also
    belong to a task that begins anew.
    """
    if state is None:
        return False
    given: defaultdict[str, set[str]] = defaultdict(set)
    for task, channel, _ in head.saved.pending_writes or ():
        given[task].add(channel)
    spent = {task for task, channels in given.items() if channels == {_NO_WRITES}}
    untold = [task for task in state.tasks if task.id not in given]
    gone = due.nodes - {task.name for task in state.tasks}
    return len(spent - {task.id for task in state.tasks}) >= len(gone) + len(untold)


def _marks(head: Head) -> Marks:
    """By the channel of a join, which of its nodes have run."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for channel, value in head.values.items():
        if join_starts(channel):
            found[channel] |= join_marks(value)
    for _, channel, value in head.saved.pending_writes or ():
        if join_starts(channel):
            found[channel].add(value)
    return found


def _joined(names: Any) -> str:
    return ", ".join(sorted(names))


def _open_calls(values: Any, written: list[Any]) -> Iterator[str]:
    """The tools that the last message of a model asks for, where no result is there yet."""
    held = values if isinstance(values, dict) else getattr(values, "__dict__", {})
    answered = {each.tool_call_id for each in _messages(written) if isinstance(each, ToolMessage)}
    for value in held.values():
        for message in reversed([*value] if isinstance(value, list) else []):
            if isinstance(message, ToolMessage):
                answered.add(message.tool_call_id)
            elif isinstance(message, AIMessage):
                yield from (
                    call["name"] for call in message.tool_calls if call["id"] not in answered
                )
                break
            elif not isinstance(message, BaseMessage):
                break


def _messages(written: list[Any]) -> Iterator[Any]:
    for value in written:
        yield from value if isinstance(value, list) else (value,)


Marks: TypeAlias = Mapping[str, set[str]]
"""For the channel of each join, the nodes before it that have run."""


class Ways:
    """Follows the ways that a graph declares, from what is due.

    Args:
        new: The new graph, or a subgraph of it.
        old: The graph before, if it is known.
    """

    def __init__(self, new: Shape, old: Shape | None) -> None:
        self._new, self._old = new, old

    def look(
        self, head: Head, due: Due, now: set[str], done: set[str], marks: Marks, add: Add
    ) -> None:
        """Add which nodes the thread will not come to, or come to again.

        Args:
            head: The head.
            due: The tasks that its checkpoint says are due.
            now: The nodes that the new graph starts.
            done: The nodes among these that have given all they had to.
            marks: What stands in joins.
            add: Is called with each finding.
        """
        later = {node for channel, node in due.later if not join_starts(channel)}
        starts = later | (now - done)
        ahead = _nodes_ahead(self._new, starts, marks)
        ran = done.union(head.checkpoint["versions_seen"]) - {START}
        if self._old is None:
            known = head.checkpoint["channel_versions"].keys() | marks.keys()
            found = {("join-changed", node) for node in self._stuck(ahead, done, ran, known)}
        else:
            before = _nodes_ahead(self._old, later | (due.all - done), marks)
            fresh = self._new.nodes.keys() - self._old.nodes.keys()
            stuck = {*self._stuck(ahead, done, ran, self._old.channels)} - (ran - before)
            stuck |= {*self._stuck(ahead, done, fresh, self._old.channels)} & (before | fresh)
            gone = due.all - self._new.nodes.keys()
            after = _nodes_ahead(self._new, starts | stuck, marks)
            found = {("join-changed", node) for node in stuck}
            found |= {("run-again", node) for node in (ahead - before) & ran}
            found |= {*self._lost(self._old, before - gone, ran - gone, after)}
            found |= {*self._undeclared(self._old, before & ahead)}
            found |= {*self._passed_by(self._old, due.all - done)}
        for kind, subject in found:
            add(kind, subject)

    def _stuck(
        self, ahead: set[str], done: set[str], passed: set[str], known: Iterable[str]
    ) -> Iterator[str]:
        """Nodes that will wait for ever at a new join: for nodes that were passed before it was."""
        for starts, end in self._new.joins:
            is_on_the_way = end not in ahead and not (ahead | done).isdisjoint(starts)
            is_new = join_channel(starts, end) not in known
            if is_on_the_way and is_new and not passed.isdisjoint({*starts} - ahead):
                yield end

    def _lost(
        self, old: Shape, before: set[str], ran: set[str], ahead: set[str]
    ) -> Iterator[tuple[str, str]]:
        """Edges to nodes that lay ahead, and now do not."""
        if all(map(self._new.is_declared, ahead)):
            lost = before & self._new.nodes.keys() - ahead
            for start in (before | ran) - lost:
                for end in lost & old.ends(start) - self._new.ends(start):
                    yield "edge-gone", f"{start} → {end}"

    def _undeclared(self, old: Shape, nodes: set[str]) -> Iterator[tuple[str, str]]:
        for node in nodes:
            if old.is_declared(node) != self._new.is_declared(node):
                yield "ways-unknown", node

    def _passed_by(self, old: Shape, run: set[str]) -> Iterator[tuple[str, str]]:
        for start in self._new.nodes.keys() - old.nodes.keys():
            for end in run & self._new.ends(start):
                yield "passed-by", f"{start} → {end}"


def _nodes_ahead(shape: Shape, due: set[str], marks: Marks) -> set[str]:
    """The nodes that are due, or may be later."""
    found, more = set[str](), due
    while more - found:
        found |= more
        more = {end for node in found for end in shape.nodes.get(node) or ()}
        for starts, end in shape.joins:
            if {*starts} <= found | marks.get(join_channel(starts, end), set()):
                more.add(end)
    return found
