"""A remote graph against the same graph run here: nothing but ids and clocks may differ."""

from __future__ import annotations

import copy
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import ParentCommand
from langgraph.pregel.remote import RemoteException
from langgraph.types import Command, Send

from langgraph_once import DedupConfig, Ledger
from tests.exact import exactly
from tests.integration_tests.remote import graphs
from tests.integration_tests.remote.compare import differences, normal
from tests.integration_tests.remote.conftest import Remote, cases

ASKED: Any = {
    "messages": [HumanMessage("What is once?", id="question")],
    "topic": "once",
    "cities": ["Oslo"],
}
ANSWERS: list[Any] = [Command(resume="yes"), Command(resume="sure")]
STEPS: dict[str, list[Any]] = {"asks": [ASKED, *ANSWERS]}
AUTO = DedupConfig(state="auto")
MODES = ["messages", "updates", "values", "custom", "tasks", "checkpoints", "debug"]


def local(name: str, dedup: DedupConfig | None = None) -> Any:
    compiled = getattr(graphs, name).compile(checkpointer=InMemorySaver())
    return exactly(compiled, dedup)


def thread() -> Any:
    return {"configurable": {"thread_id": str(uuid4())}}


async def streamed(graph: Any, name: str, config: Any, **asked: Any) -> list[Any]:
    """All chunks, with the error that ended a stream in the place where it did."""
    chunks: list[Any] = []
    for step in STEPS.get(name, [ASKED]):
        try:
            async for chunk in graph.astream(copy.deepcopy(step), config, **asked):
                chunks.append(chunk)  # noqa: PERF401  # what came before an error counts
        except (ValueError, RemoteException) as error:
            chunks.append(error)
    return chunks


@pytest.mark.parametrize(
    ("name", "subgraphs", "version"),
    cases(
        ["chat", "asks", "forgets", "fails"],
        [False, True],
        ["v1", "v2"],
        quick=[
            ("chat", False, "v1"),
            ("asks", True, "v1"),
            ("forgets", False, "v2"),
            ("fails", True, "v2"),
        ],
    ),
)
async def test_a_stream_of_all_modes(
    remote: Remote, name: str, subgraphs: bool, version: str
) -> None:
    asked: Any = {"stream_mode": MODES, "subgraphs": subgraphs, "version": version}
    here = await streamed(local(name), name, thread(), **asked)
    there = await streamed(remote(name), name, thread(), ledger=Ledger(), **asked)
    assert len(here) > 10
    assert list(differences(normal(here), normal(there))) == []


@pytest.mark.parametrize("name", ["chat", "asks"])
async def test_states_that_are_cut_are_cut_alike(remote: Remote, name: str) -> None:
    asked: Any = {"stream_mode": MODES, "subgraphs": True}
    here = await streamed(local(name, AUTO), name, thread(), **asked)
    there = await streamed(remote(name, dedup=AUTO), name, thread(), ledger=Ledger(), **asked)
    assert list(differences(normal(here), normal(there))) == []


@pytest.mark.parametrize("name", ["chat", "chat_plain", "asks", "asks_plain"])
async def test_a_naive_reader_has_the_state(remote: Remote, name: str) -> None:
    """The states, which are beside the tokens, are those that the graph streams by itself."""
    plain = getattr(graphs, name.removesuffix("_plain")).compile(checkpointer=InMemorySaver())
    asked: Any = {"stream_mode": ["messages", "values"]}
    told = []
    for graph in (plain, remote(name)):
        chunks = await streamed(graph, name.removesuffix("_plain"), thread(), **asked)
        told.append([data for mode, data in chunks if mode == "values"])
    assert len(told[0][-1]["messages"]) > 1
    assert list(differences(*map(normal, told))) == []


@pytest.mark.parametrize(
    ("mode", "subgraphs"),
    cases(
        ["messages", "values", ("messages",), None],
        [False, True],
        quick=[("messages", True), ("values", False), (None, False)],
    ),
)
async def test_remote_chunks_of_one_mode_or_none_have_the_local_shape(
    remote: Remote, mode: Any, subgraphs: bool
) -> None:
    asked: Any = {"stream_mode": mode, "subgraphs": subgraphs}
    here = await streamed(local("chat"), "chat", thread(), **asked)
    there = await streamed(remote("chat"), "chat", thread(), **asked)
    assert list(differences(normal(here), normal(there))) == []


