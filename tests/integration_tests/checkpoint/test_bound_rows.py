"""With keys, no row can take the place of another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from langgraph_once.checkpoint.database import Program
from langgraph_once.checkpoint.pieces import Cell
from langgraph_once.checkpoint.rewriting import Entering, Leaving, migrate
from langgraph_once.checkpoint.stored import CellAt, CellTable
from langgraph_once.errors import EncryptionError, SerdeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import Tag
from langgraph_once.stream import StreamAddress
from tests.databases import is_postgres
from tests.operations import verify
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import on

pytestmark = pytest.mark.usefixtures("cuts_short_values")

SEALED = whole.serde(encryption_keys=whole.KEYS)
REQUIRED = whole.serde(encryption_keys=whole.KEYS, encryption="bound")
BOUND = b"\x02"
"""How what is bound begins."""


class Unbound(OnceSerializer):
    """Binds no value to its row, as version 0.1."""

    def wrapped(self, tag: Tag, data: bytes, bound_to: Any = (), **how: Any) -> tuple[str, bytes]:
        return super().wrapped(tag, data, **how)


UNBOUND = Unbound(SEALED.config)


class Stored(NamedTuple):
    """A cell and where it stands."""

    table: CellTable
    thread_id: str
    at: CellAt
    cell: Cell


def cells(saver: Any) -> list[Stored]:
    """All cells but those of pieces."""
    tables = saver.threads.tables

    def read() -> Program[list[Stored]]:
        found = []
        for thread_id in (yield from tables.thread_ids()):
            for table, at in (yield from tables.cell_batches(thread_id, 500, ("empty",))):
                cells = yield from tables.cells(table, thread_id, at)
                found += [Stored(table, thread_id, one, cells[one.key]) for one in at]
        return found

    found: list[Stored] = saver.engine.run(read(), writes=False)
    return found


def put(saver: Any, stored: Stored, cell: Cell) -> None:
    def write() -> Program[None]:
        yield saver.threads.tables.replace(stored.table, stored.thread_id, {stored.at.key: cell})

    saver.engine.run(write(), writes=True)


def read(saver: Any, thread_id: str) -> Iterator[str]:
    """All that can be read of a thread, one by one; what cannot be is told."""
    for id_, checkpoint_ns in all_places(saver, thread_id):
        config = on(thread_id, checkpoint_ns=checkpoint_ns, checkpoint_id=id_)
        try:
            (found,) = saver.list(config)
            for channel in found.checkpoint["channel_values"]:
                try:
                    found.checkpoint["channel_values"][channel]
                except SerdeError as error:
                    yield told(error)
            assert found.pending_writes is not None  # they are decoded when they are looked at
        except SerdeError as error:
            yield told(error)
        try:
            saver.load_stream_state(StreamAddress(thread_id, checkpoint_ns))
        except SerdeError as error:
            yield told(error)


def all_places(saver: Any, thread_id: str) -> list[tuple[str, str]]:
    ids = saver.engine.run(saver.threads.tables.ids(thread_id), writes=False)
    return [(id_, checkpoint_ns) for checkpoint_ns, some in ids.items() for id_ in some]


def told(error: SerdeError) -> str:
    assert isinstance(error, EncryptionError)
    return "; ".join((str(error), *error.__notes__))


def pairs(found: list[Stored]) -> dict[str, tuple[Stored, Stored]]:
    """Two cells of each kind for each part of where they stand, which differ in little else."""
    chosen: dict[str, tuple[int, Stored, Stored]] = {}
    for one, other in itertools.combinations(found, 2):
        if one.table is other.table and one.at.tag == other.at.tag:
            differs = differences(one, other)
            for name in differs:
                kind = f"{one.table.holds} of another {name}"
                if kind not in chosen or len(differs) < chosen[kind][0]:
                    chosen[kind] = len(differs), one, other
    return {kind: pair for kind, (_, *pair) in chosen.items()}  # type: ignore[misc]  # two are left


def differences(one: Stored, other: Stored) -> set[str]:
    parts = zip(one.table.key, one.at.key, other.at.key, strict=True)
    differs = {name for name, part, another in parts if part != another}
    differs |= {"thread"} if one.thread_id != other.thread_id else set()
    return differs | ({"channel"} if one.at.channel != other.at.channel else set())


@pytest.mark.slow
def test_no_cell_opens_in_the_place_of_another(here: str) -> None:
    with whole.once(here, SEALED) as saver:
        whole.fill(saver)
        saver.copy_thread("waits", "twin")
        found = cells(saver)
        assert all(stored.cell.data.startswith(BOUND) for stored in found)
        swaps = pairs(found)
        for name, (one, other) in swaps.items():
            put(saver, one, other.cell)
            put(saver, other, one.cell)
            assert {(each.thread_id, each.channel) for each in verify(saver, SEALED).troubles} == {
                (stored.thread_id, stored.at.channel) for stored in (one, other)
            }, name
            for thread_id in {"done", one.thread_id, other.thread_id}:
                swapped = [each for each in (one, other) if each.thread_id == thread_id]
                problems = list(read(saver, thread_id))
                assert bool(problems) == bool(swapped), name
                told_of = [names(problem, each) for problem in problems for each in swapped]
                assert any(told_of) == bool(swapped), (name, problems)
            put(saver, one, one.cell)
            put(saver, other, other.cell)
        assert verify(saver, SEALED).troubles == []
        assert {"write of another channel", "write of another idx"} <= swaps.keys()
        assert {f"{holds} of another thread" for holds in ("write", "ledger")} <= swaps.keys()
        big = "value" if is_postgres(here) else "checkpoint"
        assert {f"{big} of another {part}" for part in ("thread", "checkpoint_ns")} <= swaps.keys()


def names(problem: str, stored: Stored) -> bool:
    """Whether an error says which cell it was."""
    table, thread_id, at, _ = stored
    parts = [repr(thread_id)]
    if table.holds != "value":  # any checkpoint that has it
        parts.append(at.key[1])
    if at.channel is not None:
        parts.append(repr(at.channel))
    return all(part in problem for part in parts)


@pytest.mark.parametrize(
    ("column", "news"), [("channel", "text"), ("task_id", "a task"), ("idx", 99)]
)
def test_a_write_cannot_be_said_to_be_another(here: str, column: str, news: Any) -> None:
    with whole.once(here, SEALED) as saver:
        whole.fill(saver)
        write = next(
            stored
            for stored in cells(saver)
            if stored.table.holds == "write" and stored.at.channel == "messages"
        )
        table, thread_id, at, _ = write
        where = " AND ".join(f"{name} = ?" for name in ("thread_id", *table.key))
        sql = f"UPDATE {table.name} SET {column} = ? WHERE {where}"
        whole.ask(here, sql, news, thread_id, *at.key)
        assert any(repr(thread_id) in problem for problem in read(saver, thread_id))
        (trouble,) = verify(saver, SEALED).troubles
        assert trouble.thread_id == thread_id


def test_a_piece_is_no_value_and_no_other_piece(here: str) -> None:
    with whole.once(here, SEALED) as saver:
        whole.fill(saver)
        rows = whole.ask(here, "SELECT thread_id, digest, type, data FROM once_pieces")
        mine = [row for row in rows if row[0] == "waits"]
        known = {bytes(row[1]) for row in mine}
        other = next(row for row in rows if row[0] == "done" and bytes(row[1]) not in known)
        sql = "UPDATE once_pieces SET type = ?, data = ? WHERE thread_id = ? AND digest = ?"
        for row in mine:
            whole.ask(here, sql, *other[2:], *row[:2])
        troubles = verify(saver, SEALED).troubles
        assert {trouble.thread_id for trouble in troubles} == {"waits"}
        damaged = [each for each in troubles if each.problem.startswith("piece ")]
        assert len(damaged) == len(mine)  # by its digest, whatever it says
        for row in mine:
            whole.ask(here, sql, *row[2:], *row[:2])
        assert verify(saver, SEALED).troubles == []
        write = next(stored for stored in cells(saver) if stored.table.holds == "write")
        put(saver, write, Cell(mine[0][2], bytes(mine[0][3])))
        assert any(names(problem, write) for problem in read(saver, write.thread_id))


def test_what_is_bound_cannot_be_made_to_look_unbound(here: str) -> None:
    with whole.once(here, SEALED) as saver:
        whole.fill(saver)
        for stored in cells(saver):
            put(saver, stored, stored.cell._replace(data=b"\x01" + stored.cell.data[1:]))
        for thread_id in ("waits", "done", "forked"):
            assert list(read(saver, thread_id))


@pytest.mark.parametrize("serializer", [SEALED, UNBOUND], ids=["bound", "unbound"])
def test_a_copy_has_all_and_goes_on_alone(here: str, serializer: Any) -> None:
    with whole.once(here, serializer) as saver:
        whole.fill(saver)
        for thread_id in ("waits", "forked"):
            saver.copy_thread(thread_id, f"copy of {thread_id}")
        assert verify(saver, serializer).troubles == []
        mine, copied = (
            [
                (found.checkpoint["id"], dict(found.checkpoint["channel_values"]))
                for found in saver.list(on(thread_id))
            ]
            for thread_id in ("waits", "copy of waits")
        )
        assert copied == mine
        address = StreamAddress("copy of waits", "")
        assert saver.load_stream_state(address) == b"ledger " * 1000
        saver.delete_thread("waits")
        assert list(read(saver, "copy of waits")) == []
        saver.prune(["copy of waits"])
        assert verify(saver, serializer).troubles == []


def test_a_copy_by_sql_is_refused(here: str) -> None:
    with whole.once(here, SEALED) as saver:
        whole.fill(saver)
        for copy in saver.threads.tables.copy("waits", "copy"):
            whole.ask(here, copy.sql, *copy.values)
        assert list(read(saver, "copy"))


def test_what_was_bound_to_nothing_is_read_and_bound_by_migrating(here: str) -> None:
    with whole.once(here, UNBOUND) as saver:
        whole.fill(saver)
        before = whole.history(saver)
    with whole.once(here, SEALED) as saver:
        assert whole.history(saver) == before
        assert not any(stored.cell.data.startswith(BOUND) for stored in cells(saver))
    with whole.once(here, REQUIRED) as saver:
        assert any("must be" in problem for problem in read(saver, "waits"))
        assert migrate(saver, Entering(REQUIRED)).troubles == []
        assert whole.history(saver) == before
        assert all(stored.cell.data.startswith(BOUND) for stored in cells(saver))
        pieces = whole.ask(here, "SELECT data FROM once_pieces")
        assert pieces
        assert all(bytes(data).startswith(BOUND) for (data,) in pieces)
        assert migrate(saver, Entering(REQUIRED)).rows == 0
        assert migrate(saver, Leaving(SEALED)).has_dropped
