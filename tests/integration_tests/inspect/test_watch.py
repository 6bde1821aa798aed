"""`langgraph-once watch` on a server: a graph, a run under way, a finished thread."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

from demo.dev_server import DevServer
from tests.docs.problem import ANSWER
from tests.forked import run_once
from tests.in_terminal import in_terminal
from tests.integration_tests.served import ADDRESS

QUESTION = "What is the capital of France?"


def watch(server: DevServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_once("watch", server.url, *arguments, cwd=server.cwd)


def test_a_run_is_told_in_lines(server: DevServer) -> None:
    done = watch(server, "agent", "--say", QUESTION)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert f"main answer: ai {ANSWER}" in lines
    assert lines[-1].startswith("finished: ")
    assert " 0 repeated, 0 missing" in lines[-1]


def test_a_pipe_is_told_what_was_retracted_after_it_was_printed(server: DevServer) -> None:
    lines = watch(server, "edited", "--say", "Where do I write to?").stdout.splitlines()
    said = [line for line in lines if "seats@rail.example" in line]
    assert said == [
        f"main answer: ai {ADDRESS}",
        f"main answer: retracted: {ADDRESS}",
    ]


def test_the_second_copy_is_the_one_that_is_marked_as_repeated(server: DevServer) -> None:
    done = watch(server, "trying", "--say", QUESTION, "--stock", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    stock = [event for event in events if event["side"] == "stock"]
    first, second = (event["item"] for event in stock if event.get("name") == "ai")
    changes = [event for event in stock if event["op"] == "ItemChanged"]
    assert [(event["item"], event["repeats"]) for event in changes] == [(second, len(ADDRESS))]
    assert first < second


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_a_terminal_has_a_column_for_each_stream_stock_first(server: DevServer) -> None:
    command = ["watch", server.url, "agent", "--say", QUESTION, "--stock"]
    screen = in_terminal([sys.executable, "-m", "langgraph_once", *command], columns=100)
    final = screen.rpartition("\x1b[?1049l")[2]  # after the screen of the live picture
    (head,) = (line for line in final.splitlines() if "finished" in line)
    assert head.index("LangGraph") < head.index("once")


def test_the_stock_stream_beside_it_says_things_again(server: DevServer) -> None:
    done = watch(server, "agent", "--say", QUESTION, "--stock")
    ends = [line for line in done.stdout.splitlines() if "finished: " in line]
    assert {line.partition("]")[0] for line in ends} == {"[stock", "[once"}
    (stock,) = (line for line in ends if line.startswith("[stock]"))
    assert " 0 repeated" not in stock


def test_what_langgraph_streams_is_recorded_and_explained(
    server: DevServer, tmp_path: Path
) -> None:
    path = str(tmp_path / "run.jsonl")
    done = watch(server, "agent", "--say", QUESTION, "--stock", "--record", path)
    assert done.returncode == 0, done.stderr
    run = run_once("explain", path, "--json", cwd=tmp_path)
    found = json.loads(run.stdout)["summary"]
    outcomes = {(each["outcome"], each["operation"]) for each in found}
    assert ("cut", "commit") in outcomes
    assert ANSWER not in run.stdout


def test_the_events_of_watch_are_json(server: DevServer) -> None:
    done = watch(server, "agent", "--input", json.dumps({"messages": QUESTION}), "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [events[0]["op"], events[-1]["op"]] == ["Began", "Ended"]
    assert events[-1]["status"] == "finished"


def test_a_finished_thread_is_shown(server: DevServer, sync_client: SyncLangGraphClient) -> None:
    thread_id = sync_client.threads.create()["thread_id"]
    asked: Any = {"messages": [{"role": "user", "content": QUESTION}]}
    sync_client.runs.wait(thread_id, "agent", input=asked)
    lines = watch(server, thread_id).stdout.splitlines()
    assert lines[:2] == [f"main: human {QUESTION}", f"main: ai {ANSWER}"]


def test_a_run_under_way_is_joined(server: DevServer, sync_client: SyncLangGraphClient) -> None:
    thread_id = sync_client.threads.create()["thread_id"]
    asked: Any = {"messages": [{"role": "user", "content": QUESTION}]}
    run = sync_client.runs.create(
        thread_id,
        "slow",
        input=asked,
        stream_mode=["messages-tuple", "values"],
        stream_resumable=True,
    )
    lines = watch(server, thread_id).stdout.splitlines()
    assert lines[0] == f"run {run['run_id']} of thread {thread_id}"
    assert lines[-1].startswith("finished: ")


def test_ctrl_c_leaves_and_the_run_goes_on(
    server: DevServer, sync_client: SyncLangGraphClient
) -> None:
    command = [sys.executable, "-m", "langgraph_once", "watch", server.url, "slow", "--say", "hi"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        thread_id = process.stdout.readline().split()[-1]
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20)
    assert process.returncode == 130
    assert complaint == "left; a run that was under way goes on\n"
    (run,) = sync_client.runs.list(thread_id)
    sync_client.runs.join(thread_id, run["run_id"])
    assert sync_client.runs.get(thread_id, run["run_id"])["status"] == "success"


def test_a_reader_that_closes_the_pipe_after_a_few_lines_gets_no_error(server: DevServer) -> None:
    command = (
        f"{sys.executable} -m langgraph_once watch {server.url} agent --say hi --json | head -1"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["op"] == "Began"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["agent"], "--say"),
        (["agent", "--input", "{"], "--input: this is no JSON"),
        (["agent", "--say", "hi", "--header", "x"], "--header"),
        (["00000000-0000-4000-8000-000000000000"], "not found"),
        (["00000000-0000-4000-8000-000000000000", "--stock"], "--stock"),
    ],
)
def test_a_mistake_is_one_line(server: DevServer, arguments: list[str], told: str) -> None:
    done = watch(server, *arguments)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert told in line


def test_a_server_that_is_not_there_is_a_failure(server: DevServer) -> None:
    nowhere = ("watch", "http://127.0.0.1:9", "agent", "--say", "hi")
    done = run_once(*nowhere, cwd=server.cwd)
    assert done.returncode == 1
    assert "ConnectError" in done.stdout
    assert "\nfailed: " in done.stdout
