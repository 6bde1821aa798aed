"""What the README promises: its figures, tracing, and a LangGraph that it does not know."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.runnables import Runnable
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.schemas import Run
from langgraph.pregel import _messages as upstream, main

from langgraph_once import once
from langgraph_once.stream import graph as wrapping
from tests.docs.problem import ANSWER, QUESTION, retried
from tests.docs.snippets import ROOT

README = (ROOT / "README.md").read_text()
FIGURE = re.compile(r"\d[\d,.]*\d|\d")
PAGE = re.compile(r"^\| .*\]\((docs/[a-z-]+\.md)\)", re.MULTILINE)
COUNTED = {"docs/samples.md": {"3", "4"}}
"""Figures that are sums of those on the page; `test_the_samples_are_summed` adds them up."""


@pytest.mark.parametrize("row", [line for line in README.splitlines() if PAGE.match(line)])
def test_a_figure_of_the_proof_is_on_the_page_that_it_links_to(row: str) -> None:
    (page,) = PAGE.findall(row)
    there = {figure.replace(",", "") for figure in FIGURE.findall((ROOT / page).read_text())}
    here = set(FIGURE.findall(re.sub(r"\(docs/[^)]*\)|`[^`]*`", "", row)))
    assert {figure.replace(",", "") for figure in here - COUNTED.get(page, set())} <= there


def test_the_samples_are_summed() -> None:
    rows = re.findall(
        r"^\| `\w+` \|" + r" (\d) \|" * 6 + "$",
        (ROOT / "docs/samples.md").read_text(),
        re.MULTILINE,
    )
    sums = [sum(map(int, column)) for column in zip(*rows, strict=True)]
    assert sums[3:] == [0, 0, 0]
    repeated, missing, not_kept = sums[:3]
    said = f"repeats {repeated} texts, never delivers {missing}, and shows {not_kept} that no state"
    assert said in README


class _Traced(BaseTracer):
    """Keeps the names of the runs, as LangSmith's tracer sends them."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def _persist_run(self, run: Run) -> None:
        self.names += _names(run)


def _names(run: Run) -> list[str]:
    return [
        f"{run.run_type} {run.name}",
        *(name for child in run.child_runs for name in _names(child)),
    ]


def test_a_wrapped_graph_is_traced_as_the_plain_one() -> None:
    def traced(graph: Runnable[Any, Any]) -> list[str]:
        tracer = _Traced()
        graph.invoke(QUESTION, {"callbacks": [tracer]})
        return tracer.names

    plain = traced(retried())
    assert plain.count("llm GenericFakeChatModel") == 2
    assert traced(once(retried())) == plain


def test_where_upstream_no_longer_uses_our_handlers_a_wrapped_graph_is_a_filter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wrapping, "install", lambda: None)
    for name in ("StreamMessagesHandler", "StreamMessagesHandlerV2"):
        monkeypatch.setattr(main, name, getattr(upstream, name))

    def said(graph: Any) -> str:
        return "".join(m.text for m, _ in graph.stream(QUESTION, stream_mode="messages"))

    assert said(retried()) == ANSWER * 3
    assert said(once(retried())) == ANSWER * 2
