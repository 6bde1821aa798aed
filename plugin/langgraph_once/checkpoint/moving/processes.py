"""The same work on many threads, by several processes: decoding takes a core whole.

Each process opens what it needs for itself, and the results come in the order of the threads: what
is said in the end does not depend on how many processes there were.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, TypeVar

from langgraph_once.errors import OnceError

__all__ = ["by_processes", "cores"]

T = TypeVar("T")

_ALONE_S: Final = 2.0
_LONG_S: Final = 8.0
"""After so long alone, it is known how long the rest takes; a process takes seconds to begin."""
_CHUNK: Final = 16
"""How many threads a process is given at once, where there are many."""


def by_processes(
    work: Callable[[str], T],
    thread_ids: Sequence[str],
    *,
    elsewhere: Callable[[], AbstractContextManager[Callable[[str], T]]],
    jobs: int | None = None,
) -> Iterator[T]:
    """The results of some work on threads, in their order.

    Args:
        work: Does it, in this process.
        thread_ids: The threads.
        elsewhere: Opens the same work in another process. It is pickled: a function of a module,
            or a `partial` of one.
        jobs: How many processes; if None, as many as there are cores, once this one has found that
            the work takes long.

    Raises:
        OnceError: What the work raises, or a process died.
    """
    done = 0
    if jobs is None:
        jobs, began = cores(), time.monotonic()
        while done < len(thread_ids) and not _is_long(began, done, len(thread_ids)):
            yield work(thread_ids[done])
            done += 1
    rest = thread_ids[done:]
    jobs = min(jobs, len(rest))
    yield from map(work, rest) if jobs <= 1 else _spread(rest, elsewhere, jobs)


def _is_long(began: float, done: int, total: int) -> bool:
    took_s = time.monotonic() - began
    return took_s > _ALONE_S and took_s * (total - done) / max(done, 1) > _LONG_S


def cores() -> int:
    """How many processes can run at once."""
    known = getattr(os, "sched_getaffinity", None)
    return len(known(0)) if known is not None else os.cpu_count() or 1


def _spread(thread_ids: Sequence[str], elsewhere: Any, jobs: int) -> Iterator[Any]:
    others = set(multiprocessing.active_children())
    chunk = max(1, min(_CHUNK, len(thread_ids) // (jobs * 4)))
    # Not forked: connections and threads of this process are no use in another.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, _begin, (elsewhere,))
    try:
        with _interrupts_wait():
            results = pool.map(_work, thread_ids, chunksize=chunk)
        yield from results
    except BrokenProcessPool:
        problem = (
            "a process died before its work was done, perhaps for want of memory; try --jobs 1"
        )
        raise OnceError(problem) from None
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Let processes begin that Ctrl-C passes by: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Here:
    """What this process was begun for."""

    opened: Any = None
    """A context, which stays open as long as the process lives."""
    work: Any = None


def _begin(elsewhere: Any) -> None:
    _Here.opened = elsewhere()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _work(thread_id: str) -> Any:
    try:
        if _Here.work is None:
            _Here.work = _Here.opened.__enter__()
        return _Here.work(thread_id)
    except OnceError as error:  # not all can be pickled
        raise OnceError(str(error)) from None
