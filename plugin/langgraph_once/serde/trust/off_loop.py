"""What asks the disk, asked in no event loop.

Checkpoints are encoded in the event loop, where `langgraph dev` raises `BlockingError` for reading
a link or asking for the working directory (langgraph-api 0.16.7). A synchronous call cannot await
the answer. So a thread asks for it. Whoever asks keeps the answer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def off_loop(ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `ask` returns or raise what it raises, run outside of any event loop.

    It imports nothing: a module that this thread is importing would wait for this thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return ask(*args, **kwargs)
    answers: SimpleQueue[Callable[[], T]] = SimpleQueue()

    def run() -> None:
        try:
            answer = ask(*args, **kwargs)
        except BaseException as error:  # raised where it was asked
            answers.put(partial(_raise, error))
        else:
            answers.put(lambda: answer)

    threading.Thread(target=run, name="once-disk", daemon=True).start()
    return answers.get()()


def _raise(error: BaseException) -> NoReturn:
    raise error
