"""`compatible`: LangGraph's own saver and ours take turns on one database, thread by thread."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pytest
from langgraph.types import Command

from langgraph_once.checkpoint import open_saver
from langgraph_once.checkpoint.stock_writer import stock_wrote
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.startup import serializer_for
from langgraph_once.settings import load_settings
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import build, on, told

COMPATIBLE = {"ONCE_CHECKPOINT__COMPATIBLE": "true"}
ASKED: Any = {**whole.ASKED, "text": "zero byte " * 5000}


def ours(here: str) -> Any:
    settings = load_settings(Manifest(), COMPATIBLE)
    return open_saver(here, config=settings.checkpoint, serde=serializer_for(settings))


def test_each_goes_on_with_what_the_other_wrote(here: str) -> None:
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


@pytest.mark.parametrize("setting", ["true", "false"])
def test_it_is_told_when_a_saver_of_langgraphs_wrote_last(here: str, setting: str) -> None:
    settings = load_settings(Manifest(), {"ONCE_CHECKPOINT__COMPATIBLE": setting})
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


def test_a_database_of_langgraphs_alone_tells_it_too(here: str) -> None:
    with whole.stock(here) as stock:
        build(stock).invoke(ASKED, on("theirs"))
    with whole.to_read(here, whole.serde()) as reader:
        assert stock_wrote(reader) is not None


def test_keys_are_refused() -> None:
    key = whole.KEYS["old"].get_secret_value()
    keys = {"ONCE_SERDE__ENCRYPTION_KEYS": f'{{"k": "{key}"}}'}
    with pytest.raises(ConfigError, match=r"ONCE_CHECKPOINT__COMPATIBLE.*encryption keys"):
        serializer_for(load_settings(Manifest(), {**COMPATIBLE, **keys}))
