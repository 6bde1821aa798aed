"""What a stream delivered is stored beside its thread, and goes with it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from langgraph_once.checkpoint import OnceSqliteSaver
from langgraph_once.checkpoint.stored import CheckpointRef
from langgraph_once.stream import StreamAddress
from tests.unit_tests.checkpoint.test_pruning import id_of
from tests.unit_tests.checkpoint.test_stored_once import ROOT, pieces, put, talk, text, values

AT = StreamAddress("thread", "")


def test_a_ledger_is_kept_with_its_thread(once: OnceSqliteSaver) -> None:
    at = put(once, ROOT, messages=talk(3))["configurable"]
    assert once.load_stream_state(AT) is None
    for data in (b"short", text(1).encode() * 100):
        once.save_stream_state(AT, data)
        assert once.load_stream_state(AT) == data
    once.copy_thread("thread", "copy")
    assert once.load_stream_state(AT._replace(thread_id="copy")) == data
    later = put(once, {"configurable": at}, messages=talk(4))
    once.prune(["thread"])
    assert once.load_stream_state(AT) == data
    assert values(once, later)["messages"] == talk(4)
    once.delete_thread("thread")
    assert once.load_stream_state(AT) is None
    assert pieces(once) == set()


def test_a_ledger_goes_with_the_last_checkpoint_of_its_thread(once: OnceSqliteSaver) -> None:
    of_run: Any = {"configurable": ROOT["configurable"], "metadata": {"run_id": "run"}}
    put(once, of_run, messages=talk(1))
    once.save_stream_state(AT, text(1).encode() * 100)
    once.delete_for_runs(["run"])
    assert once.load_stream_state(AT) is None
    assert pieces(once) == set()


def test_ledgers_of_single_checkpoints_are_swept(once: OnceSqliteSaver) -> None:
    """Of earlier versions, in which each checkpoint had one; nobody asks for them."""
    at = put(once, ROOT, messages=talk(1))["configurable"]
    old = CheckpointRef("thread", "", id_of(timedelta(minutes=6)))
    for place in (old, CheckpointRef.of_thread(*AT)):
        once._write(once.threads.save_stream_state(place, b"x"))
    put(once, {"configurable": at}, messages=talk(2))
    once.prune(["thread"])
    (kept,) = once.conn.execute("SELECT checkpoint_id FROM once_stream_states")
    assert kept == ("",)
