"""Streams that fail, are left early, or meet a function that raises; and their convenience."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.types import RetryPolicy

from langgraph_once.events import (
    BaseEvent,
    CallbackError,
    ChannelConfig,
    ChannelStreamingProcessor,
    MessageCompletedEvent,
    TokenStreamEvent,
    TokenStreamingConfig,
    Transcript,
)
from tests.corpus.graphs import chain, says
from tests.corpus.models import BrokenConnectionError
from tests.corpus.scenario import ASKED

CALL: Any = {"name": "find", "args": {"city": "Paris"}, "id": "c1"}


def watching(**how: Any) -> ChannelStreamingProcessor:
    return ChannelStreamingProcessor(token_streaming=TokenStreamingConfig(**how))


def broken() -> Any:
    """A model that says a text and begins a call when its connection breaks."""
    return chain(says(AIMessage("One two.", tool_calls=[CALL]), breaks={0: 5}))


ENDING = [
    "tool_call_failed",
    "message_completed",
    "stream_error",
    "stream_ended",
]


def test_a_stream_that_dies_closes_what_it_opened_then_tells_the_error_and_the_end() -> None:
    told: list[Any] = []
    with pytest.raises(BrokenConnectionError):
        told.extend(iter_into(told, watching().stream_sync(broken(), ASKED)))
    assert [event.type for event in told][-4:] == ENDING
    failed, completed, error, ended = told[-4:]
    assert completed.is_partial
    assert completed.message.text == "One two."
    assert failed.error == "the stream ended before the arguments did"
    assert (error.error_type, ended.status) == ("BrokenConnectionError", "failed")
    assert isinstance(error.error, BrokenConnectionError)


def iter_into(told: list[Any], events: Any) -> list[Any]:
    for event in events:
        told.append(event)  # noqa: PERF402  # an error must not lose them
    return []


async def test_an_async_stream_that_dies_closes_what_it_opened_too() -> None:
    told = []
    with pytest.raises(BrokenConnectionError):  # noqa: PT012  # there is no shorter way
        async for event in watching().stream(broken(), ASKED):
            told.append(event.type)  # noqa: PERF401  # an error must not lose them
    assert told[-4:] == ENDING


def test_feed_ends_by_close() -> None:
    processor = watching()
    (ended,) = processor.close()
    assert ended.type == "stream_ended"
    error, ended = processor.close(ValueError("no"))
    assert (error.type, ended.type) == ("stream_error", "stream_ended")
    assert error.seq == 0, "each stream counts anew"


def test_a_retry_supersedes_what_the_attempt_before_said() -> None:
    node = says("One two three.", "One two three.", breaks={0: 2})
    policy = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=BrokenConnectionError)
    graph = chain(node, retry_policy=policy)
    events: list[Any] = watching().stream_sync(graph, ASKED).collect()
    (void,) = [e for e in events if e.type == "message_superseded"]
    first = next(e for e in events if e.type == "token")
    assert void.old_id == first.message_id
    assert [m.text for m in Transcript(events).messages()] == ["One two three."]
    assert [e.type for e in events].count("message_completed") == 1


def raises(_: Any) -> bool:
    raise ValueError("the user's own")


@pytest.mark.parametrize(
    "processor",
    [
        watching(filter_fn=raises),
        ChannelStreamingProcessor([ChannelConfig(key="messages", filter_fn=raises)]),
    ],
)
def test_a_filter_that_raises_reaches_the_caller_with_the_event(processor: Any) -> None:
    told: list[Any] = []
    with pytest.raises(CallbackError, match="raises raised for event") as raised:
        iter_into(told, processor.stream_sync(chain(says("One two.")), ASKED))
    assert isinstance(raised.value.__cause__, ValueError)
    assert raised.value.event.type in ("token", "channel_value")
    assert [event.type for event in told][-2:] == ["stream_error", "stream_ended"]


async def test_a_filter_that_raises_reaches_the_caller_async() -> None:
    told: list[Any] = []
    events = watching(filter_fn=raises).stream(chain(says("One two.")), ASKED)
    with pytest.raises(CallbackError):
        await events.on(BaseEvent, told.append).collect()
    assert [event.type for event in told][-2:] == ["stream_error", "stream_ended"]


def test_a_filter_that_raises_in_feed_leaves_a_stream_that_can_be_closed() -> None:
    processor = watching(filter_fn=lambda event: event.content_delta != " two." or raises(event))
    chunks = chain(says("One two.")).stream(ASKED, stream_mode=["messages"], version="v2")
    told: list[Any] = []
    with pytest.raises(CallbackError) as raised:
        iter_into(told, (event for chunk in chunks for event in processor.feed(chunk)))
    told.extend(processor.close(raised.value))
    assert [event.type for event in told] == [
        "token",
        "message_completed",
        "stream_error",
        "stream_ended",
    ]


def test_the_filter_of_tokens_sees_nothing_else() -> None:
    chunks: Any = [{"type": "messages", "ns": (), "data": (RemoveMessage(id="m"), {})}]
    events = watching(filter_fn=raises).stream_sync(iter(chunks)).collect()
    assert [event.type for event in events] == ["message_removed", "stream_ended"]


def test_a_handler_that_raises_reaches_the_caller_and_closes_the_stream() -> None:
    events = watching().stream_sync(chain(says("One two.")), ASKED)
    with pytest.raises(CallbackError) as raised:
        events.on(TokenStreamEvent, raises).collect()
    assert isinstance(raised.value.event, TokenStreamEvent)
    assert list(events) == [], "it is closed"


async def test_a_handler_may_be_async() -> None:
    seen = []

    async def see(event: TokenStreamEvent) -> None:
        await asyncio.sleep(0)
        seen.append(event.content_delta)

    events = watching().stream(chain(says("One two.")), ASKED).on(TokenStreamEvent, see)
    kinds = [type(event) for event in await events.collect()]
    assert seen == ["One", " two."]
    assert TokenStreamEvent in kinds


async def test_an_async_handler_that_raises_reaches_the_caller() -> None:
    async def fail(_: Any) -> None:
        raise ValueError("no")

    stream = watching().stream(chain(says("One two.")), ASKED)
    with pytest.raises(CallbackError):
        await stream.on(MessageCompletedEvent, fail).collect()
    assert await stream.collect() == [], "it is closed"


def test_events_of_a_type() -> None:
    events = watching().stream_sync(chain(says("One two.")), ASKED)
    assert [event.content_delta for event in events.of(TokenStreamEvent)] == ["One", " two."]


async def test_events_of_a_type_async() -> None:
    events = watching().stream(chain(says("One two.")), ASKED)
    tokens = events.of(TokenStreamEvent, MessageCompletedEvent)
    assert [event.type async for event in tokens] == ["token", "token", "message_completed"]


def test_a_consumer_that_leaves_closes_the_source() -> None:
    closed = []

    def chunks() -> Any:
        try:
            yield from chain(says("One two.")).stream(ASKED, stream_mode="messages")
        finally:
            closed.append(True)

    events = watching().stream_sync(chunks(), stream_mode="messages")
    next(events)
    events.close()
    assert closed


async def test_a_consumer_that_is_cancelled_closes_the_source() -> None:
    closed = []

    async def chunks() -> Any:
        try:
            async for chunk in chain(says("One two.")).astream(ASKED, stream_mode="messages"):
                yield chunk
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def consume() -> None:
        async for _ in watching().stream(chunks(), stream_mode="messages"):
            pass

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed


def test_one_processor_serves_two_streams_at_a_time() -> None:
    processor = watching()
    one, two = (processor.stream_sync(chain(says("One two.")), ASKED) for _ in range(2))
    told = [(a.type, b.type, a.seq == b.seq) for a, b in zip(one, two, strict=True)]
    assert all(a == b and same for a, b, same in told)
