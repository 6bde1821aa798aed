"""Consumer: what it has, also where another process goes on with it."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from langgraph_once.config import DedupConfig
from langgraph_once.remote.runs import Consumer
from langgraph_once.stream import GAP_MODE, Ledger, Part

MODES = ("messages", "updates")
AUTO = DedupConfig(state="auto")
META: dict[str, Any] = {"langgraph_checkpoint_ns": "node:1", "ls_model_type": "chat"}


def chunk(message_id: str, text: str, **facts: Any) -> Part:
    return Part((), "messages", AIMessageChunk(content=text, id=message_id, **facts), META)


WHOLE = chunk("a", "One.", chunk_position="last")


def fed(consumer: Consumer, *parts: Part) -> list[Part]:
    return [new for part in parts for new in consumer.feed(part)]


def went_on() -> Consumer:
    """One that goes on, in another process, amid the second message of a task."""
    first = Consumer(AUTO, None, MODES)
    fed(first, WHOLE, chunk("b", "Ha"))
    return Consumer(AUTO, Ledger.from_bytes(first.ledger.to_bytes()), MODES, goes_on=True)


def test_a_message_goes_on_as_it_was_begun() -> None:
    rest = [chunk("b", " ha"), chunk("b", ".", chunk_position="last")]
    got = fed(went_on(), *rest)
    assert [(part.data.type, part.data.id, part.data.text) for part in got] == [
        ("AIMessageChunk", "b", " ha"),
        ("AIMessageChunk", "b", "."),
    ]


def test_what_a_task_said_before_a_reconnect_stays() -> None:
    """For a later stream it would be an earlier attempt of the task."""
    third = chunk("c", "Two.")
    assert fed(went_on(), chunk("b", " ha."), third) == [
        *fed(went_on(), chunk("b", " ha.")),
        third,
    ]


def test_copies_are_known_in_messages_and_in_updates() -> None:
    consumer = went_on()
    fed(consumer, chunk("b", " ha.", chunk_position="last"))
    plain = {"langgraph_checkpoint_ns": "node:1"}
    copies: list[BaseMessage] = [AIMessage("One.", id="x"), AIMessage("Ha ha.", id="y")]
    update = Part((), "updates", {"node": {"messages": copies}})
    assert fed(went_on(), chunk("b", " ha."), update)[1].data == {"node": {"messages": []}}
    assert fed(consumer, *(Part((), "messages", copy, plain) for copy in copies)) == []
    assert fed(consumer, update)[0].data == {"node": {"messages": []}}


def test_what_is_hidden_stays_hidden_when_a_node_returns_a_copy() -> None:
    """A ledger that takes the task for another attempt forgets what that said before."""
    config = DedupConfig(hide={"tags": ["secret"]})
    hidden = {**META, "tags": ["secret"]}
    said = [part._replace(meta=hidden) for part in (WHOLE, chunk("b", "Ha"), chunk("b", " ha"))]
    first = Consumer(config, None, MODES)
    assert fed(first, *said[:2]) == []
    kept = Ledger.from_bytes(first.ledger.to_bytes())
    second = Consumer(config, kept, MODES, goes_on=True)
    copies = [AIMessage(text, id=text) for text in ("One.", "Ha ha")]
    plain: Any = {"langgraph_checkpoint_ns": "node:1"}
    assert fed(second, said[2], *(Part((), "messages", copy, plain) for copy in copies)) == []


def test_a_run_that_runs_again_takes_back_what_it_said() -> None:
    consumer = went_on()
    consumer.ran_again()
    removals = fed(consumer, chunk("z", "One."))[:-1]
    assert sorted(part.data.id for part in removals) == ["a", "b"]


GAP = Part((), GAP_MODE, "the server no longer has all events of the run")


class TestGaps:
    """A node that runs anew behind a gap says the same under an id that nobody has seen."""

    def told(self, *parts: Part) -> list[Any]:
        """The ids that the last of these parts delivers, behind a streamed message `a`."""
        consumer = Consumer(AUTO, None, {"messages", "values"})
        streamed = chunk("a", "ok"), chunk("a", "", chunk_position="last")
        last = fed(consumer, *streamed, *parts)[-1]
        return [message.id for message in last.data["messages"]]

    def state(self, *ids: str) -> Part:
        return Part((), "values", {"messages": [AIMessage("ok", id=each) for each in ids]})

    def test_the_message_of_a_state_after_a_gap_is_the_one_that_was_streamed(self) -> None:
        assert self.told(GAP, self.state("b")) == []

    def test_of_a_state_after_a_gap_one_message_is_left_out_for_each_streamed_one(self) -> None:
        assert self.told(GAP, self.state("b", "c")) == ["c"]

    def test_what_the_state_holds_itself_is_no_twin(self) -> None:
        assert self.told(GAP, self.state("a", "b")) == ["b"]

    def test_without_a_gap_it_is_another_message(self) -> None:
        assert self.told(self.state("b")) == ["b"]
