"""`langgraph-once rotate`: after it nothing needs the old key, and what is plain is as it was."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import types
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from langgraph_once.checkpoint.rewriting import Rotating, migrate
from langgraph_once.config import CheckpointConfig, SerdeConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once.store import open_store
from langgraph_once_ops.encryption import key_use
from tests.forked import run_once
from tests.integration_tests.checkpoint.test_migrate import is_sound, put, stop
from tests.layered_stock import LayeredStock
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import build, on

OLD, NEW = whole.KEYS, whole.NEW
BOTH: dict[str, Any] = {**OLD, **NEW}
KEYS = {name: key.get_secret_value() for name, key in BOTH.items()}
NAMESPACE = ("memories", "ada")


def rotate(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    env = {"ONCE_SERDE__ENCRYPTION_KEYS": json.dumps(KEYS), **env}
    return run_once("rotate", *arguments, cwd=cwd, **env)


def counted(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {each["key"]: each for each in json.loads(run.stdout)["keys"]}


def put_items(database: str, keys: Any, names: str) -> None:
    async def put() -> None:
        opened = open_store(
            database, config=CheckpointConfig(), serde=whole.serde(encryption_keys=keys), index=None
        )
        async with opened as store:
            for name in names:
                await store.aput(NAMESPACE, name, {"text": name})

    asyncio.run(put())


def items(database: str, keys: Any) -> list[Any]:
    async def get() -> list[Any]:
        opened = open_store(
            database, config=CheckpointConfig(), serde=whole.serde(encryption_keys=keys), index=None
        )
        async with opened as store:
            return sorted(each.value["text"] for each in await store.asearch(NAMESPACE))

    return asyncio.run(get())


def test_after_it_threads_and_store_need_the_newest_key_alone(here: str, tmp_path: Path) -> None:
    with whole.once(here, whole.serde(encryption_keys=OLD)) as saver:
        whole.fill(saver)
        build(saver).invoke({**whole.ASKED, "text": "long " * 9000}, on("in pieces"))
        before = whole.history(saver)
    put_items(here, OLD, "abc")
    contents = whole.contents(here)
    dry = rotate("--dry-run", "--json", "--database", here, cwd=tmp_path)
    assert (dry.returncode, whole.contents(here)) == (0, contents)
    found = counted(dry)
    parts = ("values", "metadata", "writes", "pieces", "streams", "store")
    assert all(found["old"][part] for part in parts)
    assert found["old"]["store"] == 3
    assert not any(found["new"][part] for part in parts)
    assert (found["old"]["may_go"], found["new"]["is_newest"]) == (False, True)
    run = rotate("--database", here, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "3 items of the store re-encrypted" in run.stderr
    assert run.stdout.splitlines()[-2:] == [
        "old may go: nothing here needs it. Backups may.",
        "new is the newest: it encrypts what is written.",
    ]
    assert max(map(len, run.stdout.splitlines())) <= 80
    alone = whole.serde(encryption_keys=NEW, encryption="required")
    assert is_sound(here, alone)
    assert items(here, NEW) == ["a", "b", "c"]
    with whole.once(here, alone) as saver:
        assert whole.history(saver) == before
        assert whole.end(saver) == whole.in_memory()
    again = rotate("--database", here, cwd=tmp_path)
    assert "0 rows of 0 threads re-encrypted" in again.stderr


@pytest.mark.usefixtures("cuts_short_values")
def test_a_rotation_that_was_stopped_goes_on(here: str) -> None:
    both = whole.serde(encryption_keys=BOTH)
    with whole.once(here, whole.serde(encryption_keys=OLD)) as saver:
        whole.fill(saver)
        before = whole.history(saver)
    with whole.once(here, both) as saver:
        with pytest.raises(KeyboardInterrupt):
            migrate(saver, Rotating(both), progress=stop)
        assert whole.history(saver) == before
        assert {key for key, _ in key_use(saver)} - {""} == {"old", "new"}
        assert migrate(saver, Rotating(both)).threads == 2
        assert {key for key, _ in key_use(saver)} - {""} == {"new"}
    assert is_sound(here, whole.serde(encryption_keys=NEW))


def test_what_is_plain_is_as_it_was(here: str, tmp_path: Path) -> None:
    with whole.stock(here) as upstream:
        whole.fill(upstream)
        before = whole.history(upstream)
    put_items(here, {}, "p")
    with whole.once(here, whole.serde(encryption_keys=OLD)) as saver:
        build(saver).invoke(whole.ASKED, on("sealed"))
    put_items(here, OLD, "s")
    plain = "SELECT * FROM checkpoints WHERE thread_id <> 'sealed' ORDER BY 1, 2, 3"
    rows = whole.ask(here, plain)
    run = rotate("--database", here, "--json", cwd=tmp_path)
    assert whole.ask(here, plain) == rows
    assert (run.returncode, counted(run)["old"]["may_go"]) == (0, True)
    assert json.loads(run.stdout)["not_encrypted"]["store"] == 1
    assert counted(run)["new"]["store"] == 1
    with whole.stock(here) as upstream:
        assert whole.history(upstream) == before


@pytest.mark.parametrize("kind", [OnceSerializer, LayeredStock])
def test_an_object_whose_class_is_not_here_is_kept(path: Path, kind: Any) -> None:
    module = types.ModuleType("only_on_the_server")
    made = make_dataclass("Made", ["number"])
    made.__module__ = "only_on_the_server"
    module.Made = made  # type: ignore[attr-defined]  # a module made here
    sys.modules["only_on_the_server"] = module

    def serde(keys: Any) -> Any:
        allowed: Any = ["only_on_the_server:Made"]
        return kind(SerdeConfig(encryption_keys=keys, allowed_types=allowed))

    both = serde(BOTH)
    try:
        with whole.once(str(path), serde(OLD)) as saver:
            put(saver, "a", made(7))
        del sys.modules["only_on_the_server"]
        with whole.once(str(path), both) as saver:
            assert migrate(saver, Rotating(both)).troubles == []
            assert migrate(saver, Rotating(both)).rows == 0
        sys.modules["only_on_the_server"] = module
        with whole.once(str(path), serde(NEW)) as saver:
            found = saver.get_tuple(on("a")).checkpoint["channel_values"]["odd"]
            assert (type(found), found.number) == (made, 7)
    finally:
        sys.modules.pop("only_on_the_server", None)


def test_what_cannot_be_read_is_counted_named_and_exit_code_1(here: str, tmp_path: Path) -> None:
    with whole.once(here, whole.serde(encryption_keys={"lost": OLD["old"]})) as saver:
        put(saver, "a", "secret")
    with whole.once(here, whole.serde(encryption_keys=OLD)) as saver:
        put(saver, "b", "secret")
    put_items(here, {"lost": OLD["old"]}, "s")
    dry = rotate("--dry-run", "--database", here, cwd=tmp_path)
    assert dry.returncode == 1
    run = rotate("--database", here, cwd=tmp_path)
    assert run.returncode == 1
    assert "left as it is: thread 'a', checkpoint" in run.stderr
    assert "left as it is: memories.ada, 's': the value needs the key 'lost'" in run.stderr
    lines = run.stdout.splitlines()
    assert next(line for line in lines if line.startswith("lost must")).endswith(
        " need it, and is not among the keys here."
    )
    assert "old may go: nothing here needs it. Backups may." in lines
    assert "secret" not in run.stdout + run.stderr


def test_a_server_that_still_has_the_old_key_is_noticed(here: str, tmp_path: Path) -> None:
    """It stores between the rotation and the count, or after it."""
    with whole.once(here, whole.serde(encryption_keys=OLD)) as saver:
        put(saver, "a", "secret")
    assert rotate("--database", here, cwd=tmp_path).returncode == 0
    with whole.once(here, whole.serde(encryption_keys=OLD)) as saver:
        put(saver, "b", "secret")
    dry = rotate("--dry-run", "--database", here, cwd=tmp_path)
    assert dry.returncode == 0
    assert dry.stdout.splitlines()[-1] == (
        "Run `langgraph-once rotate` once all servers have the newest key."
    )
    assert rotate("--database", here, cwd=tmp_path).returncode == 0


def test_rows_that_langgraphs_serializer_encrypted_are_rotated(here: str, tmp_path: Path) -> None:
    key = "0123456789abcdef"
    serializer = EncryptedSerializer.from_pycryptodome_aes(key=key.encode())
    with whole.stock(here) as upstream:
        upstream.serde = serializer
        put(upstream, "a", "secret")
    dry = rotate("--dry-run", "--json", "--database", here, cwd=tmp_path, LANGGRAPH_AES_KEY=key)
    assert counted(dry)["LANGGRAPH_AES_KEY"]["values"] >= 1
    run = rotate("--json", "--database", here, cwd=tmp_path, LANGGRAPH_AES_KEY=key)
    assert (run.returncode, [*counted(run)]) == (0, ["old", "new"])
    with whole.once(here, whole.serde(encryption_keys=NEW)) as saver:
        assert saver.get_tuple(on("a")).checkpoint["channel_values"]["odd"] == "secret"


def test_a_damaged_envelope_is_counted_and_exit_code_1(path: Path, tmp_path: Path) -> None:
    with whole.once(str(path), whole.serde(encryption_keys=OLD)) as saver:
        put(saver, "a", "secret")
    whole.ask(str(path), "UPDATE checkpoints SET checkpoint = x'09'")
    run = rotate("--database", str(path), cwd=tmp_path)
    assert run.returncode == 1
    assert "Damaged: 1. `langgraph-once verify` names them." in run.stdout


@pytest.mark.parametrize(
    ("keys", "part"),
    [("{}", "there is no key to do this with"), (json.dumps(KEYS), "neither threads nor a store")],
)
def test_a_mistake_is_one_line(tmp_path: Path, keys: str, part: str) -> None:
    run = rotate("--database", "no.sqlite", cwd=tmp_path, ONCE_SERDE__ENCRYPTION_KEYS=keys)
    assert (run.returncode, run.stdout, len(run.stderr.splitlines())) == (1, "", 1)
    assert part in run.stderr
    assert not [*tmp_path.iterdir()]
