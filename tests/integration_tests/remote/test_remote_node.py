"""A remote graph as a node against the same graph as a node: the parent's stream is the same."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any, cast
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from tests.corpus.play import V3Reader
from tests.exact import exactly
from tests.integration_tests.remote import graphs
from tests.integration_tests.remote.compare import differences, normal
from tests.integration_tests.remote.conftest import Remote, cases

ASKED: Any = {"messages": [HumanMessage("What is once?", id="question")], "topic": "", "cities": []}
ANSWERS: list[Any] = [Command(resume="yes"), Command(resume="sure")]
STEPS: dict[str, list[Any]] = {"asks": [ASKED, *ANSWERS]}
MODES = ["messages", "updates", "values", "custom"]


def parent(child: Any, *, wrapped: bool) -> Any:
    compiled = graphs.around(child).compile(checkpointer=InMemorySaver())
    return exactly(compiled) if wrapped else compiled


def child(name: str) -> Any:
    return getattr(graphs, name).compile()


async def streamed(graph: Any, name: str, **asked: Any) -> tuple[list[Any], Any]:
    """All chunks of a thread's runs, and its last state."""
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    chunks = []
    for step in STEPS.get(name, [ASKED]):
        chunks += [chunk async for chunk in graph.astream(copy.deepcopy(step), config, **asked)]
    return chunks, (await graph.aget_state(config)).values


def streamed_sync(graph: Any, name: str, **asked: Any) -> tuple[list[Any], Any]:
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    chunks = []
    for step in STEPS.get(name, [ASKED]):
        chunks += list(graph.stream(copy.deepcopy(step), config, **asked))
    return chunks, graph.get_state(config).values


def texts(chunks: list[Any]) -> Counter[str]:
    """How often each text is there for who joins by id what mode `messages` sends, of v2."""
    said: dict[str, str] = {}
    for chunk in chunks:
        if chunk["type"] != "messages":
            continue
        message = chunk["data"][0]
        if isinstance(message, RemoveMessage):
            said.pop(str(message.id), None)
        else:
            said[message.id] = said.get(message.id, "") + message.text
    return Counter(text for text in said.values() if text)


@pytest.mark.parametrize(
    ("name", "subgraphs", "wrapped"),
    cases(
        ["chat", "asks", "hands_over"],
        [False, True],
        [False, True],
        quick=[
            ("chat", True, False),
            ("asks", True, True),
            ("asks", True, False),
            ("hands_over", True, True),
        ],
    ),
)
async def test_the_stream_of_the_parent_is_that_of_a_local_graph(
    remote: Remote, name: str, subgraphs: bool, wrapped: bool
) -> None:
    asked: Any = {"stream_mode": MODES, "subgraphs": subgraphs, "version": "v2"}
    here, state = await streamed(parent(child(name), wrapped=wrapped), name, **asked)
    there, its_state = await streamed(parent(remote(name), wrapped=wrapped), name, **asked)
    assert len(here) > 8
    assert list(differences(normal(here), normal(there))) == []
    assert list(differences(normal(state), normal(its_state))) == []


@pytest.mark.product
@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("mode", [["messages"], "messages", "values", "updates", "custom"])
@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "once"])
@pytest.mark.parametrize("subgraphs", [False, True], ids=["", "subgraphs"])
@pytest.mark.parametrize("name", ["chat", "asks", "hands_over"])
def test_the_parents_stream_sync(
    remote: Remote, name: str, subgraphs: bool, wrapped: bool, mode: Any, version: str
) -> None:
    asked: Any = {"stream_mode": mode, "subgraphs": subgraphs, "version": version}
    here, state = streamed_sync(parent(child(name), wrapped=wrapped), name, **asked)
    there, its_state = streamed_sync(parent(remote(name), wrapped=wrapped), name, **asked)
    assert list(differences(normal(here), normal(there))) == []
    assert list(differences(normal(state), normal(its_state))) == []


@pytest.mark.parametrize(
    ("served", "subgraphs", "wrapped"),
    cases(
        ["team", "team_plain"],
        [False, True],
        [False, True],
        quick=[("team", True, True), ("team_plain", True, False), ("team", False, False)],
    ),
)
def test_what_fans_out_reaches_the_parent_once(
    remote: Remote, served: str, subgraphs: bool, wrapped: bool
) -> None:
    asked: Any = {"stream_mode": ["messages"], "subgraphs": subgraphs, "version": "v2"}
    chunks, state = streamed_sync(parent(remote(served), wrapped=wrapped), "team", **asked)
    in_state = Counter(m.text for m in state["messages"] if m.type != "human")
    assert texts(chunks) == in_state
    assert in_state.total() == 6
    if subgraphs:
        visits = [chunk for chunk in chunks if len(chunk["ns"]) == 2]
        assert {ns.split(":")[0] for chunk in visits for ns in chunk["ns"]} == {"child", "travel"}
        for chunk in visits:
            meta = chunk["data"][1]
            assert meta["langgraph_checkpoint_ns"].startswith("|".join(chunk["ns"]) + "|visit:")
        assert {type(chunk["data"][0]) for chunk in visits} == {AIMessageChunk}


