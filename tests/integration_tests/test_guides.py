"""The examples of the README and of docs/client.md run against a server."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

from demo.dev_server import DevServer
from tests.docs.problem import ANSWER, retried
from tests.docs.snippets import ROOT, run

THERE = "http://127.0.0.1:2024"
ASKED: Any = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}


@pytest.mark.parametrize("page", ["README.md", "docs/client.md"])
async def test_they_run(
    page: str, server: DevServer, client: LangGraphClient, capsys: pytest.CaptureFixture[str]
) -> None:
    scope = {
        "client": client,
        "thread_id": (await client.threads.create())["thread_id"],
        "question": ASKED,
        "modes": ["messages-tuple", "values"],
        "graph": retried(),
    }
    names = await run(page, scope, replaced={THERE: server.url})
    await names["agent"].client.aclose()
    names["agent"].sync_client.close()
    if page == "README.md":
        assert list(names["shown"].values()) == [ANSWER]
        assert ANSWER in capsys.readouterr().out


async def test_the_readme_begins_with_what_a_stock_client_prints(client: LangGraphClient) -> None:
    (shown,) = re.findall(
        r"```text\nLangGraph +(.*)\nwith this package (.*)\n```", (ROOT / "README.md").read_text()
    )
    for name, printed in zip(("agent_plain", "agent"), shown, strict=True):
        chunks = client.runs.stream(None, name, input=ASKED, stream_mode="messages-tuple")
        said = [chunk.data[0]["content"] async for chunk in chunks if chunk.event == "messages"]
        assert "".join(said) == printed
