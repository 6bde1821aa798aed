"""What a filter alone infers from the chunks, and where it must not."""

from __future__ import annotations

import itertools
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_once import DedupConfig, Ledger, dedup
from langgraph_once.stream.content import StreamedContent, content_of
from langgraph_once.stream.shapes import Part
from langgraph_once.stream.v3 import EventReader
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, messages_in, model

ASKED_FOR: Any = {
    "stream_mode": ["messages", "updates", "values"],
    "config": DedupConfig(state="auto"),
}
META = {"langgraph_checkpoint_ns": "n0:1", "langgraph_node": "n0", "ls_model_type": "chat"}


def passed(*chunks: Any) -> list[Any]:
    return list(dedup(iter(chunks), **ASKED_FOR))


def token(text: str, message_id: str = "a", *, last: bool = False, task: str = "n0:1") -> Any:
    position: Any = "last" if last else None
    chunk = AIMessageChunk(content=text, id=message_id, chunk_position=position)
    return "messages", (chunk, {**META, "langgraph_checkpoint_ns": task})


def updates(*messages: Any, node: str = "n0") -> Any:
    return "updates", {node: {"messages": list(messages)}}


class TestUpdates:
    def test_a_pair_of_what_the_node_streamed_is_its_copy(self) -> None:
        told = passed(token("ok", last=True), updates(("ai", "ok")))
        assert told[-1] == updates()

    def test_a_second_one_is_said_on_purpose(self) -> None:
        told = passed(token("ok", last=True), updates(("ai", "ok"), ("ai", "ok")))
        assert told[-1] == updates(("ai", "ok"))

    def test_beside_the_streamed_message_itself_it_is_no_copy(self) -> None:
        itself = AIMessage("ok", id="a")
        told = passed(token("ok", last=True), updates(itself, ("ai", "ok")))
        assert told[-1] == updates(("ai", "ok"))

    def test_a_later_task_of_the_node_says_it_anew(self) -> None:
        told = passed(token("ok", last=True), updates(), updates(("ai", "ok")))
        assert told[-1] == updates(("ai", "ok"))

    def test_each_of_two_tasks_that_say_the_same_has_its_copy_in_an_update(self) -> None:
        tokens = token("ok", last=True), token("ok", "b", last=True, task="n0:2")
        told = passed(*tokens, updates(("ai", "ok")), updates(("ai", "ok")))
        assert told[-2:] == [updates(), updates()]


def test_messages_without_an_id_come_once_in_states() -> None:
    unnamed = AIMessage("ok")
    state = "values", {"answers": [unnamed, unnamed]}
    told = passed(updates(unnamed), updates(unnamed), state, state)
    assert [len(messages_in(data)) for _, data in told] == [1, 1, 0, 0]


def test_a_whole_message_behind_chunks_with_an_empty_id_is_theirs() -> None:
    whole = "messages", (AIMessage("ok", id="lc_run--1"), META)
    assert passed(token("ok", "", last=True), whole) == [token("ok", "", last=True)]


def test_an_id_that_a_task_uses_again_is_another_message() -> None:
    told = passed(token("One.", last=True), token("Two.", last=True))
    assert [type(chunk[0]) for _, chunk in told] == [AIMessageChunk, RemoveMessage, AIMessageChunk]


def test_a_thought_beside_the_content_counts_as_said() -> None:
    thought: Any = {"additional_kwargs": {"reasoning_content": "Hm"}}
    said = StreamedContent(AIMessageChunk(content="", **thought))
    said.extend(AIMessageChunk(content="", additional_kwargs={"reasoning_content": "m."}))
    whole = AIMessage("", additional_kwargs={"reasoning_content": "Hmm."})
    assert said.content() == content_of(whole)
    assert said.size == len("Hmm.")
    said.extend(AIMessageChunk(content="Yes", additional_kwargs={"other": "x"}))
    said.extend(AIMessageChunk(content="", additional_kwargs={"reasoning_content": {"at": 1}}))
    assert said.size == len("Hmm.Yes")
    assert content_of(whole) != content_of(AIMessage(""))


def test_a_thought_among_tokens_is_noted() -> None:
    thought = AIMessageChunk(content="", id="a", additional_kwargs={"reasoning_content": "Hm."})
    whole = AIMessage("ok", id="a", additional_kwargs={"reasoning_content": "Hm."})
    stream = token(""), ("messages", (thought, META)), token("ok", last=True), updates(whole)
    assert passed(*stream)[-1] == updates()


def test_a_tool_call_that_v3_sends_whole_is_read() -> None:
    reader = EventReader()
    call = {"type": "tool_call", "id": "1", "name": "find", "args": {"q": 1}}
    events: Any = [
        {"event": "message-start", "id": "m"},
        {"event": "content-block-start", "index": 0, "content": {**call, "args": {}}},
        {"event": "content-block-finish", "index": 0, "content": call},
    ]
    read = [reader.read(Part((), "messages", event, {"run_id": "r"})) for event in events]
    assert read[1] is None
    assert read[2] is not None
    assert read[2].data.tool_calls[0]["args"] == {"q": 1}


def test_what_a_consumer_left_before_is_not_noted() -> None:
    whole = "messages", (AIMessage("new", id="a"), {**META, "ls_model_type": None})
    ledger = Ledger()
    stream: Any = dedup(iter([token("old", last=True), whole]), ledger=ledger, **ASKED_FOR)
    told = list(itertools.islice(stream, 2))
    stream.close()
    assert isinstance(told[1][1][0], RemoveMessage)
    assert not ledger.entries("a")


def test_a_pair_that_a_checkpoint_made_a_list_is_one_message() -> None:
    runs: list[int] = []

    def dies_once(state: Any) -> Any:
        runs.append(1)
        if len(runs) == 1:
            raise RuntimeError
        return {"messages": [model("Bye.").invoke("?")]}

    plain = chain(lambda _: {"messages": [["ai", "ok"]]}, dies_once)
    graph = exactly(plain.copy({"checkpointer": InMemorySaver()}))
    config: Any = {"configurable": {"thread_id": "1"}}
    told: Any = graph.stream(ASKED, config, stream_mode="messages")
    assert [str(next(told)[0].text)] == ["ok"]
