"""Changes that break stored threads are found; harmless ones raise no false alarm."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from langgraph_once.rehearse import Shape, shape_of
from tests.unit_tests.rehearse.changes import BREAKING, HARMLESS, Change
from tests.unit_tests.rehearse.rehearsed import kinds, rehearsed

THREAD: Any = {"configurable": {"thread_id": "thread"}}
CONTEXT: Any = {"user": "u"}
ALL = BREAKING | HARMLESS


def stored(change: Change, path: Path) -> None:
    """Run the graph as it was, with a stock saver, until it waits or fails."""
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = change.old().compile(saver, interrupt_before=[*change.before])
        with suppress(ValueError):
            graph.invoke({"messages": [("human", "hi")], "trail": []}, THREAD, context=CONTEXT)
        assert graph.get_state(THREAD).next


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
def test_a_change_is_found(name: str, tmp_path: Path) -> None:
    change, path = ALL[name], tmp_path / "threads.sqlite"
    stored(change, path)
    before = path.read_bytes()
    old = Shape.of_json(json.dumps(shape_of(change.old().compile()).as_dict()).encode())
    assert kinds(rehearsed(path, change.new().compile(), old)) == change.found
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", BREAKING)
def test_without_the_graph_before(name: str, tmp_path: Path) -> None:
    change, path = BREAKING[name], tmp_path / "threads.sqlite"
    stored(change, path)
    expected = change.found if change.blind is None else change.blind
    assert kinds(rehearsed(path, change.new().compile())) == expected


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless_is_nothing_certain(name: str, tmp_path: Path) -> None:
    change, path = HARMLESS[name], tmp_path / "threads.sqlite"
    stored(change, path)
    assert not rehearsed(path, change.new().compile()).fails_at("certain")


@pytest.mark.parametrize("name", ALL)
def test_it_is_what_really_happens(name: str, tmp_path: Path) -> None:
    change, path = ALL[name], tmp_path / "threads.sqlite"
    stored(change, path)
    assert resumed(change, Path(shutil.copy(path, tmp_path / "copy.sqlite"))) == change.truth
