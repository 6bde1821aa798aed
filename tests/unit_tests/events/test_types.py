"""What mypy must accept: it checks this file, and a case that is left out fails it."""

from __future__ import annotations

from typing import assert_never, assert_type

from langgraph_once.events import (
    ChannelStreamingProcessor,
    Event,
    Events,
    StreamEndedEvent,
    TokenStreamEvent,
    TokenStreamingConfig,
    __all__ as names,
)
from langgraph_once.events.vocabulary import EVENT_TYPES
from tests.corpus.graphs import chain, says
from tests.corpus.scenario import ASKED


def heard(event: TokenStreamEvent | StreamEndedEvent) -> str:
    match event:
        case TokenStreamEvent(content_delta=delta, kind="text"):
            return delta
        case TokenStreamEvent():
            return ""
        case StreamEndedEvent():
            return "."
        case _:
            assert_never(event)


def by_type(event: Event) -> str:
    if event.type == "token":
        assert_type(event, TokenStreamEvent)
        return event.content_delta
    return ""


def test_a_match_over_events_and_over_their_types() -> None:
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    events = processor.stream_sync(chain(says("One two.")), ASKED)
    chosen = assert_type(
        events.of(TokenStreamEvent, StreamEndedEvent),
        Events[TokenStreamEvent | StreamEndedEvent],
    )
    told = chosen.collect()
    assert "".join(map(heard, told)) == "One two.."
    assert "".join(map(by_type, told)) == "One two."


def test_each_type_has_one_class() -> None:
    assert len(EVENT_TYPES) == 23
    assert all(kind.type == name for name, kind in EVENT_TYPES.items())
    assert {kind.__name__ for kind in EVENT_TYPES.values()} <= {*names}
