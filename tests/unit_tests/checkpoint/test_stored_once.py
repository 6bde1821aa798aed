"""Long values are stored once for a thread, and nobody notices but the disk."""

from __future__ import annotations

import base64
import os
import random
import sqlite3
import tracemalloc
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import SecretStr

from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.cut import MAX_FINE_BYTES, Cutter
from langgraph_once.checkpoint.pieces import Cell, PieceManifest
from langgraph_once.checkpoint.values import Values
from langgraph_once.config import SerdeConfig
from langgraph_once.errors import PayloadError, SizeLimitError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import Tag

ROOT: Any = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}
CHANGED: Any = {"messages": "1"}


def key() -> SecretStr:
    return SecretStr(base64.b64encode(os.urandom(32)).decode())


def serde(**options: Any) -> OnceSerializer:
    return OnceSerializer(SerdeConfig(**options))


def text(number: int) -> str:
    return " ".join(f"{number}.{word}" for word in range(100))


def talk(count: int) -> list[AnyMessage]:
    return [(HumanMessage, AIMessage)[n % 2](text(n), id=f"message {n}") for n in range(count)]


def put(saver: BaseCheckpointSaver[Any], after: RunnableConfig, **values: Any) -> RunnableConfig:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = dict.fromkeys(values, "1")
    return saver.put(after, checkpoint, {"source": "loop", "step": 1}, CHANGED)


def values(saver: BaseCheckpointSaver[Any], at: RunnableConfig = ROOT) -> dict[str, Any]:
    found = saver.get_tuple(at)
    assert found is not None
    return found.checkpoint["channel_values"]


def pieces(saver: OnceSqliteSaver, thread_id: str = "thread") -> set[bytes]:
    found = saver.conn.execute("SELECT digest FROM once_pieces WHERE thread_id = ?", (thread_id,))
    return {digest for (digest,) in found}


def size(saver: OnceSqliteSaver) -> int:
    """Bytes of all values."""
    tables = {"checkpoints": "checkpoint", "writes": "value", "once_pieces": "data"}
    sums = (f"SELECT sum(length({column})) FROM {table}" for table, column in tables.items())
    return sum(saver.conn.execute(each).fetchone()[0] or 0 for each in sums)


def grow(saver: OnceSqliteSaver, count: int, step: int = 1) -> list[RunnableConfig]:
    at, all_, messages = ROOT, [], talk(count)
    for n in range(step, count + 1, step):
        at = put(saver, at, messages=messages[:n])
        all_.append(at)
    return all_


def test_a_thread_grows_linearly(once: OnceSqliteSaver) -> None:
    grow(once, 100)
    half, messages = size(once), talk(200)
    for n in range(101, 201):
        put(once, ROOT, messages=messages[:n])
    assert size(once) - half < 1.5 * half
    assert values(once)["messages"] == messages


@pytest.mark.parametrize("name", ["list", "dict", "str", "bytes", "tuple"])
def test_what_did_not_change_is_stored_once_whatever_its_type(
    once: OnceSqliteSaver, name: str
) -> None:
    words = [text(n) for n in range(100)]
    value: Any = {
        "list": words,
        "dict": dict(zip(words, range(100), strict=True)),
        "str": "".join(words),
        "bytes": "".join(words).encode(),
        "tuple": (frozenset(words[:50]), tuple(words[50:])),
    }[name]
    put(once, ROOT, channel=value)
    before = size(once)
    for _ in range(10):
        put(once, ROOT, channel=value)
    assert size(once) < before * 1.5
    assert values(once)["channel"] == value
    assert type(values(once)["channel"]) is type(value)


def test_a_message_changed_in_place_is_noticed_exactly(once: OnceSqliteSaver) -> None:
    messages = talk(60)
    messages[30].additional_kwargs["count"] = 1
    first = put(once, ROOT, messages=messages)
    before = deepcopy(messages)
    messages[30].additional_kwargs["count"] = True  # equal to 1, and another value
    second = put(once, first, messages=messages)
    assert values(once, first)["messages"][30].additional_kwargs["count"] is not True
    assert values(once, first)["messages"] == before
    assert values(once, second)["messages"][30].additional_kwargs["count"] is True


def test_what_stands_twice_in_a_value_is_one_object_again(once: OnceSqliteSaver) -> None:
    shared = HumanMessage(" ".join(text(n) for n in range(300)))
    put(once, ROOT, channel={"a": shared, "b": [shared]})
    found = values(once)["channel"]
    assert found["a"] == shared
    assert found["a"] is found["b"][0]


@dataclass
class Plan:
    """Something in a message that is no message."""

    title: str


