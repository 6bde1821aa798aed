"""The fidelity table, last part: what LangChain and LangGraph put into a state."""

from __future__ import annotations

import operator
from datetime import UTC, datetime, timedelta
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
)
from langchain_core.outputs.run_info import RunInfo
from langchain_core.prompt_values import ChatPromptValue, ImagePromptValue, StringPromptValue
from langgraph.channels import (
    AnyValue,
    BinaryOperatorAggregate,
    EphemeralValue,
    LastValue,
    NamedBarrierValue,
    Topic,
)
from langgraph.channels.last_value import LastValueAfterFinish
from langgraph.channels.named_barrier_value import NamedBarrierValueAfterFinish
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.store.base import GetOp, Item, SearchItem
from langgraph.types import (
    Command,
    Interrupt,
    Overwrite,
    PregelTask,
    RetryPolicy,
    Send,
    StateSnapshot,
    TimeoutPolicy,
)

from tests.unit_tests.serde.fidelity.kinds import Colour, Plain
from tests.unit_tests.serde.fidelity.model_kinds import Person

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
USAGE: Any = {
    "input_tokens": 3,
    "output_tokens": 2,
    "total_tokens": 5,
    "input_token_details": {"cache_read": 1},
}
CALL: Any = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
BLOCKS: Any = [
    {"type": "text", "text": "look", "annotations": []},
    {"type": "image", "url": "https://example.org/i.png"},
    "and text",
]
PIECE: Any = {"name": "f", "args": '{"a', "id": "c1", "index": 0, "type": "tool_call_chunk"}


def _checkpoint(channel: Any, *updates: list[Any]) -> Any:
    channel.key = "c"
    for update in updates:
        channel.update(update)
    return channel.checkpoint()


def _finished(channel: Any, *updates: list[Any]) -> Any:
    channel.key = "c"
    for update in updates:
        channel.update(update)
    channel.finish()
    return channel.checkpoint()


SNAPSHOT = StateSnapshot(
    values={"messages": [HumanMessage("hi", id="1")]},
    next=("a",),
    config={"configurable": {"thread_id": "t"}},
    metadata={"source": "loop", "step": 1, "parents": {}},
    created_at="2025-03-01T12:00:00+00:00",
    parent_config=None,
    tasks=(PregelTask("1", "a", ("__pregel_pull", "a"), ValueError("no"), (Interrupt("?"),)),),
    interrupts=(),
)

