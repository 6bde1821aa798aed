"""What is damaged is found, or is harmless; what is sound is told to be."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from langgraph_once.checkpoint import values
from langgraph_once.errors import SerdeError, StorageError
from langgraph_once_ops.verify import Verdict, verify, verify_command
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import build, on, told

CELLS = {
    "checkpoints": "checkpoint",
    "writes": "value",
    "once_stream_states": "data",
    "once_pieces": "data",
}
THREADS = ("waits", "done", "forked")
SECRET = "no zero byte"
OPEN = whole.serde()
SEALED = whole.serde(encryption_keys=whole.KEYS)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file of encrypted threads."""
    path = tmp_path_factory.mktemp("sound") / "threads.sqlite"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "MIN_CUT_BYTES", 2048)
        with whole.once(str(path), SEALED) as saver:
            whole.fill(saver)
    return path


def verdict(database: str, serializer: Any) -> Verdict:
    with whole.to_read(database, serializer) as saver:
        return verify(saver, serializer)


@pytest.mark.parametrize("form", ["once", "encrypted", "stock"])
@pytest.mark.usefixtures("cuts_short_values")
def test_what_is_sound_is_told_to_be(here: str, form: str) -> None:
    serializer = SEALED if form == "encrypted" else whole.serde()
    with whole.stock(here) if form == "stock" else whole.once(here, serializer) as saver:
        whole.fill(saver)
        if form != "stock":
            saver.prune(["forked"], keep_last=3)
    before = whole.columns(here)
    found = verdict(here, serializer)
    assert found.troubles == []
    assert found.threads == 3
    assert bool(found.pieces) == (form != "stock")
    assert whole.columns(here) == before


def states(path: Path) -> dict[tuple[str, str], Any]:
    """What each checkpoint of the root says, or that it cannot be read."""
    found: dict[tuple[str, str], Any] = {}
    with whole.once(str(path), SEALED) as saver:
        graph = build(saver)
        ids = saver.conn.execute(
            "SELECT thread_id, checkpoint_id FROM checkpoints WHERE checkpoint_ns = ''"
        ).fetchall()
        for thread_id, id_ in ids:
            try:
                state = told(graph.get_state(on(thread_id, checkpoint_id=id_)))
            except (SerdeError, StorageError):
                state = "unreadable"
            found[thread_id, id_] = state
    return found


def flip(conn: sqlite3.Connection, dice: random.Random) -> str:
    table, column = dice.choice([*CELLS.items()])
    key = "rowid" if table in ("checkpoints", "writes") else "thread_id, rowid"
    where, at = "rowid = ?", "rowid"
    if key != "rowid":  # it has none
        at = "digest" if table == "once_pieces" else "checkpoint_id"
        where = f"{at} = ?"
    row, data = dice.choice(conn.execute(f"SELECT {at}, {column} FROM {table}").fetchall())
    place, bit = dice.randrange(len(data)), 1 << dice.randrange(8)
    news = data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
    conn.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (news, row))
    return f"a byte of {table}"


def relabel(conn: sqlite3.Connection, dice: random.Random) -> str:
    row, tag = dice.choice(conn.execute("SELECT rowid, type FROM checkpoints").fetchall())
    news = dice.choice(["msgpack", "once2.aesgcm", tag[1:], tag.upper(), ""])
    conn.execute("UPDATE checkpoints SET type = ? WHERE rowid = ?", (news, row))
    return "a tag"


def forget(conn: sqlite3.Connection, dice: random.Random) -> str:
    table, at = dice.choice([("checkpoints", "rowid"), ("once_pieces", "digest")])
    (row,) = dice.choice(conn.execute(f"SELECT {at} FROM {table}").fetchall())
    conn.execute(f"DELETE FROM {table} WHERE {at} = ?", (row,))
    return f"a row of {table}"


