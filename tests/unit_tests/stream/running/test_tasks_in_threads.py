"""Tasks that run side by side in threads, as those of a sync graph do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from langgraph_once.stream.attempts import EmittedMessage, Tasks


@pytest.fixture(autouse=True)
def threads_change_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a_task_in_a_thread_ends_while_others_begin() -> None:
    tasks = Tasks()

    def live(number: int) -> None:
        for step in range(300):
            task = tasks.get(f"node:{number}|inner:{step}")
            tasks.say(EmittedMessage(str(step), (), task.ns))
            tasks.finish(task)
        tasks.finish(tasks.get(f"node:{number}"))

    for each in range(40):
        tasks.get(f"waiting:{each}")
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(live, number) for number in range(4)]:
            done.result()
    assert [tasks.get(f"waiting:{each}").ns for each in range(40)]
