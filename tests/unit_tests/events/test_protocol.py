"""v3 as a source: its runs, their events, and the tool messages that are in its states alone."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.stream import CustomTransformer, UpdatesTransformer

from langgraph_once import once
from langgraph_once.events import (
    BaseEvent,
    ChannelConfig,
    ChannelStreamingProcessor,
    TokenStreamingConfig,
    Transcript,
)
from langgraph_once.events.sources import ProtocolParts
from langgraph_once.events.thread_memory import RecentKeys
from langgraph_once.stream import Part
from tests.corpus.graphs import chain, says
from tests.corpus.models import BrokenConnectionError
from tests.corpus.scenario import ASKED

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

CALL: Any = {"name": "find", "args": {"city": "Paris"}, "id": "c1"}


def result(**how: Any) -> ToolMessage:
    return ToolMessage("Mild.", tool_call_id="c1", name="find", **how)


def watching(**how: Any) -> ChannelStreamingProcessor:
    how.setdefault("token_streaming", TokenStreamingConfig(enabled_namespaces={"**"}))
    return ChannelStreamingProcessor(**how)


def asking() -> Any:
    """A graph that calls a tool, answers it by hand, and answers; the results have no id."""
    call = says(AIMessage("", tool_calls=[CALL]))
    return chain(call, lambda _: {"messages": [result()]}, says("It is mild."))


def types(events: Any) -> list[str]:
    return [event.type for event in events]


@pytest.mark.parametrize("transformers", [[], [UpdatesTransformer]])
@pytest.mark.parametrize("wrap", [once, lambda graph: graph])
def test_a_result_is_told_once_with_and_without_updates(wrap: Any, transformers: Any) -> None:
    run = wrap(asking()).stream_events(ASKED, version="v3", transformers=transformers)
    events = watching().stream_sync(run).collect()
    plain = watching().stream_sync(asking(), ASKED).collect()
    assert types(events) == types(plain)
    (call,) = Transcript(events).tool_calls()
    assert [told.content for told in call.results] == ["Mild."]
    (told,) = [event for event in events if event.type == "tool_result"]
    assert told.node == ("n1" if transformers else None)


def test_results_of_earlier_turns_are_not_told() -> None:
    history = [("user", "?"), AIMessage("", tool_calls=[CALL], id="a"), result()]
    run = asking().stream_events({"messages": history}, version="v3")
    assert types(watching().stream_sync(run)).count("tool_result") == 1


def test_a_result_that_a_graph_hands_to_the_one_around_it_is_told_once() -> None:
    transformers: Any = [UpdatesTransformer]
    run = chain(asking()).stream_events(ASKED, version="v3", transformers=transformers)
    assert types(watching().stream_sync(run)).count("tool_result") == 1


def test_a_processor_that_watches_no_messages_is_told_of_none() -> None:
    run = asking().stream_events(ASKED, version="v3")
    events = watching(token_streaming=None, channels=[ChannelConfig(key="messages")])
    assert set(types(events.stream_sync(run))) == {"channel_value", "stream_ended"}


def test_what_nodes_write_is_told_if_v3_streams_it() -> None:
    def writes(_: Any) -> Any:
        from langgraph.config import get_stream_writer

        get_stream_writer()({"n": 1})

    transformers: Any = [CustomTransformer]
    run = chain(writes).stream_events(ASKED, version="v3", transformers=transformers)
    custom, _ = watching(include=["custom"], token_streaming=None).stream_sync(run)
    assert custom.type == "custom"
    assert custom.data == {"n": 1}


ENDING = ["message_completed", "stream_error", "stream_ended"]


def test_a_run_that_dies_closes_what_it_opened() -> None:
    run = chain(says("One two.", breaks={0: 1})).stream_events(ASKED, version="v3")
    told: list[str] = []
    events = watching().stream_sync(run)
    with pytest.raises(BrokenConnectionError):
        events.on(BaseEvent, lambda event: told.append(event.type)).collect()
    assert told[-3:] == ENDING


async def test_a_run_that_dies_closes_what_it_opened_async() -> None:
    graph = chain(says("One two.", breaks={0: 1}))
    told: list[str] = []
    events = watching().stream(await graph.astream_events(ASKED, version="v3"))
    with pytest.raises(BrokenConnectionError):
        await events.on(BaseEvent, lambda event: told.append(event.type)).collect()
    assert told[-3:] == ENDING


def test_a_consumer_that_leaves_ends_the_run() -> None:
    later = []
    graph = chain(says("One two."), lambda _: later.append(True))
    run = graph.stream_events(ASKED, version="v3")
    events = watching().stream_sync(run)
    next(events)
    events.close()
    _ = run.output  # it would go on
    assert not later


async def test_a_consumer_that_leaves_ends_the_run_async() -> None:
    later = []
    graph = chain(says("One two."), lambda _: later.append(True))
    run = await graph.astream_events(ASKED, version="v3")
    events = watching().stream(run)
    await anext(events)
    await events.aclose()
    await run.output()  # it would go on
    assert not later


def values(*messages: Any, ns: tuple[str, ...] = ()) -> Part:
    return Part(ns, "values", {"messages": list(messages)})


def named(number: int) -> ToolMessage:
    return result(id=f"t{number}")


def test_a_large_state_does_not_outgrow_what_is_remembered() -> None:
    parts = ProtocolParts(max_history=2, is_v3=True)
    old = [named(at) for at in range(5)]
    assert len(list(parts.read(values(*old)))) == 1
    assert len(list(parts.read(values(*old)))) == 1
    said, state = parts.read(values(*old, named(5)))
    assert (said.data.id, state.mode) == ("t5", "values")


def test_messages_without_ids_are_told_once_while_they_are_remembered() -> None:
    parts = ProtocolParts(max_history=1, is_v3=True)
    one, two = result(), result()

    def told(*messages: Any) -> int:
        return len(list(parts.read(Part((), "updates", {"n": {"messages": list(messages)}})))) - 1

    assert [told(one), told(one), told(two), told(one)] == [1, 0, 1, 1]


def test_what_merely_looks_like_a_result_is_none() -> None:
    parts = ProtocolParts(max_history=9, is_v3=True)
    written = {"log": [{"role": "tool", "content": "Mild.", "tool_call_id": "c1"}]}
    assert len(list(parts.read(Part((), "updates", {"n": written})))) == 1


def test_a_stream_whose_first_message_is_an_object_is_not_of_v3() -> None:
    parts = ProtocolParts(max_history=9)
    list(parts.read(Part((), "messages", AIMessage("Hi."))))
    assert len(list(parts.read(values()))) == 1
    assert len(list(parts.read(values(named(1))))) == 1
    assert len(list(parts.read(Part((), "updates", {"n": {"messages": [named(2)]}})))) == 1


def test_a_whole_message_of_v3_does_not_switch_off_reading_messages_from_updates() -> None:
    parts = ProtocolParts(max_history=9, is_v3=True)
    assert len(list(parts.read(Part((), "messages", AIMessage("Hi."))))) == 1
    assert len(list(parts.read(Part((), "updates", {"n": {"messages": [named(2)]}})))) == 2


def test_what_came_before_the_first_model_spoke_was_there_before() -> None:
    parts = ProtocolParts(max_history=9)
    assert len(list(parts.read(values()))) == 1
    assert len(list(parts.read(values(named(1))))) == 1
    start = {"event": "message-start", "id": "m"}
    list(parts.read(Part((), "messages", start, {"run_id": "r"})))
    assert len(list(parts.read(values(named(1))))) == 1
    assert len(list(parts.read(values(named(1), named(2))))) == 2


def test_recent_keys_are_forgotten_in_the_order_they_were_last_added() -> None:
    recent = RecentKeys[str](2)
    assert [recent.add(key) for key in "abacab"] == [True, True, False, True, False, True]
