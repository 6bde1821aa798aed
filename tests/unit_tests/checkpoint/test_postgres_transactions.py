"""Each operation is done or not, whoever else is about, and whatever becomes of the connection."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once.checkpoint import OncePostgresSaver, open_postgres_saver, threads, values
from langgraph_once.checkpoint.database import Program, Statement
from langgraph_once.checkpoint.postgres.queries import LOCKS
from langgraph_once.checkpoint.stored import CheckpointRef
from langgraph_once.errors import StorageError

T = TypeVar("T")
ON: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
ALL: Any = {"configurable": {"thread_id": "t"}}


@pytest.fixture
def watcher(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database, autocommit=True) as conn:
        yield conn


@pytest.fixture
def savers(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[OncePostgresSaver]]:
    """Two savers with pools of their own, as two servers have them."""
    monkeypatch.setattr(values, "MIN_CUT_BYTES", 1024)
    with ExitStack() as stack:
        yield [stack.enter_context(open_postgres_saver(database)) for _ in range(2)]


def put(saver: OncePostgresSaver, texts: list[str], config: Any = ON, **more: Any) -> Any:
    checkpoint: Any = {**empty_checkpoint(), "v": 4}  # as LangGraph makes them
    version = saver.get_next_version(random.randrange(10**9), None)
    checkpoint["channel_values"] = {"texts": texts}
    checkpoint["channel_versions"] = {"texts": version}
    metadata: Any = {"step": 1, **more}
    return saver.put(config, checkpoint, metadata, {"texts": version})


def texts(number: int, count: int = 20) -> list[str]:
    rng = random.Random(number)
    return [rng.randbytes(300).hex() for _ in range(count)]


def read(saver: OncePostgresSaver, config: Any) -> Any:
    found = saver.get_tuple(config)
    return found and found.checkpoint["channel_values"]["texts"]


def in_threads(*works: Callable[[], object]) -> None:
    failures: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    running = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert failures == []


def start_until_it_waits(thread: threading.Thread, watcher: psycopg.Connection[Any]) -> None:
    """Start a thread; it waits for a lock afterwards, or has ended."""
    thread.start()
    waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    while thread.is_alive() and not watcher.execute(waits).fetchall():
        thread.join(0.01)


def test_two_savers_write_one_thread(savers: list[OncePostgresSaver]) -> None:
    """The same pieces at the same time, in any order: nobody waits for ever, nothing is lost."""
    stored: list[tuple[Any, list[str]]] = []

    def write(saver: OncePostgresSaver, order: int) -> Callable[[], None]:
        def work() -> None:
            for number in range(15):
                value = [*texts(number), *texts(number + 1)][::order]
                stored.append((put(saver, value), value))

        return work

    in_threads(*(write(saver, order) for saver in savers for order in (1, -1)))
    assert len(stored) == 60
    for config, value in stored:
        assert read(savers[0], config) == value


def noted(program: Program[T], note: Callable[[Statement], None]) -> Program[T]:
    """The program; `note` is called after each statement was answered."""
    rows: Any = None
    while True:
        try:
            asked = next(program) if rows is None else program.send(rows)
        except StopIteration as end:
            result: T = end.value
            return result
        rows = yield asked
        note(asked)


def test_a_sweep_waits_for_savers_that_store(
    savers: list[OncePostgresSaver], watcher: psycopg.Connection[Any]
) -> None:
    """A value that is stored already is stored again, while the first one is rolled back."""
    writer, sweeper = savers
    put(writer, texts(0), run_id="run")
    run = writer.engine.run
    sweeping = threading.Thread(target=sweeper.delete_for_runs, args=(["run"],))

    def sweep(asked: Statement) -> None:
        if not asked.has_rows:
            return
        start_until_it_waits(sweeping, watcher)

    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"texts": texts(0)}
    checkpoint["channel_versions"] = {"texts": "2"}
    program = writer.threads.put(ON, checkpoint, {"step": 2}, {"texts": "2"})
    run(noted(program, sweep), writes=True)
    sweeping.join()
    (left,) = writer.list(ALL)
    assert left.checkpoint["channel_values"] == {"texts": texts(0)}


def test_pieces_are_stored_in_one_order(savers: list[OncePostgresSaver]) -> None:
    """Or two that store the same ones could wait for each other."""
    stored: list[bytes] = []

    def note(asked: Statement) -> None:
        if "INTO once_pieces" in asked.sql:
            stored.extend(row[1] for row in asked.values)

    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"texts": texts(0)}
    program = savers[0].threads.put(ON, checkpoint, {}, {"texts": "1"})
    savers[0].engine.run(noted(program, note), writes=True)
    assert len(stored) > 5
    assert stored == sorted(stored)


def test_no_piece_is_swept_that_someone_is_about_to_refer_to(
    savers: list[OncePostgresSaver],
) -> None:
    writer, sweeper = savers
    is_over = threading.Event()

    def write() -> None:
        try:
            for number in range(60):
                put(writer, texts(number % 3))
        finally:
            is_over.set()

    def sweep() -> None:
        while not is_over.is_set():
            sweeper.prune(["t"])

    in_threads(write, sweep)
    found = list(sweeper.list(ALL))
    assert [stored.checkpoint["channel_values"]["texts"] for stored in found[:1]] == [texts(2)]
    assert all(stored.checkpoint["channel_values"].copy() for stored in found)


def test_what_is_swept_while_one_waits_to_store_is_stored_again(
    database: str, savers: list[OncePostgresSaver], watcher: psycopg.Connection[Any]
) -> None:
    """The writer takes pieces for stored, and began to look before it got the lock."""
    writer, reader = savers
    put(writer, texts(0))
    grown = [*texts(0), "more"]
    with psycopg.connect(database) as sweeper:
        sweeper.execute(f"SELECT pg_advisory_xact_lock(hashtextextended('t', {LOCKS}))")
        sweeper.execute("DELETE FROM once_pieces")
        writing = threading.Thread(target=put, args=(writer, grown))
        start_until_it_waits(writing, watcher)
        assert writing.is_alive()
    writing.join()
    assert read(reader, ON) == grown


@pytest.mark.parametrize("begin", [texts(0), ["short"]], ids=["cut", "short"])
def test_what_grows_is_stored_and_read_by_one_statement(
    savers: list[OncePostgresSaver], begin: list[str]
) -> None:
    at = put(savers[0], begin)
    asked: list[Statement] = []
    checkpoint: Any = {**empty_checkpoint(), "v": 4, "channel_versions": {"texts": "9"}}
    checkpoint["channel_values"] = {"texts": [*begin, "more"]}
    program = savers[0].threads.put(ON, checkpoint, {}, {"texts": "9"})
    savers[0].engine.run(noted(program, asked.append), writes=True)
    writes: Any = [("texts", "one"), ("texts", "two")]
    program = savers[0].threads.put_writes(at, writes, "task", "")
    savers[0].engine.run(noted(program, asked.append), writes=True)
    assert len(asked) == 2
    assert read(savers[1], ON) == [*begin, "more"]
    reading = savers[0].threads.get(CheckpointRef.of(ON))  # who has written it has its pieces
    savers[0].engine.run(noted(reading, asked.append), writes=False)
    assert len(asked) == 3


def test_of_two_writes_with_one_key_the_last_wins(savers: list[OncePostgresSaver]) -> None:
    """One statement would refuse to replace a row twice."""
    at = put(savers[0], ["short"])
    savers[0].put_writes(at, [("__error__", "first"), ("__error__", "last")], "task")
    found = savers[1].get_tuple(at)
    assert found is not None
    assert found.pending_writes == [("task", "__error__", "last")]


def test_a_checkpoint_is_read_once_unless_its_pieces_are_swept_meanwhile(
    savers: list[OncePostgresSaver],
) -> None:
    """Where there are so many that they are asked for by themselves."""
    writer, reader = savers
    many = 600
    put(writer, texts(1, many))
    asked: list[Statement] = []

    def note(ask: Statement) -> None:
        asked.append(ask)
        if len(asked) == 1 and is_swept:
            put(writer, texts(2, many))
            writer.prune(["t"])

    for is_swept, latest in ((False, 1), (True, 2)):
        asked.clear()
        forgetful = threads.Threads(reader.tables_with(values.Values(reader.serde)))
        reading = noted(forgetful.get(CheckpointRef.of(ON)), note)
        (found,) = reader.engine.run(reading, writes=False).tuples()
        assert found.checkpoint["channel_values"]["texts"] == texts(latest, many)
        assert sum("FROM checkpoints" in ask.sql for ask in asked) == (2 if is_swept else 1)


def test_a_short_thread_that_nobody_remembers_is_read_by_one_statement(
    savers: list[OncePostgresSaver],
) -> None:
    writer, reader = savers
    for number in (1, 2):
        put(writer, texts(number))
    asked: list[Statement] = []
    reading = noted(reader.threads.get(CheckpointRef.of(ON)), asked.append)
    (found,) = reader.engine.run(reading, writes=False).tuples()
    assert found.checkpoint["channel_values"]["texts"] == texts(2)
    assert len(asked) == 1


def test_nobody_sweeps_while_another_reads(savers: list[OncePostgresSaver]) -> None:
    reader, sweeper = savers
    configs = [put(reader, texts(number)) for number in range(30)]

    def sweep() -> None:
        for left in range(len(configs) - 1, 0, -1):
            sweeper.prune(["t"], keep_last=left)

    def look() -> None:
        for _ in range(30):
            for stored in reader.list(ALL):
                stored.checkpoint["channel_values"].copy()

    in_threads(sweep, look)
    assert [read(reader, config) for config in configs[-1:]] == [texts(29)]


def counts(watcher: psycopg.Connection[Any]) -> list[int]:
    names = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "once_pieces")
    found = [watcher.execute(f"SELECT count(*) FROM {name}").fetchall() for name in names]
    return [count for ((count,),) in found]


def kill_others(watcher: psycopg.Connection[Any]) -> None:
    watcher.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND datname IS NOT NULL"
    )


@pytest.mark.parametrize(
    ("operation", "answers"),
    [
        ("put", 1),
        ("put_writes", 1),
        ("copy", 1),
        ("rollback", 1),
        ("rollback of all", 4),
        ("prune", 1),
        ("prune", 3),
        ("prune", 5),
    ],
)
def test_a_connection_that_dies_in_the_middle_undoes_all(
    savers: list[OncePostgresSaver],
    watcher: psycopg.Connection[Any],
    operation: str,
    answers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saver = savers[0]
    config = put(saver, texts(0), run_id="run")
    last = put(saver, texts(1), run_id="run 2")
    saver.put_writes(last, [("texts", texts(2))], "task")
    before = counts(watcher)
    steps = iter(range(1, 100))

    def dying(program: Program[Any]) -> Program[Any]:
        """As the program, but its connection dies after some answers."""
        rows: Any = None
        while True:
            try:
                asked = next(program) if rows is None else program.send(rows)
            except StopIteration as end:
                return end.value
            rows = yield asked
            if asked.has_rows and next(steps) == answers:
                kill_others(watcher)
                yield Statement("SELECT 1")

    run = saver.engine.run
    monkeypatch.setattr(
        saver.engine, "run", lambda program, *, writes: run(dying(program), writes=writes)
    )
    operations: dict[str, Callable[[], Any]] = {
        "put": lambda: put(saver, texts(3)),
        "put_writes": lambda: saver.put_writes(last, [("texts", texts(3))], "task 2"),
        "rollback of all": lambda: saver.delete_for_runs(["run", "run 2"]),
        "copy": lambda: saver.copy_thread("t", "copy"),
        "prune": lambda: saver.prune(["t"]),
        "rollback": lambda: saver.delete_for_runs(["run 2"]),
    }
    with pytest.raises(StorageError, match="does the server run"):
        operations[operation]()
    assert counts(watcher) == before
    assert read(saver, config) == texts(0)
    operations[operation]()
    assert counts(watcher) != before
    assert read(savers[1], put(savers[1], texts(4))) == texts(4)


@pytest.mark.parametrize("writes", [True, False])
def test_connections_that_died_meanwhile_are_replaced(
    savers: list[OncePostgresSaver], watcher: psycopg.Connection[Any], writes: bool
) -> None:
    config = put(savers[0], texts(0))
    in_threads(*(lambda: [put(savers[0], texts(1)) for _ in range(5)] for _ in range(4)))
    kill_others(watcher)
    if writes:
        config = put(savers[0], texts(1))
    assert read(savers[0], config) == texts(int(writes))


def test_one_connection_that_died_is_told(database: str, watcher: psycopg.Connection[Any]) -> None:
    with psycopg.connect(database, autocommit=True) as given:
        saver = OncePostgresSaver(given)
        saver.setup()
        kill_others(watcher)
        for _ in range(2):
            with pytest.raises(StorageError, match="does the server run"):
                saver.get_tuple(ON)


def test_a_saver_without_others_takes_one_connection(database: str) -> None:
    """Two would take turns, and neither have at hand what it did a moment ago."""
    with open_postgres_saver(database, max_size=10) as saver:
        for number in range(3):
            put(saver, texts(number))
        pool: Any = saver.conn
        assert pool.get_stats()["pool_size"] == 1


def test_one_connection_serves_many_threads(database: str) -> None:
    with psycopg.connect(database) as given:
        saver = OncePostgresSaver(given)
        in_threads(*(lambda: [put(saver, texts(1)) for _ in range(5)] for _ in range(4)))
        assert len(list(saver.list(ALL))) == 20


def test_a_statement_that_takes_too_long_is_given_up(
    database: str, watcher: psycopg.Connection[Any]
) -> None:
    found = psycopg.conninfo.conninfo_to_dict(database)
    options = f"{found.get('options', '')} -c statement_timeout=200ms"
    with open_postgres_saver(psycopg.conninfo.make_conninfo(database, options=options)) as saver:
        config = put(saver, texts(0))
        with watcher.transaction():
            watcher.execute("LOCK TABLE checkpoints")
            with pytest.raises(StorageError, match="raise the statement timeout"):
                saver.get_tuple(config)
        assert read(saver, config) == texts(0)


@pytest.mark.parametrize("is_pooler", [True, False])
def test_statements_are_prepared_at_their_first_use_but_behind_a_pooler(
    database: str, is_pooler: bool
) -> None:
    with open_postgres_saver(database, is_pooler=is_pooler, max_size=1) as saver:
        read(saver, put(saver, texts(0)))
        assert not isinstance(saver.conn, psycopg.Connection)
        with saver.conn.connection() as conn:
            prepared = conn.execute("SELECT count(*) FROM pg_prepared_statements").fetchall()
        assert (prepared[0][0] == 0) is is_pooler


def test_a_rollback_in_a_thread_with_writes_only_waits_for_those_who_store(
    savers: list[OncePostgresSaver], watcher: psycopg.Connection[Any]
) -> None:
    """What is swept is locked, also where the run stored no checkpoint."""
    config = put(savers[0], texts(0))
    of_run: Any = {"configurable": {**config["configurable"], "run_id": "run"}}
    savers[0].put_writes(of_run, [("texts", texts(1))], "task")
    asked: list[str] = []
    tables = savers[1].threads.tables
    program = threads.Threads(tables).delete_for_runs(["run"])

    savers[1].engine.run(noted(program, lambda each: asked.append(each.sql)), writes=True)
    lock = next(at for at, sql in enumerate(asked) if "pg_advisory_xact_lock(" in sql)
    assert lock < next(at for at, sql in enumerate(asked) if sql.startswith("DELETE"))
    assert read(savers[0], config) == texts(0)
