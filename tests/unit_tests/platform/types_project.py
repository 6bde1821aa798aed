"""A project whose graphs fill a database: both codecs, encrypted, and by upstream's own saver."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.forked import run_once, run_python

KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
ENV = {"ONCE_SERDE__ENCRYPTION_KEYS": json.dumps({"k": KEY})}
SECRET = "what a value holds"

AGENT = """
from dataclasses import dataclass
from enum import Enum
from typing import Any
from typing_extensions import TypedDict
from langgraph.graph import START, StateGraph
from pydantic import BaseModel

print("noise at import")

class Colour(Enum):
    RED = 1

@dataclass
class Step:
    note: str

class Plan(BaseModel):
    steps: list[Step]
    colour: Colour = Colour.RED

{removed}
class State(TypedDict, total=False):
    plan: Plan
    anything: Any
    other: Any

def graph_of(value):
    builder = StateGraph(State)
    builder.add_node("n", lambda _: {{"anything": value, "plan": Plan(steps=[Step("s")])}})
    return builder.add_edge(START, "n")

graph = graph_of(None)
"""
REMOVED = """
class Removed(BaseModel):
    x: int
"""

WRITER = """
import asyncio, dataclasses, sys
from importlib.util import module_from_spec, spec_from_file_location
from fractions import Fraction
spec = spec_from_file_location("__agent", "./agent.py")
agent = sys.modules["__agent"] = module_from_spec(spec)
spec.loader.exec_module(agent)
from foreign import Client, Usage, hooked
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer

def local():
    @dataclasses.dataclass
    class Local:
        x: str
    return Local({secret!r})

def config(thread):
    return {{"configurable": {{"thread_id": thread}}}}

VALUES = [("removed", agent.Removed(x=1)), ("local", local()), ("usage", Usage(3)),
          ("client", Client({secret!r})), ("step", agent.Step({secret!r})), ("late", hooked())]

async def once(name, *, only, **settings):
    serde = OnceSerializer(SerdeConfig(**settings))
    async with open_sqlite_saver("once.sqlite", serde=serde) as saver:
        for kind, value in VALUES:
            if kind in only:
                graph = agent.graph_of(value).compile(checkpointer=saver)
                await graph.ainvoke({{"other": 1}}, config(f"{{name}}-{{kind}}"))

asyncio.run(once("plain", only="removed local usage client step late", compression="none"))
asyncio.run(once("packed", only="removed local usage client step late"))
asyncio.run(once("sealed", only="removed usage step", encryption_keys={{"k": {key!r}}}))
asyncio.run(once("old", only="removed local usage step", compatible=True))
with SqliteSaver.from_conn_string("once.sqlite") as saver:
    for kind, value in VALUES:
        if kind in "removed local usage step":
            graph = agent.graph_of(value).compile(checkpointer=saver)
            graph.invoke({{"other": 1}}, config(f"upstream-{{kind}}"))
"""

FOREIGN = """
import sys, types
from dataclasses import dataclass

@dataclass
class Usage:
    tokens: int

class Client:
    def __init__(self, url):
        self.url = url
    def __setstate__(self, state):
        vars(self).update(state)

def hooked():
    import late_one
    return late_one.Late(1)
"""
LATE = """
from dataclasses import dataclass
@dataclass
class Late:
    x: int
"""


def make(folder: Path) -> Path:
    """Write a project, let its graphs fill the database, then remove a class of it."""
    packages = folder / "site-packages"
    project = folder / "project"
    packages.mkdir()
    project.mkdir()
    (packages / "foreign.py").write_text(FOREIGN)
    about = packages / "foreign_things-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign-things\nVersion: 1.0\n")
    (about / "RECORD").write_text("foreign.py,,\nlate_one.py,,\n")
    (packages / "late_one.py").write_text(LATE)
    (project / "agent.py").write_text("import foreign\n" + AGENT.format(removed=REMOVED))
    manifest: dict[str, Any] = {
        "dependencies": ["."],
        "graphs": {"agent": "./agent.py:graph"},
        "checkpointer": {
            "path": "langgraph_once.platform.checkpointer.saver",
            "once": {"path": "once.sqlite"},
        },
    }
    (project / "langgraph.json").write_text(json.dumps(manifest))
    writer = WRITER.format(secret=SECRET, key=KEY)
    wrote = run_python("-c", writer, cwd=project, env=environment(folder))
    assert wrote.returncode == 0, wrote.stderr
    (project / "agent.py").write_text("import foreign\n" + AGENT.format(removed=""))
    return project


def environment(folder: Path, **more: str) -> dict[str, str]:
    path = os.pathsep.join([str(folder / "site-packages"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


def once(project: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command in the project."""
    return run_once(*arguments, cwd=project, **environment(project.parent, **more))