def test_of_sixty_damages_all_are_found_or_harmless(sound: Path, tmp_path: Path) -> None:
    before = states(sound)
    outcomes: Counter[tuple[str, str]] = Counter()
    for seed in range(60):
        dice = random.Random(seed)
        path = tmp_path / f"{seed}.sqlite"
        shutil.copy(sound, path)
        with closing(sqlite3.connect(path)) as conn, conn:
            what = dice.choice([flip, flip, relabel, forget])(conn, dice)
        found = verdict(str(path), SEALED).troubles
        assert not [trouble for trouble in found if SECRET in str(trouble)]
        if not found:
            after = states(path)
            assert after == {place: before[place] for place in after}, what
        outcomes[what, "found" if found else "harmless"] += 1
        path.unlink()
    assert {outcome for outcome in outcomes if outcome[1] == "harmless"} <= {
        ("a row of checkpoints", "harmless")
    }
    assert len({what for what, outcome in outcomes if outcome == "found"}) >= 6, outcomes


def test_a_checkpoint_that_others_are_rebuilt_from_is_missed(sound: Path, tmp_path: Path) -> None:
    before = states(sound)
    outcomes = set()
    for thread_id, id_ in [place for place in before if place[0] == "done"]:
        path = tmp_path / "cut.sqlite"
        shutil.copy(sound, path)
        with closing(sqlite3.connect(path)) as conn, conn:
            for table in ("checkpoints", "writes", "once_stream_states"):
                conn.execute(f"DELETE FROM {table} WHERE checkpoint_id = ?", (id_,))
        found = verdict(str(path), SEALED).troubles
        assert {trouble.channel for trouble in found} <= {"log"}
        after = states(path)
        is_harmless = after == {place: before[place] for place in after}
        assert is_harmless or found, (thread_id, id_)
        outcomes.add((is_harmless, bool(found)))
    assert (False, True) in outcomes
    assert (True, False) in outcomes


def test_a_finding_names_where_it_is(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged.sqlite"
    shutil.copy(sound, path)
    with closing(sqlite3.connect(path)) as conn, conn:
        place = conn.execute(
            "SELECT thread_id, checkpoint_ns, checkpoint_id, channel FROM writes WHERE rowid = 1"
        ).fetchone()
        conn.execute("UPDATE writes SET value = x'00' WHERE rowid = 1")
    (trouble,) = verdict(str(path), SEALED).troubles
    assert trouble[:4] == place


def test_what_says_the_same_of_many_values_has_one_line(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(verify_command, ["--database", str(sound)])
    lines = [line for line in run.stdout.splitlines() if "needs the key 'old'" in line]
    count = sum("needs the key 'old'" in str(each) for each in verdict(str(sound), OPEN).troubles)
    more = [int(found) for found in re.findall(r"; (\d+) more say the same", run.stdout)]
    assert run.exit_code == 1
    assert len(lines) < count == len(lines) + sum(more)


def test_a_value_of_postgres_is_named_by_a_checkpoint(database: str) -> None:
    here = whole.url(database)
    serializer = whole.serde()
    with whole.once(here, serializer) as saver:
        whole.fill(saver)
    whole.ask(
        here,
        "UPDATE checkpoint_blobs SET blob = ? WHERE thread_id = 'done' AND channel = 'messages'",
        b"\xc1",
    )
    found = verdict(here, serializer).troubles
    ids = {row[0] for row in whole.ask(here, "SELECT checkpoint_id FROM checkpoints")}
    assert found
    assert {trouble[0] for trouble in found} == {"done"}
    assert {trouble.channel for trouble in found} == {"messages"}
    assert {trouble.checkpoint_id for trouble in found} <= ids


def test_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "none.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(StorageError, match="not a SQLite database"):
        verdict(str(tmp_path / "none.sqlite"), SEALED)
    with pytest.raises(StorageError, match="there is no such file"):
        verdict(str(tmp_path / "missing.sqlite"), SEALED)
