"""`langgraph-once init` wires a project, never makes it worse, and can be undone."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.manifest import APP, GRAPHS_MODULE, SAVER, STORE
from tests.forked import clean_environ, run_once, run_once_in_terminal

TEMPLATE = """\
{
    "$schema": "https://langgra.ph/schema.json",
    "dependencies": ["."],
    "graphs": {
        "agent": "./src/agent/graph.py:graph"
    },
    "env": ".env",
    "image_distro": "wolfi"
}
"""
"""As `langgraph new` writes it, but for the indent."""

WIRED = """\
{
    "$schema": "https://langgra.ph/schema.json",
    "dependencies": ["."],
    "graphs": {
        "agent": {
            "path": "langgraph_once.platform.graphs:agent",
            "once": {"target": "agent.graph:graph"}
        }
    },
    "env": ".env",
    "image_distro": "wolfi",
    "checkpointer": {
        "path": "langgraph_once.platform.checkpointer.saver",
        "once": {"path": ".langgraph_once/checkpoints.sqlite"}
    },
    "http": {
        "app": "langgraph_once.platform.app:app"
    }
}
"""

GRAPH = """\
from langgraph.graph import START, MessagesState, StateGraph
builder = StateGraph(MessagesState).add_node("n", lambda _: {}).add_edge(START, "n")
graph = builder.compile(name="New Graph")
"""

MANY = (
    GRAPH
    + """\
from contextlib import asynccontextmanager
from langgraph.checkpoint.memory import InMemorySaver
from starlette.applications import Starlette
web = Starlette()
with_saver = builder.compile(checkpointer=InMemorySaver())
def asks(config): return {"a": graph}[config["configurable"]["user"]]
@asynccontextmanager
async def made(config):
    yield graph
