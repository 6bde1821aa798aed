"""What a stream delivered is stored beside its checkpoint, and goes with it."""

from __future__ import annotations

from datetime import timedelta

from langgraph_once.checkpoint import OnceSqliteSaver
from langgraph_once.stream import StreamAddress
from tests.unit_tests.checkpoint.test_pruning import id_of
from tests.unit_tests.checkpoint.test_stored_once import ROOT, pieces, put, talk, text, values


def test_ledgers_are_kept_with_their_checkpoints(once: OnceSqliteSaver) -> None:
    at = put(once, ROOT, messages=talk(3))["configurable"]
    address = StreamAddress("thread", "", at["checkpoint_id"])
    assert once.load_stream_state(address) is None
    for data in (b"short", text(1).encode() * 100):
        once.save_stream_state(address, data)
        assert once.load_stream_state(address) == data
    once.copy_thread("thread", "copy")
    assert once.load_stream_state(address._replace(thread_id="copy")) == data
    later = put(once, {"configurable": at}, messages=talk(4))
    once.prune(["thread"])
    assert once.load_stream_state(address) is None
    assert pieces(once) == set()
    assert values(once, later)["messages"] == talk(4)


def test_a_ledger_of_no_checkpoint_is_pruned_unless_its_checkpoint_may_be_on_its_way(
    once: OnceSqliteSaver,
) -> None:
    """A process that is killed may have stored the one and not the other."""
    first = put(once, ROOT, messages=talk(1))["configurable"]
    last = put(once, {"configurable": first}, messages=talk(2))["configurable"]
    alone, just_now = id_of(timedelta(minutes=6)), first["checkpoint_id"] + "0"
    coming = last["checkpoint_id"] + "0"
    ids = alone, just_now, last["checkpoint_id"], coming
    addresses = [StreamAddress("thread", "", at) for at in ids]
    for address in addresses:
        once.save_stream_state(address, text(1).encode() * 100)
    once.prune(["thread"], keep_last=2)
    gone = [id_ for id_, at in zip(ids, addresses, strict=True) if not once.load_stream_state(at)]
    assert gone == [alone]
