"""One more thing that happens in random lives of threads: a policy deletes what is old."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from langgraph_once.config import RetentionConfig
from langgraph_once_ops.retention import prune
from tests.unit_tests.checkpoint.life_model import At
from tests.unit_tests.checkpoint.lives import DELTA, EPOCH, Lives, id_at, often


@often(
    2,
    count=st.integers(1, 4),
    age=st.sampled_from([None, 1, 4, 12]),
    step=st.sampled_from([{}, {}, {"even": True}]),
)
def retain(lives: Lives, _: st.DataObject, count: int, age: int | None, step: Any) -> None:
    span = f"{age}s" if age else ""
    rules = RetentionConfig(keep_last=count, older_than=span, metadata=step)
    now = EPOCH + timedelta(seconds=lives.second)
    threads = {at.thread for at in lives.model.listed(None, None)}
    histories = {at: lives.model.history(at, DELTA) for at in lives.deltas(None)}
    expected = prune(lives.saver, rules, is_dry=True, now=now)
    assert prune(lives.saver, rules, now=now) == expected
    left = {At(**lives.at(found)) for found in lives.saver.list(None)}
    for thread in threads:
        listed = lives.model.listed(thread, None)
        root = lives.model.listed(thread, "")
        known = lives.model.checkpoints[root[0]].metadata if root else {}
        if step and not step.items() <= known.items():
            assert left >= {*listed}
        elif age and listed[0].id < id_at(lives.second - age, 0)[:18]:
            assert left.isdisjoint(listed)
            lives.model.delete(thread)
        else:
            assert left >= lives.model.kept(thread, count, None)
    lives.model.prune(set(lives.model.listed(None, None)) - left)
    for at in left & set(histories):
        assert lives.model.history(at, DELTA) == histories[at]
