"""A migration that is killed at any moment leaves every thread readable, and goes on."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint import open_sqlite_saver
from tests.forked import SCRIPT, Forked
from tests.unit_tests.checkpoint import whole_databases as whole

COUNT = 16


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
    env = {**os.environ, "ONCE_DATABASE_URL": str(path)}
    dice = random.Random(7)
    mixed = 0
    for _ in range(60):
        with Forked("-c", SCRIPT, "migrate", "--to", "msgpack", cwd=tmp_path, env=env) as run:
            before = count_done(path)
            while run.returncode is None and count_done(path) <= before:
                time.sleep(0.005)
            time.sleep(dice.random() / 20)
            run.kill()
            ended = run.wait()
        mixed += 0 < count_done(path) < COUNT * 10
        with open_sqlite_saver(path) as saver:
            assert {at: values(saver, at) for at in expected} == expected
        if ended.returncode == 0:
            break
    assert ended.returncode == 0
    assert mixed >= 3
    with whole.stock(str(path)) as upstream:
        assert {at: values(upstream, at) for at in expected} == expected


def values(saver: Any, thread_id: str) -> Any:
    found = saver.get_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
    return found.checkpoint["channel_values"]


def count_done(path: Path) -> int:
    sql = "SELECT count(*) FROM checkpoints WHERE type = 'msgpack'"
    return int(whole.ask(str(path), sql)[0][0])
