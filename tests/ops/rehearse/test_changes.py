"""Changes that break stored threads are found; harmless ones raise no false alarm."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from langgraph_once_ops.rehearse import Shape, shape_of
from tests.ops.rehearse.changes import BREAKING, HARMLESS, Change
from tests.ops.rehearse.rehearsed import kinds, rehearsed

THREAD: Any = {"configurable": {"thread_id": "thread"}}
CONTEXT: Any = {"user": "u"}
ALL = BREAKING | HARMLESS


@cache
def stored(name: str) -> bytes:
    """A database after the graph as it was ran, with a stock saver, until it waited or failed."""
    change = ALL[name]
    with TemporaryDirectory() as folder:
        path = Path(folder, "threads.sqlite")
        with SqliteSaver.from_conn_string(str(path)) as saver:
            graph = change.old().compile(saver, interrupt_before=[*change.before])
            with suppress(ValueError):
                graph.invoke({"messages": [("human", "hi")], "trail": []}, THREAD, context=CONTEXT)
            assert graph.get_state(THREAD).next
        return path.read_bytes()


@pytest.fixture
def path(name: str, tmp_path: Path) -> Path:
    path = tmp_path / "threads.sqlite"
    path.write_bytes(stored(name))
    return path


def resumed(change: Change, path: Path) -> str:
    """What really happens: the new graph goes on with a copy of the database."""
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = change.new().compile(saver, interrupt_before=[*change.before])
        try:
            state = graph.get_state(THREAD)
            given = {each.id: "yes" for each in state.interrupts} or "yes"
            goes_on = change.before or (state.next and not state.interrupts)
            graph.invoke(None if goes_on else Command(resume=given), THREAD, context=CONTEXT)
        except ValueError:
            return "fails"
        values = graph.get_state(THREAD).values
        trail = values.get("trail", []) if isinstance(values, dict) else values.trail
        return "goes on" if "send" in trail else "ends"


@pytest.mark.parametrize("name", ALL)
def test_a_change_is_found(name: str, path: Path) -> None:
    change = ALL[name]
    old = Shape.of_json(json.dumps(shape_of(change.old().compile()).as_dict()).encode())
    assert kinds(rehearsed(path, change.new().compile(), old)) == change.found
    assert path.read_bytes() == stored(name)


@pytest.mark.parametrize("name", ALL)
def test_without_the_graph_before(name: str, path: Path) -> None:
    change = ALL[name]
    expected = change.found if change.blind is None else change.blind
    report = rehearsed(path, change.new().compile())
    assert kinds(report) == expected
    assert name in BREAKING or not report.fails_at("certain")


@pytest.mark.parametrize("name", ALL)
def test_it_is_what_really_happens(name: str, path: Path) -> None:
    assert resumed(ALL[name], path) == ALL[name].truth
