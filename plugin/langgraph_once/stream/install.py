"""Which handler LangGraph's streams get, and what that one does about who is not streamed.

Not streamed are who is hidden, and models tagged `nostream`. A whole message of the metadata of its
node tells of neither. So what is hidden is said once, when it is whole, to the deduplicator, which
passes it on to nobody and knows by it what nodes return. What upstream alone leaves out is not
hidden: its tags go with the message.

This is the one place that touches LangGraph. `Pregel.stream` and `astream` look their handler
classes up in the globals of `langgraph.pregel.main` when they run, and test with `isinstance` there
too (measured with langgraph 1.2.24; `test_install` notices when this changes). What is put there
makes our handler for a run of `once(graph)`, and upstream's own for every other, which therefore
behaves as if this package was not installed. `langgraph.pregel._messages` stays as it is:
`push_message` needs its class.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

from langchain_core.messages import BaseMessage, RemoveMessage, ToolMessage
from langchain_core.outputs import LLMResult
from langgraph._internal._config import filter_to_user_tags
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import GraphBubbleUp
from langgraph.pregel import _messages as upstream, main
from langgraph.pregel._messages import StreamMessagesHandlerV2, graph_namespace

from langgraph_once.stream.annotation import SIDE_KEY, Source, note_in
from langgraph_once.stream.attempts import EmittedMessage, Meta, Task, first_message
from langgraph_once.stream.content import Content, as_whole, content_of
from langgraph_once.stream.entries import original_of
from langgraph_once.stream.handler import OnceMessagesHandler, is_node
from langgraph_once.stream.hidden import Hiding
from langgraph_once.stream.messages_within import found_in_input, found_in_update
from langgraph_once.stream.places import TASK_NS_KEY, lineage
from langgraph_once.stream.run import PENDING

# Of what was hidden, and a node may still return; one that is forgotten is shown if it does.
MAX_KNOWN = 256


class HidingMessagesHandler(OnceMessagesHandler):
    """`OnceMessagesHandler` that knows what is not streamed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._hiding = Hiding(self.run.config)
        # Model runs that are not streamed, each with its tags, and whether it is hidden.
        self._suppressed: dict[UUID, tuple[Meta, list[str], bool]] = {}
        # Nodes whose graph is not streamed, each with the ids that it was given.
        self._untold: dict[UUID, tuple[Meta, set[str | None]]] = {}
        self._hidden: deque[EmittedMessage] = deque(maxlen=MAX_KNOWN)
        # What models said that were not streamed because of their tag alone; by task, with tags.
        self._no_stream: deque[tuple[str, Content, str, list[str]]] = deque(maxlen=MAX_KNOWN)

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> Any:
        """Note a model run, and whether it is hidden."""
        super().on_chat_model_start(*args, **kwargs)
        run_id, name, metadata = kwargs["run_id"], kwargs.get("name"), kwargs.get("metadata") or {}
        tags: list[str] = kwargs.get("tags") or []
        if TASK_NS_KEY in metadata and (self._hiding or TAG_NOSTREAM in tags):
            meta = graph_namespace(metadata), metadata
            is_hidden = self._hiding.hides_run(*meta, tags, name)
            if is_hidden:
                self._ended(run_id)  # for all that is streamed
            if is_hidden or TAG_NOSTREAM in tags:
                self._suppressed[run_id] = meta, tags, is_hidden
        if name and (run := self._models.get(run_id)) is not None:
            note_in(run.meta[1])["name"] = name

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **told: Any) -> Any:
        """Send what a model has said."""
        self._end_suppressed(run_id, first_message(response))
        super().on_llm_end(response, run_id=run_id, **told)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> Any:
        """Forget a model run that failed."""
        # GeneratorExit: the caller stopped reading. Not a failure.
        so_far = told.get("response") if isinstance(error, GeneratorExit) else None
        self._end_suppressed(run_id, so_far and first_message(so_far))
        super().on_llm_error(error, run_id=run_id, **told)

    def _end_suppressed(self, run_id: UUID, message: BaseMessage | None) -> None:
        meta, tags, is_hidden = self._suppressed.pop(run_id, (None, [], False))
        if meta is None or message is None:
            return
        if is_hidden:
            self._send_hidden(meta, message, "model")
        elif message.id:
            told, task = filter_to_user_tags(tags) or [], meta[1][TASK_NS_KEY]
            self._no_stream.append((message.id, content_of(message), task, told))

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **told: Any) -> Any:
        """Note a node, also one whose graph is not streamed."""
        super().on_chain_start(serialized, inputs, run_id=run_id, **told)
        metadata = told.get("metadata") or {}
        if self._hiding and run_id not in self.metadata and is_node(metadata, told.get("name")):
            given = {message.id for _, message in found_in_input(inputs)}
            self._untold[run_id] = (graph_namespace(metadata), metadata), given

    def on_chain_end(self, response: Any, *, run_id: UUID, **told: Any) -> Any:  # type: ignore[override]  # as upstream's
        """Send what a node has returned: hidden, if only its graph is not streamed."""
        meta, given = self._untold.pop(run_id, (None, set()))
        if meta is not None and self._hiding.hides_place(*meta):
            for message in found_in_update(response).messages:
                if message.id not in given:
                    self._send_hidden(meta, message, "node")
        super().on_chain_end(response, run_id=run_id, **told)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> Any:
        """Take back what was hidden in a node that failed, so that no message is its copy."""
        meta, _ = self._untold.pop(run_id, (self.metadata.get(run_id), None))
        if meta is not None and not isinstance(error, GraphBubbleUp):  # which is no failure
            task = self._tasks.get(meta[1][TASK_NS_KEY])
            hidden = list(self._hidden)  # nodes beside it may speak
            inside = [said for said in hidden if task.ns in lineage(said.task)]
            self._take_back(task, inside, meta[1])
        super().on_chain_error(error, run_id=run_id, **told)

    def _send(
        self, ns: tuple[str, ...], message: BaseMessage, metadata: dict[str, Any], task: Task
    ) -> None:
        if not isinstance(message, RemoveMessage) and (tags := self._tags_of(message, task.ns)):
            note_in(metadata)["tags"] = tags
        super()._send(ns, message, metadata, task)

    def _tags_of(self, message: BaseMessage, task: str) -> list[str]:
        """The tags of the model run that a message of a task repeats and upstream left out."""
        if not self._no_stream:
            return []
        known = list(self._no_stream)  # others may speak
        for message_id, _, _, tags in known:
            if message_id == message.id:
                return tags
        said = ((tags, content) for _, content, by, tags in known if task in lineage(by))
        return original_of(content_of(message), said, may_lack_thoughts=True) or []

    def _send_hidden(self, meta: Meta, message: BaseMessage, source: Source) -> None:
        message.id = message.id or str(uuid4())  # so that the state has it under this id
        ns, task = meta[0], self._tasks.get(meta[1][TASK_NS_KEY])
        metadata = self._annotate(meta[1], source, task)
        note_in(metadata)["hidden"] = True
        said = EmittedMessage(message.id, ns, task.ns)
        self._tasks.say(said)  # it is known by its id, so no other is taken for its copy
        self._hidden.append(said)
        self.stream((ns, "messages", (as_whole(message), metadata)))


