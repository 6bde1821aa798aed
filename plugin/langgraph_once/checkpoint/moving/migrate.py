"""Rewrites what is stored: for upstream's savers, or as the settings write now.

Each thread is one transaction under its lock, and rows that are as they should be are passed over:
whoever is killed goes on where he was. What cannot be rewritten leaves its thread as it is.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from langgraph_once.checkpoint.all_rows import STOCK_TAGS, Inline
from langgraph_once.checkpoint.database import Engine, Program, batches, run_all
from langgraph_once.checkpoint.metadata import resealed
from langgraph_once.checkpoint.moving.cells import (
    AT_ONCE,
    Progress,
    ReadCell,
    Trouble,
    all_threads,
    open_cells,
    why,
)
from langgraph_once.checkpoint.pieces.collect import Cell
from langgraph_once.checkpoint.pieces.manifest import CutValue
from langgraph_once.checkpoint.pieces.values import Values
from langgraph_once.checkpoint.pruning import sweep
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.stored import CellAt, CellTable, bound
from langgraph_once.checkpoint.threads import Threads
from langgraph_once.errors import ConfigError, EncodeError, SerdeError, StorageError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1.format.opaque import Opaque

__all__ = ["Migration", "Way", "entering", "leaving", "migrate", "reading"]

_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.02
_OPAQUE: Final = Opaque.__module__.encode()


class Way(NamedTuple):
    """From which form of rows to which."""

    source: Values
    target: Values
    is_leaving: bool
    """Whether upstream's serializer is to read them."""

    def checked(self, cell: Cell) -> Cell:
        """A cell, if it says all that was to be written."""
        if self.is_leaving and _OPAQUE in cell.data:
            raise EncodeError(
                "it holds an object whose class cannot be loaded here; run this where the graphs "
                "are, and `langgraph-once types` tells which"
            )
        return cell


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
    def __init__(self, trouble: Trouble) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


def reading(serde: OnceSerializer) -> OnceSerializer:
    """The same serializer, which reads what is not encrypted or not bound, too."""
    bind_rows = "on" if serde.config.bind_rows == "required" else serde.config.bind_rows
    return _with(serde, require_encryption=False, bind_rows=bind_rows)


def leaving(serde: OnceSerializer) -> Way:
    """The way to rows that upstream's `JsonPlusSerializer` reads.

    Args:
        serde: Reads what is stored.
    """
    target = _with(reading(serde), codec="msgpack", compression="none", encryption_keys={})
    return Way(Values(reading(serde)), Values(target, store_once=False), True)


def entering(serde: OnceSerializer, *, store_once: bool = True) -> Way:
    """The way to rows as a serializer writes them now: codec, keys, and pieces.

    Args:
        serde: Also reads what is stored.
        store_once: Whether long values are cut.

    Raises:
        ConfigError: It writes another codec than `once1`.
    """
    if serde.config.codec != "once1":
        raise ConfigError("ONCE_SERDE__CODEC", "must be 'once1' to rewrite rows in it")
    return Way(Values(reading(serde)), Values(serde, store_once=store_once), False)


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
    engine = saver.engine
    reader = Threads(saver.tables_with(way.source))
    writer = Threads(saver.tables_with(way.target))
    has_own = engine.run(reader.tables.has_own(), writes=False)
    for thread_id in all_threads(saver, reader, progress):
        thread = _Thread(thread_id, way, reader, writer, is_dry=is_dry, has_own=has_own)
        try:
            engine.run(thread.rewrite(), writes=not is_dry)
        except _StuckError as error:
            done.troubles.append(error.trouble)
        else:
            thread.add_to(done)
    if way.is_leaving and not is_dry:
        _end(engine, reader, done, keeps_tables=keeps_tables)
    return done


def _end(engine: Engine, reader: Threads, done: Migration, *, keeps_tables: bool) -> None:
    done.is_any_left = engine.run(reader.tables.is_any_ours(), writes=False)
    if not (done.is_any_left or keeps_tables):
        give_up = time.monotonic() + _PATIENCE_S
        while True:
            try:
                done.has_dropped = engine.run(reader.tables.drop_own(), writes=True)
                break
            except StorageError:  # a server has one of the tables
                if time.monotonic() > give_up:
                    raise
                time.sleep(_PAUSE_S)
        done.is_any_left = not done.has_dropped


