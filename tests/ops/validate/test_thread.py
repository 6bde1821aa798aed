"""The same for what stands around a checkpoint: metadata, configs and writes."""

from typing import Any

import pytest
from langgraph.checkpoint.base import CheckpointTuple

from langgraph_once_ops.validate import (
    validate_item,
    validate_metadata,
    validate_tuple,
    validate_write,
)
from tests.ops.validate.sound import (
    CHECKPOINT,
    GONE,
    ID,
    PARENT,
    PARENT_CONFIG,
    Damage,
    damaged,
    findings,
    sound,
    told,
)

DAMAGE: dict[str, Damage] = {
    "metadata-type": (["metadata"], None, "type NoneType, must be a mapping"),
    "source": (["metadata", "source"], "loops", "one of input, loop, update, fork"),
    "source-missing": (["metadata", "source"], GONE, "one of input"),
    "source-list": (["metadata", "source"], ["loop"], "one of input"),
    "step-type": (["metadata", "step"], "1", "type str"),
    "step-bool": (["metadata", "step"], True, "type bool"),
    "step-below": (["metadata", "step"], -2, "must be -1 or more"),
    "parents-type": (["metadata", "parents"], [], "type list"),
    "parents-missing": (["metadata", "parents"], GONE, []),
    "parent-id": (["metadata", "parents", ""], "x", "no UUID"),
    "parent-ns": (["metadata", "parents", 7], PARENT, "must be text: a namespace"),
    "counters-type": (
        ["metadata", "counters_since_delta_snapshot"],
        [],
        "type list, must be a mapping",
    ),
    "counters": (["metadata", "counters_since_delta_snapshot", "messages"], [1, -2], "two counts"),
    "counters-one": (["metadata", "counters_since_delta_snapshot", "messages"], [1], "two counts"),
    "config-type": (["config"], None, "type NoneType, must be a mapping"),
    "configurable": (["config", "configurable"], GONE, "type NoneType"),
    "thread": (["config", "configurable", "thread_id"], None, "must be the id of a thread"),
    "thread-number": (
        ["config", "configurable", "thread_id"],
        7,
        [(f'{PARENT_CONFIG}["thread_id"]', "another thread")],
    ),
    "thread-missing": (["config", "configurable", "thread_id"], GONE, "must be the id of a thread"),
    "ns-missing": (["config", "configurable", "checkpoint_ns"], GONE, []),
    "ns-type": (["config", "configurable", "checkpoint_ns"], (), "type tuple"),
    "config-id-missing": (["config", "configurable", "checkpoint_id"], GONE, "type NoneType"),
    "parent-none": (["parent_config"], None, []),
    "parent-type": (["parent_config"], 7, "type int, must be a mapping"),
    "parent-elsewhere": (
        ["parent_config", "configurable", "checkpoint_ns"],
        "inner:7",
        "not the namespace",
    ),
    "parent-later": (
        ["parent_config", "configurable", "checkpoint_id"],
        ID.replace("6001", "6002"),
        [(f'{CHECKPOINT}id"]', "not after the id of its parent")],
    ),
    "parent-itself": (
        ["parent_config", "configurable", "checkpoint_id"],
        ID,
        [(f'{CHECKPOINT}id"]', "not after the id of its parent")],
    ),
    "parent-spelling": (
        ["parent_config", "configurable", "checkpoint_id"],
        PARENT.upper(),
        "lower case",
    ),
    "writes-none": (["pending_writes"], None, []),
    "writes-type": (["pending_writes"], {}, "type dict, must be a list"),
    "write-short": (
        ["pending_writes", 1],
        ("task", "messages"),
        "three things: task id, channel, value",
    ),
    "write-text": (["pending_writes", 0], "abc", "three things"),
    "write-task": (
        ["pending_writes", 0],
        ("", "messages", 1),
        [(".pending_writes[0][0]", "is empty, must be a task id")],
    ),
    "write-channel": (
        ["pending_writes", 0],
        ["task", None, 1],
        [(".pending_writes[0][1]", "type NoneType, must be text: a channel")],
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_of_a_thread_is_found(kind: str) -> None:
    path, value, expected = DAMAGE[kind]
    told(validate_tuple(CheckpointTuple(**damaged(path, value))), findings(path, expected))


def test_the_stub_of_the_durability_exit() -> None:
    stub: Any = {"step": -2, "run_id": "run"}
    assert validate_metadata(stub) == []
    told(
        validate_metadata({**stub, "step": -3}), [('["source"]', "one"), ('["step"]', "-1 or more")]
    )


@pytest.mark.parametrize(
    ("channel", "index", "path", "words"),
    [
        ("messages", 0, "", ""),
        ("messages", 7, "", ""),
        ("messages", -1, ".idx", "below zero"),
        ("messages", "0", ".idx", "type str"),
        ("messages", True, ".idx", "type bool"),
        ("__error__", -1, "", ""),
        ("__error__", -3, ".idx", "which is -1"),
        ("__error__", 0, "", ""),
        ("__scheduled__", -2, "", ""),
        ("__scheduled__", -1, ".idx", "which is -2"),
        ("__interrupt__", -3, "", ""),
        ("__interrupt__", 2, "", ""),
        ("__interrupt__", -4, ".idx", "which is -3"),
        ("__resume__", -4, "", ""),
        ("__resume__", 0, ".idx", "which is -4"),
        ("__error_source_node__", 1, "", ""),
        ("__no_writes__", 0, "", ""),
        (None, 0, ".channel", "type NoneType"),
    ],
)
def test_the_index_of_a_write(channel: Any, index: Any, path: str, words: str) -> None:
    told(validate_write(channel, index), [(path, words)] if path else [])


def test_an_object_of_another_type_is_one_finding() -> None:
    told(validate_tuple(sound()), [("", "type dict, must be a CheckpointTuple")])  # type: ignore[arg-type]  # wrong on purpose
    told(validate_item(sound()), [("", "type dict, must be an Item")])  # type: ignore[arg-type]  # wrong on purpose
