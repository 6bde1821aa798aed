"""What a terminal shows: both sides, the end of what does not fit, no control codes of a stream."""

from __future__ import annotations

import io

from rich.console import Console

from langgraph_once.inspect import ItemOpened, LaneOpened, Side, TextAppended, View, ViewEvent
from langgraph_once.inspect.terminal.screen import Screen


def drawn(view: View, *, height: int | None = None) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    console.print(Screen(view, height=height))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]  # the file from above
    return text


def said(side: Side, *texts: str) -> list[ViewEvent]:
    events: list[ViewEvent] = [LaneOpened(side=side, lane=0, path=(), number=1)]
    for item, text in enumerate(texts):
        events.append(ItemOpened(side=side, item=item, kind="message", lane=0, node="n", name="ai"))
        events.append(TextAppended(side=side, item=item, text=text))
    return events


def test_both_sides_stand_beside_each_other() -> None:
    text = drawn(View([*said("stock", "plain words"), *said("once", "our words")]))
    (line,) = (line for line in text.splitlines() if "plain words" in line)
    assert line.index("plain words") < line.index("our words")


def test_each_side_has_its_column_whoever_speaks_first() -> None:
    view = View(said("once", "our words"), sides=("stock", "once"))
    head = drawn(view).splitlines()[0]
    assert head.index("LangGraph") < head.index("once")
    view = View([*said("once", "our words"), *said("stock", "plain")], sides=("stock", "once"))
    (line,) = (line for line in drawn(view).splitlines() if "plain" in line)
    assert line.index("plain") < line.index("our words")


def test_of_what_does_not_fit_the_end_is_shown() -> None:
    view = View(said("once", *(f"text {number}." for number in range(50))))
    text = drawn(view, height=10)
    assert "text 49." in text
    assert "text 1." not in text
    assert len(text.splitlines()) <= 10
    assert "text 1." in drawn(view)


def test_a_long_text_is_shown_whole_and_moves_no_cursor() -> None:
    text = drawn(View(said("once", "word " * 100 + "\x1b[2J the end")))
    assert text.count("word") == 100
    assert "\x1b" not in text
    assert "the end" in text
