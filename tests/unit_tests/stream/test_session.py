"""What a stream leaves to the next one of its thread, and what that costs."""

from __future__ import annotations

import copy
import gc
import itertools
import json
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from graphs.models import ScriptedChatModel
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

AT = StreamAddress("1", "")
KINDS: dict[str, Any] = {"AIMessageChunk": AIMessageChunk, "RemoveMessage": RemoveMessage}


class Recorder(InMemoryStreamStateStore):
    """Remembers each save."""

    def __init__(self) -> None:
        super().__init__()
        self.saved: list[bytes] = []

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        assert address == AT
        super().save_stream_state(address, data)
        self.saved.append(data)


def recorded(*nodes: Any, saver: InMemorySaver | None = None) -> tuple[Any, Recorder]:
    """A graph of these nodes, and what saves its ledgers."""
    store, options = Recorder(), {"checkpointer": saver or InMemorySaver()}
    plain: Any = chain(*nodes).copy(options)
    return exactly(plain, stream_state=store), store


def under_other_ids() -> list[Any]:
    return [says_under_another_id(text) for text in ("First.", "Second.", "Third.")]


async def streamed(graph: Any, asked: Any, *, is_async: bool, **options: Any) -> list[Any]:
    options = {**OPTIONS, **options}
    if is_async:
        return [chunk async for chunk in graph.astream(asked, THREAD, **options)]
    return list(graph.stream(asked, THREAD, **options))


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_ledger_is_saved_once_when_the_stream_has_ended(
    is_async: bool, durability: Any
) -> None:
    graph, store = recorded(*under_other_ids())
    await streamed(graph, ASKED, is_async=is_async, durability=durability)
    _, data = store.saved  # a ledger of nothing is there before
    ledger = Ledger.from_bytes(data, beside=lambda: messages_of(graph))
    assert [entry.content.text for entry in ledger.known()] == ["First.", "Second.", "Third."]


def test_a_thread_that_update_state_has_begun_is_read(caplog: pytest.LogCaptureFixture) -> None:
    """Its first checkpoint has no parent."""
    graph, store = recorded(says_under_another_id("First."))
    graph.update_state(THREAD, ASKED, as_node="n0")
    assert "First." in folded(graph.stream(ASKED, THREAD, stream_mode="messages")).values()
    assert b"own-" in store.saved[-1]
    assert not caplog.records


def messages_of(graph: Any) -> dict[str, Any]:
    return {message.id: message for message in graph.get_state(THREAD).values["messages"]}


def test_what_the_state_tells_is_not_saved() -> None:
    """Of messages under other ids these are kept, and not what they say; of others nothing."""
    graph, store = recorded(says("First."), says("Second."))
    for _ in range(3):
        list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert len(store.saved) == 1
    assert len(store.saved[0]) < 200
    graph, store = recorded(*under_other_ids())
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert b"own-" in store.saved[-1]
    assert b"Second." not in store.saved[-1]


def test_of_a_task_that_waits_is_saved_what_it_has_said_until_it_is_done() -> None:
    def asks(state: Any) -> Any:
        says("Shall I?")(state)
        return {"messages": [AIMessage(interrupt("?"))]}

    graph, store = recorded(says("First."), asks)
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert b"Shall I?" in store.saved[-1]
    list(graph.stream(Command(resume="Yes."), THREAD, **OPTIONS))
    assert b"Shall I?" not in store.saved[-1]


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
async def test_a_saver_is_asked_no_more_than_without_us(is_async: bool) -> None:
    """Threads of LangGraph are writing there, and to read a long thread takes long."""
    plain_saver, saver = Counting(), Counting()
    plain = chain(*under_other_ids()).copy({"checkpointer": plain_saver})
    graph, store = recorded(*under_other_ids(), saver=saver)
    for asked in (ASKED, ASKED, None):
        await streamed(plain, asked, is_async=is_async)
        await streamed(graph, asked, is_async=is_async)
    assert store.saved
    assert saver.asked == plain_saver.asked


