"""The project's own source is what `langgraph.json` names, and nothing that is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langgraph_once.platform.startup import project_source


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LANGGRAPH_CHECKPOINTER", "LANGGRAPH_HTTP", "LANGSERVE_GRAPHS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    return tmp_path


def test_the_source_is_the_dependencies_that_are_folders_and_the_files_and_packages_of_graphs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dependencies = [".", "./lib", "langchain", "./gone"]
    (project / "langgraph.json").write_text(json.dumps({"dependencies": dependencies}))
    graphs = {"a": "./src/agent.py:graph", "b": "pkg.mod:graph", "c": {"path": "/x/c.py:make"}}
    monkeypatch.setenv("LANGSERVE_GRAPHS", json.dumps(graphs))
    (project / "pkg").mkdir()
    (project / "pkg/mod.py").write_text("raise SystemExit  # nothing is imported to find it")
    monkeypatch.syspath_prepend(str(project))
    files = [project / "src/agent.py", Path("/x/c.py"), project / "pkg"]
    expected = (*map(str, [project, project / "lib", *files]),)
    assert project_source() == expected
    assert project_source(("src",)) == (*map(str, [project / "src", *files]),)


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", '{"dependencies": 3}'])
def test_without_dependencies_it_is_where_the_graphs_are(
    project: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    if text is not None:
        (project / "langgraph.json").write_text(text)
    graphs = {"a": "./src/agent.py:graph", "b": "tests.made_up:graph", "c": "langgraph.graph:x"}
    monkeypatch.setenv("LANGSERVE_GRAPHS", json.dumps(graphs))
    found = project_source()
    assert found[0] == str(project / "src")
    assert str(project / "src/agent.py") in found
    assert not any("site-packages" in place for place in found)


def test_outside_of_a_server_there_is_none(project: Path) -> None:
    assert project_source() == ()
