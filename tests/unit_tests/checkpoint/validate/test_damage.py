"""Each kind of damage has exactly the finding that names it, where it is; and nothing raises."""

import copy
import datetime
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid1, uuid4, uuid5

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.store.base import Item, SearchItem

from langgraph_once.checkpoint.validate import (
    Finding,
    validate_checkpoint,
    validate_item,
    validate_metadata,
    validate_tuple,
    validate_write,
)

PARENT = "1f1e711f-0000-6000-8001-000000000001"
ID = "1f1e711f-0000-6001-8002-000000000002"
NAMESPACE = uuid5(uuid4(), "version 5")
NAN = float("nan")
GONE = object()


def sound() -> dict[str, Any]:
    """The fields of a `CheckpointTuple`, as a saver returns them."""
    return {
        "config": {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": ID}},
        "checkpoint": {
            "v": 4,
            "id": ID,
            "ts": "2026-11-23T07:00:00.123456+00:00",
            "channel_values": {"messages": ["hidden"], "topic": "hidden"},
            "channel_versions": {
                "__start__": f"{2:032}.{0.25:016}",
                "messages": f"{3:032}.{0.5:016}",
                "topic": f"{2:032}.{0.75:016}",
            },
            "versions_seen": {
                "__input__": {},
                "__start__": {"__start__": f"{1:032}.{0.25:016}"},
                "node": {"messages": f"{3:032}.{0.5:016}"},
                "__snapshot_bumps__": {"node|messages": f"{3:032}.{0.5:016}"},
            },
            "updated_channels": ["messages"],
        },
        "metadata": {
            "source": "loop",
            "step": 1,
            "parents": {"": PARENT},
            "counters_since_delta_snapshot": {"messages": [1, 2]},
            "run_id": "hidden",
        },
        "parent_config": {
            "configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": PARENT}
        },
        "pending_writes": [("task", "messages", "hidden"), ("task", "__interrupt__", ("hidden",))],
    }


def damaged(path: list[Any], value: Any) -> dict[str, Any]:
    whole = sound()
    if not path:
        return whole
    part: Any = whole
    *way, last = path
    for step in way:
        part = part[step]
    if value is GONE:
        del part[last]
    else:
        part[last] = value
    return whole


CHECKPOINT = '.checkpoint["'
CONFIG = '.config["configurable"]'
PARENT_CONFIG = '.parent_config["configurable"]'
VERSIONS = f'{CHECKPOINT}channel_versions"]'
SEEN = f'{CHECKPOINT}versions_seen"]'

