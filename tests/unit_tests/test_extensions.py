"""What other packages add is found by their entry points, and what is not installed is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from langgraph_once import extensions
from langgraph_once.__main__ import commands
from langgraph_once.errors import ConfigError
from langgraph_once.platform.check import absent_extensions
from langgraph_once.platform.checkpointer import saver
from langgraph_once.platform.startup import check_extensions
from langgraph_once.settings import load_settings

CODE = """
import click

@click.command("count", short_help="Count.")
def count():
    click.echo("one")

def routes(settings):
    return [settings.http.page]
"""
ENTRY_POINTS = """
[langgraph_once.extensions]
command.count = counting:count
command.weigh = counting.not_there:weigh
routes.counts = counting:routes
"""
RETENTION = json.dumps({"keep_last": 3})


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only operations need is not installed, or they are not there at all."""
    for name in [name for name in sys.modules if name.startswith("langgraph_once_ops")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution of somebody else, of which one part needs what is not installed."""
    (tmp_path / "counting.py").write_text(CODE)
    metadata = tmp_path / "counting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("counting")
def test_what_another_package_names_is_found() -> None:
    assert "count" in extensions.names("command")
    assert extensions.present("serving") == []
    (routes,) = extensions.present("routes")
    assert routes(load_settings(environ={})) == ["auto"]


@pytest.mark.usefixtures("counting")
def test_a_command_of_another_package_runs_and_is_listed() -> None:
    assert CliRunner().invoke(commands, ["count"]).output == "one\n"
    assert "Count." in CliRunner().invoke(commands, ["--help"]).output


@pytest.mark.usefixtures("counting")
def test_a_command_that_cannot_be_imported_is_told_when_it_is_asked_for() -> None:
    assert "weigh" not in CliRunner().invoke(commands, ["--help"]).output
    result = CliRunner().invoke(commands, ["weigh"])
    assert isinstance(result.exception, ConfigError)
    assert "counting.not_there" in str(result.exception)


def test_a_command_that_nobody_has_is_told_by_click() -> None:
    result = CliRunner().invoke(commands, ["wiegh"])
    assert (result.exit_code, "No such command" in result.output) == (2, True)


def test_check_says_what_operations_would_add() -> None:
    (finding,) = absent_extensions()
    assert finding.effect == "hint"
    assert "`survey`" in finding.problem
    assert "the page" in finding.problem


@pytest.mark.parametrize(
    ("name", "value"),
    [("ONCE_CHECKPOINT__RETENTION", RETENTION), ("ONCE_HTTP__PAGE", "on")],
)
def test_a_setting_that_only_operations_obey_is_an_error_without_them(
    name: str, value: str
) -> None:
    with pytest.raises(ConfigError, match=r"operations need an extra|No module"):
        check_extensions(load_settings(environ={name: value}))


def test_the_settings_of_everybody_need_no_operations() -> None:
    check_extensions(load_settings(environ={}))


async def test_a_server_without_our_app_does_not_leave_out_a_policy_in_silence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONCE_CHECKPOINT__RETENTION", RETENTION)
    with pytest.raises(SystemExit, match="RETENTION"):
        async with saver():
            pass
