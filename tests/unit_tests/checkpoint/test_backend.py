"""A database is an object: what is outside of its folder asks it, and does not ask which it is."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.store.sqlite import SqliteStore

from langgraph_once.__main__ import commands
from langgraph_once.checkpoint import open_saver
from langgraph_once.checkpoint.by_url import BACKENDS, backend_of, kind_of
from langgraph_once.checkpoint.postgres.backend import PostgresBackend
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import StorageError
from langgraph_once.serde import OnceSerializer
from langgraph_once.store import open_store
from langgraph_once.store.once_store import check_place
from tests.unit_tests.checkpoint.toy_database import ToyBackend

AT: Any = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}
KEY = base64.b64encode(bytes(range(32))).decode()
LOOP: Any = {"source": "loop", "step": 1, "parents": {}}


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[str]:
    """The address of a database that does not exist yet."""
    BACKENDS.insert(0, ToyBackend)
    yield f"toy://{tmp_path}/box"
    BACKENDS.remove(ToyBackend)


def test_a_database_of_another_kind_needs_its_class_alone(toy: str) -> None:
    backend_of(toy).check()
    with pytest.raises(StorageError, match="no such toy"):
        backend_of(toy).ask()
    with open_saver(toy, config=CheckpointConfig()) as saver:
        saver.put(AT, {**empty_checkpoint(), "channel_values": {"a": [1]}}, {"step": 1}, {"a": 1})
    backend_of(toy).ask()
    with backend_of(toy).open_to_read(config=CheckpointConfig(), serde=OnceSerializer()) as saver:
        found = saver.get_tuple(AT)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"a": [1]}


def test_only_one_has_the_claim_of_a_database_of_another_kind(toy: str) -> None:
    claim = backend_of(toy).claim("")
    assert claim is not None
    assert backend_of(toy).claim("") is None
    claim.close()
    assert backend_of(toy).claim("") is not None


async def test_the_store_of_a_database_of_another_kind_needs_no_more(toy: str) -> None:
    check_place(toy, config=CheckpointConfig(), index=None)
    async with open_store(toy, serde=OnceSerializer()) as store:
        await store.aput(("users", "ada"), "k", {"a": {"b": 1}})
        found = await store.asearch(("users",), filter={"a.b": 1})
    assert [each.key for each in found] == ["k"]
    assert store.name.endswith("box.toy")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("verify", "1 thread"),
        ("survey", "users"),
        ("inspect", "thread"),
        ("inspect thread", "checkpoints 1"),
        ("prune --keep-last 1", "1 thread"),
        ("rotate --dry-run", "2026"),
        ("store --to encrypted", "1 items, 1 rewritten"),
        ("migrate --to msgpack", ""),
    ],
)
def test_a_command_takes_a_database_of_another_kind(
    toy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, says: str
) -> None:
    pytest.importorskip("langgraph_once_ops", reason="most of them are of operations")
    monkeypatch.chdir(tmp_path)  # there is no project
    monkeypatch.setenv("ONCE_SERDE__ENCRYPTION_KEYS", json.dumps({"2026": KEY}))
    monkeypatch.setenv("ONCE_DATABASE_URL", toy)
    monkeypatch.setenv("ONCE_STORE__PATH", toy)
    missing = CliRunner().invoke(commands, command.split())
    with open_saver(toy, config=CheckpointConfig()) as saver:
        saver.put(AT, empty_checkpoint(), LOOP, {})
    with SqliteStore.from_conn_string(str(backend_of(toy).file)) as store:
        store.setup()
        store.put(("users", "ada"), "k", {"a": 1})
    found = CliRunner().invoke(commands, command.split())
    assert (found.exit_code, found.exception) == (0, None)
    assert says in found.output
    assert missing.output != found.output


def test_the_address_of_a_server_is_understood_without_its_driver() -> None:
    backend = backend_of("postgresql://user@host/threads")
    assert kind_of(backend.database) is PostgresBackend
    assert (backend.kind, backend.file, backend.is_there) == ("PostgreSQL", None, True)
