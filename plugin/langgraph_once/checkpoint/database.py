"""Statements, programs that yield them, and engines that execute them. A program knows no engine.

A `Program` yields statements and is sent their rows. An engine runs it in one transaction, in
SQLite or in PostgreSQL. So each operation stands once.
"""

from __future__ import annotations

import asyncio
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from langgraph_once.checkpoint.workers import NoWorkersError, Workers
from langgraph_once.errors import StorageError

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
                statement = next(self._program) if rows is None else self._program.send(rows)
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
