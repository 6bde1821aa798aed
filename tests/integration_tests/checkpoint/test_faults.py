"""Whatever dies in the middle: what was acknowledged is there, and all that is there is whole."""

from __future__ import annotations

import itertools
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint import open_postgres_saver, open_saver, values
from langgraph_once.checkpoint.database import Program, Row, Statement
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import StorageError
from langgraph_once.stream import StreamAddress
from tests.forked import Forked
from tests.integration_tests.checkpoint import writer
from tests.integration_tests.checkpoint.writer import THREAD, lines_of
from tests.operations import repair, verify
from tests.postgres_server import own_server
from tests.unit_tests.checkpoint import whole_databases
from tests.unit_tests.checkpoint.lives import config, id_at, text

DATABASES = ["sqlite", "postgres"]


@pytest.fixture
def url(request: pytest.FixtureRequest, path: Path) -> str:
    """The address of a new database."""
    if request.param == "sqlite":
        return str(path)
    return whole_databases.url(request.getfixturevalue("database"))


def opened(url: str) -> Any:
    return open_saver(url, config=CheckpointConfig())


def writing(url: str, name: str, *more: str) -> Forked:
    """A process that writes."""
    return Forked("-m", writer.__name__, url, name, *more)


def killed(url: str, name: str, delay_s: float) -> list[list[str]]:
    """Let a process write, kill it, and return what it said."""
    with writing(url, name) as process:
        said = [process.stdout.readline()]
        time.sleep(delay_s)
        process.kill()
        said += process.stdout.readlines()
    return [line.split() for line in said if line.endswith("\n")]


def assert_whole(url: str, name: str, said: list[list[str]]) -> None:
    """All that is stored decodes; of what was acknowledged only what was pruned is gone."""
    with opened(url) as saver:
        found = {each.config["configurable"]["checkpoint_id"]: each for each in saver.list(None)}
        lines = lines_of(name, 1000)
        for each in found.values():
            stored = each.checkpoint["channel_values"]["lines"]
            assert stored == lines_of(each.config["configurable"]["checkpoint_ns"], len(stored))
        since = max([n for n, line in enumerate(said) if line[0] == "pruning"], default=0)
        puts = [line for line in said if line[0] == "put"]
        kept = [line for line in said[since:] if line[0] != "pruning"] + puts[-3:]
        for what, id_, step in kept:
            if what == "early" and id_ not in found:
                continue  # it was killed before it stored the checkpoint
            count = int(step)
            assert found[id_].checkpoint["channel_values"]["lines"] == lines[:count]
            writes = [("early", "lines", lines[: count + 1]), ("task", "lines", lines[count:])]
            least = 2 if what == "written" else 1
            assert found[id_].pending_writes[:least] == writes[:least]


def found_by_verify(url: str) -> set[str | None]:
    """The checkpoints of which `verify` tells something: only that writes are on none."""
    serde = whole_databases.serde()
    with whole_databases.to_read(url, serde) as reader:
        troubles = verify(reader, serde).troubles
    assert all("on a checkpoint that is not there" in each.problem for each in troubles)
    return {each.checkpoint_id for each in troubles}


def assert_cured(url: str, orphans: set[str], cure: Callable[[OnceSaver], object]) -> None:
    """Writes that killed processes left are found, and deleted."""
    assert found_by_verify(url) == orphans
    with opened(url) as saver:
        cure(saver)
    assert found_by_verify(url) == set()


def pruned(saver: OnceSaver) -> None:
    saver.prune([THREAD], keep_last=1000)


def repaired(saver: OnceSaver) -> None:
    repair(saver, [THREAD])


def orphans(url: str) -> set[str]:
    """Checkpoints with writes that are not there."""
    with opened(url) as saver:
        sql = (
            f"SELECT checkpoint_id FROM {saver.threads.tables.writes_table} WHERE checkpoint_id "
            "NOT IN (SELECT checkpoint_id FROM checkpoints)"
        )
        return {id_ for (id_,) in rows(saver, sql)}


