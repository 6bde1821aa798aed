"""Rows of ours become upstream's and back, while others write, and whatever happens in between."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from langgraph_once.checkpoint.copying import transfer
from langgraph_once.checkpoint.rewriting import Entering, Leaving, migrate
from langgraph_once.errors import ConfigError
from langgraph_once.stream import StreamAddress
from tests.databases import is_postgres
from tests.operations import verify
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import build, on

pytestmark = pytest.mark.usefixtures("cuts_short_values")

FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "encrypted": {"encryption_keys": whole.KEYS},
    "compatible": {"compatible": True},
}
STOCK_TAGS = {"msgpack", "null", "bytes", "json"}
LEDGERS = "SELECT * FROM once_stream_states ORDER BY thread_id, checkpoint_id"


def put(saver: Any, thread_id: str, value: Any, channel: str = "odd") -> str:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"good": [1], channel: value}
    checkpoint["channel_versions"] = {"good": "1", channel: "1"}
    config: Any = on(thread_id, checkpoint_ns="")
    saver.put(config, checkpoint, {"source": "loop", "step": 1}, {"good": "1", channel: "1"})
    return checkpoint["id"]


def stop(done: int, total: int) -> None:
    raise KeyboardInterrupt


def is_sound(database: str, serializer: Any) -> bool:
    with whole.to_read(database, serializer) as saver:
        return not verify(saver, serializer).troubles


@pytest.mark.parametrize("form", FORMS)
def test_upstreams_saver_goes_on_with_every_thread(here: str, form: str) -> None:
    serializer = whole.serde(**FORMS[form])
    with whole.once(here, serializer) as saver:
        whole.fill(saver)
        before = whole.history(saver)
        done = migrate(saver, Leaving(serializer))
    threads = 0 if form == "compatible" else 3
    assert (done.threads, done.troubles, done.is_any_left) == (threads, [], False)
    assert done.has_dropped
    assert whole.tags(here) <= STOCK_TAGS
    with whole.stock(here) as saver:
        assert whole.history(saver) == before
        assert whole.end(saver) == whole.in_memory()


def test_migrating_to_langgraph_leaves_nothing_of_ours(here: str, tmp_path: Path) -> None:
    serializer = whole.serde()
    with whole.stock(here):
        before = whole.columns(here)
    with whole.once(here, serializer) as saver:
        whole.fill(saver)
        migrate(saver, Leaving(serializer))
    assert whole.columns(here) == before


async def test_upstreams_async_saver_goes_on(path: Path) -> None:
    serializer = whole.serde()
    with whole.once(str(path), serializer) as saver:
        whole.fill(saver)
        migrate(saver, Leaving(serializer))
    async with AsyncSqliteSaver.from_conn_string(str(path)) as upstream:
        state = await build(upstream).ainvoke(Command(resume="late"), on("waits"))
    assert state["text"] == "late"


def test_what_upstream_cannot_carry_stays_and_is_named(here: str) -> None:
    serializer = whole.serde()
    with whole.once(here, serializer) as saver:
        put(saver, "a", [1])
        id_ = put(saver, "b", 2**80)
        put(saver, "c", [1])
        before = saver.get_tuple(on("b"))
        done = migrate(saver, Leaving(serializer))
        (trouble,) = done.troubles
        assert trouble[:4] == ("b", "", id_, "odd")
        assert str(2**80) not in trouble.problem
        assert (done.threads, done.is_any_left, done.has_dropped) == (2, True, False)
        assert saver.get_tuple(on("b")) == before
        saver.delete_thread("b")
        assert migrate(saver, Leaving(serializer)).has_dropped


def test_a_class_that_is_gone_is_not_lost(here: str) -> None:
    import enum
    import sys
    import types

    module = types.ModuleType("gone_for_good")
    sys.modules["gone_for_good"] = module
    Mood = enum.Enum("Mood", {"CALM": 1}, module="gone_for_good")  # noqa: N806  # the name of a class
    module.Mood = Mood  # type: ignore[attr-defined]  # a module made here
    serializer = whole.serde()
    with whole.once(here, serializer) as saver:
        put(saver, "a", Mood.CALM)
        del sys.modules["gone_for_good"]
        done = migrate(saver, Leaving(serializer))
    assert [trouble.channel for trouble in done.troubles] == ["odd"]
    assert done.is_any_left


def test_a_dry_run_changes_nothing_and_tells_all(here: str) -> None:
    serializer = whole.serde()
    with whole.once(here, serializer) as saver:
        whole.fill(saver)
    before = whole.contents(here)
    with whole.to_read(here, serializer) as saver:
        planned = migrate(saver, Leaving(serializer), is_dry=True)
    assert whole.contents(here) == before
    with whole.once(here, serializer) as saver:
        done = migrate(saver, Leaving(serializer))
    assert (planned.threads, planned.rows) == (done.threads, done.rows)
    assert planned.bytes_before == done.bytes_before


def test_a_run_that_was_stopped_goes_on(here: str) -> None:
    serializer = whole.serde()

    with whole.once(here, serializer) as saver:
        whole.fill(saver)
        before = whole.history(saver)
        with pytest.raises(KeyboardInterrupt):
            migrate(saver, Leaving(serializer), progress=stop)
        assert whole.history(saver) == before
        done = migrate(saver, Leaving(serializer))
        assert (done.threads, done.has_dropped) == (2, True)
    with whole.stock(here) as upstream:
        assert whole.history(upstream) == before


def test_tables_are_kept_when_asked(here: str) -> None:
    serializer = whole.serde()
    with whole.once(here, serializer) as saver:
        whole.fill(saver)
        ledgers = whole.ask(here, LEDGERS)
        done = migrate(saver, Leaving(serializer), keeps_tables=True)
        assert (done.has_dropped, done.is_any_left) == (False, False)
        assert whole.ask(here, LEDGERS) == ledgers  # which no saver of upstream's reads
        assert saver.load_stream_state(StreamAddress("waits", "")) == b"ledger " * 1000


def test_a_server_goes_on_while_all_is_rewritten_and_dropped(here: str) -> None:
    """It writes msgpack already, as `docs/checkpoints.md` says; it makes the tables anew."""
    ours, theirs = whole.serde(), whole.serde(compatible=True)
    stop = threading.Event()
    failed: list[Exception] = []
    served: list[str] = []

    def serve() -> None:
        with whole.once(here, theirs, store_once=False) as saver:
            graph = build(saver)
            while not stop.is_set() and not failed:
                thread_id = f"live {len(served)}"
                try:
                    graph.invoke(whole.ASKED, on(thread_id))
                    graph.invoke(Command(resume="yes"), on(thread_id))
                except Exception as error:
                    failed.append(error)
                served.append(thread_id)

    with whole.once(here, ours) as saver:
        whole.fill(saver)
        before = whole.history(saver)
        server = threading.Thread(target=serve)
        server.start()
        try:
            for _ in range(3):
                assert migrate(saver, Leaving(ours)).has_dropped
        finally:
            stop.set()
            server.join()
    assert not failed
    with whole.stock(here) as upstream:
        assert whole.history(upstream) == before


@pytest.mark.parametrize("form", ["stock", "other key", "uncut"])
def test_all_is_rewritten_as_the_settings_say(here: str, form: str) -> None:
    if form == "stock":
        with whole.stock(here) as upstream:
            whole.fill(upstream)
            before = whole.history(upstream)
    else:
        options: Any = {"encryption_keys": whole.KEYS} if form == "other key" else {}
        with whole.once(here, whole.serde(**options), store_once=form != "uncut") as saver:
            whole.fill(saver)
            before = whole.history(saver)
    both = whole.serde(encryption_keys={**whole.KEYS, **whole.NEW}, encryption="required")
    with whole.once(here, both) as saver:
        done = migrate(saver, Entering(both))
        assert (done.troubles, done.threads) == ([], 3)
        assert migrate(saver, Entering(both)).rows == 0
    alone = whole.serde(encryption_keys=whole.NEW, encryption="required")
    assert is_sound(here, alone)
    with whole.once(here, alone) as saver:
        assert whole.history(saver) == before
        assert whole.end(saver) == whole.in_memory()
    assert all("aesgcm" in tag for tag in whole.tags(here))
    assert whole.ask(here, "SELECT 1 FROM once_pieces LIMIT 1")
    if is_postgres(here):
        clear = whole.ask(here, "SELECT checkpoint::text FROM checkpoints")
        assert not [row for row in clear if "fork" in row[0]]


def test_metadata_that_postgres_would_change_stand_where_upstream_has_them(database: str) -> None:
    here, serializer = whole.url(database), whole.serde()
    with whole.once(here, serializer) as saver:
        for thread_id, odd in (("float", 1e300), ("nan", float("nan"))):
            config: Any = on(thread_id, checkpoint_ns="")
            metadata: Any = {"source": "loop", "step": 1, "odd": odd}
            saver.put(config, empty_checkpoint(), metadata, {})
        assert migrate(saver, Leaving(serializer)).has_dropped
    with whole.stock(here) as upstream:
        metadata = upstream.get_tuple(on("float")).metadata
        assert float(metadata.pop("odd")) == 1e300
        assert metadata == {"source": "loop", "step": 1}
        assert "NaN" in upstream.get_tuple(on("nan")).metadata["__once_json"]


def test_msgpack_is_no_form_of_ours() -> None:
    with pytest.raises(ConfigError, match="ONCE_SERDE__COMPATIBLE"):
        Entering(whole.serde(compatible=True))


@pytest.mark.parametrize("way", ["up", "down"])
def test_threads_move_into_another_database(way: str, path: Path, database: str) -> None:
    places = (str(path), whole.url(database))
    source, target = places if way == "up" else places[::-1]
    serializer = whole.serde(encryption_keys=whole.KEYS)
    with whole.once(source, serializer) as saver:
        whole.fill(saver)
        put_run(saver)
        before = whole.history(saver)
    untouched = whole.contents(source)
    with whole.to_read(source, serializer) as old, whole.once(target, serializer) as new:
        done = transfer(old, new)
        assert (done.threads, done.skipped, done.troubles) == (4, 0, [])
        assert transfer(old, new).skipped == 4
        assert whole.history(new) == before
        assert new.load_stream_state(StreamAddress("waits", "")) == b"ledger " * 1000
        new.delete_for_runs(["the run"])
        assert new.get_tuple(on("of a run")) is None
        assert whole.contents(source) == untouched
        assert whole.end(new) == whole.in_memory()
        gone_on = transfer(old, new)
        assert [trouble.thread_id for trouble in gone_on.troubles] == ["done", "forked", "waits"]
        assert gone_on.threads == 1  # the one that was rolled back
    assert is_sound(target, serializer)


def put_run(saver: Any) -> None:
    config: Any = on("of a run", checkpoint_ns="")
    config["metadata"] = {"run_id": "the run"}
    stored = saver.put(config, empty_checkpoint(), {"source": "loop", "step": 1}, {})
    saver.put_writes(stored, [("channel", "value")], "task")


def test_a_copy_that_was_stopped_goes_on(path: Path, tmp_path: Path) -> None:
    serializer = whole.serde()

    target = str(tmp_path / "other.sqlite")
    with whole.once(str(path), serializer) as old, whole.once(target, serializer) as new:
        whole.fill(old)
        with pytest.raises(KeyboardInterrupt):
            transfer(old, new, progress=stop)
        done = transfer(old, new)
        assert (done.threads, done.skipped) == (2, 1)
        at = StreamAddress("waits", "")
        old.save_stream_state(at, b"a ledger")  # it goes with a checkpoint that is missing
        build(old).invoke(Command(resume="late"), on("waits"))
        assert transfer(old, new).threads == 1
        assert new.load_stream_state(at) == b"a ledger"
        assert whole.history(old) == whole.history(new)
