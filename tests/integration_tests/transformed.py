"""A graph whose module exports a v3 transformer, as the server takes it."""

from __future__ import annotations

from typing import Any

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.stream import StreamChannel, StreamTransformer

graph = (
    StateGraph(MessagesState)
    .add_node("says", lambda _: {"messages": "words of the node"})
    .add_edge(START, "says")
    .compile()
)


class Counts(StreamTransformer):
    """Tells on a channel of its own how many messages each state has."""

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._counts: StreamChannel[int] = StreamChannel("counts")

    def init(self) -> dict[str, Any]:
        return {"counts": self._counts}

    def process(self, event: Any) -> bool:
        if event["method"] == "values" and not event["params"]["namespace"]:
            self._counts.push(len(event["params"]["data"]["messages"]))
        return True


def stream_transformers() -> list[Any]:
    return [Counts]
