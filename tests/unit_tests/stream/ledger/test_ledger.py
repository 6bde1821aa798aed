"""The ledger: bounded, and the same after a journey through bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage

from langgraph_once import DedupConfig, Deduplicator, Ledger
from langgraph_once.errors import ConfigError, LedgerError, StreamError
from langgraph_once.stream.content import Content, content_of
from langgraph_once.stream.entries import State
from langgraph_once.stream.places import MAX_GRAPHS
from langgraph_once.stream.shapes import Part

TASK = {"langgraph_checkpoint_ns": "n:1"}


def tokens(message_id: str, text: str, *, task: str = "n:1") -> list[Part]:
    pieces = [AIMessageChunk(content=word, id=message_id) for word in text.split(" ")]
    last = AIMessageChunk(content="", id=message_id, chunk_position="last")
    return [
        Part((), "messages", piece, {"langgraph_checkpoint_ns": task}) for piece in [*pieces, last]
    ]


def fed(dedup: Deduplicator, *parts: Part) -> list[Any]:
    return [out.data for part in parts for out in dedup.feed(part)]


def test_a_message_is_complete_with_its_last_chunk_and_committed_once_a_task_returned_it() -> None:
    dedup = Deduplicator()
    first, *_, last = tokens("m", "Hello there")
    fed(dedup, first)
    (entry,) = dedup.ledger.entries("m")
    states = [entry.state]
    fed(dedup, last)
    states.append(entry.state)
    fed(dedup, Part((), "messages", AIMessage("Hello", id="m"), TASK))
    entry.settle()
    states.append(entry.state)
    assert states == [State.OPEN, State.COMPLETE, State.COMMITTED]


def test_an_inner_message_stands_for_one_copy_in_the_update_of_the_node_around_it() -> None:
    dedup = Deduplicator()
    fed(dedup, *tokens("m", "Hello", task="outer:1|inner:2"))
    said, ledger = content_of(AIMessage("Hello")), dedup.ledger
    found = ledger.match_in_update("outer", said)
    assert found is not None
    ledger.claim(found, "outer:1")
    ledger.rewrite(found, content_of(AIMessage("Bye")))
    ledger.rewrite(found, said)
    assert ledger.match_in_update("outer", said) is None


class TestBounds:
    def test_the_oldest_finished_messages_are_forgotten(self) -> None:
        dedup = Deduplicator(ledger=Ledger(max_messages=10))
        for at in range(50):
            fed(dedup, *tokens(f"m{at}", "text", task=f"n:{at}"))
        assert len(dedup.ledger) == 10
        copy = AIMessage("text", id="m0")
        again = Part((), "messages", copy, {"langgraph_checkpoint_ns": "n:0"})
        assert fed(dedup, again) == [copy]

    def test_the_bytes_of_a_ledger_are_bounded(self) -> None:
        dedup = Deduplicator(ledger=Ledger(max_bytes=10_000))
        for at in range(50):
            fed(dedup, *tokens(f"m{at}", "x" * 1_000, task=f"n:{at}"))
        assert 0 < len(dedup.ledger) < 10

    def test_a_message_that_is_still_streaming_is_not_forgotten(self) -> None:
        dedup = Deduplicator(ledger=Ledger(max_messages=10))
        first = tokens("open", "Hello there")
        fed(dedup, *first[:-1])
        for at in range(50):
            fed(dedup, *tokens(f"m{at}", "text", task=f"n:{at}"))
        whole = Part((), "messages", AIMessage("Hellothere", id="open"), TASK)
        assert fed(dedup, first[-1], whole) == [first[-1].data]

    def test_chunks_that_never_end_are_bounded_too(self) -> None:
        dedup = Deduplicator(ledger=Ledger(max_messages=10))
        for at in range(50):
            fed(dedup, *tokens(f"m{at}", "text", task=f"n:{at}")[:1])
        assert len(dedup.ledger) <= 11

    @pytest.mark.parametrize("state", ["new_messages", "changed"])
    def test_the_graphs_of_one_stream_are_bounded(self, state: Any) -> None:
        dedup = Deduplicator(DedupConfig(state=state))
        nameless = AIMessage("Said.")
        fed(dedup, Part((), "values", {"messages": [AIMessage("At the root.", id="root")]}))
        sizes = []
        for at in range(3 * MAX_GRAPHS):
            ns = (f"n:{at}",)
            fed(dedup, Part(ns, "values", {"messages": [nameless, AIMessage("Hi", id="m")]}))
            sizes.append(len(dedup.ledger.snapshots) + len(dedup.ledger.states))
        assert max(sizes) == MAX_GRAPHS
        assert len(dedup.ledger.pending_ids.states) <= MAX_GRAPHS
        gone = fed(dedup, Part((), "values", {"messages": []}))
        if state == "new_messages":
            assert [type(message) for message in gone[0]["messages"]] == [RemoveMessage]

    def test_the_repr_of_a_ledger_tells_no_text(self) -> None:
        dedup = Deduplicator()
        fed(dedup, *tokens("m", "secret"))
        assert "secret" not in repr(dedup.ledger)
        assert repr(Ledger()) == "Ledger(0 messages, 0 bytes, epoch 0)"


def used_ledger(words: list[tuple[str, str]]) -> Ledger:
    dedup = Deduplicator(DedupConfig(state="new_messages"))
    for at, (message_id, text) in enumerate(words):
        fed(dedup, *tokens(message_id, text, task=f"n:{at}"))
    messages = [AIMessage(text, id=message_id) for message_id, text in words]
    fed(dedup, Part((), "values", {"messages": messages}))
    return dedup.ledger


WORDS = st.lists(st.tuples(st.sampled_from("abcdef"), st.text(max_size=20)), max_size=8)


class TestBytes:
    @settings(deadline=None)
    @given(words=WORDS)
    def test_a_ledger_comes_back_as_it_was(self, words: list[tuple[str, str]]) -> None:
        data = used_ledger(words).to_bytes()
        assert Ledger.from_bytes(data).to_bytes() == data

    def test_calls_and_copies_come_back(self) -> None:
        dedup = Deduplicator(DedupConfig(state="new_messages"))
        call = {"name": "pay", "args": {"euros": 5}, "id": "c"}
        asked = AIMessage("", id="m", tool_calls=[call])
        copy = AIMessage("Hello", id="copy")
        fed(dedup, *tokens("h", "Hello"), Part((), "messages", copy, TASK))
        fed(dedup, Part((), "messages", asked, TASK))
        later = Deduplicator(
            DedupConfig(state="new_messages"), ledger=Ledger.from_bytes(dedup.ledger.to_bytes())
        )
        state = Part((), "values", {"messages": [copy, asked]})
        assert fed(later, state) == [{"messages": []}]

    @settings(deadline=None)
    @given(at=st.integers(0, 200), flip=st.integers(1, 255))
    def test_damaged_bytes_of_a_ledger_are_noticed(self, at: int, flip: int) -> None:
        data = bytearray(used_ledger([("a", "Hello"), ("b", "there")]).to_bytes())
        data[at % len(data)] ^= flip
        assume(data[4] != 1)  # that says that an older version wrote them
        with pytest.raises(LedgerError):
            Ledger.from_bytes(bytes(data))

    @pytest.mark.parametrize("data", [b"", b"OLDG", b"something else that is long enough"])
    def test_bytes_that_are_no_ledger_are_refused_or_a_fresh_start(self, data: bytes) -> None:
        with pytest.raises(StreamError, match="on_error='fresh'"):
            Ledger.from_bytes(data)
        assert len(Ledger.from_bytes(data, on_error="fresh")) == 0

    def test_what_is_no_bytes_is_refused(self) -> None:
        with pytest.raises(LedgerError, match="not NoneType"):
            Ledger.from_bytes(None)  # type: ignore[arg-type]  # wrong on purpose

    @pytest.mark.parametrize("limits", [{"max_messages": 0}, {"max_bytes": -1}])
    def test_limits_that_limit_nothing_are_refused(self, limits: Any) -> None:
        with pytest.raises(ConfigError, match="positive"):
            Ledger(**limits)

    def test_a_newer_version_says_so(self) -> None:
        data = bytearray(Ledger().to_bytes())
        data[4] = 9
        with pytest.raises(LedgerError, match="version 9") as caught:
            Ledger.from_bytes(bytes(data))
        assert caught.value.version == 9

    def test_what_an_older_version_wrote_is_forgotten(self) -> None:
        data = bytearray(used_ledger([("a", "Hello")]).to_bytes())
        data[4] = 1
        assert len(Ledger.from_bytes(bytes(data))) == 0


def test_a_graph_around_has_what_came_in_a_state_of_one_inside() -> None:
    """So a graph beside that one, which drops a message of this id, means it, too."""
    ledger = Ledger()
    entry = ledger.deliver_in_state("m", content_of(AIMessage("Yes.")), ("a:1", "b:2"))
    ledger.take_up(entry, ("c:1",))
    assert entry.within == "a:1|b:2"
    assert entry.is_beside("a:1|d:3")
    ledger.take_up(entry, ("a:1",))
    assert not entry.is_beside("a:1|d:3")
    assert ledger.listed(("a:1",)) == ["m"]
    ledger.take_up(entry, ())
    assert ledger.listed(()) == ["m"]


def test_what_is_hidden_is_never_left_out() -> None:
    """Whoever forgot that a message is hidden would show it."""
    ledger = Ledger()
    ledger.hidden = Ledger()
    for number in range(1_000):
        ledger.hidden.deliver_in_state(f"m{number}", Content("ai", "Hidden."), ())
    for data in (ledger.to_bytes(), ledger.beside({}, is_done=True)):
        restored = Ledger.from_bytes(data)
        assert all(restored.hides(f"m{number}") for number in range(1_000))


@pytest.mark.parametrize("is_done", [True, False])
def test_beside_a_state_stand_the_other_ids_of_what_it_holds(is_done: bool) -> None:
    """A copy of what was streamed is in the state under an id of its own."""
    dedup = Deduplicator()
    fed(dedup, *tokens("streamed", "Hello"), *tokens("alone", "Bye", task="n:2"))
    fed(dedup, Part((), "messages", AIMessage("Hello", id="copy"), TASK))
    state = {"copy": AIMessage("Hello", id="copy"), "alone": AIMessage("Bye", id="alone")}
    data = dedup.ledger.beside(state, is_done=is_done)
    (entry,) = Ledger.from_bytes(data, beside=lambda: state).entries("copy")
    assert entry.ids == ["streamed", "copy"]
    assert b"alone" not in data
