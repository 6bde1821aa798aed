"""A view, drawn in a terminal: a column for each side, the newest at the bottom."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from langgraph_once.inspect import Item, Side, SideView, View, ViewEvent
from langgraph_once.inspect.terminal.lines import held, plain, summary, word_for

__all__ = ["Screen", "shown_live"]

# Drawing a long view takes milliseconds, for which the stream waits: not for each token.
PER_SECOND: Final = 12
MAX_VALUE: Final = 500
"""How much of a value is shown, in characters."""

STYLES: Final = {
    "kept": "",
    "repeated": "red strike",
    "retracted": "dim strike",
    "not_kept": "dim italic",
    "repaired": "green",
    "missing": "bold red",
}
"""How a text looks of which that was decided."""

LANES: Final = ("cyan", "magenta", "yellow", "green", "blue")
TITLES: Final = {"stock": "LangGraph", "once": "once"}


async def shown_live(
    events: AsyncIterator[ViewEvent], console: Console, sides: Iterable[Side]
) -> View:
    """Draw what comes as it comes; in the end all of it, to stay.

    Args:
        events: The view events.
        console: Where to draw.
        sides: Whose events come: the columns, from the left.

    Returns:
        The view in the end.
    """
    view, drawn_at = View(sides=sides), 0.0
    with Live(console=console, screen=True, auto_refresh=False) as live:
        async for event in events:
            view.apply(event)
            if time.monotonic() - drawn_at > 1 / PER_SECOND:
                live.update(Screen(view, height=console.height), refresh=True)
                drawn_at = time.monotonic()
    console.print(Screen(view))
    return view


class Screen:
    """Draws a view; whole, or as much of its end as fits.

    Args:
        view: What is drawn; it may change between two drawings.
        height: How many lines there are; None for all.
    """

    def __init__(self, view: View, *, height: int | None = None) -> None:
        self._view = view
        self._height = height

    def __rich__(self) -> RenderableType:
        table = Table.grid(expand=True, padding=(0, 2))
        for _ in self._view.sides:
            table.add_column(ratio=1)
        sides = self._view.sides.items()
        table.add_row(*(_head(name, side) for name, side in sides))
        # The heads take three lines.
        rest = None if self._height is None else max(1, self._height - 3)
        table.add_row(*(_LastLines(_items(side), rest) for _, side in sides))
        return table


class _LastLines:
    """The last lines of what is drawn."""

    def __init__(self, drawn: Iterable[Text], height: int | None) -> None:
        self._drawn = Group(*drawn)
        self._height = height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._drawn, options.update(height=None), pad=False)
        for line in lines if self._height is None else lines[-self._height :]:
            yield from line
            yield Segment.line()


def _head(name: str, side: SideView) -> Text:
    status = side.status or "waiting"
    return Text.assemble((TITLES[name], "bold"), f"  {status}\n", (summary(side), "dim"), "\n")


def _items(side: SideView) -> Iterator[Text]:
    for item in side.items:
        yield _item(side, item)
    if side.error:
        yield Text(plain(side.error), style="bold red")


def _item(side: SideView, item: Item) -> Text:
    lane, color = side.lanes[item.lane], LANES[item.lane % len(LANES)]
    drawn = Text.assemble((plain(lane.label), color))
    if item.node:
        drawn.append(f" {plain(item.node)}", style="dim")
    named = item.name if item.kind == "message" else f"{item.kind.replace('_', ' ')} {item.name}"
    drawn.append(f" {plain(named)} ", style="dim")
    if word := word_for(item.mark):
        drawn.append(f"({word}) ", style=STYLES[item.mark])
    for piece in item.pieces:
        style = STYLES[piece.mark if item.mark == "kept" else item.mark]
        drawn.append(
            _printable(piece.text), style=f"{style} dim" if piece.kind != "text" else style
        )
    drawn.append(plain(held(item))[:MAX_VALUE], style="dim")
    if item.status:
        drawn.append(f" {item.status}", style="dim")
    return drawn


def _printable(text: str) -> str:
    """Text of a stream, with its lines, and nothing else that moves the cursor."""
    return "\n".join(plain(line) for line in text.split("\n"))
