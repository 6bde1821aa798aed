"""`langgraph-once explain`: real streams, recorded, and what is said of them."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from graphs.models import SCRIPTED, chat_model
from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.inspect.explanation import explained, reasons
from langgraph_once.inspect.recording import Recorder, read_recording
from langgraph_once.stream import Deduplicator, Part
from langgraph_once.stream.part.intake import reader
from tests.exact import exactly
from tests.forked import run_once

MODES = ["messages", "updates", "values", "custom"]
TEXT = "To be, or not to be."
ASKED = {"messages": [("user", "To be?")]}


def explain(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run_once("explain", *arguments, cwd=cwd, **{"COLUMNS": "80", **env})


def retried() -> Any:
    """A model that loses its connection amid its first answer; a copy of the second is kept."""
    failures = iter([True])
    model = chat_model(
        SCRIPTED, lambda _: AIMessage(TEXT), breaks_off=lambda _: next(failures, False)
    )

    def answer(state: MessagesState) -> Any:
        return {"messages": [AIMessage(model.invoke(state["messages"]).text, id="copy")]}

    again = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ConnectionError)
    builder: Any = StateGraph(MessagesState)
    builder.add_node("answer", answer, retry_policy=again).add_edge(START, "answer")
    return builder.compile()


def recorded(path: Path, graph: Any, *, runs: Iterable[Any] = (ASKED,)) -> list[Part]:
    """Record runs of one thread; the parts that were recorded."""
    recorder, read, parts = Recorder(str(path)), reader(MODES, subgraphs=True), []
    config: Any = {"configurable": {"thread_id": "1"}, "metadata": {"graph_id": "agent"}}
    for number, asked in enumerate(runs):
        recorder.begin("1", str(number))
        for chunk in graph.stream(asked, config, stream_mode=MODES, subgraphs=True):
            parts.append(read(chunk))
            recorder.add(parts[-1])
    recorder.close()
    return parts


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_what_is_kept_is_what_the_deduplicator_sends(tmp_path: Path, is_wrapped: bool) -> None:
    path = tmp_path / "run.jsonl"
    graph = exactly(retried()) if is_wrapped else retried()
    parts = recorded(path, graph)
    dedup = Deduplicator(modes=MODES)
    sent = [out for part in parts for out in dedup.feed(part)] + [*dedup.close()]
    found = [*explained(read_recording(str(path)), DedupConfig(), "exact")]
    told = sum(each.count for each in found if each.outcome in ("kept", "retracted", "noted"))
    assert told == len(sent)
    assert sum(each.chars for each in found if each.outcome == "kept" and each.mode == "messages")
    retractions = [each for each in found if each.outcome == "retracted"]
    assert (len(retractions), retractions[0].operation and retractions[0].operation.because) == (
        1,
        "D4",
    )


def test_each_outcome_is_told_with_its_reason_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path, retried())
    run = explain(str(path), cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert TEXT not in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80
    lines = run.stdout.splitlines()
    assert lines[0] == "line      outcome   mode     where        decision, and of what"
    (retracted,) = [line for line in lines if " retracted messages answer " in line]
    assert ": remove " in retracted
    assert "remove (D4)" in retracted
    end = lines.index("")
    assert any("kept" in line and "append (next)" in line for line in lines[1:end])
    assert any(
        line.startswith("retracted      1  remove (D4): The task sent") for line in lines[end:]
    )
    shown = explain(str(path), "--values", cwd=tmp_path)
    assert TEXT in shown.stdout


def test_for_a_stock_reader_nothing_is_retracted_and_repetitions_are_held(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path, retried())
    run = explain(str(path), "--form", "stock", "--json", cwd=tmp_path)
    found = json.loads(run.stdout)
    assert "retracted" not in {each["outcome"] for each in found["parts"]}
    not_sent = {each["operation"] for each in found["summary"] if each["outcome"] == "cut"}
    assert "remove" in not_sent
    assert all("text" not in each for each in found["parts"])
    assert TEXT not in run.stdout
    kept = [each["chars"] for each in found["parts"] if each["outcome"] == "kept"]
    assert sum(each["count"] for each in found["summary"]) >= len(kept)


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_a_text_that_a_node_replaces_is_an_edit_and_no_removal(
    tmp_path: Path, is_wrapped: bool
) -> None:
    model = chat_model(SCRIPTED, lambda _: AIMessage(TEXT))

    def guard(state: MessagesState) -> Any:
        return {"messages": [AIMessage("No.", id=state["messages"][-1].id)]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("guard", guard).add_edge(START, "answer").add_edge("answer", "guard")
    graph = builder.compile()
    recorded(tmp_path / "run.jsonl", exactly(graph) if is_wrapped else graph)
    run = explain("run.jsonl", "--json", cwd=tmp_path)
    told = json.loads(run.stdout)
    assert told["annotated"] is is_wrapped
    edit = [
        (each["outcome"], each["operation"], each["where"])
        for each in told["parts"]
        if each["because"] == "L2"
    ]
    # LangGraph alone does not stream the other text.
    found = [("retracted", "remove", "guard"), ("kept", "replace", "guard")]
    assert edit == (found if is_wrapped else [])
    assert "L3" not in {each["because"] for each in told["summary"]}
    shown = explain("run.jsonl", cwd=tmp_path).stdout
    assert ("No message has a note of ours" in shown) is not is_wrapped


def test_runs_of_one_thread_know_what_was_said_before(tmp_path: Path) -> None:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("ask", lambda _: {"messages": [AIMessage(interrupt("?"))]})
    builder.add_node("beside", lambda _: {"messages": [AIMessage("Beside.")]})
    builder.add_edge(START, "beside").add_edge(START, "ask")
    path = tmp_path / "run.jsonl"
    graph = builder.compile(checkpointer=InMemorySaver())
    recorded(path, graph, runs=({"messages": [("user", "Both.")]}, Command(resume="Yes.")))
    counted = reasons(explained(read_recording(str(path)), DedupConfig(), "exact"))
    known = {(outcome, op.kind, op.because) for (outcome, op) in counted if op is not None}
    assert ("cut", "state", "D11") in known


def test_at_the_end_of_a_run_that_failed_nothing_more_is_said(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorder = Recorder(str(path))
    recorder.begin("1", "1")
    recorder.add(Part((), "messages", AIMessage("No id yet.", id=""), {"langgraph_node": "a"}))
    recorder.fail(TimeoutError("secret"))
    recorder.close()
    assert "secret" not in path.read_text()
    found = [*explained(read_recording(str(path)), DedupConfig(), "exact")]
    assert [each.first for each in found] == [2, 3]


def test_the_settings_of_the_recorded_graph_count(tmp_path: Path) -> None:
    def state_chars(**env: str) -> int:
        found = json.loads(explain(str(path), "--json", cwd=tmp_path, **env).stdout)["parts"]
        return sum(each["chars"] for each in found if each["mode"] in ("updates", "values"))

    def write(name: str) -> None:
        once = {"target": "a.b:c", "dedup": {"state": "new_messages"}}
        graph = {"path": f"langgraph_once.platform.graphs:{name}", "once": once}
        (tmp_path / "langgraph.json").write_text(json.dumps({"graphs": {name: graph}}))

    path = tmp_path / "run.jsonl"
    recorded(path, retried())
    full = state_chars()
    cut = state_chars(ONCE_DEDUP__STATE="new_messages")
    assert cut < full
    write("other")
    assert state_chars() == full
    write("agent")
    assert state_chars() == cut
    assert state_chars(ONCE_DEDUP__STATE="full") == full


def test_a_recording_is_for_its_owner_and_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("what others could read")
    path.chmod(0o644)
    recorder = Recorder(str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    recorder.begin("1", "1")
    recorder.add(Part((), "custom", {"a": 1}))
    recorder.restart()
    recorder.begin("1", "1")
    recorder.close()
    assert [each.part for each in read_recording(str(path))] == [None]
    with pytest.raises(ConfigError, match=r"--record: .* cannot be written: No such file"):
        Recorder(str(tmp_path / "nowhere" / "run.jsonl"))


def test_names_of_a_recording_cannot_move_the_cursor(tmp_path: Path) -> None:
    red = "\x1b[31mred"
    message = {"type": "ai", "content": red, "id": red, "additional_kwargs": {}}
    message["response_metadata"] = {}
    events = [
        {"event": f"messages|{red}:1", "data": [message, {"langgraph_node": red}]},
        {"event": "custom", "data": {red: 1}},
        {"event": red, "data": {}},
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(map(json.dumps, events)))
    run = explain(str(path), "--values", cwd=tmp_path)
    assert (run.returncode, "\x1b" in run.stdout, "red" in run.stdout) == (0, False, True)


def test_keys_of_a_state_are_cut_to_the_terminal(tmp_path: Path) -> None:
    state = {f"a_channel_{number}": number for number in range(9)}
    (tmp_path / "run.jsonl").write_text(json.dumps({"event": "values|a:1", "data": state}))
    narrow, wide = (
        explain("run.jsonl", cwd=tmp_path, COLUMNS=columns).stdout.splitlines()[1]
        for columns in ("80", "300")
    )
    assert (len(narrow), narrow.endswith("…")) == (80, True)
    assert wide.endswith("a_channel_7, a_channel_8")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (None, "cannot be read: No such file"),
        (b"\xff", "it is no text in UTF-8"),
        (b"[]", "line 1: no event of a run"),
        (b'\n{"event": "values"}', "line 2: no event of a run"),
        (b'{"event": "messages", "data": 1}', "line 1: no event of a run"),
        (b'{"event": 1, "data": 1}', "line 1: no event of a run"),
        (b"{", "line 1: no event of a run"),
        (b"[" * 100_000, "line 1: no event of a run"),
        (b"", "it holds no part of a run"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, text: bytes | None, part: str) -> None:
    if text is not None:
        (tmp_path / "run.jsonl").write_bytes(text)
    run = explain("run.jsonl", cwd=tmp_path)
    assert (run.returncode, run.stdout, len(run.stderr.splitlines())) == (1, "", 1)
    assert run.stderr.startswith("langgraph-once: run.jsonl")
    assert part in run.stderr
