"""Each kind of damage to a checkpoint has exactly the findings that name it, where it is."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from langgraph.checkpoint.base import CheckpointTuple

from langgraph_once_ops.validate import validate_checkpoint, validate_tuple
from tests.ops.validate.sound import (
    CHECKPOINT,
    CONFIG,
    GONE,
    ID,
    NAN,
    PARENT,
    SEEN,
    VERSIONS,
    Damage,
    damaged,
    findings,
    sound,
    told,
)

DAMAGE: dict[str, Damage] = {
    "nothing": ([], None, []),
    "checkpoint-type": (["checkpoint"], [], "type list, must be a mapping"),
    "format-text": (["checkpoint", "v"], "4", "type str"),
    "format-bool": (["checkpoint", "v"], True, "type bool"),
    "format-0": (["checkpoint", "v"], 0, "from 1 to 4"),
    "format-5": (["checkpoint", "v"], 5, "from 1 to 4"),
    "id-type": (["checkpoint", "id"], 7, "type int"),
    "id-text": (
        ["checkpoint", "id"],
        "latest",
        [
            (f'{CONFIG}["checkpoint_id"]', "not the id of the checkpoint"),
            (f'{CHECKPOINT}id"]', "no UUID"),
        ],
    ),
    "id-other": (
        ["checkpoint", "id"],
        ID.replace("2", "3"),
        [(f'{CONFIG}["checkpoint_id"]', "not the id of the checkpoint")],
    ),
    "ts-type": (["checkpoint", "ts"], 1.5, "type float"),
    "ts-text": (["checkpoint", "ts"], "yesterday", "ISO 8601"),
    "ts-without-zone": (["checkpoint", "ts"], "2026-11-23T07:00:00", "has no time zone"),
    "ts-elsewhere": (["checkpoint", "ts"], "2026-11-23T07:00:00+01:00", "another time zone"),
    "ts-zulu": (["checkpoint", "ts"], "2026-11-23T07:00:00Z", []),
    "values-type": (["checkpoint", "channel_values"], None, "type NoneType, must be a mapping"),
    "value-without-version": (["checkpoint", "channel_values", "other"], "hidden", "no version"),
    "value-of-0": (["checkpoint", "channel_values", "other"], (), []),
    "value-of-an-empty-kind": (
        ["checkpoint", "channel_values", "other"],
        OrderedDict(),
        "no version",
    ),
    "value-of-no-text": (
        ["checkpoint", "channel_values", 7],
        "hidden",
        "type int, must be text: the name of a channel",
    ),
    "value-missing": (["checkpoint", "channel_values", "topic"], GONE, []),
    "versions-type": (
        ["checkpoint", "channel_versions"],
        ["messages"],
        "type list, must be a mapping",
    ),
    "versions-missing": (["checkpoint", "channel_versions"], GONE, "is missing"),
    "version-missing": (
        ["checkpoint", "channel_versions", "messages"],
        GONE,
        [
            (f'{SEEN}["node"]["messages"]', "no version"),
            (f'{CHECKPOINT}channel_values"]["messages"]', "no version"),
            (f'{CHECKPOINT}updated_channels"][0]', "no version"),
        ],
    ),
    "version-nan": (
        ["checkpoint", "channel_versions", "topic"],
        NAN,
        "type float, must be a version",
    ),
    "version-type": (
        ["checkpoint", "channel_versions", "messages"],
        [3],
        "type list, must be a version",
    ),
    "version-number-beside-text": (
        ["checkpoint", "channel_versions", "topic"],
        2,
        "they have no order",
    ),
    "version-of-no-text": (
        ["checkpoint", "channel_versions", b"x"],
        f"{2:032}.{0.75:016}",
        [(f"{VERSIONS}[...]", "type bytes, must be text: the name of a channel")],
    ),
    "seen-type": (["checkpoint", "versions_seen"], [], "type list, must be a mapping"),
    "seen-missing": (["checkpoint", "versions_seen"], GONE, "is missing"),
    "seen-node-type": (
        ["checkpoint", "versions_seen", "node"],
        "hidden",
        "type str, must be a mapping",
    ),
    "seen-node-name": (
        ["checkpoint", "versions_seen", 7],
        {},
        "type int, must be text: the name of a node",
    ),
    "seen-newer": (
        ["checkpoint", "versions_seen", "node", "messages"],
        f"{4:032}.{0.5:016}",
        "is newer than",
    ),
    "seen-number": (["checkpoint", "versions_seen", "node", "messages"], 1, "has no order"),
    "seen-no-version": (
        ["checkpoint", "versions_seen", "node", "messages"],
        None,
        "type NoneType, must be a version",
    ),
    "seen-unknown-channel": (
        ["checkpoint", "versions_seen", "node", "other"],
        f"{1:032}.{0.5:016}",
        "no version",
    ),
    "seen-channel-of-a-node": (
        ["checkpoint", "versions_seen", "node", "node"],
        f"{1:032}.{0.5:016}",
        [],
    ),
    "seen-bump": (
        ["checkpoint", "versions_seen", "__snapshot_bumps__", "node|messages"],
        True,
        "type bool, must be a version",
    ),
    "updated-type": (["checkpoint", "updated_channels"], "messages", "type str, must be a list"),
    "updated-unknown": (["checkpoint", "updated_channels", 0], "other", "no version"),
    "updated-no-text": (["checkpoint", "updated_channels", 0], None, "type NoneType, must be text"),
    "updated-none": (["checkpoint", "updated_channels"], None, []),
    "updated-missing": (["checkpoint", "updated_channels"], GONE, []),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_of_a_checkpoint_is_found(kind: str) -> None:
    path, value, expected = DAMAGE[kind]
    told(validate_tuple(CheckpointTuple(**damaged(path, value))), findings(path, expected))


@pytest.mark.parametrize("key", sorted(sound()["checkpoint"].keys() - {"updated_channels"}))
def test_a_key_that_a_checkpoint_lacks_is_a_finding(key: str) -> None:
    checkpoint = damaged(["checkpoint", key], GONE)["checkpoint"]
    told(validate_checkpoint(checkpoint), [(f'["{key}"]', "is missing")])


def test_every_finding_of_a_checkpoint_is_told_and_not_the_first_alone() -> None:
    broken: Any = {"v": 0, "id": "", "ts": "", "channel_versions": {"a": None, "b": None}}
    assert [found.path for found in validate_checkpoint(broken)] == [
        '["v"]',
        '["id"]',
        '["ts"]',
        '["channel_versions"]["a"]',
        '["channel_versions"]["b"]',
        '["versions_seen"]',
        '["channel_values"]',
    ]


@pytest.mark.parametrize(
    ("id_", "words"),
    [
        ("c26b2c74-c83f-11f0-8de9-0242ac120002", "not of version 6"),
        ("1f0c8f44-7c1e-4c3b-9e35-5c2f0a7d8b11", "not of version 6"),
        (ID.replace("8002", "c002"), "not of version 6"),
        (ID.upper(), "lower case"),
        (ID.replace("-", ""), "lower case"),
        (f"{{{ID}}}", "lower case"),
        ("", "no UUID"),
    ],
    ids=["version-1", "version-4", "variant", "upper", "plain", "braces", "empty"],
)
def test_damaged_ids_of_a_checkpoint_are_found(id_: str, words: str) -> None:
    checkpoint = {**sound()["checkpoint"], "id": id_}
    told(validate_checkpoint(checkpoint), [('["id"]', words)])
    # What is no id has no order.
    told(validate_checkpoint(checkpoint, parent_id=PARENT), [('["id"]', words)])
    assert validate_checkpoint(sound()["checkpoint"], parent_id=id_) == []


def test_versions_may_be_numbers() -> None:
    numbered = sound()["checkpoint"]
    numbered["channel_versions"] = {"__start__": 2, "messages": 3.5, "topic": 2}
    numbered["versions_seen"] = {"node": {"messages": 3.5}, "__start__": {"__start__": 1}}
    assert validate_checkpoint(numbered) == []
    numbered["versions_seen"]["node"]["topic"] = 2.5
    told(validate_checkpoint(numbered), [('["versions_seen"]["node"]["topic"]', "is newer")])


class Undecided:
    """As arrays of numpy are."""

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


def test_a_value_may_refuse_to_be_empty() -> None:
    checkpoint = damaged(["checkpoint", "channel_values", "other"], Undecided())["checkpoint"]
    told(validate_checkpoint(checkpoint), [('["channel_values"]["other"]', "no version")])


class Lazy(Mapping[str, Any]):
    """Values that are loaded when they are asked for."""

    def __getitem__(self, key: str) -> Any:
        raise AssertionError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(("messages", "topic"))

    def __len__(self) -> int:
        return 2


def test_values_are_not_loaded() -> None:
    assert validate_checkpoint({**sound()["checkpoint"], "channel_values": Lazy()}) == []
