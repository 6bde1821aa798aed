"""A process that begins a thread and is killed, or one that resumes it.

    python -m tests.agents.elsewhere begin swarm <folder>
    python -m tests.agents.elsewhere resume swarm <folder> ours:ours adopted:ours

The first begins the thread once for each saver in `SAVERS`, each in a database of its own, and
kills itself. The second prints as JSON what the threads of these databases become with these
savers, and what a user is warned of.
"""

from __future__ import annotations

import copy
import json
import logging
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import tzinfo
from enum import Enum
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_once import OnceSerializer
from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.config import SerdeConfig
from tests.agents import WIRES
from tests.agents.provider import Models, serving
from tests.agents.waiting import WAITING, Waiting

__all__ = ["SAVERS"]

CONFIG: Final[Any] = {"configurable": {"thread_id": "1"}}


@contextmanager
def _stock(path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(path)) as saver:
        yield saver


@contextmanager
def _our_serde(path: Path) -> Iterator[SqliteSaver]:
    with _stock(path) as saver:
        yield SqliteSaver(saver.conn, serde=OnceSerializer())


def _ours(path: Path) -> AbstractContextManager[OnceSqliteSaver]:
    return open_sqlite_saver(path)


def _compatible(path: Path) -> AbstractContextManager[OnceSqliteSaver]:
    serde = OnceSerializer(SerdeConfig(compatible=True))
    return open_sqlite_saver(path, serde=serde, store_once=False)


class _Kept:
    """Writes nothing: what is read is a copy of what was there."""

    def dumps_typed(self, obj: Any) -> tuple[str, Any]:
        return "kept", copy.deepcopy(obj)

    def loads_typed(self, data: tuple[str, Any]) -> Any:
        return copy.deepcopy(data[1])


@contextmanager
def _kept(_: Path) -> Iterator[InMemorySaver]:
    yield InMemorySaver(serde=_Kept())


SAVERS: Final[dict[str, Any]] = {
    "stock": _stock,
    "our_serde": _our_serde,
    "ours": _ours,
    "compatible": _compatible,
}
RESUMING: Final = {**SAVERS, "kept": _kept}
"""One more, whose threads were never begun: it shows what they become where nothing is stored."""


@contextmanager
def _waiting(name: str) -> Iterator[Waiting]:
    with serving() as provider:
        yield WAITING[name](Models(provider, WIRES[[*WAITING].index(name) % 3]))


def begin(name: str, folder: Path) -> None:
    """Begin the thread with each saver, and die."""
    with _waiting(name) as agent:
        for saver_name, opened in SAVERS.items():
            with opened(folder / f"{saver_name}.sqlite") as saver:
                graph = agent.graph(saver)
                graph.invoke(agent.asked, CONFIG)
                state = graph.get_state(CONFIG)
                assert any(task.interrupts for task in state.tasks), state
                if saver_name == [*SAVERS][-1]:
                    os.kill(os.getpid(), signal.SIGKILL)


def resume(name: str, path: Path, saver_name: str) -> dict[str, Any]:
    """Resume the thread; return what it has become, and what was warned of."""
    from langgraph.types import Command

    told = _Told()
    logging.getLogger().addHandler(told)
    logging.captureWarnings(True)
    warnings.simplefilter("default")
    with _waiting(name) as agent, RESUMING[saver_name](path) as saver:
        graph = agent.graph(saver)
        if saver_name == "kept":
            graph.invoke(agent.asked, CONFIG)
        waits = shown(graph.get_state(CONFIG))
        graph.invoke(Command(resume=agent.answer), CONFIG)
        if agent.more is not None:
            graph.invoke(agent.more, CONFIG)
        ends = shown(graph.get_state(CONFIG))
        history = [shown(each) for each in graph.get_state_history(CONFIG)]
    return {"waits": waits, "ends": ends, "history": history, "told": told.texts}


class _Told(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.name}: {record.getMessage()}")


def shown(snapshot: Any) -> list[str]:
    """Return what is in a snapshot, a line for each part, whatever names chance gave."""
    from tests.unit_tests.serde.fidelity.sameness import parts

    lines: list[str] = []

    def walk(value: Any, path: str) -> None:
        is_one = isinstance(value, (type, FunctionType, Enum, BuiltinFunctionType, tzinfo))
        found = [] if is_one else [*parts(value)]
        leaf = repr(value)[:200] if not found or found[0][0] == "" else ""
        lines.append(f"{path}: {type(value).__name__} {leaf}".rstrip())
        for label, part in found:
            if label and label != ".fields_set" and not label.startswith("(key"):
                walk(part, path + label)

    walk(snapshot.values, "values")
    walk(snapshot.next, "next")
    for task in snapshot.tasks:
        walk([task.name, task.error, task.interrupts, task.result], "task")
    # A message gets its id while its task's result is being written: chance decides which is first.
    told = [line for line in lines if not (line.startswith("task") and ".id: " in line)]
    return _without_chance(told)


_CHANCE: Final = re.compile(
    r"(?:lc_run--|chatcmpl-|call_|msg_|toolu_|resp_|fc_|rs_)?[0-9a-f]{8}-?[0-9a-f-]{4,32}[0-9a-f]"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:\+00:00|Z)"
)


def _without_chance(lines: list[str]) -> list[str]:
    """Return lines in which ids and times are numbered as they occur."""
    numbers: dict[str, str] = {}
    return [
        _CHANCE.sub(lambda found: numbers.setdefault(found[0], f"<{len(numbers)}>"), line)
        for line in lines
    ]


if __name__ == "__main__":
    action, agent_name, place, *pairs = sys.argv[1:]
    if action == "begin":
        begin(agent_name, Path(place))
    else:
        ways = [each.split(":") for each in pairs]
        found = {
            file: resume(agent_name, Path(place, f"{file}.sqlite"), saver) for file, saver in ways
        }
        json.dump(found, sys.stdout)
