"""What breaks the law today, one kind a line: what the serializer has yet to mend.

Who mends a kind takes its line out; the test of the law fails until then. A kind that now breaks
the law in another process alone moves to `ELSEWHERE`.
"""

from __future__ import annotations

from typing import Final

BREACHES: Final[dict[str, str]] = {
    "class with dict()": "LangGraph's row: a dict, for `safe` calls no class that is not of data",
    "class with model_dump()": "LangGraph's row: the same",
}
"""Kinds by name, and what happens to them."""

WRAPPER_BREACHES: Final[dict[str, str]] = {}
"""What values are put into, that breaks the law when it is put into something itself."""

ELSEWHERE: Final[frozenset[str]] = frozenset({"bs4, tag", "pendulum, date", "pendulum, duration"})
"""Kinds that are a stand-in where nobody has imported their class: LangGraph imports it."""
