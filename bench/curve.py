"""What a thread takes on disk while it grows, as a drawing: `docs/img/storage.svg`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

DRAWING: Final = Path(__file__).parents[1] / "docs" / "img" / "storage.svg"
# Of the table whose rows begin with whole KB: others tell of the same threads.
_ROW: Final = re.compile(r"\| (SQLite|PostgreSQL) \| ([\d,]+) \|((?: [\d,]+ \|){3}.*)")
_LEAST_KB: Final = 20
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 290, 230, 62, 34, 150
_STYLE: Final = """
text { font: 12px sans-serif; fill: #24292f } .grid { stroke: #8c959f55 }
polyline { fill: none; stroke-width: 2.5 }
.upstream { stroke: #cf222e } .DeltaChannel { stroke: #9a6700 } .ours { stroke: #0969da }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 }
.upstream { stroke: #ff7b72 } .DeltaChannel { stroke: #d29922 } .ours { stroke: #58a6ff } }
"""


class _Size(NamedTuple):
    database: str
    messages: int
    kb: tuple[float, ...]
    """Of one thread, for each saver."""


def draw(report: Iterable[str], names: Iterable[str], threads: dict[int, int]) -> None:
    """Draw the sizes that a report tells.

    Args:
        report: Its lines.
        names: The savers, in the order of its columns.
        threads: How many threads were written, by how many messages; one where it is not said.
    """
    labels = [*names]
    sizes = [size for size in _sizes(report, len(labels), threads) if size.messages >= min(_TICKS)]
    panels = [
        _panel([size for size in sizes if size.database == database], database, number, labels)
        for number, database in enumerate(("SQLite", "PostgreSQL"))
    ]
    width, height = 2 * (_WIDTH + _GAP), _HEIGHT + _TOP + 44
    lines = [line for panel in panels for line in panel]
    DRAWING.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Room on disk of a thread that grows, by saver">\n<style>{_STYLE}</style>\n'
        + "\n".join(lines)
        + "\n</svg>\n",
        encoding="utf-8",
    )


_TICKS: Final = (20, 50, 100, 200, 500, 1000, 2000)


def _sizes(report: Iterable[str], count: int, threads: dict[int, int]) -> Iterator[_Size]:
    for line in report:
        if found := _ROW.fullmatch(line):
            database, messages, cells = found.groups()
            size = int(messages.replace(",", ""))
            kb = [float(cell.replace(",", "")) for cell in cells.split("|")[:count]]
            yield _Size(database, size, tuple(each / threads.get(size, 1) for each in kb))


def _panel(sizes: list[_Size], title: str, number: int, labels: list[str]) -> Iterator[str]:
    left = _LEFT + number * (_WIDTH + _GAP)
    most = max(max(size.kb) for size in sizes)
    span = math.log(most / _LEAST_KB)

    def x(messages: int) -> float:
        return left + _WIDTH * math.log(messages / _TICKS[0]) / math.log(_TICKS[-1] / _TICKS[0])

    def y(kb: float) -> float:
        return _TOP + _HEIGHT * (1 - math.log(max(kb, _LEAST_KB) / _LEAST_KB) / span)

    yield f'<text x="{left}" y="18" font-weight="bold">{title}</text>'
    for kb, name in (
        (100, "100 KB"),
        (1e3, "1 MB"),
        (1e4, "10 MB"),
        (1e5, "100 MB"),
        (1e6, "1 GB"),
    ):
        if kb <= most:
            yield f'<path class="grid" d="M{left} {y(kb):.1f}h{_WIDTH}"/>'
            yield f'<text x="{left - 6}" y="{y(kb) + 4:.1f}" text-anchor="end">{name}</text>'
    for tick in _TICKS:
        below = f'x="{x(tick):.1f}" y="{_TOP + _HEIGHT + 18}"'
        yield f'<text {below} text-anchor="middle">{tick:,}</text>'
    middle = f'x="{left + _WIDTH / 2}" y="{_TOP + _HEIGHT + 36}"'
    yield f'<text {middle} text-anchor="middle">messages</text>'
    ends = sorted((y(sizes[-1].kb[at]), at) for at in range(len(labels)))
    apart = [0.0, *(max(0.0, 15 - (low - high)) for (high, _), (low, _) in pairwise(ends))]
    for (end, at), push in zip(ends, apart, strict=True):
        points = " ".join(f"{x(size.messages):.1f},{y(size.kb[at]):.1f}" for size in sizes)
        yield f'<polyline class="{labels[at]}" points="{points}"/>'
        label = f'x="{left + _WIDTH + 5}" y="{end + 4 + push:.1f}"'
        yield f"<text {label}>{labels[at]}</text>"
