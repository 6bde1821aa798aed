"""A rotation that is killed at any moment leaves every thread readable, and goes on."""

from __future__ import annotations

import json
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from pydantic import SecretStr

from langgraph_once.serde.encryption import NO_KEY
from langgraph_once.stream import StreamAddress
from langgraph_once_ops.encryption import key_use
from langgraph_once_ops.verify import verify
from tests.databases import is_postgres
from tests.integration_tests.killed import KILLS, kills, run
from tests.ops.rotate.test_rotate import items, put_items
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import build, on

FIRST = {"first": SecretStr("YWJjZGVmZ2hpamtsbW5vcA==")}
OLD, NEW = FIRST | whole.KEYS, whole.NEW
COPIES = 8
LONG: Any = {**whole.ASKED, "text": "long " * 9000}
"""It is stored in pieces."""
PLAIN = "WHERE thread_id IN ('plain', 'stock')"


def opened(here: str, keys: Any) -> Any:
    return whole.once(here, whole.serde(encryption_keys=keys))


def fill(here: str) -> None:
    """Threads under the first key, under the second, under both, under none, and in part so."""
    with whole.stock(here) as upstream:
        build(upstream).invoke(whole.ASKED, on("stock"))
    with opened(here, {}) as saver:
        for thread_id in ("plain", "plain before"):
            build(saver).invoke(LONG, on(thread_id))
    with opened(here, FIRST) as saver:
        whole.fill(saver)
        build(saver).invoke(LONG, on("long"))
        for number in range(COPIES):
            for thread_id in (*whole.THREADS, "long"):
                saver.copy_thread(thread_id, f"{thread_id} {number}")
    with opened(here, OLD) as saver:
        graph = build(saver)
        graph.invoke(Command(resume="yes"), on("plain before"))
        graph.invoke(LONG, on("second"))
        for number in range(0, COPIES, 2):
            graph.invoke(LONG, on(f"done {number}"))
    put_items(here, FIRST, "abc")
    put_items(here, OLD, "def")


def dump(saver: Any, here: str, *thread_ids: str) -> dict[str, Any]:
    """Threads, or all of them: checkpoints, what was written on them, and what was streamed."""
    found: dict[str, Any] = {}
    rows = whole.ask(here, "SELECT DISTINCT thread_id FROM checkpoints")
    # One by one: threads that are read together share the pieces that are read.
    for thread_id in thread_ids or (thread_id for (thread_id,) in rows):
        for each in saver.list(on(thread_id)):
            values = dict(each.checkpoint["channel_values"])
            checkpoint = each.checkpoint | {"channel_values": values}
            found[repr(each.config)] = each._replace(checkpoint=checkpoint)
    addresses = "SELECT thread_id, checkpoint_ns FROM once_stream_states"
    for address in starmap(StreamAddress, whole.ask(here, addresses)):
        found[repr(address)] = saver.load_stream_state(address)
    return found


def count_done(here: str) -> int:
    """Writes under the newest key, whose name stands behind two bytes."""
    is_server = is_postgres(here)
    table, column = ("checkpoint_writes", "blob") if is_server else ("writes", "value")
    sql = f"SELECT count(*) FROM {table} WHERE substr({column}, 3, 3) = ?"
    return int(whole.ask(here, sql, b"new")[0][0])


@pytest.mark.slow
def test_killed_twenty_times_while_servers_read_and_write_it_ends_the_same(
    here: str, tmp_path: Path
) -> None:
    fill(here)
    plain = whole.rows(here, PLAIN)
    with opened(here, OLD) as saver:
        expected = dump(saver, here)
        needed = key_use(saver)
    keys = {name: key.get_secret_value() for name, key in (OLD | NEW).items()}
    env = {"ONCE_SERDE__ENCRYPTION_KEYS": json.dumps(keys)}
    command = ("rotate", "--json", "--database", here)
    step = sum(needed[key, "writes"] for key in OLD) // KILLS
    mixed = 0
    for killed in kills(*command, cwd=tmp_path, done=lambda: count_done(here), step=step, **env):
        # A server writes under the new key, or still under an old one and only knows the new.
        with opened(here, OLD | NEW if killed % 2 else NEW | OLD) as saver:
            mixed += {key for key, _ in key_use(saver)} > {"first", "new"}
            assert dump(saver, here) == expected
            begun, resumed = f"between {killed}", f"waits {killed % COPIES}"
            build(saver).invoke(whole.ASKED, on(begun))
            build(saver).invoke(Command(resume="late"), on(resumed))
            expected |= dump(saver, here, begun, resumed)
    assert mixed >= KILLS / 2
    report = json.loads(run(*command, cwd=tmp_path, **env))
    assert [each["key"] for each in report["keys"] if each["may_go"]] == [*OLD]
    assert whole.rows(here, PLAIN) == plain
    assert items(here, NEW) == [*"abcdef"]
    with opened(here, NEW) as saver:
        assert dump(saver, here) == expected
        assert {key for key, _ in key_use(saver)} == {NO_KEY, *NEW}
        assert not verify(saver, saver.serde).troubles
