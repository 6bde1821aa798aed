"""What is wrong in a configuration is said where it is made, or before the run."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_once import once
from langgraph_once.errors import ConfigError, StreamError
from langgraph_once.events import (
    BaseEvent,
    ChannelConfig,
    ChannelMode,
    ChannelStreamingProcessor,
    TokenStreamingConfig,
)
from tests.corpus.scenario import ASKED
from tests.unit_tests.events.team import QUESTION, team


@pytest.mark.parametrize(
    ("make", "given", "says"),
    [
        (ChannelConfig, {"key": "notes", "artefact_type": "x"}, "ChannelConfig.artefact_type"),
        (ChannelConfig, {"key": ""}, "must name a key"),
        (ChannelConfig, {"key": "notes", "stream_mode": "both?"}, "ChannelConfig.stream_mode"),
        (ChannelConfig, {"key": "notes", "artifact_type": ""}, "must be a name"),
        (ChannelConfig, {"key": "notes", "namespaces": set()}, "enables nothing"),
        (ChannelConfig, {"key": "notes", "namespaces": {"a:1"}}, "'a:1'"),
        (ChannelConfig, {"key": "notes", "namespaces": {"a|b"}}, "'a|b'"),
        (ChannelConfig, {"key": "notes", "namespaces": {""}}, "texts that are not empty"),
        (ChannelConfig, {"key": "notes", "namespaces": {"a//b"}}, "'a//b'"),
        (TokenStreamingConfig, {"enabled_namespace": {"main"}}, "enabled_namespace"),
        (TokenStreamingConfig, {"enabled_namespaces": set()}, "enables nothing"),
        (TokenStreamingConfig, {"enabled_namespaces": "main"}, "must be a list, as in"),
        (TokenStreamingConfig, {"exclude_namespaces": {"main"}}, "excludes 'main'"),
        (TokenStreamingConfig, {"exclude_namespaces": {"**"}}, "excludes '**'"),
        (TokenStreamingConfig, {"message_tags": set()}, "no message has one of no tags"),
        (ChannelStreamingProcessor, {}, "watches nothing"),
        (ChannelStreamingProcessor, {"channels": ["notes"]}, "must hold ChannelConfig, got str"),
        (ChannelStreamingProcessor, {"include": ["toolz"]}, "does not know 'toolz'; it knows"),
        (ChannelStreamingProcessor, {"include": ["ui"], "max_history": 0}, "at least 1"),
        (
            ChannelStreamingProcessor,
            {
                "include": ["tool_calls"],
                "token_streaming": TokenStreamingConfig(include_tool_calls=False),
            },
            "has 'tool_calls', and token_streaming.include_tool_calls is false",
        ),
    ],
)
def test_a_mistake_raises_and_is_named(make: Any, given: Any, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        make(**given)
    assert says in str(raised.value)


def test_a_key_given_twice_is_refused() -> None:
    twice = [ChannelConfig(key="notes"), ChannelConfig(key="notes", stream_mode=ChannelMode.BOTH)]
    with pytest.raises(ConfigError, match=r"has 'notes' twice; join the two with ChannelMode.BOTH"):
        ChannelStreamingProcessor(twice)


@pytest.mark.parametrize("wrap", [once, lambda graph: graph])
def test_a_key_that_the_graph_lacks_is_refused_before_the_run(wrap: Any) -> None:
    processor = ChannelStreamingProcessor([ChannelConfig(key="note")])
    for start in (processor.stream, processor.stream_sync):
        with pytest.raises(ConfigError) as raised:
            start(wrap(team()), QUESTION)
        expected = "the graph has no key 'note'; it has messages, notes, supervisor_messages"
        assert expected in str(raised.value)


def test_what_the_configuration_decides_is_not_given_again() -> None:
    processor = ChannelStreamingProcessor([ChannelConfig(key="notes")])
    with pytest.raises(ConfigError, match=r"^stream: stream_mode: follows from the channels"):
        processor.stream_sync(team(), QUESTION, stream_mode="values")


def test_a_key_of_a_graph_inside_is_known() -> None:
    ChannelStreamingProcessor([ChannelConfig(key="notes")]).stream_sync(nested(team()), ASKED)


def nested(inner: Any) -> Any:
    builder = StateGraph(MessagesState).add_node("inner", inner).add_edge(START, "inner")
    return builder.compile()


@pytest.mark.parametrize("shape", [{"modes": "values"}, {"subgraphs": True}, {"version": "v1"}])
def test_the_shape_of_chunks_is_told_whole_and_in_known_words(shape: Any) -> None:
    processor = ChannelStreamingProcessor([ChannelConfig(key="notes")])
    with pytest.raises(
        ConfigError, match=r"^stream: a stream under way takes stream_mode, subgraphs"
    ):
        processor.stream_sync(iter([]), **shape)


def test_a_chunk_that_tells_no_shape_is_refused() -> None:
    processor = ChannelStreamingProcessor([ChannelConfig(key="notes")])
    told: list[Any] = []
    with pytest.raises(StreamError, match="a tuple does not tell its own shape"):
        processor.stream_sync(iter([("values", {})])).on(BaseEvent, told.append).collect()
    assert [event.type for event in told] == ["stream_error", "stream_ended"]


def test_a_configuration_has_these_defaults_and_is_frozen() -> None:
    channel, tokens = ChannelConfig(key="notes"), TokenStreamingConfig()
    assert (channel.stream_mode, channel.artifact_type) == (ChannelMode.VALUES_ONLY, None)
    assert (channel.filter_fn, channel.namespaces) == (None, None)
    assert (tokens.enabled_namespaces, tokens.exclude_namespaces) == ({"main"}, frozenset())
    assert (tokens.message_tags, tokens.filter_fn) == (None, None)
    assert (tokens.include_tool_calls, tokens.include_reasoning) == (True, True)
    for made, field in ((channel, "key"), (tokens, "message_tags")):
        with pytest.raises(FrozenInstanceError):
            setattr(made, field, None)


def test_patterns_may_be_any_collection() -> None:
    config = TokenStreamingConfig(enabled_namespaces=["main"], exclude_namespaces=("a",))
    assert config.enabled_namespaces == {"main"}
    assert config == TokenStreamingConfig(exclude_namespaces={"a"})


TOKENS = TokenStreamingConfig()
EVERYWHERE = TokenStreamingConfig(enabled_namespaces={"**"})
SOMEWHERE = TokenStreamingConfig(enabled_namespaces={"main", "research"})
ANY = ChannelConfig(key="a")
ROOT = {"namespaces": {"main"}}


@pytest.mark.parametrize(
    ("given", "modes", "subgraphs"),
    [
        ({"token_streaming": TOKENS}, ["messages"], False),
        ({"token_streaming": EVERYWHERE}, ["messages"], True),
        ({"token_streaming": SOMEWHERE}, ["messages", "updates"], True),
        ({"token_streaming": SOMEWHERE, "channels": [ANY]}, ["messages", "values"], True),
        ({"channels": [ChannelConfig(key="a")]}, ["values"], True),
        ({"channels": [ChannelConfig(key="a", namespaces={"main"})]}, ["values"], False),
        (
            {"channels": [ChannelConfig(key="a", stream_mode=ChannelMode.UPDATES_ONLY)]},
            ["updates"],
            True,
        ),
        (
            {"channels": [ChannelConfig(key="a", stream_mode=ChannelMode.BOTH)]},
            ["updates", "values"],
            True,
        ),
        ({"include": ["custom"]}, ["custom"], True),
        ({"include": ["ui", "tasks"]}, ["custom", "tasks"], True),
        ({"include": ["interrupts"]}, ["updates"], True),
        (
            {"include": ["interrupts"], "channels": [ChannelConfig(key="a")]},
            ["values"],
            True,
        ),
    ],
)
def test_the_fewest_modes_are_asked_for(given: Any, modes: list[str], subgraphs: bool) -> None:
    processor = ChannelStreamingProcessor(**given)
    assert list(processor.stream_modes) == modes
    assert processor.subgraphs is subgraphs
