"""v3: what upstream's list of messages is given, event by event, of answers that broke off."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.stream.transformers import MessagesTransformer

from langgraph_once.stream import Part
from langgraph_once.stream.v3.exact import VOID
from langgraph_once.stream.v3.run_messages import RunMessages
from langgraph_once.stream.v3.transformer import HIDDEN_METHOD


class Upstream(MessagesTransformer):
    """Notes what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.init()["messages"]._bind(is_async=False)
        self.given: list[Any] = []
        self.own = RunMessages(self)

    def process(self, event: Any) -> bool:
        self.given.append(event["params"]["data"][0])
        return super().process(event)

    def tell(self, run: str, *payloads: Any) -> None:
        meta = {"run_id": run, "langgraph_checkpoint_ns": "t:1"}
        for payload in payloads:
            params = {"namespace": [], "data": (payload, meta)}
            self.own.process({"method": "messages", "params": params})
            params["data"] = (None, meta)  # as a transformer behind it may do

    def state(self) -> None:
        self.own.process({"method": "values", "params": {"namespace": [], "data": {}}})

    def take_back(self, run: str) -> None:
        if run in self._by_run:
            self.tell(run, {"event": "message-finish", "metadata": VOID})
        meta = {"langgraph_checkpoint_ns": "t:1"}
        part = Part((), "messages", RemoveMessage(id=run), meta)
        params = {"namespace": [], "data": (part.data, part.meta)}
        self.own.process({"method": HIDDEN_METHOD, "params": params})


def begin(run: str, role: str = "ai") -> Any:
    return {"event": "message-start", "role": role, "id": run}


def block(kind: str = "text", index: int = 0) -> Any:
    return {"event": "content-block-start", "index": index, "content": {"type": kind}}


def words(text: str, kind: str = "text", index: int = 0) -> Any:
    delta = {"type": f"{kind}-delta", kind: text}
    return {"event": "content-block-delta", "index": index, "delta": delta}


def block_end(text: str, kind: str = "text", index: int = 0) -> Any:
    content = {"type": kind, kind: text}
    return {"event": "content-block-finish", "index": index, "content": content}


END: Any = {"event": "message-finish"}


class TestWhereOneBreaksOff:
    def test_an_answer_broken_off_in_its_reasoning_goes_on(self) -> None:
        upstream = Upstream()
        upstream.tell("a", begin("a"), block("reasoning"), words("One", "reasoning"))
        upstream.take_back("a")
        told = len(upstream.given)
        upstream.tell("b", begin("b"), block("reasoning"), words("One two", "reasoning"))
        assert upstream.given[told:] == [words(" two", "reasoning")]

    def test_behind_a_block_that_is_finished(self) -> None:
        upstream = Upstream()
        thought = (block("reasoning"), words("Hm.", "reasoning"), block_end("Hm.", "reasoning"))
        upstream.tell("a", begin("a"), *thought, block(index=1), words("One", index=1))
        upstream.take_back("a")
        told = len(upstream.given)
        upstream.tell("b", begin("b"), *thought, block(index=1), words("One two", index=1))
        assert [
            each for each in upstream.given[told:] if each.get("delta") != words("")["delta"]
        ] == [
            {**words("", "reasoning")},
            words(" two", index=1),
        ]
        assert list(upstream._by_run) == ["b"]

    @pytest.mark.parametrize(
        ("broken", "later"),
        [
            (
                (block("tool_call_chunk"), block(index=1), words("One", index=1)),
                (block(), words("One two")),
            ),
            ((block(), words("One")), (block(index=1), words("One two", index=1))),
        ],
    )
    def test_an_answer_broken_off_in_other_blocks_is_void(self, broken: Any, later: Any) -> None:
        upstream = Upstream()
        upstream.tell("a", begin("a"), *broken)
        upstream.take_back("a")
        told = len(upstream.given)
        upstream.tell("b", begin("b"), *later)
        assert upstream.given[told]["metadata"] == VOID
        assert upstream.given[told + 1 :] == [begin("b"), *later]

    def test_an_answer_broken_off_in_a_tool_call_is_void(self) -> None:
        """Upstream would add the arguments to those that it has."""
        upstream = Upstream()
        said = (block(), words("One"), block("tool_call_chunk", index=1))
        upstream.tell("a", begin("a"), *said)
        upstream.take_back("a")
        told = len(upstream.given)
        upstream.tell("b", begin("b"), *said, END)
        assert upstream.given[told]["metadata"] == VOID
        assert upstream.given[told + 1 :] == [begin("b"), *said, END]

    def test_an_answer_broken_off_at_its_very_end_is_ended_by_the_next(self) -> None:
        upstream = Upstream()
        said = (block(), words("One"), block_end("One"))
        upstream.tell("a", begin("a"), *said)
        upstream.take_back("a")
        told = len(upstream.given)
        upstream.tell("b", begin("b"), *said, END)
        assert upstream.given[told:] == [words(""), END]

    def test_only_one_later_answer_goes_on_with_a_broken_off_one(self) -> None:
        upstream = Upstream()
        upstream.tell("a", begin("a"), block(), words("One"))
        upstream.take_back("a")
        upstream.tell("b", begin("b"), block(), words("One two"))
        upstream.tell("c", begin("c"))
        assert list(upstream._by_run) == ["b", "c"]

    def test_behind_a_state_it_ends_at_once(self) -> None:
        upstream = Upstream()
        upstream.tell("a", begin("a"), block(), words("One"))
        upstream.state()
        upstream.take_back("a")
        assert not upstream._by_run

    def test_what_a_middleware_hides_is_not_compared(self) -> None:
        upstream = Upstream()
        upstream.tell("a", begin("a", "tool"), block(), words("One"), block_end("One"), END)
        upstream.take_back("a")
        told = len(upstream.given)
        upstream.tell("b", begin("b"), block(), words("One"))
        assert upstream.given[told:] == [begin("b"), block(), words("One")]


def test_what_begins_with_another_block_is_not_held_back() -> None:
    upstream = Upstream()
    upstream.tell("a", begin("a"), block(), words("One"), block_end("One"), END)
    upstream.take_back("a")
    told = len(upstream.given)
    upstream.tell("b", begin("b"), block("tool_call_chunk"))
    assert upstream.given[told:] == [begin("b"), block("tool_call_chunk")]


def test_what_is_still_held_back_comes_with_the_next_state() -> None:
    upstream = Upstream()
    upstream.tell("a", begin("a"), block(), words("One"), block_end("One"), END)
    upstream.take_back("a")
    upstream.tell("b", begin("b"), block(), words("One"))
    assert not upstream._by_run
    upstream.state()
    assert list(upstream._by_run) == ["b"]


def test_an_edit_that_nobody_was_shown_stands_for_no_answer() -> None:
    upstream = Upstream()
    params = {
        "namespace": [],
        "data": (AIMessage("One", id="a"), {"langgraph_checkpoint_ns": "t:1"}),
    }
    upstream.own.process({"method": HIDDEN_METHOD, "params": params})
    upstream.take_back("a")
    upstream.tell("b", begin("b"))
    assert list(upstream._by_run) == ["b"]
