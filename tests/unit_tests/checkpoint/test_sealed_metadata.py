"""With keys, metadata are encrypted but for what servers filter by, and are found all the same."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint.copying import transfer
from langgraph_once.checkpoint.rewriting import Entering, Leaving, migrate
from langgraph_once.checkpoint.values import READABLE
from langgraph_once.errors import EncryptionError, PayloadError
from langgraph_once.stream import StreamAddress
from tests.databases import is_postgres
from tests.operations import verify
from tests.postgres_server import programs
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import build, on

SEALED = whole.serde(encryption_keys=whole.KEYS)
ROTATED = whole.serde(encryption_keys={**whole.KEYS, **whole.NEW})
REQUIRED = whole.serde(encryption_keys=whole.KEYS, encryption="bound")
SECRETS = {
    "user id": "user-7f3a9c51",
    "configurable": "tenant-77b0e4d2",
    "metadata": "note-c0ffee91",
    "message": "the-message-9d1e44aa",
    "channel": "the-text-5b21f0cc",
    "answer": "the-answer-31ee90ab",
    "ledger": "the-ledger-88d0c1f7",
}
ODD: dict[str, Any] = {
    "nan": math.nan,
    "large": 1e300,
    "zero": ["a\0b"],
    "half": "\ud800",
    "nested": {"a": [1, {"b": None}], "": "é"},
    "writes": {"node": {"text": "said"}},
}
RAW = "SELECT CAST(metadata AS TEXT) FROM checkpoints ORDER BY thread_id, checkpoint_id"


def put(saver: Any, thread_id: str, metadata: dict[str, Any], **more: Any) -> str:
    checkpoint = empty_checkpoint()
    config: Any = on(thread_id, checkpoint_ns="")
    saver.put({**config, **more}, checkpoint, {"source": "loop", "step": 1, **metadata}, {})
    return checkpoint["id"]


def raw(database: str) -> list[dict[str, Any]]:
    """What rows have as metadata."""
    return [json.loads(row[0]) for row in whole.ask(database, RAW)]


def bytes_of(database: str, request: pytest.FixtureRequest) -> bytes:
    """All that somebody has who takes the files, or a dump."""
    if not is_postgres(database):
        return b"".join(file.read_bytes() for file in Path(database).parent.glob("threads.*"))
    ((schema,),) = whole.ask(database, "SELECT current_schema()")
    program, server = programs() / "pg_dump", request.getfixturevalue("postgres")
    return subprocess.run(
        [program, "--inserts", "-n", schema, server], check=True, capture_output=True
    ).stdout


def test_no_text_of_a_user_is_in_the_files(here: str, request: pytest.FixtureRequest) -> None:
    serializer = whole.serde(encryption_keys=whole.KEYS, compression="none")
    with whole.once(here, serializer) as saver:
        asked: Any = {
            "configurable": {
                "thread_id": "t",
                "tenant": SECRETS["configurable"],
                "langgraph_auth_user_id": SECRETS["user id"],
            },
            "metadata": {"note": SECRETS["metadata"], "run_id": "run 1"},
        }
        graph = build(saver)
        state = {
            "messages": [HumanMessage(SECRETS["message"])],
            "text": SECRETS["channel"],
            "files": {SECRETS["channel"]: SECRETS["channel"] * 3000},
        }
        graph.invoke(state, asked)
        graph.update_state(asked, {"text": SECRETS["answer"]}, as_node="plan")
        saver.copy_thread("t", "copy")
        metadata = saver.get_tuple(on("copy")).metadata
        assert (metadata["tenant"], metadata["note"]) == (
            SECRETS["configurable"],
            SECRETS["metadata"],
        )
        assert {name for row in raw(here) for name in row} <= READABLE | {"__once_sealed"}
        saver.save_stream_state(StreamAddress("t", ""), SECRETS["ledger"].encode())
        assert all("aesgcm" in row["__once_sealed"][0] for row in raw(here))
        found = bytes_of(here, request)
    assert b"run 1" in found  # what is looked for can be found
    assert b"once2.aesgcm".hex().encode() in found or b"once2.aesgcm" in found
    for name, secret in (*SECRETS.items(), ("key", whole.KEYS["old"].get_secret_value())):
        assert secret.encode() not in found, name
        assert secret.encode().hex().encode() not in found, name  # as a dump has bytes


def test_odd_metadata_come_back_as_they_were(here: str) -> None:
    with whole.once(here, SEALED) as saver:
        put(saver, "t", {**ODD, "run_id": "r", "user": "u"})
        found = saver.get_tuple(on("t")).metadata
        assert math.isnan(found.pop("nan"))
        expected = {name: value for name, value in ODD.items() if name != "nan"}
        assert {name: found[name] for name in expected} == expected
        (row,) = raw(here)
        assert row.keys() == {"source", "step", "run_id", "__once_sealed"}
        saver.delete_for_runs(["r"])
        assert saver.get_tuple(on("t")) is None


VALUES = [None, True, False, 0, 1, 1.5, "", "1", "x", [1, "x"], [], {"b": 1}, {"b": {"c": [2]}}]
FILTERS: list[dict[str, Any]] = [
    *({"user": value} for value in VALUES),
    *({"step": value} for value in (1, 1.0, "1", True, None)),
    {"user": "x", "step": 1},
    {"user": "x", "other": "x"},
    {"source": "loop", "user": [1]},
    {"user.b": 1},
    {"user.b.c": [2]},
    {"missing": None},
    {"missing": "x"},
]


def test_filters_find_what_they_would_find_in_plain_rows(here: str) -> None:
    readable = whole.serde(encryption_keys=whole.KEYS, readable_metadata=["user"])
    with (
        whole.once(here, whole.serde()) as plain,
        whole.once(here, SEALED) as saver,
        whole.once(here, readable) as another,
    ):
        kinds = {"plain": plain, "sealed": saver, "readable": another}
        for number, (value, other) in enumerate(itertools.product(VALUES, ["x", "y"])):
            for kind, writer in kinds.items():
                metadata = {"user": value, "other": other, "number": number}
                put(writer, kind, metadata | {"step": number % 3})
        put(plain, "none", {})
        put(saver, "none", {})
        for wanted in FILTERS:
            expected = [
                found.metadata["number"] for found in plain.list(on("plain"), filter=wanted)
            ]
            for kind in ("sealed", "readable"):
                for reader in (saver, another):
                    listed = list(reader.list(on(kind), filter=wanted))
                    assert [found.metadata["number"] for found in listed] == expected, wanted
            few = list(saver.list(on("sealed"), filter=wanted, limit=2))
            assert [found.metadata["number"] for found in few] == expected[:2], wanted
            of_all = list(saver.list(None, filter=wanted | {"other": "y"}))
            assert len(of_all) == 3 * len(
                list(plain.list(on("plain"), filter=wanted | {"other": "y"}))
            )
            if few:
                before = list(saver.list(on("sealed"), filter=wanted, before=few[0].config))
                assert [found.metadata["number"] for found in before] == expected[1:], wanted


async def test_many_pages_are_filtered_without_reading_values(
    here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langgraph_once.checkpoint.threads.MOST_METADATA", 4)
    with whole.once(here, SEALED) as saver:
        ids = [put(saver, "t", {"user": f"user {number % 5}"}) for number in range(23)]
        expected = ids[3::5][::-1]
        wanted = {"user": "user 3"}
        assert [found.checkpoint["id"] for found in saver.list(on("t"), filter=wanted)] == expected
        found = [each.checkpoint["id"] async for each in saver.alist(on("t"), filter=wanted)]
        assert found == expected
        with pytest.MonkeyPatch.context() as patch:
            read: list[int] = []
            select = type(saver.threads.tables).select
            patch.setattr(
                type(saver.threads.tables),
                "select",
                lambda self, where, values, limit: (
                    read.append(limit) or select(self, where, values, limit)  # type: ignore[func-returns-value]  # noted
                ),
            )
            assert len(list(saver.list(on("t"), filter=wanted, limit=1))) == 1
            assert read == [1]


def test_metadata_open_nowhere_else(here: str) -> None:
    with whole.once(here, SEALED) as saver:
        whole.fill(saver)
        saver.copy_thread("waits", "twin")
        sql = "SELECT metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?"
        into = "UPDATE checkpoints SET metadata = ? WHERE thread_id = ? AND checkpoint_id = ?"
        if is_postgres(here):
            sql = sql.replace("metadata", "metadata::text", 1)
            into = into.replace("?", "?::jsonb", 1)
        newest, *_, oldest = [
            found.checkpoint["id"] for found in saver.list(on("waits", checkpoint_ns=""))
        ]
        for one, other in (
            (("waits", newest), ("twin", newest)),
            (("waits", newest), ("waits", oldest)),
        ):
            texts = {place: whole.ask(here, sql, *place)[0][0] for place in (one, other)}
            whole.ask(here, into, texts[other], *one)
            with pytest.raises(EncryptionError) as caught:
                saver.get_tuple(on(one[0], checkpoint_id=one[1]))
            (note,) = caught.value.__notes__
            assert "the metadata" in note
            assert all(part in note for part in one)
            assert saver.get_tuple(on("done")) is not None
            (trouble,) = verify(saver, SEALED).troubles
            assert trouble[:3] == (one[0], "", one[1])
            assert trouble.problem.startswith("metadata")
            whole.ask(here, into, texts[one], *one)
        assert verify(saver, SEALED).troubles == []


@pytest.mark.parametrize("damaged", [["once2.aesgcm", "no base64"], ["once2.aesgcm"], 3])
def test_damaged_metadata_are_told_and_leave_the_rest_alone(here: str, damaged: Any) -> None:
    into = "UPDATE checkpoints SET metadata = ? WHERE thread_id = ?"
    if is_postgres(here):
        into = into.replace("?", "?::jsonb", 1)
    with whole.once(here, SEALED) as saver:
        put(saver, "damaged", {})
        put(saver, "whole", {"user": "u"})
        whole.ask(here, into, json.dumps({"__once_sealed": damaged}), "damaged")
        with pytest.raises(PayloadError, match="metadata is damaged"):
            saver.get_tuple(on("damaged"))
        assert saver.get_tuple(on("whole")).metadata["user"] == "u"


def test_one_checkpoint_is_listed_that_is_named(here: str) -> None:
    with whole.once(here, SEALED) as saver:
        first, second = put(saver, "t", {}), put(saver, "t", {})
        for name in (first, second):
            config = on("t", checkpoint_ns="", checkpoint_id=name)
            assert [found.checkpoint["id"] for found in saver.list(config)] == [name]


def test_rows_of_before_are_read_and_can_be_refused_and_sealed(here: str) -> None:
    plain = whole.serde(encryption_keys=whole.KEYS, readable_metadata=["*"])
    with whole.once(here, plain) as saver:
        put(saver, "t", {"user": "u", **ODD})
        assert "user" in raw(here)[0] or "__once_json" in raw(here)[0]
    with whole.once(here, SEALED) as saver:
        assert saver.get_tuple(on("t")).metadata["user"] == "u"
    with whole.once(here, REQUIRED) as saver:
        with pytest.raises(EncryptionError, match="must be"):
            saver.get_tuple(on("t"))
        assert migrate(saver, Entering(REQUIRED)).troubles == []
        assert saver.get_tuple(on("t")).metadata["user"] == "u"
        assert raw(here)[0].keys() == {"source", "step", "__once_sealed"}
        assert migrate(saver, Entering(REQUIRED)).rows == 0


def test_the_ring_turns_and_readable_names_change(here: str) -> None:
    with whole.once(here, SEALED) as saver:
        put(saver, "t", {"user": "u", "team": "a"})
    named = whole.serde(encryption_keys=whole.NEW, readable_metadata=["team"])
    both = whole.serde(encryption_keys={**whole.KEYS, **whole.NEW}, readable_metadata=["team"])
    with whole.once(here, both) as saver:
        assert migrate(saver, Entering(both)).troubles == []
        assert migrate(saver, Entering(both)).rows == 0
        assert raw(here)[0]["team"] == "a"
    with whole.once(here, named) as saver:
        assert saver.get_tuple(on("t")).metadata["user"] == "u"
    with whole.once(here, ROTATED) as saver:
        assert migrate(saver, Entering(ROTATED)).rows == 1
        assert "team" not in raw(here)[0]
        dry = migrate(saver, Leaving(ROTATED), is_dry=True)
        assert (dry.rows > 0, "user" in raw(here)[0]) == (True, False)
        assert migrate(saver, Leaving(ROTATED)).has_dropped
    assert raw(here) == [{"source": "loop", "step": 1, "user": "u", "team": "a"}]


@pytest.mark.parametrize("target", [SEALED, whole.serde()], ids=["sealed", "plain"])
def test_another_database_has_the_sealed_metadata_too(
    here: str, tmp_path: Path, target: Any
) -> None:
    with (
        whole.once(here, SEALED) as source,
        whole.once(str(tmp_path / "other.sqlite"), target) as copy,
    ):
        put(source, "t", {"user": "u"})
        assert transfer(source, copy).troubles == []
        assert copy.get_tuple(on("t")).metadata["user"] == "u"
    (row,) = raw(str(tmp_path / "other.sqlite"))
    assert ("user" in row) == (target is not SEALED)
