"""Rewrites what is stored: for upstream's savers, or as the settings write now.

Each thread is one transaction under its lock, and rows that are as they should be are passed over:
whoever is killed goes on where he was. What cannot be rewritten leaves its thread as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from langgraph_once.checkpoint.all_rows import STOCK_TAGS
from langgraph_once.checkpoint.copying import (
    AT_ONCE,
    DecodedCell,
    Progress,
    ReadCell,
    Source,
    Trouble,
    why,
)
from langgraph_once.checkpoint.database import Program, Statement, batches, run_all
from langgraph_once.checkpoint.metadata import SEALED, resealed
from langgraph_once.checkpoint.pieces import Cell, CutValue
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.stored import CellBatch, CheckpointRef, bound
from langgraph_once.checkpoint.threads import Threads, sweep
from langgraph_once.checkpoint.values import Values
from langgraph_once.errors import ConfigError, EncodeError, SerdeError, StorageError, printable
from langgraph_once.serde import PLAIN_TAGS, STAND_INS, Mention, OnceSerializer

# A server that still has one of our tables in use holds it for a statement, rarely for more.
_PATIENCE_S: Final = 30.0
# A statement takes milliseconds: the next try comes soon after its end.
_PAUSE_S: Final = 0.02


class Way(ABC):
    """From the rows that a serializer reads to those of another form.

    Args:
        serde: Reads what is stored; what is not encrypted or not bound, too.
        target: Writes.
    """

    passed: Container[str] = frozenset({"empty"})
    """The tags of rows that are as they should be, whatever is in them."""
    is_leaving = False
    """Whether our tables are to go."""

    def __init__(self, serde: OnceSerializer, target: Values) -> None:
        self.source, self.target = Values(reading(serde)), target
        self.takes_in = target.encrypts
        """Whether values beside cells are made cells."""

    @abstractmethod
    def rewritten(self, read: ReadCell, cuts: list[CutValue]) -> Cell | None:
        """The cell to be stored in place of one; None if that is as it should be."""

    def metadata(self, place: CheckpointRef, found: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The metadata to be stored in place of others; None if they are as they should be."""
        return resealed(self.source, self.target, place, found)

    def check(self, value: Any) -> None:  # noqa: B027  # of most ways, all can
        """Check that a value can be written.

        Raises:
            EncodeError: It cannot.
        """

    def encoded(self, read: ReadCell, decoded: DecodedCell, cuts: list[CutValue]) -> Cell:
        """What a cell says, written anew."""
        for value in decoded.values.values():
            self.check(value)
        if decoded.checkpoint is None:
            return self.target.cell(decoded.values[read.at.channel], cuts, read.bound_to)
        return self.target.channels(decoded.checkpoint, decoded.values, cuts, read.bound_to)

    def recoded(self, read: ReadCell, cuts: list[CutValue]) -> Cell:
        """A cell whose bytes of codecs stay as they are."""
        opened = self.source.unpacked(read.cell, read.bound_to)
        return self.target.recoded(opened, read.assembly.joined, cuts, read.bound_to)

    def culprit(self, read: ReadCell, error: Exception) -> tuple[str | None, Exception]:
        """The channel for which a cell cannot be rewritten, and why."""
        _, values, broken = read.decoded()
        for broken_one in broken.items():
            return broken_one
        for channel, value in values.items():
            try:
                self.check(value)
                self.target.cell(value, [], read.bound_to)
            except Exception as reason:
                return channel, reason
        return read.at.channel, error


class Leaving(Way):
    """The way to rows that upstream's `JsonPlusSerializer` reads.

    Args:
        serde: Reads what is stored.
    """

    passed = STOCK_TAGS
    is_leaving = True

    def __init__(self, serde: OnceSerializer) -> None:
        super().__init__(serde, Values(as_upstream(serde), store_once=False))

    def rewritten(self, read: ReadCell, cuts: list[CutValue]) -> Cell | None:
        """What is upstream's, under layers, without these; all else as upstream writes it."""
        opened = self.source.unpacked(read.cell, read.bound_to)
        if opened.tag in STOCK_TAGS:
            return Cell(opened.tag, opened.data)
        return self.encoded(read, _sound(read), cuts)

    def check(self, value: Any) -> None:
        """Check that all of its classes are here."""
        _check_loaded(value)


class Entering(Way):
    """The way to rows as a serializer writes them now: codec, keys, and pieces.

    Args:
        serde: Also reads what is stored.
        store_once: Whether long values are cut.

    Raises:
        ConfigError: It writes as LangGraph's does.
    """

    def __init__(self, serde: OnceSerializer, *, store_once: bool = True) -> None:
        if serde.config.compatible:
            raise ConfigError("ONCE_SERDE__COMPATIBLE", "must be false to rewrite rows in our form")
        super().__init__(serde, Values(serde, store_once=store_once))
        self._upstream = as_upstream(serde)

    def rewritten(self, read: ReadCell, cuts: list[CutValue]) -> Cell | None:
        """A row of LangGraph's that is not read as it was written keeps its bytes."""
        is_checkpoint = read.table.holds == "checkpoint"
        if self.target.is_as_now(read.cell, read.bound_to, is_checkpoint=is_checkpoint):
            return None
        decoded = _sound(read)
        if not read.misread(self._upstream):
            return self.encoded(read, decoded, cuts)
        return None if self.target.is_sealed_as_now(read.cell) else self.recoded(read, cuts)


