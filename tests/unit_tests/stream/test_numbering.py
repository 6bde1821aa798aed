"""Numbers on a wire: consecutive in what leaves the graph, whatever its shape and modes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from langgraph_once import READER_CHECKPOINT, DedupConfig, once
from langgraph_once.config import READER_KEY
from langgraph_once.stream.annotation import ANNOTATION_KEY, NUMBER_KEY
from langgraph_once.stream.readers import PLAIN_READER
from langgraph_once.stream.shapes import reader
from tests.unit_tests.stream.scenes import ASKED, chain, fan_out, nested, says, says_copy

MODES = ("updates", "values", "custom")
ANNOUNCED: Any = {"configurable": {**READER_CHECKPOINT}}


def metadata_of(chunks: list[Any], **asked: Any) -> list[dict[str, Any]]:
    """The metadata of the messages among chunks."""
    read = reader(asked.pop("stream_mode"), **asked)
    return [dict(part.meta) for part in map(read, chunks) if part.mode == "messages"]


def numbers_of(chunks: list[Any], **asked: Any) -> list[Any]:
    return [meta.get(NUMBER_KEY) for meta in metadata_of(chunks, **asked)]


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize(
    "modes",
    [
        "messages",
        *(["messages", *more] for n in range(3) for more in combinations(MODES, n)),
    ],
    ids=str,
)
async def test_messages_are_numbered_without_gaps_in_every_shape(
    version: Any, subgraphs: bool, modes: Any
) -> None:
    """What the filter withholds has no number."""
    graph = once(
        chain(says("One two three."), nested(says_copy("Four five."), 2), fan_out(says("Six."), 3))
    )
    asked: Any = {"stream_mode": modes, "subgraphs": subgraphs, "version": version}
    for chunks in (
        list(graph.stream(ASKED, ANNOUNCED, **asked)),
        [chunk async for chunk in graph.astream(ASKED, ANNOUNCED, **asked)],
    ):
        found = numbers_of(chunks, **asked)
        assert len(found) > 5
        assert found == [*range(1, len(found) + 1)]


@pytest.mark.parametrize("told", [{}, {READER_KEY: PLAIN_READER}, {READER_KEY: ""}], ids=str)
@pytest.mark.parametrize("form", ["auto", "stock"])
def test_stock_readers_are_sent_no_numbers(told: dict[str, str], form: Any) -> None:
    graph = once(chain(says("One two three.")), DedupConfig(form=form))
    asked: Any = {"stream_mode": ["messages", "values"]}
    chunks = list(graph.stream(ASKED, {"configurable": told}, **asked))
    keys = {key for meta in metadata_of(chunks, **asked) for key in meta}
    assert not keys & {NUMBER_KEY, ANNOTATION_KEY}


def test_a_reader_of_before_is_sent_no_numbers() -> None:
    """It would take each token for one of a new message, which takes it three times as long."""
    graph = once(chain(says("One two three.")))
    before: Any = {"configurable": {READER_KEY: "1"}}
    chunks = list(graph.stream(ASKED, before, stream_mode="messages"))
    assert {NUMBER_KEY in meta for _, meta in chunks} == {False}
    assert {ANNOTATION_KEY in meta for _, meta in chunks} == {True}


def test_who_reads_in_the_same_process_gets_none() -> None:
    """The tokens of a message share their metadata there."""
    graph = once(chain(says("One two three.")), DedupConfig(form="exact"))
    chunks = list(graph.stream(ASKED, stream_mode="messages"))
    assert numbers_of(chunks, stream_mode="messages") == [None] * len(chunks)
    assert len({id(meta) for _, meta in chunks}) < len(chunks)


def test_the_number_is_last_in_the_metadata_and_over_what_a_user_put_there() -> None:
    graph = once(chain(says("One two three.")))
    config: Any = {**ANNOUNCED, "metadata": {NUMBER_KEY: 7, "their": "own"}}
    found = metadata_of(
        list(graph.stream(ASKED, config, stream_mode="messages")), stream_mode="messages"
    )
    assert [meta[NUMBER_KEY] for meta in found] == [*range(1, len(found) + 1)]
    assert {list(meta)[-1] for meta in found} == {NUMBER_KEY}


def test_a_graph_that_a_node_streams_is_not_numbered_beside_the_one_around() -> None:
    inner = once(chain(says("One two three.")))
    told = list[Any]()

    def streams(state: Any) -> Any:
        told.extend(inner.stream(state, stream_mode="messages"))
        return {"messages": [AIMessage("Four.", id="four")]}

    graph = once(chain(streams))
    chunks = list(graph.stream(ASKED, ANNOUNCED, stream_mode="messages"))
    assert numbers_of(chunks, stream_mode="messages") == [*range(1, len(chunks) + 1)]
    assert told
    assert numbers_of(told, stream_mode="messages") == [None] * len(told)


def test_a_resume_begins_at_1_with_what_is_owed() -> None:
    """It is another run on the server."""

    def asks(_: Any) -> Any:
        return {"messages": [AIMessage(interrupt("?"), id="answer")]}

    plain = chain(says("One two three."), says("Four."), asks)
    graph = once(plain.copy({"checkpointer": InMemorySaver()}))
    config: Any = {"configurable": {**READER_CHECKPOINT, "thread_id": "t"}}
    stream: Any = graph.stream(ASKED, config, stream_mode="messages")
    next(stream)
    stream.close()
    list(graph.stream(None, config, stream_mode="messages"))
    chunks = list(graph.stream(Command(resume="Yes."), config, stream_mode="messages"))
    assert numbers_of(chunks, stream_mode="messages") == [*range(1, len(chunks) + 1)]