class Asked(InMemoryStreamStateStore):
    """Notes how it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        self.asked.append("in a thread")
        return super().load_stream_state(address)

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        self.asked.append("in the loop")
        return super().load_stream_state(address)


@pytest.mark.parametrize(("is_async", "how"), [(False, "in a thread"), (True, "in the loop")])
async def test_an_async_stream_waits_for_no_thread(is_async: bool, how: str) -> None:
    """Nor where a saver's `aget_tuple` calls its `get_tuple`, as LangGraph's in memory does."""
    store = Asked()
    graph = exactly(chain(says("Hi.")).copy({"checkpointer": InMemorySaver()}), stream_state=store)
    await streamed(graph, ASKED, is_async=is_async)
    assert store.asked == [how]


class BreaksOnce(InMemorySaver):
    """A database that is away for a moment."""

    is_away = False

    def get_tuple(self, config: Any) -> Any:
        if self.is_away:
            raise OSError
        return super().get_tuple(config)


def test_a_run_whose_checkpoint_was_not_read_leaves_the_ledger_as_it_was() -> None:
    saver = BreaksOnce()
    graph, store = recorded(*under_other_ids(), saver=saver)
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    kept = list(store.saved)
    saver.is_away = True
    with pytest.raises(OSError):
        list(graph.stream(ASKED, THREAD, **OPTIONS))
    assert store.saved == kept


class TellsNoIds(InMemorySaver):
    """Returns the config that it was asked with, as a saver may that somebody wrote."""

    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        return found and found._replace(config=config)


class Slotted(InMemorySaver):
    """Has attributes beside its `__dict__`."""

    __slots__ = ("extra",)

    def __init__(self) -> None:
        super().__init__()
        self.extra = {"calls": 0}

    def get_tuple(self, config: Any) -> Any:
        self.extra["calls"] += 1
        return super().get_tuple(config)


class SetsUp(InMemorySaver):
    """Opens what it needs when it is first asked, and closes it when it goes."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = 0
        self.is_closed = [False]

    def get_tuple(self, config: Any) -> Any:
        self.opened = self.opened or 1
        assert not self.is_closed[0]
        return super().get_tuple(config)

    def __del__(self) -> None:
        self.is_closed[0] = True


class Traced(InMemorySaver):
    """Somebody has put a function in place of a method, which no twin can hear."""

    def __init__(self) -> None:
        super().__init__()
        vars(self)["get_tuple"] = super().get_tuple


def test_of_a_saver_that_cannot_be_heard_no_ledger_is_kept() -> None:
    graph, store = recorded(*under_other_ids(), saver=Traced())
    told = [list(graph.stream(asked, THREAD, **OPTIONS)) for asked in (ASKED, ASKED)]
    assert list(folded(itertools.chain(*told)).values()) == ["First.", "Second.", "Third."] * 2
    assert store.saved == []


@pytest.mark.parametrize("kind", [TellsNoIds, Slotted, SetsUp])
def test_a_saver_of_any_make_keeps_the_thread_as_without_us(kind: Any) -> None:
    saver = kind()
    graph, _ = recorded(*under_other_ids(), saver=saver)
    told = [list(graph.stream(asked, THREAD, **OPTIONS)) for asked in (ASKED, ASKED)]
    gc.collect()
    assert list(folded(itertools.chain(*told)).values()) == ["First.", "Second.", "Third."] * 2
    assert len(graph.get_state(THREAD).values["messages"]) == 8
    assert getattr(saver, "opened", 1) == 1
    assert isinstance(saver, kind)


def edits_first(state: Any) -> Any:
    """Says the first answer otherwise, under the id that it has in the state."""
    said = next(each for each in state["messages"] if str(each.id).startswith("own-"))
    return {"messages": [AIMessage("Edited.", id=said.id)]}


@pytest.mark.parametrize("is_changed", [False, True])
def test_an_edit_in_a_later_turn_finds_what_was_shown_under_another_id(is_changed: bool) -> None:
    """Also where somebody has changed the state in between."""

    def node(state: Any) -> Any:
        is_first = not any(str(each.id).startswith("own-") for each in state["messages"])
        return under_other_ids()[0](state) if is_first else edits_first(state)

    graph, _ = recorded(node)
    got = list(graph.stream(ASKED, THREAD, **OPTIONS))
    if is_changed:
        graph.update_state(THREAD, {"messages": [("user", "More.")]})
    got += graph.stream(ASKED, THREAD, **OPTIONS)
    assert list(folded(got).values()) == ["Edited."]


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
    """It may have been stored, and not been read."""
    modes = ["messages", "values"]
    graph, store = recorded(says_copy("First."), says_copy("Second."), says_copy("Third."))
    stream = graph.stream(ASKED, THREAD, stream_mode=modes, durability="sync")
    got = [*itertools.islice(stream, count)]
    stream.close()
    at = graph.get_state(THREAD).config["configurable"]["checkpoint_id"]
    assert Ledger.from_bytes(store.saved[-1]).left_at in ("", at)
    got += graph.stream(None, THREAD, stream_mode=modes)
    state = [message.text for message in graph.get_state(THREAD).values["messages"]]
    told = folded([data for kind, data in got if kind == "messages"])
    assert list(told.values()) == state[1:] == ["First.", "Second.", "Third."]


