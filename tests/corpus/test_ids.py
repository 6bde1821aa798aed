"""Every id of a whole message in mode `messages` is one that a state shows it under."""

from __future__ import annotations

import pytest
from langchain_core.messages import BaseMessage, BaseMessageChunk, RemoveMessage

from tests.corpus.play import Event, Source, applies
from tests.corpus.scenario import Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.score import score
from tests.corpus.states import listed
from tests.corpus.variants import Variant

SOURCES: tuple[Source, ...] = ("once", "stock")

WHOLE = Variant("sync", "v1", ("messages", "values"), subgraphs=True, state="full")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.kind}-{s.name}")
def test_a_whole_message_bears_the_id_that_a_state_shows(scenario: Scenario) -> None:
    for source in SOURCES:
        if applies(scenario, WHOLE, source):
            wrong = misnamed(scenario, source)
            assert not wrong, f"{source}: {scenario.what}\n" + "\n".join(wrong)


def misnamed(scenario: Scenario, source: Source) -> list[str]:
    """The whole messages whose text a state shows, under other ids."""
    events: list[Event] = []
    score(scenario, WHOLE, source, events.append)
    states = [event for event in events if event.mode == "values"]
    shown = {found.message.id for event in states for found in listed(event.data)}
    said = {str(found.message.content) for event in states for found in listed(event.data)}
    return [
        f"{message.id}: {message.content}"
        for message in (event.data[0] for event in events if event.mode == "messages")
        if isinstance(message, BaseMessage)
        and not isinstance(message, BaseMessageChunk | RemoveMessage)
        and message.id not in shown
        and str(message.content) in said
    ]
