"""A tuple and an item with nothing wrong, and ways to damage them."""

import datetime
from typing import Any

from langgraph_once_ops.validate import Finding

PARENT = "1f1e711f-0000-6000-8001-000000000001"
ID = "1f1e711f-0000-6001-8002-000000000002"
NAN = float("nan")
GONE = object()

Expected = list[tuple[str, str]]
"""The findings: where, and words of it."""

Damage = tuple[list[Any], Any, str | Expected]
"""Where, what stands there then, and words of what is found there; or the findings."""


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


def findings(path: list[Any], expected: str | Expected) -> Expected:
    """What is found of damage at a path."""
    if not isinstance(expected, str):
        return expected
    first, *keys = path
    inner = "".join(f'["{key}"]' if isinstance(key, str) else f"[{key}]" for key in keys)
    return [(f".{first}{inner}", expected)]


def told(found: list[Finding], expected: Expected) -> None:
    assert [each.path for each in found] == [path for path, _ in expected], found
    for each, (_, words) in zip(found, expected, strict=True):
        assert words in each.problem
        assert "hidden" not in str(each)
        assert str(each).startswith(each.path)


TIMES = {
    "created_at": datetime.datetime(2026, 11, 23, tzinfo=datetime.UTC),
    "updated_at": datetime.datetime(2026, 11, 24, tzinfo=datetime.UTC),
}
WHOLE: dict[str, Any] = {
    "namespace": ("users", "7"),
    "key": "k",
    "value": {"a": [1, 2.5, None, True, "hidden", {"b": ()}]},
    **TIMES,
}
