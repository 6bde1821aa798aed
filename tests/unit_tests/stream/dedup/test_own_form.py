"""A form of its own needs no other file: here one that leaves out the results of tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, Deduplicator, once
from langgraph_once.stream import Part
from langgraph_once.stream.chunk_filter import announced, filtered, plain_filter
from langgraph_once.stream.forms import ExactForm, Kind, Operation


class WithoutTools(ExactForm):
    """Everything but the results of tools, in messages and in the states that are cut."""

    def sent(self, operations: Iterable[Operation]) -> Iterator[Part]:
        """The parts without them."""
        kept = (self._without(each) for each in operations if not self._is_of_a_tool(each))
        return super().sent(kept)

    def _is_of_a_tool(self, operation: Operation) -> bool:
        part = operation.part
        return part is not None and isinstance(part.data, ToolMessage)

    def _without(self, operation: Operation) -> Operation:
        if operation.kind is not Kind.STATE or operation.part is None:
            return operation
        part = operation.part
        return operation._replace(part=part._replace(data=_without_tools(part.data)))


def _without_tools(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_tools(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_without_tools(item) for item in data if not isinstance(item, ToolMessage)]
    return data


CALL: Any = {"name": "look", "args": {}, "id": "call"}
MODES = ["messages", "updates", "values"]


def calls(state: MessagesState) -> Any:
    model = ScriptedChatModel(script=lambda _: AIMessage("Let me look.", tool_calls=[CALL]))
    return {"messages": [model.invoke(state["messages"])]}


def looks(_: MessagesState) -> Any:
    return {"messages": [ToolMessage("a cat", tool_call_id="call", id="result")]}


def answers(state: MessagesState) -> Any:
    said = f"I see {state['messages'][-1].text}."
    return {"messages": [ScriptedChatModel(script=lambda _: AIMessage(said)).invoke("?")]}


def graph() -> Any:
    nodes: Any = [calls, looks, answers]
    return StateGraph(MessagesState).add_sequence(nodes).add_edge(START, "calls")


def messages_in(value: Any) -> Iterator[BaseMessage]:
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from messages_in(item)


@pytest.mark.parametrize("wrap", [once, lambda graph: graph], ids=["once", "dedup"])
@pytest.mark.parametrize("state", ["full", "new_messages"])
def test_a_form_of_its_own_leaves_out_the_results_of_tools(wrap: Any, state: Any) -> None:
    config = DedupConfig(state=state)
    new = plain_filter(MODES, False, "v1", ledger=None, config=config, form=WithoutTools())
    chunks = wrap(graph().compile()).stream({"messages": "What is it?"}, stream_mode=MODES)
    told = list(filtered(nullcontext((chunks, lambda: new, announced()))))
    assert {mode for mode, _ in told} == set(MODES)
    said = [message for _, data in told for message in messages_in(data)]
    assert not any(isinstance(message, ToolMessage) for message in said)
    streamed = [data[0] for mode, data in told if mode == "messages"]
    assert "".join(message.text for message in streamed) == "Let me look.I see a cat."
    [first, *_] = [data for mode, data in told if mode == "values"]
    assert [message.text for message in first["messages"]] == ["What is it?"]


def test_a_deduplicator_sends_what_its_form_says() -> None:
    dedup = Deduplicator(form=WithoutTools())
    given = [
        Part((), "messages", AIMessageChunk(content="Let me look.", id="said")),
        Part((), "messages", ToolMessage("a cat", tool_call_id="call", id="result")),
    ]
    assert [new for part in given for new in dedup.feed(part)] == given[:1]


def test_a_form_sees_each_token_if_it_asks_for_that() -> None:
    class Silent(ExactForm):
        sees_tokens = True

        def sent(self, operations: Iterable[Operation]) -> Iterator[Part]:
            list(operations)
            return iter(())

    dedup = Deduplicator(form=Silent())
    tokens = [AIMessageChunk(content=text, id="said") for text in ("one", " two", " three")]
    meta = {"langgraph_checkpoint_ns": "node:1"}
    assert not [new for each in tokens for new in dedup.feed(Part((), "messages", each, meta))]
