"""The scenario of the original request, whole, from every source."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.stream import UpdatesTransformer
from langgraph_sdk.schema import StreamPart

from langgraph_once import DedupConfig, once
from langgraph_once.events import Event
from langgraph_once.stream import Part, event_part, v2_part
from tests.unit_tests.events.team import QUESTION, brief, processor, team

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

MODES: Any = ["messages", "updates", "values"]

EXPECTED = [
    "channel_value @main messages: 1, 'Which is warmer, Paris or Oslo?' known=False",
    "usage @clarify/check 8 of 8",
    "token @clarify/ask ask-1 'I' -> 'I'",
    "token @clarify/ask ask-1 ' compare' -> 'I compare'",
    "token @clarify/ask ask-1 ' both.' -> 'I compare both.'",
    "message_completed @clarify/ask ask-1 ai 'I compare both.' usage=8",
    "usage @clarify/ask 8 of 16",
    "channel_update @clarify supervisor_messages []",
    "channel_value @main messages: 3, 'I compare both.' known=True",
    "usage @agent_a/model 8 of 24",
    "usage @agent_a/report 8 of 32",
    "channel_update @agent_a supervisor_messages []",
    "channel_value @main messages: 6, 'Found it.' known=True",
    "artifact @main Document note-a Paris",
    "usage @agent_b/model 8 of 40",
    "usage @agent_b/report 8 of 48",
    "channel_update @agent_b supervisor_messages []",
    "channel_value @main messages: 9, 'Found it.' known=True",
    "artifact @main Document note-b Oslo",
    "tool_call_started @supervisor call_think think",
    "tool_call_progress @supervisor call_think '{\"thou' {}",
    "tool_call_progress @supervisor call_think 'ght\": ' {}",
    "tool_call_progress @supervisor call_think '\"Compa' {'thought': 'Compa'}",
    "tool_call_progress @supervisor call_think 're.\"}' {'thought': 'Compare.'}",
    "tool_call_completed @supervisor call_think {'thought': 'Compare.'}",
    "message_completed @supervisor think-1 ai '' usage=8",
    "usage @supervisor 8 of 56",
    "channel_update @supervisor supervisor_messages ['ai']",
    "tool_result @tools call_think think-1 success 'Go on.'",
    "message_completed @tools (any id) tool 'Go on.' usage=None",
    "channel_update @tools supervisor_messages ['tool']",
    "token @answer answer-1 'Paris' -> 'Paris'",
    "token @answer answer-1 ' it' -> 'Paris it'",
    "token @answer answer-1 ' is.' -> 'Paris it is.'",
    "message_completed @answer answer-1 ai 'Paris it is.' usage=8",
    "usage @answer 8 of 64",
    "channel_value @main messages: 10, 'Paris it is.' known=True",
    "stream_ended @main finished",
]
"""Whole, as the issue asks: the order across channels, tokens and tools is the point."""


def changed(**how: Any) -> Any:
    """The chunks of a wrapped graph whose states hold what changed."""
    graph = once(team(), DedupConfig(state="changed"))
    return graph.stream(QUESTION, stream_mode=MODES, subgraphs=True, **how)


def test_a_local_team_makes_its_events() -> None:
    assert brief(processor().stream_sync(team(), QUESTION)) == EXPECTED


async def test_a_local_team_makes_its_events_async() -> None:
    events = [event async for event in processor().stream(team(), QUESTION)]
    assert brief(events) == EXPECTED


def test_a_wrapped_team_makes_its_events() -> None:
    assert brief(processor().stream_sync(once(team()), QUESTION)) == EXPECTED


def test_chunks_of_v1_of_a_team_make_its_events() -> None:
    shape: Any = {"stream_mode": MODES, "subgraphs": True}
    events = processor(dedup=None).stream_sync(changed(), **shape)
    assert brief(events) == EXPECTED


def test_chunks_of_v2_of_a_team_make_its_events() -> None:
    assert brief(processor(dedup=None).stream_sync(changed(version="v2"))) == EXPECTED


def test_chunks_of_a_plain_graph() -> None:
    plain_team: Any = team()
    chunks = plain_team.stream(QUESTION, stream_mode=MODES, subgraphs=True, version="v2")
    assert brief(processor().stream_sync(chunks)) == EXPECTED


def test_parts_that_are_fed() -> None:
    watching = processor()
    plain_team: Any = team()
    chunks = plain_team.stream(QUESTION, stream_mode=MODES, subgraphs=True, version="v2")
    events = [event for chunk in chunks for event in watching.feed(v2_part(chunk))]
    assert brief([*events, *watching.close()]) == EXPECTED


def test_v3_of_a_plain_graph() -> None:
    assert anonymous(processor().stream_sync(run_of(team()))) == ANONYMOUS


def test_v3_of_a_wrapped_graph() -> None:
    assert anonymous(processor().stream_sync(run_of(once(team())))) == ANONYMOUS


def test_the_channel_of_v3() -> None:
    channel = run_of(once(team())).extensions["once"]
    assert anonymous(processor().stream_sync(channel)) == ANONYMOUS


async def test_an_async_v3_run_of_a_team_makes_its_events() -> None:
    run = await arun_of(team())
    assert anonymous([event async for event in processor().stream(run)]) == ANONYMOUS


async def test_the_channel_of_v3_async() -> None:
    run = await arun_of(once(team()))
    events = [event async for event in processor().stream(run.extensions["once"])]
    assert anonymous(events) == ANONYMOUS


def test_events_of_v3_that_are_fed() -> None:
    watching = processor()
    events = [told for event in run_of(team()) for told in watching.feed(event)]
    assert anonymous([*events, *watching.close()]) == ANONYMOUS


def test_parts_of_v3_that_are_fed() -> None:
    watching = processor()
    events = [told for event in run_of(team()) for told in watching.feed(event_part(event))]
    assert anonymous([*events, *watching.close()]) == ANONYMOUS


def test_what_a_server_sends() -> None:
    """The same parts as JSON, under the event names of the server."""
    chunks = (as_sent(v2_part(chunk)) for chunk in changed(version="v2"))
    assert brief(processor(dedup=None).stream_sync(chunks)) == EXPECTED


async def test_what_a_server_sends_async() -> None:
    async def sent() -> AsyncIterator[StreamPart]:
        for chunk in changed(version="v2"):
            yield as_sent(v2_part(chunk))

    assert brief([event async for event in processor(dedup=None).stream(sent())]) == EXPECTED


def as_sent(part: Part) -> StreamPart:
    data = [part.data, part.meta] if part.mode == "messages" else part.data
    event = "|".join((part.mode, *part.ns))
    return StreamPart(event, json.loads(json.dumps(data, default=plain)), part.event_id)


def plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseMessage) else str(value)


def run_of(graph: Any) -> Any:
    """A v3 run, with updates, which v3 streams only if they are asked for."""
    return graph.stream_events(QUESTION, version="v3", transformers=[UpdatesTransformer])


async def arun_of(graph: Any) -> Any:
    return await graph.astream_events(QUESTION, version="v3", transformers=[UpdatesTransformer])


MESSAGE_ID = re.compile(r"(ask|think|answer)-1|lc_run--[0-9a-f-]+|\(any id\)")


def anonymous(events: Iterable[Event | str]) -> list[str]:
    """The events without the ids of messages, of which v3 makes its own."""
    lines = [event if isinstance(event, str) else brief([event])[0] for event in events]
    return [MESSAGE_ID.sub("(id)", line) for line in lines]


ANONYMOUS = anonymous(EXPECTED)
