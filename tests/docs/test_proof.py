"""docs/proof.md: each figure in bold is held here, each page behind a row has its command."""

from __future__ import annotations

import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from tests.clients.graphs import ZOO
from tests.clients.in_process import IN_PROCESS
from tests.clients.javascript_clients import VARIANTS as JAVASCRIPT
from tests.clients.python_clients import PYTHON_CLIENTS
from tests.corpus import report
from tests.corpus.play import applies
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.variants import VARIANTS
from tests.docs.snippets import ROOT
from tests.integration_tests.remote.sources import LOCAL, VARIANTS as SOURCES
from tests.proof import COMMANDS
from tests.unit_tests.serde.fidelity.fidelity_report import outcome
from tests.unit_tests.serde.fidelity.table import ROWS, once2

PROOF = (ROOT / "docs/proof.md").read_text()
LINES = {
    page: line for line in PROOF.splitlines() for page in COMMANDS if line.startswith(f"| {page} |")
}


def exactly_once() -> Iterator[int]:
    """Scenarios, ways, pieces, and those that arrive, which `tests/corpus` shows to be all."""
    played = [(each, way) for each in SCENARIOS for way in VARIANTS if applies(each, way, "once")]
    pieces = sum(len(scenario.oracle) for scenario, _ in played)
    yield from (len(SCENARIOS), len(VARIANTS), pieces, pieces)


def sources() -> Iterator[int]:
    """Scenarios that a server can play, and the pieces of each source in this process."""

    def played(source: str) -> list[int]:
        way = SOURCES[source]  # type: ignore[index]  # the names of the table itself
        only = [each for each in SCENARIOS if each.only is None or each.only(way)]
        return [len(scenario.oracle) for scenario in only]

    yield len(played("once"))
    yield from (sum(played(source)) for source in LOCAL)


def clients() -> Iterator[int]:
    """Clients of Python, of npm and in the process of the graph; graphs."""
    yield len(PYTHON_CLIENTS) + len(IN_PROCESS) + sum(map(len, JAVASCRIPT.values()))
    yield len(ZOO)


def fidelity() -> Iterator[int]:
    """Kinds of values; those that we give back the same; and LangGraph; and what it refuses."""
    ours, stock = outcomes(once2()), outcomes(JsonPlusSerializer())
    yield from (len(ROWS), ours["same"], stock["same"], stock["raises"])


def outcomes(serde: SerializerProtocol) -> Counter[str]:
    logging.disable()  # upstream warns of every class
    found = Counter[str](outcome(serde, row.value) for row in ROWS)
    logging.disable(logging.NOTSET)
    return found


OF_3_11 = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="the row names what LangGraph's serializer does on Python 3.11; it differs by version",
)

HELD = {
    "exactly-once": exactly_once,
    "sources": sources,
    "clients": clients,
    "fidelity": fidelity,
}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=OF_3_11 if page == "fidelity" else ()) for page in HELD]
)
def test_a_figure_in_bold_is_what_is_so_today(page: str) -> None:
    measure: Callable[[], Iterator[int]] = HELD[page]
    assert re.findall(r"\*\*([\d,]+)\*\*", LINES[page]) == [f"{n:,}" for n in measure()]


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)
def test_what_is_said_of_langgraph_alone_and_of_a_filter_is_what_the_corpus_scores() -> None:
    (totals,) = (line for line in report.page().splitlines() if line.startswith("| **all** |"))
    plain, pieces, repeated, lost, filtered, of_filter, *_ = re.findall(r"\d+", totals)
    for figure in (plain, pieces, repeated, lost, filtered, of_filter):
        assert f"{int(figure):,}" in LINES["exactly-once"], figure


def test_no_other_row_has_a_figure_in_bold() -> None:
    held = [line for line in PROOF.splitlines() if re.search(r"\*\*[\d,]+\*\*", line)]
    assert held == [LINES[page] for page in HELD]


def test_each_page_has_a_row_with_its_command() -> None:
    assert [*LINES] == [*COMMANDS]
    for page, command in COMMANDS.items():
        assert f"`python -m {command}`" in LINES[page]
        assert find_spec(command.partition(" ")[0]) is not None


def test_a_row_without_figures_of_today_says_of_which_day_they_are() -> None:
    dated = {page for page, line in LINES.items() if re.search(r"langgraph \S+, 20\d\d-", line)}
    assert dated == {*COMMANDS} - {"fidelity", "benchmarks"}
