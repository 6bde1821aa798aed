"""The command: what would stop the server is found before, in one line with exit code 1."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from langgraph_once.__main__ import commands
from langgraph_once.commands.settings_reference import env_example, json_schema
from langgraph_once.manifest import SAVER
from tests.forked import run_once

ROOT = Path(__file__).parents[2]


def once(*arguments: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return run_once(*arguments, cwd=cwd, **env)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of a user: one graph, one langgraph.json."""
    (tmp_path / "app.py").write_text(
        "from langgraph.graph import START, MessagesState, StateGraph\n"
        "graph = StateGraph(MessagesState).add_node('n', lambda _: {}).add_edge(START, 'n')\n"
    )
    path = "langgraph_once.platform.graphs:agent"
    write(tmp_path, graphs={"agent": {"path": path, "once": {"target": "app:graph"}}})
    return tmp_path


def write(project: Path, **manifest: Any) -> None:
    (project / "langgraph.json").write_text(json.dumps({"dependencies": ["."], **manifest}))


def assert_one_line(run: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert run.returncode == 1
    (line,) = run.stderr.splitlines()
    assert line.startswith("langgraph-once: ")
    for part in parts:
        assert part in line


def test_a_sound_project_is_found_fine_and_nothing_is_left_behind(project: Path) -> None:
    run = once("check", cwd=project)
    assert (run.returncode, run.stderr) == (0, "")
    assert "1 wrapped graph" in run.stdout
    assert not (project / ".langgraph_once" / "checkpoints.sqlite").exists()


def test_a_terminal_that_lacks_a_character_is_told_the_rest() -> None:
    command = [sys.executable, "-m", "langgraph_once", "init", "--help"]
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    run = subprocess.run(command, capture_output=True, env=env)
    assert (run.returncode, run.stderr) == (0, b"")
    assert "postgresql://?" in run.stdout.decode("latin-1")


def test_output_that_cannot_be_written_is_told_in_one_line() -> None:
    command = [sys.executable, "-m", "langgraph_once", "env"]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert_one_line(run, "No space left on device")


def test_ctrl_c_ends_a_command_with_one_line(tmp_path: Path) -> None:
    config = tmp_path / "langgraph.json"
    os.mkfifo(config)
    command = [sys.executable, "-m", "langgraph_once", "check", "--config", str(config)]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process,
        config.open("w"),  # opens when the command reads it
    ):
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20)
    assert (process.returncode, complaint) == (130, "langgraph-once: interrupted\n")


def test_our_own_samples_are_found_fine() -> None:
    run = once("check")
    assert (run.returncode, run.stderr) == (0, "")


def test_a_database_out_of_reach_is_told(project: Path) -> None:
    run = once("check", cwd=project, ONCE_CHECKPOINT__PATH="/etc/hostname/x.sqlite")
    assert_one_line(run, "/etc/hostname/x.sqlite", "choose another path")


def test_a_port_in_use_is_told(project: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert_one_line(once("check", "--port", port, cwd=project), f"port {port}", "in use")
    assert once("check", "--port", port, cwd=project).returncode == 0


def test_a_wrong_encryption_key_is_one_line_without_the_key(project: Path) -> None:
    keys = '{"2026": "too-short"}'
    run = once("check", cwd=project, ONCE_SERDE__ENCRYPTION_KEYS=keys)
    assert_one_line(run, "ONCE_SERDE__ENCRYPTION_KEYS", "2026")
    assert "too-short" not in run.stderr


def test_a_variable_that_is_no_setting_is_a_hint(project: Path) -> None:
    run = once("check", cwd=project, ONCE_SERVICE_HOST="1", ONCE_STROE="{}")
    assert run.returncode == 0
    assert "hint: ONCE_SERVICE_HOST, ONCE_STROE: no settings" in run.stdout


def test_a_provider_that_is_not_installed_stops_the_sample() -> None:
    assert_one_line(once("check", SAMPLES_MODEL="nosuch:model"), "SAMPLES_MODEL", "nosuch:model")


def test_a_wrong_variable_in_the_env_file(project: Path) -> None:
    (project / ".env").write_text("ONCE_SERDE__COMPRESSION=gzip\n")
    write(project, env=".env")
    assert_one_line(once("check", cwd=project), "ONCE_SERDE__COMPRESSION", "'zstd' or 'none'")


def test_a_wrong_langgraph_json_is_told_in_one_line(project: Path) -> None:
    assert_one_line(once("check", "--config", "absent.json", cwd=project), "absent.json", "No such")
    (project / "langgraph.json").write_text("{")
    assert_one_line(once("check", cwd=project), "langgraph.json", "not valid JSON")
    write(project, checkpointer={"path": SAVER, "once": {"pth": "x"}}, graphs={"a": "app:graph"})
    assert_one_line(once("check", cwd=project), "checkpointer.once.pth", "'path'")
    path = "langgraph_once.platform.graphs:agent"
    write(project, graphs={"agent": {"path": path, "once": {"target": "app:grph"}}})
    assert_one_line(once("check", cwd=project), "graphs.agent.once.target", "'grph'")


def test_the_reference_is_printed() -> None:
    assert once("env").stdout == env_example()
    assert json.loads(once("schema").stdout) == json_schema()


def test_every_command_has_an_example_and_no_help_is_cut() -> None:
    told = CliRunner().invoke(commands, ["--help"], terminal_width=80).output
    for name, command in commands.commands.items():
        assert f"\n  {name} " in told
        helped = CliRunner().invoke(commands, [name, "--help"], terminal_width=80).output
        assert f"\n    langgraph-once {name}" in helped
        assert command.short_help
        assert command.short_help in told
        told += helped
    assert not [line for line in told.splitlines() if "..." in line and "Usage:" not in line]
    prose = [line for line in told.splitlines() if not line.startswith("    langgraph-once ")]
    assert max(map(len, prose)) <= 80
