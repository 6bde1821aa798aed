"""v3: what upstream's list of messages is given, event by event, of repeated answers."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.stream.transformers import MessagesTransformer

from langgraph_once.stream import Part
from langgraph_once.stream.v3 import VOID
from langgraph_once.stream.v3_channel import HIDDEN_METHOD, RunMessages


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


def test_an_answer_that_breaks_off_ends_as_void_and_the_next_comes_from_its_beginning() -> None:
    upstream = Upstream()
    upstream.tell("a", begin("a"), block(), words("One"))
    upstream.take_back("a")
    assert upstream.given[-1]["metadata"] == VOID
    told = len(upstream.given)
    later = begin("b"), block(), words("One two"), block_end("One two"), END
    upstream.tell("b", *later)
    assert upstream.given[told:] == [*later]


def test_an_answer_that_is_held_back_and_breaks_off_is_nowhere_and_the_first_still_stands() -> None:
    upstream = Upstream()
    said = block(), words("One"), block_end("One"), END
    upstream.tell("a", begin("a"), *said)
    upstream.take_back("a")
    told = len(upstream.given)
    upstream.tell("b", begin("b"), block(), {"event": "message-finish", "metadata": VOID})
    upstream.take_back("b")
    upstream.tell("c", begin("c"), *said)
    assert upstream.given[told:] == []


def test_an_answer_that_goes_beyond_a_complete_one_comes_as_it_streams() -> None:
    upstream = Upstream()
    upstream.tell("a", begin("a"), block(), words("One"), block_end("One"), END)
    upstream.take_back("a")
    told = len(upstream.given)
    later = begin("b"), block(), words("One"), words(" two")
    upstream.tell("b", *later)
    assert upstream.given[told:] == [*later]


def test_an_answer_that_breaks_off_behind_a_state_ends_at_once() -> None:
    upstream = Upstream()
    upstream.tell("a", begin("a"), block(), words("One"))
    upstream.state()
    upstream.take_back("a")
    assert not upstream._by_run


def test_what_a_middleware_hides_is_not_compared() -> None:
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
