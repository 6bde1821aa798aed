"""A ledger is kept at each step, so that a killed process loses what the last one said alone."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_once import Ledger
from langgraph_once.stream import InMemoryStreamStateStore, StreamAddress
from tests.exact import exactly
from tests.forked import run_python
from tests.unit_tests.stream.killed import OPTIONS, SECOND, THREAD, graph_in
from tests.unit_tests.stream.scenes import ASKED, chain, folded, says

KINDS: dict[str, Any] = {"AIMessageChunk": AIMessageChunk, "RemoveMessage": RemoveMessage}


class Recorder(InMemoryStreamStateStore):
    """Remembers each save."""

    def __init__(self) -> None:
        super().__init__()
        self.saved: list[tuple[str, list[str]]] = []

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        texts = [entry.content.text for entry in Ledger.from_bytes(data).known()]
        self.saved.append((address.checkpoint_id, texts))
        super().save_stream_state(address, data)


def recorded(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Recorder]:
    monkeypatch.setattr("langgraph_once.stream.session.REST_PER_SAVE", 0)
    store = Recorder()
    plain = chain(says("First."), says("Second."), says("Third."))
    return exactly(plain.copy({"checkpointer": InMemorySaver()}), stream_state=store), store


def test_each_step_saves_what_was_said_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, store = recorded(monkeypatch)
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert [texts for _, texts in store.saved] == [
        ["First."],
        ["First.", "Second."],
        ["First.", "Second.", "Third."],
    ]


async def test_async_saves_too(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, store = recorded(monkeypatch)
    assert [chunk async for chunk in graph.astream(ASKED, THREAD, **OPTIONS)]
    assert [len(texts) for _, texts in store.saved] == [1, 2, 3]


class Counting(InMemorySaver):
    """Counts how often a checkpoint is got, with all of its values."""

    gets = 0

    def get_tuple(self, config: Any) -> Any:
        self.gets += 1
        return super().get_tuple(config)


class WithoutList(Counting):
    """Lists nothing, as a saver may that somebody wrote."""

    def list(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("kind", [Counting, WithoutList])
async def test_where_a_ledger_belongs_takes_no_value_of_the_thread(
    kind: type[Counting], is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, store = recorded(monkeypatch)
    saver = kind()
    plain = chain(says("First."), says("Second."), says("Third."))
    list(plain.copy({"checkpointer": saver}).stream(ASKED, THREAD, **OPTIONS))
    of_the_graph, saver = saver.gets, kind()
    graph = exactly(plain.copy({"checkpointer": saver}), stream_state=store)
    if is_async:
        assert [chunk async for chunk in graph.astream(ASKED, THREAD, **OPTIONS)]
    else:
        list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert [len(texts) for _, texts in store.saved] == [1, 2, 3]
    to_begin = 1
    assert (saver.gets > of_the_graph + to_begin) == (kind is WithoutList)


def test_each_is_saved_with_the_checkpoint_of_the_step_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, store = recorded(monkeypatch)
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    history = list(graph.get_state_history(THREAD))[::-1]
    ids = [state.config["configurable"]["checkpoint_id"] for state in history]
    assert [saved for saved, _ in store.saved] == ids[-3:]


def test_a_checkpoint_that_has_none_takes_the_ledger_of_the_one_before() -> None:
    graph: Any = exactly(
        chain(says("First.")).copy({"checkpointer": InMemorySaver()}), stream_state=Recorder()
    )
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    graph.update_state(THREAD, {"messages": [("user", "More.")]})
    store: Any = graph.stream_state
    asked: Any = {"messages": [("user", "Again.")]}
    list(graph.stream(asked, THREAD, **OPTIONS))
    assert store.saved[-1][1] == ["First.", "First."]


def test_saves_within_a_stream_are_not_too_many() -> None:
    store = Recorder()
    plain = chain(*[says("Word.") for _ in range(12)])
    graph = exactly(plain.copy({"checkpointer": InMemorySaver()}), stream_state=store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("langgraph_once.stream.session.REST_PER_SAVE", 1e9)
        list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert len(store.saved) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_a_killed_process_loses_the_step_in_flight_alone(tmp_path: Path) -> None:
    dead = run_python("-m", "tests.unit_tests.stream.killed", str(tmp_path))
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    lines = [json.loads(line) for line in dead.stdout.splitlines()]
    before: Any = [(KINDS[kind](id=id_, content=text), {}) for kind, id_, text in lines]

    with graph_in(tmp_path) as graph:
        later = list(graph.stream(None, THREAD, **OPTIONS))
        state = [m.text for m in graph.get_state(THREAD).values["messages"]]

    told = list(folded([*before, *later]).values())
    in_flight = [text for text in told if text not in state]
    assert all(SECOND.startswith(text) for text in in_flight)
    assert sorted(told) == sorted([*state[1:], *in_flight])
