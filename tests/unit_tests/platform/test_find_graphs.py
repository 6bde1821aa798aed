"""The graphs of a project are found without importing anything, and by the name `import` knows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.platform.wiring import find_graphs, make_plan, module_name, with_graphs


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / f"{name.replace('__0__', '__init__').replace('___', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_graphs_are_found_by_how_they_are_made(tmp_path: Path) -> None:
    compiled = "from langgraph.graph import StateGraph\nraise SystemExit  # is never run\n"
    write(
        tmp_path,
        src___agent___graph=f"{compiled}graph: object = StateGraph(dict).compile(name='x')\n",
        support="from langchain.agents import create_agent\nsupport = create_agent(1)\n"
        "_private = create_agent(2)",
        flows="import langgraph.func, re\n@langgraph.func.entrypoint()\ndef flow(x): ...\n"
        "pattern = re.compile('x')\n",
        broken="import langgraph\nx = = 1\n",
        unrelated="graph = thing.compile()\n",
        test_agent=f"{compiled}graph = StateGraph(dict).compile()\n",
        tests___other=f"{compiled}graph = StateGraph(dict).compile()\n",
        env___lib___agent=f"{compiled}graph = StateGraph(dict).compile()\n",
    )
    (tmp_path / "env" / "pyvenv.cfg").touch()
    assert find_graphs(tmp_path) == {
        "agent": "./src/agent/graph.py:graph",
        "support": "./support.py:support",
        "flow": "./flows.py:flow",
    }


def test_ids_do_not_clash(tmp_path: Path) -> None:
    text = "import langgraph\ngraph = x.compile()\n"
    write(tmp_path, a___agent=text, b___agent=text, c___graph=text)
    assert set(find_graphs(tmp_path)) == {"agent", "b", "c"}


def test_ids_are_found_for_any_number_of_graphs_of_one_name(tmp_path: Path) -> None:
    text = "import langgraph\ngraph = x.compile()\nagent = y.compile()\n"
    write(tmp_path, agent=text, a___agent=text, b___agent=text)
    found = find_graphs(tmp_path)
    assert len(found) == 6
    assert len({*found.values()}) == 6


GRAPHS = {"agent": "./app.py:graph"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"graphs": {}}', {"graphs": GRAPHS, "dependencies": ["."]}),
        ('{"graphs": null, "dependencies": []}', {"graphs": GRAPHS, "dependencies": ["."]}),
        # LangGraph takes one or the other.
        ('{"source": {"kind": "uv"}}', {"graphs": GRAPHS, "source": {"kind": "uv"}}),
        (
            '{"dependencies": ["./mine"], "node": 20}',
            {"graphs": GRAPHS, "dependencies": ["./mine"], "node": 20},
        ),
    ],
)
def test_graphs_are_put_where_a_file_names_none(text: str, expected: dict[str, Any]) -> None:
    assert json.loads(with_graphs(text, GRAPHS)) == expected


def test_what_is_wired_already_or_in_another_way_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.js").touch()
    graphs = {
        "ours": "langgraph_once.platform.graphs:ours",
        "absent": "./absent.py:graph",
        "script": "./graph.js:graph",
        "odd": "app.graph",
    }
    text = json.dumps({"graphs": graphs})
    plan = make_plan(text, database="", has_store=False, leave={})
    assert json.loads(plan.text)["graphs"] == graphs
    assert {name.removeprefix("graphs."): why for name, why in plan.left.items()} == {
        "absent": "there is no file './absent.py'",
        "script": "it is no Python",
        "odd": "'app.graph' is not understood here",
    }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    return tmp_path


def test_a_file_is_named_as_import_finds_it(here: Path) -> None:
    write(here, wired_one="", wired_pkg_____0__="", wired_pkg___graph="", wired_loose___graph="")
    assert module_name(here / "wired_one.py") == "wired_one"
    assert module_name(here / "wired_pkg" / "graph.py") == "wired_pkg.graph"
    assert module_name(here / "wired_pkg" / "__init__.py") == "wired_pkg"
    assert module_name(here / "wired_loose" / "graph.py") == "wired_loose.graph"


def test_a_file_that_import_does_not_find_has_no_name(here: Path) -> None:
    files = {"src___wired_absent_____0__": "", "src___wired_absent___graph": ""}
    write(here, **files, src___wired_bare="", json="", **{"wired-dash": ""})
    write(here, wired_raises_____0__="raise RuntimeError", wired_raises___graph="")
    assert module_name(here / "src" / "wired_absent" / "graph.py") is None
    assert module_name(here / "src" / "wired_bare.py") is None
    assert module_name(here / "json.py") is None, "that is the one of Python"
    assert module_name(here / "wired-dash.py") is None
    assert module_name(here / "wired_raises" / "graph.py") is None
    sys.path.append(str(here / "src"))
    assert module_name(here / "src" / "wired_absent" / "graph.py") == "wired_absent.graph"
    assert module_name(here / "src" / "wired_bare.py") == "wired_bare"
