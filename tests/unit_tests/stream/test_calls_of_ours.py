"""Whatever is asked for our own sake fails, or does not come back: the stream goes on."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.pregel import Pregel

from langgraph_once.events import (
    ChannelConfig,
    ChannelStreamingProcessor,
    TokenStreamingConfig,
    Transcript,
)
from langgraph_once.stream import InMemoryStreamStateStore, Ledger, StreamAddress, v2_part
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded, says, says_under_another_id

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

THREAD: Any = {"configurable": {"thread_id": "1"}}
AT = StreamAddress("1", "")
AGAIN: Any = {"messages": [("user", "Again.")]}
SAID = ["First.", "Second."]
SECRET = "what only the reader may see"


class BrokenError(Exception):
    """It says what must not be in a log."""

    def __init__(self) -> None:
        super().__init__(SECRET)


class Trouble:
    """What happens to calls that nobody but this package makes.

    Attributes:
        kind: Whether they raise or block.
        was_waited_out: Whether one that blocked came to an end before the streams did.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.was_waited_out = False
        self._is_over = threading.Event()

    def strike(self) -> None:
        if self.kind == "raises":
            raise BrokenError
        self.was_waited_out |= not self._is_over.wait(30)

    async def astrike(self) -> None:
        if self.kind == "raises":
            raise BrokenError
        for _ in range(3_000):
            if self._is_over.is_set():
                return
            await asyncio.sleep(0.01)
        self.was_waited_out = True

    def end(self) -> None:
        self._is_over.set()


class Store(InMemoryStreamStateStore):
    """Whose calls may be in trouble."""

    on_load: Trouble | None = None
    on_save: Trouble | None = None

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        if self.on_load is not None:
            self.on_load.strike()
        return super().load_stream_state(address)

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        if self.on_load is not None:
            await self.on_load.astrike()
        return super().load_stream_state(address)

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        if self.on_save is not None:
            self.on_save.strike()
        super().save_stream_state(address, data)

    async def asave_stream_state(self, address: StreamAddress, data: bytes) -> None:
        if self.on_save is not None:
            await self.on_save.astrike()
        super().save_stream_state(address, data)


def append(state: list[Any], new: list[Any]) -> list[Any]:
    return [*state, *(item for items in new for item in items)]


class InPieces(TypedDict):
    """Of this state a checkpoint holds only what is new, so that the graph is asked for it."""

    messages: Annotated[list[Any], DeltaChannel(append)]


class House:
    """A graph, where it is kept, and what is asked there."""

    def __init__(self, *, in_pieces: bool = False) -> None:
        self.saver, self.store = InMemorySaver(), Store()
        if in_pieces:
            builder: Any = StateGraph(InPieces)
            for i, text in enumerate(SAID):
                builder.add_node(f"n{i}", says_under_another_id(text))
                builder.add_edge(f"n{i - 1}" if i else START, f"n{i}")
            plain = builder.compile()
        else:
            plain = chain(says(SAID[0]), says_under_another_id(SAID[1]))
        self.plain = plain.copy({"checkpointer": self.saver})
        self.graph: Any = exactly(self.plain, stream_state=self.store)

    def asked(self, *texts: str) -> Any:
        return {"messages": [HumanMessage(text) for text in texts]}

    def state(self) -> list[str]:
        found = InMemorySaver.get_tuple(self.saver, THREAD)
        assert found is not None
        messages = self.plain.get_state(THREAD).values["messages"]
        return [str(message.text) for message in messages if isinstance(message, AIMessage)]


Face = Callable[[Any, Any], Any]


def v1(graph: Any, asked: Any) -> Iterator[Any]:
    yield from graph.stream(asked, THREAD, stream_mode="messages")


async def av1(graph: Any, asked: Any) -> AsyncIterator[Any]:
    async for chunk in graph.astream(asked, THREAD, stream_mode="messages"):
        yield chunk


V2: Any = {"stream_mode": ["messages", "updates"], "subgraphs": True, "version": "v2"}


def v2(graph: Any, asked: Any) -> Iterator[Any]:
    for chunk in graph.stream(asked, THREAD, **V2):
        if chunk["type"] == "messages":
            yield chunk["data"]


async def av2(graph: Any, asked: Any) -> AsyncIterator[Any]:
    async for chunk in graph.astream(asked, THREAD, **V2):
        if chunk["type"] == "messages":
            yield chunk["data"]


def v3(graph: Any, asked: Any) -> Iterator[Any]:
    for chunk in graph.stream_events(asked, THREAD, version="v3").extensions["once"]:
        if (part := v2_part(chunk)).mode == "messages":
            yield part.data, part.meta


async def av3(graph: Any, asked: Any) -> AsyncIterator[Any]:
    run = await graph.astream_events(asked, THREAD, version="v3")
    async for chunk in run.extensions["once"]:
        if (part := v2_part(chunk)).mode == "messages":
            yield part.data, part.meta


def processor() -> ChannelStreamingProcessor:
    """One that asks for the state before the run: artifacts in it are old."""
    notes = ChannelConfig(key="messages", artifact_type="Message")
    return ChannelStreamingProcessor([notes], TokenStreamingConfig(enabled_namespaces={"**"}))


