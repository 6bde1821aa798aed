"""A ledger is kept at each step, so that a killed process loses what the last one said alone."""

from __future__ import annotations

import copy
import itertools
import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from langgraph_once import Ledger
from langgraph_once.serde import OnceSerializer
from langgraph_once.stream import InMemoryStreamStateStore, StreamAddress
from tests.exact import exactly
from tests.forked import run_python
from tests.unit_tests.stream.killed import OPTIONS, SECOND, THREAD, graph_in
from tests.unit_tests.stream.scenes import (
    ASKED,
    chain,
    folded,
    says,
    says_copy,
    says_under_another_id,
)

KINDS: dict[str, Any] = {"AIMessageChunk": AIMessageChunk, "RemoveMessage": RemoveMessage}


class Recorder(InMemoryStreamStateStore):
    """Remembers each save."""

    def __init__(self) -> None:
        super().__init__()
        self.saved: list[tuple[str, list[str]]] = []

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        texts = [entry.content.text for entry in Ledger.from_bytes(data).known()]
        super().save_stream_state(address, data)
        self.saved.append((address.checkpoint_id, texts))

    def behind(self, count: int, node: Any) -> Any:
        """A node that begins when so many were saved: else the newest would take their place."""

        def waits(state: Any) -> Any:
            until = time.monotonic() + 10
            while len(self.saved) < count and time.monotonic() < until:
                time.sleep(0.001)
            return node(state)

        return waits


def recorded(
    monkeypatch: pytest.MonkeyPatch, saver: InMemorySaver | None = None
) -> tuple[Any, Recorder]:
    monkeypatch.setattr("langgraph_once.stream.session.REST_PER_SAVE", 0)
    store = Recorder()
    rest = [
        store.behind(count, says_under_another_id(text))
        for count, text in ((1, "Second."), (2, "Third."))
    ]
    plain = chain(says_under_another_id("First."), *rest)
    options: Any = {"checkpointer": saver or InMemorySaver()}
    return exactly(plain.copy(options), stream_state=store), store


def test_each_step_saves_what_was_said_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, store = recorded(monkeypatch)
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert [texts for _, texts in store.saved] == [
        ["First."],
        ["First.", "Second."],
        ["First.", "Second.", "Third."],
    ]


async def test_each_step_of_an_async_stream_saves_what_was_said_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, store = recorded(monkeypatch)
    assert [chunk async for chunk in graph.astream(ASKED, THREAD, **OPTIONS)]
    assert [len(texts) for _, texts in store.saved] == [1, 2, 3]


class Counting(InMemorySaver):
    """Counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def get_tuple(self, config: Any) -> Any:
        self.asked["get_tuple"] += 1
        return super().get_tuple(config)

    def list(self, *args: Any, **options: Any) -> Any:
        self.asked["list"] += 1
        return super().list(*args, **options)


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_saver_is_asked_once_before_a_run_and_not_while_it_goes_on(
    is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads of LangGraph are writing there by then."""
    plain_saver, saver = Counting(), Counting()
    plain = chain(says("First."), says("Second."), says("Third."))
    list(plain.copy({"checkpointer": plain_saver}).stream(ASKED, THREAD, **OPTIONS))
    graph, store = recorded(monkeypatch, saver)
    if is_async:
        assert [chunk async for chunk in graph.astream(ASKED, THREAD, **OPTIONS)]
    else:
        list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert [len(texts) for _, texts in store.saved] == [1, 2, 3]
    assert saver.asked - plain_saver.asked == {"get_tuple": 1}


class TellsNoIds(InMemorySaver):
    """Returns the config that it was asked with, as a saver may that somebody wrote."""

    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        return found and found._replace(config=config)


