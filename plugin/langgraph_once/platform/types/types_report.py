"""Which types the database and the graphs of a project hold, and how each stands."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

from langgraph_once.checkpoint.by_url import backend_of
from langgraph_once.checkpoint.database import EmptyDatabaseError
from langgraph_once.checkpoint.moving.cells import ReadCell, Source
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.errors import SerdeError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.startup import serializer_for
from langgraph_once.platform.types.graph_types import CodeTypes, types_of_code
from langgraph_once.serde.layers.tag import Codec, Tag
from langgraph_once.serde.rebuildable import RANKS, TypeStatus, TypeStatusChecker, Word
from langgraph_once.serde.trust.audit import is_yours, proposed
from langgraph_once.serde.types_in_rows import Mention, mentions_in
from langgraph_once.settings import Settings

_MAX_TYPES: Final = 10_000
"""Bounds the memory that a database takes which is made to name ever new types."""


_packages = cache(packages_distributions)


@dataclass(slots=True)
class TypeFinding:
    """One type."""

    name: str
    word: Word
    reason: str = ""
    to_list: dict[str, None] = field(default_factory=dict)
    in_code: bool = False
    values: int = 0
    """How many stored values hold it."""
    thread_id: str | None = None
    """Where it was met first."""
    channel: str = ""

    @property
    def owner(self) -> str | None:
        """Whose it is, as "of the package langmem"; None where that is not known."""
        top = self.name.partition(":")[0].partition(".")[0]
        if top in sys.stdlib_module_names:
            return "of the standard library"
        packages = sorted({*_packages().get(top, ())})
        if packages:
            return f"of {'the package' if len(packages) == 1 else 'one of'} {', '.join(packages)}"
        return "of this project" if top in sys.modules else None

    @property
    def needs_attention(self) -> bool:
        """Whether a new process cannot rebuild it under these settings."""
        return self.word in ("line", "lost")

    def take(self, standing: TypeStatus) -> None:
        """Take how it stands in another use of it; the worst counts, and what is surest of it."""
        is_surer = standing.word == self.word and len(standing.reason) < len(self.reason)
        if RANKS[standing.word] > RANKS[self.word] or is_surer:
            self.word, self.reason = standing.word, standing.reason
        if standing.to_list:
            self.to_list[standing.to_list] = None


@dataclass(slots=True)
class TypesReport:
    """What was found."""

    database: str
    exists: bool
    enforcement: str
    allowed_types: tuple[str, ...]
    problems: list[str]
    """Why graphs could not be asked."""
    findings: dict[str, TypeFinding] = field(default_factory=dict)
    values: int = 0
    """How many the database has."""
    unread: Counter[str] = field(default_factory=Counter)
    """How many values could not be looked into, by the reason."""
    dropped: int = 0

    def sorted(self) -> list[TypeFinding]:
        """Return what was found, what needs attention first."""
        return sorted(self.findings.values(), key=lambda each: (-RANKS[each.word], each.name))

    @property
    def attention(self) -> list[TypeFinding]:
        """What a new process cannot rebuild."""
        return [each for each in self.sorted() if each.needs_attention]

    @property
    def proposal(self) -> list[str]:
        """What `allowed_types` should hold; empty if it need not change."""
        met = [name for each in self.attention if each.word == "line" for name in each.to_list]
        if not any(is_yours(name) for name in met):
            return []
        return proposed(met, self.allowed_types)


def report_types(
    settings: Settings, manifest: Manifest, *, config: Path, read_database: bool = True
) -> TypesReport:
    """Return which types the database and the graphs of a project hold.

    Nothing is written, and nothing of a row is built; the graphs are imported.

    Args:
        settings: The settings in force.
        manifest: The `langgraph.json`.
        config: Its path.
        read_database: Or only ask the graphs.

    Raises:
        ConfigError: The settings are wrong.
        StorageError: The database cannot be read.
    """
    serializer = serializer_for(settings, file=config, manifest=manifest)
    serde = serializer.config
    code = types_of_code(manifest)
    backend = backend_of(settings.database)
    name = settings.database.removeprefix("sqlite:///")
    report = TypesReport(
        database=name if backend.file else backend.kind,
        exists=backend.is_there,
        enforcement=serde.enforcement,
        allowed_types=serde.allowed_types,
        problems=code.problems,
    )
    standings = TypeStatusChecker(serde, code.listed)
    _add_code(report, code, standings)
    if read_database and report.exists:
        with backend.open_to_read(config=settings.checkpoint, serde=serializer) as saver:
            try:
                _DatabaseTypes(report, standings).read(saver)
            except EmptyDatabaseError:
                report.exists = False
    return report


def _add_code(report: TypesReport, code: CodeTypes, standings: TypeStatusChecker) -> None:
    for module, *_, name in sorted(code.listed | code.by_file):
        standing = standings.of_class(module, name)
        _finding(report, standing).in_code = True


def _finding(report: TypesReport, standing: TypeStatus) -> TypeFinding:
    found = report.findings.get(standing.name)
    if found is None:
        found = report.findings[standing.name] = TypeFinding(standing.name, "always")
    found.take(standing)
    return found


class _DatabaseTypes:
    """Adds to a report what the rows of a database name."""

    def __init__(self, report: TypesReport, standings: TypeStatusChecker) -> None:
        self._report = report
        self._standings = standings
        self._known: dict[Mention, TypeStatus] = {}

    def read(self, saver: OnceSaver) -> None:
        """Read all of it.

        Raises:
            StorageError: It cannot be read.
        """
        source = Source(saver)
        for thread_id in source.thread_ids():
            for cell in source.cells(thread_id):
                self._report.values += 1
                self._read(thread_id, cell)

    def _read(self, thread_id: str, cell: ReadCell) -> None:
        met: set[str] = set()
        try:
            for channel, tag, data in cell.encoded():
                codec = Tag.parse(tag).codec
                if codec == "pickle":
                    self._report.unread["pickle, which is refused"] += 1
                    continue
                self._take(thread_id, channel, codec, data, met)
        except SerdeError as error:
            self._report.unread[type(error).__name__] += 1
        except (ValueError, TypeError):
            self._report.unread["damaged"] += 1

    def _take(
        self, thread_id: str, channel: str | None, codec: Codec, data: bytes, met: set[str]
    ) -> None:
        for mention, inner in mentions_in(codec, data).items():
            standing = self._standing(mention)
            if standing is None:
                continue
            finding = _finding(self._report, standing)
            finding.values += standing.name not in met
            met.add(standing.name)
            if finding.thread_id is None:
                finding.thread_id, finding.channel = thread_id, channel or inner

    def _standing(self, mention: Mention) -> TypeStatus | None:
        standing = self._known.get(mention)
        if standing is None:
            if len(self._known) >= _MAX_TYPES:
                self._report.dropped += 1
                return None
            standing = self._known[mention] = self._standings.of(mention)
        return standing
