"""What was said when the consumer had left begins its next stream."""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_once import DedupConfig, Ledger
from langgraph_once.stream import Deduplicator, Part
from langgraph_once.stream.annotation import Annotation
from langgraph_once.stream.content import content_of
from langgraph_once.stream.entries import Entry
from langgraph_once.stream.keeping import keep_undelivered
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded, says

THREAD: Any = {"configurable": {"thread_id": "1"}}
MESSAGES: Any = {"stream_mode": "messages"}
MODES = ["messages"]
WORDS = ["One word.", "Two words.", "Three words."]


def side_by_side() -> Any:
    """Three nodes that speak at a time, in a graph inside."""
    builder: Any = StateGraph(MessagesState)
    for at, words in enumerate(WORDS):
        builder.add_node(f"n{at}", says(words))
        builder.add_edge(START, f"n{at}")
    return kept(builder.compile(), says("The end."))


def kept(*nodes: Any) -> Any:
    return exactly(chain(*nodes).copy({"checkpointer": InMemorySaver()}))


def left_after(count: int, graph: Any, **options: Any) -> list[Any]:
    """The first chunks; then the consumer leaves."""
    with contextlib.closing(graph.stream(ASKED, THREAD, **options)) as stream:
        return list(itertools.islice(stream, count))


def token(text: str, message_id: str = "1", **fields: Any) -> Part:
    return Part((), "messages", AIMessageChunk(content=text, id=message_id, **fields), {})


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_what_others_said_at_that_time_comes_first(count: int) -> None:
    graph = side_by_side()
    asked: Any = {**MESSAGES, "subgraphs": True}
    before = left_after(count, graph, **asked)
    later = list(graph.stream(None, THREAD, **asked))
    told = folded(chunk for _, chunk in [*before, *later])
    assert sorted(told.values()) == sorted([*WORDS, "The end."])
    assert next(reversed(told.values())) == "The end."


async def test_an_async_stream_owes_what_it_did_not_deliver() -> None:
    graph = side_by_side()
    asked: Any = {**MESSAGES, "subgraphs": True}
    async with contextlib.aclosing(graph.astream(ASKED, THREAD, **asked)) as stream:
        before = [await anext(stream)]
    later = [chunk async for chunk in graph.astream(None, THREAD, **asked)]
    told = folded(chunk for _, chunk in [*before, *later])
    assert sorted(told.values()) == sorted([*WORDS, "The end."])


def edits(state: Any) -> Any:
    return {"messages": [AIMessage("Edited.", id=state["messages"][-1].id)]}


def test_a_cut_between_a_removal_and_what_takes_its_place() -> None:
    graph = kept(says("First."), edits, says("The end."))
    chunks = list(graph.stream(ASKED, THREAD, **MESSAGES))
    at = next(i for i, (message, _) in enumerate(chunks) if isinstance(message, RemoveMessage))

    graph = kept(says("First."), edits, says("The end."))
    before = left_after(at + 1, graph, **MESSAGES)
    later = list(graph.stream(None, THREAD, **MESSAGES))
    assert list(folded([*before, *later]).values()) == ["Edited.", "The end."]


@pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)
class TestV3:
    @staticmethod
    def said_in(run: Any) -> Any:
        return (part["data"] for part in run.extensions["once"] if part["type"] == "messages")

    def test_v3_delivers_what_a_stream_of_another_version_left_undelivered(self) -> None:
        graph = kept(says("First words here."), says("The end."))
        before = left_after(1, graph, **MESSAGES)
        later = list(self.said_in(graph.stream_events(None, THREAD, version="v3")))
        assert list(folded([*before, *later]).values()) == ["First words here.", "The end."]

    def test_v3_remembers_what_it_left_undelivered(self) -> None:
        graph = kept(says("First words here."), says("The end."))
        run = graph.stream_events(ASKED, THREAD, version="v3")
        before = [next(self.said_in(run))]
        run.abort()
        later = list(graph.stream(None, THREAD, **MESSAGES))
        assert list(folded([*before, *later]).values()) == ["First words here.", "The end."]
        assert "repairs" not in str(later)