async def test_what_runs_side_by_side_is_the_same_in_some_order(remote: Remote) -> None:
    asked: Any = {"stream_mode": MODES, "subgraphs": True}
    here = await streamed(local("team"), "team", thread(), **asked)
    there = await streamed(remote("team"), "team", thread(), **asked)

    def said(chunks: list[Any]) -> Any:
        parts = [(tuple(n.split(":")[0] for n in ns), mode, data) for ns, mode, data in chunks]
        texts = [(ns, data[0].text) for ns, mode, data in parts if mode == "messages"]
        return sorted([(ns, mode) for ns, mode, _ in parts]), sorted(texts)

    assert said(there) == said(here)


def test_a_sync_remote_stream_is_the_async_one(remote: Remote) -> None:
    asked: Any = {"stream_mode": MODES, "subgraphs": True}
    here, there, config = local("asks"), remote("asks"), thread()
    ledger = Ledger()
    for step in STEPS["asks"]:
        mine = list(here.stream(copy.deepcopy(step), config, **asked))
        its = list(there.stream(copy.deepcopy(step), config, ledger=ledger, **asked))
        assert list(differences(normal(mine), normal(its))) == []


@pytest.mark.parametrize(
    ("name", "version"),
    cases(["chat", "asks", "forgets"], ["v1", "v2"], quick=[("asks", "v1"), ("forgets", "v2")]),
)
async def test_remote_invoke_returns_what_a_local_graph_returns(
    remote: Remote, name: str, version: Any
) -> None:
    here, there, config, sync_config = local(name), remote(name), thread(), thread()
    for step in STEPS.get(name, [ASKED]):
        mine = await here.ainvoke(copy.deepcopy(step), config, version=version)
        its = await there.ainvoke(copy.deepcopy(step), config, version=version)
        again = there.invoke(copy.deepcopy(step), sync_config, version=version)
        assert list(differences(normal(mine), normal(its))) == []
        assert list(differences(normal(mine), normal(again))) == []


async def test_remote_invoke_for_all_chunks_returns_those_of_a_local_graph(remote: Remote) -> None:
    asked: Any = {"stream_mode": ["updates", "custom"]}
    mine = await graphs.chat.compile().ainvoke(ASKED, **asked)
    its = remote("chat").invoke(ASKED, **asked)
    assert list(differences(normal(mine), normal(its))) == []


class TestState:
    async def test_snapshots_on_the_way(self, remote: Remote) -> None:
        here, there, config = local("asks"), remote("asks"), thread()
        for step in STEPS["asks"]:
            await here.ainvoke(copy.deepcopy(step), config)
            await there.ainvoke(copy.deepcopy(step), config)
            for inside in (False, True):
                mine = await here.aget_state(config, subgraphs=inside)
                its = await there.aget_state(config, subgraphs=inside)
                assert list(differences(normal(mine), normal(its))) == []
                assert normal(there.get_state(config, subgraphs=inside)) == normal(its)

    async def test_history_has_no_end_of_its_own(self, remote: Remote) -> None:
        here, there, config = local("chat"), remote("chat"), thread()
        for _ in range(3):
            await here.ainvoke(copy.deepcopy(ASKED), config)
            await there.ainvoke(copy.deepcopy(ASKED), config)
        mine = [state async for state in here.aget_state_history(config)]
        its = [state async for state in there.aget_state_history(config)]
        assert len(its) > 10  # where `RemoteGraph` ends
        assert list(differences(normal(mine), normal(its))) == []
        assert normal(list(there.get_state_history(config))) == normal(its)
        some = list(there.get_state_history(config, limit=3, before=its[1].config))
        assert [state.config for state in some] == [state.config for state in its[2:5]]

    async def test_an_update_with_messages(self, remote: Remote) -> None:
        here, there, config = local("chat"), remote("chat"), thread()
        said = AIMessage(
            "Edited.",
            id="edited",
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        )
        update = {"messages": [said, AIMessageChunk(content="In parts.", id="parts")]}
        for graph in (here, there):
            await graph.ainvoke(copy.deepcopy(ASKED), config)
        mine = await here.aupdate_state(config, update, as_node="tools")
        its = await there.aupdate_state(config, update, as_node="tools")
        assert list(differences(normal(mine), normal(its))) == []
        now = there.get_state(config)
        assert list(differences(normal(here.get_state(config)), normal(now))) == []
        assert now.values["messages"][-2] == said
        assert now.config == its

    def test_a_thread_that_has_not_run(self, remote: Remote) -> None:
        graph = remote("chat")
        thread_id = graph._validate_sync_client().threads.create(graph_id="chat")["thread_id"]
        state = graph.get_state({"configurable": {"thread_id": thread_id}})
        assert (state.values, state.next, state.tasks, state.interrupts) == ({}, (), (), ())


