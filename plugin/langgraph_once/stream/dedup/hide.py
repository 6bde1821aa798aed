"""Who is hidden: the predicate of `DedupConfig(hide=…)`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Self, cast

from langgraph_once.config import DedupConfig, HideConfig
from langgraph_once.stream.part.annotation import annotation_of
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import NS_SEP, TASK_NS_KEY
from langgraph_once.stream.part.where import NODE_KEY, Pattern, node_names, where_of

__all__ = ["Hiding"]

MODEL_NAME_KEY = "ls_model_name"
COLLECTED = (list, tuple)


class Hiding:
    """Whose messages are hidden.

    Args:
        hide: The names, patterns and tags.
    """

    def __init__(self, hide: HideConfig) -> None:
        self._nodes = frozenset(hide.nodes)
        self._places = Pattern(hide.namespaces) if hide.namespaces else None
        self._tags = frozenset(hide.tags)
        self._models = frozenset(hide.models)

    @classmethod
    def of(cls, config: DedupConfig) -> Self | None:
        """What a configuration hides; None if that is nothing."""
        hide = cast("HideConfig", config.hide)
        return None if hide == HideConfig() else cls(hide)

    def hides(self, part: Part) -> bool:
        """Whether a part is said by who is hidden."""
        note: Mapping[str, Any] = annotation_of(part.meta) or {}
        tags = [*_texts(part.meta.get("tags")), *note.get("tags", ())]
        return self.hides_run(part.ns, part.meta, tags, note.get("name"))

    def hides_run(
        self,
        ns: tuple[str, ...],
        metadata: Mapping[str, Any],
        tags: Collection[str] = (),
        name: str | None = None,
    ) -> bool:
        """Whether a model run, or a node, of these metadata is hidden.

        Args:
            ns: The graph that it is in.
            metadata: Its metadata.
            tags: Its tags.
            name: The name that the run was given.
        """
        if not self._tags.isdisjoint(tags):
            return True
        if not self._models.isdisjoint(_texts((name, metadata.get(MODEL_NAME_KEY)))):
            return True
        return self.hides_place(ns, metadata)

    def hides_place(self, ns: tuple[str, ...], metadata: Mapping[str, Any]) -> bool:
        """Whether all that is said there is hidden."""
        task, node = (metadata.get(key) for key in (TASK_NS_KEY, NODE_KEY))
        where = {TASK_NS_KEY: str(task or ""), NODE_KEY: str(node or "")}
        if self._places is not None and self._places.matches(where_of(ns, where)):
            return True
        around = node_names((*ns, *where[TASK_NS_KEY].split(NS_SEP)))
        return not self._nodes.isdisjoint((*around, where[NODE_KEY]))


def _texts(given: Any) -> list[str]:
    """Those of what is given: metadata are the user's too, who may use any name for anything."""
    return [each for each in given if isinstance(each, str)] if isinstance(given, COLLECTED) else []
