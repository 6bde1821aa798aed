"""What a graph runs that is not streamed: who is hidden, and models tagged `nostream`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph._internal._config import filter_to_user_tags
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import GraphBubbleUp
from langgraph.pregel._messages import graph_namespace
from langgraph.pregel.protocol import StreamChunk

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.hide import Hiding
from langgraph_once.stream.part.annotation import (
    SCHEMA_VERSION,
    Annotation,
    Source,
    annotated,
)
from langgraph_once.stream.part.content import Content, as_whole, content_of
from langgraph_once.stream.part.messages_within import found_in_input, found_in_update
from langgraph_once.stream.part.namespace import TASK_NS_KEY, lineage
from langgraph_once.stream.part.where import NODE_KEY
from langgraph_once.stream.running.attempts import EmittedMessage, Tasks

__all__ = ["SuppressedRuns"]

MAX_KNOWN = 256


class Unsaid(NamedTuple):
    """A model run that is not streamed."""

    ns: tuple[str, ...]
    metadata: dict[str, Any]
    tags: list[str]
    is_hidden: bool


class Node(NamedTuple):
    """A node that runs.

    Attributes:
        is_untold: It is hidden, and nothing that it returns is sent.
        given: The ids of the messages that it was given, which it does not say first.
    """

    ns: tuple[str, ...]
    metadata: dict[str, Any]
    is_untold: bool
    given: frozenset[str | None]


class Quiet(NamedTuple):
    """What a model said that was not streamed because of its tag alone."""

    message_id: str
    content: Content
    task: str
    tags: list[str]


class SuppressedRuns:
    """What a graph runs that is not streamed: who is hidden, and models tagged `nostream`.

    A whole message of the metadata of its node tells of neither. So what is hidden is said once,
    when it is whole, to the deduplicator, which passes it on to nobody and knows by it what
    nodes return. What upstream alone leaves out is not hidden: its tags go with the message.

    Args:
        config: What is hidden.
        tasks: The tasks that are running.
        stream: Takes what is said to the deduplicator.
    """

    def __init__(
        self, config: DedupConfig, tasks: Tasks, stream: Callable[[StreamChunk], None]
    ) -> None:
        self._hiding = Hiding.of(config)
        self._tasks = tasks
        self._stream = stream
        self._models: dict[UUID, Unsaid] = {}
        self._nodes: dict[UUID, Node] = {}
        self._hidden: deque[tuple[EmittedMessage, dict[str, Any]]] = deque(maxlen=MAX_KNOWN)
        self._quiet: deque[Quiet] = deque(maxlen=MAX_KNOWN)

    def starts(self, run: Mapping[str, Any]) -> bool:
        """Note that a model run starts, told as to `on_chat_model_start`; whether it is hidden."""
        tags, metadata, hiding = run.get("tags") or [], run.get("metadata") or {}, self._hiding
        if (hiding is None and TAG_NOSTREAM not in tags) or TASK_NS_KEY not in metadata:
            return False
        ns = graph_namespace(metadata)
        is_hidden = hiding is not None and hiding.hides_run(ns, metadata, tags, run.get("name"))
        if is_hidden or TAG_NOSTREAM in tags:
            self._models[run["run_id"]] = Unsaid(ns, metadata, tags, is_hidden)
        return is_hidden

    def ends(self, run_id: UUID, message: BaseMessage | None) -> None:
        """Say what a model run has said, if it is one of these; None: it failed."""
        run = self._models.pop(run_id, None)
        if run is None or message is None:
            return
        if run.is_hidden:
            self._say(run.ns, run.metadata, message, "model", str(run_id))
        elif message.id:
            tags = filter_to_user_tags(run.tags) or []
            quiet = Quiet(message.id, content_of(message), run.metadata[TASK_NS_KEY], tags)
            self._quiet.append(quiet)

    def enters(self, run_id: UUID, inputs: Any, run: Mapping[str, Any], *, is_told: bool) -> None:
        """Note that something starts, a node perhaps, and whether what it returns is told."""
        metadata = run.get("metadata") or {}
        is_node = TASK_NS_KEY in metadata and run.get("name") == metadata.get(NODE_KEY)
        if self._hiding is not None and is_node:
            ns = graph_namespace(metadata)
            is_untold = not is_told and self._hiding.hides_place(ns, metadata)
            given = frozenset(message.id for _, message in found_in_input(inputs))
            self._nodes[run_id] = Node(ns, metadata, is_untold, given)

    def leaves(self, run_id: UUID, response: Any) -> None:
        """Say what a hidden node has returned, where nobody is told."""
        node = self._nodes.pop(run_id, None)
        if node is not None and node.is_untold:
            for message in found_in_update(response, lambda _: False).messages:
                if message.id not in node.given:
                    self._say(node.ns, node.metadata, message, "node")

    def fails(self, run_id: UUID, error: BaseException) -> None:
        """Say that no other message is a copy of what was said in a node that has failed."""
        node = self._nodes.pop(run_id, None)
        if node is None or isinstance(error, GraphBubbleUp):  # which is no failure
            return
        for said, metadata in list(self._hidden):  # nodes beside it may speak
            if node.metadata[TASK_NS_KEY] in lineage(said.task):
                note = Annotation(v=SCHEMA_VERSION, source="retry", attempt=1)
                gone = RemoveMessage(id=said.id), annotated(metadata, note)
                self._stream((said.ns, "messages", gone))

    def tags_of(self, message: BaseMessage, task: str) -> list[str]:
        """The tags of the model run that a message of a task repeats and upstream left out."""
        if not self._quiet:
            return []
        content = content_of(message)
        for quiet in list(self._quiet):
            is_copy = task in lineage(quiet.task) and content.is_copy_of(quiet.content)
            if quiet.message_id == message.id or is_copy:
                return quiet.tags
        return []

    def _say(
        self,
        ns: tuple[str, ...],
        metadata: dict[str, Any],
        message: BaseMessage,
        source: Source,
        run_id: str = "",
    ) -> None:
        if not message.id:  # so that the state has it under this id
            message.id = str(uuid4())
        note = Annotation(v=SCHEMA_VERSION, source=source, attempt=1, hidden=True)
        if run_id:
            note["run"] = run_id
        said = EmittedMessage(message.id, ns, metadata[TASK_NS_KEY])
        self._tasks.say(said)  # it is known by its id, so no other is taken for its copy
        self._hidden.append((said, metadata))
        self._stream((ns, "messages", (as_whole(message), annotated(metadata, note))))