def events(graph: Any, asked: Any) -> Iterator[Any]:
    transcript = Transcript(processor().stream_sync(graph, asked, THREAD))
    for message in transcript.messages(None):
        yield message, {}


async def aevents(graph: Any, asked: Any) -> AsyncIterator[Any]:
    transcript = Transcript()
    async for event in processor().stream(graph, asked, THREAD):
        transcript.apply(event)
    for message in transcript.messages(None):
        yield message, {}


FACES: list[Face] = [v1, av1, v2, av2, v3, av3, events, aevents]


async def read(face: Face, graph: Any, asked: Any) -> list[str]:
    """What a reader has of one stream, folded."""
    chunks = face(graph, asked)
    got = [c async for c in chunks] if isinstance(chunks, AsyncIterator) else [*chunks]
    return [text for text in folded(got).values() if text]


def on_load(house: House, trouble: Trouble, _: Any) -> None:
    house.store.on_load = trouble


def on_save(house: House, trouble: Trouble, _: Any) -> None:
    house.store.on_save = trouble


def on_get_state(_: House, trouble: Trouble, patch: Any) -> None:
    def get_state(*_: Any, **__: Any) -> Any:
        trouble.strike()

    async def aget_state(*_: Any, **__: Any) -> Any:
        await trouble.astrike()

    patch.setattr(Pregel, "get_state", get_state)
    patch.setattr(Pregel, "aget_state", aget_state)


CALLS = [on_load, on_save, on_get_state]


@pytest.fixture(autouse=True)
def waits_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_once.stream.session.WAIT_S", 0.05)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name.startswith("langgraph_once")]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("on", CALLS)
@pytest.mark.parametrize("kind", ["raises", "blocks"])
async def test_a_call_of_ours_that_fails_or_blocks_costs_a_log_line(
    kind: str, on: Any, face: Face, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    trouble = Trouble(kind)
    with pytest.MonkeyPatch.context() as patch:
        house = House(in_pieces=on is on_get_state)
        on(house, trouble, patch)
        told, said = list[str](), list[str]()
        for asked in ("Please begin.", "Again."):
            caplog.clear()
            told += await read(face, house.graph, house.asked(asked))
            said += (of_this := lines(caplog))
            assert len(set(of_this)) == len(of_this) <= 2
        assert said
        assert not any(SECRET in line for line in said)
        assert not trouble.was_waited_out
        trouble.end()
    assert house.state() == [*SAID, *SAID]
    assert told == house.state()


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(
    "name",
    [
        "langgraph_once.stream.ledger.Ledger.beside",
        "langgraph_once.stream.ledger.Ledger.from_bytes",
        "langgraph_once.stream.ledger.Ledger.seed",
        "langgraph_once.stream.session.StreamThread._seed",
        "langgraph_once.stream.session.messages_in",
        "langgraph_once.stream.session.copy_context",
    ],
)
async def test_what_is_done_with_a_ledger_beside_a_stream_may_fail(name: str, face: Face) -> None:
    house, told = House(), []

    def fails(*_: Any, **__: Any) -> Any:
        raise BrokenError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name, fails)
        for asked in ("Please begin.", "Again."):
            told += await read(face, house.graph, house.asked(asked))
    assert told == house.state() == [*SAID, *SAID]


async def test_a_reader_who_leaves_while_a_save_blocks_is_let_go() -> None:
    house, trouble = House(), Trouble("blocks")
    house.store.on_save = trouble
    stream = house.graph.stream(ASKED, THREAD, stream_mode="messages")
    next(stream)
    stream.close()
    chunks = house.graph.astream(AGAIN, THREAD, stream_mode="messages")
    await anext(chunks)
    await chunks.aclose()
    assert not trouble.was_waited_out
    trouble.end()


async def test_a_save_that_was_slow_is_made_all_the_same() -> None:
    house, trouble = House(), Trouble("blocks")
    house.store.on_save = trouble
    list(house.graph.stream(ASKED, THREAD, stream_mode="messages"))
    trouble.end()
    for _ in range(1_000):
        kept = InMemoryStreamStateStore.load_stream_state(house.store, AT)
        if kept is not None:
            break
        await asyncio.sleep(0.01)
    ledger = Ledger.from_bytes(kept or b"")
    assert ledger.ended == ledger.epoch


@pytest.fixture
def switches_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.usefixtures("switches_often")
async def test_others_may_make_the_same_calls_from_another_thread_meanwhile(face: Face) -> None:
    house, is_over = House(), threading.Event()

    def meddle() -> None:
        while not is_over.is_set():
            with suppress(Exception):
                InMemorySaver.get_tuple(house.saver, THREAD)
                house.store.load_stream_state(AT)
                house.store.save_stream_state(AT._replace(thread_id="2"), b"another")
                list(InMemorySaver.list(house.saver, THREAD))

    thread = threading.Thread(target=meddle)
    thread.start()
    try:
        told = []
        for asked in ("Please begin.", "Again."):
            told += await read(face, house.graph, house.asked(asked))
    finally:
        is_over.set()
        thread.join()
    assert told == house.state() == [*SAID, *SAID]