"""
)


def init(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run_once("init", *arguments, cwd=folder, **env)


def template(folder: Path) -> Path:
    package = folder / "src" / "agent"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from agent.graph import graph\n")
    (package / "graph.py").write_text(GRAPH)
    (folder / "pyproject.toml").write_text('[project]\nname = "agent"\n')
    (folder / "langgraph.json").write_text(TEMPLATE)
    return folder / "langgraph.json"


def test_a_project_of_a_template_is_wired_and_undone(tmp_path: Path) -> None:
    file = template(tmp_path)
    file.chmod(0o600)
    installed = {"PYTHONPATH": str(tmp_path / "src")}
    (tmp_path / ".gitignore").write_bytes("généré/".encode("latin-1"))
    asked = init(tmp_path, **installed)
    assert (asked.returncode, asked.stderr, file.read_text()) == (0, "", TEMPLATE)
    assert "`--yes` writes without asking" in asked.stdout
    assert '+            "once": {"target": "agent.graph:graph"}' in asked.stdout
    assert '-        "agent": "./src/agent/graph.py:graph"' in asked.stdout

    run = init(tmp_path, "--yes", **installed)
    assert (run.returncode, run.stderr, file.read_text()) == (0, "", WIRED)
    assert "`langgraph-once init --undo` takes it back" in run.stdout
    assert "Add .langgraph_once/ to .gitignore" in run.stdout
    assert "pyproject" not in run.stdout
    assert file.stat().st_mode & 0o777 == 0o600
    again = init(tmp_path, "--yes", **installed)
    assert (again.returncode, "nothing to change" in again.stdout) == (0, True)
    assert file.read_text() == WIRED

    undone = init(tmp_path, "--undo", "--yes", **installed)
    assert (undone.returncode, file.read_text()) == (0, TEMPLATE)
    assert "nothing to undo" in init(tmp_path, "--undo", "--yes").stderr
    assert {each.name for each in tmp_path.iterdir()} == {
        *("src", "pyproject.toml", "langgraph.json", ".langgraph_once", ".gitignore")
    }
    assert not list((tmp_path / ".langgraph_once").iterdir())


def test_a_graph_that_import_does_not_find_is_left_until_it_is_installed(tmp_path: Path) -> None:
    file = template(tmp_path)
    run = init(tmp_path, "--yes")
    assert run.returncode == 1
    assert "graphs.agent: left as it is;" in run.stdout
    assert "install it with `pip install -e .` and run this again" in run.stdout
    assert "nothing is written, since no graph would be wrapped" in run.stderr
    assert file.read_text() == TEMPLATE
    init(tmp_path, "--yes", PYTHONPATH=str(tmp_path / "src"))
    assert file.read_text() == WIRED


def test_init_leaves_what_it_does_not_understand_or_would_break(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(MANY)
    (tmp_path / "raises.py").write_text("raise RuntimeError('no key')\n")
    (tmp_path / "my-agent.py").write_text(GRAPH)
    extra = "def stream_transformers(): return []\n"
    (tmp_path / "transformed.py").write_text(GRAPH + extra)
    left: dict[str, Any] = {
        "raises": "./raises.py:graph",
        "with_saver": "./many.py:with_saver",
        "gone": "./gone.py:graph",
        "hyphen": "./my-agent.py:graph",
        "script": "./agent.ts:graph",
        "ours": {"path": f"{GRAPHS_MODULE}:ours", "once": {"target": "many:graph"}},
        "odd": {"path": "many:graph", "once": {}},
    }
    wired: dict[str, Any] = {
        "made": {"path": "./many.py:made", "description": "A factory."},
        "asks": "many:asks",
        "builder": "./many.py:builder",
        "transformed": "transformed:graph",
    }
    before = {
        "dependencies": ["."],
        "graphs": left | wired,
        "checkpointer": {"ttl": {"default_ttl": 5}},
        "http": {"cors": {"allow_origins": ["*"]}},
    }
    (tmp_path / "langgraph.json").write_text(json.dumps(before))
    run = init(tmp_path, "--yes")
    after = json.loads((tmp_path / "langgraph.json").read_text())
    assert run.returncode == 0, run.stderr
    for key in left:
        assert after["graphs"][key] == left[key]
        assert (f"graphs.{key}: left as it is" in run.stdout) is (key != "ours")
    assert after["graphs"]["made"] == {
        "path": f"{GRAPHS_MODULE}:made",
        "description": "A factory.",
        "once": {"target": "many:made"},
    }
    assert after["graphs"]["asks"]["once"] == {"target": "many:asks"}
    assert after["graphs"]["builder"]["once"] == {"target": "many:builder"}
    assert after["checkpointer"] == before["checkpointer"]
    assert after["http"] == {"cors": {"allow_origins": ["*"]}, "app": APP}
    assert "\n" not in (tmp_path / "langgraph.json").read_text()
    assert "RuntimeError: no key" in run.stdout
    assert "graphs.hyphen: left as it is; `import` takes no 'my-agent'" in run.stdout
    assert "add a pyproject.toml" in run.stdout


@pytest.mark.slow
def test_the_store_is_wired_where_that_is_asked_for(tmp_path: Path) -> None:
    file = template(tmp_path)
    installed = {"PYTHONPATH": str(tmp_path / "src")}
    (tmp_path / ".langgraph_api").mkdir()
    first = init(tmp_path, "--yes", **installed)
    assert file.read_text() == WIRED
    assert "unread: threads. Old threads are still listed, but cannot go on" in first.stdout
    assert "`langgraph-once init --store` keeps long-term memory" in first.stdout
    run = init(tmp_path, "--yes", "--store", **installed)
    assert (run.returncode, run.stderr) == (0, "")
    path = f'        "path": "{STORE}"'
    assert file.read_text() == WIRED[:-3] + ',\n    "store": {\n' + path + "\n    }\n}\n"
    assert "unread: long-term memory." in run.stdout
    assert "--store" not in run.stdout
    assert "nothing to change" in init(tmp_path, "--yes", "--store", **installed).stdout
    init(tmp_path, "--undo", "--yes")
    assert file.read_text() == TEMPLATE, "both are undone"


@pytest.mark.slow
def test_what_is_said_of_a_store_stays(tmp_path: Path) -> None:
    file = template(tmp_path)
    installed = {"PYTHONPATH": str(tmp_path / "src")}

    def wired(store: Any) -> tuple[Any, str]:
        file.write_text(json.dumps({**json.loads(TEMPLATE), "store": store}))
        run = init(tmp_path, "--yes", "--store", **installed)
        return json.loads(file.read_text())["store"], run.stdout + run.stderr

    ttl = {"ttl": {"default_ttl": 5}}
    assert wired(ttl)[0] == ttl | {"path": STORE}
    assert wired(None)[0] == {"path": STORE}
    own = {"path": "agent.graph.store", **ttl}
    (tmp_path / "src" / "agent" / "graph.py").write_text(
        f"{GRAPH}from langgraph.store.memory import InMemoryStore\nstore = InMemoryStore()\n"
    )
    store, told = wired(own)
    assert store == own
    assert "store: left as it is; it is 'agent.graph.store' already" in told
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        index = {"index": {"dims": 3, "embed": "agent.graph:embed"}}
        store, told = wired(index)
        assert store == index
        assert "nothing is written, since the server would not start" in told
        assert "store.index" in told


def test_a_project_without_langgraph_json_gets_one(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(GRAPH)
    (tmp_path / ".env").write_text("")
    (tmp_path / ".gitignore").write_text("")
    run = init(tmp_path, "--yes", "--database", "threads.sqlite")
    assert run.returncode == 0, run.stderr
    assert ".gitignore" not in run.stdout, "nothing of theirs is kept in our folder"
    file = tmp_path / "langgraph.json"
    assert json.loads(file.read_text()) == {
        "dependencies": ["."],
        "graphs": {"agent": {"path": f"{GRAPHS_MODULE}:agent", "once": {"target": "agent:graph"}}},
        "env": ".env",
        "checkpointer": {"path": SAVER, "once": {"path": "threads.sqlite"}},
        "http": {"app": APP},
    }
    file.write_text(file.read_text().replace("threads.", "others."))
    changed = init(tmp_path, "--undo", "--yes")
    assert changed.returncode == 1
    assert "take these lines back by hand" in changed.stderr
    assert '-    "once": {"path": "threads.sqlite"}' in changed.stdout
    file.write_text(file.read_text().replace("others.", "threads."))
    assert init(tmp_path, "--undo", "--yes").returncode == 0
    assert not file.exists()


def test_a_password_is_not_written_and_a_database_out_of_reach_stops_it(tmp_path: Path) -> None:
    file = template(tmp_path)
    url = "postgresql://user:hush@127.0.0.1:1/threads"
    run = init(tmp_path, "--yes", "--database", url)
    assert run.returncode == 1
    assert "nothing is written, since the server would not start" in run.stderr
    assert "hush" not in run.stdout + run.stderr
    assert file.read_text() == TEMPLATE


def test_mistakes_are_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    def told(*arguments: str) -> str:
        run = init(tmp_path, "--yes", *arguments)
        assert run.returncode in (1, 2)
        assert "Traceback" not in run.stderr
        return run.stderr

    assert "none was found in this folder" in told()
    assert "--graph is written as ID=PATH, got 'agent'" in told("--graph", "agent")
    assert "nothing to undo" in told("--undo")
    assert not list(tmp_path.iterdir())
    file = tmp_path / "langgraph.json"
    for text, words in {
        "{": "is not valid JSON",
        "[]": "must be a JSON object",
        '{"graphs": {"a": 1, "a": 2}}': "has the key 'a' twice",
    }.items():
        file.write_text(text)
        assert words in told()
        assert file.read_text() == text
    file.write_text('{"graphs": {"a": "b:c"}, "checkpointer": {"path": "d.e"}}')
    assert "--graph is for a project without" in told("--graph", "agent=agent.py:graph")
    refused = told("--database", "t.sqlite")
    assert "has a checkpointer: write the file as its `once.path`" in refused
    assert "`langgraph-once migrate --into` copies the threads" in refused


@pytest.mark.slow
def test_what_looks_like_a_graph_and_is_none_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(GRAPH)
    run = init(tmp_path, "--yes", "--graph", "agent=./agent.py:grph")
    assert run.returncode == 1
    assert "did you mean 'graph'?" in run.stderr
    assert not (tmp_path / "langgraph.json").exists()
    text = "import langgraph\nclass Query:\n    def compile(self): return 5\n"
    (tmp_path / "query.py").write_text(f"{text}query = Query().compile()\n")
    (tmp_path / "agent.py").write_text(GRAPH)
    (tmp_path / "click.py").write_text("raise RuntimeError('is not imported')\n")
    (tmp_path / "langgraph.json").write_text('{\n  "source": {"kind": "uv"},\n  "graphs": {}\n}')
    # Not forked, where click is loaded already.
    command = [sys.executable, "-P", "-m", "langgraph_once", "init", "--yes"]
    run = subprocess.run(
        command, cwd=tmp_path, env=clean_environ(), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "graphs.query: left out; must be a compiled graph" in run.stdout
    after = json.loads((tmp_path / "langgraph.json").read_text())
    assert list(after["graphs"]) == ["agent"]
    assert list(after) == ["source", "graphs", "checkpointer", "http"]


@pytest.mark.slow
def test_threads_may_go_to_postgresql(tmp_path: Path, postgres: str) -> None:
    file = template(tmp_path)
    known, secret = (postgres.replace(":@", each) for each in ("@", ":hush@"))
    run = init(tmp_path, "--yes", "--database", secret)
    assert run.returncode == 0, run.stderr
    assert json.loads(file.read_text())["checkpointer"] == {"path": SAVER}
    assert "Set ONCE_DATABASE_URL for the server" in run.stdout
    told = [run.stdout, run.stderr, (tmp_path / ".langgraph_once" / "init.json").read_text()]
    assert "hush" not in "".join(told)
    init(tmp_path, "--undo", "--yes")
    run = init(tmp_path, "--yes", "--database", known)
    assert run.returncode == 0, run.stderr
    assert json.loads(file.read_text())["checkpointer"]["once"] == {"path": known}


def test_init_asks_and_shows_colours_in_a_terminal(tmp_path: Path) -> None:
    file = template(tmp_path)
    installed = {"PYTHONPATH": str(tmp_path / "src")}
    for answer, code in ((b"n", 1), (b"y", 0)):
        master, terminal = pty.openpty()
        os.write(master, answer + b"\n")
        name = os.ttyname(terminal)
        assert run_once_in_terminal("init", cwd=tmp_path, terminal=name, **installed) == code
        os.close(terminal)
        shown = b"".join(iter(lambda: _read(master), b""))  # noqa: B023 - it is read at once
        os.close(master)
        assert b"\x1b[32m+" in shown
        assert b"Write langgraph.json? [y/N]" in shown
        assert (file.read_text() == TEMPLATE) is (code == 1)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # who wrote has ended
        return b""
