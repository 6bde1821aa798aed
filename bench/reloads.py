"""Reloads of a page amid a run: how often an answer that it showed vanishes and comes back."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from bench.load import APP, SAVER
from demo.dev_server import DevServer
from graphs.models import ScriptedChatModel
from tests.integration_tests.browser import FLAGS, SOURCES, browser_in
from tests.integration_tests.npm import installed
from tests.integration_tests.test_front_ends import EXAMPLES, served

RELOADS = int(os.environ.get("RELOADS", "30"))
FIRST = ("The first answer is complete before the page is loaded again. " * 17).strip()
SECOND = "The second takes its time, word by word. " * 70

PLAIN: Mapping[str, Any] = {"graphs": {"agent": "bench.reloads:graph"}}
WRAPPED: Mapping[str, Any] = {
    "graphs": {
        "agent": {
            "path": "langgraph_once.platform.graphs:agent",
            "once": {"target": "bench.reloads:graph"},
        }
    }
}
SERVERS: Mapping[str, Mapping[str, Any]] = {
    "stock": PLAIN,
    "`http.app` alone": {**PLAIN, **APP},
    "the graph alone": WRAPPED,
    "the saver alone": {**PLAIN, **SAVER},
    "all three": {**WRAPPED, **SAVER, **APP},
}


async def first(state: MessagesState) -> dict[str, Any]:
    """Stream an answer that is complete when the page is loaded again."""
    model = ScriptedChatModel(script=lambda _: AIMessage(FIRST), delay_s=0.004)
    return {"messages": [await model.ainvoke(state["messages"])]}


async def second(state: MessagesState) -> dict[str, Any]:
    """Stream another one while the page is loaded again."""
    model = ScriptedChatModel(script=lambda _: AIMessage(SECOND), delay_s=0.03)
    return {"messages": [await model.ainvoke(state["messages"])]}


graph = (
    StateGraph(MessagesState)
    .add_node("first", first)
    .add_node("second", second)
    .add_edge(START, "first")
    .add_edge("first", "second")
)


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield "## Reloads"
    yield ""
    yield "A page with `useStream` and `reconnectOnMount` is loaded again in Chromium while the"
    yield f"second answer of a run is streamed; {RELOADS} times on each server. Each painted frame"
    yield "is looked at. Counted are reloads in which the first answer was shown, then not or not"
    yield "whole, then whole: the page shows the state that it has loaded, if that comes first,"
    yield "then the first state of the replayed run."
    yield ""
    yield "| server | the answer vanished |"
    yield "|---|---:|"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        browser = browser_in(folder / "browser")
        built = installed(EXAMPLES, folder / "pages")
        _told(["npx", "vite", "build"], cwd=built)
        site = stack.enter_context(served(built / "dist"))
        for number, (name, manifest) in enumerate(SERVERS.items()):
            with _server(folder / str(number), manifest) as server:
                url = f"{site}/use-stream.html?{urlencode({'url': server.url})}"
                found = reloaded(built, browser, url, RELOADS)
            yield f"| {name} | {sum(flickers(each['painted']) for each in found)} of {RELOADS} |"


def reloaded(built: Path, browser: Path, url: str, times: int) -> list[dict[str, Any]]:
    """What each reload painted, and how its replay was encoded."""
    asked = [json.dumps(FLAGS), url, str(times)]
    command: list[str | Path] = ["node", SOURCES / "reload.mjs", built, browser, *asked]
    found: list[dict[str, Any]] = json.loads(_told(command, cwd=built))
    return found


def flickers(painted: Sequence[Sequence[tuple[str, int]]]) -> bool:
    """Whether the first answer was complete, then was not, then was again."""
    complete = [len(shown) > 1 and shown[1][1] >= len(FIRST) for shown in painted]
    if True not in complete:
        return False
    after = complete[complete.index(True) :]
    return False in after and True in after[after.index(False) :]


def _server(folder: Path, manifest: Mapping[str, Any]) -> DevServer:
    folder.mkdir()
    config = folder / "langgraph.json"
    config.write_text(json.dumps({"dependencies": ["."], **manifest}))
    return DevServer(config, cwd=folder)


def _told(command: Sequence[str | Path], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603  # our own
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
