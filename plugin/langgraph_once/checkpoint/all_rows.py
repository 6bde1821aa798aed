"""All rows of a thread: what is asked of a database to check, copy or rewrite them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from langgraph_once.checkpoint.database import Program, Statement, batches
from langgraph_once.checkpoint.pieces import Cell
from langgraph_once.checkpoint.stored import CellAt, CellBatch, CellTable, CheckpointRef
from langgraph_once.checkpoint.values import Values
from langgraph_once.serde import BoundTo

STOCK_TAGS = frozenset({"null", "bytes", "bytearray", "msgpack", "json", "pickle", "empty"})
"""Of rows that upstream's serializer reads; "empty" is no value at all."""
OWN: Final = (
    ("once_pieces", "digest, type, data"),
    ("once_stream_states", "checkpoint_ns, checkpoint_id, type, data"),
)
"""Our tables, and their columns besides the thread."""
WRITE_KEY: Final = ("checkpoint_ns", "checkpoint_id", "task_id", "idx")
"""What names a write in its thread."""
WRITE_COLUMNS: Final = "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type"
"""Those of a write besides the thread and the value."""
LEDGERS: Final = CellTable(
    "ledger", "once_stream_states", ("checkpoint_ns", "checkpoint_id"), "data"
)
MOST_METADATA: Final = 200
"""Of how many checkpoints metadata are read at once."""


class Inline(NamedTuple):
    """A checkpoint with values beside the cells."""

    place: CheckpointRef
    values: dict[str, Any]
    """All of them."""
    to_cells: dict[str, str]
    """Versions of those that have no cell, by channel."""
    marks: set[str]
    """Those that are no values: they say that there is a snapshot."""


def at_places(places: Sequence[CheckpointRef]) -> tuple[str, list[Any]]:
    """An SQL condition, with its parameters, that a row belongs to one of these checkpoints."""
    here = ", ".join(["(?, ?, ?)"] * len(places))
    # SQLite 3.40 scans the whole table for `IN (VALUES …)` with several rows; it seeks those of a
    # subquery in the index (`EXPLAIN QUERY PLAN`; `test_query_plans` holds all statements to it).
    condition = (
        f"(thread_id, checkpoint_ns, checkpoint_id) IN (SELECT * FROM (VALUES {here}) AS places)"
    )
    return condition, [part for place in places for part in place]


