"""Several processes find what one finds, in the same order, and none outlives what began them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from langgraph_once.checkpoint.moving import processes
from langgraph_once.checkpoint.moving.processes import by_processes
from langgraph_once.errors import OnceError, StorageError

IDS = [f"thread {number}" for number in range(10)]


def named(thread_id: str) -> tuple[str, int]:
    return thread_id, os.getpid()


@contextmanager
def naming() -> Iterator[Callable[[str], tuple[str, int]]]:
    yield named


@contextmanager
def unreadable() -> Iterator[Callable[[str], tuple[str, int]]]:
    raise StorageError("cannot read the checkpoint database", path="here")
    yield named


@contextmanager
def dying() -> Iterator[Callable[[str], tuple[str, int]]]:
    os._exit(1)
    yield named


@pytest.mark.parametrize("jobs", [None, 1])
def test_quick_work_is_done_in_this_process(jobs: int | None) -> None:
    found = list(by_processes(named, IDS, elsewhere=unreadable, jobs=jobs))
    assert found == [(thread_id, os.getpid()) for thread_id in IDS]


def test_work_that_takes_long_is_shared_among_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_LONG_S", 0)
    monkeypatch.setattr(processes, "_ALONE_S", 1000)
    monkeypatch.setattr(processes, "cores", lambda: 2)

    def slow(thread_id: str) -> tuple[str, int]:
        if thread_id == IDS[1]:  # with which the time is over
            monkeypatch.setattr(processes, "_ALONE_S", -1)
        return named(thread_id)

    found = list(by_processes(slow, IDS, elsewhere=naming))
    assert [thread_id for thread_id, _ in found] == IDS
    assert [process == os.getpid() for _, process in found] == [True] * 2 + [False] * 8
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("elsewhere", "words"),
    [
        (unreadable, "cannot read the checkpoint database"),
        pytest.param(dying, r"a process died .* try --jobs 1", marks=pytest.mark.slow),
    ],
)
def test_an_error_in_another_process_is_raised_here(elsewhere: Any, words: str) -> None:
    with pytest.raises(OnceError, match=words):
        list(by_processes(named, IDS, elsewhere=elsewhere, jobs=2))
    assert multiprocessing.active_children() == []


@contextmanager
def waiting(folder: Path) -> Iterator[Callable[[str], None]]:
    def wait(thread_id: str) -> None:
        (folder / thread_id).touch()
        time.sleep(60)

    yield wait


def wait_for_ever(folder: str) -> None:
    """The program of the test below."""
    elsewhere = partial(waiting, Path(folder))
    try:
        list(by_processes(named, IDS, elsewhere=elsewhere, jobs=2))
    except KeyboardInterrupt:
        sys.exit(7)


def have_begun(process: psutil.Process) -> bool:
    """Whether two processes are about to import what they need, which takes a second."""
    return sum(child.cpu_times().user > 0.2 for child in process.children()) == 2


def is_under_way(folder: Path) -> bool:
    return len(list(folder.glob("thread *"))) == 2


@pytest.mark.parametrize(
    ("sent", "when"),
    [
        (signal.SIGINT, "they begin"),
        pytest.param(signal.SIGINT, "they work", marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, "they work", marks=pytest.mark.slow),
    ],
)
def test_work_that_is_stopped_leaves_no_process(
    sent: signal.Signals, when: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", __name__, str(tmp_path)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    process = psutil.Process(running.pid)
    while not (have_begun(process) and (when != "they work" or is_under_way(tmp_path))):
        assert running.poll() is None
        time.sleep(0.02)
    children = process.children(recursive=True)
    if sent == signal.SIGINT:
        os.killpg(running.pid, sent)  # as a terminal does
    else:
        running.kill()
    _, said = running.communicate(timeout=30)
    assert running.returncode == (7 if sent == signal.SIGINT else -signal.SIGKILL)
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
    assert said == b"" or sent == signal.SIGKILL  # after which Python tells of semaphores


if __name__ == "__main__":
    wait_for_ever(sys.argv[1])
