"""How a retried answer is decided: `python -m demo.decides`.

A model loses its connection in the middle of its first answer, and its node is tried again. Printed
are the facts that the deduplicator is given, the operations that it makes of each, and what the
reader is sent, once for a reader that announced itself and once for any other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

from graphs.models import SCRIPTED, chat_model
from langgraph_once import DedupConfig, Deduplicator, once
from langgraph_once.stream import Part, annotation_of
from langgraph_once.stream.forms import Operation

__all__ = ["told"]

QUESTION: Any = {"messages": [("user", "To be?")]}
READERS: dict[str, DedupConfig] = {
    "A reader that announced itself: the exact form": DedupConfig(form="exact"),
    "Any other reader: the stock form": DedupConfig(form="stock"),
}


def told() -> Iterator[str]:
    """The lines, with names in place of random ids."""
    for title, config in READERS.items():
        names: dict[str, str] = {}
        decided: list[tuple[Part, list[Operation]]] = []
        with _listening(decided):
            chunks: Any = list(once(_graph(), config).stream(QUESTION, stream_mode="messages"))
        yield from ("", title, "")
        for part, operations in decided:
            if part.mode == "messages":
                what = ", ".join(f"{op.kind} ({op.because})" for op in operations) or "nothing"
                yield f"  {_fact(part, names):<52} -> {what}"
        yield from ("", "  is sent:", *(f"  {_shown(message, names)}" for message, _ in chunks))


def _graph() -> Any:
    failures = iter([True])
    model = chat_model(
        SCRIPTED,
        lambda _: AIMessage("To be, or not to be."),
        breaks_off=lambda _: next(failures, False),
    )

    def answer(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    again = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ConnectionError)
    builder = StateGraph(MessagesState).add_node("answer", answer, retry_policy=again)
    return builder.add_edge(START, "answer").compile()


@contextmanager
def _listening(decided: list[tuple[Part, list[Operation]]]) -> Iterator[None]:
    """Note each decision. The short way of a token, which makes no operation, is closed."""
    decide, passes = Deduplicator.decide, Deduplicator.passes

    def heard(self: Deduplicator, part: Part) -> Iterator[Operation]:
        operations = list(decide(self, part))
        decided.append((part, operations))
        return iter(operations)

    Deduplicator.decide = heard  # type: ignore[method-assign]  # put back below
    Deduplicator.passes = lambda *_: False  # type: ignore[method-assign]  # as well
    try:
        yield
    finally:
        Deduplicator.decide, Deduplicator.passes = decide, passes  # type: ignore[method-assign]


def _fact(part: Part, names: dict[str, str]) -> str:
    note: Any = annotation_of(part.meta) or {}
    return f"{_shown(part.data, names)}, from {note.get('source')} {note.get('attempt')}"


def _shown(message: Any, names: dict[str, str]) -> str:
    name = names.setdefault(message.id, "ABCDEF"[len(names)])
    if isinstance(message, RemoveMessage):
        return f"removal of {name}"
    kind = "whole" if type(message) is AIMessage else "chunk"
    end = ", last" if getattr(message, "chunk_position", None) == "last" else ""
    return f"{kind} {name} {message.text!r}{end}"


if __name__ == "__main__":
    sys.stdout.write("\n".join(told()).strip("\n") + "\n")
