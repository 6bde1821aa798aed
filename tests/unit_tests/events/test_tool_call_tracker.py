"""`ToolCallTracker`: the calls that events tell of, over any number of streams."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from langgraph_once.events import ChannelStreamingProcessor, TokenStreamingConfig, ToolCallTracker
from langgraph_once.stream import Part
from tests.unit_tests.events.threads import ASKED, answers, call, chained, play, said

META: Any = {"langgraph_checkpoint_ns": "model:1", "langgraph_node": "model"}


def fragment(args: str, index: int = 0, **how: Any) -> Part:
    piece = tool_call_chunk(args=args, index=index, **{"id": None, "name": None, **how})
    return Part((), "messages", AIMessageChunk(content="", id="m1", tool_call_chunks=[piece]), META)


def test_calls_in_progress_are_found_by_their_message_and_index() -> None:
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    tracker = ToolCallTracker()
    for part in (
        fragment('{"q": "os', id="c1", name="look"),
        fragment('{"to": "k', 1, id="c2", name="send"),
        fragment('lo"}'),
    ):
        for event in processor.feed(part):
            tracker.apply(event)
    assert {key: made.args for key, made in tracker.in_progress.items()} == {
        ("m1", 0): '{"q": "oslo"}',
        ("m1", 1): '{"to": "k',
    }
    assert tracker.completed == []
    for event in processor.close():
        tracker.apply(event)
    assert tracker.in_progress == {}
    assert [made.error is None for made in tracker.calls()] == [False, False]


def test_complete_calls_have_parsed_arguments_and_their_results_in_later_streams() -> None:
    @tool
    def ask(q: str) -> str:
        """Ask a human."""
        return f"said {interrupt(q)}"

    asking = answers(AIMessage("", tool_calls=[call("ask", q="May I?")]))
    graph = chained(said(asking), ToolNode([ask]))
    thread: Any = {"configurable": {"thread_id": "1"}}
    tracker = ToolCallTracker(play(graph, ASKED, thread=thread))
    (made,) = tracker.completed
    assert (made.name, made.parsed_args, made.index) == ("ask", {"q": "May I?"}, 0)
    assert tracker.unanswered == [made]
    for event in play(graph, Command(resume="yes"), thread=thread):
        tracker.apply(event)
    assert [told.content for told in made.results] == ["said yes"]
    assert tracker.unanswered == []
    assert tracker.calls(("elsewhere:1",)) == []
