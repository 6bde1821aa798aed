"""Pieces that somebody deletes by hand: what is stored afterwards, any process can read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint.database import Program, Statement
from langgraph_once.checkpoint.saver import OnceSaver
from tests.unit_tests.checkpoint import whole_databases as whole

ROOT: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
WORDS = [f"{number:x} " * 40 for number in random.Random(7).choices(range(2**30), k=600)]


def delete(saver: OnceSaver, where: str) -> Any:
    def program() -> Program[int]:
        yield Statement(f"DELETE FROM once_pieces WHERE {where}", has_rows=False)
        return len((yield Statement("SELECT 1 FROM once_pieces")))

    return saver.engine.run(program(), writes=True)


def put(saver: OnceSaver, count: int) -> Any:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"words": WORDS[:count]}
    checkpoint["channel_versions"] = {"words": str(count)}
    return saver.put(ROOT, checkpoint, {"source": "loop", "step": count}, {"words": str(count)})


def lose(saver: OnceSaver, which: str) -> None:
    before = delete(saver, "digest IS NULL")
    # The longest are leaves, most of them below groups that stay.
    some = "length(data) > (SELECT avg(length(data)) FROM once_pieces)"
    assert delete(saver, some if which == "some" else "true") < before


@contextmanager
def elsewhere(here: str, serde: Any) -> Iterator[Any]:
    """The latest checkpoint for another process, which remembers nothing; channels are lazy."""
    with whole.once(here, serde) as other:
        yield next(other.list(ROOT))


@pytest.mark.parametrize("keys", [{}, whole.KEYS], ids=["plain", "encrypted"])
@pytest.mark.parametrize("which", ["some", "all"])
def test_a_value_that_goes_on_is_whole_again(here: str, keys: Any, which: str) -> None:
    serde = whole.serde(encryption_keys=keys)
    with whole.once(here, serde) as writer:
        for count in range(21, 502, 20):  # it remembers how it was cut: into many short pieces
            put(writer, count)
        for count in (502, 504):  # each adds a few pieces, which PostgreSQL stores by one statement
            lose(writer, which)
            stored = put(writer, count)
            with elsewhere(here, serde) as found:
                assert found.checkpoint["channel_values"]["words"] == WORDS[:count]
            lose(writer, which)  # of what the checkpoint alone has, too
            writer.put_writes(stored, [("words", WORDS[: count + 1])], "task")
            with elsewhere(here, serde) as found:
                assert [value for _, _, value in found.pending_writes] == [WORDS[: count + 1]]