def _for_both(name: str) -> Callable[..., Any]:
    """A method that upstream's handler takes first, and then ours."""
    ours = getattr(HidingMessagesHandler, name)

    def method(self: RecordingMessagesHandler, *args: Any, **kwargs: Any) -> Any:
        # LangChain passes over a handler that fails; ours is to go on then, as it would alone.
        with suppress(Exception):
            getattr(self.stock, name)(*args, **kwargs)
        return ours(self, *args, **kwargs)

    return method


class RecordingMessagesHandler(HidingMessagesHandler):
    """`HidingMessagesHandler` that also sends what upstream's handler would send in its place.

    One handler, as LangChain asks several in no certain order: upstream's must be the first, which
    names what a node returns without an id. So the state is the one of LangGraph alone.

    Attributes:
        stock: Upstream's handler. What it sends bears `SIDE_KEY`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stock = upstream.StreamMessagesHandler(self._send_stock, *args[1:], **kwargs)

    def _send_stock(self, chunk: Any) -> None:
        ns, mode, (message, metadata) = chunk
        self.stream((ns, mode, (message, {**metadata, SIDE_KEY: "stock"})))

    on_chat_model_start = _for_both("on_chat_model_start")
    on_llm_new_token = _for_both("on_llm_new_token")
    on_llm_end = _for_both("on_llm_end")
    on_llm_error = _for_both("on_llm_error")
    on_chain_start = _for_both("on_chain_start")
    on_chain_end = _for_both("on_chain_end")
    on_chain_error = _for_both("on_chain_error")
    _emit = _for_both("_emit")


class OnceMessagesHandlerV2(HidingMessagesHandler, StreamMessagesHandlerV2):
    """`StreamMessagesHandlerV2` for a graph that is wrapped by `once`: the events of v3."""

    def on_llm_new_token(self, token: str, **_: Any) -> Any:  # type: ignore[override]  # takes all
        """Nothing: events say the same, as upstream explains."""

    def _send(
        self, ns: tuple[str, ...], message: BaseMessage, metadata: dict[str, Any], task: Task
    ) -> None:
        # As upstream: in v3 a tool's result belongs to the state and the tools channel.
        if not isinstance(message, ToolMessage):
            super()._send(ns, message, metadata, task)

    def on_stream_event(self, event: Any, *, run_id: UUID, **_: Any) -> Any:
        """Send an event of a model's stream."""
        run = self._models.get(run_id)
        if run is None:
            return
        ns, metadata = run.meta
        if event.get("event") == "message-start":
            metadata["run_id"] = run.run_id
            self._begin_to_speak(run, event.get("id"))
        self.stream((ns, "messages", (event, metadata)))


HandlerMeta: Any = type(upstream.StreamMessagesHandler)


class _Switch(HandlerMeta):  # type: ignore[misc]  # the metaclass upstream's class happens to have
    """Makes our handler or upstream's; to `isinstance` it is upstream's class."""

    plain: type
    ours: type
    recording: type

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805  # a metaclass
        run = PENDING.get()
        if run is None:
            return cls.plain(*args, **kwargs)
        return (cls.recording if run.is_recorded else cls.ours)(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:  # noqa: N805  # a metaclass
        return isinstance(instance, cls.plain)


def _switch(plain: type, ours: type, recording: type) -> Any:
    """A class that stands for `plain`."""
    made = {"plain": plain, "ours": ours, "recording": recording}
    return _Switch(plain.__name__, (plain,), made)


MessagesHandlerSwitch = _switch(
    upstream.StreamMessagesHandler, HidingMessagesHandler, RecordingMessagesHandler
)
MessagesHandlerV2Switch = _switch(  # nobody records v3
    upstream.StreamMessagesHandlerV2, OnceMessagesHandlerV2, OnceMessagesHandlerV2
)


def install() -> None:
    """Put the switches in place; doing so again changes nothing."""
    globals_of_main: Any = main
    globals_of_main.StreamMessagesHandler = MessagesHandlerSwitch
    globals_of_main.StreamMessagesHandlerV2 = MessagesHandlerV2Switch
