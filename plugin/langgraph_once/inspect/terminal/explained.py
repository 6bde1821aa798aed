"""What `langgraph-once explain` prints of the parts of a recorded stream."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, Final

from langgraph_once.inspect.explanation import Explained, reasons
from langgraph_once.redaction import printable
from langgraph_once.stream.dedup.forms.stock import NO_MESSAGES
from langgraph_once.stream.dedup.operations import Because, Operation

__all__ = ["as_dict", "lines", "summary"]

_ID_CHARS: Final = 8
"""Of the end of an id: many begin alike."""
_LEAST_KEYS_CHARS: Final = 9
_WHERE_CHARS: Final = 12
_TEXT_CHARS: Final = 500
_NOTHING: Final = "nothing"
_NO_OPERATION: Final = "Nothing in it is for this reader."
_PLAIN: Final = (
    "No message has a note of ours: LangGraph alone was recorded, or a client that did not "
    "announce itself. This is what a client can tell alone; the server of a wrapped graph knows "
    "more, as when a task runs again that had said all."
)


def as_dict(found: Iterable[Explained], *, with_values: bool) -> dict[str, Any]:
    """All parts, and how often each reason occurs, for machines."""
    found = [*found]
    parts = [
        {
            "lines": [each.first, each.last],
            "count": each.count,
            "mode": each.mode,
            "where": each.where,
            "kind": each.kind,
            "name": each.name,
            "chars": each.chars,
            "outcome": each.outcome,
            **_decision(each.operation),
            **({"text": "".join(each.texts)} if with_values else {}),
        }
        for each in found
    ]
    found_reasons = [
        {"outcome": outcome, **_decision(operation), "meaning": _meaning(operation), "count": count}
        for (outcome, operation), count in reasons(found).most_common()
    ]
    return {"parts": parts, "summary": found_reasons}


def _decision(operation: Operation | None) -> dict[str, Any]:
    return {
        "operation": operation and str(operation.kind),
        "because": operation and str(operation.because),
    }


def lines(found: Iterable[Explained], columns: int, *, with_values: bool) -> Iterator[str]:
    """A table of the parts, in so many columns; those that are alike are one line."""
    yield f"{'line':9} {'outcome':9} {'mode':8} {'where':{_WHERE_CHARS}} decision, and of what"
    for each in found:
        place = f"{each.first}-{each.last}" if each.count > 1 else str(each.first or "end")
        where = printable(each.where, _WHERE_CHARS)
        chars = f", {each.chars:,} chars" if each.chars else ""
        line = (
            f"{place:9} {each.outcome:9} {printable(each.mode):8.8} {where:{_WHERE_CHARS}} "
            f"{_named(each.operation)}: "
        )
        yield f"{line}{_of(each, columns - len(line) - len(chars))}{chars}"
        if with_values and each.chars:
            yield f"{'':20}{printable(''.join(each.texts), _TEXT_CHARS)}"


def _of(each: Explained, room: int) -> str:
    if each.mode != "messages":
        return printable(each.name or each.kind, max(_LEAST_KEYS_CHARS, room))
    cut = f"…{each.name[-_ID_CHARS:]}" if len(each.name) > _ID_CHARS + 1 else each.name
    return f"{printable(each.kind)} {printable(cut)}"


def summary(found: Iterable[Explained], columns: int, *, is_plain: bool) -> Iterator[str]:
    """Count each reason, and say what the reason means, wrapped to the terminal.

    Args:
        found: The parts.
        columns: How wide the terminal is.
        is_plain: Whether no message was annotated.
    """
    for (outcome, operation), count in sorted(
        reasons(found).items(), key=lambda each: (each[0][0], -each[1])
    ):
        text = f"{outcome:9} {count:>6,}  {_named(operation)}: {_meaning(operation)}"
        yield from textwrap.wrap(text, max(40, columns), subsequent_indent=" " * 18)
    if is_plain:
        yield ""
        yield from textwrap.wrap(_PLAIN, max(40, columns))


def _named(operation: Operation | None) -> str:
    return _NOTHING if operation is None else f"{operation.kind} ({operation.because})"


def _meaning(operation: Operation | None) -> str:
    if operation is None:
        return _NO_OPERATION
    # Of a message that is new the reason says it; the kind says more of a state.
    is_state = operation.kind in NO_MESSAGES and operation.because in (Because.NEW, Because.OTHER)
    return operation.kind.meaning if is_state else operation.because.meaning