SHARED: Any = {"source": text(7)}
ODD: dict[str, Any] = {
    "prose": "word",
    "documents": [Document(text(n), metadata={"page": n}) for n in range(3)],
    "dataclass": Plan("plan"),
    "tuple": (1, "two"),
    "datetime": datetime(2026, 5, 1, tzinfo=UTC),
    "in two places": [SHARED, SHARED],
}


@pytest.mark.parametrize("name", ODD)
def test_a_message_more_costs_that_message_whatever_others_hold(path: Path, name: str) -> None:
    """Also in another process, which has read the thread first, as all do."""
    messages = talk(110)
    messages[50].additional_kwargs["extra"] = ODD[name]
    with open_sqlite_saver(path) as writer, open_sqlite_saver(path) as other:
        at = ROOT
        for count in range(40, 101, 10):
            at = put(writer, at, messages=messages[:count])
        for saver in (writer, other):
            assert values(saver)["messages"] == messages[:count]
            before = size(saver), pieces(saver)
            for _ in range(3):
                count += 1
                at = put(saver, at, messages=messages[:count])
            assert size(saver) - before[0] < 10_000
            assert len(pieces(saver) - before[1]) < 30
            assert values(saver)["messages"] == messages[:count]


@pytest.mark.parametrize("encrypts", [False, True])
def test_a_large_value_takes_few_pieces(path: Path, encrypts: bool) -> None:
    """And one that does not compress is stored as it is, or as its ciphertext."""
    keys: Any = {"encryption_keys": {"k": key()}} if encrypts else {}
    image = base64.b64encode(random.Random(1).randbytes(1_500_000)).decode()
    with open_sqlite_saver(path, serde=serde(**keys)) as saver:
        put(saver, ROOT, messages=[HumanMessage(image, id="1")])
        found = saver.conn.execute("SELECT type, length(data) FROM once_pieces").fetchall()
        assert len(found) < 70
        long = {tag for tag, length in found if length > 8192}
        assert long == {"bytes.aesgcm" if encrypts else "bytes"}
        put(saver, ROOT, messages=[HumanMessage(text(1) * 2000, id="1")])
        found = saver.conn.execute("SELECT sum(length(data)) FROM once_pieces").fetchall()
        assert found[0][0] < 2_000_000 + 400_000
    with open_sqlite_saver(path, serde=serde(**keys)) as saver:
        first = min(saver.list(ROOT), key=lambda each: each.config["configurable"]["checkpoint_id"])
        assert first.checkpoint["channel_values"]["messages"][0].content == image


@pytest.mark.parametrize("options", [{"encryption_keys": {"k": key()}}, {"compression": "none"}])
def test_a_long_piece_in_place_of_another_is_noticed(path: Path, options: Any) -> None:
    """Where it is encrypted, or where nothing else would notice a flipped bit."""
    image = base64.b64encode(random.Random(1).randbytes(1_500_000)).decode()
    with open_sqlite_saver(path, serde=serde(**options)) as saver:
        put(saver, ROOT, image=image)
        (one,), (two,) = saver.conn.execute(
            "SELECT digest FROM once_pieces WHERE length(data) > 8192 LIMIT 2"
        )
        saver.conn.execute(
            "UPDATE once_pieces SET data = (SELECT data FROM once_pieces WHERE digest = ?) "
            "WHERE digest = ?",
            (one, two),
        )
    with (
        open_sqlite_saver(path, serde=serde(**options)) as saver,
        pytest.raises(PayloadError, match=f"piece {two.hex()} is damaged"),
    ):
        saver.get_tuple(ROOT)


def test_writes_refer_to_pieces_too(once: OnceSqliteSaver) -> None:
    at = put(once, ROOT, messages=talk(100))
    before = size(once)
    for task in range(10):
        once.put_writes(at, [("messages", talk(100))], f"task {task}")
    assert size(once) < before * 1.5
    found = once.get_tuple(at)
    assert found is not None
    assert [write for _, _, write in found.pending_writes or []] == [talk(100)] * 10


def test_what_is_deleted_takes_its_pieces_along_and_no_others(once: OnceSqliteSaver) -> None:
    configs = grow(once, 100, 10)
    once.put_writes(configs[-1], [("other", text(7) * 50)], "task")
    once.copy_thread("thread", "copy")
    assert pieces(once, "copy") == pieces(once)
    once.prune(["thread"])
    assert pieces(once) < pieces(once, "copy")
    assert values(once)["messages"] == talk(100)
    found = once.get_tuple(ROOT)
    assert found is not None
    assert found.pending_writes == [("task", "other", text(7) * 50)]
    copied: Any = {"configurable": {"thread_id": "copy", "checkpoint_ns": ""}}
    listed = [each.checkpoint["channel_values"]["messages"] for each in once.list(copied)]
    assert listed == [talk(n) for n in range(100, 0, -10)]
    once.delete_thread("copy")
    assert pieces(once, "copy") == set()
    assert values(once)["messages"] == talk(100)


