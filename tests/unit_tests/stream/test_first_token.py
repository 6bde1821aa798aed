"""What the first token of an answer passes through on its way to a reader."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import Any

import langgraph_once
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, says

HERE = str(Path(langgraph_once.__file__).parent)

Call = tuple[str, str]
"""A file and a function."""


@contextmanager
def calls() -> Iterator[list[Call]]:
    """Notes which of our functions are called, in any thread."""
    noted: list[Call] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(HERE) and code.co_name[0] != "<":
            noted.append((code.co_filename, code.co_name))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield noted
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def test_it_passes_few_functions_in_few_files() -> None:
    """Who looks for what became of a token reads these."""
    stream: Any = exactly(chain(says("Hello there."))).stream(ASKED, stream_mode="messages")
    with calls() as noted:
        next(stream)
    names = [name for _, name in noted]
    handled = noted[names.index("on_llm_new_token") :]
    handled = [*handled[:1], *takewhile(lambda call: call[1] != handled[0][1], handled[1:])]
    passed = {*handled, *noted[names.index("is_token") :]}
    assert len(passed) <= 60
    assert len({file for file, _ in passed}) <= 14