ROWS: dict[str, dict[str, Any]] = {
    "Messages": {
        "HumanMessage": HumanMessage("hi", id="1"),
        "HumanMessage with blocks": HumanMessage(BLOCKS),
        "HumanMessage with a field of its own": HumanMessage("hi", mood=("calm",)),
        "SystemMessage": SystemMessage("be nice", additional_kwargs={"cache": True}),
        "AIMessage": AIMessage("hi", id="2", name="bot", response_metadata={"model": "m"}),
        "AIMessage with tool calls": AIMessage("", tool_calls=[CALL], usage_metadata=USAGE),
        "AIMessage with invalid tool calls": AIMessage(
            "",
            invalid_tool_calls=[{**CALL, "args": "{", "error": "e", "type": "invalid_tool_call"}],
        ),
        "AIMessage with extras in a block": AIMessage(
            [{"type": "text", "text": "x", "extras": {"signature": (1, 2)}}]
        ),
        "ToolMessage": ToolMessage("ok", tool_call_id="c1", status="error"),
        "ToolMessage with any artifact": ToolMessage(
            "ok", tool_call_id="c1", artifact={"raw": (1, {Colour.RED}), "when": NOW}
        ),
        "ToolMessage with a model as artifact": ToolMessage(
            "ok", tool_call_id="c1", artifact=Person(name="x")
        ),
        "ChatMessage": ChatMessage(content="x", role="critic"),
        "FunctionMessage": FunctionMessage(content="x", name="f"),
        "RemoveMessage": RemoveMessage("4"),
        "AIMessageChunk": AIMessageChunk(
            content="y", tool_call_chunks=[PIECE], usage_metadata=USAGE, chunk_position="last"
        ),
        "HumanMessageChunk": HumanMessageChunk(content="y"),
        "SystemMessageChunk": SystemMessageChunk(content="y"),
        "ToolMessageChunk": ToolMessageChunk(content="y", tool_call_id="c1", artifact=(1,)),
        "ChatMessageChunk": ChatMessageChunk(content="y", role="critic"),
        "FunctionMessageChunk": FunctionMessageChunk(content="y", name="f"),
        "sum of chunks": AIMessageChunk(content="a", id="1") + AIMessageChunk(content="b"),
        "history": [HumanMessage("hi"), AIMessage("", tool_calls=[CALL]), AIMessage("done")],
    },
    "LangChain": {
        "Document": Document("page", id="d", metadata={"n": (1, 2)}),
        "StringPromptValue": StringPromptValue(text="x"),
        "ChatPromptValue": ChatPromptValue(messages=[HumanMessage("x")]),
        "ImagePromptValue": ImagePromptValue(image_url={"url": "u"}),
        "Generation": Generation(text="x", generation_info={"t": (1,)}),
        "GenerationChunk": GenerationChunk(text="x"),
        "ChatGeneration": ChatGeneration(message=AIMessage("x", usage_metadata=USAGE)),
        "ChatGenerationChunk": ChatGenerationChunk(message=AIMessageChunk(content="x")),
        "ChatResult": ChatResult(generations=[ChatGeneration(message=AIMessage("x"))]),
        "LLMResult": LLMResult(
            generations=[[ChatGeneration(message=AIMessage("x"))]],
            run=[RunInfo(run_id="00000000-0000-0000-0000-000000000007")],  # type: ignore[arg-type]  # text is validated to a UUID
        ),
        "AgentAction": AgentAction("t", {"a": 1}, "log"),
        "AgentFinish": AgentFinish({"out": (1,)}, "log"),
    },
    "LangGraph": {
        "Send": Send("node", {"messages": [HumanMessage("x")]}),
        "Send with timeout": Send("node", (1,), timeout=TimeoutPolicy(idle_timeout=3)),
        "Command": Command(goto=[Send("a", 1), "b"], update={"x": (1,)}, resume={"i": 1}),
        "Command to the parent": Command(graph=Command.PARENT, update=[("k", {1})]),
        "Interrupt": Interrupt(("ask", Plain("x")), id="i"),
        "Interrupt with schema": Interrupt("ask", response_schema={"type": "string"}),
        "Overwrite": Overwrite([1, (2,)]),
        "_DeltaSnapshot": _DeltaSnapshot([HumanMessage("x")]),
        "StateSnapshot": SNAPSHOT,
        "PregelTask": PregelTask("1", "a", ("p", 1, ("q",)), state=SNAPSHOT),
        "TimeoutPolicy": TimeoutPolicy(run_timeout=timedelta(seconds=3)),
        "RetryPolicy": RetryPolicy(retry_on=(ValueError, KeyError)),
        "Item": Item(
            value={"a": (1,)}, key="k", namespace=("n", "m"), created_at=NOW, updated_at=NOW
        ),
        "SearchItem": SearchItem(("n",), "k", {"a": {1}}, NOW, NOW, 0.5),
        "GetOp": GetOp(("n",), "k"),
        "GraphInterrupt": GraphInterrupt([Interrupt("ask", id="i")]),
        "ParentCommand": ParentCommand(Command(goto="a")),
    },
    "Channels": {
        "LastValue": _checkpoint(LastValue(Any), [(1, {Colour.RED})]),
        "LastValueAfterFinish": _finished(LastValueAfterFinish(Any), [{"a": (1,)}]),
        "AnyValue": _checkpoint(AnyValue(Any), [{1}, {1}]),
        "EphemeralValue": _checkpoint(EphemeralValue(Any), [Plain("x")]),
        "BinaryOperatorAggregate": _checkpoint(
            BinaryOperatorAggregate(tuple, operator.add), [(1,), (2,)]
        ),
        "Topic": _checkpoint(Topic(Send), [Send("a", (1,)), Send("b", 2)]),
        "Topic that accumulates": _checkpoint(Topic(Any, accumulate=True), [(1,)], [{2}]),
        "NamedBarrierValue": _checkpoint(NamedBarrierValue(str, {"a", "b"}), ["a"]),
        "NamedBarrierValueAfterFinish": _finished(
            NamedBarrierValueAfterFinish(str, {"a", "b"}), ["a", "b"]
        ),
        "DeltaChannel": [_DeltaSnapshot({"a": {1}}), _DeltaSnapshot(None)],
    },
}