def drafts(state: Any) -> Any:
    """Says what is in no state, and returns what it says under an id of its own."""
    says("A draft. " * 50)(state)
    return says_under_another_id("First. " * 50)(state)


def test_a_ledger_is_small_however_long_its_thread_is() -> None:
    graph, store = recorded(drafts)
    for turn in range(100):
        list(graph.stream({"messages": [("user", f"Again, {turn}.")]}, THREAD, **OPTIONS))
    assert len(store.saved[-1]) < 4_000
    assert len(store.saved[-1]) == pytest.approx(len(store.saved[-20]), rel=0.01)


class Box(dict[str, Any]):
    """Not made of pairs, as `dataclasses.asdict` makes dicts."""

    def __init__(self, *, text: str) -> None:
        super().__init__(text=text)


def test_of_a_functional_graph_nothing_is_kept_that_it_saved() -> None:
    """What it returned and saved is its state: of that an edit is told, and all else is known."""
    model = ScriptedChatModel(script=lambda asked: AIMessage(f"To {asked[-1].text}."))

    @entrypoint(checkpointer=InMemorySaver())
    def agent(asked: Any, *, previous: Any = None) -> Any:
        before = [] if previous is None else previous
        if len(before) == 4:  # the third turn redacts the first answer
            before = [before[0], AIMessage("…", id=before[1].id), *before[2:]]
        so_far = [*before, *asked]
        said = [*so_far, model.invoke(so_far)]
        return entrypoint.final(value=said, save=said)

    store = Recorder()
    graph = exactly(agent, stream_state=store)
    told = []
    for turn in "123":
        chunks = graph.stream([HumanMessage(turn, id=turn)], THREAD, stream_mode="messages")
        told.append(folded(chunks))
    assert [[*each.values()] for each in told] == [["To 1."], ["To 2."], ["To 3.", "…"]]
    assert told[2].keys() > told[0].keys()
    assert all(len(data) < 200 for data in store.saved)


@pytest.mark.parametrize("mode", ["messages", ["messages", "updates"]])
def test_a_resume_goes_well_from_an_interrupt_whose_value_upstream_cannot_copy(
    mode: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """In mode `checkpoints` it would; our serializer gives the value back as it was."""

    def asks(_: Any) -> Any:
        return {"messages": [AIMessage(interrupt(Box(text="Go on?")))]}

    saver = InMemorySaver(serde=OnceSerializer())
    graph, _ = recorded(says_copy("First."), asks, says_copy("Third."), saver=saver)
    got = list(graph.stream(ASKED, THREAD, stream_mode=mode))
    got += graph.stream(Command(resume="Yes."), THREAD, stream_mode=mode)
    messages = got if mode == "messages" else [data for kind, data in got if kind == "messages"]
    assert list(folded(messages).values()) == ["First.", "Yes.", "Third."]
    assert not caplog.records


def test_a_copy_of_a_wrapped_graph_has_its_ledgers() -> None:
    plain: Any = chain(*under_other_ids()).copy({"checkpointer": InMemorySaver()})
    graph: Any = exactly(plain)
    list(graph.stream(ASKED, THREAD, **OPTIONS))
    copied, other = copy.deepcopy(graph), StreamAddress("2", "")
    kept = graph.own_stream_state.load_stream_state(AT)
    copied.own_stream_state.save_stream_state(other, b"more")
    assert kept is not None
    assert copied.own_stream_state.load_stream_state(AT) == kept
    assert graph.own_stream_state.load_stream_state(other) is None


class KeepsTheFirst(InMemoryStreamStateStore):
    """Of a process that is killed in its first stream."""

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        if self.load_stream_state(address) is None:
            super().save_stream_state(address, data)


def test_what_was_done_when_a_process_was_killed_is_said_as_its_step_goes_on() -> None:
    """LangGraph does not run it again, and says it in no other mode than `updates`."""

    def asks(_: Any) -> Any:
        return {"messages": [AIMessage(interrupt("Go on?"))]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("says", says("First.")).add_node("asks", asks)
    builder.add_edge(START, "says").add_edge(START, "asks")
    plain = builder.compile(checkpointer=InMemorySaver())
    store = KeepsTheFirst()
    list(exactly(plain, stream_state=store).stream(ASKED, THREAD, **OPTIONS))
    later = exactly(plain, stream_state=store).stream(Command(resume="Yes."), THREAD, **OPTIONS)
    assert sorted(folded(later).values()) == ["First.", "Yes."]


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
