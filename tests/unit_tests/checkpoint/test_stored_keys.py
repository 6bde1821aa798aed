"""Pieces under keys: older ones are read and not gone on with; nothing secret is plain."""

from __future__ import annotations

from pathlib import Path

import pytest

from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.errors import EncryptionError
from tests.unit_tests.checkpoint.test_stored_once import (
    ROOT,
    key,
    pieces,
    put,
    serde,
    talk,
    text,
    values,
)


def test_names_under_an_older_key_are_not_gone_on_with(path: Path) -> None:
    """So that the older key is not needed for ever."""
    old, new = {"old": key()}, {"new": key()}
    with open_sqlite_saver(path, serde=serde(encryption_keys=old)) as saver:
        put(saver, ROOT, messages=talk(200))
    with open_sqlite_saver(path, serde=serde(encryption_keys=old | new)) as saver:
        assert values(saver)["messages"] == talk(200)
        at = put(saver, ROOT, messages=talk(201))
    with open_sqlite_saver(path, serde=serde(encryption_keys=new)) as saver:
        assert values(saver, at)["messages"] == talk(201)


def test_pieces_that_are_not_encrypted_are_not_gone_on_with_once_there_is_a_key(path: Path) -> None:
    with open_sqlite_saver(path) as saver:
        for number in range(99):  # until there are no groups: all pieces are compressed
            saver.delete_thread("thread")
            put(saver, ROOT, value=(word := f"{number:02}" * 15_000))
            if set(saver.conn.execute("SELECT type FROM once_pieces")) == {("bytes.zstd",)}:
                break
        else:
            pytest.fail("each has groups")
    keys = {"k": key()}
    with open_sqlite_saver(path, serde=serde(encryption_keys=keys)) as saver:
        assert values(saver)["value"] == word
        at = put(saver, ROOT, value=word + "more")
    strict = serde(encryption_keys=keys, encryption="required")
    with open_sqlite_saver(path, serde=strict) as saver:
        assert values(saver, at)["value"] == word + "more"


def test_a_sweep_that_cannot_read_all_deletes_nothing(path: Path) -> None:
    old, new = key(), key()
    with open_sqlite_saver(path, serde=serde(encryption_keys={"old": old})) as saver:
        put(saver, ROOT, messages=talk(100))
        before = pieces(saver)
    with open_sqlite_saver(path, serde=serde(encryption_keys={"new": new})) as saver:
        at = put(saver, ROOT, messages=talk(50))
        saver.delete_for_runs(["unknown"])
        saver.put_writes({**at, "metadata": {"run_id": "run"}}, [("a", 1)], "task")
        saver.delete_for_runs(["run"])
        assert before < pieces(saver)
        with pytest.raises(EncryptionError, match="'old'"):
            list(saver.list(ROOT))
    both = serde(encryption_keys={"old": old, "new": new})
    with open_sqlite_saver(path, serde=both) as saver:
        found = [len(each.checkpoint["channel_values"]["messages"]) for each in saver.list(ROOT)]
        assert found == [50, 100]


def test_under_encryption_nothing_is_plain_but_what_the_server_filters_by(path: Path) -> None:
    with open_sqlite_saver(
        path, serde=serde(encryption_keys={"k": key()}, encryption="required")
    ) as saver:
        at = put(saver, ROOT, messages=talk(100), short="a secret word")
        saver.put_writes(at, [("messages", talk(60))], "task")
        assert values(saver)["messages"] == talk(100)
        rows = "".join(saver.conn.iterdump())
    assert "secret" not in rows
    assert text(3)[:20] not in rows
    assert text(3)[:20].encode().hex() not in rows.lower()
