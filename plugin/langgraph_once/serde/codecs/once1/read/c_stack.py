"""Objects that Python frees on the C stack: too many inside each other would end the process.

Lists, tuples, dicts, sets and instances are freed safely at any depth. The types here are not
when one directly holds another.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any, Final

from langgraph_once.errors import PayloadError
from langgraph_once.serde.trust.lookup import imported

__all__ = ["MAX_LEVELS_IN_EACH_OTHER", "Nesting"]

MAX_LEVELS_IN_EACH_OTHER: Final = 500


class Nesting:
    """Bounds how deep such values stand in each other, for one blob."""

    __slots__ = ("_levels", "_open", "_tag")

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._levels: dict[int, tuple[int, Any]] = {}
        """How deep each is, and the value, which must live as long as its id is here."""
        self._open = 0
        """How often one holds another of which this is not known yet."""

    def check(self, made: Any) -> None:
        """Note a value that was made, or filled.

        Raises:
            PayloadError: It is too deep.
        """
        if type(made) not in _HELD and not _is_array(made):
            return
        deepest = 0
        for part in _held(made):
            if type(part) in _HELD or _is_array(part):
                level = self._levels.get(id(part))
                self._open += level is None
                deepest = max(deepest, level[0] if level else 0)
        self._levels[id(made)] = deepest + 1, made
        if deepest + 1 + self._open > MAX_LEVELS_IN_EACH_OTHER:
            raise PayloadError("the value is nested too deeply to be freed", tag=self._tag)


_SYNTAX: Final = (SyntaxError, IndentationError, TabError)
_HELD: Final = frozenset({slice, deque, defaultdict, *_SYNTAX})


def _is_array(value: Any) -> bool:
    numpy = imported("numpy")
    return numpy is not None and type(value) is numpy.ndarray and value.dtype.hasobject


def _held(value: Any) -> list[Any]:
    if type(value) is slice:
        return [value.start, value.stop, value.step]
    if type(value) is defaultdict:
        return [value.default_factory, *value.values(), *value]
    if type(value) is deque:
        return [*value]
    if type(value) in _SYNTAX:
        return [getattr(value, name) for name in _FIELDS]
    found: list[Any] = value.ravel().tolist()
    return found


_FIELDS: Final = ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset")