def test_a_reader_of_states_alone_finds_an_undelivered_message_there() -> None:
    config = DedupConfig(state="new_messages")
    ledger = Ledger()
    ledger.undelivered.append(token("Said."))
    ledger.add(Entry("", "1", content_of(AIMessage("Said."))))
    dedup = Deduplicator(config, ledger=ledger, modes=["values"])
    assert list(dedup.undelivered()) == []
    state = Part((), "values", {"messages": [AIMessage("Said.", id="1")]})
    assert list(dedup.feed(state)) == [state]


class TestWithoutIds:
    """A pair that a node wrote; a state shows it under the id that the reducer gave it."""

    note = Annotation(v=1, source="node", attempt=1, unnamed=True, at="")
    pair = Part((), "messages", AIMessage("A pair.", id="ours"), {"once": note})
    named = AIMessage("A pair.", id="its")

    def owed(self, ledger: Ledger) -> list[Any]:
        return [part.data.id for part in Deduplicator(ledger=ledger, modes=MODES).undelivered()]

    def test_an_undelivered_message_that_a_state_names_later_comes_under_that_id(self) -> None:
        dedup = Deduplicator(modes=MODES)
        state = Part((), "values", {"messages": [self.named]})
        dedup.keep_undelivered([], [self.pair, state])
        assert self.owed(dedup.ledger) == ["its"]

    def test_an_undelivered_message_that_the_thread_has_by_then_comes_under_that_id(self) -> None:
        dedup = Deduplicator(modes=MODES)
        assert list(dedup.feed(self.pair)) == []
        ledger = Ledger.from_bytes(dedup.ledger.to_bytes())
        ledger.seed([self.named])
        assert self.owed(ledger) == ["its"]

    def test_an_undelivered_copy_of_a_streamed_message_has_its_id_in_the_next_stream(self) -> None:
        dedup = Deduplicator(modes=MODES)
        for each in (token("A pair."), token("", chunk_position="last"), self.pair):
            list(dedup.feed(each))
        ledger = Ledger.from_bytes(dedup.ledger.to_bytes())
        ledger.seed([self.named])
        assert ledger.entries("its") == ledger.entries("1") != ()


class TestBytes:
    def test_messages_of_every_kind_come_back(self) -> None:
        ledger = Ledger()
        call: Any = {"name": "add", "args": '{"a": 1}', "id": "c", "index": 0}
        ledger.undelivered.extend(
            [
                token("Said", tool_call_chunks=[call], chunk_position="last"),
                Part(("a:1",), "messages", RemoveMessage(id="2"), {"once": {"v": 1}}),
                Part((), "messages", ToolMessage("3", tool_call_id="c", id="3"), {"step": 2}),
            ]
        )
        read = Ledger.from_bytes(ledger.to_bytes())
        assert read.undelivered == ledger.undelivered

    def test_what_json_has_no_word_for_becomes_text(self) -> None:
        ledger = Ledger()
        message = ToolMessage("3", tool_call_id="c", id="3", artifact=object())
        ledger.undelivered.append(Part((), "messages", message, {"user": object()}))
        (part,) = Ledger.from_bytes(ledger.to_bytes()).undelivered
        assert part.data.content == "3"
        assert part.data.artifact.startswith("<object")


class TestTokens:
    def test_undelivered_tokens_of_one_message_become_one(self) -> None:
        undelivered: deque[Part] = deque()
        keep_undelivered(undelivered, [token("Hel"), token("Other", "2"), token("lo")])
        assert [(part.data.id, part.data.text) for part in undelivered] == [
            ("1", "Hello"),
            ("2", "Other"),
        ]

    def test_undelivered_tokens_after_a_removal_stay_after_it(self) -> None:
        undelivered: deque[Part] = deque()
        gone = Part((), "messages", RemoveMessage(id="1"), {})
        keep_undelivered(undelivered, [token("Old"), gone, token("New")])
        assert [part.data.content for part in undelivered] == ["Old", "", "New"]
