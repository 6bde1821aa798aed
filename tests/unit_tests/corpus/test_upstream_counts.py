"""The harness measures of LangGraph what the design says of it: a dozen counts by hand."""

from __future__ import annotations

import pytest

from tests.corpus.consumer import Consumer
from tests.corpus.play import Event, play
from tests.corpus.scenarios import BY_NAME
from tests.corpus.units import text_piece
from tests.corpus.variants import Variant

MESSAGES = Variant("sync", "v1", ("messages",))
BELOW = Variant("sync", "v2", ("messages",), subgraphs=True)


def count(name: str, text: str, variant: Variant) -> int:
    """How often a reader of plain LangGraph has the text in the end."""
    scenario = BY_NAME[name]
    reader = Consumer(scenario.oracle, whole_states=True, own_modes=False)

    def watch(event: Event) -> None:
        reader.feed(*event)

    play(scenario, variant, "plain", watch)
    return reader.live[text_piece(text)]


@pytest.mark.parametrize(
    ("name", "text", "variant", "times"),
    [
        ("copied-openai", "Hello from the model.", MESSAGES, 2),
        ("wrapped-said", "Hello from the child.", BELOW, 2),
        ("interrupted-text", "Hello before the question.", MESSAGES, 2),
        ("retried-after-text", "Hello after some trouble.", MESSAGES, 3),
        ("retried-around-child", "Hello after some trouble.", BELOW, 2),
        ("echoed-list-state", "Please begin.", MESSAGES, 1),
        ("returned-again", "An old answer.", MESSAGES, 2),
        ("final-text", "Hello from one run.", MESSAGES, 2),
        ("id-first", "Hello from one run.", MESSAGES, 0),
        ("id-empty", "Hello from one run.", MESSAGES, 2),
        ("said-4-deep", "Hello from below.", BELOW, 1),
        ("said-4-deep", "Hello from below.", Variant("sync", "v1", ("updates",), True), 4),
        ("said-4-deep", "Hello from below.", Variant("sync", "v1", ("values",), True), 4),
        ("resumed-beside", "Hello from below.", Variant("sync", "v1", ("updates",)), 2),
        ("handed-message", "Let me hand over.", BELOW, 0),
        ("edited-by-next-node", "A considerate phrase.", MESSAGES, 0),
        ("removed-answer", "A careless phrase.", MESSAGES, 1),
        ("in-dict", "Hello from a strange place.", MESSAGES, 0),
        ("equal-ids-and-texts", "The same text.", MESSAGES, 1),
        ("parallel-equal-answers", "ok then.", MESSAGES, 3),
    ],
)
def test_plain_langgraph_delivers_texts_as_often_as_this_table_says(
    name: str, text: str, variant: Variant, times: int
) -> None:
    assert count(name, text, variant) == times
