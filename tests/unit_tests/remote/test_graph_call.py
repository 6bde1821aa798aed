"""What a server is asked for."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import date
from inspect import signature
from typing import Any, ClassVar

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    RemoveMessage,
    convert_to_messages,
)
from langgraph._internal import _constants as upstream
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command, Send
from pydantic import BaseModel, Field, field_serializer

from langgraph_once import OnceRemoteGraph
from langgraph_once.remote import node
from langgraph_once.remote.shapes import (
    INNER_PREFIX,
    checkpoint_of,
    sent,
    stepped,
    wire_modes,
)
from langgraph_once.stream.readers import TASK_ID_KEY
from langgraph_once.stream.shapes import revive

USAGE: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
CALL: Any = {"name": "f", "args": {"n": 1}, "id": "c", "type": "tool_call"}
BROKEN: Any = {
    "name": "f",
    "args": "{",
    "id": "d",
    "error": "not JSON",
    "type": "invalid_tool_call",
}


def test_the_keys_of_a_node_in_a_config_are_those_of_upstream() -> None:
    """The keys of a config that a graph keeps for itself, as upstream calls them."""
    assert TASK_ID_KEY == upstream.CONFIG_KEY_TASK_ID
    assert node.NS_KEY == upstream.CONFIG_KEY_CHECKPOINT_NS
    assert node.STREAM_KEY == upstream.CONFIG_KEY_STREAM
    assert node.SCRATCHPAD_KEY == upstream.CONFIG_KEY_SCRATCHPAD
    assert node.RESUMING_KEY == upstream.CONFIG_KEY_RESUMING
    assert node.RESUME_MAP_KEY == upstream.CONFIG_KEY_RESUME_MAP
    inner = {name for name in vars(upstream) if name.startswith("CONFIG_KEY_")}
    told = {"CONFIG_KEY_THREAD_ID", "CONFIG_KEY_CHECKPOINT_MAP", "CONFIG_KEY_CHECKPOINT_ID"}
    told.add("CONFIG_KEY_CHECKPOINT_NS")
    assert all(getattr(upstream, name).startswith(INNER_PREFIX) for name in inner - told)


class TestModes:
    def test_updates_are_always_among_the_modes_that_are_asked_for(self) -> None:
        assert wire_modes({"messages"}) == ["messages-tuple", "updates"]
        assert wire_modes({"values", "events"}) == ["updates", "values"]


class TestMessages:
    def test_the_server_reads_a_message_as_it_was(self) -> None:
        said = AIMessage("Hi", id="a", tool_calls=[CALL], response_metadata={"model": "m"})
        assert convert_to_messages([sent(said)]) == [said]

    def test_what_it_takes_for_additional_comes_back_in_its_place(self) -> None:
        said = AIMessage(
            "Hi",
            id="a",
            usage_metadata=USAGE,
            invalid_tool_calls=[BROKEN],
            additional_kwargs={"mine": 1},
        )
        (there,) = convert_to_messages([sent(said)])
        assert there.additional_kwargs.keys() > {"mine"}  # it does so
        assert revive(there.model_dump()) == said

    def test_a_chunk_goes_as_the_message_that_it_is_so_far(self) -> None:
        (there,) = convert_to_messages([sent(AIMessageChunk(content="Hi", id="a"))])
        assert type(there) is AIMessage
        assert (there.text, there.id) == ("Hi", "a")

    def test_an_input_that_comes_back_raw_is_known_for_a_message(self) -> None:
        asked = {"messages": [HumanMessage("Hi", id="h")], "notes": ({"n": [1]},)}
        raw = sent(asked)
        assert raw["messages"][0]["content"] == "Hi"
        assert revive(raw) == {"messages": asked["messages"], "notes": [{"n": [1]}]}

    def test_a_removal_is_sent_as_json(self) -> None:
        (there,) = convert_to_messages([sent(RemoveMessage(id="a"))])
        assert there == RemoveMessage(id="a")


class Asked(BaseModel):
    """A state as a model, with a value of its own form."""

    messages: list[Any]
    day: date = date(2026, 1, 1)
    notes: set[int] = {7}
    hidden: list[Any] = Field(default=[HumanMessage("No.", id="n")], exclude=True)

    @field_serializer("day")
    def year(self, day: date) -> int:
        return day.year


@dataclass
class Told:
    """A state as a dataclass."""

    messages: list[Any]
    topic: str = "once"


class TestStates:
    """Whatever a state is made of: the messages in it go as those of a plain dict."""

    SAID: ClassVar[list[Any]] = [AIMessageChunk(content="Hi", id="a"), AIMessage("Ho", id="b")]

    @pytest.mark.parametrize("kind", [OrderedDict, Told, Asked])
    def test_an_input_may_be_a_mapping_a_dataclass_or_a_model(self, kind: Any) -> None:
        said = sent(kind(messages=self.SAID))
        assert [type(m) for m in convert_to_messages(said["messages"])] == [AIMessage] * 2
        assert said["messages"] == sent(self.SAID)

    def test_a_pydantic_input_dumps_all_but_messages_itself(self) -> None:
        said = sent(Asked(messages=self.SAID))
        assert {**said, "messages": []} == {"messages": [], "day": 2026, "notes": {7}}
        assert sent(Told([], "twice")) == Told([], "twice")  # the client's business
        assert sent(Told(self.SAID, "twice"))["topic"] == "twice"

    @pytest.mark.parametrize("kind", [tuple, deque])
    def test_messages_in_other_lists_of_an_input_are_sent_as_json(self, kind: Any) -> None:
        assert sent({"messages": kind(self.SAID)})["messages"] == sent(self.SAID)

    def test_sets_in_an_input_are_sent_as_lists_and_classes_stay(self) -> None:
        assert sent({"a": {1}, "b": frozenset({2})}) == {"a": [1], "b": [2]}
        assert sent(Told) is Told


class TestCommands:
    def test_an_input_or_a_command_becomes_what_the_sdk_takes(self) -> None:
        assert stepped({"x": 1}) == {"input": {"x": 1}}
        assert stepped(None) == {"input": None}
        command: Any = Command(resume={"a": HumanMessage("Hi", id="h")}, goto=["n", Send("m", 5)])
        made = stepped(command)["command"]
        assert made["goto"] == ["n", {"node": "m", "input": 5}]
        assert made["resume"]["a"]["type"] == "human"
        assert made["update"] is None

    def test_a_checkpoint_is_named_only_by_its_id(self) -> None:
        assert checkpoint_of({"thread_id": "t"}) == {}
        whole = {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c", "user": "u"}
        assert checkpoint_of(whole) == {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c"}


def test_a_config_keeps_nothing_of_the_graph_around() -> None:
    graph = OnceRemoteGraph("g", url="http://127.0.0.1:1")
    config: Any = {"configurable": {"__pregel_resuming": True, "user": "u", "thread_id": "t"}}
    assert graph._sanitize_config(config)["configurable"] == {"user": "u", "thread_id": "t"}


def test_a_copy_keeps_what_was_configured() -> None:
    from langgraph_once import DedupConfig
    from langgraph_once.config import RemoteConfig

    dedup, remote = DedupConfig(state="full"), RemoteConfig(max_retries=3)
    graph = OnceRemoteGraph("g", url="http://127.0.0.1:1", dedup=dedup, remote=remote)
    clone = graph.with_config({"tags": ["t"]})
    assert (clone.dedup, clone.remote) == (dedup, remote)


STATES = ("get_state", "get_state_history", "update_state")
STREAMS = ("stream", "invoke", "stream_events")


@pytest.mark.parametrize("name", ["__init__", "copy", *STATES, *STREAMS])
def test_a_signature_hides_no_option_of_upstreams(name: str) -> None:
    for each in {name, name if name.startswith("_") or name == "copy" else f"a{name}"}:
        told = signature(getattr(OnceRemoteGraph, each)).parameters
        options = signature(getattr(RemoteGraph, each)).parameters
        assert [option for option in options if option not in told] == []
    assert "ledger" in signature(OnceRemoteGraph.stream).parameters


def test_a_wrong_option_is_refused_at_once() -> None:
    wrong: Any = {"uri": "http://127.0.0.1:1"}
    with pytest.raises(TypeError, match="uri"):
        OnceRemoteGraph("g", **wrong)
