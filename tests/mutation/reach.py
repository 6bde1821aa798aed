"""Which tests run which functions and lines of the package."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.mutation.changes import Change

Line = tuple[str, int]
"""A file of the package and a line of it; the first one of a function stands for the function."""


@dataclass(slots=True)
class Reach:
    """Which lines each test of a room that passes runs, and the seconds it takes."""

    lines: dict[str, set[Line]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    at_import: set[Line] = field(default_factory=set)

    def has(self, change: Change) -> bool:
        """Whether a test calls the function; what is in none runs at import."""
        function = (change.path, change.function)
        every = (self.at_import, *self.lines.values())
        return change.function is None or any(function in lines for lines in every)

    def tests(self, change: Change) -> list[str]:
        """The tests that run the statement, else those that call the function.

        And all others behind them, if nothing calls it or what is imported does. First come those
        of the file's name and quick ones; and one of each test function, before its other
        parameters.
        """
        function = (change.path, change.function)
        statement = {(change.path, line) for line in change.statement}
        chosen = {*(self._running(statement) or self._running({function}))}
        is_for_all = not chosen or not self.at_import.isdisjoint({function, *statement})
        turns: dict[str, int] = {}

        def late(test: str) -> tuple[bool, float]:
            return Path(change.path).stem not in Path(test.partition("::")[0]).stem, (
                self.seconds[test]
            )

        order = {}
        for test in sorted((each for each in self.lines if is_for_all or each in chosen), key=late):
            name = test.partition("[")[0]
            turns[name] = turns.get(name, 0) + 1
            order[test] = test not in chosen, turns[name]
        return sorted(order, key=order.__getitem__)

    def _running(self, lines: Iterable[tuple[str, int | None]]) -> list[str]:
        return [test for test, run in self.lines.items() if not run.isdisjoint(lines)]


class Recorder:
    """A plugin of pytest that records what the tests reach, and writes it to `to`.

    It records each function that is called, and of the lines within those of the changes.
    """

    def __init__(self, root: Path, to: Path, changes: Iterable[Change]) -> None:
        self._root, self._to = f"{root}/", to
        self._wanted = {(change.path, line) for change in changes for line in change.statement}
        self._known: dict[int, tuple[CodeType, Line | None, bool]] = {}
        self._reach = Reach()
        self._lines = self._reach.at_import

    def begin(self) -> None:
        """Record what is imported."""
        sys.settrace(self._called)

    def pytest_collection_finish(self) -> None:
        """All tests are imported."""
        sys.settrace(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record what the test and its fixtures run."""
        self._lines = self._reach.lines[item.nodeid] = set()
        self._reach.seconds[item.nodeid] = 0.0
        threading.settrace(self._called)
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the time, and leave out what does not pass."""
        if report.failed or report.skipped:
            self._reach.lines.pop(report.nodeid, None)
        self._reach.seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write what was recorded."""
        self._to.write_bytes(pickle.dumps(self._reach))

    def _called(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        known = self._known.get(id(code))
        if known is None:
            known = self._known[id(code)] = self._asked(code)
        _, called, is_wanted = known
        if called is not None:
            self._lines.add(called)
        return self._went_on if is_wanted else None

    def _asked(self, code: CodeType) -> tuple[CodeType, Line | None, bool]:
        """The code, which shall not die; where it begins, if it is ours; whether lines count."""
        if not code.co_filename.startswith(self._root):
            return code, None, False
        path = code.co_filename.removeprefix(self._root)
        is_wanted = any((path, line) in self._wanted for *_, line in code.co_lines())
        return code, (path, code.co_firstlineno), is_wanted

    def _went_on(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        line = (frame.f_code.co_filename.removeprefix(self._root), frame.f_lineno)
        if line in self._wanted:
            self._lines.add(line)
        return self._went_on