class Rotating(Way):
    """The way from rows under older keys to rows under the newest one. Plain rows stay plain.

    An object whose class is not here is written back as it was read.

    Args:
        serde: Also reads what is stored.
        store_once: Whether long values are cut.
    """

    passed = PLAIN_TAGS | {"empty"}

    def __init__(self, serde: OnceSerializer, *, store_once: bool = True) -> None:
        serde = _with(serde, on_unavailable="opaque")
        super().__init__(serde, Values(serde, store_once=store_once))
        self.takes_in = False

    def rewritten(self, read: ReadCell, cuts: list[CutValue]) -> Cell | None:
        """Only the key is another."""
        return None if self.target.is_sealed_as_now(read.cell) else self.recoded(read, cuts)

    def metadata(self, place: CheckpointRef, found: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Those that are encrypted."""
        return super().metadata(place, found) if SEALED in found else None


def _sound(read: ReadCell) -> DecodedCell:
    """What a cell says.

    Raises:
        Exception: The first reason why something of it cannot be decoded.
    """
    decoded = read.decoded()
    for error in decoded.broken.values():
        raise error
    return decoded


def _check_loaded(value: Any) -> None:
    """Check that the class of each object is here, or that its bytes are LangGraph's own.

    Raises:
        EncodeError: Nobody can tell what LangGraph's serializer would write for one of them.
    """
    seen: dict[int, Any] = {}
    todo = [value]
    while todo:
        part = todo.pop()
        if type(part) in STAND_INS:
            _check_bytes(part)
            continue
        if id(part) in seen or isinstance(part, str | bytes | int | float | type | None):
            continue
        seen[id(part)] = part
        if isinstance(part, Mapping):
            todo += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set | frozenset | deque):
            todo += part
        todo += _attributes(part)
        todo += [getattr(part, name, None) for name in getattr(part, "__slots__", ())]


def _attributes(part: Any) -> list[Any]:
    """Return what an object holds by name: neither by its own code, nor what SQLAlchemy knows."""
    try:
        attributes = object.__getattribute__(part, "__dict__")
    except AttributeError:
        return []
    return [value for name, value in attributes.items() if name != "_sa_instance_state"]


def _check_bytes(stand_in: Any) -> None:
    mention = Mention.of_stand_in(stand_in)
    if mention is None or mention.codec != "msgpack":
        raise EncodeError(
            f"the class of {printable(stand_in.type_name)} cannot be loaded here; run this where "
            "the graphs are, and `langgraph-once types` tells which"
        )


@dataclass
class Migration:
    """What became of a database."""

    threads: int = 0
    """Of which something was rewritten."""
    rows: int = 0
    bytes_before: int = 0
    """Of the rows that were rewritten, with the pieces of their threads."""
    bytes_after: int = 0
    troubles: list[Trouble] = field(default_factory=list)
    """Why threads were left as they are."""
    is_any_left: bool = False
    """Whether a row is left that upstream's savers do not read."""
    has_dropped: bool = False
    """Whether our tables were dropped."""


class _StuckError(Exception):
    """Its argument says why a thread is left as it is."""


def reading(serde: OnceSerializer) -> OnceSerializer:
    """The same serializer, which reads what is not encrypted or not bound, too."""
    return _with(serde, encryption="auto")


def as_upstream(serde: OnceSerializer) -> OnceSerializer:
    """The same serializer, which writes as LangGraph's does."""
    return _with(reading(serde), compatible=True, encryption_keys={})


def migrate(
    saver: OnceSaver,
    way: Way,
    *,
    is_dry: bool = False,
    keeps_tables: bool = False,
    progress: Progress | None = None,
) -> Migration:
    """Rewrite all threads of a database. Servers may be using it.

    Args:
        saver: The database.
        way: What is rewritten, and how.
        is_dry: Whether nothing is written.
        keeps_tables: Whether our tables stay, once nothing refers to them.
        progress: Is told how far it is.

    Raises:
        StorageError: The database cannot do it; what was done stays.
    """
    done = Migration()
    source = Source(saver, way.source)
    writer = Threads(saver.tables_with(way.target))
    for thread_id in source.each_thread(progress):
        thread = _ThreadRewriter(thread_id, way, source, writer, is_dry=is_dry)
        try:
            saver.engine.run(thread.rewrite(), writes=not is_dry)
        except _StuckError as error:
            done.troubles.append(*error.args)
        else:
            thread.add_to(done)
    if way.is_leaving and not is_dry:
        done.is_any_left = source.run(source.tables.is_any_ours())
        if not (done.is_any_left or keeps_tables):
            done.has_dropped = _drop_own_tables(saver, source)
            done.is_any_left = not done.has_dropped
    return done


def _drop_own_tables(saver: OnceSaver, source: Source) -> bool:
    """Drop our tables, once no server has one of them in use; return whether they were dropped."""
    patient = Retrying(
        retry=retry_if_exception_type(StorageError),
        stop=stop_after_delay(_PATIENCE_S),
        wait=wait_fixed(_PAUSE_S),
        reraise=True,
    )
    return patient(lambda: saver.engine.run(source.tables.drop_own(), writes=True))


class _ThreadRewriter:
    """Rewrites a thread."""

    def __init__(
        self, thread_id: str, way: Way, source: Source, writer: Threads, *, is_dry: bool
    ) -> None:
        self._id = thread_id
        self._way = way
        self._source = source
        self._tables = source.tables
        self._writer = writer
        self._is_dry = is_dry
        self._rows = self._before = self._after = 0
        self._dry_pieces: dict[bytes, int] = {}

    def add_to(self, done: Migration) -> None:
        """Count it."""
        done.threads += bool(self._rows)
        done.rows += self._rows
        done.bytes_before += self._before
        done.bytes_after += self._after + sum(self._dry_pieces.values())

    def rewrite(self) -> Program[None]:
        """Rewrite all that is not as it should be."""
        tables, is_leaving = self._tables, self._way.is_leaving
        if not self._is_dry:
            yield from run_all(tables.lock(self._id, alone=True))
        pieces = (yield from tables.piece_bytes(self._id)) if self._source.has_own else 0
        found = self._source.batches(self._id, ledgers=not is_leaving, without=self._way.passed)
        for batch in (yield from found):
            yield from self._rewrite(batch)
        self._rows += yield from tables.change_metadata(
            self._id, self._resealed, is_dry=self._is_dry
        )
        if is_leaving:
            self._rows += 0 if self._is_dry else (yield from tables.restore_metadata(self._id))
        else:
            yield from self._seal()
        if not self._rows:
            return
        self._before += pieces
        if not self._is_dry:
            yield from sweep(tables, self._id)
            self._after += yield from tables.piece_bytes(self._id)

    def _rewrite(self, batch: CellBatch) -> Program[None]:
        news: dict[tuple[Any, ...], Cell] = {}
        cuts: list[CutValue] = []
        for read in (yield from self._source.open(self._id, batch, locks=not self._is_dry)):
            try:
                new = self._way.rewritten(read, cuts)
            except Exception as error:
                channel, reason = self._way.culprit(read, error)
                trouble = yield from self._source.trouble(self._id, read, channel, reason)
                raise _StuckError(trouble) from reason
            if new is not None:
                news[read.at.key] = new
                self._rows += 1
                self._before += len(read.cell.data)
                self._after += len(new.data)
        statement = self._tables.replace(batch.table, self._id, news)
        yield from self._store(cuts, [statement] if news else [])

    def _resealed(self, place: CheckpointRef, found: Mapping[str, Any]) -> Mapping[str, Any] | None:
        try:
            return self._way.metadata(place, found)
        except SerdeError as error:
            trouble = Trouble(*place, None, f"metadata: {why(error)}")
            raise _StuckError(trouble) from error

    def _seal(self) -> Program[None]:
        """Encrypt what stands beside cells, and pieces, as now."""
        target = self._way.target
        for inline in (yield from self._tables.inline(self._id)) if self._way.takes_in else ():
            cuts: list[CutValue] = []
            cells = {}
            for name, version in inline.to_cells.items():
                at = bound("value", self._id, (inline.place.checkpoint_ns, version, name), name)
                cells[name] = target.cell(inline.values[name], cuts, at)
            self._rows += 1
            yield from self._store(cuts, self._tables.take_out(inline, cells))
        if self._source.has_own:
            yield from self._seal_pieces()

    def _seal_pieces(self) -> Program[None]:
        """Those that keep their names under a new way to encrypt."""
        tables, values = self._tables, self._way.target
        names = yield from tables.piece_names(self._id)
        for some in batches(names, AT_ONCE * AT_ONCE):
            news = {}
            rows = yield from tables.load_pieces(self._id, dict.fromkeys(some, 0))
            for digest, *sealed in rows:
                cell = Cell(*sealed)
                try:
                    if cell.tag not in self._way.passed and not values.is_sealed_as_now(cell):
                        news[bytes(digest)] = values.piece(self._way.source.piece_in(cell))
                except SerdeError:  # if something refers to it, its value could not be read either
                    continue
            self._rows += len(news)
            if news and not self._is_dry:
                yield tables.replace_pieces(self._id, news)

    def _store(self, cuts: list[CutValue], statements: Iterable[Statement]) -> Program[None]:
        if self._is_dry:
            for cut in cuts:
                for name, data in cut.pieces.items():
                    self._dry_pieces[name] = len(self._way.target.piece(data).data)
        else:
            yield from self._writer.store(self._id, cuts, [*statements])


def _with(serde: OnceSerializer, **changes: Any) -> OnceSerializer:
    return serde.with_config(replace(serde.config, **changes))
