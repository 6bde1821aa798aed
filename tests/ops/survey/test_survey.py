"""`langgraph-once survey` on databases that LangGraph's own savers wrote, and what came of it."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import Command

from langgraph_once import OnceSerializer
from langgraph_once.checkpoint.database import Statement
from langgraph_once.checkpoint.rewriting import Entering, migrate
from langgraph_once.stream import StreamAddress
from langgraph_once_ops.survey import Survey, open_snapshot, report, survey
from langgraph_once_ops.survey.report import Estimate
from tests.databases import is_postgres
from tests.forked import run_once
from tests.stock_threads import agent, asking, copy, fill, stock
from tests.unit_tests.checkpoint.whole_databases import ask, once, only_select, url

SECRET = "a-word-that-nobody-may-see"


def command(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run_once("survey", *arguments, cwd=cwd, **env)


def surveyed(database: str, **options: Any) -> Survey:
    with open_snapshot(database) as snapshot:
        return survey(snapshot, OnceSerializer(), **options)


def config(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id}}


def is_within(estimate: Estimate, truth: Estimate) -> bool:
    """Whether a number is within twice the interval, which is wrong once in ten thousand times."""
    return abs(estimate.value - truth.value) <= estimate.high - estimate.low


def times(count: int, estimate: Estimate) -> Estimate:
    return Estimate(*(count * each for each in estimate))


def say(database: str, thread_id: str, text: str = "hello", *, left: int = 1) -> None:
    with stock(database) as saver:
        graph = agent().compile(checkpointer=saver)
        graph.invoke({"messages": [HumanMessage(text)], "left": left}, config(thread_id))


def test_the_prediction_is_what_migrate_leaves(here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with stock(here) as saver:
        fill(saver, 15, longest=8)
    before = surveyed(here, seconds=None)
    assert before.after.value < before.total / 2
    with once(here, OnceSerializer()) as saver:
        done = migrate(saver, Entering(OnceSerializer()))
    assert (done.threads, done.troubles) == (15, [])
    left = surveyed(here)
    assert left.total == pytest.approx(before.after.value, rel=0.02)
    assert left.after.value == pytest.approx(left.total, rel=0.01)  # nothing more to gain
    assert bool(left.free) is not is_postgres(here)  # which does not tell
    with monkeypatch.context() as patch:
        patch.setattr(report, "_SOON_S", -1)
        patch.setattr(report, "_LEAST_DRAWS", 20)
        sample = surveyed(here)
    assert sample.after.value == pytest.approx(left.total, rel=0.01)
    ask(here, "VACUUM FULL" if is_postgres(here) else "VACUUM")
    assert surveyed(here).disk == pytest.approx(before.disk_after, rel=0.15)


def test_of_threads_that_are_as_they_should_be_each_byte_is_told(path: Path) -> None:
    """Also those of ledgers."""
    with once(str(path), OnceSerializer()) as saver:
        asked: Any = {"messages": [HumanMessage("hello " * 2000)], "left": 2}
        agent().compile(checkpointer=saver).invoke(asked, config("thread"))
        saver.save_stream_state(StreamAddress("thread", ""), b"what was delivered")
    found = surveyed(str(path), seconds=None)
    assert found.after.value == found.total


def test_the_disk_that_migrate_leaves_is_told_of_short_threads_too(here: str) -> None:
    """Their keys, and the room at the ends of pages, take as much as their values."""
    with stock(here) as saver:
        graph = asking().compile(checkpointer=saver)
        for number in range(60):
            thread: Any = config(str(uuid5(NAMESPACE_OID, str(number))))
            graph.invoke({"messages": [HumanMessage("hello " * 20)]}, thread)
            graph.invoke(Command(resume="yes"), thread)
    before = surveyed(here, seconds=None)
    assert before.disk > 1.5 * before.total
    with once(here, OnceSerializer()) as saver:
        migrate(saver, Entering(OnceSerializer()))
    ask(here, "VACUUM FULL" if is_postgres(here) else "VACUUM")
    assert surveyed(here).disk == pytest.approx(before.disk_after, rel=0.15)


@pytest.mark.slow
def test_a_sample_says_what_all_threads_say(here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with stock(here) as saver:
        fill(saver, 10, longest=6)
    copy(here, 12)
    exact = surveyed(here, seconds=None)
    monkeypatch.setattr(report, "_SOON_S", -1)
    monkeypatch.setattr(report, "_LEAST_DRAWS", 60)
    sample = surveyed(here)
    assert (exact.threads, exact.is_exact, sample.is_exact) == (120, True, False)
    assert is_within(sample.after, exact.after)
    assert sample.after.relative_error < 0.15
    for name, each in exact.channels.items():
        if each.value > exact.total / 100:
            assert is_within(sample.channels[name], each)
    for count, each in exact.kept.items():
        assert is_within(sample.kept[count], each)
    assert sample.idle == exact.idle
    assert sample.leftovers.keys() == exact.leftovers.keys()


@pytest.mark.slow
def test_ten_thousand_threads_are_surveyed_in_a_minute(path: Path) -> None:
    with stock(str(path)) as saver:
        fill(saver, 50, longest=12)
    exact = surveyed(str(path), seconds=None)
    copy(str(path), 200)
    began = time.process_time()  # other processes may be busy
    found = surveyed(str(path))
    assert time.process_time() - began < 60
    assert (found.threads, found.is_exact) == (10_000, False)
    assert found.after.relative_error < 0.15
    # How many threads are read in half a minute depends on what else the machine does.
    assert is_within(found.after, times(200, exact.after))
    for count, each in exact.kept.items():
        assert is_within(found.kept[count], times(200, each))


def test_a_rule_frees_what_is_said(here: str) -> None:
    with stock(here) as saver:
        fill(saver, 10, longest=8)
    with once(here, OnceSerializer()):
        pass  # our tables are there, and empty
    before = surveyed(here)
    with once(here, OnceSerializer()) as saver:
        ids = [each.thread_id for each in before.largest]
        saver.prune(ids, strategy="keep_latest")
    left = surveyed(here)
    assert before.total - left.total == pytest.approx(before.kept[1].value, rel=0.02)


def test_a_rule_frees_pieces_too(here: str) -> None:
    with once(here, OnceSerializer()) as saver:
        graph = agent().compile(checkpointer=saver)
        for number in range(4):
            said = HumanMessage(f"{number} " * 15_000, id="one")
            graph.invoke({"messages": [said], "left": 0}, config("thread"))
    before = surveyed(here)
    assert before.bytes["once_pieces"]
    with once(here, OnceSerializer()) as saver:
        saver.prune(["thread"], strategy="keep_latest")
    assert before.total - surveyed(here).total == pytest.approx(before.kept[1].value, rel=0.02)


def test_nothing_is_written_or_left_behind(path: Path, tmp_path: Path) -> None:
    say(str(path), "thread")
    before = hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns
    path.chmod(0o400)
    run = command("--database", str(path), "--exact", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "threads: 1 of 1" in run.stderr
    assert (hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns) == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_role_that_may_only_select_is_enough(database: str, tmp_path: Path) -> None:
    say(url(database), "thread")
    with only_select(database) as reader:
        found = json.loads(command("--database", url(reader), "--json", cwd=tmp_path).stdout)
    assert (found["threads"], found["rights"], found["exact"]) == (1, [], True)
    owner = json.loads(command("--database", url(database), "--json", cwd=tmp_path).stdout)
    assert owner["rights"] == ["INSERT", "UPDATE", "DELETE"]
    assert {**owner, "rights": []} == found


def test_nothing_is_prepared_in_a_session_that_a_pooler_gives_to_others(database: str) -> None:
    say(url(database), "thread")
    with open_snapshot(url(database)) as snapshot:
        for _ in range(10):
            snapshot.ask(Statement("SELECT count(*) FROM checkpoints"))
        assert snapshot.ask(Statement("SELECT count(*) FROM pg_prepared_statements")) == [(0,)]


def test_no_value_and_no_key_is_shown(path: Path, tmp_path: Path) -> None:
    with stock(str(path)) as saver:
        graph = agent().compile(checkpointer=saver)
        said = {"messages": [HumanMessage(SECRET)], "files": {SECRET: SECRET}, "left": 0}
        graph.invoke(said, config("thread"), context=None)
    for more in ([], ["--json"]):
        run = command("--database", str(path), *more, cwd=tmp_path)
        assert run.returncode == 0
        assert SECRET not in run.stdout + run.stderr
        assert "files" in run.stdout


def test_what_cannot_be_read_is_counted(here: str) -> None:
    say(here, "sound")
    say(here, "damaged")
    table, column = ("checkpoint_blobs", "blob") if is_postgres(here) else ("writes", "value")
    value = "'\\xc1'" if is_postgres(here) else "x'c1'"
    where = "WHERE thread_id = 'damaged' AND channel = 'messages'"
    ask(here, f"UPDATE {table} SET {column} = {value} {where}")
    found = surveyed(here)
    assert found.threads == 2
    assert sum(found.unread.values()) >= 1
    (damaged,) = (each for each in found.largest if each.thread_id == "damaged")
    assert found.after.value > damaged.bytes  # it would stay as it is


def test_a_call_that_waits_is_no_leftover(here: str) -> None:
    over = "subgraph calls that are over"
    with stock(here) as saver:
        graph = asking().compile(checkpointer=saver)
        graph.invoke({"messages": [HumanMessage("one")], "left": 0}, config("thread"))
    assert surveyed(here).leftovers[over].many == 0
    with stock(here) as saver:
        graph = asking().compile(checkpointer=saver)
        graph.invoke(Command(resume="yes"), config("thread"))
    left = surveyed(here).leftovers[over]
    assert left.many == 1
    assert left.bytes.value > 0


def test_orphans_are_counted(here: str) -> None:
    say(here, "thread")
    table = "checkpoint_writes" if is_postgres(here) else "writes"
    ((writes,),) = ask(here, f"SELECT count(*) FROM {table}")
    ask(here, "DELETE FROM checkpoints")
    left = surveyed(here).leftovers
    assert left["writes on checkpoints that are not there"].many == writes
    assert left["threads without a checkpoint"].many == 1
    if is_postgres(here):
        assert left["values that no checkpoint has"].bytes.value > 0


@contextlib.contextmanager
def stock_store(database: str) -> Iterator[Any]:
    if is_postgres(database):
        opened = importlib.import_module("langgraph.store.postgres").PostgresStore
    else:
        opened = importlib.import_module("langgraph.store.sqlite").SqliteStore
    with opened.from_conn_string(database) as store:
        store.setup()
        yield store


def test_the_store_is_told_by_namespace(here: str, tmp_path: Path) -> None:
    with stock_store(here) as store:
        for number in range(10):
            store.put(("memories", f"user-{number}"), SECRET, {"text": SECRET * number})
        for key in ("kept", "kept too", "gone"):
            store.put(("cache",), key, {"a": 1}, ttl=60)
    past = "now() - interval '1 day'" if is_postgres(here) else "datetime('now', '-1 day')"
    ask(here, f"UPDATE store SET expires_at = {past} WHERE key = 'gone'")
    run = command("--database", here, "--json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["threads"] == 0
    memories, cache = found["store"]["memories"], found["store"]["cache"]
    assert (memories["items"], memories["lasting"], memories["expired"]) == (10, 10, 0)
    assert memories["bytes"] > 45 * len(SECRET)
    assert (cache["items"], cache["lasting"], cache["expired"]) == (3, 0, 1)
    say(here, "thread")
    text = command("--database", here, cwd=tmp_path).stdout
    assert "3 items, 1 expired" in text
    assert SECRET not in text + run.stdout
    with stock_store(here) as store:
        for number in range(60):
            store.put((f"user-{number}",), "key", {"a": 1})
    assert surveyed(here).store.keys() == {"(many namespaces)"}


def titles(text: str) -> list[str]:
    """The first line of each part, but for the numbers of the first and the last."""
    return [part.partition("\n")[0] for part in text.strip().split("\n\n")[1:-1]]


@pytest.mark.parametrize("columns", ["80", "120"])
def test_no_line_is_longer_than_a_terminal(columns: str, path: Path, tmp_path: Path) -> None:
    say(str(path), "a thread with a name that is longer than any that a person would choose")
    run = command("--database", str(path), cwd=tmp_path, COLUMNS=columns, NO_COLOR="1")
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert "\x1b" not in run.stdout
    page = Path("docs/rehearse.md").read_text()
    shown = page.partition("```text\n")[2].partition("```")[0]
    assert titles(shown) == titles(run.stdout)


def test_growth_says_when_all_of_it_was_stored(here: str) -> None:
    with stock(here) as saver:
        fill(saver, 5, longest=3)
    found = surveyed(here)
    assert sum(week.checkpoints for week in found.weeks.values()) == found.checkpoints
    assert sum(week.bytes for week in found.weeks.values()) == pytest.approx(found.total, rel=0.01)
    assert len(found.weeks) > 1
    assert all(monday for monday in found.weeks)


def test_rows_that_no_saver_writes_stop_nothing(path: Path) -> None:
    say(str(path), "thread")
    for thread_id, id_, value in (("x'ff'", "'1'", "x''"), ("'odd'", "x'ff'", "NULL")):
        columns = "thread_id, checkpoint_id, type, checkpoint"
        row = f"{thread_id}, {id_}, 'msgpack', {value}"
        ask(str(path), f"INSERT INTO checkpoints ({columns}) VALUES ({row})")
    row = "'odd', ?, 'no id', NULL, 'pickle', 'text', 'no JSON'"
    ask(str(path), f"INSERT INTO checkpoints VALUES ({row})", "n" * 1000)
    found = surveyed(str(path))
    assert (found.threads, found.unknown) == (2, 2)
    assert found.weeks[""].checkpoints == 1
    assert found.unread


@pytest.mark.filterwarnings("ignore:ShallowPostgresSaver is deprecated:DeprecationWarning")
def test_tables_of_the_saver_without_history_are_told(database: str, tmp_path: Path) -> None:
    shallow = importlib.import_module("langgraph.checkpoint.postgres.shallow")
    with shallow.ShallowPostgresSaver.from_conn_string(database) as saver:
        saver.setup()
        asking().compile(checkpointer=saver).invoke({"messages": []}, config("thread"))
    run = command("--database", url(database), cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (1, "", 1), run.stderr
    assert "ShallowPostgresSaver made its tables" in run.stderr


def test_every_error_is_one_line(path: Path, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("this is no database, but a text of some length" * 100)
    sqlite3.connect(path).close()
    empty = tmp_path / "empty.sqlite"
    with contextlib.closing(sqlite3.connect(empty)) as conn, conn:
        conn.execute("CREATE TABLE other (x)")
    for database in ("nowhere.sqlite", "other.txt", "empty.sqlite", "mysql://host/database"):
        run = command("--database", database, cwd=tmp_path)
        assert (run.returncode, run.stdout, run.stderr.count("\n")) == (1, "", 1), run.stderr
        assert run.stderr.startswith("langgraph-once: ")


def test_a_database_without_threads_has_a_report(path: Path, tmp_path: Path) -> None:
    with stock(str(path)):
        pass
    run = command("--database", str(path), cwd=tmp_path)
    assert (run.returncode, run.stdout.startswith("0 threads, 0 checkpoints")) == (0, True)
