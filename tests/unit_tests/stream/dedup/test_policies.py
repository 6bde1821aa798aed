"""The policies of `DedupConfig`, and what the deduplicator counts."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    RemoveMessage,
    ToolMessage,
)

from langgraph_once import DedupConfig, Deduplicator, Ledger, dedup, once
from langgraph_once.errors import StreamError
from langgraph_once.stream.shapes import Part
from tests.unit_tests.stream.scenes import ALL_MODES, ASKED, chain, says


def said(message: BaseMessage, task: str = "n:1", **meta: Any) -> Part:
    return Part((), "messages", message, {"langgraph_checkpoint_ns": task, **meta})


def tokens(text: str, message_id: str, *, last: bool = True) -> list[Part]:
    pieces = [AIMessageChunk(content=word, id=message_id) for word in text.split(" ")]
    if last:
        pieces.append(AIMessageChunk(content="", id=message_id, chunk_position="last"))
    return [said(piece) for piece in pieces]


def fed(deduplicator: Deduplicator, *parts: Part) -> list[Any]:
    return [out.data for part in parts for out in deduplicator.feed(part)]


class TestStates:
    def test_changed_gives_the_keys_that_changed(self) -> None:
        changed = Deduplicator(DedupConfig(state="changed"))
        states = [{"a": 1, "b": [1]}, {"a": 1, "b": [1, 2]}, {"a": True, "b": [1, 2]}]
        out = fed(changed, *(Part((), "values", state) for state in [*states, states[-1]]))
        assert out == [states[0], {"b": [1, 2]}, {"a": True}]

    def test_each_namespace_has_a_state_of_its_own(self) -> None:
        full, state = Deduplicator(), {"a": 1}
        parts = [Part(ns, "values", state) for ns in ((), ("x:1",), (), ("x:1",))]
        assert fed(full, *parts) == [state, state]

    def test_an_interrupt_is_always_news(self) -> None:
        part = Part((), "values", {"a": 1}, {"interrupts": ("?",)})
        assert len(fed(Deduplicator(), part, part)) == 2

    def test_a_state_that_cannot_be_looked_into_counts_as_changed(self) -> None:
        part = Part((), "values", {"a": object()})
        assert len(fed(Deduplicator(), part, part)) == 2

    def test_d11_an_update_is_repeated_only_if_an_earlier_stream_had_it(self) -> None:
        ledger, update = Ledger(), {"n": {"a": 1}}
        cached = Part((), "updates", {**update, "__metadata__": {"cached": True}})
        first = Deduplicator(ledger=ledger)
        assert fed(first, cached, Part((), "updates", update), cached) == [
            cached.data,
            update,
            cached.data,
        ]
        assert fed(Deduplicator(ledger=ledger), cached) == []
        assert fed(Deduplicator(ledger=ledger), cached) == []


class TestToolResults:
    def test_a_result_with_an_id_of_its_own_is_new(self) -> None:
        child = said(ToolMessage("5", tool_call_id="c", id="t1"), "team:1|tools:2")
        parent = said(ToolMessage("5", tool_call_id="c", id="t2"), "team:1")
        assert len(fed(Deduplicator(), child, parent)) == 2


class TestReexecution:
    def again(self, policy: Any, first: str, second: str) -> list[Any]:
        ledger = Ledger()
        fed(Deduplicator(ledger=ledger), *tokens(first, "one"))
        later = Deduplicator(DedupConfig(reexecution=policy), ledger=ledger)
        return [(type(m), m.id, m.text) for m in fed(later, *tokens(second, "two"))]

    def test_retract_takes_back_what_an_attempt_repeats(self) -> None:
        out = self.again("retract", "a b", "a b")
        assert out[0] == (RemoveMessage, "one", "")
        assert [text for *_, text in out[1:]] == ["a", "b", ""]

    def test_hold_says_only_what_is_more(self) -> None:
        out = self.again("hold", "a b", "a b c")
        assert out == [(AIMessageChunk, "one", "c"), (AIMessageChunk, "one", "")]

    def test_hold_knows_the_whole_of_both(self) -> None:
        ledger = Ledger()
        fed(Deduplicator(ledger=ledger), *tokens("a b", "one"))
        later = Deduplicator(DedupConfig(reexecution="hold"), ledger=ledger)
        fed(later, *tokens("a b c", "two"))
        (entry,) = ledger.entries("two")
        assert (entry.id, entry.content.text) == ("one", "abc")
        assert fed(later, said(AIMessage("abc", id="two"))) == []

    def test_hold_lets_go_when_the_words_part(self) -> None:
        out = self.again("hold", "a b", "a x")
        assert [(kind, text) for kind, _, text in out] == [
            (RemoveMessage, ""),
            (AIMessageChunk, "a"),
            (AIMessageChunk, "x"),
            (AIMessageChunk, ""),
        ]

    @pytest.mark.parametrize(("again", "told"), [("a", ""), ("b", "one removed, b")])
    def test_hold_compares_whole_messages(self, again: str, told: str) -> None:
        ledger, old = Ledger(), said(AIMessage("a", id="one"), ls_model_type="chat")
        fed(Deduplicator(ledger=ledger), old)
        later = Deduplicator(DedupConfig(reexecution="hold"), ledger=ledger)
        out = fed(later, said(AIMessage(again, id="two"), ls_model_type="chat"))
        texts = (f"{m.id} removed" if isinstance(m, RemoveMessage) else m.text for m in out)
        assert ", ".join(texts) == told

    def test_what_comes_after_the_end_of_what_was_held_passes(self) -> None:
        ledger = Ledger()
        fed(Deduplicator(ledger=ledger), *tokens("a b", "one"))
        later = Deduplicator(DedupConfig(reexecution="hold"), ledger=ledger)
        fed(later, *tokens("a b", "two"))
        usage: Any = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        (last,) = fed(later, said(AIMessageChunk(content="", id="two", usage_metadata=usage)))
        assert (last.id, last.usage_metadata) == ("one", usage)

    def test_d4_without_annotation_an_abandoned_beginning_is_taken_back(self) -> None:
        plain = Deduplicator()
        out = fed(plain, *tokens("a b", "one", last=False), *tokens("a b c", "two"))
        assert RemoveMessage(id="one") in out
        assert plain.stats.inferred == 1

    def test_two_models_at_once_that_say_the_same_both_stay(self) -> None:
        one, two = tokens("a b", "one"), tokens("a b", "two")
        out = fed(Deduplicator(), *one[:2], *two, one[2])
        texts: dict[str, str] = {}
        for message in out:
            if isinstance(message, RemoveMessage):
                texts.pop(str(message.id))
            else:
                texts[message.id] = texts.get(message.id, "") + message.text
        assert texts == {"one": "ab", "two": "ab"}


class TestOneRun:
    def test_d8_a_last_chunk_that_says_it_all_again(self) -> None:
        last = AIMessageChunk(content="ab", id="m", chunk_position="last")
        out = fed(Deduplicator(), *tokens("a b", "m", last=False), said(last))
        assert "".join(message.text for message in out) == "ab"

    def test_d8_a_last_chunk_that_brings_a_call_is_no_repetition_of_it(self) -> None:
        call: Any = {"id": "c", "name": "look", "args": "{}", "index": 0}
        last = AIMessageChunk(content="ab", id="m", tool_call_chunks=[call], chunk_position="last")
        out = fed(Deduplicator(), *tokens("a b", "m", last=False), said(last))
        assert [piece["id"] for piece in out[-1].tool_call_chunks] == ["c"]

    def test_d9_ids_of_langchain_and_of_the_provider_are_one_message(self) -> None:
        parts = [said(AIMessageChunk(content="a", id="provider"))]
        parts += [said(AIMessageChunk(content=text, id="lc_run--1")) for text in "bc"]
        out = fed(Deduplicator(), *parts)
        assert [(m.id, m.text) for m in out] == [("provider", t) for t in "abc"]

    def test_d9_of_chunks_with_empty_ids_the_whole_message_is_known_and_that_is_a_guess(
        self,
    ) -> None:
        deduplicator = Deduplicator()
        fed(deduplicator, *tokens("a b", ""))
        assert fed(deduplicator, said(AIMessage("ab", id="lc_run--1"), ls_model_type="chat")) == []
        assert deduplicator.stats.inferred == 1
        fed(deduplicator, said(AIMessage("other", id="lc_run--2"), ls_model_type="chat"))
        assert deduplicator.stats.inferred == 1

    def test_usage_that_the_tokens_lacked_comes_once(self) -> None:
        usage: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        whole = said(AIMessage("ab", id="m", usage_metadata=usage))
        (last,) = fed(Deduplicator(), *tokens("a b", "m"), whole, whole)[3:]
        assert (last.text, last.usage_metadata) == ("", usage)


class TestBadInput:
    def test_unknown_modes_pass_and_are_counted(self) -> None:
        deduplicator, part = Deduplicator(), Part((), "of-the-future", {"x": 1})
        assert list(deduplicator.feed(part)) == [part]
        assert deduplicator.stats.unknown == {"of-the-future": 1}

    @pytest.mark.parametrize("chunk", ["nonsense", 5, (), ("messages", 5), (None, {})])
    def test_a_chunk_of_a_wrong_shape_is_refused(self, chunk: Any) -> None:
        chunks: Any = [("messages", (AIMessage("Hi", id="m"), {})), chunk]
        with pytest.raises(StreamError):
            list(dedup(chunks, stream_mode=ALL_MODES))

    def test_only_a_message_that_is_taken_for_a_copy_is_counted_as_inferred(self) -> None:
        deduplicator = Deduplicator()
        fed(deduplicator, *tokens("a b", "m"), said(AIMessage("new", id="n")))
        assert deduplicator.stats.inferred == 0
        fed(deduplicator, said(AIMessage("ab", id="copy")))
        assert deduplicator.stats.inferred == 1

    def test_with_the_annotation_nothing_is_inferred(self) -> None:
        deduplicator = Deduplicator()
        chunks: Any = once(chain(says("Hello."))).stream(ASKED, stream_mode="messages")
        for message, meta in chunks:
            list(deduplicator.feed(Part((), "messages", message, meta)))
        assert deduplicator.stats.inferred == 0