# Where, what stands there then, and the findings: where, and words of it.
DAMAGE: dict[str, tuple[list[Any], Any, list[tuple[str, str]]]] = {
    "nothing": ([], None, []),
    "checkpoint-type": (["checkpoint"], [], [(".checkpoint", "type list, must be a mapping")]),
    "format-text": (["checkpoint", "v"], "4", [(f'{CHECKPOINT}v"]', "type str")]),
    "format-bool": (["checkpoint", "v"], True, [(f'{CHECKPOINT}v"]', "type bool")]),
    "format-0": (["checkpoint", "v"], 0, [(f'{CHECKPOINT}v"]', "from 1 to 4")]),
    "format-5": (["checkpoint", "v"], 5, [(f'{CHECKPOINT}v"]', "from 1 to 4")]),
    "id-type": (["checkpoint", "id"], 7, [(f'{CHECKPOINT}id"]', "type int")]),
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
    "ts-type": (["checkpoint", "ts"], 1.5, [(f'{CHECKPOINT}ts"]', "type float")]),
    "ts-text": (["checkpoint", "ts"], "yesterday", [(f'{CHECKPOINT}ts"]', "ISO 8601")]),
    "ts-without-zone": (
        ["checkpoint", "ts"],
        "2026-11-23T07:00:00",
        [(f'{CHECKPOINT}ts"]', "has no time zone")],
    ),
    "ts-elsewhere": (
        ["checkpoint", "ts"],
        "2026-11-23T07:00:00+01:00",
        [(f'{CHECKPOINT}ts"]', "another time zone")],
    ),
    "ts-zulu": (["checkpoint", "ts"], "2026-11-23T07:00:00Z", []),
    "values-type": (
        ["checkpoint", "channel_values"],
        None,
        [(f'{CHECKPOINT}channel_values"]', "type NoneType, must be a mapping")],
    ),
    "value-without-version": (
        ["checkpoint", "channel_values", "other"],
        "hidden",
        [(f'{CHECKPOINT}channel_values"]["other"]', "no version")],
    ),
    "value-of-0": (["checkpoint", "channel_values", "other"], (), []),
    "value-of-an-empty-kind": (
        ["checkpoint", "channel_values", "other"],
        OrderedDict(),
        [(f'{CHECKPOINT}channel_values"]["other"]', "no version")],
    ),
    "value-of-no-text": (
        ["checkpoint", "channel_values", 7],
        "hidden",
        [(f'{CHECKPOINT}channel_values"][7]', "type int, must be text: the name of a channel")],
    ),
    "value-missing": (["checkpoint", "channel_values", "topic"], GONE, []),
    "versions-type": (
        ["checkpoint", "channel_versions"],
        ["messages"],
        [(VERSIONS, "type list, must be a mapping")],
    ),
    "versions-missing": (
        ["checkpoint", "channel_versions"],
        GONE,
        [(VERSIONS, "is missing")],
    ),
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
        [(f'{VERSIONS}["topic"]', "type float, must be a version")],
    ),
    "version-type": (
        ["checkpoint", "channel_versions", "messages"],
        [3],
        [(f'{VERSIONS}["messages"]', "type list, must be a version")],
    ),
    "version-number-beside-text": (
        ["checkpoint", "channel_versions", "topic"],
        2,
        [(f'{VERSIONS}["topic"]', "they have no order")],
    ),
    "version-of-no-text": (
        ["checkpoint", "channel_versions", b"x"],
        f"{2:032}.{0.75:016}",
        [(f"{VERSIONS}[...]", "type bytes, must be text: the name of a channel")],
    ),
    "seen-type": (["checkpoint", "versions_seen"], [], [(SEEN, "type list, must be a mapping")]),
    "seen-missing": (["checkpoint", "versions_seen"], GONE, [(SEEN, "is missing")]),
    "seen-node-type": (
        ["checkpoint", "versions_seen", "node"],
        "hidden",
        [(f'{SEEN}["node"]', "type str, must be a mapping")],
    ),
    "seen-node-name": (
        ["checkpoint", "versions_seen", 7],
        {},
        [(f"{SEEN}[7]", "type int, must be text: the name of a node")],
    ),
    "seen-newer": (
        ["checkpoint", "versions_seen", "node", "messages"],
        f"{4:032}.{0.5:016}",
        [(f'{SEEN}["node"]["messages"]', "is newer than")],
    ),
    "seen-number": (
        ["checkpoint", "versions_seen", "node", "messages"],
        1,
        [(f'{SEEN}["node"]["messages"]', "has no order")],
    ),
    "seen-no-version": (
        ["checkpoint", "versions_seen", "node", "messages"],
        None,
        [(f'{SEEN}["node"]["messages"]', "type NoneType, must be a version")],
    ),
    "seen-unknown-channel": (
        ["checkpoint", "versions_seen", "node", "other"],
        f"{1:032}.{0.5:016}",
        [(f'{SEEN}["node"]["other"]', "no version")],
    ),
    "seen-channel-of-a-node": (
        ["checkpoint", "versions_seen", "node", "node"],
        f"{1:032}.{0.5:016}",
        [],
    ),
    "seen-bump": (
        ["checkpoint", "versions_seen", "__snapshot_bumps__", "node|messages"],
        True,
        [(f'{SEEN}["__snapshot_bumps__"]["node|messages"]', "type bool, must be a version")],
    ),
    "updated-type": (
        ["checkpoint", "updated_channels"],
        "messages",
        [(f'{CHECKPOINT}updated_channels"]', "type str, must be a list")],
    ),
    "updated-unknown": (
        ["checkpoint", "updated_channels", 0],
        "other",
        [(f'{CHECKPOINT}updated_channels"][0]', "no version")],
    ),
    "updated-no-text": (
        ["checkpoint", "updated_channels", 0],
        None,
        [(f'{CHECKPOINT}updated_channels"][0]', "type NoneType, must be text")],
    ),
    "updated-none": (["checkpoint", "updated_channels"], None, []),
    "updated-missing": (["checkpoint", "updated_channels"], GONE, []),
    "metadata-type": (["metadata"], None, [(".metadata", "type NoneType, must be a mapping")]),
    "source": (
        ["metadata", "source"],
        "loops",
        [('.metadata["source"]', "one of input, loop, update, fork")],
    ),
    "source-missing": (["metadata", "source"], GONE, [('.metadata["source"]', "one of input")]),
    "source-list": (["metadata", "source"], ["loop"], [('.metadata["source"]', "one of input")]),
    "step-type": (["metadata", "step"], "1", [('.metadata["step"]', "type str")]),
    "step-bool": (["metadata", "step"], True, [('.metadata["step"]', "type bool")]),
    "step-below": (["metadata", "step"], -2, [('.metadata["step"]', "must be -1 or more")]),
    "parents-type": (["metadata", "parents"], [], [('.metadata["parents"]', "type list")]),
    "parents-missing": (["metadata", "parents"], GONE, []),
    "parent-id": (["metadata", "parents", ""], "x", [('.metadata["parents"][""]', "no UUID")]),
    "parent-ns": (
        ["metadata", "parents", 7],
        PARENT,
        [('.metadata["parents"][7]', "must be text: a namespace")],
    ),
    "counters-type": (
        ["metadata", "counters_since_delta_snapshot"],
        [],
        [('.metadata["counters_since_delta_snapshot"]', "type list, must be a mapping")],
    ),
    "counters": (
        ["metadata", "counters_since_delta_snapshot", "messages"],
        [1, -2],
        [('.metadata["counters_since_delta_snapshot"]["messages"]', "two counts")],
    ),
    "counters-one": (
        ["metadata", "counters_since_delta_snapshot", "messages"],
        [1],
        [('.metadata["counters_since_delta_snapshot"]["messages"]', "two counts")],
    ),
    "config-type": (["config"], None, [(".config", "type NoneType, must be a mapping")]),
    "configurable": (["config", "configurable"], GONE, [(CONFIG, "type NoneType")]),
    "thread": (
        ["config", "configurable", "thread_id"],
        None,
        [
            (f'{CONFIG}["thread_id"]', "must be the id of a thread"),
            (f'{PARENT_CONFIG}["thread_id"]', "another thread"),
        ],
    ),
    "thread-number": (
        ["config", "configurable", "thread_id"],
        7,
        [(f'{PARENT_CONFIG}["thread_id"]', "another thread")],
    ),
    "thread-missing": (
        ["config", "configurable", "thread_id"],
        GONE,
        [(f'{CONFIG}["thread_id"]', "must be the id of a thread")],
    ),
    "ns-missing": (["config", "configurable", "checkpoint_ns"], GONE, []),
    "ns-type": (
        ["config", "configurable", "checkpoint_ns"],
        (),
        [
            (f'{CONFIG}["checkpoint_ns"]', "type tuple"),
            (f'{PARENT_CONFIG}["checkpoint_ns"]', "not the namespace"),
        ],
    ),
    "config-id-missing": (
        ["config", "configurable", "checkpoint_id"],
        GONE,
        [(f'{CONFIG}["checkpoint_id"]', "type NoneType")],
    ),
    "parent-none": (["parent_config"], None, []),
    "parent-type": (["parent_config"], 7, [(".parent_config", "type int, must be a mapping")]),
    "parent-elsewhere": (
        ["parent_config", "configurable", "checkpoint_ns"],
        "inner:7",
        [(f'{PARENT_CONFIG}["checkpoint_ns"]', "not the namespace")],
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
        [(f'{PARENT_CONFIG}["checkpoint_id"]', "lower case")],
    ),
    "writes-none": (["pending_writes"], None, []),
    "writes-type": (["pending_writes"], {}, [(".pending_writes", "type dict, must be a list")]),
    "write-short": (
        ["pending_writes", 1],
        ("task", "messages"),
        [(".pending_writes[1]", "three things: task id, channel, value")],
    ),
    "write-text": (["pending_writes", 0], "abc", [(".pending_writes[0]", "three things")]),
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


