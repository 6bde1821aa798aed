"""What the tests of v3 share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _no_run_left() -> Iterator[None]:
    """Ends the runs that a test has left early, here and now.

    LangGraph's object of a v3 run refers to itself, so the garbage collector ends it. That joins
    threads, and waits for ever if it is done in the middle of the start of another (Python 3.11).
    """
    yield
    gc.collect()
