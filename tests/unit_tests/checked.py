"""A project of one module, and what `langgraph-once check` finds in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from langgraph_once.manifest import GRAPHS_MODULE
from tests.forked import run_once

APP_PY = """\
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from types import SimpleNamespace
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph_sdk.runtime import ServerRuntime
from starlette.applications import Starlette

builder = StateGraph(MessagesState).add_node("n", lambda _: {}).add_edge(START, "n")
graph = builder.compile()
with_saver = builder.compile(checkpointer=InMemorySaver())
number = 5
web = Starlette()
memory = InMemorySaver()
class Line: ...
def upgrade(data, version): return data

def made(): return graph
def made_of_config(config): return builder
def made_of_runtime(config, runtime: ServerRuntime): return graph if runtime.store else None
async def awaited(): return graph
@contextmanager
def entered():
    yield graph
@asynccontextmanager
async def entered_async(config):
    yield graph

def makes_number(): return 5
def raises():
    print("said while it was loaded")
    raise RuntimeError("no model")
def takes_three(a, b, c): return graph
three_left = partial(lambda a, b, c, d: graph, "hush")
too_many = partial(made, "hush")
of_c = partial(dict)
class Unsigned(dict): ...
unsigned_saver = partial(getattr, SimpleNamespace(memory=memory), "memory")
def saver(): return InMemorySaver()
@asynccontextmanager
async def async_saver():
    raise RuntimeError("is not entered")
    yield memory
def takes_one(x): return InMemorySaver()
"""


class Found(NamedTuple):
    """What a check said."""

    code: int
    findings: dict[str, tuple[str, str]]
    """The effect and the problem, by where."""


def check(folder: Path, **manifest: Any) -> Found:
    (folder / "app.py").write_text(APP_PY)
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": ["."], **manifest}))
    run = run_once("check", "--json", cwd=folder)
    assert "Traceback" not in run.stderr
    said = json.loads(run.stdout)
    assert said["ok"] is (run.returncode == 0)
    found = {
        each["where"].removeprefix("langgraph.json: "): (each["effect"], each["problem"])
        for each in said["findings"]
    }
    assert len(found) == len(said["findings"])
    found.pop("extensions", None)  # these tests also run where operations are not installed
    return Found(run.returncode, found)


def wrapped(**targets: str) -> dict[str, Any]:
    return {
        name: {"path": f"{GRAPHS_MODULE}:{name}", "once": {"target": target}}
        for name, target in targets.items()
    }


def expect(found: Found, effect: str, expected: dict[str, str]) -> None:
    """Check that just these are found, with this effect and these words."""
    assert found.findings.keys() == expected.keys(), found.findings.keys() ^ expected.keys()
    for where, words in expected.items():
        assert found.findings[where][0] == effect
        assert words in found.findings[where][1]
    assert found.code == (0 if effect == "hint" else 1)
