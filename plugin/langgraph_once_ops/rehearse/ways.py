"""Which nodes lie ahead of a thread, and which do not any more?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from langgraph.constants import START

from langgraph_once_ops.due import Due, join_starts
from langgraph_once_ops.rehearse.heads import Head
from langgraph_once_ops.rehearse.report import Add
from langgraph_once_ops.rehearse.shape import Shape, join_channel

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
