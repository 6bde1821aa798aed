"""`langgraph-once demo`: a graph of a server, as LangGraph streams it and as we do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result
from langgraph_sdk.client import SyncLangGraphClient

from demo.dev_server import DevServer, free_port
from langgraph_once.__main__ import commands
from langgraph_once.errors import ConfigError, OnceError

WRONG = ("repeated", "missing", "not_kept", "retracted")


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["demo", *args], catch_exceptions=False)


@pytest.mark.parametrize("graph", ["agent", "agent_plain"])
def test_the_demo_counts_what_each_side_has(server: DevServer, graph: str) -> None:
    counted = json.loads(run(server.url, graph, "--say", "To Rome.", "--json").stdout)
    has: dict[str, list[Any]] = {side: [counted[side][k] for k in WRONG] for side in counted}
    assert has["stock"] == [1, 1, 1, 0]
    if graph == "agent":
        assert has["once"] == [0, 0, 0, 2]
        assert counted["once"]["wire_bytes"] < counted["stock"]["wire_bytes"] / 5


def test_the_demo_answers_an_interrupt_and_says_which_texts_were_repeated(
    server: DevServer, client: SyncLangGraphClient
) -> None:
    threads = client.threads.count()
    done = run(server.url, "research", "--answer", "approve")
    assert "not wrapped" not in done.stdout
    assert "LangGraph: repeated: I look up who wrote about offset tracking" in done.stdout
    assert "once:" not in done.stdout
    assert done.stderr == ""
    assert client.threads.count() == threads


def test_without_an_answer_it_says_what_it_waits_for(server: DevServer) -> None:
    assert "give one with --answer" in run(server.url, "research").stderr


def test_it_says_that_a_graph_is_not_wrapped(server: DevServer) -> None:
    assert "The graph is not wrapped" in run(server.url, "agent_plain", "--say", "Hello").stdout


def test_a_graph_that_is_not_there(server: DevServer) -> None:
    with pytest.raises(OnceError, match=r"graph 'no_such_graph': .*registered graphs: agent"):
        run(server.url, "no_such_graph")


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(OnceError, match="graph 'agent': ConnectError"):
        run(f"http://127.0.0.1:{free_port()}", "agent")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--input", "{"], "--input: this is no JSON"),
        (["--header", "x"], "--header: write it as"),
    ],
)
def test_a_mistake_is_told_before_anything_runs(arguments: list[str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        run(f"http://127.0.0.1:{free_port()}", "agent", *arguments)
