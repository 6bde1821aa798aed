"""A user's own metadata under our key is not taken for ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from graphs.models import ScriptedChatModel
from langgraph_once import (
    ChannelStreamingProcessor,
    DedupConfig,
    Deduplicator,
    TokenStreamingConfig,
    dedup,
    once,
)
from langgraph_once.events import TokenStreamEvent
from langgraph_once.stream import annotation_of, sdk_part
from langgraph_once.stream.shapes import revive_part

MODEL = ScriptedChatModel(script=lambda _: AIMessage("one two three"))


def answered(state: MessagesState) -> dict[str, Any]:
    return {"messages": [MODEL.invoke(state["messages"])]}


GRAPH: Any = StateGraph(MessagesState).add_node("n", answered).add_edge(START, "n").compile()


AT = {"langgraph_checkpoint_ns": "n:1"}
NOTE = {"v": 1, "source": "model", "attempt": 1, "at": "n:1"}
OWN: list[Any] = ["x", 3, None, {}, {"v": 99}, {"attempt": 1}, ["v"], {"v": 1}]
OWN += [{**NOTE, **wrong} for wrong in ({"attempt": "1"}, {"source": None}, {"id": 3}, {"run": 3})]
OWN += [{**NOTE, "steps": wrong} for wrong in (3, "x", ["x"])]
OWN += [{**NOTE, **wrong} for wrong in ({"name": 3}, {"tags": "x"}, {"tags": [3]})]
OWN += [{"v": 1, "attempt": 1, "at": "n:1"}, {"v": 1, "source": "model", "at": "n:1"}]
FORGED: list[Any] = [
    {**NOTE, **flags, "at": at}
    for flags in (
        {"draft": True},
        {"hidden": True},
        {"attempt": 2},
        {"source": "push"},
        {"source": "retry"},
        {"source": "resume"},
        {"source": "node", "streamed": True, "id": "x", "run": "x"},
        {"id": "x", "run": "x", "steps": [1]},
        {"new": True},
        {"repairs": True},
    )
    for at in ("n:1", "", None)
]


@pytest.mark.parametrize("own", [*OWN, *FORGED])
def test_metadata_that_a_user_puts_under_our_key_change_no_stream(own: Any) -> None:
    asked: Any = {"stream_mode": ["messages", "updates"]}
    config: Any = {"metadata": {"once": own}}
    question: Any = {"messages": ["hi"]}
    streams: list[Any] = [
        dedup(GRAPH.stream(question, config, **asked), **asked),
        once(GRAPH).stream(question, config, **asked),
        dedup(once(GRAPH).stream(question, config, **asked), **asked),
    ]
    for chunks in streams:
        text = "".join(chunk[1][0].text for chunk in chunks if chunk[0] == "messages")
        assert text == "one two three"


def forging(note: Any) -> Any:
    """A graph whose own model, tool and node write under our key, in the metadata they may."""
    model = MODEL.with_config(metadata={"once": note})

    def tells(state: MessagesState, config: RunnableConfig) -> Any:
        config["metadata"]["once"] = note
        return {"messages": [model.invoke(state["messages"]), AIMessage("four")]}

    builder = StateGraph(MessagesState)
    builder.add_node("n", tells, metadata={"once": note}).add_edge(START, "n")
    return builder.compile().with_config(metadata={"once": note})


@pytest.mark.parametrize("note", FORGED)
def test_what_a_graph_and_its_models_put_there_hides_nothing(note: Any) -> None:
    asked: Any = {"stream_mode": ["messages", "updates"]}
    question: Any = {"messages": ["hi"]}
    plainly: Callable[[Any], Any] = lambda graph: graph  # noqa: E731
    for wraps in (plainly, once):
        chunks = dedup(wraps(forging(note)).stream(question, **asked), **asked)
        text = "".join(chunk[1][0].text for chunk in chunks if chunk[0] == "messages")
        assert text == "one two threefour"


@pytest.mark.parametrize("note", FORGED)
def test_what_comes_over_a_wire_hides_nothing(note: Any) -> None:
    """As `OnceRemoteGraph` and `join_run` read it: from JSON."""
    config: Any = {"metadata": {"once": note}}
    chunks = GRAPH.stream({"messages": ["hi"]}, config, stream_mode="messages")
    said = [json.loads(json.dumps([message.model_dump(), meta])) for message, meta in chunks]
    parts = [sdk_part(("messages", data)) for data in said]
    wire = [revive_part(part) for part in parts if part is not None]
    reader = Deduplicator()
    told = [kept for part in wire for kept in reader.feed(part)]
    assert "".join(part.data.text for part in told) == "one two three"


async def test_typed_events_tell_what_a_forged_annotation_says_is_hidden() -> None:
    for note in FORGED:
        config: Any = {"metadata": {"once": note}}
        processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
        told = [event async for event in processor.stream(GRAPH, {"messages": ["hi"]}, config)]
        deltas = [event.content_delta for event in told if isinstance(event, TokenStreamEvent)]
        assert "".join(deltas) == "one two three"


@pytest.mark.parametrize("own", OWN)
def test_metadata_that_a_user_puts_under_our_key_are_no_annotation(own: Any) -> None:
    assert annotation_of({**AT, "once": own}) is None
    assert annotation_of({**AT, "once": NOTE}) == NOTE
    assert annotation_of({"langgraph_checkpoint_ns": "n:2", "once": NOTE}) is None


def test_of_the_release_before_only_what_shows_more_is_believed() -> None:
    old = {"v": 1, "source": "node", "attempt": 3, "hidden": True, "new": True}
    assert annotation_of({**AT, "once": old}) == {
        "v": 1,
        "source": "node",
        "attempt": 1,
        "new": True,
    }
    del old["new"]
    assert annotation_of({**AT, "once": old}) is None


@pytest.mark.parametrize("own", [3, [3], [[3]], {"x": 3}], ids=str)
@pytest.mark.parametrize("name", ["tags", "ls_model_name"])
def test_hidden_names_are_looked_for_in_no_metadata_of_a_user(name: str, own: Any) -> None:
    hide = {"tags": ["x"], "models": ["x"], "nodes": ["x"], "namespaces": ["x"]}
    dedup_config = DedupConfig(hide=hide)
    config: Any = {"metadata": {name: own}}
    question: Any = {"messages": ["hi"]}
    streams: list[Any] = [
        dedup(
            GRAPH.stream(question, config, stream_mode="messages"),
            stream_mode="messages",
            config=dedup_config,
        ),
        once(GRAPH, dedup_config).stream(question, config, stream_mode="messages"),
    ]
    for chunks in streams:
        assert "".join(message.text for message, _ in chunks) == "one two three"
