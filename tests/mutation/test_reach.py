"""Which tests are tried for a change, and in which order."""

from __future__ import annotations

from tests.mutation.changes import Change
from tests.mutation.reach import Line, Reach


def _change(function: int | None, *lines: int) -> Change:
    statement = range(min(lines), max(lines) + 1) if lines else range(0)
    return Change("room/cut.py", 7, 0, 0, b"", function, statement)


def _reach(**tests: set[int]) -> Reach:
    lines: dict[str, set[Line]] = {
        f"test_other.py::{name}": {("room/cut.py", line) for line in run}
        for name, run in tests.items()
    }
    return Reach(lines, dict.fromkeys(lines, 1.0))


def test_tests_that_run_the_statement_come_alone() -> None:
    reach = _reach(calls={5}, runs={5, 8})
    assert reach.tests(_change(5, 7, 8)) == ["test_other.py::runs"]
    assert reach.tests(_change(5, 9)) == ["test_other.py::calls", "test_other.py::runs"]


def test_a_change_that_no_test_calls_is_for_all_tests() -> None:
    reach = _reach(calls={5}, runs={5, 8})
    assert reach.tests(_change(30, 31)) == list(reach.lines)
    assert not reach.has(_change(30, 31))
    assert reach.has(_change(5, 6))
    assert reach.has(_change(None, 1))


def test_what_is_called_at_import_is_for_all_and_first_for_those_that_call_it() -> None:
    reach = _reach(other=set(), runs={5, 8})
    reach.at_import = {("room/cut.py", 5)}
    assert reach.tests(_change(5, 8)) == ["test_other.py::runs", "test_other.py::other"]


def test_tests_named_for_the_function_quick_and_different_ones_come_first() -> None:
    line = ("room/cut.py", 7)
    seconds = {
        "test_other.py::slow": 3.0,
        "test_other.py::quick[a]": 1.0,
        "test_other.py::quick[b]": 2.0,
        "test_cut.py::last": 9.0,
    }
    reach = Reach({test: {line} for test in seconds}, seconds)
    assert reach.tests(_change(5, 7)) == [
        "test_cut.py::last",
        "test_other.py::quick[a]",
        "test_other.py::slow",
        "test_other.py::quick[b]",
    ]