def test_forks_share_and_a_rollback_leaves_what_others_need(once: OnceSqliteSaver) -> None:
    base = put(once, ROOT, messages=talk(100))
    before = size(once)
    in_run: Any = {**base, "metadata": {"run_id": "run"}}
    left = put(once, in_run, messages=[*talk(100), HumanMessage("left" * 5000)])
    right = put(once, base, messages=[*talk(100), HumanMessage("right" * 5000)])
    assert size(once) < 2 * before
    once.delete_for_runs(["run"])
    assert once.get_tuple(left) is None
    assert values(once, base)["messages"] == talk(100)
    assert values(once, right)["messages"][-1].content == "right" * 5000


@pytest.mark.parametrize("options", [{"keep_last": 3}, {"keep_last": 1}])
def test_the_last_checkpoints_are_kept(once: OnceSqliteSaver, options: Any) -> None:
    configs = grow(once, 50, 5)
    once.prune(["thread"], **options)
    kept = [each.config for each in once.list(ROOT)]
    assert kept == configs[: -options["keep_last"] - 1 : -1]


def test_only_what_is_older_is_pruned(once: OnceSqliteSaver) -> None:
    configs = grow(once, 6)
    found = once.get_tuple(configs[3])
    assert found is not None
    once.prune(["thread"], older_than=datetime.fromisoformat(found.checkpoint["ts"]))
    kept = [each.config for each in once.list(ROOT)]
    assert kept[-1] in (configs[3], configs[4])  # its id was made just before its time was taken
    assert kept == configs[: -len(kept) - 1 : -1]


