"""Threads played in several streams, by one processor or by one process for each."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from graphs.models import ScriptedChatModel
from langgraph_once import once
from langgraph_once.events import ChannelStreamingProcessor, Event, TokenStreamingConfig, Transcript

ASKED: Any = {"messages": [HumanMessage("Please.", id="asked")]}


def call(name: str, call_id: str = "c1", **args: Any) -> Any:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def answers(*turns: AIMessage | str, **how: Any) -> ScriptedChatModel:
    """A model that says these in turn."""
    left = [turn if isinstance(turn, AIMessage) else AIMessage(turn) for turn in turns]
    return ScriptedChatModel(script=lambda _: left.pop(0), **how)


def said(model: ScriptedChatModel) -> Callable[[Any], Any]:
    """A node that returns what a model says."""
    return lambda state: {"messages": [model.invoke(state["messages"])]}


def chained(*nodes: Any, is_inside: bool = False, **how: Any) -> Any:
    """A graph of nodes one after the other."""
    builder: Any = StateGraph(MessagesState)
    before: str = START
    for at, node in enumerate(nodes):
        builder.add_node(f"n{at}", node, **how)
        builder.add_edge(before, f"n{at}")
        before = f"n{at}"
    return builder.compile(checkpointer=None if is_inside else InMemorySaver())


def tokens(**how: Any) -> Callable[[], ChannelStreamingProcessor]:
    """Makes processors that watch tokens."""
    return lambda: ChannelStreamingProcessor(token_streaming=TokenStreamingConfig(**how))


def play(
    graph: Any,
    *inputs: Any,
    make: Callable[[], ChannelStreamingProcessor] | None = None,
    is_apart: bool = False,
    wrap: Callable[[Any], Any] = once,
    thread: Any = None,
) -> Iterator[Event]:
    """The events of streams of one thread.

    Args:
        graph: The graph.
        inputs: What each stream begins with.
        make: Makes the processor.
        is_apart: Whether each stream is read by a processor of its own, as in another process.
        wrap: Makes the graph that is streamed.
        thread: The config of the thread.
    """
    make = make or tokens()
    wrapped, processor = wrap(graph), make()
    config: Any = thread or {"configurable": {"thread_id": uuid.uuid4().hex}}
    for asked in inputs:
        if is_apart:
            processor = make()
        yield from processor.stream_sync(wrapped, asked, config)


def shown(events: Iterable[Event]) -> list[str]:
    return [str(message.text) for message in Transcript(events).messages()]


def told_calls(transcript: Transcript) -> list[Any]:
    """The calls of a transcript: name, arguments, results."""
    return [
        (made.name, json.loads(made.args or "null"), [told.content for told in made.results])
        for made in transcript.tool_calls()
    ]
