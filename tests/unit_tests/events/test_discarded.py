"""A model's complete answer that no task kept: told, and still shown."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from langgraph_once import ChannelStreamingProcessor, DedupConfig, TokenStreamingConfig, once
from langgraph_once.events import Event, MessageDiscardedEvent, Transcript
from langgraph_once.events.render import to_console
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded, model

REFUSED, KEPT = "A careless answer.", "A considerate answer."


def guarded(state: Any) -> Any:
    """A guard that asks again: of two complete answers the state gets one."""
    model(REFUSED).invoke("?")
    return {"messages": [model(KEPT).invoke("?")]}


def planned(state: Any) -> Any:
    """A planner, whose words no state ever holds."""
    return {"messages": [AIMessage(str(len(model(REFUSED).invoke("?").text)))]}


def told(graph: Any, tokens: TokenStreamingConfig | None = None) -> list[Event]:
    processor = ChannelStreamingProcessor((), tokens or TokenStreamingConfig(), DedupConfig())
    return list(processor.stream_sync(exactly(graph), ASKED))


def texts(events: list[Event]) -> list[str]:
    return [str(message.text) for message in Transcript(events).messages()]


@pytest.mark.parametrize("node", [guarded, planned])
def test_a_discarded_message_is_told_after_it_was_completed_and_stays_shown(node: Any) -> None:
    events = told(chain(node))
    (discarded,) = [event for event in events if isinstance(event, MessageDiscardedEvent)]
    said = [e for e in events if getattr(e, "message_id", None) == discarded.message_id]
    kinds = [event.type for event in said if event.type not in ("token", "usage")]
    assert kinds == ["message_completed", "message_discarded"]
    assert REFUSED in texts(events)
    assert Transcript(events).discarded == {discarded.message_id}
    assert "[not kept]" in to_console(discarded)


def test_a_stock_reader_has_what_langgraph_alone_shows() -> None:
    chunks = list(once(chain(guarded)).stream(ASKED, stream_mode="messages"))
    assert list(folded(chunks).values()) == [REFUSED, KEPT]


def test_a_reader_that_did_not_see_a_discarded_message_is_not_told() -> None:
    tokens = TokenStreamingConfig(message_tags=["nobody"])
    events = told(chain(guarded), tokens=tokens)
    assert not [event for event in events if isinstance(event, MessageDiscardedEvent)]


def test_what_is_kept_is_not_discarded() -> None:
    def keeps(state: Any) -> Any:
        return {"messages": [model(KEPT).invoke("?")]}

    events = told(chain(keeps))
    assert not [event for event in events if isinstance(event, MessageDiscardedEvent)]
