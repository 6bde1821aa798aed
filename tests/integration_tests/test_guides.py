"""The examples of the README and of docs/client.md run against a server, as they are printed.

Each is a program of its own. One thing is not as printed: the port of the server.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

from demo.dev_server import DevServer
from tests.docs.problem import ANSWER
from tests.docs.snippets import ROOT, Program, output, programs

THERE = "http://127.0.0.1:2024"
ASKED: Any = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(program, id=f"{page}-{number}")
        for page in ("README.md", "docs/client.md")
        for number, program in enumerate(programs(page))
    ],
)
def test_each_guide_runs_as_printed(program: Program, server: DevServer, tmp_path: Path) -> None:
    printed = output(program.text.replace(THERE, server.url), tmp_path)
    if program.page == "README.md":
        assert printed == f"{ANSWER}\n"  # in a pipe, and so in a log
    else:
        assert {"messages", "values"} <= {*printed.split()}


async def test_the_readme_begins_with_what_a_stock_client_prints(client: LangGraphClient) -> None:
    (shown,) = re.findall(
        r"```text\nLangGraph +(.*)\nwith this package (.*)\n```", (ROOT / "README.md").read_text()
    )
    for name, printed in zip(("agent_plain", "agent"), shown, strict=True):
        chunks = client.runs.stream(None, name, input=ASKED, stream_mode="messages-tuple")
        said = [chunk.data[0]["content"] async for chunk in chunks if chunk.event == "messages"]
        assert "".join(said) == printed


async def test_what_studio_asks_of_a_wrapped_graph_is_what_it_asks_of_the_plain_one(
    client: LangGraphClient,
) -> None:
    """Its drawing, with all graphs inside it, and its schemas, titled with the graph's name."""
    for name in ("agent", "research"):
        told: list[str] = []
        for graph in (name, f"{name}_plain"):
            (assistant,) = await client.assistants.search(graph_id=graph)
            drawn = await client.assistants.get_graph(assistant["assistant_id"], xray=True)
            schemas = await client.assistants.get_schemas(assistant["assistant_id"])
            schemas["graph_id"] = ""
            told.append(json.dumps([drawn, schemas]).replace(f'"title": "{graph}_', '"title": "'))
        assert told[0] == told[1]