def test_a_stock_server_repeats_a_text_and_the_parent_does_not(remote: Remote) -> None:
    """Without annotation the remote graph's copies are known by what they say."""
    from tests.integration_tests.served import HELLO

    graph = parent(remote("copying_plain"), wrapped=False)
    asked: Any = {"stream_mode": ["messages"], "subgraphs": True, "version": "v2"}
    chunks, _ = streamed_sync(graph, "copying", **asked)
    inner = [chunk for chunk in chunks if chunk["ns"]]
    assert texts(inner) == {HELLO: 1}


def test_a_node_that_calls_two_remote_graphs(remote: Remote) -> None:
    """The second has a namespace of its own, as of local graphs."""

    def calling(one: Any) -> Any:
        def call(state: Any, config: RunnableConfig) -> Any:
            for _ in range(2):
                one.invoke(ASKED, cast("Any", {**config, "configurable": _stateless(config)}))
            return {}

        return call

    def _stateless(config: Any) -> Any:
        return {k: v for k, v in config["configurable"].items() if k != "thread_id"}

    asked: Any = {"stream_mode": "updates", "subgraphs": True, "version": "v2"}
    spaces = []
    for graph in (graphs.forgets.compile(), remote("forgets")):
        outer = graphs.around(calling(graph)).compile()
        chunks = normal(list(outer.stream(ASKED, **asked)))
        spaces.append([(chunk["ns"], list(chunk["data"])) for chunk in chunks])
    assert spaces[1] == spaces[0]
    assert any(ns[-1] == "1" for ns, _ in spaces[1] if ns)


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "once"])
async def test_a_v3_stream_around_a_remote_node_has_each_message_whole(
    remote: Remote, wrapped: bool
) -> None:
    """Tokens of a remote graph are put together: v3 has its own events for those."""

    async def said(graph: Any) -> list[str]:
        config: Any = {"configurable": {"thread_id": str(uuid4())}}
        reader = V3Reader()
        run = await graph.astream_events(copy.deepcopy(ASKED), config, version="v3")
        return [told.data.text async for event in run for told in reader.feed(event)]

    here = await said(parent(child("chat"), wrapped=wrapped))
    there = await said(parent(remote("chat"), wrapped=wrapped))
    assert sorted(here) == sorted(there)
    assert len(set(here)) == len(here) > 2


class TestInterrupts:
    @pytest.mark.parametrize("by_id", [False, True])
    async def test_interrupts_of_a_remote_node_are_answered_through_the_parent(
        self, remote: Remote, by_id: bool
    ) -> None:
        graph = parent(remote("asks"), wrapped=False)
        config: Any = {"configurable": {"thread_id": str(uuid4())}}
        result = await graph.ainvoke(ASKED, config)
        for answer in ("yes", "sure"):
            (asks,) = result["__interrupt__"]
            (waiting,) = graph.get_state(config).interrupts
            assert waiting == asks
            resume: Any = {asks.id: answer} if by_id else answer
            result = await graph.ainvoke(Command(resume=resume), config)
        assert "You said yes and sure." in [m.text for m in result["messages"]]
        assert "__interrupt__" not in result

    def test_an_answer_for_the_parent_itself_starts_no_resume(self, remote: Remote) -> None:
        """The node asks first; the remote thread has not begun when the answer comes."""
        chat = remote("chat")

        def asks_first(state: Any, config: RunnableConfig) -> Any:
            interrupt("Shall I ask there?")
            return chat.invoke(state, config)

        graph = parent(asks_first, wrapped=False)
        config: Any = {"configurable": {"thread_id": str(uuid4())}}
        graph.invoke(ASKED, config)
        result = graph.invoke(Command(resume="yes"), config)
        assert "Once means one time." in [m.text for m in result["messages"]]

    def test_a_new_question_does_not_answer_the_old_one(self, remote: Remote) -> None:
        graph = parent(remote("asks"), wrapped=False)
        config: Any = {"configurable": {"thread_id": str(uuid4())}}
        graph.invoke(ASKED, config)
        again = graph.invoke({"messages": [HumanMessage("Anew.")]}, config)
        (asks,) = again["__interrupt__"]
        assert asks.value["question"] == "May I?"


class TestSecondServer:
    @pytest.mark.parametrize(
        ("served", "subgraphs"),
        cases(["around_team", "around_team_plain"], [False, True], quick=[("around_team", True)]),
    )
    def test_a_node_that_points_to_another_server(
        self, outer: Remote, served: str, subgraphs: bool
    ) -> None:
        asked: Any = {"stream_mode": ["messages"], "subgraphs": subgraphs, "version": "v2"}
        chunks, state = streamed_sync(outer(served), "team", **asked)
        in_state = Counter(m.text for m in state["messages"] if m.type != "human")
        assert texts(chunks) == in_state
        assert in_state.total() == 6
        depths = {len(chunk["ns"]) for chunk in chunks}
        assert depths == ({0, 1, 2} if subgraphs else {0})

    def test_interrupts_of_a_second_server_are_answered_through_both_graphs(
        self, outer: Remote
    ) -> None:
        graph = outer("around_asks")
        config: Any = {"configurable": {"thread_id": str(uuid4())}}
        graph.invoke(ASKED, config)
        graph.invoke(Command(resume="yes"), config)
        result = graph.invoke(Command(resume="sure"), config)
        assert "You said yes and sure." in [m.text for m in result["messages"]]
