"""Replicas get a new key one after the other, in the order that `docs/operations.md` tells."""

from __future__ import annotations

import base64
import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.forked import Forked, clean_environ, run_once

KEYS = {name: base64.b64encode(os.urandom(32)).decode() for name in ("old", "new")}

REPLICA = """
import json, sys
from langgraph.graph import START, MessagesState, StateGraph
from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import open_saver
from langgraph_once.config import CheckpointConfig

graph = StateGraph(MessagesState)
graph.add_node("n", lambda state: {"messages": [("ai", "x" * 20_000)]})
graph.add_edge(START, "n")
keys = json.loads(sys.argv[2])
serde = OnceSerializer(SerdeConfig(encryption_keys=keys, encryption="required"))
config = {"configurable": {"thread_id": "t"}}
with open_saver(sys.argv[1], config=CheckpointConfig(), serde=serde) as saver:
    for _ in sys.stdin:
        try:
            app = graph.compile(checkpointer=saver)
            print(len(app.invoke({"messages": [("user", "q")]}, config)["messages"]), flush=True)
        except Exception as error:
            print(type(error).__name__, flush=True)
"""


class Replicas:
    """Two servers on one database, each with the keys that it was started with."""

    def __init__(self, database: str, stack: ExitStack) -> None:
        self._database, self._stack = database, stack
        self._running: dict[str, Forked] = {}
        self._turns = 0

    def restart(self, name: str, *keys: str) -> None:
        if name in self._running:
            self._running[name].kill()
            self._running[name].wait()
        ring = json.dumps({each: KEYS[each] for each in keys})
        process = Forked("-c", REPLICA, self._database, ring, env=clean_environ())
        self._running[name] = self._stack.enter_context(process)

    def turn(self, name: str) -> str:
        """What a replica says to a question: how many messages the thread has then."""
        process = self._running[name]
        process.stdin.write("\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def all_answer(self) -> bool:
        for name in ("a", "b", "a"):
            self._turns += 1
            if self.turn(name) != str(2 * self._turns):
                return False
        return True


def test_a_new_key_comes_in_front_then_last_and_no_replica_meets_what_it_cannot_open(
    here: str, tmp_path: Path
) -> None:
    pytest.importorskip("langgraph_once_ops.encryption", reason="only operations can rotate")
    with ExitStack() as stack:
        replicas = Replicas(here, stack)
        replicas.restart("a", "old")
        replicas.restart("b", "old")
        assert replicas.all_answer()
        for keys in (("new", "old"), ("old", "new")):  # steps 1 and 2
            for name in ("b", "a"):
                replicas.restart(name, *keys)
                assert replicas.all_answer(), (keys, name)
        ring = json.dumps({name: KEYS[name] for name in ("old", "new")})
        options = {"ONCE_DATABASE_URL": here, "ONCE_SERDE__ENCRYPTION_KEYS": ring}
        rotated = run_once("rotate", cwd=tmp_path, **options)  # step 3
        assert rotated.returncode == 0, rotated.stderr
        assert "old may go" in rotated.stdout
        assert replicas.all_answer()
        for name in ("b", "a"):  # step 4
            replicas.restart(name, "new")
            assert replicas.all_answer()


def test_a_new_key_that_encrypts_at_once_is_one_that_old_replicas_lack(path: Path) -> None:
    with ExitStack() as stack:
        replicas = Replicas(str(path), stack)
        replicas.restart("a", "old")
        replicas.restart("b", "old", "new")
        assert replicas.turn("b") == "2"
        assert replicas.turn("a") == "EncryptionError"
