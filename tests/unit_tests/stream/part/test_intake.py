"""Intake and render: every shape read and written back unchanged; other shapes refused."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.types import Interrupt

from langgraph_once import adedup, dedup
from langgraph_once.errors import StreamError
from langgraph_once.stream.shapes import (
    Part,
    Version,
    event_part,
    mode_set,
    reader,
    revive,
    sdk_part,
    token_reader,
    v2_part,
    writer,
)

NS = ("research:1", "tools:2")
TOKEN = (AIMessageChunk(content="Hi", id="m"), {"langgraph_node": "agent"})
STEP = {"agent": {"n": 1}}

SHAPES: list[tuple[str | list[str], bool, Version, Any, Part]] = [
    ("updates", False, "v1", STEP, Part((), "updates", STEP)),
    ("updates", True, "v1", (NS, STEP), Part(NS, "updates", STEP)),
    (["updates"], False, "v1", ("updates", STEP), Part((), "updates", STEP)),
    (["updates"], True, "v1", (NS, "updates", STEP), Part(NS, "updates", STEP)),
    ("messages", False, "v1", TOKEN, Part((), "messages", *TOKEN)),
    ("messages", True, "v1", (NS, TOKEN), Part(NS, "messages", *TOKEN)),
    (["messages"], True, "v1", (NS, "messages", TOKEN), Part(NS, "messages", *TOKEN)),
    (
        "messages",
        False,
        "v2",
        {"type": "messages", "ns": NS, "data": TOKEN},
        Part(NS, "messages", *TOKEN),
    ),
    (
        ["values"],
        True,
        "v2",
        {"type": "values", "ns": (), "data": STEP, "interrupts": (Interrupt(1, id="i"),)},
        Part((), "values", STEP, {"interrupts": (Interrupt(1, id="i"),)}),
    ),
]


MORE: list[Any] = [
    (["messages"], False, "v1", ("messages", TOKEN), Part((), "messages", *TOKEN)),
    (["custom"], False, "v1", ("custom", TOKEN), Part((), "custom", TOKEN)),
    (["custom"], True, "v1", (NS, "custom", TOKEN), Part(NS, "custom", TOKEN)),
    ([], False, "v2", {"type": "custom", "ns": NS, "data": TOKEN}, Part(NS, "custom", TOKEN)),
]


@pytest.mark.parametrize(("modes", "subgraphs", "version", "chunk", "part"), [*SHAPES, *MORE])
def test_tokens_are_those_of_messages_alone(
    modes: Any, subgraphs: bool, version: Version, chunk: Any, part: Part
) -> None:
    told: list[Any] = []
    is_token = token_reader(lambda *said: not told.append(said), modes, subgraphs, version)  # type: ignore[func-returns-value]  # always true
    assert is_token(chunk) is (part.mode == "messages")
    assert told == ([TOKEN] if part.mode == "messages" else [])


@pytest.mark.parametrize(("modes", "subgraphs", "version", "chunk", "part"), SHAPES)
def test_a_chunk_is_read_and_written_back(
    modes: str | list[str], subgraphs: bool, version: Version, chunk: Any, part: Part
) -> None:
    assert reader(modes, subgraphs=subgraphs, version=version)(chunk) == part
    assert writer(modes, subgraphs=subgraphs, version=version)(part) == chunk


@pytest.mark.parametrize(("modes", "subgraphs", "version", "chunk", "part"), SHAPES)
def test_a_chunk_of_any_other_shape_is_refused_or_is_a_payload(
    modes: str | list[str], subgraphs: bool, version: Version, chunk: Any, part: Part
) -> None:
    """Only a bare payload may be anything; whoever asked for more gets an error."""
    read = reader(modes, subgraphs=subgraphs, version=version)
    bare = isinstance(modes, str) and not subgraphs and version == "v1"
    for *_, other, _ in SHAPES:
        if isinstance(other, dict) is (version == "v2") and len(other) == len(chunk):
            continue
        if version == "v2" and isinstance(other, dict) and "type" in other:
            continue
        if bare and modes != "messages":
            assert read(other).data is other
        else:
            with pytest.raises(StreamError, match="expected"):
                read(other)


def test_v2_interrupts_become_the_v1_key_when_written_as_v1() -> None:
    found = (Interrupt("?", id="i"),)
    part = Part((), "values", {"n": 1}, {"interrupts": found})
    assert writer("values")(part) == {"n": 1, "__interrupt__": found}


def test_the_servers_word_for_messages_is_understood() -> None:
    assert mode_set(["messages-tuple", "values"]) == {"messages", "values"}
    assert reader("messages-tuple")(TOKEN).mode == "messages"


class TestOtherSources:
    @pytest.mark.parametrize(
        ("event", "ns", "mode"),
        [
            ("values", (), "values"),
            ("updates|team:1", ("team:1",), "updates"),
            ("custom|team:1|agent:2", ("team:1", "agent:2"), "custom"),
            ("messages/partial", (), "messages/partial"),
            ("messages/metadata", (), "messages/metadata"),
        ],
    )
    def test_the_parts_of_the_sdk(self, event: str, ns: Any, mode: str) -> None:
        chunk = (event, {"a": 1}, "7-0")
        part = sdk_part(chunk)
        assert part is not None
        assert (part.ns, part.mode, part.data, part.event_id) == (ns, mode, {"a": 1}, "7-0")

    def test_a_message_of_the_sdk(self) -> None:
        chunk = ("messages|team:1", [{"content": "Hi"}, {"langgraph_node": "n"}], None)
        part = sdk_part(chunk)
        assert part == Part(("team:1",), "messages", {"content": "Hi"}, {"langgraph_node": "n"})

    @pytest.mark.parametrize("event", ["metadata", "end", "heartbeat"])
    def test_frames_of_the_sdk_that_are_no_parts(self, event: str) -> None:
        assert sdk_part((event, None, None)) is None

    def test_a_protocol_event(self) -> None:
        message, meta = AIMessage("Hi", id="m"), {"langgraph_node": "n"}
        for part, params in (
            (
                Part(("a:1",), "messages", message, meta),
                {"namespace": ["a:1"], "data": (message, meta)},
            ),
            (
                Part((), "values", {"n": 1}, {"interrupts": ()}),
                {"namespace": [], "data": {"n": 1}, "interrupts": ()},
            ),
            (Part((), "tasks", {"id": "t"}), {"namespace": [], "data": {"id": "t"}}),
        ):
            event = {"type": "event", "method": part.mode, "params": params}
            assert event_part(event) == part

    @pytest.mark.parametrize(
        "params",
        [
            *(None, {}, {"data": 1}, {"namespace": [], "datum": 1}),
            *({"namespace": 3, "data": 1}, {"namespace": [3], "data": 1}),
        ],
    )
    def test_a_protocol_event_without_its_parts_is_refused(self, params: Any) -> None:
        with pytest.raises(StreamError, match="expected"):
            event_part({"method": "values", "params": params})

    @pytest.mark.parametrize(
        "chunk",
        [
            *(None, 3, {}, ("a",), (1, 2), {"method": "values"}),
            {"method": 3, "params": {"namespace": [], "data": 1}},
        ],
    )
    def test_other_shapes_are_refused(self, chunk: Any) -> None:
        for read in (sdk_part, event_part):
            with pytest.raises(StreamError):
                read(chunk)


class Chunks:
    """As of a client: to be iterated over, and no generator."""

    def __init__(self, chunks: list[Any]) -> None:
        self._chunks = iter(chunks)

    def __aiter__(self) -> Chunks:
        return self

    async def __anext__(self) -> Any:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_chunks_may_come_from_any_iterable_and_be_none(count: int) -> None:
    chunks: Any = [(AIMessage("Hi", id=str(number)), {}) for number in range(count)]
    assert list(dedup(chunks, stream_mode="messages")) == chunks
    told = adedup(Chunks(chunks), stream_mode="messages")
    assert [chunk async for chunk in told] == chunks


async def test_what_a_stream_ends_with_is_told_in_an_event_loop_too() -> None:
    """A message that waits for an id no state shows goes out at the end, under ours."""
    note = {"v": 1, "source": "node", "attempt": 1, "at": "n:1", "unnamed": True}
    meta = {"langgraph_checkpoint_ns": "n:1", "once": note}
    chunks: Any = [("messages", (AIMessage("Hi", id="ours"), meta))]
    asked: Any = {"stream_mode": ["messages", "values"]}
    here = [*dedup(chunks, **asked)]
    assert [message.text for _, (message, _) in here] == ["Hi"]
    assert [chunk async for chunk in adedup(Chunks(chunks), **asked)] == here


@pytest.mark.parametrize(
    "malformed",
    [
        {"type": "ai", "content": 3},
        {"type": "tool", "content": "", "tool_call_id": []},
        {"type": "OfTheFutureMessageChunk", "content": ""},
        {"type": "of the future", "content": ""},
        {"type": 3, "content": ""},
    ],
)
def test_what_is_no_message_after_all_stays_the_json_that_it_is(malformed: dict[str, Any]) -> None:
    value = {"id": "m", "additional_kwargs": {}, "response_metadata": {}, **malformed}
    state = {"messages": [value], "__interrupt__": ["not one", {"value": "ask?", "id": "i"}]}
    assert revive(state) == {
        "messages": [value],
        "__interrupt__": ("not one", Interrupt("ask?", id="i")),
    }


def test_a_remote_chunk_with_interrupts_keeps_the_metadata_of_its_message() -> None:
    chunk = {"type": "messages", "ns": (), "data": ("message", {"tag": 1}), "interrupts": ()}
    assert v2_part(chunk).meta == {"tag": 1}


@pytest.mark.parametrize("message", [AIMessage("Hi", id="m"), AIMessageChunk(content="Hi", id="m")])
@pytest.mark.parametrize("where", [((), None), ((), 3), ((3,), {})])
def test_a_message_without_metadata_or_a_namespace_of_names_is_refused(
    message: Any, where: tuple[Any, Any]
) -> None:
    ns, meta = where
    asked: Any = {"stream_mode": ["messages"], "subgraphs": True}
    chunk = (ns, "messages", (message, meta))
    with pytest.raises(StreamError, match=r"expected|namespace"):
        list(dedup([chunk], **asked))


@pytest.mark.parametrize("meta", [{"langgraph_checkpoint_ns": 3}, {"langgraph_step": "x"}])
def test_metadata_of_another_kind_are_as_none(meta: dict[str, Any]) -> None:
    chunk = (AIMessageChunk(content="Hi", id="m"), meta)
    assert list(dedup([chunk], stream_mode="messages")) == [chunk]