class _Thread:
    """Rewrites a thread."""

    def __init__(
        self,
        thread_id: str,
        way: Way,
        reader: Threads,
        writer: Threads,
        *,
        is_dry: bool,
        has_own: bool,
    ) -> None:
        self._id = thread_id
        self._way = way
        self._reader = reader
        self._writer = writer
        self._is_dry = is_dry
        self._has_own = has_own
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
        tables = self._reader.tables
        if not self._is_dry:
            yield from run_all(tables.lock(self._id, alone=True))
        pieces = (yield from tables.piece_bytes(self._id)) if self._has_own else 0
        for table in tables.cell_tables:
            is_ours = table is tables.cell_tables[-1]
            if is_ours and (self._way.is_leaving or not self._has_own):
                continue
            at = yield from tables.cells_at(table, self._id)
            for some in batches([one for one in at if self._may_need(one)], AT_ONCE):
                yield from self._rewrite(table, some)
        yield from self._reseal_metadata()
        if self._way.is_leaving:
            self._rows += 0 if self._is_dry else (yield from tables.restore_metadata(self._id))
        else:
            yield from self._seal()
        if not self._rows:
            return
        self._before += pieces
        if not self._is_dry:
            yield from sweep(self._reader.tables, self._id)
            self._after += yield from tables.piece_bytes(self._id)

    def _may_need(self, at: CellAt) -> bool:
        return at.tag not in STOCK_TAGS if self._way.is_leaving else at.tag != "empty"

    def _rewrite(self, table: CellTable, some: list[CellAt]) -> Program[None]:
        news: dict[tuple[Any, ...], Cell] = {}
        cuts: list[CutValue] = []
        read = yield from open_cells(self._reader, table, self._id, some, locks=not self._is_dry)
        for one in read:
            try:
                new = _rewritten(one, self._way, cuts)
            except _ChannelError as error:
                id_ = yield from self._reader.tables.checkpoint_of(table, self._id, one.at)
                trouble = Trouble(self._id, one.at.key[0], id_, error.channel, why(error.reason))
                raise _StuckError(trouble) from error.reason
            if new is not None:
                news[one.at.key] = new
                self._count(one.cell, new)
        statement = self._reader.tables.replace(table, self._id, news)
        yield from self._store(cuts, [statement] if news else [])

    def _reseal_metadata(self) -> Program[None]:
        tables = self._reader.tables
        for places in batches((yield from tables.places(self._id)), AT_ONCE * AT_ONCE):
            news = {}
            rows = yield from tables.metadata(places, locks=not self._is_dry)
            for place, found in rows:
                try:
                    new = resealed(self._way.source, self._way.target, place, found)
                except SerdeError as error:
                    trouble = Trouble(*place, None, f"metadata: {why(error)}")
                    raise _StuckError(trouble) from error
                if new is not None:
                    news[place] = new
            self._rows += len(news)
            if news and not self._is_dry:
                yield tables.put_metadata(news)

    def _seal(self) -> Program[None]:
        """Encrypt what stands beside cells, and pieces, as now."""
        if self._way.target.encrypts:
            for inline in (yield from self._reader.tables.inline(self._id)):
                yield from self._take_out(inline)
        if self._has_own:
            yield from self._seal_pieces()

    def _take_out(self, inline: Inline) -> Program[None]:
        cuts: list[CutValue] = []
        values = inline.values
        cells = {}
        for name, version in inline.to_cells.items():
            at = bound("value", self._id, (inline.place.checkpoint_ns, version, name), name)
            cells[name] = self._way.target.cell(values[name], cuts, at)
        self._rows += 1
        yield from self._store(cuts, self._reader.tables.take_out(inline, cells))

    def _seal_pieces(self) -> Program[None]:
        """Those that keep their names under a new way to encrypt."""
        tables, values = self._reader.tables, self._way.target
        names = yield from tables.piece_names(self._id)
        for some in batches(names, AT_ONCE * AT_ONCE):
            news = {}
            rows = yield from tables.load_pieces(self._id, dict.fromkeys(some, 0))
            for digest, *sealed in rows:
                cell = Cell(*sealed)
                try:
                    if not values.is_sealed_as_now(cell):
                        news[bytes(digest)] = values.piece(self._way.source.piece_in(cell))
                except SerdeError:  # if something refers to it, its value could not be read either
                    continue
            self._rows += len(news)
            if news and not self._is_dry:
                yield tables.replace_pieces(self._id, news)

    def _store(self, cuts: list[CutValue], statements: Iterable[Any]) -> Program[None]:
        if self._is_dry:
            for cut in cuts:
                for name, data in cut.pieces.items():
                    self._dry_pieces[name] = len(self._way.target.piece(data).data)
        else:
            yield from self._writer.store(self._id, cuts, statements)

    def _count(self, old: Cell, new: Cell) -> None:
        self._rows += 1
        self._before += len(old.data)
        self._after += len(new.data)


class _ChannelError(Exception):
    def __init__(self, channel: str | None, reason: Exception) -> None:
        super().__init__(channel)
        self.channel = channel
        self.reason = reason


def _rewritten(read: ReadCell, way: Way, cuts: list[CutValue]) -> Cell | None:
    """The cell to be stored in place of one; None if that is as it should be."""
    channel = read.at.channel
    try:
        if way.is_leaving:
            opened = way.source.unpacked(read.cell, read.bound_to)
            if opened.tag in STOCK_TAGS:  # under layers of ours, or of upstream's
                return Cell(opened.tag, opened.data)
        else:
            is_checkpoint = read.table.holds == "checkpoint"
            if way.target.is_as_now(read.cell, read.bound_to, is_checkpoint=is_checkpoint):
                return None
        checkpoint, parts = read.parts()
        values: dict[Any, Any] = {}
        for channel, part in parts.items():
            values[channel] = read.decoded(part)
        if checkpoint is None:
            return way.checked(way.target.cell(values[channel], cuts, read.bound_to))
        channel = None
        try:
            return way.checked(way.target.channels(checkpoint, values, cuts, read.bound_to))
        except SerdeError:
            for name, value in values.items():
                channel = name  # if it is this one
                way.checked(way.target.cell(value, [], ()))
            channel = None
            raise
    except Exception as error:
        raise _ChannelError(channel, error) from error


def _with(serde: OnceSerializer, **changes: Any) -> OnceSerializer:
    return serde.with_config(replace(serde.config, **changes))
