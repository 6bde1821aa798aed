"""Protocol events of a remote v3 run as the chunks of our channel."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessageChunk, HumanMessage

from langgraph_once import DedupConfig
from langgraph_once.remote.v3 import OnceChunks, RunEvents

MINE, OTHER = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"


def event(method: str, data: Any, ns: tuple[str, ...] = (), event_id: str = "1-0") -> Any:
    params = {"namespace": list(ns), "data": data}
    return {"method": method, "event_id": event_id, "params": params}


def life(state: str, run_id: str, ns: tuple[str, ...] = ()) -> Any:
    return event("lifecycle", {"event": state}, ns, f"synth:{run_id}:lc||{state}")


def said(*events: Any) -> list[Any]:
    chunks = OnceChunks()
    return [chunk for each in events for chunk in chunks.feed(each)]


STATE = event("values", {"messages": [{"type": "human", "content": "Hi", "id": "h"}]})
TOKENS = [
    event("messages", {"event": "message-start", "role": "ai", "id": "a"}),
    event(
        "messages",
        {
            "event": "content-block-delta",
            "index": 0,
            "delta": {"type": "text-delta", "text": "Hello"},
        },
    ),
]


class TestChunks:
    def test_the_channel_takes_the_place_of_all_else(self) -> None:
        meta = {"langgraph_path": ["__pregel_pull", "n"]}
        told = AIMessageChunk(content="Hello", id="a").model_dump()
        payload = {"type": "messages", "ns": ["n:1"], "data": [told, meta]}
        (chunk,) = said(event("custom", {"name": "once", "payload": payload}), *TOKENS, STATE)
        assert chunk == {
            "type": "messages",
            "ns": ("n:1",),
            "data": (
                AIMessageChunk(content="Hello", id="a"),
                {"langgraph_path": ("__pregel_pull", "n")},
            ),
        }

    def test_a_hidden_node_is_not_heard_on_the_channel(self) -> None:
        meta = {"langgraph_node": "quiet", "langgraph_checkpoint_ns": "quiet:1"}
        message = AIMessageChunk(content="Hello", id="a").model_dump()
        events = [
            event("custom", {"name": "once", "payload": {"type": kind, "ns": [], "data": data}})
            for kind, data in (("messages", [message, meta]), ("updates", {"quiet": None}))
        ]
        chunks = OnceChunks(DedupConfig(hide={"nodes": ["quiet"]}))
        found = [chunk["type"] for each in events for chunk in chunks.feed(each)]
        assert found == ["updates"]

    def test_a_stock_server_is_read_by_its_events(self) -> None:
        custom = event("custom", {"name": "custom", "payload": {"n": 1}})
        state, start, token, own = said(STATE, *TOKENS, custom)
        assert state["data"] == {"messages": [HumanMessage("Hi", id="h")]}
        assert state["interrupts"] == ()
        assert [chunk["data"][0].id for chunk in (start, token)] == ["a", "a"]
        assert token["data"][0].text == "Hello"
        assert own["data"] == {"n": 1}

    def test_two_namespaces_may_speak_at_a_time(self) -> None:
        def spoken(ns: str, message_id: str) -> list[Any]:
            return [
                event(each["method"], {**each["params"]["data"], "id": message_id}, (ns,))
                for each in TOKENS
            ]

        one, two = spoken("n:1", "a"), spoken("n:2", "b")
        chunks = said(STATE, one[0], two[0], one[1], two[1])[1:]
        assert [(chunk["ns"][0], chunk["data"][0].id) for chunk in chunks] == [
            ("n:1", "a"),
            ("n:2", "b"),
            ("n:1", "a"),
            ("n:2", "b"),
        ]


class TestEvents:
    def test_an_earlier_run_of_the_thread_is_left_out(self) -> None:
        run = RunEvents(MINE)
        events = [life("running", OTHER), STATE, life("completed", OTHER), life("running", MINE)]
        assert [run.has(each) for each in [*events, STATE]] == [False, False, False, True, True]
        assert not run.has_ended

    def test_a_remote_v3_run_ends_with_the_root_and_not_with_a_graph_inside(self) -> None:
        run = RunEvents(MINE)
        assert run.has(life("completed", MINE, ("n:1",)))
        assert not run.has_ended
        assert run.has(life("interrupted", MINE))
        assert (run.is_interrupted, run.has_ended) == (True, False)
        assert run.has(life("failed", MINE))
        assert run.has_ended

    def test_ids_of_another_kind_leave_nothing_out(self) -> None:
        run = RunEvents(MINE)
        assert run.has(event("lifecycle", {"event": "running"}, (), "5-0"))
        assert run.has(STATE)
