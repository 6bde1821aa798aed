"""`langgraph-once prune`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.forked import run_once
from tests.ops.retention.test_retention import DAY, put, threads
from tests.unit_tests.checkpoint import whole_databases as whole

SECRET = "a-word-that-nobody-may-see"


def run(cwd: Path, *arguments: str, **env: str) -> CompletedProcess[str]:
    return run_once("prune", *arguments, cwd=cwd, **env)


@pytest.fixture
def filled(path: Path) -> str:
    with whole.stock(str(path)) as saver:
        put(saver, "old", 100 * DAY, user=SECRET)
        put(saver, "long", 5 * DAY, 4 * DAY, 3 * DAY, user=SECRET)
    return str(path)


def test_it_tells_before_and_afterwards_the_same(filled: str, tmp_path: Path) -> None:
    rules = ("--database", filled, "--older-than", "90d", "--keep-last", "2")
    dry = run(tmp_path, *rules, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "Threads without a checkpoint for 90d are deleted." in dry.stdout
    assert "Other threads keep the last 2 checkpoints of each namespace." in dry.stdout
    assert "2 threads: 1 would be deleted, 1 shortened, 2 checkpoints in all" in dry.stdout
    assert max(map(len, dry.stdout.splitlines())) <= 80
    told = json.loads(run(tmp_path, *rules, "--dry-run", "--json").stdout)
    assert threads(filled) == ["long", "old"]
    done = run(tmp_path, *rules, "--json")
    assert json.loads(done.stdout) == {**told, "dry_run": False}
    assert done.stderr == "threads: 2 of 2\n"
    assert (told["deleted_threads"], told["shortened_threads"]) == (1, 1)
    assert told["before"]["rows"] - told["after"]["rows"] == 4  # with a write on each
    assert threads(filled) == ["long"]
    assert SECRET not in dry.stdout + dry.stderr + done.stdout + done.stderr


def test_without_a_rule_it_follows_the_policy(filled: str, tmp_path: Path) -> None:
    policy = {"ONCE_CHECKPOINT__RETENTION": '{"older_than": "90d", "status": ["idle"]}'}
    done = run(tmp_path, "--database", filled, **policy)
    assert (done.returncode, threads(filled)) == (0, ["long"])
    assert "Only threads that are idle." in done.stdout


def test_threads_are_selected_by_status_and_metadata(filled: str, tmp_path: Path) -> None:
    rules = ("--database", filled, "--older-than", "1d")
    assert run(tmp_path, *rules, "--status", "error", "--status", "interrupted").returncode == 0
    assert run(tmp_path, *rules, "--metadata", "user=other").returncode == 0
    assert threads(filled) == ["long", "old"]
    both = ("--metadata", f"user={SECRET}", "--metadata", "step=0", "--status", "idle")
    assert run(tmp_path, *rules, *both).returncode == 0
    assert threads(filled) == ["long"]


def test_a_thread_that_cannot_be_read_is_told_and_the_exit_code_is_one(
    filled: str, tmp_path: Path
) -> None:
    whole.ask(filled, "UPDATE checkpoints SET checkpoint = x'c1' WHERE thread_id = 'old'")
    done = run(tmp_path, "--database", filled, "--older-than", "1d", "--status", "idle")
    assert (done.returncode, threads(filled)) == (1, ["old"])
    assert "left as it is: thread 'old'" in done.stderr


def test_a_role_that_may_only_select_is_told_what_would_go_and_deletes_nothing(
    database: str, tmp_path: Path
) -> None:
    with whole.stock(whole.url(database)) as saver:
        put(saver, "old", 100 * DAY)
    with whole.only_select(database) as reader:
        rules = ("--database", whole.url(reader), "--older-than", "90d", "--status", "idle")
        dry, done = run(tmp_path, *rules, "--dry-run"), run(tmp_path, *rules)
    assert "1 would be deleted" in dry.stdout
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "permission denied" in line
    assert threads(whole.url(database)) == ["old"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give --older-than, --keep-last or both"),
        (["--status", "idle"], "give --older-than, --keep-last or both"),
        (["--keep-last", "0"], "'--keep-last'"),
        (["--keep-last", "1", "--metadata", "user"], "write --metadata as KEY=VALUE"),
        (["--keep-last", "1", "--status", "asleep"], "'--status'"),
        (["--older-than", "90"], "--older-than: must be a number and one of s, m, h, d, w"),
        (["--older-than", "90d", "--database", "absent.sqlite"], "there is no such file"),
        (["--older-than", "90d", "--database", "mysql://x"], "no database that is known"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments: Any, words: str, tmp_path: Path) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not [*tmp_path.iterdir()]