class TestConfig:
    async def test_a_run_from_an_old_checkpoint(self, remote: Remote) -> None:
        here, there, config = local("chat"), remote("chat"), thread()
        forked = []
        for graph in (here, there):
            await graph.ainvoke(copy.deepcopy(ASKED), config)
            states = [state async for state in graph.aget_state_history(config)]
            old = next(state for state in states if state.next == ("tools",))
            asked: Any = {"stream_mode": ["updates", "checkpoints"]}
            forked.append([chunk async for chunk in graph.astream(None, old.config, **asked)])
        assert list(differences(*map(normal, forked))) == []

    async def test_a_config_that_came_in_a_checkpoint_can_be_used(self, remote: Remote) -> None:
        graph, config = remote("chat"), thread()
        asked: Any = {"stream_mode": "checkpoints"}
        seen = [chunk async for chunk in graph.astream(ASKED, config, **asked)]
        again = [chunk async for chunk in graph.astream(None, seen[2]["config"], **asked)]
        assert len(again) == 3

    async def test_a_command_with_update_and_sends(self, remote: Remote) -> None:
        command: Any = Command(
            update={"messages": [HumanMessage("Go.", id="go")]},
            goto=[Send("travel", {"city": "Bonn"})],
        )
        told = []
        for graph in (local("team"), remote("team")):
            config = thread()
            await graph.ainvoke(copy.deepcopy(ASKED), config)
            told.append(await graph.ainvoke(command, config))
        texts = [[m.text for m in state["messages"]] for state in told]
        assert sorted(texts[0]) == sorted(texts[1])
        assert "Bonn is worth a visit." in texts[1]

    async def test_stops_before_and_after_a_node(self, remote: Remote) -> None:
        for stop in ({"interrupt_before": ["tools"]}, {"interrupt_after": ["tools"]}):
            told = []
            for graph in (local("chat"), remote("chat")):
                config = thread()
                asked: Any = {"stream_mode": ["tasks", "values"], "version": "v2", **stop}
                chunks = [chunk async for chunk in graph.astream(ASKED, config, **asked)]
                chunks += [chunk async for chunk in graph.astream(None, config, **asked)]
                told.append(chunks)
            assert list(differences(*map(normal, told))) == []

    async def test_what_a_remote_graph_takes_besides(self, remote: Remote) -> None:
        made: list[Any] = []
        config = thread()
        graph = remote("chat").with_config(config)
        options: Any = {
            "on_run_created": made.append,
            "metadata": {"asked by": "a test"},
            "headers": {"x-asked-by": "a test"},
            "params": {"asked": "1"},
            "durability": "exit",
            "stream_resumable": False,
        }
        updates = [chunk async for chunk in graph.astream(ASKED, **options)]
        assert [list(update) for update in updates] == [["agent"], ["tools"], ["agent"]]
        thread_id = config["configurable"]["thread_id"]
        run: Any = await graph._validate_client().runs.get(thread_id, made[0]["run_id"])
        assert run["metadata"]["asked by"] == "a test"
        assert len([state async for state in graph.aget_state_history(config)]) == 1

    async def test_a_remote_graph_streams_without_a_thread(self, remote: Remote) -> None:
        state = await remote("chat").ainvoke(ASKED)
        assert [type(m).__name__ for m in state["messages"]] == [
            "HumanMessage",
            "AIMessage",
            "ToolMessage",
            "AIMessage",
        ]


class TestErrors:
    def test_a_run_that_failed(self, remote: Remote) -> None:
        with pytest.raises(RemoteException, match="That is too much"):
            remote("fails").invoke(ASKED, thread())

    def test_a_stock_server_tells_no_command(self, remote: Remote) -> None:
        with pytest.raises(RemoteException, match="ParentCommand"):
            remote("hands_over_plain").invoke(ASKED, thread())

    def test_a_command_to_a_parent_that_is_not_there(self, remote: Remote) -> None:
        told = []
        for graph in (graphs.hands_over.compile(), remote("hands_over")):
            with pytest.raises(ParentCommand) as raised:
                graph.invoke(ASKED, thread())
            told.append(raised.value.args[0])
        assert told[0].graph == told[1].graph
        assert list(differences(normal(told[0].update), normal(told[1].update))) == []
        assert told[1].goto == ["colleague"]
