"""Each sample on a real server: what goes wrong with LangGraph alone, and nothing here."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest
from langgraph.constants import START
from langgraph_sdk.client import SyncLangGraphClient

from demo.samples import SAMPLES, read_once, read_stock
from langgraph_once.errors import ConfigError

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / "langgraph.json"
SAMPLES_PAGE = ROOT / "docs/samples.md"

STOCK = {
    "research": (1, 0, 0),
    "agent": (1, 1, 1),
    "swarm": (0, 2, 0),
    "tools": (1, 1, 2),
}
"""Of a stock client on the plain graph: repeated, missing, and not kept."""


@pytest.mark.parametrize("name", STOCK)
def test_a_stock_reader_has_something_else(client: SyncLangGraphClient, name: str) -> None:
    verdict = read_stock(name, client).verdict()
    calls = [piece for pieces in verdict for piece in pieces if piece.kind == "call"]
    # How many calls of parallel graphs plain LangGraph repeats is chance: 4 on a busy machine.
    assert bool(calls) == (name == "research")
    assert verdict.counts == STOCK[name]


@pytest.mark.parametrize("name", STOCK)  # `relay` has a test of its own
def test_our_reader_has_each_thing_once(client: SyncLangGraphClient, name: str) -> None:
    verdict = read_once(name, client).verdict()
    assert verdict == ([], [], [])


def test_assistants_have_the_names_of_their_graphs_and_say_what_they_show(
    client: SyncLangGraphClient,
) -> None:
    served = json.loads(MANIFEST.read_text())["graphs"]
    found = {a["graph_id"]: a for a in client.assistants.search(limit=100)}
    assert served.keys() <= found.keys()
    assert all(found[name]["name"] == name for name in served)
    said = [str(found[name]["description"]) for name in served]
    assert len(set(said)) == len(said)
    told = {name: text.partition(" Ask: ") for name, text in zip(served, said, strict=True)}
    assert all(50 < len(about) < 150 for about, _, _ in told.values())
    asked = {name: question for name, (_, _, question) in told.items()}
    assert all(asked.values())
    fitting = {name: sample.question for name, sample in SAMPLES.items()}
    assert {name: asked[name] for name in fitting} == fitting


@pytest.mark.parametrize("name", ["agent", "research", "swarm", "tools", "state", "relay"])
def test_the_picture_shows_every_node(name: str) -> None:
    section = SAMPLES_PAGE.read_text().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    picture = section.partition("```mermaid")[2].partition("```")[0]
    drawn = set(re.findall(r"\w+", picture))
    graph = importlib.import_module(f"graphs.{name}.graph").graph
    assert {re.split(r"\W", node)[0] for node in graph.nodes if node != START} <= drawn


@pytest.mark.parametrize("name", ["agent", "research", "swarm", "tools", "state", "relay"])
def test_each_sample_asks_for_the_model_that_the_variable_names(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module = importlib.import_module(f"graphs.{name}.graph")
    monkeypatch.setenv("SAMPLES_MODEL", "no-such-model")
    with pytest.raises(ConfigError, match="SAMPLES_MODEL: must be"):
        importlib.reload(module).graph.invoke({"messages": [("user", "Hello?")]})
