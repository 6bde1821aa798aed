"""The one place that touches LangGraph: which handler its streams get.

`Pregel.stream` and `astream` look their handler classes up in the globals of
`langgraph.pregel.main` when they run, and test with `isinstance` there too (measured with
langgraph 1.2.24; `test_install` notices when this changes). What is put there makes our
handler for a run of `once(graph)`, and upstream's own for every other, which therefore behaves
as if this package was not installed. `langgraph.pregel._messages` stays as it is:
`push_message` needs its class.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.pregel import _messages as upstream
from langgraph.pregel import main
from langgraph.pregel._messages import StreamMessagesHandlerV2

from langgraph_once.stream.running.attempts import Task
from langgraph_once.stream.running.handler_hiding import HidingMessagesHandler
from langgraph_once.stream.running.handler_recording import RecordingMessagesHandler
from langgraph_once.stream.running.run import PENDING


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
# Nobody records v3.
MessagesHandlerV2Switch = _switch(
    upstream.StreamMessagesHandlerV2, OnceMessagesHandlerV2, OnceMessagesHandlerV2
)


def install() -> None:
    """Put the switches in place; doing so again changes nothing."""
    globals_of_main: Any = main
    globals_of_main.StreamMessagesHandler = MessagesHandlerSwitch
    globals_of_main.StreamMessagesHandlerV2 = MessagesHandlerV2Switch
