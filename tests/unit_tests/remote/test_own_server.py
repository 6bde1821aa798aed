"""A node that asks the server that runs it has a thread of its own there."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import Any
from uuid import UUID

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from langgraph_once import OnceRemoteGraph
from langgraph_once.errors import ConfigError
from langgraph_once.remote.node import (
    IN_ONE_PROCESS,
    ServedRun,
    check_room,
    in_own_thread,
    served_run,
)
from langgraph_once.remote.reconnect import arun_steps, run_steps
from langgraph_once.stream.readers import TASK_ID_KEY

RUN = ServedRun("6a28fe15-1b1b-437e-9074-e592919760d6", "f89d5be3-12ed-427d-8b18-a1abbcf37b98")


def config(task: str = "team:1|ask:2", **metadata: Any) -> Any:
    asked = {TASK_ID_KEY: "2", "checkpoint_ns": task, "thread_id": RUN.thread_id}
    return {
        "configurable": asked,
        "metadata": {"langgraph_api_version": "0.16.7", "run_id": RUN.run_id, **metadata},
    }


class Server:
    """Answers what a server answers for a run, and its metrics; notes what it was asked."""

    def __init__(self, *, status: int = 200, room: int = 10) -> None:
        self.status = status
        self.room = room
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if request.url.path == "/metrics":
            return httpx.Response(200, json={"workers": {"max": self.room}})
        return httpx.Response(self.status, json={"status": "running"})

    def threads(self, *configs: Any) -> list[str]:
        """The threads that the node runs in, sync; async must say the same."""
        there = httpx.MockTransport(self)
        with httpx.Client(transport=there, base_url="http://server") as http:
            graph = OnceRemoteGraph("other", sync_client=SyncLangGraphClient(http))
            client = graph._validate_sync_client()
            found = [run_steps(client, graph._apart(each)) for each in configs]
        asked, self.asked = self.asked, []
        assert found == asyncio.run(self._afound(configs, there))
        assert asked == self.asked
        return [each["configurable"].get("thread_id", "") for each in found if each]

    async def _afound(self, configs: Any, there: httpx.MockTransport) -> list[Any]:
        async with httpx.AsyncClient(transport=there, base_url="http://server") as http:
            graph = OnceRemoteGraph("other", client=LangGraphClient(http))
            aclient = graph._validate_client()
            return [await arun_steps(aclient, graph._apart(each)) for each in configs]


def test_on_its_own_server_it_is_another_thread() -> None:
    server = Server()
    one, again = server.threads(config(), config("team:1|ask:9"))
    assert one == again != RUN.thread_id
    assert UUID(one)
    assert server.asked == [f"/threads/{RUN.thread_id}/runs/{RUN.run_id}", "/metrics"]


def test_each_node_and_each_assistant_has_its_own() -> None:
    places = [("ask:1", "a"), ("ask:1", "b"), ("team:1|ask:2", "a")]
    found = [in_own_thread(config(task), RUN, name) for task, name in places]
    assert len({each["configurable"]["thread_id"] for each in found}) == 3


def test_on_another_server_it_is_the_same_thread() -> None:
    server = Server(status=404)
    assert server.threads(config(), config()) == [RUN.thread_id, RUN.thread_id]
    assert len(server.asked) == 1


def test_a_server_that_does_not_answer_is_asked_again() -> None:
    server = Server(status=403)
    assert server.threads(config(), config()) == [RUN.thread_id, RUN.thread_id]
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "given",
    [
        None,
        {"configurable": {}},
        {**config(), "metadata": {}},
        {**config(), "configurable": {"thread_id": RUN.thread_id}},
        {**config(), "configurable": {TASK_ID_KEY: "2"}},
    ],
    ids=["no config", "an empty one", "no server", "no node", "no thread"],
)
def test_a_caller_that_is_no_node_of_a_served_graph_asks_nothing(given: Any) -> None:
    assert served_run(given) is None
    server = Server()
    server.threads(given)
    assert server.asked == []


def test_without_room_for_a_second_run_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, IN_ONE_PROCESS, ModuleType(IN_ONE_PROCESS))
    with pytest.raises(ConfigError, match="--n-jobs-per-worker: is 1, so that 'other'"):
        Server(room=1).threads(config())
    assert Server(room=2).threads(config())


@pytest.mark.parametrize("metrics", [{"workers": {"max": 1}}, {}, None, [], {"workers": 1}])
def test_a_server_of_several_processes_may_have_room(
    monkeypatch: pytest.MonkeyPatch, metrics: Any
) -> None:
    monkeypatch.delitem(sys.modules, IN_ONE_PROCESS, raising=False)
    check_room(metrics, "other")