def told(found: list[Finding], expected: list[tuple[str, str]]) -> None:
    assert [each.path for each in found] == [path for path, _ in expected], found
    for each, (_, words) in zip(found, expected, strict=True):
        assert words in each.problem
        assert "hidden" not in str(each)
        assert str(each).startswith(each.path)


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage(kind: str) -> None:
    path, value, expected = DAMAGE[kind]
    told(validate_tuple(CheckpointTuple(**damaged(path, value))), expected)


@pytest.mark.parametrize("key", sorted(sound()["checkpoint"].keys() - {"updated_channels"}))
def test_what_a_checkpoint_must_have(key: str) -> None:
    checkpoint = damaged(["checkpoint", key], GONE)["checkpoint"]
    told(validate_checkpoint(checkpoint), [(f'["{key}"]', "is missing")])


def test_all_is_found_and_not_the_first_alone() -> None:
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
        (str(uuid1()), "not of version 6"),
        (str(uuid4()), "not of version 6"),
        (ID.replace("8002", "c002"), "not of version 6"),
        (ID.upper(), "lower case"),
        (ID.replace("-", ""), "lower case"),
        (f"{{{ID}}}", "lower case"),
        ("", "no UUID"),
    ],
)
def test_ids(id_: str, words: str) -> None:
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


