"""No statement of an operator about a thread looks through the threads of all others."""

from pathlib import Path

import pytest

from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.config import RetentionConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once_ops.encryption import key_use
from langgraph_once_ops.retention import prune
from langgraph_once_ops.verify import verify
from tests.stock_threads import GRAPHS
from tests.unit_tests.checkpoint.test_query_plans import asked_of_thread


def operate(saver: OnceSaver) -> None:
    """Do with all threads what an operator may do."""
    key_use(saver)
    verify(saver, OnceSerializer())
    rules = RetentionConfig(keep_last=2, status=("idle",), metadata={"source": "loop"})
    prune(saver, rules, is_dry=True)
    prune(saver, rules)


@pytest.mark.parametrize("kind", GRAPHS)
def test_in_sqlite_a_thread_is_found_by_an_index(tmp_path: Path, kind: str) -> None:
    assert len(asked_of_thread(tmp_path / "threads.sqlite", kind, operate)) > 50
