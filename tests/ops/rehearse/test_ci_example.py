"""Examples in YAML are YAML, and the workflow of docs/rehearse.md asks for what there is."""

from __future__ import annotations

import importlib
import shlex
from typing import Any

import pytest

from langgraph_once_ops.rehearse.command import rehearse_command
from tests.docs.snippets import pages, snippets

yaml: Any = importlib.import_module("yaml")


@pytest.mark.parametrize("page", [page for page in pages() if any(snippets(page, "yaml"))])
def test_what_is_shown_as_yaml_is_a_mapping(page: str) -> None:
    for snippet in snippets(page, "yaml"):
        assert isinstance(yaml.safe_load(snippet.text), dict)


def workflow() -> Any:
    (snippet,) = snippets("docs/rehearse.md", "yaml")
    return yaml.safe_load(snippet.text)


def test_the_workflow_has_what_github_requires() -> None:
    found = workflow()
    assert found[True] == "pull_request"  # `on`, which YAML 1.1 takes for a truth value
    for job in found["jobs"].values():
        assert job["runs-on"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
        assert all("@" in step["uses"] for step in job["steps"] if "uses" in step)


def test_each_command_of_the_workflow_is_one_that_rehearse_takes() -> None:
    (job,) = workflow()["jobs"].values()
    told = [
        step["run"] for step in job["steps"] if "langgraph-once rehearse" in step.get("run", "")
    ]
    assert len(told) == 2
    for command in told:
        words = shlex.split(command.partition(">")[0])
        given = rehearse_command.make_context("rehearse", words[2:]).params
        assert given["graph"] == "agent.graph:graph"
        assert given["describe"] is (given["against"] is None)
