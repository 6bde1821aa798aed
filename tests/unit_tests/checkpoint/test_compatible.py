"""`compatible`: LangGraph's own saver and ours take turns on one database, thread by thread."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.types import Command

from langgraph_once.checkpoint import open_saver
from langgraph_once.checkpoint.database import Program, Statement
from langgraph_once.checkpoint.saver import OnceSaver, stock_wrote
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.startup import serializer_for
from langgraph_once.settings import load_settings
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import build, on, told

COMPATIBLE = {"ONCE_SERDE__COMPATIBLE": "true"}
ASKED: Any = {**whole.ASKED, "text": "zero byte " * 5000}


def ours(here: str) -> Any:
    settings = load_settings(Manifest(), COMPATIBLE)
    return open_saver(here, config=settings.checkpoint, serde=serializer_for(settings))


def test_each_saver_goes_on_with_what_the_other_wrote(here: str) -> None:
    dice = random.Random(1)
    with whole.stock(here) as stock, ours(here) as once:
        graphs = [build(stock), build(once)]
        for number in range(6):
            at = on(f"thread {number}")
            dice.choice(graphs).invoke(ASKED, at)
            for graph in graphs:
                assert graph.get_state(at).interrupts
            dice.choice(graphs).invoke(Command(resume="yes"), at)
            states = [[told(each) for each in graph.get_state_history(at)] for graph in graphs]
            assert states[0] == states[1]
            past = [*graphs[0].get_state_history(at)][2].config
            forked = [graph.get_state(past).values for graph in graphs]
            assert forked[0] == forked[1]
            dice.choice(graphs).update_state(at, {"text": "changed"})
            for saver in (stock, once):
                assert len([*saver.list(at, filter={"source": "update"})]) == 1
                assert [*saver.list(None)]
        tables = once.threads.tables
        assert not once.engine.run(tables.is_any_ours(), writes=False)


def put(saver: Any, after: Any, values: dict[str, list[int]], *changed: str, id_: str = "") -> Any:
    checkpoint: Any = {**empty_checkpoint(), "v": 4, "channel_values": values}
    checkpoint["id"] = id_ or checkpoint["id"]
    checkpoint["channel_versions"] = {name: f"{len(value)}" for name, value in values.items()}
    news = {name: checkpoint["channel_versions"][name] for name in changed}
    return saver.put(after, checkpoint, {"source": "loop", "step": 1, "parents": {}}, news)


def interrupted(program: Program[None], count: int, call: Callable[[], None]) -> Program[bool]:
    """The program; something is called after so many of its statements, if it has as many."""
    rows: Any = None
    for number in itertools.count(1):
        try:
            asked: Statement = next(program) if rows is None else program.send(rows)
        except StopIteration:
            break
        rows = yield asked
        if number == count:
            call()
    return number > count


def is_whole_beside(stock: Any, once: OnceSaver, count: int) -> bool:
    """Let LangGraph's saver store after so many statements of our `prune`; whether it has them."""
    at = on(f"thread {count}")
    at["configurable"]["checkpoint_ns"] = ""
    first = put(stock, at, {"kept": [0], "grown": [1]}, "kept", "grown")
    head = put(stock, first, {"kept": [0], "grown": [1, 2]}, "grown")
    first_id = first["configurable"]["checkpoint_id"]
    lower, coming = f"0{first_id[1:]}", f"2{first_id[1:]}"
    early: Any = {"configurable": {**at["configurable"], "checkpoint_id": coming}}
    places = [head]

    def store() -> None:
        stock.put_writes(early, [("grown", 4)], "task")
        places.append(put(stock, head, {"kept": [0], "grown": [1, 2, 3]}, "grown"))
        places.append(put(stock, head, {"kept": [0], "grown": [1] * 4}, "grown", id_=lower))
        stock.put_writes(places[-1], [("grown", 5)], "task")

    (program,) = once.threads.prune([f"thread {count}"], "keep_latest", 1, None)
    if not once.engine.run(interrupted(program, count, store), writes=True):
        return False
    places.append(put(stock, places[1], {"kept": [0], "grown": [1, 2, 3]}, id_=coming))
    for saver in (stock, once):
        found: list[Any] = [saver.get_tuple(place) for place in places]
        assert [each.checkpoint["channel_values"] for each in found] == [
            {"kept": [0], "grown": grown} for grown in ([1, 2], [1, 2, 3], [1] * 4, [1, 2, 3])
        ]
        written = [[value for _, _, value in each.pending_writes] for each in found]
        assert written == [[], [], [5], [4]]
    return True


def test_what_langgraphs_saver_stores_while_ours_prunes_is_whole(database: str) -> None:
    """It takes no lock of ours. In SQLite it waits: a transaction has the file alone."""
    here = whole.url(database)
    with whole.stock(here) as stock, ours(here) as once:
        # What is there before `prune` looks for the first time, by its second statement, it may
        # delete.
        tried = [*itertools.takewhile(partial(is_whole_beside, stock, once), itertools.count(2))]
    assert len(tried) > 10


@pytest.mark.parametrize("setting", ["true", "false"])
def test_a_log_line_tells_when_a_saver_of_langgraph_wrote_last(here: str, setting: str) -> None:
    settings = load_settings(Manifest(), {"ONCE_SERDE__COMPATIBLE": setting})
    serde = serializer_for(settings)
    opening = open_saver(here, config=settings.checkpoint, serde=serde)
    with opening as once:
        build(once).invoke(ASKED, on("ours"))
        with_run: Any = {**on("ours"), "metadata": {"run_id": "run"}}
        build(once).invoke(ASKED, with_run)
        assert stock_wrote(once) is None
        with whole.stock(here) as stock:
            build(stock).invoke(ASKED, on("theirs"))
        said = stock_wrote(once)
        assert said is not None
        assert f"{datetime.now(UTC):%Y-%m-%d}" in said
        with whole.to_read(here, serde) as reader:
            assert stock_wrote(reader) == said


def test_a_database_of_langgraph_alone_tells_who_wrote_last_too(here: str) -> None:
    with whole.stock(here) as stock:
        build(stock).invoke(ASKED, on("theirs"))
    with whole.to_read(here, whole.serde()) as reader:
        assert stock_wrote(reader) is not None


def test_encryption_keys_are_refused_in_compatible_mode() -> None:
    key = whole.KEYS["old"].get_secret_value()
    keys = {"ONCE_SERDE__ENCRYPTION_KEYS": f'{{"k": "{key}"}}'}
    with pytest.raises(ConfigError, match=r"ONCE_SERDE__COMPATIBLE.*encryption keys"):
        serializer_for(load_settings(Manifest(), {**COMPATIBLE, **keys}))
