"""What savers and LangGraph expect of a serializer."""

from __future__ import annotations

import base64
import copy
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerProtocol, maybe_add_typed_methods
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.errors import (
    EncodeError,
    TypeNotAllowedError,
)
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.strictly import strict_config

from .samples import OWN_TYPES, Colour, Task, allow, outcome

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

KEY: dict[str, Any] = {"encryption_keys": {"k1": base64.b64encode(b"a secret of 16 b").decode()}}
LONG = {"messages": [HumanMessage("the same words " * 50, id=str(i)) for i in range(5)]}


def serde(**settings: Any) -> OnceSerializer:
    return OnceSerializer(strict_config(**({"allowed_types": OWN_TYPES} | settings)))


def test_our_serializer_stands_in_for_upstreams() -> None:
    once = serde()
    assert isinstance(once, JsonPlusSerializer)
    assert isinstance(once, SerializerProtocol)
    assert maybe_add_typed_methods(once) is once


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_behave_alike(duplicate: Any) -> None:
    once = serde(**KEY)
    twin = duplicate(once)
    assert twin.loads_typed(once.dumps_typed(Task("x"))) == Task("x")
    assert once.loads_typed(twin.dumps_typed(LONG)) == LONG


def test_a_wider_allowlist_is_a_clone_with_the_same_settings() -> None:
    narrow = serde(allowed_types=allow(Colour), **KEY)
    wide = narrow.with_msgpack_allowlist([(Task.__module__, "Task")])
    row = wide.dumps_typed([Task("x"), Colour.RED])
    assert wide.loads_typed(row) == [Task("x"), Colour.RED]
    assert wide.config is narrow.config
    with pytest.raises(TypeNotAllowedError):
        narrow.loads_typed(row)
    with pytest.raises(EncodeError, match=r"at \[0\]"):
        narrow.dumps_typed([Task("x"), Colour.RED])


def test_an_allowlist_with_nothing_new_returns_the_serializer_itself() -> None:
    once = serde(allowed_types=allow(Task))
    assert once.with_msgpack_allowlist([]) is once
    assert once.with_msgpack_allowlist([Task]) is once
    assert once.with_msgpack_allowlist([("uuid", "UUID")]) is once


def put(saver: BaseCheckpointSaver[Any], value: Any) -> RunnableConfig:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"task": value}
    checkpoint["channel_versions"] = {"task": "1"}
    config: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    return saver.put(config, checkpoint, {}, {"task": "1"})


def test_a_saver_widens_the_allowlist_of_its_graph(caplog: pytest.LogCaptureFixture) -> None:
    with InMemorySaver(serde=serde(allowed_types=(), **KEY)) as saver:
        with pytest.raises(EncodeError, match="Task"):
            put(saver, Task("x", {1}))
        with caplog.at_level(logging.WARNING):
            widened = saver.with_allowlist({(Task.__module__, "Task")})
        assert caplog.records == []
        assert isinstance(widened.serde, OnceSerializer)
        config = put(widened, Task("x", {1}))
        with pytest.raises(TypeNotAllowedError):
            saver.get_tuple(config)
        found = widened.get_tuple(config)
        assert found is not None
        assert found.checkpoint["channel_values"] == {"task": Task("x", {1})}


def test_threads_share_a_serializer() -> None:
    once = serde(**KEY)

    def round_trips(seed: int) -> bool:
        values = [{"n": [seed, i], "m": HumanMessage(f"{seed}-{i} " * i)} for i in range(60)]
        return all(once.loads_typed(once.dumps_typed(value)) == value for value in values)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(round_trips, range(8)))


def test_an_error_in_one_thread_does_not_reach_another() -> None:
    once = serde(allowed_types=())
    good, bad = once.dumps_typed({1, 2}), serde().dumps_typed([Task("x")])

    def read(number: int) -> bool:
        result = outcome(once, bad if number % 2 else good)
        return isinstance(result, TypeNotAllowedError) if number % 2 else result == {1, 2}

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(400)))
