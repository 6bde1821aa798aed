"""The law itself: never worse than LangGraph, judged part by part.

What was found is lawful where it is the same as the original, or the same as what LangGraph gives;
or where it has the type of one of the two, and each of its parts is lawful. So a tuple may come
back as a tuple though a date in it has got LangGraph's fixed offset.
"""

from __future__ import annotations

import warnings
from ast import literal_eval
from datetime import datetime
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.serde import UnstoredError
from tests.unit_tests.serde.fidelity.sameness import difference, parts

STOCK: Final = JsonPlusSerializer()

_LEAVES: Final = {str, bytes, int, float, bool, type(None)}

LOST: Final = object()
"""What LangGraph gives where it raises, or makes a `None` of what was none."""


def same(first: Any, second: Any) -> bool:
    """Whether the values have the same types and are equal, all the way down."""
    return difference(first, second, identity=False) is None


def stock_row(value: Any) -> tuple[str, bytes]:
    """Return what LangGraph stores of `value`, as a database hands it out."""
    tag, data = STOCK.dumps_typed(value)
    return tag, bytes(memoryview(data))


def stock_gives(value: Any) -> Any:
    """Return what LangGraph makes of `value`, or `LOST`."""
    try:
        with warnings.catch_warnings(action="ignore"):
            found = STOCK.loads_typed(stock_row(value))
    except Exception:
        return LOST
    return LOST if found is None and value is not None else found


def _stock_gives_part(value: Any) -> Any:
    """Return what LangGraph makes of `value` where it is a part of another, or `LOST`.

    That a whole value is a `bytearray` its tag says; in a list it becomes `bytes`.
    """
    if (found := stock_gives([value])) is LOST:
        return LOST
    return LOST if found[0] is None and value is not None else found[0]


def breach(original: Any, stock: Any, found: Any) -> str | None:
    """Return where `found` is neither as it was, nor as LangGraph gives it; None where it is."""
    return _Judgement().run(original, stock, found, "value")


class _Judgement:
    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()
        self.kept: list[Any] = []  # an id is an object's own only while it lives

    def run(self, original: Any, stock: Any, found: Any, path: str) -> str | None:
        found = _without_stand_in(found, stock)
        if stock is LOST or same(original, found) or same(stock, found):
            return None
        if (id(original), id(found)) in self.seen:
            return None  # the parts are being judged already
        self.seen.add((id(original), id(found)))
        self.kept += original, found
        alone = _stock_gives_part(original)
        if alone is LOST or same(alone, _without_stand_in(found, alone)):
            return None
        if _is_equal_date(original, found) or _is_text_of_error(original, found):
            return None
        if type(found) in _LEAVES or type(found) not in {type(original), type(stock)}:
            return f"{path}: {_shown(original)}, by LangGraph {_shown(stock)}, is {_shown(found)}"
        return self._parts(original, stock, found, path)

    def _parts(self, original: Any, stock: Any, found: Any, path: str) -> str | None:
        was, theirs, ours = (dict(parts(each)) for each in (original, stock, found))
        if not ours or ours.keys() not in (was.keys(), theirs.keys()):
            return f"{path}: {_shown(original)}, by LangGraph {_shown(stock)}, is {_shown(found)}"
        for label, part in ours.items():
            before = was[label] if label in was else _by_name(original, label, theirs[label])
            stocks = theirs[label] if label in theirs else _stock_gives_part(before)
            if told := self.run(before, stocks, part, path + label):
                return told
        return None


def _is_equal_date(original: Any, found: Any) -> bool:
    """Whether a date of a subclass got LangGraph's fixed offset, where LangGraph leaves a text."""
    return type(found) is type(original) and isinstance(found, datetime) and found == original


def _is_text_of_error(original: Any, found: Any) -> bool:
    """Whether an exception became class and text, where LangGraph leaves a text."""
    return isinstance(original, BaseException) and isinstance(found, UnstoredError)


def _by_name(original: Any, label: str, otherwise: Any) -> Any:
    """Return what became an item of a dict when LangGraph dumped the object that had it."""
    if not label.startswith("['"):
        return otherwise
    return getattr(original, literal_eval(label)[0], otherwise)


def _without_stand_in(found: Any, stock: Any) -> Any:
    """Return what a stand-in of ours behaves as: it is a subclass of what LangGraph gives."""
    is_ours = type(found).__module__.startswith("langgraph_once.")
    if is_ours and type(stock) in (dict, list, tuple, str, bytes, int, float):
        return type(stock)(found) if isinstance(found, type(stock)) else found
    return found


def _shown(value: Any) -> str:
    try:
        return f"{type(value).__name__} {value!r:.80}"
    except Exception:
        return type(value).__name__
