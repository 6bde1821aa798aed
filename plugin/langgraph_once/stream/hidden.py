"""Who is hidden, and their messages, which are kept from the consumer.

A second state machine, with a ledger of its own, takes them and passes nothing on. So copies,
edits and removals of a hidden message are found by the same rules as those of any other, and the
ledger of the consumer, by which states are cut, never knows of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import Any, cast

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig, HideConfig
from langgraph_once.stream.annotation import annotation_of
from langgraph_once.stream.forms import DedupStats, ExactForm
from langgraph_once.stream.identity import COPIES_NOTHING, MessageFact
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.lifecycle import Lifecycle
from langgraph_once.stream.places import (
    NODE_KEY,
    NS_SEP,
    TASK_NS_KEY,
    Pattern,
    lineage,
    node_names,
    where_of,
)
from langgraph_once.stream.shapes import Part

MODEL_NAME_KEY = "ls_model_name"


class Hiding:
    """Whose messages a configuration hides; false if it hides none."""

    def __init__(self, config: DedupConfig) -> None:
        hide = cast("HideConfig", config.hide)
        self._is_any = hide != HideConfig()
        self._nodes = frozenset(hide.nodes)
        self._places = Pattern(hide.namespaces)
        self._tags = frozenset(hide.tags)
        self._models = frozenset(hide.models)

    def __bool__(self) -> bool:
        return self._is_any

    def hides(self, part: Part) -> bool:
        """Whether a part is said by who is hidden."""
        note: Mapping[str, Any] = annotation_of(part.meta) or {}
        tags = [*_texts(part.meta.get("tags")), *note.get("tags", ())]
        return self.hides_run(part.ns, part.meta, tags, note.get("name"))

    def hides_run(
        self,
        ns: tuple[str, ...],
        metadata: Mapping[str, Any],
        tags: Collection[str],
        name: str | None,
    ) -> bool:
        """Whether a model run in the graph `ns`, of this name, metadata and tags, is hidden."""
        models = _texts((name, metadata.get(MODEL_NAME_KEY)))
        if not (self._tags.isdisjoint(tags) and self._models.isdisjoint(models)):
            return True
        return self.hides_place(ns, metadata)

    def hides_place(self, ns: tuple[str, ...], metadata: Mapping[str, Any]) -> bool:
        """Whether all that is said there is hidden."""
        task, node = (str(metadata.get(key) or "") for key in (TASK_NS_KEY, NODE_KEY))
        if not self._nodes.isdisjoint((*node_names((*ns, *task.split(NS_SEP))), node)):
            return True
        return self._places.matches(where_of(ns, {TASK_NS_KEY: task, NODE_KEY: node}))


def _texts(given: Any) -> list[str]:
    """Those of what is given: metadata are the user's too, who may use any name for anything."""
    items = given if isinstance(given, list | tuple) else ()
    return [each for each in items if isinstance(each, str)]


class HiddenMessages(Lifecycle):
    """Decides which messages are hidden, and knows those that were.

    A message is hidden by who says it first, wherever it comes again. One that the consumer has
    already is not: what becomes of it is told, whoever does it.

    Args:
        hiding: Who is hidden.
        ledger: What the consumer has, with the ledger of what is hidden from it.
        config: What counts as a repetition.
    """

    def __init__(self, hiding: Hiding, ledger: Ledger, config: DedupConfig) -> None:
        if ledger.hidden is None:
            ledger.hidden = Ledger()
        super().__init__(ledger.hidden, config, DedupStats(), ExactForm())
        self.awaits_ids = False  # nobody is sent it, and no state is read here
        self._hiding = hiding
        self._delivered = ledger

    def consume(self, part: Part) -> bool:
        """Whether a part is hidden, which is noted."""
        message = part.data
        if not isinstance(message, BaseMessage) or not message.id:
            return self._hiding.hides(part)
        fact = MessageFact(part)
        if fact.note is not None and fact.is_streamed:  # another is to read it after this
            fact.note["streamed"] = True
        if fact.is_removal:
            return self._hides_removal(fact)
        is_hidden = self._hides_chunk if fact.is_chunk else self._hides_whole
        if not (fact.says("hidden") or is_hidden(fact)):
            return False
        self._note(part)
        return True

    def _note(self, part: Part) -> None:
        deque(self.feed(part), maxlen=0)

    def _hides_chunk(self, fact: MessageFact) -> bool:
        return self._hiding.hides(fact.part) or (fact.says("repairs") and self._knows(fact))

    def _hides_whole(self, fact: MessageFact) -> bool:
        if self.identity.of_whole(fact) is not None:
            return True
        known = self._delivered.entries(fact.id)
        if any(fact.follows(entry, self._delivered.epoch) for entry in known):
            return False
        if self._hiding.hides(fact.part):
            return not fact.says("given")
        if fact.source in COPIES_NOTHING:
            return False
        space = self.identity.space
        if self._delivered.match_copy(fact.task, fact.content, space=space) is not None:
            return False
        return self.identity.of_copy(fact) is not None or self._answers(fact.message)

    def _answers(self, message: BaseMessage) -> bool:
        """Whether it is the result of a tool that a hidden message calls."""
        return isinstance(message, ToolMessage) and any(
            call_id == message.tool_call_id
            for entry in self._ledger.known()
            for call_id, *_ in entry.content.calls
        )

    def _hides_removal(self, fact: MessageFact) -> bool:
        if fact.id == REMOVE_ALL_MESSAGES:
            return False  # what is kept comes again, and what was hidden stays so
        is_hidden = self._knows(fact)
        if fact.source == "retry":
            for entry in self._ledger.entries(fact.id):
                for task in lineage(entry.task):  # it stands for no copy, and stays hidden
                    self._ledger.claim(entry, task)
        elif is_hidden:
            self._note(fact.part)
        elif fact.source == "resume":
            return self._hiding.hides(fact.part)
        return is_hidden and not any(e.task for e in self._delivered.entries(fact.id))

    def _knows(self, fact: MessageFact) -> bool:
        return any(map(self._ledger.entries, fact.ids))
