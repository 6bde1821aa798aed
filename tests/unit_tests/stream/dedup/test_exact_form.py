"""What the exact form writes beside a part says what was decided."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage

from langgraph_once.stream import Part
from langgraph_once.stream.forms import Because, ExactForm, Kind, Operation, operation_of

GONE = RemoveMessage(id="m")
WHOLE = AIMessage("Yes.", id="m")
END = AIMessageChunk(content="s.", id="m", chunk_position="last")


def sent(kind: Kind, because: Because, message: Any, source: str, **flags: bool) -> Operation:
    note = {"v": 1, "source": source, "attempt": 1, **flags}
    return Operation(kind, because, Part((), "messages", message, {"once": {**note, "at": ""}}))


@pytest.mark.parametrize(
    "decided",
    [
        sent(Kind.BEGIN, Because.NEW, WHOLE, "node"),
        sent(Kind.APPEND, Because.NEXT, END, "model"),
        sent(Kind.APPEND, Because.REST, END, "node"),
        sent(Kind.DISCARD, Because.NOT_KEPT, END, "model", draft=True),
        sent(Kind.REMOVE, Because.REMOVED, GONE, "node"),
        sent(Kind.REMOVE, Because.WHITE_SPACE, GONE, "node"),
        sent(Kind.REMOVE, Because.EARLIER_STREAM, GONE, "model"),
        sent(Kind.REMOVE, Because.EARLIER_STREAM, GONE, "node"),
        sent(Kind.REMOVE, Because.EARLIER_ATTEMPT, GONE, "retry"),
    ],
    ids=lambda decided: f"{decided.kind}-{decided.because}",
)
def test_a_decision_is_read_back_also_behind_a_wire(decided: Operation) -> None:
    (part,) = ExactForm().sent([decided])
    assert operation_of(part)[:2] == decided[:2]
    assert operation_of(part._replace(meta=json.loads(json.dumps(part.meta))))[:2] == decided[:2]


def test_a_removal_without_an_annotation_is_one_unless_a_model_spoke() -> None:
    plain = Part((), "messages", GONE, {})
    assert operation_of(plain).because is Because.REMOVED
    by_model = plain._replace(meta={"ls_model_type": "chat"})
    assert operation_of(by_model).because is Because.EARLIER_STREAM
