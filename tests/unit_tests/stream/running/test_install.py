"""The handler is ours for a wrapped graph and upstream's for every other."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph.message import push_message
from langgraph.pregel import _messages as upstream, main

from langgraph_once.stream.running.install import MessagesHandlerSwitch, install
from tests.exact import exactly
from tests.unit_tests.stream.scenes import (
    ALL_MODES,
    ASKED,
    chain,
    fan_out,
    folded,
    model,
    nested,
    says,
    says_copy,
)


def test_upstream_takes_its_handlers_from_these_globals() -> None:
    for function in (main.Pregel.stream, main.Pregel.astream):
        names = inspect.unwrap(function).__code__.co_names
        assert {"StreamMessagesHandler", "StreamMessagesHandlerV2"} <= set(names)


def test_installing_twice_changes_nothing() -> None:
    for _ in range(2):
        install()
        assert vars(main)["StreamMessagesHandler"] is MessagesHandlerSwitch


def test_a_handler_of_another_run_is_upstreams_own() -> None:
    install()
    made = vars(main)["StreamMessagesHandler"](print, False)
    assert type(made) is upstream.StreamMessagesHandler
    made_v2 = vars(main)["StreamMessagesHandlerV2"](print, True)
    assert type(made_v2) is upstream.StreamMessagesHandlerV2
    assert isinstance(made_v2, vars(main)["StreamMessagesHandler"])
    assert not isinstance(made, vars(main)["StreamMessagesHandlerV2"])


def shown(chunk: Any) -> Any:
    """A chunk without the ids that differ between runs."""
    if isinstance(chunk, dict):
        return {key: shown(value) for key, value in chunk.items() if key in STABLE}
    if isinstance(chunk, tuple | list):
        return [shown(item) for item in chunk]
    return (type(chunk).__name__, getattr(chunk, "text", None))


STABLE = frozenset({"type", "data", "messages", "langgraph_node", "once", "n0", "n1", "worker"})

GRAPHS = {
    "copy": lambda: chain(says_copy("Hello there.")),
    "nested": lambda: nested(says_copy("Hello from below."), 3),
    "fan-out": lambda: fan_out(lambda _: {"messages": [AIMessage("ok", id="same")]}, 3),
}


@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
async def test_graphs_that_are_not_wrapped_stream_as_without_us(
    name: str, subgraphs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = GRAPHS[name]()
    options: Any = {"stream_mode": ALL_MODES, "subgraphs": subgraphs, "version": "v2"}
    install()
    with_us = [shown(chunk) for chunk in graph.stream(ASKED, **options)]
    async_with_us = [shown(chunk) async for chunk in graph.astream(ASKED, **options)]
    monkeypatch.setattr(main, "StreamMessagesHandler", upstream.StreamMessagesHandler)
    monkeypatch.setattr(main, "StreamMessagesHandlerV2", upstream.StreamMessagesHandlerV2)
    plain = [shown(chunk) for chunk in graph.stream(ASKED, **options)]
    assert with_us == plain
    assert sorted(map(str, async_with_us)) == sorted(map(str, plain))


def notes_of(chunks: Any) -> list[Any]:
    return [meta.get("once") for _, meta in chunks]


def test_a_plain_graph_streamed_inside_a_wrapped_one_is_plain() -> None:
    inner = chain(says("Inside."))
    heard: list[Any] = []

    def node(state: Any) -> Any:
        heard.extend(inner.stream(ASKED, stream_mode="messages"))
        return {"messages": [AIMessage("Outside.")]}

    chunks: Any = list(exactly(chain(node)).stream(ASKED, stream_mode="messages"))
    assert all(notes_of(chunks))
    assert notes_of(heard) == [None] * len(heard)


async def test_runs_at_the_same_time_do_not_see_each_other() -> None:
    plain, wrapped = chain(says("Hello.")), exactly(chain(says("Hello.")))

    async def run(graph: Any) -> list[Any]:
        return notes_of([c async for c in graph.astream(ASKED, stream_mode="messages")])

    found = await asyncio.gather(*(run(graph) for graph in [plain, wrapped] * 5))
    assert [all(notes) for notes in found] == [False, True] * 5
    assert [any(notes) for notes in found] == [False, True] * 5


def test_push_message_pushes_once() -> None:
    def node(state: Any) -> Any:
        push_message(AIMessage("Pushed.", id="p"))
        return {"messages": [model("Said.").invoke(state["messages"])]}

    chunks: Any = list(exactly(chain(node)).stream(ASKED, stream_mode="messages"))
    assert sorted(folded(chunks).values()) == ["Pushed.", "Said."]
    assert chunks[0][1]["once"]["source"] == "push"
