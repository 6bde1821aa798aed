"""What a stream delivered is stored beside its checkpoint, and goes with it."""

from __future__ import annotations

from langgraph_once.checkpoint import OnceSqliteSaver
from langgraph_once.stream import StreamAddress
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
    alone, coming = first["checkpoint_id"] + "0", last["checkpoint_id"] + "0"
    addresses = [StreamAddress("thread", "", at) for at in (alone, last["checkpoint_id"], coming)]
    for address in addresses:
        once.save_stream_state(address, text(1).encode() * 100)
    once.prune(["thread"], keep_last=2)
    assert [once.load_stream_state(each) is None for each in addresses] == [True, False, False]