def kill_often(url: str, rounds: int) -> None:
    delays = random.Random(1)
    for _ in range(rounds):
        said = killed(url, "name", delays.uniform(0, 0.3))
        assert_whole(url, "name", said)
        assert_cured(url, orphans(url), pruned)
        assert_whole(url, "name", said)


@pytest.mark.parametrize(
    ("url", "cure"), [("sqlite", repaired), ("postgres", pruned)], indirect=["url"]
)
def test_killed_before_the_checkpoint_of_its_writes(
    url: str, cure: Callable[[OnceSaver], object]
) -> None:
    said: list[list[str]] = []
    left = []
    for step, hours in (("2", "1"), ("4", "0")):
        with writing(url, "name", step, hours) as process:
            for line in process.stdout:
                said.append(line.split())
                if said[-1][::2] == ["early", step]:
                    process.kill()
        left.append(said[-1][1])
    old, new = left
    assert_cured(url, {old}, cure)
    assert_whole(url, "name", said)
    with opened(url) as saver:  # as of a run that is stored right now
        put(saver, 1, {}, new, "name")
        assert saver.get_tuple(config(THREAD, "name")).pending_writes == [
            ("early", "lines", lines_of("name", 5))
        ]
    assert found_by_verify(url) == set()


@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_a_process_killed_while_it_writes_leaves_a_sound_database(url: str) -> None:
    kill_often(url, 2)


@pytest.mark.slow
@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_killed_while_it_writes_again_and_again(url: str) -> None:
    kill_often(url, 200)


