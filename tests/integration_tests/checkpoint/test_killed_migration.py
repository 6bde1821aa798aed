"""A migration that is killed at any moment leaves every thread readable, and goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint import open_sqlite_saver
from tests.integration_tests.killed import kills, run
from tests.unit_tests.checkpoint import whole_databases as whole

COUNT = 16


@pytest.mark.slow
def test_a_migration_goes_on_after_each_kill(tmp_path: Path) -> None:
    path = tmp_path / "threads.sqlite"
    expected: dict[str, Any] = {}
    with open_sqlite_saver(path) as saver:
        for number in range(COUNT):
            at: Any = {"configurable": {"thread_id": f"{number}", "checkpoint_ns": ""}}
            for step in range(10):
                checkpoint = empty_checkpoint()
                value = [f"{number} {step} {word}" for word in range(3000)]
                checkpoint["channel_values"] = expected[f"{number}"] = {"channel": value}
                checkpoint["channel_versions"] = {"channel": "1"}
                metadata: Any = {"source": "loop", "step": step}
                at = saver.put(at, checkpoint, metadata, {"channel": "1"})
    mixed = 0
    command = ("migrate", "--database", str(path), "--to", "msgpack")
    for _ in kills(*command, cwd=tmp_path, done=lambda: count_done(path)):
        mixed += 0 < count_done(path) < COUNT * 10
        with open_sqlite_saver(path) as saver:
            assert {at: values(saver, at) for at in expected} == expected
    run(*command, cwd=tmp_path)
    assert mixed >= 3
    with whole.stock(str(path)) as upstream:
        assert {at: values(upstream, at) for at in expected} == expected


def values(saver: Any, thread_id: str) -> Any:
    found = saver.get_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
    return found.checkpoint["channel_values"]


def count_done(path: Path) -> int:
    sql = "SELECT count(*) FROM checkpoints WHERE type = 'msgpack'"
    return int(whole.ask(str(path), sql)[0][0])