def test_the_stub_of_the_durability_exit() -> None:
    stub: Any = {"step": -2, "run_id": "run"}
    assert validate_metadata(stub) == []
    told(validate_metadata({**stub, "step": -3}), [('["source"]', "one"), ('["step"]', "is -3")])


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


def test_another_object() -> None:
    told(validate_tuple(sound()), [("", "type dict, must be a CheckpointTuple")])  # type: ignore[arg-type]
    told(validate_item(sound()), [("", "type dict, must be an Item")])  # type: ignore[arg-type]


UTC = datetime.UTC
TIMES = {
    "created_at": datetime.datetime(2026, 11, 23, tzinfo=UTC),
    "updated_at": datetime.datetime(2026, 11, 24, tzinfo=UTC),
}
WHOLE: dict[str, Any] = {
    "namespace": ("users", "7"),
    "key": "k",
    "value": {"a": [1, 2.5, None, True, "hidden", {"b": ()}]},
    **TIMES,
}

SELF: dict[str, Any] = {"a": [1]}
SELF["a"].append(SELF)
TWICE = ["hidden"]
DEEP: list[Any] = []
for _ in range(20_000):
    DEEP = [DEEP]

ITEMS: dict[str, tuple[str, Any, list[tuple[str, str]]]] = {
    "nothing": ("key", "k", []),
    "namespace-empty": ("namespace", (), [(".namespace", "is empty")]),
    "namespace-type": ("namespace", "users", [(".namespace", "type str")]),
    "label-empty": ("namespace", ("a", ""), [(".namespace[1]", "is empty")]),
    "label-type": ("namespace", (7, "a"), [(".namespace[0]", "type int, must be text: a label")]),
    "key-empty": ("key", "", [(".key", "is empty")]),
    "key-type": ("key", 7, [(".key", "type int, must be text")]),
    "value-type": ("value", ["hidden"], [(".value", "type list, must be a dict")]),
    "value-parts": (
        "value",
        {"a": {1}, "b": [b"", NAN, "hidden"], 7: {"c": object()}, "d": "\ud800"},
        [
            (".value[7]", "type int, must be text"),
            ('.value["a"]', "type set, which JSON cannot hold"),
            ('.value["b"][0]', "type bytes, which JSON cannot hold"),
            ('.value["b"][1]', "not finite"),
            ('.value[7]["c"]', "type object, which JSON cannot hold"),
            ('.value["d"]', "surrogate"),
        ],
    ),
    "value-in-itself": ("value", SELF, [('.value["a"][1]', "is what it stands in")]),
    "value-twice": ("value", {"a": TWICE, "b": [TWICE, TWICE]}, []),
    "value-deep": ("value", {"a": DEEP}, []),
    "created-type": ("created_at", 7, [(".created_at", "type int, must be a datetime")]),
    "created-without-zone": (
        "created_at",
        datetime.datetime(2026, 11, 23),  # noqa: DTZ001
        [(".created_at", "has no time zone")],
    ),
    "updated-elsewhere": (
        "updated_at",
        datetime.datetime(2026, 11, 24, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
        [(".updated_at", "another time zone")],
    ),
    "updated-before": (
        "updated_at",
        datetime.datetime(2026, 11, 22, tzinfo=UTC),
        [(".updated_at", "is before `created_at`")],
    ),
    "updated-at-once": ("updated_at", TIMES["created_at"], []),
}


@pytest.mark.parametrize("kind", ITEMS)
def test_an_item(kind: str) -> None:
    name, value, expected = ITEMS[kind]
    for cls in (Item, SearchItem):
        item = cls(**WHOLE)
        setattr(item, name, value)
        told(validate_item(item), expected)


@pytest.mark.parametrize(
    ("score", "words"),
    [(None, ""), (0, ""), (-0.5, ""), (NAN, "finite"), ("1", "type str"), (True, "type bool")],
)
def test_a_score(score: Any, words: str) -> None:
    found = validate_item(SearchItem(**WHOLE, score=score))
    told(found, [(".score", words)] if words else [])


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.datetimes(),
    st.uuids().map(str),
    st.just(ID),
    st.sampled_from([NAMESPACE, ..., {1}, "messages", "__interrupt__", f"{1:032}.5", "9" * 500]),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers(), st.none()), inner),
    ),
    max_leaves=6,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a tree, as its container and key."""
    keys = value if isinstance(value, dict) else range(len(value)) if _is_list(value) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


@settings(max_examples=400)
@given(st.data())
def test_damage_at_random(data: st.DataObject) -> None:
    whole = sound()
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from([*places(whole)]))
        value = data.draw(ANYTHING)
        if data.draw(st.booleans()) and isinstance(container, dict) and container is not whole:
            del container[key]
            container[data.draw(st.one_of(st.text(max_size=3), st.integers()))] = value
        else:
            container[key] = value
    before = copy.deepcopy(whole)
    for found in validate_tuple(CheckpointTuple(**whole)):
        assert isinstance(found, Finding)
        assert found.path.startswith(".")
        assert found.problem
    assert repr(whole) == repr(before)


@given(st.data())
def test_items_damaged_at_random(data: st.DataObject) -> None:
    item = SearchItem(**WHOLE)
    for name in data.draw(st.sets(st.sampled_from([*WHOLE, "score"]), min_size=1)):
        setattr(item, name, data.draw(ANYTHING))
    assert all(found.path.startswith(".") for found in validate_item(item))
