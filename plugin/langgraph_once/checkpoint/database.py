"""Statements, programs that yield them, and engines that execute them. A program knows no engine.

A `Program` yields statements and is sent their rows. An engine runs it in one transaction, in
SQLite or in PostgreSQL. So each operation stands once. For event loops it works in threads that no
exit of the process waits for: `ThreadPoolExecutor` is joined when Python exits, so a database that
hangs would keep the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from langgraph_once.errors import StorageError

# SQLite before 3.32 takes 999 parameters in a statement.
_MANY: Final = 500

MOST_DROPS: Final = 3
"""How often a program makes the tables anew that `migrate` dropped: it may drop them again before
the program comes to them."""

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]


class EmptyDatabaseError(StorageError):
    """A database that may only be read has not even the tables of checkpoints."""

    def __init__(self, name: str) -> None:
        problem = (
            "it has no checkpoints: no saver has made its tables there; check its name, and that "
            "of its schema in PostgreSQL (ONCE_CHECKPOINT__SCHEMA)"
        )
        super().__init__(f"cannot read the checkpoint database {name!r}: {problem}", path=name)


class Insert(NamedTuple):
    """An insert as a value, so that several can be made one statement."""

    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    """Columns by which a row takes the place of the one that is there; without, that one stays."""
    json_columns: frozenset[str] = frozenset()
    """Those of the type JSONB."""

    @property
    def into(self) -> str:
        """How it begins."""
        return f"INSERT INTO {self.table} ({', '.join(self.columns)})"

    @property
    def marks(self) -> list[str]:
        """Where values go."""
        return [f"?{'::jsonb' * (name in self.json_columns)}" for name in self.columns]

    @property
    def then(self) -> str:
        """How it ends: what happens if there is such a row."""
        if not self.key:
            return "ON CONFLICT DO NOTHING"
        news = [f"{name} = excluded.{name}" for name in self.columns if name not in self.key]
        return f"ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET {', '.join(news)}"

    def of(self, rows: Sequence[Sequence[Any]]) -> Statement:
        """The statement that inserts rows."""
        return Statement(_insert_sql(self, 1), rows, is_many=True, has_rows=False, insert=self)

    def of_few(self, rows: Sequence[Sequence[Any]]) -> Statement:
        """The statement to be tried that inserts rows: for each number of them there is another."""
        values = [value for row in rows for value in row]
        return Statement(_insert_sql(self, len(rows)), values, has_rows=False, is_try=True)


class NewerSchemaError(Exception):
    """A newer version of this package made our tables."""


class Statement(NamedTuple):
    """A statement, for all of its rows."""

    sql: str
    values: Sequence[Any] = ()
    is_many: bool = False
    """Whether it is to be run for each of `values`; it gives no rows then."""
    has_rows: bool = True
    """Whether it gives rows. What gives none may be sent together with what follows."""
    is_try: bool = False
    """Whether it runs as a transaction of its own, if it can; then it gives rows if it was done.
    Only what comes first in a program can be tried."""
    insert: Insert | None = None
    """What it says, if it inserts `values`, which are rows then."""


@lru_cache(maxsize=128)
def _insert_sql(insert: Insert, count: int) -> str:
    row = f"({', '.join(insert.marks)})"
    return f"{insert.into} VALUES {', '.join([row] * count)} {insert.then}"


Program: TypeAlias = Generator[Statement, list[Row], T]
Execute: TypeAlias = Callable[[Statement], list[Row]]


class Engine(ABC):
    """Runs programs on a database, for threads and for event loops.

    A thread of this engine runs a program whole, so that a cancelled operation is done or not,
    never half. Who is cancelled does not wait for it; what comes next for the same thread of
    LangGraph's does.

    Args:
        name: How the database is named in errors.
        workers: How many programs of event loops may run at once.
    """

    def __init__(self, name: str, *, workers: int) -> None:
        self.name = name
        self._workers = Workers(workers, "once-checkpoint")
        # One that is dropped, and never closed, leaves no threads either.
        weakref.finalize(self, self._workers.stop).atexit = False
        self._left: dict[Future[Any], str | None] = {}

    @abstractmethod
    def run(self, program: Program[T], *, writes: bool) -> T:
        """Run a program in one transaction, which an error undoes.

        Raises:
            StorageError: The database cannot do it.
        """

    @abstractmethod
    def set_up(self) -> None:
        """Make what is missing in the database; every program does this first."""

    async def run_in_thread(
        self, function: Callable[..., T], *given: Any, thread_id: str | None = None
    ) -> T:
        """Call a function that runs programs in a thread of this engine, for an event loop.

        Cancelled while it runs, this ends at once, as a database may hang. The function goes on.
        What is called next, as to roll back a run that was cancelled, comes after it.

        Args:
            function: Runs programs.
            given: What it takes.
            thread_id: The thread that they are about; None if it may be any.

        Raises:
            StorageError: The engine was closed, or the process was forked since it was made.
        """
        left_calls = [*self._left.items()]  # other threads take out what ended
        before = [left for left, of in left_calls if of == thread_id or None in (of, thread_id)]
        try:
            self._workers.check()
            if before:
                await asyncio.wait([asyncio.wrap_future(left) for left in before])
            done = self._workers.submit(function, *given)
        except NoWorkersError as error:
            raise StorageError(
                f"cannot use the checkpoint database {self.name!r}: {error}", path=self.name
            ) from None
        try:
            return await asyncio.wrap_future(done)
        except asyncio.CancelledError:
            if not done.cancel():
                self._left[done] = thread_id
                done.add_done_callback(lambda left: self._left.pop(left, None))
            raise

    def close(self) -> None:
        """Let the threads end."""
        self._workers.stop()


def drive(program: Program[T], execute: Execute) -> T:
    """Execute the statements of a program until it returns."""
    return RunningProgram(program).resume(execute)


class RunningProgram(Generic[T]):
    """A program that can begin again, elsewhere or later, as long as nothing was answered.

    Attributes:
        is_answered: Whether something was.
        may_move: Whether the connection died before that.
    """

    def __init__(self, program: Program[T]) -> None:
        self._program = program
        self._unanswered: list[Statement] = []
        self._result: list[T] = []
        self.is_answered = False
        self.may_move = False

    def resume(self, execute: Execute) -> T:
        """Execute what was executed before, and what comes, until the program returns."""
        rows: list[Row] | None = None
        for statement in self._unanswered:
            rows = self._rows_of(statement, execute)
        while not self._result:
            try:
                statement = self._program.send(rows)  # type: ignore[arg-type]  # None begins it
            except StopIteration as end:
                self._result.append(end.value)
                break
            self._unanswered.append(statement)
            rows = self._rows_of(statement, execute)
            if self.is_answered:
                self._unanswered.clear()  # it may be much
        return self._result[0]

    def _rows_of(self, statement: Statement, execute: Execute) -> list[Row]:
        rows = execute(statement)
        self.is_answered = self.is_answered or statement.has_rows
        return rows


def run_all(statements: Iterable[Statement]) -> Program[None]:
    """All of these statements."""
    for statement in statements:  # noqa: UP028 - a list has no `send`
        yield statement


def batches(values: Iterable[T], at_once: int = _MANY) -> Iterator[list[T]]:
    """Some of the values, then as many more; as many as one statement takes, if left out."""
    rest = iter(values)
    while some := list(islice(rest, at_once)):
        yield some


class NoWorkersError(RuntimeError):
    """There are no threads, as the message says: they were stopped, or the process was forked."""


class Workers:
    """Daemon threads that call functions, first come, first served. Thread-safe.

    Args:
        most: How many threads there are at most; each is started when it is needed.
        name: Of the threads.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._pid = os.getpid()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._threads = self._idle = 0
        self._is_stopped = False

    def submit(self, function: Callable[..., T], *given: Any) -> Future[T]:
        """Call a function in a thread, in the context of the caller. Not in a forked process.

        Raises:
            NoWorkersError: They were stopped.
        """
        future: Future[T] = Future()
        with self._changed:
            if self._is_stopped:
                raise NoWorkersError("its saver was closed; open one anew")
            self._waiting.append((future, partial(copy_context().run, function, *given)))
            if len(self._waiting) > self._idle and self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
            else:
                self._changed.notify()
        return future

    def check(self) -> None:
        """Check that the threads are in this process.

        Raises:
            NoWorkersError: They are in the one that this one was forked from.
        """
        if os.getpid() != self._pid:
            raise NoWorkersError(
                "it was opened before the process was forked; open it in the new process"
            )

    def stop(self) -> None:
        """Let the threads end, once all that was submitted is done."""
        if os.getpid() == self._pid:
            with self._changed:
                self._is_stopped = True
                self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                while not self._waiting and not self._is_stopped:
                    self._changed.wait()
                self._idle -= 1
                if not self._waiting:
                    return
                future, call = self._waiting.popleft()
            _do(future, call)
            del future, call  # what they hold is not kept until something else comes


def _do(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


async def open_in_thread(open_: Callable[[], T], close: Callable[[T], object]) -> T:
    """Open something in a thread, for an event loop.

    A caller that is cancelled does not wait until the thread has opened it. The thread then closes
    what it opens.
    """
    opened: deque[T] = deque()
    is_left = threading.Event()

    def close_opened() -> None:
        with contextlib.suppress(IndexError):  # the other thread has done so
            close(opened.pop())

    def run() -> None:
        opened.append(open_())
        if is_left.is_set():
            close_opened()

    worker = Workers(1, "once-opening")
    try:
        await asyncio.wrap_future(worker.submit(run))
    except asyncio.CancelledError:
        is_left.set()
        if opened:
            await close_in_thread(close_opened)
        raise
    finally:
        worker.stop()
    return opened.pop()


async def close_in_thread(close: Callable[[], object]) -> None:
    """Close something in a thread, for an event loop.

    It is closed even if the caller is cancelled meanwhile: `asyncio.to_thread` would then drop a
    call that no thread has begun.
    """
    await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, close))
