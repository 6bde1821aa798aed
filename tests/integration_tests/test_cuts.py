"""Streams that are cut: nothing twice, nothing lost, or a gap that is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.pregel.remote import RemoteGraph

from demo.dev_server import DevServer
from langgraph_once.remote import OnceRemoteGraph
from tests.integration_tests.cut_graphs import ASKED
from tests.integration_tests.cuts import (
    CASES,
    FORGOTTEN,
    MODES,
    RESTARTS,
    Case,
    Outcome,
    Restart,
    cut_once,
    cuts_of,
    finished_while_away,
    opened,
    outcomes,
    restarted,
    served,
)
from tests.integration_tests.cuts_report import KILLS, MOMENTS
from tests.integration_tests.resume_kills import Killed, killed_amid_resume

EXACT = Outcome(exact=True, gap=False, folds=True)
FIRST_MESSAGE = 2
"""At which event one has come: behind the metadata, and the `values` that were given."""

ONE_MORE = 2
"""The connection that was cut, and another."""


@pytest.fixture(scope="module")
def cut_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    with served(tmp_path_factory.mktemp("cuts")) as running:
        yield running


async def wrong(server: DevServer, case: Case, *, every: int = 1) -> tuple[int, list[object]]:
    """How many cuts were tried, and those that did not give what an uncut stream gives.

    By the numbers of our server one connection after a cut is enough. Until the first one has come,
    nothing tells that this server gives any.
    """
    uncut, events = await cut_once(server, case, None)
    assert uncut == EXACT
    found = await outcomes(server, case, cuts_of(events)[::every], at_once=8)
    has_numbers = case.graph == "drawn" and "messages-tuple" in case.modes
    is_wrong = [
        outcome != EXACT
        or (has_numbers and cut.frame > FIRST_MESSAGE and outcome.connections > ONE_MORE)
        for cut, outcome in found
    ]
    return len(found), [each for each, wrong in zip(found, is_wrong, strict=True) if wrong]


@pytest.mark.parametrize("graph", ["drawn", "drawn_plain"])
async def test_a_sample_of_cuts_changes_nothing(cut_server: DevServer, graph: str) -> None:
    tried, found = await wrong(cut_server, Case(graph, MODES, True), every=9)
    assert tried > 12
    assert found == []


@pytest.mark.product
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_cut_at_any_event_changes_nothing(cut_server: DevServer, case: Case) -> None:
    _, found = await wrong(cut_server, case)
    assert found == []


@pytest.mark.parametrize("graph", [RemoteGraph, OnceRemoteGraph])
async def test_a_run_that_another_rolls_back_while_it_is_read_ends_quietly(
    cut_server: DevServer, graph: type[RemoteGraph]
) -> None:
    async with opened(cut_server.url) as client:
        thread_id = (await client.threads.create())["thread_id"]
        config: Any = {"configurable": {"thread_id": thread_id}}
        stream = graph("slow", client=client).astream(ASKED, config, stream_mode=["messages"])
        got = [await anext(aiter(stream))]
        other = await client.runs.create(
            thread_id, "slow", input=ASKED, multitask_strategy="rollback"
        )
        got += [chunk async for chunk in stream]
        await client.runs.join(thread_id, other["run_id"])
    assert got


@pytest.mark.product
@pytest.mark.parametrize("restart", RESTARTS, ids=str)
async def test_a_server_that_starts_anew_loses_no_text(
    cut_server: DevServer, restart: Restart
) -> None:
    found = await restarted(cut_server, restart)
    assert found.folds
    if "messages-tuple" in restart.case.modes:
        assert found.gap


@pytest.mark.product
@pytest.mark.parametrize("case", FORGOTTEN, ids=str)
async def test_what_a_server_has_forgotten_is_told_by_the_state(
    cut_server: DevServer, case: Case
) -> None:
    found = await finished_while_away(cut_server, case)
    assert found.folds
    assert found.gap == ("messages-tuple" in case.modes)


def differences(found: list[Killed]) -> set[str]:
    """What readers have that their thread has not, or the other way round."""
    return {killed.difference for killed in found} - {""}


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["asking", "asking_plain"])
async def test_a_kill_amid_a_resume_leaves_every_reader_with_the_messages_of_the_thread(
    cut_server: DevServer, graph: str
) -> None:
    found = await killed_amid_resume(cut_server, graph, seed=1)
    assert differences(found) == set()


@pytest.mark.product
@pytest.mark.parametrize("seed", range(KILLS))
@pytest.mark.parametrize("graph", ["asking", "asking_plain"])
async def test_a_kill_at_any_moment_of_a_resume_leaves_every_reader_right(
    cut_server: DevServer, graph: str, seed: int
) -> None:
    found = await killed_amid_resume(cut_server, graph, seed=seed, moments=MOMENTS)
    assert differences(found) == set()
