"""Reconcile: what checkpoints prove, as the history of a thread tells it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import orjson
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage

from langgraph_once.remote.connection import FrameReader
from langgraph_once.remote.reconcile import (
    Delivered,
    failure,
    lost_parts,
    repeated_tasks,
    void_tasks,
)
from langgraph_once.remote.runs import Consumer
from langgraph_once.stream import Part

ALL = frozenset({"messages-tuple", "updates", "values"})
MESSAGES = frozenset({"messages-tuple"})


def said_by(task: str, *ids: str, unfinished: Collection[str] = ()) -> Delivered:
    return Delivered(messages={task: {each: each not in unfinished for each in ids}})


def said(message_id: str, content: str, kind: str = "ai") -> dict[str, Any]:
    return {
        "type": kind,
        "content": content,
        "id": message_id,
        "additional_kwargs": {},
        "response_metadata": {},
    }


def task(name: str, result: Any = None, **facts: Any) -> dict[str, Any]:
    return {"name": name, "id": f"{name}-1", "result": result, **facts}


def state(step: int, messages: list[Any], *tasks: Any, **facts: Any) -> dict[str, Any]:
    return {
        "values": {"messages": messages},
        "next": [found["name"] for found in tasks],
        "tasks": list(tasks),
        "metadata": {"step": step, "source": "input" if step < 0 else "loop"},
        "checkpoint": {"checkpoint_id": str(step)},
        **facts,
    }


ASKED, FIRST, SECOND = said("h", "Well?", "human"), said("a", "Ha ha."), said("b", "Ho.")
RUN = [
    state(2, [ASKED, FIRST, SECOND]),
    state(1, [ASKED, FIRST], task("second", {"messages": [SECOND]})),
    state(0, [ASKED], task("first", {"messages": [FIRST]})),
    state(-1, [], task("__start__", {"messages": [ASKED]})),
]


def parts(
    states: list[Any], *modes: str, received: Delivered | None = None
) -> list[tuple[str, Any]]:
    found = lost_parts(states, frozenset(modes) or ALL, received or Delivered())
    return [(part.mode, part.data) for part in found]


def texts(states: list[Any]) -> list[str]:
    return [data.text for _, data in parts(states, "messages-tuple")]


class TestMessages:
    def test_what_tasks_wrote_and_not_what_the_user_said(self) -> None:
        assert texts(RUN) == ["Ha ha.", "Ho."]

    def test_each_reconciled_message_says_which_task_wrote_it(self) -> None:
        first, _ = lost_parts(RUN, MESSAGES, Delivered())
        assert first.meta == {
            "langgraph_checkpoint_ns": "first:first-1",
            "langgraph_node": "first",
            "langgraph_step": 1,
        }

    def test_a_message_that_a_task_only_hands_on_is_none_of_its_own(self) -> None:
        again = state(1, [ASKED, FIRST], task("second", {"messages": [ASKED, FIRST, SECOND]}))
        first, second = lost_parts([RUN[0], again, *RUN[2:]], MESSAGES, Delivered())
        assert (first.meta["langgraph_node"], second.meta["langgraph_node"]) == ("first", "second")

    def test_a_message_that_was_edited_during_a_gap_comes_as_it_is_now(self) -> None:
        edited = said("a", "He he.")
        states = [
            state(2, [ASKED, edited]),
            state(1, [ASKED, FIRST], task("second", {"messages": [edited]})),
            *RUN[2:],
        ]
        assert texts(states) == ["He he."]

    def test_a_message_that_was_removed_during_a_gap_is_removed_where_it_may_have_come(
        self,
    ) -> None:
        states = [state(2, [ASKED, SECOND]), *RUN[1:]]
        assert texts(states) == ["Ho."]
        removal, second = lost_parts(states, MESSAGES, said_by("first:first-1", "streamed"))
        assert removal.data == RemoveMessage(id="a")
        assert second.data.text == "Ho."

    def test_a_message_that_waits_for_its_step_to_end_comes(self) -> None:
        waiting = state(1, [ASKED, FIRST], task("second", {"messages": [SECOND]}), task("third"))
        assert texts([waiting, *RUN[2:]]) == ["Ha ha.", "Ho."]

    def test_a_consumer_that_has_half_of_one_gets_the_other_half(self) -> None:
        consumer = Consumer(None, None, ["messages"])
        meta = {"langgraph_checkpoint_ns": "first:first-1"}
        chunk = Part((), "messages", AIMessageChunk(content="Ha", id="a"), meta)
        assert list(consumer.feed(chunk)) == [chunk]
        got = [
            (new.data.id, new.data.text)
            for part in lost_parts(RUN, MESSAGES, Delivered())
            for new in consumer.feed(part)
        ]
        assert got == [("a", " ha."), ("b", "Ho.")]

    def test_half_a_message_gives_way_to_the_copy_that_its_task_returned(self) -> None:
        said = said_by("first:first-1", "half", "whole", unfinished={"half"})
        removal, first, _ = lost_parts(RUN, MESSAGES, said)
        assert removal.data == RemoveMessage(id="half")
        assert first.data.text == "Ha ha."

    def test_half_a_message_that_the_state_has_is_filled_up(self) -> None:
        said = said_by("first:first-1", "a", unfinished={"a"})
        told = lost_parts(RUN, MESSAGES, said)
        assert [part.data.id for part in told] == ["a", "b"]

    def test_a_copy_of_what_was_streamed_is_not_said_again(self) -> None:
        consumer = Consumer(None, None, ["messages"])
        meta = {"langgraph_checkpoint_ns": "first:first-1"}
        last = AIMessageChunk(content="Ha ha.", id="streamed", chunk_position="last")
        list(consumer.feed(Part((), "messages", last, meta)))
        got = [
            new.data.text
            for part in lost_parts(RUN, MESSAGES, Delivered())
            for new in consumer.feed(part)
        ]
        assert got == ["Ho."]


class TestUpdatesAndValues:
    def test_the_updates_that_did_not_come(self) -> None:
        body = b"event: updates\r\ndata: " + orjson.dumps({"first": {"messages": [FIRST]}})
        (came,) = FrameReader().feed(body + b"\r\nid: 1-0\r\n\r\n")
        found = parts(RUN, "updates", received=Delivered(updates={came.check}))
        assert found == [("updates", {"second": {"messages": [AIMessage("Ho.", id="b")]}})]

    def test_the_last_values_with_what_the_graph_waits_for(self) -> None:
        waiting = state(2, [ASKED], interrupts=[{"value": "ok?", "id": "i"}])
        (values,) = lost_parts([waiting], frozenset({"values"}), Delivered())
        assert list(values.data) == ["messages"]
        assert [found.value for found in values.meta["interrupts"]] == ["ok?"]
        ((_, update),) = parts([waiting], "updates")
        assert [found.value for found in update["__interrupt__"]] == ["ok?"]

    def test_only_what_was_asked_for(self) -> None:
        assert [mode for mode, _ in parts(RUN)] == [*["messages"] * 2, *["updates"] * 2, "values"]
        assert parts(RUN, "custom") == []
        assert parts([], "values") == []


class TestVoidTasks:
    """A server that starts anew does again, by other tasks, what it had not written down."""

    def test_tasks_that_the_thread_knows_nothing_of_are_void(self) -> None:
        assert [*void_tasks(RUN, ["first:first-1", "second:0", "second:second-1"])] == ["second:0"]

    def test_messages_of_void_tasks_are_taken_back(self) -> None:
        taken_back, *_ = lost_parts(RUN, ALL, said_by("second:0", "x"))
        assert taken_back.data == RemoveMessage(id="x")

    def test_void_tasks_are_told_only_where_every_checkpoint_is_there(self) -> None:
        assert [*void_tasks([*RUN[:1], *RUN[2:]], ["second:0"])] == []
        told = lost_parts(RUN, ALL, said_by("second:0", "x"), is_whole=False)
        assert RemoveMessage(id="x") not in [part.data for part in told]

    def test_tasks_that_an_earlier_run_left_behind_as_it_began_again_are_void(self) -> None:
        """`langgraph dev` does that to the first run of a thread where it forgot the second."""
        again = state(2, [ASKED, FIRST], task("__start__", {"messages": [ASKED]}))
        again["metadata"]["source"] = "input"
        left = state(1, [ASKED, FIRST], task("second"))
        said = ["first:first-1", "second:second-1"]
        assert [*void_tasks([again, left, *RUN[2:]], said)] == ["second:second-1"]


class TestRepeatedTasks:
    """A run is killed amid a task, and an earlier one of the thread does that task again."""

    @staticmethod
    def by(run_id: str | None) -> list[dict[str, Any]]:
        """Checkpoints of which the newest is that of a run."""
        newest, before, *older = RUN
        parent = {"checkpoint_id": before["checkpoint"]["checkpoint_id"]}
        metadata = {**newest["metadata"], "run_id": run_id}
        return [{**newest, "metadata": metadata, "parent_checkpoint": parent}, before, *older]

    def test_what_the_run_said_amid_such_a_task_is_taken_back(self) -> None:
        sent = said_by("second:second-1", "streamed", "copy")
        told = lost_parts(self.by("earlier"), MESSAGES, sent, run_id="killed")
        assert [(part.data.type, part.data.id) for part in told] == [
            ("remove", "streamed"),
            ("remove", "copy"),
            ("ai", "a"),
            ("ai", "b"),
        ]

    def test_a_task_that_returned_what_was_sent_was_not_repeated(self) -> None:
        sent = {"second:second-1": ["at its side", "b"]}
        assert [*repeated_tasks(self.by("earlier"), sent, "killed")] == []

    def test_a_task_of_which_nothing_was_sent_was_not_repeated(self) -> None:
        assert [*repeated_tasks(self.by("earlier"), {}, "killed")] == []

    def test_only_another_run_repeats(self) -> None:
        sent = {"second:second-1": ["streamed"]}
        assert [*repeated_tasks(self.by("earlier"), sent, "killed")] == [*sent]
        assert [*repeated_tasks(self.by("killed"), sent, "killed")] == []
        assert [*repeated_tasks(self.by(None), sent, "killed")] == []

    def test_only_the_checkpoint_after_a_task_tells_who_did_it(self) -> None:
        newest, *older = self.by("earlier")
        fork = {**newest, "parent_checkpoint": {"checkpoint_id": "0"}}
        sent = {"second:second-1": ["streamed"]}
        assert [*repeated_tasks([fork, *older], sent, "killed")] == []


def test_a_failure_is_told_by_the_task_that_failed() -> None:
    failed = [state(0, [], task("a"), task("b", error="ValueError('no')"))]
    assert failure(failed, "error") == {"error": "error", "message": "ValueError('no')"}
    assert failure([], "timeout") == {"error": "timeout", "message": "the run failed"}


def test_a_failure_that_is_told_as_its_stream_tells_it_stays_so() -> None:
    said = {"error": "ValueError", "message": "no"}
    assert failure([state(0, [], task("a", error=said))], "error") == said