@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_two_processes_on_one_thread(url: str) -> None:
    with opened(url):
        pass
    with writing(url, "one") as one, writing(url, "two") as two:
        said: dict[str, list[list[str]]] = {"one": [], "two": []}

        def listen(name: str, process: Forked) -> None:
            for line in process.stdout:
                said[name].append(line.split())
                if len(said[name]) >= 60:
                    process.kill()

        threads = [
            threading.Thread(target=listen, args=each) for each in (("one", one), ("two", two))
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert len(said["one"]) >= 60 <= len(said["two"])
    with opened(url) as saver:
        for each in saver.list(None):
            stored = each.checkpoint["channel_values"]["lines"]
            assert stored == lines_of(each.config["configurable"]["checkpoint_ns"], len(stored))
        for name in said:
            ids = [line[1] for line in said[name] if line[0] == "put"]
            found = saver.get_tuple(config(THREAD, name))
            assert found.config["configurable"]["checkpoint_id"] >= ids[-1]


def put(
    saver: OnceSaver, number: int, values: dict[str, Any], id_: str | None = None, name: str = ""
) -> Any:
    checkpoint = empty_checkpoint()
    checkpoint["id"] = id_ or checkpoint["id"]
    versions = dict.fromkeys(values, f"{number:032}.{number}")
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = dict(versions)
    metadata: Any = {"source": "loop", "step": number}
    return saver.put(config(THREAD, name), checkpoint, metadata, dict(versions))


def rows(saver: OnceSaver, sql: str) -> list[Row]:
    def asked() -> Program[list[Row]]:
        return (yield Statement(sql))

    return saver.engine.run(asked(), writes=False)


def pieces(saver: OnceSaver) -> int:
    return int(rows(saver, "SELECT count(*) FROM once_pieces")[0][0])


@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_checkpoints_written_while_the_clock_goes_back_are_all_kept(url: str) -> None:
    """The latest is the one with the largest id, as in upstream's savers; none is lost."""
    with opened(url) as saver:
        put(saver, 1, {"a": [text(1, 3000)]}, id_at(100, 1))
        put(saver, 2, {"a": [text(2, 3000)]}, id_at(50, 2))
        assert latest(saver)["id"] == id_at(100, 1)
        listed = [each.checkpoint for each in saver.list(config(THREAD, ""))]
        assert [each["id"] for each in listed] == [id_at(100, 1), id_at(50, 2)]
        assert listed[1]["channel_values"]["a"] == [text(2, 3000)]


@pytest.mark.parametrize("url", DATABASES, indirect=True)
@pytest.mark.parametrize("then", ["delete", "prune", "prune what is left"])
def test_what_foreign_deletes_leave_is_swept(
    url: str, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "MIN_CUT_BYTES", 64)
    with opened(url) as saver:
        first = put(saver, 1, {"a": [text(1, 3000)]})
        saver.put_writes(first, [("b", [text(2, 3000)])], "task")
        if then == "prune what is left":
            put(saver, 2, {"a": [text(3, 100)]})
        id_ = first["configurable"]["checkpoint_id"]
        sql = f"DELETE FROM checkpoints WHERE thread_id = 'thread' AND checkpoint_id = '{id_}'"
        by_sql(url, sql)
        before = pieces(saver)
        if then == "delete":
            saver.delete_thread(THREAD)
            assert pieces(saver) == 0
            return
        by_sql(url, f"DELETE FROM {saver.threads.tables.writes_table}")
        saver.prune([THREAD])
        assert pieces(saver) < before
        if then == "prune":
            assert pieces(saver) == 0
        else:
            assert latest(saver)["channel_values"] == {"a": [text(3, 100)]}


@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_a_long_ledger_outlives_a_sweep(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MIN_CUT_BYTES", 64)
    with opened(url) as saver:
        put(saver, 1, {"a": [text(1, 3000)]})
        address = StreamAddress(THREAD, "")
        saver.save_stream_state(address, text(2, 3000).encode())
        saver.prune([THREAD])
        assert saver.load_stream_state(address) == text(2, 3000).encode()


def latest(saver: OnceSaver) -> Any:
    found = saver.get_tuple(config(THREAD, ""))
    assert found is not None
    return found.checkpoint


def by_sql(url: str, sql: str) -> None:
    conn: Any = psycopg.connect(url) if "://" in url else sqlite3.connect(url)
    with conn:
        conn.execute(sql)
    conn.close()


@pytest.mark.parametrize("url", DATABASES, indirect=True)
def test_pruning_beside_puts_leaves_nothing_dangling(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values come and go, so that a piece is swept while another process is to refer to it."""
    monkeypatch.setattr(values, "MIN_CUT_BYTES", 64)
    ended = threading.Event()
    errors: list[BaseException] = []

    def during(work: Callable[[OnceSaver, int], Any]) -> None:
        try:
            with opened(url) as saver:
                for number in itertools.takewhile(lambda _: not ended.is_set(), itertools.count()):
                    work(saver, number)
        except BaseException as error:
            errors.append(error)

    def write(saver: OnceSaver, number: int) -> None:
        put(saver, random.randrange(10**9), {"a": [text(n, 400) for n in range(number % 3 * 4)]})

    with opened(url):
        pass
    works = [write, write, lambda saver, _: saver.prune([THREAD])]
    threads = [threading.Thread(target=during, args=(work,)) for work in works]
    for each in threads:
        each.start()
    with opened(url) as saver:
        until = time.monotonic() + 2
        while time.monotonic() < until and not errors:
            assert_readable(saver, limit=5)
        ended.set()
        for each in threads:
            each.join()
        assert errors == []
        assert_readable(saver)


def assert_readable(saver: OnceSaver, limit: int | None = None) -> None:
    for each in saver.list(config(THREAD, ""), limit=limit):
        assert all(isinstance(line, str) for line in each.checkpoint["channel_values"]["a"])


@pytest.mark.slow
def test_a_saver_survives_a_restart_of_postgres() -> None:
    """What was acknowledged is there; who asks while it is away is told, and later served."""
    with own_server() as server, open_postgres_saver(server.address, timeout_s=2) as saver:
        for mode in ("fast", "immediate"):
            put(saver, 1, {"a": [text(1, 3000)]}, id_at(1, 1))
            server.stop(mode)
            with pytest.raises(StorageError):
                put(saver, 2, {"a": [text(2, 3000)]}, id_at(2, 2))
            server.start()
            assert latest(saver)["channel_values"] == {"a": [text(1, 3000)]}
            put(saver, 3, {"a": [text(3, 3000)]}, id_at(3, 3))
            assert latest(saver)["id"] == id_at(3, 3)
            saver.delete_thread(THREAD)
