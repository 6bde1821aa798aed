"""Server-sent events as the parts of a local graph."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.errors import ParentCommand
from langgraph.pregel.remote import RemoteException
from langgraph.types import Command, Interrupt, Send

from langgraph_once.remote.shapes import Pages, local_parts, snapshot
from langgraph_once.stream import Part

SCHEMA = {"type": "string"}
CHUNK = AIMessageChunk(content="Hi", id="a").model_dump()
META = {
    "langgraph_path": ["__pregel_push", 0, ["__pregel_pull", "n"]],
    "langgraph_triggers": ["x"],
}


def read(event: str, data: Any) -> Part:
    (part,) = local_parts((event, data, "1-0"))
    return part


class TestShapes:
    def test_a_token_with_its_tuples(self) -> None:
        part = read("messages|n:1", [CHUNK, META])
        assert part.ns == ("n:1",)
        assert part.data == AIMessageChunk(content="Hi", id="a")
        assert part.meta["langgraph_path"] == ("__pregel_push", 0, ("__pregel_pull", "n"))
        assert part.meta["langgraph_triggers"] == ("x",)

    def test_metadata_that_are_as_a_local_graph_has_them_stay_one_object(self) -> None:
        """By which the last chunk of a model run is known, though it has another id."""
        meta = {"langgraph_path": ("__pregel_pull", "n"), "langgraph_step": 1}
        assert read("messages|n:1", [CHUNK, meta]).meta is meta

    def test_a_state_apart_from_its_interrupts(self) -> None:
        interrupt = {"value": 1, "id": "i", "response_schema": SCHEMA}
        part = read("values", {"x": 1, "__interrupt__": [interrupt]})
        assert part.data == {"x": 1}
        assert part.meta["interrupts"] == (Interrupt(1, id="i", response_schema=SCHEMA),)

    def test_an_update_with_its_interrupts(self) -> None:
        part = read("updates", {"__interrupt__": [{"value": 1, "id": "i"}]})
        assert part.data == {"__interrupt__": (Interrupt(1, id="i"),)}

    def test_a_message_that_a_node_says_as_a_pair(self) -> None:
        said = {"messages": [["ai", "Hi"], ["a", "b"], "ai"], "pairs": [["ai", "Hi"]]}
        told = {"messages": [("ai", "Hi"), ["a", "b"], "ai"], "pairs": [["ai", "Hi"]]}
        assert read("updates", {"n": said, "m": None}).data == {"n": told, "m": None}
        assert read("updates", {"n": {"messages": ["ai", "Hi"]}}).data == {
            "n": {"messages": ("ai", "Hi")}
        }
        assert read("updates", {"n": [said, {"x": 1}]}).data == {"n": [told, {"x": 1}]}

    def test_parts_of_tasks_have_the_local_shape(self) -> None:
        begun = {"id": "t", "name": "n", "input": {"m": [CHUNK]}, "triggers": ["x", "y"]}
        part = read("tasks", begun)
        assert part.data["triggers"] == ("x", "y")
        assert part.data["input"] == {"m": [AIMessageChunk(content="Hi", id="a")]}
        done: Any = {"id": "t", "name": "n", "error": None, "result": {}, "interrupts": []}
        assert read("tasks", done).data == done
        failed = {**done, "error": {"error": "ValueError", "message": "no"}}
        assert isinstance(read("tasks", failed).data["error"], RemoteException)

    @pytest.mark.parametrize("mode", ["checkpoints", "debug"])
    def test_checkpoints_without_what_the_server_adds(self, mode: str) -> None:
        config = {"configurable": {"checkpoint_id": "c", "__after_seconds__": 0, "user": "u"}}
        payload: Any = {
            "config": config,
            "parent_config": None,
            "values": {},
            "next": ["n"],
            "tasks": [{"id": "t", "name": "n", "interrupts": [{"value": 1, "id": "i"}]}],
        }
        wire = {**payload, "tasks": [{**payload["tasks"][0], "checkpoint": {"checkpoint_ns": "n"}}]}
        told: Any = {**wire, "checkpoint": {"x": 1}, "parent_checkpoint": None}
        event = {"type": "checkpoint", "step": 1, "payload": told} if mode == "debug" else told
        data = read(mode, event).data
        data = data["payload"] if mode == "debug" else data
        assert data == {
            **payload,
            "config": {"configurable": {"checkpoint_id": "c", "user": "u"}},
            "tasks": [
                {
                    "id": "t",
                    "name": "n",
                    "interrupts": ({"value": 1, "id": "i"},),
                    "state": {"configurable": {"checkpoint_ns": "n"}},
                }
            ],
        }

    @pytest.mark.parametrize("event", ["metadata", "end", "heartbeat"])
    def test_frames_of_the_server_about_itself_are_no_parts(self, event: str) -> None:
        assert list(local_parts((event, {"run_id": "r"}, None))) == []


class TestErrors:
    def test_a_run_that_failed(self) -> None:
        with pytest.raises(RemoteException, match="no luck"):
            read("error", {"error": "ValueError", "message": "no luck"})

    @pytest.mark.parametrize("event", ["command", "error"])
    def test_a_command_to_the_graph_around(self, event: str) -> None:
        said = AIMessage("Over.", id="a")
        told: Any = {
            "update": [["messages", [said.model_dump()]], ["topic", "x"]],
            "goto": ["n", {"node": "m", "input": {"city": "Oslo"}}],
        }
        data = {"error": "ParentCommand", "command": told} if event == "error" else told
        with pytest.raises(ParentCommand) as raised:
            read(event, data)
        command = raised.value.args[0]
        assert command == Command(
            graph=Command.PARENT,
            update=[("messages", [said]), ("topic", "x")],
            goto=["n", Send("m", {"city": "Oslo"})],
        )


STATE: Any = {
    "values": {},
    "next": ["n"],
    "checkpoint": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c"},
    "parent_checkpoint": None,
    "metadata": {"step": 1},
    "created_at": None,
    "interrupts": [],
    "tasks": [
        {
            "id": "t",
            "name": "n",
            "path": ["__pregel_pull", "n"],
            "error": {"error": "ValueError", "message": "no"},
            "interrupts": [{"value": 1, "id": "i"}],
            "checkpoint": {"checkpoint_ns": "n:1"},
            "state": None,
            "result": None,
        }
    ],
}


def page_to(checkpoint_id: str, count: int) -> list[dict[str, Any]]:
    """A page whose last state is of this checkpoint."""
    last = {**STATE, "checkpoint": {**STATE["checkpoint"], "checkpoint_id": checkpoint_id}}
    return [STATE] * (count - 1) + [last]


class TestStates:
    def test_a_state_snapshot_has_the_local_shape(self) -> None:
        state = snapshot(STATE)
        (task,) = state.tasks
        assert task.path == ("__pregel_pull", "n")
        assert task.interrupts == (Interrupt(1, id="i"),)
        assert task.state == {"configurable": {"checkpoint_ns": "n:1"}}
        assert isinstance(task.error, RemoteException)
        assert state.interrupts == ()  # answered, the server says, though the task had one
        assert snapshot({**STATE, "interrupts": None}).interrupts == task.interrupts

    @pytest.mark.parametrize("metadata", [{}, None, {"step": 1}])
    def test_metadata_are_what_the_server_says(self, metadata: Any) -> None:
        assert snapshot({**STATE, "metadata": metadata}).metadata == metadata

    def test_pages_of_a_long_history_are_asked_for_in_turn(self) -> None:
        pages = Pages(250, {"checkpoint_id": "z"})
        asked = []
        for last, count in (("y", 100), ("x", 100), ("w", 50)):
            before = pages.asked["before"]
            assert before["checkpoint_id"] == before["configurable"]["checkpoint_id"]
            asked.append((pages.asked["limit"], before["checkpoint_id"]))
            assert len(list(pages.read(page_to(last, count)))) == count
        assert asked == [(100, "z"), (100, "y"), (50, "x")]
        assert pages.size == 0

    def test_no_more_states_than_asked_for_come_of_a_server_that_gives_more(self) -> None:
        pages = Pages(150, None)
        assert len(list(pages.read(page_to("y", 120)))) == 100
        assert len(list(pages.read(page_to("x", 120)))) == 50
        assert pages.size == 0

    def test_a_server_that_gives_one_page_again_is_not_asked_without_end(self) -> None:
        pages = Pages(None, None)
        list(pages.read(page_to("y", 100)))
        assert pages.size == 100
        list(pages.read(page_to("y", 100)))
        assert pages.size == 0

    def test_a_short_page_is_the_last(self) -> None:
        pages = Pages(None, None)
        assert list(pages.read([])) == []
        assert pages.size == 0


@pytest.mark.parametrize("key", ["input", "args"])
def test_a_send_is_known_however_its_argument_is_called(key: str) -> None:
    with pytest.raises(ParentCommand) as raised:
        list(local_parts(("command", {"goto": [{"node": "n", key: {"x": 1}}]}, None)))
    assert raised.value.args[0].goto == [Send("n", {"x": 1})]
