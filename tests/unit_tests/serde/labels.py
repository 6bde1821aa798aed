"""Names of values, for the ids of tests."""

from __future__ import annotations

import re

_WIDTH = 40
_OWN_TO_A_PROCESS = re.compile(r" at 0x|set\(|\{[^:]*\}")
"""Addresses, and sets, whose order depends on how strings are hashed."""


def label(value: object) -> str:
    """Return a name for `value` that is the same in every process, as pytest-xdist asks."""
    kind, text = type(value).__name__, repr(value)
    return kind if _OWN_TO_A_PROCESS.search(text) else f"{kind}-{text:.{_WIDTH}}"
