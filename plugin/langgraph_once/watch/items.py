"""The lanes and items of one side, numbered in the order of delivery."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

from langgraph_once.stream.part.where import node_names
from langgraph_once.watch.vocabulary import ItemOpened, Kind, LaneOpened, Mark, Side, ViewEvent

__all__ = ["Items", "Namespace"]

Namespace = tuple[str, ...]


class Items:
    """Numbers lanes and items.

    Args:
        side: Whose they are.
    """

    def __init__(self, side: Side) -> None:
        self.side = side
        self._lanes: dict[Namespace, int] = {}
        self._paths: Counter[tuple[str, ...]] = Counter()
        self._next = itertools.count().__next__

    def open(
        self,
        namespace: Namespace,
        kind: Kind,
        *,
        node: str | None = None,
        name: str = "",
        value: Any = None,
        mark: Mark = "kept",
    ) -> tuple[int, list[ViewEvent]]:
        """Open an item.

        Returns:
            Its number, and what to tell: the lane, if it is new, and the item.
        """
        told: list[ViewEvent] = [*self.lane(()), *self.lane(namespace)]
        item = self._next()
        lane = self._lanes[namespace]
        told.append(
            ItemOpened(
                side=self.side,
                item=item,
                kind=kind,
                lane=lane,
                node=node,
                name=name,
                value=value,
                mark=mark,
            )
        )
        return item, told

    def lane(self, namespace: Namespace) -> Iterator[LaneOpened]:
        """Tell the lane of a graph, unless it is known."""
        if namespace in self._lanes:
            return
        path = node_names(namespace)
        self._paths[path] += 1
        lane = self._lanes[namespace] = len(self._lanes)
        yield LaneOpened(side=self.side, lane=lane, path=path, number=self._paths[path])
