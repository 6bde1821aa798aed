"""Which of two versions of a channel is the newer one."""

from __future__ import annotations

import math
import re
from typing import Any, Final, Literal, TypeGuard

from langgraph_once.errors import ChannelVersionError

_NUMBERED: Final = re.compile(r"([0-9]{1,400})\.(.*)", re.DOTALL)
"""`seq.hash`. Python refuses to make numbers of text much longer than this."""


def compare_versions(a: float | str, b: float | str) -> Literal[-1, 0, 1]:
    """Tell which of two versions is the newer one.

    What upstream's savers make is ordered as LangGraph orders it: numbers by value, text of the
    form `seq.hash` by its number, then by the rest. A number beside such text, as in a thread
    that moved from one saver to another, counts as its `seq`, and is older than the text of the
    same number. Other text, of a saver with versions of its own, is ordered as text.

    Args:
        a: A version.
        b: Another one.

    Returns:
        -1 if `a` is older, 1 if it is newer, 0 if neither.

    Raises:
        ChannelVersionError: One is no version (NaN, a bool, neither number nor text), or one is
            a number and the other text that has none.
    """
    left: Any = _order(a)
    right: Any = _order(b)
    if left is None or right is None:
        if not (isinstance(a, str) and isinstance(b, str)):
            raise ChannelVersionError(a, b)
        left, right = a, b
    return 1 if left > right else -1 if left < right else 0


def is_version(value: object) -> bool:
    """Whether LangGraph can order `value`: a number other than NaN, or text."""
    return isinstance(value, str) or _is_number(value)


def _is_number(value: object) -> TypeGuard[float]:
    if isinstance(value, float):
        return not math.isnan(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _order(version: object) -> tuple[float, str] | None:
    if isinstance(version, str):
        numbered = _NUMBERED.fullmatch(version)
        return (int(numbered[1]), numbered[2]) if numbered else None
    return (version, "") if _is_number(version) else None