def test_history_decodes_what_is_looked_at(
    once: OnceSqliteSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(once, 60, 10)
    decoded: list[str] = []
    original = OnceSerializer.decoded

    def noted(self: OnceSerializer, tag: Any, data: bytes) -> Any:
        value = original(self, tag, data)
        decoded.extend("messages" for _ in (0,) if isinstance(value, list))
        return value

    monkeypatch.setattr(OnceSerializer, "decoded", noted)
    listed = list(once.list(ROOT))
    assert decoded == []
    assert listed[1].checkpoint["channel_values"]["messages"] == talk(50)
    assert decoded == ["messages"]


@pytest.mark.parametrize("damage", ["UPDATE once_pieces SET data = x'00'", "DELETE FROM "])
def test_damage_is_told_where_it_is_and_nowhere_else(once: OnceSqliteSaver, damage: str) -> None:
    at = put(once, ROOT, messages=talk(100), short="fine")
    other: Any = {"configurable": {"thread_id": "other", "checkpoint_ns": ""}}
    put(once, other, messages=talk(100))
    statement = damage if damage.startswith("UPDATE") else "DELETE FROM once_pieces"
    once.conn.execute(f"{statement} WHERE thread_id = 'thread'")
    reader = OnceSqliteSaver(once.conn)  # who wrote it a moment ago still has it
    with pytest.raises(PayloadError) as caught:
        reader.get_tuple(ROOT)
    (note,) = caught.value.__notes__
    assert note == (
        f"in channel 'messages' of checkpoint {at['configurable']['checkpoint_id']} "
        "of thread 'thread', namespace ''"
    )
    (listed,) = reader.list(ROOT)
    assert listed.checkpoint["channel_values"]["short"] == "fine"
    assert values(reader, other)["messages"] == talk(100)
    put(once, at, messages=talk(101))  # what is missing is stored again
    if damage.startswith("DELETE"):
        assert values(reader)["messages"] == talk(101)


def test_without_store_once_rows_are_whole_and_rows_of_both_kinds_are_read(path: Path) -> None:
    with open_sqlite_saver(path, store_once=False) as saver:
        first = put(saver, ROOT, messages=talk(100))
        assert pieces(saver) == set()
    with open_sqlite_saver(path) as saver:
        second = put(saver, first, messages=talk(101))
        assert pieces(saver)
    with open_sqlite_saver(path, store_once=False) as saver:
        assert values(saver, first)["messages"] == talk(100)
        assert values(saver, second)["messages"] == talk(101)


def test_stock_rows_are_read_and_a_stock_saver_is_told(path: Path) -> None:
    with SqliteSaver.from_conn_string(str(path)) as stock:
        first = put(stock, ROOT, messages=talk(100))
        stock.put_writes(first, [("messages", talk(3))], "task")
    with open_sqlite_saver(path) as saver:
        assert values(saver)["messages"] == talk(100)
        second = put(saver, first, messages=talk(101))
    with SqliteSaver.from_conn_string(str(path)) as stock:
        with pytest.raises(NotImplementedError, match="channels"):
            stock.get_tuple(second)
        assert values(stock, first)["messages"] == talk(100)
    with open_sqlite_saver(path) as saver:
        assert values(saver)["messages"] == talk(101)


def test_a_database_of_a_newer_version_is_refused(path: Path) -> None:
    with open_sqlite_saver(path) as saver:
        put(saver, ROOT, messages=[])
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE once_schema SET version = 2")
    from langgraph_once.errors import StorageError

    with pytest.raises(StorageError, match="newer langgraph-once"), open_sqlite_saver(path):
        pass


def test_a_value_that_is_larger_than_what_is_decompressed_is_stored_whole(tmp_path: Path) -> None:
    large = serde(max_decoded_bytes=50_000)
    thread = [HumanMessage(text(number) * 20, id=str(number)) for number in range(100)]
    with open_sqlite_saver(str(tmp_path / "threads.sqlite"), serde=large) as saver:
        assert values(saver, put(saver, ROOT, messages=thread))["messages"] == thread
        assert not pieces(saver)


def test_a_value_that_expands_more_than_a_small_row_may_is_stored_whole(tmp_path: Path) -> None:
    path, value = str(tmp_path / "threads.sqlite"), bytes(130_000_000)
    with open_sqlite_saver(path) as saver:
        put(saver, ROOT, channel=value)
        assert not pieces(saver)
    with open_sqlite_saver(path) as saver:
        assert values(saver)["channel"] == value


def test_a_piece_that_is_named_a_million_times_is_refused_before_it_is_joined(
    once: OnceSqliteSaver,
) -> None:
    put(once, ROOT, channel=1)
    reads, cutter = Values(OnceSerializer()), Cutter()
    database, levels = dict[bytes, bytes](), 3
    name = b"a" * 64  # what the next piece holds
    for _ in range(levels + 1):  # a leaf, then groups of groups
        database[digest := cutter.digest(name)] = name
        name = digest * 64
    manifest = PieceManifest("bytes", 64 * 64**levels * 15, b"", (b"",) * levels + (digest * 15,))
    checkpoint = values_of_row(once, manifest.to_bytes())
    rows = [("thread", digest, *reads.piece(data)) for digest, data in database.items()]
    once.conn.execute("UPDATE checkpoints SET type = ?, checkpoint = ?", checkpoint)
    once.conn.executemany(
        "INSERT INTO once_pieces (thread_id, digest, type, data) VALUES (?, ?, ?, ?)", rows
    )
    tracemalloc.start()
    with pytest.raises(SizeLimitError, match="expands to more"):
        values(once)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10_000_000


def values_of_row(saver: OnceSqliteSaver, manifest: bytes) -> tuple[str, bytes]:
    """The cell of the only checkpoint, its channel in pieces."""
    ((tag, data),) = saver.conn.execute("SELECT type, checkpoint FROM checkpoints")
    plain = OnceSerializer().unwrapped((tag, data))[1]
    version, head, parts = ormsgpack.unpackb(plain)
    parts = dict.fromkeys(parts, ("pieces", manifest))
    return OnceSerializer().wrapped(Tag("channels"), ormsgpack.packb([version, head, parts]))


def test_under_a_key_no_piece_is_named_by_a_hash_that_others_can_compute(tmp_path: Path) -> None:
    names = []
    for path in ("a.sqlite", "b.sqlite"):
        with open_sqlite_saver(
            str(tmp_path / path), serde=serde(encryption_keys={"k": key()})
        ) as saver:
            grow(saver, 40)
            put(saver, ROOT, channel=os.urandom(300_000))
            reads = saver.threads.values
            rows = saver.conn.execute("SELECT digest, type, data FROM once_pieces").fetchall()
            plain = {digest: reads.piece_in(Cell(tag, data)) for digest, tag, data in rows}
            assert {len(each) > MAX_FINE_BYTES for each in plain.values()} == {True, False}
            for digest, data in plain.items():
                assert digest not in (sha256(data).digest()[:16], Cutter().digest(data))
                assert digest != blake2b(data, digest_size=16).digest()
            names.append({*plain})
    assert names[0].isdisjoint(names[1])