def test_a_saver_that_tells_the_id_in_the_checkpoint_alone_will_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, store = recorded(monkeypatch, TellsNoIds())
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    list(graph.stream({"messages": [("user", "Again.")]}, THREAD, **OPTIONS))
    assert store.saved[-1][1] == ["First.", "Second.", "Third."] * 2


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("mode", ["messages", "values"])
def test_ledgers_are_saved_with_checkpoints_that_are_stored_and_with_no_other(
    mode: str, durability: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With durability "exit" the steps have checkpoints with ids, and only the last is stored."""
    graph, store = recorded(monkeypatch)
    if durability == "exit":
        monkeypatch.setattr(store, "behind", lambda _, node: node)
        plain = chain(says("First."), says("Second."), says("Third."))
        graph = exactly(plain.copy({"checkpointer": InMemorySaver()}), stream_state=store)
    list(graph.stream(ASKED, THREAD, stream_mode=mode, durability=durability))
    ids = [s.config["configurable"]["checkpoint_id"] for s in graph.get_state_history(THREAD)]
    saved = [checkpoint for checkpoint, _ in store.saved]
    assert saved[-1] == ids[0]
    assert set(saved) <= set(ids)
    assert len(saved) == (1 if durability == "exit" else 3)


def shapes() -> list[Any]:
    modes: list[Any] = ["messages", "values", ["messages"], ["messages", "custom"], ["checkpoints"]]
    modes += ["checkpoints", "debug", []]
    return [
        {"stream_mode": mode, "subgraphs": subgraphs, "version": version}
        for mode in modes
        for subgraphs in (False, True)
        for version in ("v1", "v2")
    ]


def outline(chunk: Any) -> Any:
    """A chunk without what differs from one run to the next."""
    if isinstance(chunk, dict):
        return {key: outline(value) for key, value in chunk.items() if key in SHAPE}
    if isinstance(chunk, tuple):
        return tuple(outline(each) for each in chunk)
    if isinstance(chunk, str):
        return chunk.partition(":")[0]
    return type(chunk).__name__


SHAPE = {"type", "ns", "data", "messages", "next", "tasks", "payload", "values"}


@pytest.mark.parametrize("options", shapes(), ids=str)
def test_a_reader_gets_the_modes_it_asked_for_in_the_shape_it_asked_for(options: Any) -> None:
    """The checkpoints that tell where a ledger belongs are for nobody else."""
    plain = chain(says("First."), chain(says("Second."))).copy({"checkpointer": InMemorySaver()})
    theirs = [outline(chunk) for chunk in plain.stream(ASKED, thread("plain"), **options)]
    ours = [outline(chunk) for chunk in exactly(plain).stream(ASKED, thread("once"), **options)]
    assert ours == theirs


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


class Strict(BaseModel):
    """A state that is none before the last node has run."""

    messages: Annotated[list[Any], add_messages]
    summary: str


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_state_that_is_incomplete_until_the_end_fails_no_stream(version: Any) -> None:
    """In v2 upstream makes a `Strict` of the state of each checkpoint that it streams."""
    builder: Any = StateGraph(Strict, input_schema=MessagesState)
    builder.add_node("n", lambda _: {"messages": [AIMessage("Hi.")]}, input_schema=MessagesState)
    builder.add_node("m", lambda _: {"summary": "Short."}, input_schema=MessagesState)
    builder.add_edge(START, "n").add_edge("n", "m")
    graph = exactly(builder.compile(checkpointer=InMemorySaver()))
    told = list(graph.stream(ASKED, THREAD, stream_mode="messages", version=version))
    assert len(told) == 1
    assert graph.get_state(THREAD).values["summary"] == "Short."


@pytest.mark.parametrize("count", range(1, 9))
def test_whoever_leaves_finds_the_ledger_with_the_checkpoint_that_the_graph_had_come_to(
    count: int,
) -> None:
    """It may have been streamed, and not been read."""
    store, modes = Recorder(), ["messages", "values"]
    plain = chain(says_copy("First."), says_copy("Second."), says_copy("Third."))
    graph: Any = exactly(plain.copy({"checkpointer": InMemorySaver()}), stream_state=store)
    stream = graph.stream(ASKED, THREAD, stream_mode=modes, durability="sync")
    got = [*itertools.islice(stream, count)]
    stream.close()
    assert store.saved[-1][0] == graph.get_state(THREAD).config["configurable"]["checkpoint_id"]
    got += graph.stream(None, THREAD, stream_mode=modes)
    state = [message.text for message in graph.get_state(THREAD).values["messages"]]
    told = folded([data for kind, data in got if kind == "messages"])
    assert list(told.values()) == state[1:] == ["First.", "Second.", "Third."]


def test_each_ledger_is_saved_with_the_checkpoint_of_the_step_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, store = recorded(monkeypatch)
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    history = list(graph.get_state_history(THREAD))[::-1]
    ids = [state.config["configurable"]["checkpoint_id"] for state in history]
    assert [saved for saved, _ in store.saved] == ids[-3:]


def test_a_ledger_is_small_however_long_its_thread_is() -> None:
    store, sizes = InMemoryStreamStateStore(), []
    graph: Any = exactly(
        chain(says("First. " * 50)).copy({"checkpointer": InMemorySaver()}), stream_state=store
    )
    for turn in range(40):
        list(graph.stream({"messages": [("user", f"Again, {turn}.")]}, THREAD, **OPTIONS))
        at = graph.get_state(THREAD).config["configurable"]["checkpoint_id"]
        sizes.append(len(store.load_stream_state(StreamAddress("1", "", at)) or b""))
    assert 0 < sizes[-1] < 1.1 * sizes[0]
    assert sizes[-1] < 4_000


def test_a_checkpoint_that_has_none_takes_the_ledger_of_the_one_before() -> None:
    graph: Any = exactly(
        chain(says_under_another_id("First.")).copy({"checkpointer": InMemorySaver()}),
        stream_state=Recorder(),
    )
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    graph.update_state(THREAD, {"messages": [("user", "More.")]})
    store: Any = graph.stream_state
    asked: Any = {"messages": [("user", "Again.")]}
    list(graph.stream(asked, THREAD, **OPTIONS))
    assert store.saved[-1][1] == ["First.", "First."]


class Box(dict[str, Any]):
    """Not made of pairs, as `dataclasses.asdict` makes dicts."""

    def __init__(self, *, text: str) -> None:
        super().__init__(text=text)


@pytest.mark.parametrize("mode", ["messages", ["messages", "updates"]])
def test_a_resume_goes_well_from_an_interrupt_whose_value_upstream_cannot_copy(
    mode: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """In mode `checkpoints` LangGraph copies it; our serializer gives it back as it was."""

    def asks(_: Any) -> Any:
        return {"messages": [AIMessage(interrupt(Box(text="Go on?")))]}

    saver, store = InMemorySaver(serde=OnceSerializer()), Recorder()
    plain = chain(says_copy("First."), asks, says_copy("Third."))
    graph = exactly(plain.copy({"checkpointer": saver}), stream_state=store)
    got = list(graph.stream(ASKED, THREAD, stream_mode=mode))
    count = len(store.saved)
    got += graph.stream(Command(resume="Yes."), THREAD, stream_mode=mode)
    messages = got if mode == "messages" else [data for kind, data in got if kind == "messages"]
    assert list(folded(messages).values()) == ["First.", "Yes.", "Third."]
    assert len(store.saved) == count
    assert [r.getMessage() for r in caplog.records] == [
        "What the consumer of a stream has was not saved (TypeError)"
    ]


def test_a_copy_of_a_wrapped_graph_has_its_ledgers() -> None:
    graph: Any = exactly(chain(says("First.")).copy({"checkpointer": InMemorySaver()}))
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    at = graph.get_state(THREAD).config["configurable"]["checkpoint_id"]
    copied, address = copy.deepcopy(graph), StreamAddress("1", "", at)
    kept = graph.own_stream_state.load_stream_state(address)
    copied.own_stream_state.save_stream_state(StreamAddress("2", "", at), b"more")
    assert kept is not None
    assert copied.own_stream_state.load_stream_state(address) == kept
    assert graph.own_stream_state.load_stream_state(StreamAddress("2", "", at)) is None


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
