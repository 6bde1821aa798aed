"""What stands in a database never takes over the terminal of an operator, or a line of the log."""

from __future__ import annotations

import base64
import json
import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click import Context
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.store.sqlite import SqliteStore

from langgraph_once.__main__ import commands
from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.checkpoint.stored import CheckpointRef, Naming
from langgraph_once.commands.project import tell
from langgraph_once.compare import ItemOpened, SideView, TextAppended, View
from langgraph_once.compare.comparison import faults
from langgraph_once.errors import PayloadError, StorageError
from langgraph_once.serde.trust import Trust
from langgraph_once_ops.verify import repair
from tests.forked import run_once

EVIL = "\x1b]0;owned\x07\x1b[2K\rx\x9b1A\nSound: 1 thread\u202e"
KEY = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose every name is hostile, beside threads that are sound."""
    path = tmp_path_factory.mktemp("terminal") / "threads.sqlite"
    with open_sqlite_saver(path) as saver:
        for thread_id in ("sound", f"t{EVIL}", f"broken{EVIL}"):
            messages = [HumanMessage("hello" * 2000, id=f"m{EVIL}")]
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {f"c{EVIL}": messages, f"branch:to:n{EVIL}": None}
            checkpoint["channel_versions"] = dict.fromkeys(checkpoint["channel_values"], "1")
            config: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": f"ns{EVIL}"}}
            known: Any = {"source": f"s{EVIL}", "step": 1, "parents": {}, "graph_id": f"g{EVIL}"}
            versions = checkpoint["channel_versions"]
            at = saver.put(config, {**checkpoint, "id": str(uuid6())}, known, versions)
            saver.put_writes(at, [(f"w{EVIL}", 2**80)], f"task{EVIL}")
    with closing(sqlite3.connect(path)) as db, db:
        columns = "thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata"
        row = (f"broken{EVIL}", "", f"1f0{EVIL}", f"nope{EVIL}", b"\0", b"{}")
        db.execute(f"INSERT INTO checkpoints ({columns}) VALUES (?, ?, ?, ?, ?, ?)", row)
        manifest = (f"broken{EVIL}", "", "1f0", "pieces", b"\0", b"{}")
        db.execute(f"INSERT INTO checkpoints ({columns}) VALUES (?, ?, ?, ?, ?, ?)", manifest)
    with SqliteStore.from_conn_string(str(path)) as store:
        store.setup()
        for value in ({f"v{EVIL}": EVIL}, {"__once__": f"json{EVIL}.aesgcm", "sealed": "damaged"}):
            store.put((f"ns{EVIL}",), f"k{len(value)}{EVIL}", value)
    return path


COMMANDS = [
    ["verify"],
    ["verify", "--json"],
    ["verify", "--repair"],
    ["migrate", "--to", "msgpack", "--dry-run"],
    ["migrate", "--to", "msgpack"],
    ["migrate", "--into", "copy.sqlite"],
    ["rotate", "--dry-run"],
    ["rotate"],
    ["inspect"],
    ["inspect", f"t{EVIL}"],
    ["inspect", f"t{EVIL}", "--diff", "1", "1", "--values"],
    ["inspect", f"broken{EVIL}"],
    ["inspect", "--json"],
    ["survey"],
    ["survey", "--json"],
    ["prune", "--keep-last", "1", "--dry-run"],
    ["prune", "--keep-last", "1"],
    ["prune", "--older-than", "1d", "--status", "idle", "--dry-run"],
    ["store", "--to", "encrypted", "--dry-run"],
    ["store", "--to", "plain"],
    ["types"],
    ["check", "--verbose"],
    ["rehearse", "--graph", "terminal_graph:graph"],
    ["rehearse", "--graph", "terminal_graph:graph", "--json"],
]


def test_each_command_that_opens_a_database_is_tried() -> None:
    opens_none = {"init", "demo", "schema", "env"}
    tried = {command[0] for command in COMMANDS}
    assert tried | opens_none == {*commands.list_commands(Context(commands))}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_prints_what_a_terminal_obeys(
    database: Path, tmp_path: Path, command: list[str]
) -> None:
    project = {"dependencies": ["."], "graphs": {"g": "terminal_graph:graph"}}
    (tmp_path / "langgraph.json").write_text(json.dumps(project))
    (tmp_path / "terminal_graph.py").write_text(
        "from langgraph.graph import START, MessagesState, StateGraph\n"
        "graph = StateGraph(MessagesState).add_node('n', print).add_edge(START, 'n').compile()\n"
    )
    copy = tmp_path / "threads.sqlite"
    copy.write_bytes(database.read_bytes())
    env = {"ONCE_DATABASE_URL": str(copy), "ONCE_STORE__PATH": str(copy)}
    if command[0] in ("rotate", "store"):
        env["ONCE_SERDE__ENCRYPTION_KEYS"] = f'{{"k": "{KEY}"}}'
    done = run_once(*command, cwd=tmp_path, **env)
    for line in (done.stdout + done.stderr).split("\n"):
        assert line.isprintable(), done
        assert not line.startswith("Sound: 1 thread"), done
    assert "Traceback" not in done.stderr, done


def test_texts_of_a_stream_are_a_line_each() -> None:
    opened = ItemOpened(side="stock", item=0, kind="message", lane=0, mark="repeated")
    view = View([opened, TextAppended(side="stock", item=0, text=f"a{EVIL}")])
    view.sides["once"] = SideView()
    (line,) = faults(view)
    assert line.isprintable()


def test_lines_of_a_command_stay_lines(capsys: pytest.CaptureFixture[str]) -> None:
    tell("a\x1b[2K\nb")
    assert capsys.readouterr().out == "a?[2K\nb\n"


def test_no_name_forges_a_line_of_the_log(
    database: Path, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    copy = tmp_path / "threads.sqlite"
    copy.write_bytes(database.read_bytes())
    with open_sqlite_saver(copy) as saver, caplog.at_level(logging.INFO, "langgraph_once"):
        repair(saver, [f"broken{EVIL}"])
        Trust().warn("n", "%s is odd", f"n{EVIL}")
    assert len(caplog.messages) >= 2
    assert all(message.isprintable() for message in caplog.messages)


def test_no_error_has_more_than_one_line_of_what_may_be_shown() -> None:
    errors = [StorageError(f"cannot use {EVIL}", path=EVIL), PayloadError("odd", path=f".x{EVIL}")]
    with pytest.raises(PayloadError) as caught, Naming(CheckpointRef("t", "", EVIL), "value", EVIL):
        raise errors[1]
    assert all(str(error).isprintable() for error in errors)
    assert all(note.isprintable() for note in caught.value.__notes__)
