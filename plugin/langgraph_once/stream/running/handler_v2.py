"""The handler of the `messages` mode in v3, where models speak in events."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.pregel._messages import StreamMessagesHandlerV2

from langgraph_once.stream.running.attempts import Task
from langgraph_once.stream.running.handler_hiding import HidingMessagesHandler

__all__ = ["OnceMessagesHandlerV2"]


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