class AllRows(ABC):
    """Statements on upstream's tables and on ours.

    Args:
        values: Reads and writes cells.
    """

    writes_table: ClassVar[str]
    """Of upstream's; its rows have a `value_column`."""
    value_column: ClassVar[str]
    metadata_columns: ClassVar[tuple[str, str]]
    """Expressions: metadata as they are read, and where they are written."""
    is_sealed: ClassVar[str]
    """An expression: whether something of the metadata is encrypted."""
    columns: ClassVar[tuple[tuple[str, str], ...]]
    """Upstream's tables, checkpoints first, and what a copy takes over of the others as it is."""

    cell_tables: tuple[CellTable, ...]
    """Where cells are, but for those of pieces. The last is ours."""
    own: tuple[tuple[str, str], ...] = OWN
    """Our tables, and their columns besides the thread."""
    path_column: str = "task_path"
    """An expression: where in its step a task is that wrote something."""
    bytes_of: ClassVar[str]
    """A function: how many bytes a column of a row takes, told without reading it."""
    scan: ClassVar[str] = ""
    """What stands behind the name of a table of which all rows are looked at."""
    table_names: ClassVar[Statement]
    """Which tables there are, of savers and of stores, that may be read."""
    recent: ClassVar[str] = "true"
    """A condition: which checkpoints are looked at to find the newest."""
    row_lock: ClassVar[str] = ""
    """What keeps others from changing rows that were read, until the end."""

    def __init__(self, values: Values) -> None:
        self.values = values

    @staticmethod
    @abstractmethod
    def disk_bytes(names: Iterable[str]) -> Program[tuple[int, int]]:
        """What some tables take on the disk, indexes too, and what of it is known to be free."""

    @staticmethod
    def rights() -> Program[list[str]]:
        """What this role may do to checkpoints besides reading, where there are roles."""
        yield from ()
        return []

    @staticmethod
    def stored_bytes(length: int) -> int:
        """What bytes of some length take in a row."""
        return length

    def leave_out_missing(self) -> Program[None]:
        """Ask for upstream's tables alone, if ours are not there."""
        if self.own and not (yield from self.has_own()):
            self.own, self.cell_tables = (), self.cell_tables[:-1]

    @abstractmethod
    def has_own(self) -> Program[bool]:
        """Whether our tables are there."""

    @abstractmethod
    def drop_own(self) -> Program[bool]:
        """Drop our tables, indexes and columns. Returns whether; not if a row of ours is left."""

    @abstractmethod
    def read_metadata(self, column: Any) -> dict[str, Any]:
        """What the column of metadata says."""

    @abstractmethod
    def metadata_text(self, metadata: Mapping[str, Any]) -> Any:
        """What the column of metadata holds."""

    def metadata(
        self, places: Sequence[CheckpointRef], *, locks: bool = False
    ) -> Program[list[tuple[CheckpointRef, dict[str, Any]]]]:
        """What rows have as metadata; if it `locks`, nobody may change them until the end."""
        here, values = at_places(places)
        rows = yield Statement(
            f"SELECT thread_id, checkpoint_ns, checkpoint_id, {self.metadata_columns[0]} FROM "
            f"checkpoints WHERE {here}{self.row_lock if locks else ''}",
            values,
        )
        return [(CheckpointRef(*row[:3]), self.read_metadata(row[3])) for row in rows]

    def put_metadata(self, news: Mapping[CheckpointRef, Mapping[str, Any]]) -> Statement:
        """Put metadata in the place of others."""
        return Statement(
            f"UPDATE checkpoints SET metadata = {self.metadata_columns[1]} "
            "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            [(self.metadata_text(metadata), *place) for place, metadata in news.items()],
            True,
            False,
        )

    def change_metadata(
        self,
        thread_id: str,
        change: Callable[[CheckpointRef, dict[str, Any]], Mapping[str, Any] | None],
        *,
        is_dry: bool = False,
    ) -> Program[int]:
        """Put others in the place of metadata, but where `change` gives None. Returns of how many.

        If it `is_dry`, nothing is locked or written.
        """
        count = 0
        for places in batches((yield from self.places(thread_id)), MOST_METADATA):
            rows = yield from self.metadata(places, locks=not is_dry)
            news = {
                place: new for place, known in rows if (new := change(place, known)) is not None
            }
            count += len(news)
            if news and not is_dry:
                yield self.put_metadata(news)
        return count

    def places(self, thread_id: str) -> Program[list[CheckpointRef]]:
        """Where the checkpoints of a thread are."""
        found = yield from self.ids(thread_id)
        return [CheckpointRef(thread_id, ns, id_) for ns, ids in found.items() for id_ in ids]

    def restore_metadata(self, thread_id: str) -> Program[int]:
        """Put metadata where upstream has them. Returns of how many checkpoints."""
        yield from ()
        return 0

    def inline(self, thread_id: str) -> Program[list[Inline]]:
        """Checkpoints with values beside the cells, which nothing encrypts."""
        yield from ()
        return []

    def take_out(self, found: Inline, cells: Mapping[str, Cell]) -> Iterable[Statement]:
        """Make values beside the cells cells."""
        raise NotImplementedError

    def thread_ids(self) -> Program[list[str]]:
        """All threads that have something."""
        names = [*dict(self.columns)]
        if (yield from self.has_own()):
            names += dict(OWN)
        rows = yield Statement(" UNION ".join(f"SELECT thread_id FROM {name}" for name in names))
        return sorted(row[0] for row in rows)

    def cell_batches(
        self, thread_id: str, size: int, without: Container[str], *, ledgers: bool = True
    ) -> Program[list[CellBatch]]:
        """Where a thread has cells; those with some tags are left out."""
        found = []
        for table in self.cell_tables:
            if table.holds == "ledger" and not ledgers:
                continue
            columns = ", ".join(table.key)
            rows = yield Statement(
                f"SELECT type, {table.channel}, {columns} FROM {table.name} WHERE thread_id = ? "
                f"ORDER BY {columns}",
                [thread_id],
            )
            at = (CellAt(tag, name, tuple(key)) for tag, name, *key in rows if tag not in without)
            found += [CellBatch(table, some) for some in batches(at, size)]
        return found

    def manifest_cells(self, thread_id: str) -> Program[list[tuple[Cell, BoundTo]]]:
        """What of a thread may refer to pieces, and what it is bound to."""
        found: list[tuple[Cell, BoundTo]] = []
        for table in self.cell_tables:
            rows = yield Statement(
                f"SELECT type, {table.data}, {table.channel}, {', '.join(table.key)} FROM "
                f"{table.name} WHERE thread_id = ? AND (substr(type, 1, 6) = 'pieces' "
                "OR substr(type, 1, 8) = 'channels')",
                [thread_id],
            )
            for tag, data, channel, *key in rows:
                at = CellAt(tag, channel, tuple(key))
                found.append((Cell(tag, data), table.bound_to(thread_id, at)))
        return found

    def cells(
        self, table: CellTable, thread_id: str, at: Sequence[CellAt], *, locks: bool = False
    ) -> Program[dict[tuple[Any, ...], Cell]]:
        """Some cells by their keys; if it `locks`, nobody may change them until the end."""
        here = " AND ".join(f"{name} = ?" for name in ("thread_id", *table.key))
        rows = yield Statement(
            f"SELECT type, {table.data}, {', '.join(table.key)} FROM {table.name} "
            f"WHERE {' OR '.join([f'({here})'] * len(at))}{self.row_lock if locks else ''}",
            [part for each in at for part in (thread_id, *each.key)],
        )
        return {tuple(key): Cell(tag, data) for tag, data, *key in rows}

    def replace(
        self, table: CellTable, thread_id: str, news: Mapping[tuple[Any, ...], Cell]
    ) -> Statement:
        """Put cells in the place of others."""
        here = " AND ".join(f"{name} = ?" for name in ("thread_id", *table.key))
        sql = f"UPDATE {table.name} SET type = ?, {table.data} = ? WHERE {here}"
        return Statement(sql, [(*cell, thread_id, *key) for key, cell in news.items()], True, False)

    def checkpoint_of(
        self,
        table: CellTable,
        thread_id: str,
        at: CellAt,
    ) -> Program[str | None]:
        """The first checkpoint that has a cell."""
        yield from ()
        return str(at.key[1])

    def runs(self, thread_id: str) -> Program[dict[tuple[Any, ...], str]]:
        """What made checkpoints and writes, by their keys, where no metadata say it."""
        found: dict[tuple[Any, ...], str] = {}
        for table, key in (
            ("checkpoints", "checkpoint_ns, checkpoint_id"),
            (self.writes_table, ", ".join(WRITE_KEY)),
        ):
            rows = yield Statement(
                f"SELECT once_run_id, {key} FROM {table} "
                "WHERE thread_id = ? AND once_run_id IS NOT NULL",
                [thread_id],
            )
            found.update({tuple(at): run_id for run_id, *at in rows})
        return found

    def newest_by_thread(self) -> Program[list[tuple[str, int, str]]]:
        """Each thread that has checkpoints: how many, and the greatest id."""
        rows = yield Statement(
            "SELECT thread_id, count(*), max(checkpoint_id) FROM checkpoints GROUP BY thread_id "
            "ORDER BY thread_id"
        )
        # SQLite takes anything for text.
        return [(name, count, id_) for name, count, id_ in rows if {type(name), type(id_)} == {str}]

    def newest_of_others(self, after: str) -> Program[str | None]:
        """The newest checkpoint that no saver of ours stored, if its id is greater."""
        is_of_others = "once_run_id IS NULL" if (yield from self.has_own()) else "true"
        rows = yield Statement(
            f"SELECT max(checkpoint_id) FROM checkpoints WHERE {is_of_others} AND {self.recent} "
            "AND checkpoint_id > ?",
            [after],
        )
        newest: str | None = rows[0][0]
        return newest

    def is_any_ours(self) -> Program[bool]:
        """Whether a row of upstream's tables is one that only we read."""
        tags = ", ".join(f"'{tag}'" for tag in sorted(STOCK_TAGS))
        for table in self.cell_tables[:-1]:
            sql = f"SELECT 1 FROM {table.name} WHERE type NOT IN ({tags}) LIMIT 1"
            if (yield Statement(sql)):
                return True
        return bool((yield Statement(f"SELECT 1 FROM checkpoints WHERE {self.is_sealed} LIMIT 1")))

    def piece_bytes(self, thread_id: str) -> Program[int]:
        """How much room the pieces of a thread take."""
        sql = "SELECT COALESCE(SUM(LENGTH(data)), 0) FROM once_pieces WHERE thread_id = ?"
        rows = yield Statement(sql, [thread_id])
        return int(rows[0][0])

    def piece_names(self, thread_id: str) -> Program[list[bytes]]:
        """The digests of all pieces of a thread."""
        rows = yield Statement("SELECT digest FROM once_pieces WHERE thread_id = ?", [thread_id])
        return [bytes(row[0]) for row in rows]

    def replace_pieces(self, thread_id: str, news: Mapping[bytes, Cell]) -> Statement:
        """Put cells in the place of those that pieces have."""
        sql = "UPDATE once_pieces SET type = ?, data = ? WHERE thread_id = ? AND digest = ?"
        return Statement(
            sql, [(*cell, thread_id, name) for name, cell in news.items()], True, False
        )

    def ids(self, thread_id: str) -> Program[dict[str, list[str]]]:
        """The checkpoints of a thread by namespace, newest first."""
        rows = yield Statement(
            "SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = ? "
            "ORDER BY checkpoint_ns, checkpoint_id DESC",
            [thread_id],
        )
        found: dict[str, list[str]] = {}
        for checkpoint_ns, checkpoint_id in rows:
            found.setdefault(checkpoint_ns, []).append(checkpoint_id)
        return found
