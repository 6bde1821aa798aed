"""What a client of protocol v3 shows that keeps a list of messages by id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from langgraph_once.stream.readers import SERVED_KEY

SERVED: Any = {"metadata": {SERVED_KEY: "0"}}
"""The config of a run of a server."""


class Screen:
    """Folds as `@langchain/react` 1.1 does: see tests/clients/javascript/README.md.

    Attributes:
        texts: The messages, by id.
        seen: What it showed after each event.
        state: What the last state says.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.seen: list[list[str]] = []
        self.state: list[str] = []
        self._speaks: dict[Any, str] = {}
        self._in_state: set[str] = set()

    @property
    def said(self) -> list[str]:
        """What it shows, but for empty messages."""
        return [text for text in self.texts.values() if text]

    def show(self, event: Any) -> None:
        """Fold one event."""
        params = event["params"]
        if event["method"] == "values" and not params["namespace"]:
            self._fold_state(params["data"])
        elif event["method"] == "messages" and isinstance(params["data"][0], Mapping):
            self._fold_event(params, params["data"][0])
        self.seen.append(self.said)

    def _fold_state(self, state: Any) -> None:
        listed = state.get("messages") if isinstance(state, Mapping) else None
        messages = listed if isinstance(listed, list) else []
        answers = [m for m in messages if isinstance(m, BaseMessage) and m.type == "ai"]
        told = {str(m.id): self.texts.get(str(m.id), str(m.text)) for m in answers}
        left = {k: text for k, text in self.texts.items() if k not in {*told, *self._in_state}}
        self.texts, self._in_state = {**told, **left}, set(told)
        self.state = [str(m.text) for m in answers if m.text]

    def _fold_event(self, params: Any, event: Any) -> None:
        place = *params["namespace"], params.get("node")
        if event["event"] == "message-start":
            self._speaks[place] = event["id"]
            self.texts[event["id"]] = ""
        elif event["event"] == "message-finish":
            self._speaks.pop(place, None)
        elif event["event"] == "content-block-delta" and place in self._speaks:
            self.texts[self._speaks[place]] += event["delta"].get("text", "")
