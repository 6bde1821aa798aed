"""Which tests call which functions of the package."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

Function = tuple[str, int]
"""A file of the package and the line on which a function of it begins."""


@dataclass(slots=True)
class Reach:
    """What each test of a room that passes calls, and the seconds it takes."""

    calls: dict[str, set[Function]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def has(self, path: str, line: int | None) -> bool:
        """Whether a test calls the function; what is in none runs at import."""
        return line is None or any((path, line) in calls for calls in self.calls.values())

    def tests(self, path: str, line: int | None) -> list[str]:
        """The tests that call the function, those of the file's name and quick ones first.

        What is called at import alone, or in another process, is for all tests of the room.
        """
        function = (path, line)
        chosen = [test for test, calls in self.calls.items() if function in calls]
        files: dict[str, list[str]] = {}
        for test in chosen or self.calls:
            files.setdefault(test.partition("::")[0], []).append(test)

        def late(file: str) -> tuple[bool, float]:
            mean = sum(self.seconds[test] for test in files[file]) / len(files[file])
            return Path(path).stem not in Path(file).stem, mean

        return [test for file in sorted(files, key=late) for test in files[file]]


class Recorder:
    """A plugin of pytest that records the reach of the tests that run, and writes it to `to`."""

    def __init__(self, root: Path, to: Path) -> None:
        self._root, self._to = f"{root}/", to
        self._calls: set[Function] = set()
        self._reach = Reach()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record what the test and its fixtures call."""
        self._calls = self._reach.calls[item.nodeid] = set()
        self._reach.seconds[item.nodeid] = 0.0
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the time, and leave out what does not pass."""
        if report.failed or report.skipped:
            self._reach.calls.pop(report.nodeid, None)
        self._reach.seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write what was recorded."""
        self._to.write_bytes(pickle.dumps(self._reach))

    def _trace(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if code.co_filename.startswith(self._root):
            path = code.co_filename.removeprefix(self._root)
            self._calls.add((path, code.co_firstlineno))
